"""Tables and figures that need no training: statistics of the data, spectra, and Theorem 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sgclearn.datasets import GraphDataset, list_datasets, load_dataset
from sgclearn.datasets.folders import find_files, search_folders
from sgclearn.datasets.inert_pickle import read_pickle
from sgclearn.datasets.registry import PLANETOID_PARTS, REGISTRY
from sgclearn.errors import InputError
from sgclearn.experiments.machine import in_words, machine, threads_limited, versions
from sgclearn.operators import keeping_loops
from sgclearn.paper.recipe import Recipe
from sgclearn.paper.report import Report, Table
from sgclearn.spectral import Theorem1, check_theorem1, plot_filters
from sgclearn.spectral.theorem import Statement
from sgclearn.validation.parameters import Choice

COUNTS = ("nodes", "edges", "train", "val", "test", "edges listed", "features", "classes")
Numbers = dict[str, int | str | None]


def make_report(
    recipe: Recipe,
    datasets: Sequence[str] | None = None,
    data_dir: Path | None = None,
    threads: int = 1,
) -> Report:
    """Compute a recipe that trains nothing.

    Parameters
    ----------
    recipe : Recipe
        Of a form other than "runs".
    datasets : sequence of str, optional
        Some of the recipe's; all if not given.
    data_dir : path, optional
        Folder with the files of datasets; the folder named by SGCLEARN_DATA if not given.
    threads : int, default 1

    Returns
    -------
    Report
    """
    names = tuple(recipe.datasets) if datasets is None else tuple(datasets)
    Choice(values=tuple(MAKERS)).check("form of a report", recipe.form)
    with keeping_loops(), threads_limited(threads):
        report = MAKERS[recipe.form](recipe, names, data_dir)
    made_with = {"threads": threads, "versions": versions(), "machine": machine()}
    return replace(
        report,
        document={**(report.document or {}), **made_with},
        measured_with=(in_words(made_with),),
    )


def _statistics(recipe: Recipe, names: tuple[str, ...], data_dir: Path | None) -> Report:
    at_hand = {info.name for info in list_datasets(data_dir) if info.available}
    rows, document = [], []
    for name in names:
        options = recipe.datasets[name]
        measured = count(options["name"], data_dir) if options["name"] in at_hand else dict.fromkeys(COUNTS)
        published: Numbers = dict(options["published"])
        rows.append((recipe.title_of(name), "published", *(_told(published.get(part)) for part in COUNTS)))
        rows.append((recipe.title_of(name), "measured", *(_told(measured[part]) for part in COUNTS)))
        document.append({"dataset": name, "published": published, "measured": measured})
    header = ("dataset", "", *COUNTS)
    return Report(
        recipe,
        (Table("Counts", header, tuple(rows)),),
        document={"rows": document},
        notes=recipe.notes,
    )


def count(name: str, data_dir: Path | None = None) -> Numbers:
    """Sizes of a dataset and of its public split, counted from its files."""
    data = load_dataset(name, data_dir=data_dir)
    sizes = dict(zip(("train", "val", "test"), data.split_sizes, strict=True))
    return {
        "nodes": data.graph.n_nodes,
        "edges": data.graph.n_edges,
        **sizes,
        "edges listed": _listed_edges(name, data_dir),
        "features": data.X.shape[1],
        "classes": len(data.class_names),
    }


def _listed_edges(name: str, data_dir: Path | None) -> int | None:
    """Half the entries of the neighbour lists in the original files; None where a dataset has no such lists."""
    found = find_files(REGISTRY[name], search_folders(data_dir))
    if found is None or found.form.layout != "planetoid":
        return None
    lists = read_pickle(found.paths[PLANETOID_PARTS.index("graph")])
    return sum(len(neighbours) for neighbours in lists.values()) // 2


def _told(value: int | str | None) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value:,}"


def _spectra(recipe: Recipe, names: tuple[str, ...], data_dir: Path | None) -> Report:
    (name, *others) = names
    if others:
        raise InputError("a figure of spectra has one dataset", f"{name} and {others[0]}")
    options = recipe.datasets[name]
    data = load_dataset(options["name"], data_dir=data_dir)
    theorem = check_theorem1(data.graph)
    return Report(
        recipe,
        (_eigenvalues(recipe, {name: theorem}),),
        statements=_shrinks(recipe.title_of(name), theorem),
        draw=partial(_draw_spectra, data, options["feature"], tuple(options["n_hops"])),
        document={"rows": [{"dataset": name, **theorem.to_dict()}]},
        notes=recipe.notes,
    )


def _draw_spectra(data: GraphDataset, feature: int, n_hops: tuple[int, ...]) -> Any:
    columns: Any = data.X
    with keeping_loops():
        x = columns[:, [feature]].toarray().ravel()
        figure = plot_filters(data.graph, x, n_hops=n_hops, name=f"feature {feature + 1}")
    for axes in figure.axes:
        for lines in axes.collections:
            lines.set_rasterized(True)  # a line a node would be a file of megabytes
    return figure


def _theorem(recipe: Recipe, names: tuple[str, ...], data_dir: Path | None) -> Report:
    found = {
        name: check_theorem1(load_dataset(recipe.datasets[name]["name"], data_dir=data_dir).graph)
        for name in names
    }
    return Report(
        recipe,
        (_eigenvalues(recipe, found),),
        statements=tuple(
            Statement(f"{recipe.title_of(name)}, {one.name}", one.text, one.left, one.relation, one.right)
            for name, theorem in found.items()
            for one in theorem.statements
        ),
        document={"rows": [{"dataset": name, **theorem.to_dict()} for name, theorem in found.items()]},
        notes=recipe.notes,
    )


def _eigenvalues(recipe: Recipe, found: dict[str, Theorem1]) -> Table:
    rows = tuple(
        (
            recipe.title_of(name),
            f"{theorem.lambda_n:.3f}",
            f"{theorem.lambda_tilde_n:.3f}",
            *(str(recipe.datasets[name].get("published", {}).get(part, "-")) for part in ("plain", "loops")),
            str(theorem.n_self_loops),
            str(theorem.n_isolated),
        )
        for name, theorem in found.items()
    )
    header = ("dataset", "plain", "with loops", "plain, published", "with loops, published", "loops in the data",
              "isolated")  # fmt: skip
    return Table("Largest eigenvalue of I - S, without and with loops", header, rows, left=1)


def _shrinks(title: str, theorem: Theorem1) -> tuple[Statement, ...]:
    """What the paper reads off its figure 2."""
    plain, loops = (
        1 - theorem.lambda_n,
        1 - theorem.lambda_tilde_n,
    )  # response at the highest frequency, K = 1
    return (
        Statement(title, "loops shrink the spectrum", theorem.lambda_tilde_n, "<", theorem.lambda_n),
        Statement(title, "without loops odd powers turn the highest frequency round", plain, "<", 0.0),
        Statement(title, "with loops hardly anything of it is left at K = 3", abs(loops) ** 3, "<", 0.15),
        Statement(title, "and less than without them", abs(loops) ** 3, "<", abs(plain) ** 3),
    )


MAKERS: dict[str, Callable[[Recipe, tuple[str, ...], Path | None], Report]] = {
    "statistics": _statistics,
    "spectra": _spectra,
    "theorem": _theorem,
}
