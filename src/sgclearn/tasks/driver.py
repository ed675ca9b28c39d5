"""Fit, predict and evaluate for every task: one path from samples to a run, and back from a run to predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.files import replacing
from sgclearn.runs.csv_files import spelled, write_csv
from sgclearn.runs.documents import write_json
from sgclearn.runs.place import FEATURES, GRAPH, LABELS, METRICS, MODEL, PREDICTIONS, Place
from sgclearn.runs.predictions import Predictions
from sgclearn.runs.run import Run, RunFile
from sgclearn.runs.splits import SPLITS
from sgclearn.tables.messages import counted
from sgclearn.tasks.probabilities import probability_metrics
from sgclearn.tasks.protocol import Candidate, OnStage, Samples, Task, silent
from sgclearn.validation.reading import recording


@dataclass
class Trial:
    """A fitted candidate, and how good it is."""

    candidate: Candidate
    seconds: float
    evaluation: Any = None

    @property
    def model(self) -> Any:
        """The fitted model."""
        return self.candidate.model

    @property
    def validation(self) -> float | None:
        """Score on the labels that settings were chosen on, where any were."""
        return getattr(self.model, "best_score_", None)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the time it took is left out, so that the same run gives the same file."""
        return {
            "model": self.candidate.name,
            "n_hops": self.candidate.n_hops,
            "weight_decay": getattr(self.model, "weight_decay_", None),
            "weight_decay_tuned": self.validation is not None,
            "validation_score": self.validation,
            "test": None if self.evaluation is None else _plain(self.evaluation),
            "n_iter": getattr(self.model, "n_iter_", None),
            "converged": getattr(self.model, "converged_", None),
        }


@dataclass
class Fit:
    """What a fit gave: `trials[-1]` is the model of the run."""

    samples: Samples
    trials: list[Trial]
    predictions: Predictions
    metrics: dict[str, Any]
    files: list[RunFile]
    run: Run

    @property
    def model(self) -> Any:
        """The model that was kept."""
        return self.trials[-1].model


def read(task: Task, data: Any, *, on_stage: OnStage = silent) -> Samples:
    """Samples of a task, with the digest of every file that its readers open.

    Parameters
    ----------
    task : Task
    data : dataclass
        Options of the data, an instance of `task.Data`.
    on_stage : callable, optional
        For progress.
    """
    with recording() as digests:
        samples = task.read(data, on_stage)
    return replace(samples, inputs={Path(path).name: digest for path, digest in digests.items()})


def fit(
    task: Task,
    samples: Samples,
    model: Any,
    place: Place,
    *,
    candidates: Sequence[Candidate] | None = None,
    settings: Mapping[str, Any] | None = None,
    on_stage: OnStage = silent,
) -> Fit:
    """Fit the candidates of a task, predict every sample, measure on the test labels, and write the run.

    Parameters
    ----------
    task : Task
    samples : Samples
    model : dataclass
        Options of the model, an instance of `task.Model`.
    place : Place
        From `Run.create`: claimed before the fit.
    candidates : sequence of Candidate, optional
        Those of `Task.candidates`, where they are made already. The last one is the model of the run.
    settings : mapping, optional
        What `run.json` records, as `settings_of` gives it.
    on_stage : callable, optional
        For progress.
    """
    candidates = task.candidates(samples, model) if candidates is None else candidates
    test = samples.where("test")
    tested, trials = samples.take(test), []
    for candidate in candidates:
        start = perf_counter()
        task.fit(candidate.model, samples, _named(candidate, on_stage))
        trial = Trial(candidate, perf_counter() - start)
        on_stage("predicting")
        predictions = task.fitted(trial.model, samples)
        if len(test):
            trial.evaluation = _score(task, tested, predictions, test)
        trials.append(trial)
    final = trials[-1]
    metrics = _metrics(samples, trials) | task.details(samples, final.model)
    metrics["probabilities"] = probability_metrics(final.model, samples, predictions)
    files = run_files(
        samples,
        lambda path: task.save(final.model, samples, path),
        predictions,
        metrics,
        task.files(samples, final.model),
    )
    on_stage(f"writing {place.folder}")
    run = Run.write(place, task.name, files, settings or {}, samples.inputs)
    return Fit(samples, trials, predictions, metrics, files, run)


@dataclass
class Tuned:
    """What a search found: every trial, the best one, and its score on the test labels."""

    model: Any
    document: dict[str, Any]


def tune(task: Task, samples: Samples, candidate: Candidate, *, on_stage: OnStage = silent) -> Tuned:
    """Try the settings of `Task.search` on held-out labels; test labels judge the best one alone."""
    model = candidate.model
    task.fit(model, samples, on_stage)
    test, scores = samples.where("test"), None
    if len(test):
        tested = samples.take(test)
        scores = _plain(_score(task, tested, task.fitted(model, samples), test))
    document = {
        "data": samples.summary,
        "best": {**model.best_params_, "row_norm": model.row_norm},
        "validation_score": model.best_score_,
        "test": scores,
        "trials": model.cv_results_,
    }
    return Tuned(model, document)


