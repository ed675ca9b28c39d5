"""`sgc reproduce`: a table of the paper, measured again here beside what was published."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import RESULT, JsonFlag, with_options
from sgclearn.cli.output import Screen, complain, counted
from sgclearn.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from sgclearn.paper import Comparison, Recipe, Selection
    from sgclearn.paper.runner import Progress

COMMAND = "reproduce"
WHAT = "What to run"
DEFAULT_FOLDER = "sgc-runs"


def _option(text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=False)


@with_options
def command(
    *,
    name: Annotated[
        str | None, typer.Argument(help="Which table or figure; see --list.", show_default=False)
    ] = None,
    listed: Annotated[bool, _option("Say which there are.", WHAT, "--list")] = False,
    everything: Annotated[bool, _option("Run them all.", WHAT, "--all")] = False,
    models: Annotated[str | None, _option("Only these models, as sgc,textgcn.", WHAT)] = None,
    datasets: Annotated[str | None, _option("Only these datasets, as r8,mr.", WHAT)] = None,
    runs: Annotated[
        int | None,
        _option("Runs of every model; the recipe's number if not given, 0 to show what is there.", WHAT),
    ] = None,
    quick: Annotated[
        bool, _option("Few runs of a small part: to see that it works.", WHAT, "--quick")
    ] = False,
    threads: Annotated[int, _option("Threads of every model; 1 if not given.", WHAT)] = 1,
    data_dir: Annotated[
        Path | None, _option("Folder with the files of datasets; else the variable SGCLEARN_DATA.", WHAT)
    ] = None,
    out: Annotated[
        Path | None, _option(f"Folder for results and figures; {DEFAULT_FOLDER} if not given.", RESULT)
    ] = None,
    page: Annotated[
        Path | None, _option("Write a page of results too: an .rst file, with its figure beside it.", RESULT)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    r"""Measure a table of the paper again, and show it beside the published figures.

    Every run is kept as a line of the folder's NAME.jsonl, with its seed, settings, versions and machine. A command
    that was interrupted goes on where it was when it is given again.

    \b
    Examples:
      sgc reproduce --list
      sgc reproduce tab2 --models sgc --runs 3
      sgc reproduce tab4 --datasets r8,mr --out results
    """
    from sgclearn.paper import Selection

    screen = Screen(as_json)
    if listed:
        _refuse("--list", name=name, everything=everything, page=page)
        _show_list(screen)
        return
    recipes = _chosen(name, everything, models, datasets, page)
    folder = Path(DEFAULT_FOLDER) if out is None else out
    documents = []
    for recipe in recipes:
        selection = Selection.of(
            recipe,
            datasets=_names(datasets),
            models=_names(models),
            runs=runs,
            quick=quick,
            threads=threads,
        )
        comparison = _run(screen, recipe, selection, folder, data_dir)
        picture = _draw(comparison, folder / f"{recipe.id}.svg") if comparison.rows else None
        if page is not None:
            _write_page(comparison, page, _spelled(recipe, selection, page))
        _show(screen, comparison, folder, picture, page)
        documents.append(
            {**comparison.to_dict(), "results": folder / f"{recipe.id}.jsonl", "figure": picture}
        )
    screen.document(documents if everything else documents[0])


def _chosen(
    name: str | None, everything: bool, models: str | None, datasets: str | None, page: Path | None
) -> list[Recipe]:
    from sgclearn.paper import list_recipes, load_recipe

    if everything:
        _refuse("--all", name=name, models=models, datasets=datasets, page=page)
        return list(list_recipes())
    if name is None:
        raise InputError(
            "sgc reproduce needs the name of a table or figure: got none; see sgc reproduce --list."
        )
    if page is not None and page.suffix != ".rst":
        raise InputError(f"--page must end in .rst: got {page}; choose such a name.")
    return [load_recipe(name)]


def _refuse(flag: str, **given: Any) -> None:
    spelled = {"name": "NAME", "everything": "--all"}
    for option, value in given.items():
        if value:
            told = spelled.get(option, "--" + option)
            raise InputError(f"{flag} stands alone: got {told} beside it; leave one of them out.")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _run(
    screen: Screen, recipe: Recipe, selection: Selection, folder: Path, data_dir: Path | None
) -> Comparison:
    from sgclearn.paper import ResultFile, compare, run_recipe

    results = ResultFile(folder / f"{recipe.id}.jsonl")
    before = len(results.lines("run"))
    try:
        with _watching(screen) as on_progress:
            lines = run_recipe(recipe, results, selection, on_progress, data_dir)
    except KeyboardInterrupt:
        done = counted(len(results.lines("run")) - before, "run")
        complain(f"sgc: {done} kept in {results.path}; the same command goes on from there.")
        raise
    except MissingExtraError as error:
        remedy = "or leave the models that need it out with --models"
        raise MissingExtraError(f"{str(error).rstrip('.')}, {remedy}.") from error
    return compare(recipe, lines, quick=selection.quick)


@contextmanager
def _watching(screen: Screen) -> Iterator[Callable[[Progress], None]]:
    """A bar over the runs with the time left; where nobody watches, a line a run on stderr."""
    if screen.as_json:
        yield lambda progress: None
        return
    if not sys.stderr.isatty():
        yield _log
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(
        *columns, TextColumn("{task.fields[left]}"), console=Console(stderr=True), transient=True
    ) as bars:
        bar = bars.add_task("", total=None, left="")
        shown = 0.0

        def on_progress(progress: Progress) -> None:
            nonlocal shown
            now = time.monotonic()
            if progress.line is None and progress.part and now - shown < 0.1:
                return
            shown = now
            done = min(progress.done + progress.part, progress.of)
            left = _left(progress.seconds_left)
            bars.update(bar, description=progress.what, completed=done, total=progress.of, left=left)

        yield on_progress


def _log(progress: Progress) -> None:
    if progress.line is not None:
        score = next(reversed(progress.line["scores"].values()))
        seconds = progress.line["seconds"]
        complain(
            f"{progress.done}/{progress.of} {progress.what}: {score:.2f}, {seconds:.3g} s"
            f"{_left(progress.seconds_left, ', ')}"
        )


def _left(seconds: float | None, before: str = "") -> str:
    if not seconds:
        return ""
    if seconds < 90:
        return f"{before}{seconds:.0f} s left"
    return (
        f"{before}{seconds / 60:.0f} min left" if seconds < 5400 else f"{before}{seconds / 3600:.1f} h left"
    )


def _draw(comparison: Comparison, path: Path) -> Path | None:
    """Write the figure; None where matplotlib is missing, which nothing else needs."""
    from sgclearn.files import replacing
    from sgclearn.paper.figure import plot_comparison

    try:
        figure = plot_comparison(comparison)
    except MissingExtraError as error:
        complain(f"sgc: no figure is drawn: {error}")
        return None
    import matplotlib

    # The same results give the same bytes: no date, and ids that are not random.
    with replacing(path) as temporary, matplotlib.rc_context({"svg.hashsalt": comparison.recipe.id}):
        figure.savefig(temporary, format="svg", metadata={"Date": None})
    return path


def _spelled(recipe: Recipe, selection: Selection, page: Path) -> str:
    """The command that makes the page again, without the folders of this machine."""
    words = ["sgc", COMMAND, recipe.id]
    for part in ("models", "datasets"):
        names = getattr(selection, part)
        if len(names) < len(getattr(recipe, part)) and not selection.quick:
            words += [f"--{part}", ",".join(names)]
    words += ["--quick"] if selection.quick else []
    words += ["--runs", str(selection.runs)] if selection.runs and not selection.quick else []
    words += ["--threads", str(selection.threads)] if selection.threads != 1 else []
    return " ".join([*words, "--page", page.name])


def _write_page(comparison: Comparison, page: Path, command: str) -> None:
    from sgclearn.files import replacing
    from sgclearn.paper.page import results_page

    if not comparison.rows:
        raise InputError("--page needs results: got none for this selection; run it with --runs 1 or more.")
    picture = _draw(comparison, page.with_suffix(".svg"))
    text = results_page(comparison, command=command, picture=None if picture is None else picture.name)
    with replacing(page) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _show(
    screen: Screen, comparison: Comparison, folder: Path, picture: Path | None, page: Path | None
) -> None:
    from sgclearn.paper.recipe import METRICS
    from sgclearn.paper.tables import SCORE_HEADER, TIME_HEADER, score_rows, time_rows

    recipe = comparison.recipe
    screen.field(recipe.id, f"{recipe.where}: {recipe.title}" + (" (quick runs)" if comparison.quick else ""))
    if comparison.rows:
        screen.table(SCORE_HEADER, score_rows(comparison), left=2, title=METRICS[recipe.metric])
        screen.table(TIME_HEADER, time_rows(comparison), left=2, title="seconds of training")
    else:
        screen.line("no runs with these settings are there yet")
    screen.line()
    screen.field("Results", str(folder / f"{recipe.id}.jsonl"))
    if picture is not None:
        screen.field("Figure", str(picture))
    if page is not None:
        screen.field("Page", str(page))


def _show_list(screen: Screen) -> None:
    from sgclearn.paper import list_recipes

    recipes = list_recipes()
    rows = [
        (recipe.id, recipe.where, recipe.title, ", ".join(recipe.datasets), ", ".join(recipe.models))
        for recipe in recipes
    ]
    screen.table(("name", "where", "what", "datasets", "models"), rows, left=5)
    screen.document(
        [
            {
                **{key: getattr(recipe, key) for key in ("id", "where", "title", "runs", "metric")},
                "datasets": list(recipe.datasets),
                "models": list(recipe.models),
            }
            for recipe in recipes
        ]
    )
