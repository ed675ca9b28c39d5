"""The task nodes: one's own graph, a few labelled nodes, a label for every node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sgclearn.errors import InputError, MemoryLimitError
from sgclearn.persist import load_model
from sgclearn.propagation.planner import Plan
from sgclearn.propagation.propagate import check_n_hops
from sgclearn.runs.place import MODEL
from sgclearn.runs.predictions import Predictions
from sgclearn.runs.run import Run
from sgclearn.tasks.candidates import Search, linear_candidates, linear_search
from sgclearn.tasks.nodes.new_nodes import join_nodes, read_other_graph
from sgclearn.tasks.nodes.options import NewNodes, NodeData, NodeModel
from sgclearn.tasks.nodes.reading import read_nodes
from sgclearn.tasks.options import FitOptions
from sgclearn.tasks.planning import plan_candidate
from sgclearn.tasks.protocol import Candidate, OnStage, Samples, Task, known_predictions, silent


class Nodes(Task):
    """Every node is a sample: the readout is the identity."""

    name, unit, summary = "nodes", "node", "Label the nodes of a graph from a few known labels."
    Data, Model, New = NodeData, NodeModel, NewNodes

    def read(self, data: NodeData, on_stage: OnStage = silent) -> Samples:
        """The files that are named, a dataset, or the graph inside the package."""
        return read_nodes(data, on_stage)

    def candidates(self, samples: Samples, model: NodeModel) -> Sequence[Candidate]:
        """0 hops, which is the model without the graph, and K hops."""
        parameters = {**model.operator(), **model.parameters(samples.row_norm)}
        return linear_candidates(
            samples, sorted({0, check_n_hops(model.n_hops)}), model.weight_decay, parameters
        )

    def search(self, samples: Samples, search: Search, model: FitOptions) -> Candidate:
        """Numbers of hops, weight decays and propagation matrices."""
        return linear_search(samples, search, model.parameters(samples.row_norm))

    def plan(self, samples: Samples, candidate: Candidate) -> tuple[Plan, MemoryLimitError | None]:
        """Cost of every way to compute the fit."""
        return plan_candidate(samples, candidate)

    def join(self, run: Run, model: Any, new: NewNodes, on_stage: OnStage = silent) -> Samples:
        """The new nodes beside those of the run, or all of these again."""
        return join_nodes(run, model, new, on_stage)

    def fitted(self, model: Any, samples: Samples) -> Predictions:
        """Those that the fit has computed for all nodes."""
        known = known_predictions(model, samples)
        return self.predict(model, samples) if known is None else known

    def load(self, run: Run) -> Any:
        """The classifier or regressor of a run."""
        return _load(run.path(MODEL))

    def predict_elsewhere(self, path: Path, data: NodeData, on_stage: OnStage = silent) -> Predictions:
        """Predictions of the nodes of another graph by a saved model."""
        model = _load(path)
        samples = read_other_graph(path, model, data, on_stage)
        on_stage("predicting")
        return self.predict(model, samples)

    def remarks(self, samples: Samples, model: FitOptions) -> list[str]:
        """The norm of the rows, where nobody asked for it."""
        if model.row_norm is not None or samples.row_norm is None:
            return []
        return [f"rows of the features are divided by their {samples.row_norm} norm (--row-norm none: not)"]


def _load(path: Path) -> Any:
    model = load_model(path)
    if type(model).__name__ == "SGCMultilabelClassifier":
        raise InputError(
            "sgc predict gives one label a node",
            f"{path}, a model of many labels a node",
            "use sgclearn.load_model in Python",
        )
    return model
