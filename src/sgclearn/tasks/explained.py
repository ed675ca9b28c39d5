"""Explanations of the predictions of a run."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from sgclearn.errors import InputError
from sgclearn.explain import Explainer, LabelInfluence, LeaveOneOut, label_influence, leave_one_out
from sgclearn.features import read_features
from sgclearn.graph import Graph
from sgclearn.runs.place import FEATURES
from sgclearn.runs.run import Run
from sgclearn.tasks import get_task

_SUGGESTED, _MOST_IDS = 3, 200_000


@dataclass(frozen=True, eq=False)
class OpenRun:
    """Model, graph and features of a run whose samples are the nodes of its graph."""

    run: Run
    model: Any
    graph: Graph
    X: Any
    feature_names: tuple[str, ...] | None

    @classmethod
    def of(cls, run: Run) -> OpenRun:
        """Read what explanations need."""
        run.require("nodes")
        with run:
            model, graph = get_task(run.task).load(run), run.graph()
            features = read_features(run.path(FEATURES)) if run.has(FEATURES) else None
        if features is None:
            return cls(run, model, graph, None, None)
        return cls(run, model, graph, features.matrix, features.names)

    def explainer(self) -> Explainer:
        """What explains single nodes."""
        return Explainer(self.model, self.X, self.graph, feature_names=self.feature_names)

    def position(self, name: str) -> int:
        """Position of a node by its id as text; an unknown one is an error that names the nearest ids."""
        ids = self.graph.ids
        try:
            wanted: Any = int(name) if ids.dtype.kind == "i" else name
            return int(self.graph.positions([wanted])[0])
        except (InputError, ValueError):
            near = get_close_matches(
                name, [str(known) for known in ids[:_MOST_IDS].tolist()], _SUGGESTED, 0.5
            )
        remedy = (
            f"did you mean {', '.join(map(repr, near))}" if near else "name a node of the graph by its id"
        )
        raise InputError("node must be a node of the run", repr(name), remedy, argument="node")

    def edge(self, text: str) -> tuple[int, int]:
        """Positions of the ends of an edge that is written as two ids with a comma between."""
        parts = text.split(",")
        for cut in range(1, len(parts)):
            source, target = ",".join(parts[:cut]), ",".join(parts[cut:])
            try:
                return self.position(source), self.position(target)
            except InputError:
                if len(parts) == 2:
                    raise
        raise InputError(
            "an edge must be two ids with a comma between",
            repr(text),
            "write it as A,B",
            argument="without_edge",
        )

    def feature(self, name: str) -> int:
        """Column of a feature by its name, or by its number where there are no names."""
        names = None if self.feature_names is None else list(self.feature_names)
        if names is not None and name in names:
            return names.index(name)
        d = 0 if self.X is None else self.X.shape[1]
        if names is None and name.isdecimal() and int(name) < d:
            return int(name)
        near = get_close_matches(name, (names or [])[:_MOST_IDS], _SUGGESTED, 0.5)
        remedy = f"did you mean {', '.join(map(repr, near))}" if near else "name a feature of the run"
        raise InputError("a feature must be one of the run", repr(name), remedy, argument="without_feature")

    def class_of(self, name: str, argument: str) -> Any:
        """Class of the model by its name as text."""
        classes = self.model.classes_.tolist() if hasattr(self.model, "classes_") else []
        for label in classes:
            if str(label) == name:
                return label
        raise InputError(
            f"{argument} must be a class of the model", repr(name), f"choose from {', '.join(map(str, classes[:20]))}",
            argument=argument,
        )  # fmt: skip

    def training_labels(self) -> Any:
        """Label of every node that the fit learned from, None elsewhere."""
        labels = self.run.labels()
        y = labels.align(self.graph)
        known = np.full(len(y), None, dtype=object)
        split = np.full(len(y), "train", dtype=object)
        if labels.splits is not None:
            split[:] = None
            split[self.graph.positions(labels.ids)] = labels.splits
        train = split == "train"
        known[train] = y[train]
        return known

    def influence(self, node: int) -> list[LabelInfluence]:
        """What each training label adds to the margin of a node."""
        return label_influence(self.model, self.X, self.training_labels(), self.graph, node)

    def left_out(self) -> LeaveOneOut:
        """Predictions of each training label by a model that did not see it."""
        return leave_one_out(self.model, self.X, self.training_labels(), self.graph)