def _plain(evaluation: Any) -> dict[str, Any]:
    return {name: interval._asdict() for name, interval in evaluation.headline().items()}


def _named(candidate: Candidate, on_stage: OnStage) -> OnStage:
    return lambda text: on_stage(f"{candidate.name}: {text}")


def _score(task: Task, tested: Samples, predictions: Predictions, rows: NDArray[np.intp]) -> Any:
    guess = {name: column[rows] for name, column in predictions.columns().items()}
    return task.score(tested.target_columns(), guess)


def _metrics(samples: Samples, trials: list[Trial]) -> dict[str, Any]:
    final = trials[-1]
    plan = getattr(final.model, "plan_", None)
    return {
        "data": samples.summary,
        "results": [trial.to_dict() for trial in trials],
        "advice": _advice(samples, trials),
        "evaluation": None if final.evaluation is None else final.evaluation.to_dict(),
        # What the machine has left now is no part of the result, which is the same on every machine.
        "plan": None if plan is None else {k: v for k, v in plan.to_dict().items() if k != "memory_limit"},
    }


def _advice(samples: Samples, trials: list[Trial]) -> str | None:
    """Say so if the graph makes the predictions worse, beyond what chance explains."""
    from sgclearn.evaluate.intervals import wilson

    final = trials[-1]
    plain = next((trial for trial in trials[:-1] if trial.candidate.n_hops == 0), None)
    if plain is None or not final.candidate.n_hops:
        return None
    pairs: list[tuple[str, float, float, float]] = []
    if plain.validation is not None and final.validation is not None and not samples.is_numeric:
        n = len(samples.where("val")) or len(samples.where("train"))
        high = wilson(round(final.validation * n), n, 0.95).high
        pairs.append(("labels to tune on", plain.validation, final.validation, high))
    if plain.evaluation is not None and final.evaluation is not None:
        (without, *_), (reached, *_) = (trial.evaluation.headline().values() for trial in (plain, final))
        pairs.append(("test labels", without.value, reached.value, reached.high))
    for name, before, after, high in pairs:
        if before > high:
            return (
                f"the graph does not help here: on the {name} 0 hops reach {before:.3f} and "
                f"{counted(final.candidate.n_hops, 'hop')} {after:.3f}; try --n-hops 0 or 1."
            )
    return None


def predict(task: Task, run: Run, new: Any, *, on_stage: OnStage = silent) -> Predictions:
    """Predictions of new samples, or of those of the run again.

    Parameters
    ----------
    task : Task
        The one that wrote the run.
    run : Run
    new : dataclass
        An instance of `task.New`.
    """
    run.require(task.name)
    on_stage(f"reading {run.folder}")
    with run:
        model = task.load(run)
        samples = task.join(run, model, new, on_stage)
        targets = run.metrics()["data"].get("targets")
    if targets is not None:
        samples = replace(samples, targets=tuple(targets))
    on_stage("predicting")
    return task.predict(model, samples)


def run_files(
    samples: Samples,
    save: Callable[[Path], None],
    predictions: Predictions,
    metrics: dict[str, Any],
    more: Sequence[RunFile] = (),
) -> list[RunFile]:
    """Every file of a run, with what is in it; `save` writes the model, `more` are those of the task."""
    unit = samples.unit
    files = [
        RunFile(MODEL, "the model", save),
        RunFile(PREDICTIONS, f"every {unit}: id and what is predicted for it", predictions.write),
        RunFile(METRICS, "how good the predictions are", lambda path: write_json(path, metrics)),
        RunFile(GRAPH, f"the graph, to attach a new {unit} to", samples.graph.save_npz),
        RunFile(LABELS, "labels and split as they were used", lambda path: _write_labels(path, samples)),
    ]
    if samples.X is not None:
        X = RunFile(FEATURES, "the features of its nodes", lambda path: _write_features(path, samples))
        files.append(X)
    return [*files, *more]


def _write_features(path: Path, samples: Samples) -> None:
    """Write X, and the names of its columns, as `read_features` reads them."""
    X = samples.X
    if sp.issparse(X):
        arrays = {
            "x_data": X.data,
            "x_indices": X.indices,
            "x_indptr": X.indptr,
            "x_shape": np.array(X.shape),
        }
    else:
        arrays = {"X": X}
    if samples.feature_names is not None:
        arrays["names"] = np.array(samples.feature_names, dtype=np.str_)
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)


def _write_labels(path: Path, samples: Samples) -> None:
    known = samples.where(*SPLITS)
    if samples.is_numeric:
        values = samples.y.reshape(len(samples.y), -1)[known]
        labels = dict(zip(samples.targets, map(spelled, values.T), strict=True))
    else:
        labels = {"label": samples.y[known]}
    write_csv(path, {"id": samples.ids[known], **labels, "split": samples.split[known]})
