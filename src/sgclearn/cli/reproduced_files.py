"""What `sgc reproduce` writes beside its runs: figure, document and page, none of which replaces anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sgclearn.cli.figure_files import write_figure
from sgclearn.errors import InputError

if TYPE_CHECKING:
    from sgclearn.experiments import Selection
    from sgclearn.paper import Recipe
    from sgclearn.paper.report import Report

WRITTEN = "Written by ``sgc reproduce"  # begins a line of every page
LONGEST = 80  # characters of names within the name of a file


def file_stem(recipe: Recipe, selection: Selection) -> str:
    """Name of figure and document: one of a part names the part, so that it never replaces that of the whole.

    Examples
    --------
    >>> from sgclearn.experiments import Selection
    >>> from sgclearn.paper import load_recipe
    >>> recipe = load_recipe("fig3")
    >>> file_stem(recipe, Selection.of(recipe))
    'fig3'
    >>> file_stem(recipe, Selection.of(recipe, models=["sgc", "gcn"], datasets=["cora"]))
    'fig3-cora-sgc-gcn'
    """
    from sgclearn.experiments import Selection

    usual = Selection.of(recipe, quick=selection.quick)
    words = [recipe.id]
    if selection.datasets != usual.datasets:
        words.append(_joined(selection.datasets, "datasets"))
    if selection.models != usual.models:
        sweeps = dict.fromkeys(recipe.models[name].group[0] for name in selection.models)
        words.append(_joined(list(sweeps), "models"))
    return "-".join([*words, "quick"] if selection.quick else words)


def _joined(names: Sequence[str], what: str) -> str:
    joined = "-".join(names)
    return joined if len(joined) <= LONGEST else f"{len(names)}-{what}"


def write_document(report: Report, path: Path) -> Path:
    """Write a report for machines, in a folder that is made for it."""
    from sgclearn.files import make_folders
    from sgclearn.runs.documents import write_json

    make_folders(path.parent)
    write_json(path, report.to_dict())
    return path


def check_page(page: Path) -> None:
    """Refuse a name that no page can have, and a file that somebody else wrote, before anything runs."""
    if page.suffix != ".rst":
        raise InputError("--page must end in .rst", f"{page}", "choose such a name")
    if not page.is_file():
        return
    lines = page.read_text(encoding="utf-8", errors="replace").splitlines()
    if not any(line.startswith(WRITTEN) for line in lines):
        raise InputError(
            "--page must be a new file or an earlier page of sgc reproduce",
            f"{page}, which is another file",
            "choose another name",
        )


def check_no_loss(page: Path, recipe: Recipe, selection: Selection) -> None:
    """Refuse to replace a page that shows models or datasets which the new one would not have.

    A page names the command that made it, and that names its models and datasets where they are not all.
    """
    from sgclearn.experiments import Selection

    if not page.is_file():
        return
    lines = page.read_text(encoding="utf-8", errors="replace").splitlines()
    written = next(line for line in lines if line.startswith(WRITTEN))
    words = written.removeprefix(WRITTEN).split("``")[0].split()
    of = words[0] if words else "nothing"
    if of != recipe.id:
        raise InputError(
            f"--page must be a new file or an earlier page of {recipe.id}",
            f"{page}, that of {of}",
            "choose another",
        )
    usual = Selection.of(recipe)
    for part in ("models", "datasets"):
        option = f"--{part}"
        before = words[words.index(option) + 1].split(",") if option in words else getattr(usual, part)
        if lost := [name for name in before if name not in getattr(selection, part)]:
            raise InputError(
                "--page must not lose what is on it",
                f"{page}, which has the {part} {', '.join(lost)} that these results lack",
                "choose another name, or remove the page first",
            )


def write_page(report: Report, page: Path, command: str, *, with_picture: bool) -> None:
    """Write the page of a report, and its figure beside it."""
    from sgclearn.files import replacing
    from sgclearn.paper.page import results_page

    if not report.tables:
        raise InputError("--page needs results", "none for this selection", "run it with --runs 1 or more")
    picture = write_figure(report.draw, page.with_suffix(".svg")) if with_picture and report.draw else None
    text = results_page(report, command=command, picture=None if picture is None else picture.name)
    with replacing(page) as temporary:
        temporary.write_text(text, encoding="utf-8")
