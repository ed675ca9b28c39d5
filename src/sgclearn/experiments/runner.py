"""Carry out an experiment: what is in the results already is not run again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from sgclearn.errors import SgclearnError, require
from sgclearn.experiments.experiment import Experiment
from sgclearn.experiments.loading import load_problem
from sgclearn.experiments.machine import machine, threads_limited, versions
from sgclearn.experiments.models import build_model, model_class
from sgclearn.experiments.plan import Pair, Selection, Stopwatch, Task, keys_of, plan_tasks
from sgclearn.experiments.problems import Problem, RunData
from sgclearn.experiments.results import Line, ResultFile
from sgclearn.experiments.search import Settings, search_settings


@dataclass(frozen=True)
class Progress:
    """How far an experiment is: runs done, what goes on, how far that is, and a guess of the seconds left.

    `line` is the result of the run or trial that has just ended, or why it failed; None in between. `score` is that of
    the line: the experiment's metric of a run, the validation accuracy of a trial.
    """

    done: int
    of: int
    what: str
    part: float
    seconds_left: float | None
    line: Line | None = None
    score: float | None = None


OnProgress = Callable[[Progress], None]


def run_experiment(
    experiment: Experiment,
    results: ResultFile,
    selection: Selection | None = None,
    on_progress: OnProgress | None = None,
    data_dir: Path | None = None,
    *,
    loaded: Mapping[str, RunData] | None = None,
    keep_going: bool = False,
) -> list[Line]:
    """Make the runs of an experiment that are not in the results yet, and give all that belong to it.

    Parameters
    ----------
    experiment : Experiment
    results : ResultFile
        Gains a line a run (and a line a trial of a search), each as soon as it is known.
    selection : Selection, optional
        Everything if not given.
    on_progress : callable, optional
        Called with a `Progress` before, during and after every run.
    data_dir : path, optional
        Folder with the files of datasets; the folder named by SGCLEARN_DATA if not given.
    loaded : mapping, optional
        Datasets of the experiment that are in memory already: name to a function from seed to `Problem`.
    keep_going : bool, default False
        Whether a model that fails is left out of the further runs, its error a line of kind "failure", instead of
        ending everything.

    Returns
    -------
    list of dict
        The runs with these settings, threads and seeds, earlier ones too; each once.
    """
    selection = Selection.of(experiment) if selection is None else selection
    tasks = plan_tasks(experiment, selection)
    # The run counts beside its seed: a search has the seed of the experiment, which is that of the first run.
    done = {(line["key"], line["run"], line["seed"]) for line in results.lines("run")}
    pending = [task for task in tasks if (task.key, task.run, task.seed) not in done]
    for name in dict.fromkeys(task.model.model for task in pending):
        for module, extra in model_class(name).requires:
            require(module, extra)  # better now than after an hour
    if any(task.model.search for task in pending):
        require("optuna", "tune")
    run = _Run(experiment, results, selection, tasks, on_progress, data_dir)
    run.loaded_before, run.keep_going = loaded or {}, keep_going
    run.make(pending)
    return _selected(experiment, selection, results)


def _selected(experiment: Experiment, selection: Selection, results: ResultFile) -> list[Line]:
    """Runs of what is selected, each once: two commands in one folder at the same time may both have made it."""
    keys = keys_of(experiment, selection)
    found: dict[tuple[str, int], Line] = {}
    for line in results.lines("run"):
        if line["key"] in keys and line["seed"] == experiment.seed + line["run"]:
            found.setdefault((line["key"], line["seed"]), line)
    return list(found.values())


class _Run:
    def __init__(
        self,
        experiment: Experiment,
        results: ResultFile,
        selection: Selection,
        tasks: list[Task],
        on_progress: OnProgress | None,
        data_dir: Path | None,
    ) -> None:
        self.experiment, self.results, self.selection = experiment, results, selection
        self.data_dir = data_dir
        self.n_tasks = len(tasks)
        self.watch = Stopwatch()
        self.left: float | None = None
        self.now: float | None = None
        self.n_tried: Counter[str] = Counter()
        keys = {task.key for task in tasks}
        for line in (*results.lines("run"), *results.lines("trial")):
            if line["key"] in keys and "wall_seconds" in line:  # trials of earlier versions have none
                self.watch.add((line["dataset"], line["model"]), line["wall_seconds"])
        for line in results.lines("trial"):
            self.n_tried[line["key"]] += 1
        self.report = on_progress or (lambda progress: None)
        self.pending: list[Task] = []
        self.data: RunData | None = None
        self.loaded: str | None = None
        self.found: dict[str, Settings] = {}
        self.loaded_before: Mapping[str, RunData] = {}
        self.keep_going = False

    def make(self, pending: list[Task]) -> None:
        self.pending = list(pending)
        while self.pending:
            task = self.pending[0]
            self._load(task.dataset)
            self.results.make_folder()
            try:
                line = self._make(task)
            except Exception as error:
                if not self.keep_going:
                    raise
                self._give_up(task, error)
                continue
            self.results.append(line)
            self.watch.add(task.pair, line["wall_seconds"])
            self.pending.pop(0)
            self._tell(_name(self.experiment, task), 0.0, line)

    def _give_up(self, task: Task, error: Exception) -> None:
        """Note why a model fails, and leave its other runs out: they would fail too."""
        words = str(error) if isinstance(error, SgclearnError) else f"{type(error).__name__}: {error}"
        mark = {"key": task.key, "dataset": task.dataset, "model": task.model.name, "run": task.run}
        line = {"kind": "failure", **mark, "error": " ".join(words.split())}
        self.results.append(line)
        self.pending = [other for other in self.pending if other.key != task.key]
        self._tell(_name(self.experiment, task), 0.0, line)

    def _load(self, dataset: str) -> None:
        if dataset in self.loaded_before:
            self.data, self.loaded = self.loaded_before[dataset], dataset
        if self.loaded != dataset:
            self._tell(f"{self.experiment.title_of(dataset)}: reading", 0.0)
            self.data = None  # the last graph may go before the next one comes
            self.data = load_problem(self.experiment.datasets[dataset], self.data_dir)
            self.loaded = dataset

    def _make(self, task: Task) -> Line:
        settings = task.settings | self._searched(task)
        what = _name(self.experiment, task)
        self._tell(what, 0.0)
        began = time.perf_counter()
        scores, model = self._fit(task, settings, task.seed, what)
        return {
            "kind": "run",
            "recipe": self.experiment.results,
            "dataset": task.dataset,
            "model": task.model.name,
            "run": task.run,
            "key": task.key,
            "scores": scores,
            "seconds": model.seconds_,
            "cpu_seconds": model.cpu_seconds_,
            "wall_seconds": time.perf_counter() - began,
            "n_parameters": model.n_parameters_,
            "details": model.details_,
            "settings": settings,
            **self._made_with(task.seed),
        }

    def _made_with(self, seed: int) -> Line:
        return {"seed": seed, "threads": self.selection.threads, "versions": versions(), "machine": machine()}

    def _fit(
        self, task: Task, settings: dict[str, Any], seed: int, what: str
    ) -> tuple[dict[str, float], Any]:
        problem = self._problem(seed)
        with threads_limited(self.selection.threads):
            model = build_model(task.model.model, settings, seed)
            model.fit(problem.seen, lambda done, of: self._tell(what, done / of))
            return problem.scores(model.predict(problem.asked)), model

    def _problem(self, seed: int) -> Problem:
        if self.data is None:
            raise RuntimeError("a run begins before its dataset is loaded")
        return self.data(seed)

    def _searched(self, task: Task) -> Settings:
        """Settings of the experiment's search, made once for all runs, on the split of the first."""
        search = task.model.search
        if search is None:
            return {}
        if task.key not in self.found:
            what = f"{self.experiment.title_of(task.dataset)}: {task.model.title}, search"
            self._tell(what, 0.0)

            def score(settings: Settings) -> float:
                scores, _ = self._fit(task, task.settings | settings, self.experiment.seed, what)
                return scores["val_accuracy"]

            def on_trial(line: Line, is_new: bool) -> None:
                if is_new:
                    self.watch.add(task.pair, line["wall_seconds"])
                    self.n_tried[task.key] = line["trial"] + 1
                    self._tell(f"{what}, trial {line['trial'] + 1} of {search.trials}", 0.0, line)

            mark = {"key": task.key, "dataset": task.dataset, "model": task.model.name}
            self.found[task.key] = search_settings(
                search,
                self.experiment.seed,
                score,
                self.results,
                mark,
                self._made_with(self.experiment.seed),
                on_trial,
            )
        return self.found[task.key]

    def _tell(self, what: str, part: float, line: Line | None = None) -> None:
        if (
            not part
        ):  # in between nothing new is known, and a guess would take part of the time that is measured
            self.left = self.watch.left(self._ahead())
            self.now = self.watch.left(task.pair for task in self.pending[:1])
        left = None if self.left is None else self.left - part * (self.now or 0.0)
        done = self.n_tasks - len(self.pending)
        self.report(Progress(done, self.n_tasks, what, part, left, line, self._score(line)))

    def _ahead(self) -> Iterator[Pair]:
        """Trainings to come: those of the runs, and those of the searches, which take about as long."""
        searched = set(self.found)
        for task in self.pending:
            yield task.pair
            if task.model.search is not None and task.key not in searched:
                searched.add(task.key)
                yield from repeat(task.pair, max(task.model.search.trials - self.n_tried[task.key], 0))

    def _score(self, line: Line | None) -> float | None:
        if line is None or line["kind"] == "failure":
            return None
        return float(line["score"] if line["kind"] == "trial" else line["scores"][self.experiment.metric])


def _name(experiment: Experiment, task: Task) -> str:
    return f"{experiment.title_of(task.dataset)}: {task.model.title}, run {task.run + 1} of {task.of}"
