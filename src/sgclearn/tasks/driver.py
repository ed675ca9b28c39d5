"""Fit, predict and evaluate for every task: one path from samples to a run, and back from a run to predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from sgclearn.files import replacing
from sgclearn.runs.csv_files import write_csv
from sgclearn.runs.documents import write_json
from sgclearn.runs.place import FEATURES, GRAPH, LABELS, METRICS, MODEL, PREDICTIONS, Place
from sgclearn.runs.predictions import Predictions
from sgclearn.runs.run import Run, RunFile
from sgclearn.runs.splits import SPLITS
from sgclearn.tasks.protocol import Candidate, OnStage, Samples, Task, silent


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
        scores = None if self.evaluation is None else self.evaluation.headline()
        return {
            "model": self.candidate.name,
            "n_hops": self.candidate.n_hops,
            "weight_decay": getattr(self.model, "weight_decay_", None),
            "weight_decay_tuned": self.validation is not None,
            "validation_score": self.validation,
            "test": None if scores is None else {name: _plain(score) for name, score in scores.items()},
            "n_iter": getattr(self.model, "n_iter_", None),
            "converged": getattr(self.model, "converged_", None),
        }


def _plain(score: Any) -> Any:
    return score._asdict() if hasattr(score, "_asdict") else score


@dataclass
class Fit:
    """What a fit gave: `trials[-1]` is the model of the run."""

    samples: Samples
    trials: list[Trial]
    predictions: Predictions
    metrics: dict[str, Any]
    run: Run
    files: list[RunFile]

    @property
    def model(self) -> Any:
        """The model that was kept."""
        return self.trials[-1].model


def fit(
    task: Task,
    samples: Samples,
    model: Any,
    place: Place,
    *,
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
    settings : mapping, optional
        What else `run.json` records, such as how the files were read.
    on_stage : callable, optional
        For progress.
    """
    trials = []
    for candidate in task.candidates(samples, model):
        start = perf_counter()
        task.fit(candidate.model, samples, _named(candidate, on_stage))
        trials.append(Trial(candidate, perf_counter() - start))
    final = trials[-1]
    on_stage("predicting")
    test = samples.where("test")
    for trial in trials:
        predictions = task.predict(trial.model, samples)
        if len(test):
            trial.evaluation = task.evaluate(samples, predictions, test)
    metrics = {
        "data": samples.summary,
        "results": [trial.to_dict() for trial in trials],
        "evaluation": None if final.evaluation is None else final.evaluation.to_dict(),
    }
    files = run_files(
        samples,
        lambda path: task.save(final.model, samples, path),
        predictions,
        metrics,
        task.files(samples, final.model),
    )
    on_stage(f"writing {place.folder}")
    run = Run.write(place, task.name, files, settings or {}, samples.inputs)
    return Fit(samples, trials, predictions, metrics, run, files)


def _named(candidate: Candidate, on_stage: OnStage) -> OnStage:
    return lambda text: on_stage(f"{candidate.name}: {text}")


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
    run.require(task.name, f"predict with sgc {run.task}")
    on_stage(f"reading {run.folder}")
    with run:
        model = task.load(run)
        samples = task.join(run, model, new, on_stage)
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
        labels = dict(zip(samples.targets, values.T, strict=True))
    else:
        labels = {"label": samples.y[known]}
    write_csv(path, {"id": samples.ids[known], **labels, "split": samples.split[known]})
