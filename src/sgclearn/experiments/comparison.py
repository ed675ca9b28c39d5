"""Measured beside published: mean, standard deviation, number of runs, and whether the tolerance is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

from sgclearn.experiments.experiment import Experiment, ModelEntry, Published
from sgclearn.experiments.results import Line


@dataclass(frozen=True)
class Row:
    """One model on one dataset.

    `std` is that of the sample, None for a single run; `passed` is None where nothing was published, no tolerance is
    set, or the runs were quick ones. `seconds` is the mean training time; `ratio` is that over the seconds of the
    experiment's reference model, `cpu_ratio` the same of processor time, and `published_ratio` of the published times.
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
    """The table of an experiment, from its result lines."""

    experiment: Experiment
    rows: tuple[Row, ...]
    lines: tuple[Line, ...]
    quick: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain document for machines."""
        return {
            "recipe": self.experiment.id,
            "title": self.experiment.title,
            "metric": self.experiment.metric,
            "quick": self.quick,
            "rows": [asdict(row) for row in self.rows],
        }


def compare(experiment: Experiment, lines: Sequence[Line], *, quick: bool = False) -> Comparison:
    """Put the runs of an experiment beside its published figures.

    Parameters
    ----------
    experiment : Experiment
    lines : sequence of dict
        Lines of kind "run", as `run_experiment` gives them.
    quick : bool, default False
        Whether they are quick runs: those show that everything works, and are not judged.
    """
    by_pair: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        by_pair.setdefault((line["dataset"], line["model"]), []).append(line)
    rows = [
        _row(experiment, dataset, model, by_pair, quick)
        for dataset in experiment.datasets
        for model in experiment.models
        if (dataset, model) in by_pair
    ]
    return Comparison(experiment, tuple(rows), tuple(lines), quick)


def _row(
    experiment: Experiment, dataset: str, model: str, by_pair: dict[tuple[str, str], list[Line]], quick: bool
) -> Row:
    runs = by_pair[dataset, model]
    scores = [run["scores"][experiment.metric] for run in runs]
    mean = fmean(scores)
    std = stdev(scores) if len(scores) > 1 else None
    entry = experiment.models[model]
    figure = entry.published.get(dataset)
    if figure is not None and figure.on:  # of another graph: the tables show it, and nothing is compared
        figure = None
    difference = None if figure is None or figure.value is None else mean - figure.value
    ratio = cpu_ratio = published_ratio = None
    if experiment.time_against not in (None, model):
        reference = by_pair.get((dataset, str(experiment.time_against)))
        if reference:
            ratio = _mean(runs, "seconds") / _mean(reference, "seconds")
            cpu_ratio = _mean(runs, "cpu_seconds") / _mean(reference, "cpu_seconds")
        theirs = experiment.models[str(experiment.time_against)].published.get(dataset)
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
    entry: ModelEntry, figure: Published | None, difference: float | None, std: float | None
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
