"""Which runs an experiment asks for, in which order, and how long the rest of them will take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from sgclearn.errors import InputError
from sgclearn.experiments.experiment import Experiment, ModelEntry
from sgclearn.experiments.results import fingerprint

Pair = tuple[str, str]  # dataset and model
MOST_THREADS = 1024


@dataclass(frozen=True)
class Selection:
    """A part of an experiment, checked against it.

    Parameters
    ----------
    datasets, models : tuple of str
    runs : int or None
        Of every model on every dataset; None for the experiment's own numbers.
    quick : bool
        Fewer runs, smaller settings: to see that everything works.
    threads : int
        That every model may use; times are comparable for equal threads only.
    """

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    runs: int | None = None
    quick: bool = False
    threads: int = 1

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        *,
        datasets: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        runs: int | None = None,
        quick: bool = False,
        threads: int = 1,
    ) -> Selection:
        """Selection from an experiment; what is not given is everything, or what the experiment calls quick."""
        check_amounts(runs, threads)
        wanted: dict[str, tuple[str, ...]] = {}
        for part, given in (("datasets", datasets), ("models", models)):
            known: dict[str, Any] = getattr(experiment, part)
            if part == "models":  # the name of a sweep stands for all of its points
                given = [name for wanted in given or () for name in _expanded(experiment, wanted)]
            if unknown := [name for name in given or () if name not in known]:
                names = experiment.groups if part == "models" else known
                raise InputError(
                    f"{part} of {experiment.id} must be some of {', '.join(names)}",
                    repr(unknown[0]),
                    "choose among them",
                )
            fewer = getattr(experiment.quick, part) if quick else ()
            usual = [name for name in known if part == "models" or not known[name].get("on_request")]
            wanted[part] = tuple(name for name in known if name in (given or fewer or usual))
        if runs is None and quick:
            runs = experiment.quick.runs
        return cls(wanted["datasets"], wanted["models"], runs, quick, threads)


def check_amounts(runs: int | None, threads: int) -> None:
    """Raise unless so many runs and threads can be had; nothing has to be read for that."""
    if runs is not None and runs < 0:
        raise InputError("runs must be >= 0", f"{runs}", "0 shows what is there", argument="runs")
    if not 1 <= threads <= MOST_THREADS:
        raise InputError(
            f"threads must be from 1 to {MOST_THREADS:,}",
            f"{threads:,}",
            "more than there are cores gain nothing",
            argument="threads",
        )


@dataclass(frozen=True)
class Task:
    """One run of one model; `key` tells runs apart whose results cannot be compared."""

    dataset: str
    model: ModelEntry
    run: int
    of: int
    seed: int
    settings: dict[str, Any]
    key: str

    @property
    def pair(self) -> Pair:
        """Dataset and model."""
        return self.dataset, self.model.name


def plan_tasks(experiment: Experiment, selection: Selection) -> list[Task]:
    """All runs: dataset by dataset, and there the models in turn, so that their times meet the same conditions."""
    tasks = []
    for dataset in selection.datasets:
        for model in _models(experiment, selection):
            settings = model.settings_for(dataset)
            if selection.quick:
                settings |= experiment.quick.settings.get(model.name, {})
            n_runs = model.runs.get(dataset, experiment.runs)
            if selection.runs is not None and n_runs:  # where the experiment has none, there are never any
                n_runs = selection.runs
            key = fingerprint(
                {
                    "recipe": experiment.results,
                    "data": {name: v for name, v in experiment.datasets[dataset].items() if name != "title"},
                    "model": model.model,
                    "settings": settings,
                    "search": None if model.search is None else asdict(model.search),
                    "threads": selection.threads,
                }
            )
            tasks += [
                Task(dataset, model, run, n_runs, experiment.seed + run, settings, key)
                for run in range(n_runs)
            ]
    order = {dataset: position for position, dataset in enumerate(selection.datasets)}
    return sorted(tasks, key=lambda task: (order[task.dataset], task.run))


def _expanded(experiment: Experiment, name: str) -> list[str]:
    """Models of a sweep by its name; any other name as it is."""
    return [model.name for model in experiment.models.values() if model.group[0] == name] or [name]


def keys_of(experiment: Experiment, selection: Selection) -> set[str]:
    """Keys of everything selected, whatever the number of runs."""
    return {task.key for task in plan_tasks(experiment, replace(selection, runs=1))}


def _models(experiment: Experiment, selection: Selection) -> list[ModelEntry]:
    models = [experiment.models[name] for name in selection.models]
    if not selection.quick or experiment.quick.trials is None:
        return models
    return [
        model
        if model.search is None
        else replace(model, search=replace(model.search, trials=experiment.quick.trials))
        for model in models
    ]


class Stopwatch:
    """Wall seconds by dataset and model, for a guess of the time that is left."""

    def __init__(self) -> None:
        self._seconds: dict[Pair, list[float]] = {}

    def add(self, pair: Pair, seconds: float) -> None:
        """Note how long a run took."""
        self._seconds.setdefault(pair, []).append(seconds)

    def left(self, pairs: Iterable[Pair]) -> float | None:
        """Seconds that further runs will take; None while nothing is known.

        What was never timed counts as the same model on other datasets, else as the mean of all.

        Examples
        --------
        >>> watch = Stopwatch()
        >>> watch.add(("r8", "sgc"), 3.0)
        >>> watch.left([("r8", "sgc"), ("mr", "sgc")])
        6.0
        """
        if not self._seconds:
            return None
        return sum(map(self._guess, pairs))

    def _guess(self, pair: Pair) -> float:
        if pair in self._seconds:
            return fmean(self._seconds[pair])
        alike = [fmean(times) for (_, model), times in self._seconds.items() if model == pair[1]]
        return fmean(alike or [fmean(times) for times in self._seconds.values()])
