"""The task graphs: a folder of graphs, a class for each, from files to a run and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.propagation.propagate import check_n_hops
from sgclearn.runs.place import MODEL
from sgclearn.runs.predictions import ClassPredictions
from sgclearn.runs.run import Run
from sgclearn.runs.splits import DEFAULT_HELD_OUT, DEFAULT_SEED, hold_out
from sgclearn.tasks.graphs.classifier import DEFAULT_DECAYS, SGCGraphClassifier
from sgclearn.tasks.graphs.collection import GraphCollection
from sgclearn.tasks.graphs.pools import readout
from sgclearn.tasks.graphs.readers import read_graphs
from sgclearn.tasks.graphs.storage import load_graph_model, save_graph_model
from sgclearn.tasks.options import FILES, SPLIT, option
from sgclearn.tasks.protocol import Candidate, OnStage, Samples, Task, silent


@dataclass(frozen=True)
class GraphData:
    """A folder of graphs."""

    graphs: Path = option(
        "Folder: text files of the TU collection, or graphs.csv, nodes.csv and edges.csv.",
        FILES,
        required=True,
    )
    held_out: float | None = option("Share of each class held back to measure on; 0.2 if not given.", SPLIT)
    seed: int | None = option("Seed of the split and the folds; 2019 if not given.", SPLIT)


@dataclass(frozen=True)
class GraphModel:
    """Settings of the classifier."""

    n_hops: int = option("Hops K: all from 0 to K stand side by side; 5 if not given.", default=5)
    weight_decay: float | None = option("Weight decay of standardised columns; chosen in folds if not given.")


@dataclass(frozen=True)
class NewGraphs:
    """Graphs to predict."""

    graphs: Path | None = option("Folder of new graphs, in either form.", FILES, required=True)


@dataclass(frozen=True, eq=False)
class GraphSamples(Samples):
    """Samples with the collection that they are."""

    collection: GraphCollection | None = None

    def take(self, rows: NDArray[np.intp]) -> GraphSamples:
        """Some of the graphs; the stacked graph stays."""
        taken = super().take(rows)
        return replace(taken, collection=self.given.subset(rows))  # type: ignore[return-value, call-arg]

    @property
    def given(self) -> GraphCollection:
        """The graphs."""
        if self.collection is None:
            raise InputError("samples must be graphs", "none", "read them with the task")
        return self.collection


class Graphs(Task):
    """Every graph is a sample: the mean over its nodes is its row of the readout."""

    name, unit = "graphs", "graph"
    summary = "Classify whole graphs, such as molecules."
    Data, Model, New = GraphData, GraphModel, NewGraphs

    def read(self, data: GraphData, on_stage: OnStage = silent) -> GraphSamples:
        """The graphs of a folder, some held back."""
        on_stage(f"reading {data.graphs.name}")
        collection = read_graphs(data.graphs)
        if collection.y is None:
            raise InputError(
                "graphs must have classes to learn from", f"no column label in {data.graphs}", "add one",
                argument="graphs",
            )  # fmt: skip
        y = np.array([*collection.y.tolist(), None], dtype=object)[:-1]
        seed = DEFAULT_SEED if data.seed is None else data.seed
        split = hold_out(y, DEFAULT_HELD_OUT if data.held_out is None else data.held_out, seed)
        return _samples(data.graphs.name, collection, y, split, seed, True)

    def candidates(self, samples: Samples, model: GraphModel) -> Sequence[Candidate]:
        """The constant predictor, no hops, and K hops."""
        hops = sorted({0, check_n_hops(model.n_hops)})
        decay: Any = DEFAULT_DECAYS if model.weight_decay is None else model.weight_decay
        models = [SGCGraphClassifier(k, weight_decay=decay, random_state=samples.seed) for k in hops]
        named = [
            Candidate("SGC" if k else "pooled nodes", each, k) for k, each in zip(hops, models, strict=True)
        ]
        return [Candidate("most frequent class", MostFrequentClass()), *named]

    def fit(self, model: Any, samples: Samples, on_stage: OnStage = silent) -> None:
        """Choose in folds of the training graphs, then learn from all of them."""
        on_stage("pooling hops and solving")
        learned = np.sort(samples.where("train", "val"))
        model.fit(_of(samples).given.subset(learned), samples.y[learned])

    def predict(self, model: Any, samples: Samples) -> ClassPredictions:
        """The class of every graph."""
        return ClassPredictions.of(samples.ids, model.predict_proba(_of(samples).given), model.classes_)

    def save(self, model: Any, samples: Samples, path: Path) -> None:
        """Weights, and the columns of the nodes."""
        save_graph_model(model, path)

    def load(self, run: Run) -> SGCGraphClassifier:
        """The classifier of a run."""
        return load_graph_model(run.path(MODEL))

    def join(self, run: Run, model: Any, new: NewGraphs, on_stage: OnStage = silent) -> Samples:
        """New graphs: they join nothing, as every graph is a block of its own."""
        if new.graphs is None:
            raise InputError("predict needs a folder of graphs", "none", "name one", argument="graphs")
        on_stage(f"reading {new.graphs.name}")
        collection = read_graphs(new.graphs)
        nothing = np.full(len(collection), None, dtype=object)
        return _samples(run.folder.name, collection, nothing, nothing)


class MostFrequentClass:
    """What says the same of every graph; the share of each class are its probabilities."""

    def fit(self, graphs: GraphCollection, y: NDArray[Any]) -> MostFrequentClass:
        """Count the classes."""
        labels = np.array(sorted(set(y.tolist())), dtype=object)
        self.classes_ = labels
        self.shares_ = np.array([np.count_nonzero(y == label) for label in labels.tolist()]) / len(y)
        return self

    def predict_proba(self, graphs: GraphCollection) -> NDArray[np.float64]:
        """The shares, for every graph."""
        return np.tile(self.shares_, (len(graphs), 1))


def _of(samples: Samples) -> GraphSamples:
    if not isinstance(samples, GraphSamples):
        raise InputError("samples must be graphs", type(samples).__name__, "read them with the task")
    return samples


def _samples(
    name: str,
    collection: GraphCollection,
    y: NDArray[Any],
    split: NDArray[Any],
    seed: int = DEFAULT_SEED,
    is_held_out: bool = False,
) -> GraphSamples:
    ids = np.arange(len(collection)) if collection.ids is None else collection.ids
    return GraphSamples(
        name,
        collection.graph,
        None,
        y,
        split,
        ids,
        readout(collection, "mean"),
        Graphs.unit,
        seed=seed,
        is_held_out=is_held_out,
        collection=collection,
    )
