"""Measured beside published: mean, standard deviation, number of runs, and whether the tolerance is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

from sgclearn.paper.recipe import ModelRecipe, Published, Recipe
from sgclearn.paper.results import Line


@dataclass(frozen=True)
class Row:
    """One model on one dataset.

    `std` is that of the sample, None for a single run; `passed` is None where nothing was published, no tolerance is
    set, or the runs were quick ones. `seconds` is the mean training time; `ratio` is that over the seconds of the
    recipe's reference model, `cpu_ratio` the same of processor time, and `published_ratio` of the published times.
    """

    dataset: str
    model: str
    n: int
    mean: float
    std: float | None
    published: float | None
    published_std: float | None
    difference: float | None
    passed: bool | None
    seconds: float
    cpu_seconds: float
    published_seconds: float | None
    ratio: float | None
    cpu_ratio: float | None
    published_ratio: float | None
    n_parameters: int


@dataclass(frozen=True)
class Comparison:
    """The table of a recipe, from its result lines."""

    recipe: Recipe
    rows: tuple[Row, ...]
    lines: tuple[Line, ...]
    quick: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain document for machines."""
        return {
            "recipe": self.recipe.id,
            "title": self.recipe.title,
            "metric": self.recipe.metric,
            "quick": self.quick,
            "rows": [asdict(row) for row in self.rows],
        }


def compare(recipe: Recipe, lines: list[Line], *, quick: bool = False) -> Comparison:
    """Put the runs of a recipe beside its published figures.

    Parameters
    ----------
    recipe : Recipe
    lines : list of dict
        Lines of kind "run", as `run_recipe` gives them.
    quick : bool, default False
        Whether they are quick runs: those show that everything works, and are not judged.
    """
    by_pair: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        by_pair.setdefault((line["dataset"], line["model"]), []).append(line)
    rows = [
        _row(recipe, dataset, model, by_pair, quick)
        for dataset in recipe.datasets
        for model in recipe.models
        if (dataset, model) in by_pair
    ]
    return Comparison(recipe, tuple(rows), tuple(lines), quick)


def _row(
    recipe: Recipe, dataset: str, model: str, by_pair: dict[tuple[str, str], list[Line]], quick: bool
) -> Row:
    runs = by_pair[dataset, model]
    scores = [run["scores"][recipe.metric] for run in runs]
    mean = fmean(scores)
    std = stdev(scores) if len(scores) > 1 else None
    entry = recipe.models[model]
    figure = entry.published.get(dataset)
    if figure is not None and figure.on:  # of another graph: the tables show it, and nothing is compared
        figure = None
    difference = None if figure is None or figure.value is None else mean - figure.value
    ratio = cpu_ratio = published_ratio = None
    if recipe.time_against not in (None, model):
        reference = by_pair.get((dataset, str(recipe.time_against)))
        if reference:
            ratio = _mean(runs, "seconds") / _mean(reference, "seconds")
            cpu_ratio = _mean(runs, "cpu_seconds") / _mean(reference, "cpu_seconds")
        theirs = recipe.models[str(recipe.time_against)].published.get(dataset)
        if figure and theirs and figure.seconds and theirs.seconds:
            published_ratio = figure.seconds / theirs.seconds
    return Row(
        dataset=dataset,
        model=model,
        n=len(runs),
        mean=mean,
        std=std,
        published=None if figure is None else figure.value,
        published_std=None if figure is None else figure.std,
        difference=difference,
        passed=None if quick else _passes(entry, figure, difference, std),
        seconds=_mean(runs, "seconds"),
        cpu_seconds=_mean(runs, "cpu_seconds"),
        published_seconds=None if figure is None else figure.seconds,
        ratio=ratio,
        cpu_ratio=cpu_ratio,
        published_ratio=published_ratio,
        n_parameters=runs[0]["n_parameters"],
    )


def _mean(runs: list[Line], field: str) -> float:
    return fmean(run[field] for run in runs)


def _passes(
    entry: ModelRecipe, figure: Published | None, difference: float | None, std: float | None
) -> bool | None:
    if entry.tolerance is None or figure is None or not figure.judged or difference is None:
        return None
    kind, allowed = entry.tolerance
    if kind == "std":
        unit = std if figure.std is None else figure.std  # the paper's own, where it gives one
        if unit is None:
            return None
        allowed *= unit
    # Figures are published with one decimal: a mean of 80.6999... is not further off than 80.7.
    off = -difference if kind == "below" else abs(difference)
    return round(off, 6) <= allowed
