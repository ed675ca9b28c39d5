"""What a task is: a reader of samples, the models that it compares, and what new samples need.

Every application is the same model, `Y = link( P [F_1(S) X, F_2(S) X, ...] Theta + b )`. A task says what the graph,
the features X and the readout P are (`Samples`); `sgclearn.tasks.driver` fits, predicts, tunes and evaluates any of
them, and writes and reads their runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import InputError, MemoryLimitError
from sgclearn.evaluate.table import Table
from sgclearn.features import Encoding
from sgclearn.graph import Graph
from sgclearn.runs.place import MODEL
from sgclearn.runs.predictions import ClassPredictions, Predictions, ValuePredictions
from sgclearn.runs.run import Run, RunFile
from sgclearn.runs.splits import DEFAULT_SEED, SPLITS, has_label, without_labels
from sgclearn.tables.messages import counted

Columns = dict[str, NDArray[Any]]
"""Arrays (m,) by name."""
OnProgress = Callable[[int, int], None]
"""Called as `f(done, of)`."""
OnStage = Callable[[str], OnProgress]
"""Called with the name of a stage as it begins; gives what reports its progress."""


def silent(text: str) -> OnProgress:
    """No-op `OnStage`."""
    return lambda done, of: None


def lazily(on_stage: OnStage, text: str) -> OnProgress:
    """What reports the progress of a stage that begins with its first report."""
    begun: list[OnProgress] = []

    def report(done: int, of: int) -> None:
        if not begun:
            begun.append(on_stage(text))
        begun[0](done, of)

    return report


@dataclass(frozen=True, eq=False)
class Samples:
    """m samples read off a graph of n nodes: sample i is row i of `P F(S) X`.

    Parameters
    ----------
    name : str
        Of the data, such as the name of a file.
    graph : Graph
        n nodes.
    X : matrix (n, d), or None for the identity
    y : array (m,), or (m, q) for several numbers a sample
        Classes are integers with -1, or strings with None, where there is no label; numbers are floats with NaN.
    split : object array (m,)
        "train", "val", "test", or None for samples without a label.
    ids : array (m,)
    readout : sparse array (m, n), or None for the rows of the identity
        P: what of which node makes up which sample.
    unit : str
        What one sample is called: "node", "document", "user", ...
    feature_names : tuple of str or None
    encoding : Encoding or None
        How the columns of X came from raw columns.
    row_norm : str or None
        How the rows of X are normalised where no option says so.
    is_held_out : bool
        Whether the test samples were drawn here, because the data came without a split.
    label_column : str or None
        Column of the labels, where only its place in the file said so.
    targets : tuple of str
        Names of the numbers to predict.
    inputs : mapping
        SHA-256 of every file that was read, by name; `driver.read` takes it from the reading itself.
    seed : int
        Of splits, folds and stochastic solvers.
    """

    name: str
    graph: Graph
    X: Any
    y: NDArray[Any]
    split: NDArray[Any]
    ids: NDArray[Any]
    readout: Any = None
    unit: str = "node"
    feature_names: tuple[str, ...] | None = None
    encoding: Encoding | None = None
    row_norm: str | None = None
    is_held_out: bool = False
    label_column: str | None = None
    targets: tuple[str, ...] = ("value",)
    inputs: Mapping[str, str] = field(default_factory=dict)
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        m = self.n_samples
        rows = {"y": len(self.y), "split": len(self.split), "ids": len(self.ids)}
        if self.readout is not None:
            rows["readout"] = self.readout.shape[0]
        wrong = next((name for name, count in rows.items() if count != m), None)
        if wrong is not None:
            raise InputError(
                f"{wrong} must have one entry for each of the {m:,} samples", f"{rows[wrong]:,}", "align it"
            )
        bare = self.where(*SPLITS)[~has_label(self.y)[self.where(*SPLITS)]]
        if len(bare):
            raise InputError(
                "every sample in a split must have a label",
                f"{len(bare):,} without, the first is {self.ids[bare[:1]].tolist()[0]!r}",
                "label them, or leave their split empty",
            )

    @property
    def n_samples(self) -> int:
        """M."""
        if self.readout is not None:
            return int(self.readout.shape[0])
        return self.graph.n_nodes

    @property
    def is_numeric(self) -> bool:
        """Whether y are numbers to regress on, not classes."""
        return self.y.dtype.kind == "f"

    def where(self, *splits: str) -> NDArray[np.intp]:
        """Positions of the samples in these splits."""
        chosen = np.zeros(len(self.split), dtype=bool)
        for split in splits:
            chosen |= self.split == split
        return np.flatnonzero(chosen)

    def labels(self, *splits: str) -> NDArray[Any]:
        """Y of these splits, and no label everywhere else."""
        hidden = np.ones(len(self.split), dtype=bool)
        hidden[self.where(*splits)] = False
        return without_labels(self.y, hidden)

    def target_columns(self) -> Columns:
        """Y as named columns (m,): "label", or one for each of `targets`."""
        if not self.is_numeric:
            return {"label": self.y}
        return dict(zip(self.targets, self.y.reshape(len(self.y), -1).T, strict=True))

    def take(self, rows: NDArray[np.intp]) -> Samples:
        """Some of the samples, read off the same graph."""
        readout = rows_of_identity(rows, self.graph.n_nodes) if self.readout is None else self.readout[rows]
        return replace(self, readout=readout, y=self.y[rows], split=self.split[rows], ids=self.ids[rows])

    @property
    def classes(self) -> list[Any]:
        """Classes that occur, sorted."""
        return [] if self.is_numeric else sorted(set(self.y[self.where(*SPLITS)].tolist()))

    @property
    def summary(self) -> dict[str, Any]:
        """Sizes, for JSON."""
        graph = self.graph
        return {
            "name": self.name,
            "unit": self.unit,
            "samples": self.n_samples,
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "directed": graph.directed,
            "weighted": graph.is_weighted,
            "features": None if self.X is None else self.X.shape[1],
            "classes": None if self.is_numeric else len(self.classes),
            "targets": list(self.targets) if self.is_numeric else None,
            "label_column": self.label_column,
            **{split: len(self.where(split)) for split in SPLITS},
        }

    def __str__(self) -> str:
        parts = [] if self.readout is None else [counted(self.n_samples, self.unit)]
        parts += [counted(self.graph.n_nodes, "node"), counted(self.graph.n_edges, "edge")]
        parts.append("no features" if self.X is None else counted(self.X.shape[1], "feature"))
        if self.is_numeric:
            parts.append(counted(len(self.targets), "target"))
        else:
            parts.append(counted(len(self.classes), "class"))
        return f"{self.name}: {', '.join(parts)}"

    @property
    def split_sizes(self) -> str:
        """How many labels each split has, in words."""
        held = [f"{len(self.where(split)):,} {split}" for split in SPLITS if len(self.where(split))]
        column = "" if self.label_column is None else f"column {self.label_column}: "
        drawn = " (held back here)" if self.is_held_out and len(self.where("test")) else ""
        return column + ", ".join(held) + drawn


@dataclass(frozen=True)
class Candidate:
    """A model that the driver fits: the last one is kept, those before it are what it is compared with.

    Parameters
    ----------
    name : str
        For the table of results, such as "logistic regression".
    model : estimator
        Unfitted. `fit(X, y, graph=, readout=)`; one that has `cv` also takes `validation=`.
    n_hops : int or None
    """

    name: str
    model: Any
    n_hops: int | None = None


def save(model: Any, samples: Samples, path: Path) -> None:
    """Write a model with the encoding of its features."""
    from sgclearn.persist import save_model

    encoding = None if samples.encoding is None else samples.encoding.to_dict()
    save_model(model, path, feature_encoding=encoding)


class Task(ABC):
    """From files to samples, from samples to models, and from a run to new samples.

    Three dataclasses name the options of a task; the command line makes one option of each field, whose metadata
    `option` writes, and hands the methods an instance.

    Attributes
    ----------
    name : str
        Recorded in every run: `sgc <name> fit`.
    unit : str
        What one sample is called.
    summary : str
        One sentence for the help.
    Data, Model, New : dataclass
        Options of `read`, of `candidates` and of `join`.
    Measure : dataclass, optional
        Options of `measure`, for a task whose runs are measured on labelled samples of their own.
    next_step : str
        The command to go on with after a fit, with "{run}" for its folder.
    """

    name: ClassVar[str]
    unit: ClassVar[str] = "node"
    summary: ClassVar[str]
    next_step: ClassVar[str] = "sgc evaluate {run}"
    Data: ClassVar[type[Any]]
    Model: ClassVar[type[Any]]
    New: ClassVar[type[Any]]
    Measure: ClassVar[type[Any] | None] = None

    @abstractmethod
    def read(self, data: Any, on_stage: OnStage = silent) -> Samples:
        """Samples of the files that the options name; each file is read once."""

    @abstractmethod
    def candidates(self, samples: Samples, model: Any) -> Sequence[Candidate]:
        """Models to fit, in the order of the table; the last one is the model of the run."""

    def search(self, samples: Samples, search: Any, model: Any) -> Candidate:
        """The model that chooses among the settings of a `Search`; `model` are the other options of the fit."""
        raise InputError(
            f"{self.name} has no settings to search", remedy="fit with the settings that you want"
        )

    def plan(self, samples: Samples, candidate: Candidate) -> tuple[Any, MemoryLimitError | None]:
        """Estimated cost of a candidate's fit, and the error to raise where it fits into no memory."""
        return None, None

    @abstractmethod
    def join(self, run: Run, model: Any, new: Any, on_stage: OnStage = silent) -> Samples:
        """New samples beside those of a run: its graph with what is new, and a readout whose rows are the new ones.

        With no new samples in the options: the samples of the run again.
        """

    def fit(self, model: Any, samples: Samples, on_stage: OnStage = silent) -> None:
        """Fit a candidate: one that chooses its own settings sees validation labels too, and none sees test labels."""
        given: dict[str, Any] = {"graph": samples.graph}
        if samples.readout is not None:
            given["readout"] = samples.readout
        if not hasattr(model, "cv"):
            given |= {
                "on_progress": lazily(on_stage, "propagating"),
                "on_iteration": lazily(on_stage, "solving"),
            }
            model.fit(samples.X, samples.labels("train"), **given)
            return
        validation = samples.where("val")
        given |= {"validation": validation if len(validation) else None, "on_step": on_stage("tuning")}
        model.fit(samples.X, samples.labels("train", "val"), **given)

    def save(self, model: Any, samples: Samples, path: Path) -> None:
        """Write the model of a run."""
        save(model, samples, path)

    def load(self, run: Run) -> Any:
        """Read the model of a run."""
        from sgclearn.persist import load_model

        return load_model(run.path(MODEL))

    def files(self, samples: Samples, model: Any) -> list[RunFile]:
        """Files of the run besides those that every task has; see `sgclearn.runs.place.FILES`."""
        return []

    def predict(self, model: Any, samples: Samples) -> Predictions:
        """Predictions of every sample."""
        given: dict[str, Any] = {"graph": samples.graph if getattr(model, "uses_graph_", True) else None}
        nodes = None if samples.readout is None else chosen_nodes(samples.readout)
        if samples.readout is not None:
            given |= {"readout": samples.readout} if nodes is None else {"nodes": nodes}
        if hasattr(model, "classes_"):
            probabilities = model.predict_proba(samples.X, **given)
            return ClassPredictions.of(samples.ids, probabilities, model.classes_)
        values = np.asarray(model.predict(samples.X, **given), dtype=np.float64)
        return ValuePredictions(samples.ids, values.reshape(len(values), -1), samples.targets)

    def fitted(self, model: Any, samples: Samples) -> Predictions:
        """Predictions of the samples that a model was fitted on, which it may know already."""
        return self.predict(model, samples)

    def score(self, truth: Columns, guess: Columns, *, confidence: float = 0.95) -> Any:
        """Compare columns of `Samples.target_columns` with those of predictions of the same samples.

        Gives what has `n`, `confidence`, `headline()`, `tables()` and `to_dict()`, such as an `Evaluation`.
        """
        from sgclearn.evaluate import evaluate_predictions, evaluate_values

        if next(iter(truth.values())).dtype.kind != "f":
            return evaluate_predictions(truth["label"], guess["label"], confidence=confidence)
        names = tuple(truth)
        y, f = (np.column_stack([columns[name] for name in names]) for columns in (truth, guess))
        return evaluate_values(y, f, targets=names, confidence=confidence)

    def measure(self, run: Run, model: Any, given: Any, on_stage: OnStage = silent) -> Any:
        """How good a run is on other samples; gives what `score` gives, and `given` is an instance of `Measure`."""
        raise NotImplementedError(f"{type(self).__name__}.measure")

    def details(self, samples: Samples, model: Any) -> dict[str, Any]:
        """What the metrics of a run say besides what they say for every task."""
        return {}

    def remarks(self, samples: Samples, model: Any) -> list[str]:
        """What is done to the data without having been asked for, in words; `model` are the options of the model."""
        return []

    def tables(self, samples: Samples, model: Any) -> list[Table]:
        """Tables about a fitted model for the screen and the report."""
        return []

    def groups(self, run: Run, model: Any) -> dict[str, Sequence[str]]:
        """Names for the groups of an explanation: of the features, the nodes and the blocks of filters."""
        return {}


def unlabelled(
    name: str,
    graph: Graph,
    X: Any,
    nodes: NDArray[np.intp] | None = None,
    *,
    readout: Any = None,
    ids: NDArray[Any] | None = None,
    unit: str = "node",
) -> Samples:
    """Samples to predict, for `Task.join`: some nodes or all of them, or the rows of a readout with their ids."""
    if nodes is not None:
        readout, ids = rows_of_identity(nodes, graph.n_nodes), graph.ids[nodes]
    ids = graph.ids if ids is None else ids
    nothing = np.full(len(ids), None, dtype=object)
    return Samples(name, graph, X, nothing, nothing, ids, readout, unit)


def rows_of_identity(nodes: NDArray[np.intp], n: int) -> sp.csr_array:
    """The readout of some of n nodes (m, n)."""
    m = len(nodes)
    return sp.csr_array((np.ones(m), np.asarray(nodes), np.arange(m + 1)), shape=(m, n))


def known_predictions(model: Any, samples: Samples) -> Predictions | None:
    """What one of our estimators kept about the samples of its fit; None for any other model."""
    if hasattr(model, "transduction_proba_"):
        return ClassPredictions.of(samples.ids, model.transduction_proba_, model.classes_)
    if samples.is_numeric and hasattr(model, "transduction_"):
        return ValuePredictions(
            samples.ids, model.transduction_.reshape(samples.n_samples, -1), samples.targets
        )
    return None


def chosen_nodes(readout: Any) -> NDArray[np.intp] | None:
    """Nodes whose rows of the identity a readout is made of; None for every other readout.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> chosen_nodes(sp.eye_array(5, format="csr")[[3, 1]]).tolist()
    [3, 1]
    >>> chosen_nodes(sp.csr_array([[0.5, 0.5]])) is None
    True
    """
    P = sp.csr_array(readout)
    if (np.diff(P.indptr) == 1).all() and (P.data == 1).all():
        return np.asarray(P.indices, dtype=np.intp)
    return None
