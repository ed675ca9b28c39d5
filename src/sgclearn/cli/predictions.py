"""Predicted classes of nodes, as the file `predictions.csv`: id, label, and `p_<class>` for each class."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.cli.csv_files import DECIMALS, csv_bytes, write_csv
from sgclearn.cli.output import Screen
from sgclearn.features import Labels, read_labels
from sgclearn.graph import Graph

SHOWN = 20


@dataclass(frozen=True, eq=False)
class Predictions:
    """Class and probabilities of some nodes: ids (m,), labels (m,), probabilities (m, C), classes (C,)."""

    ids: NDArray[Any]
    labels: NDArray[Any]
    probabilities: NDArray[np.float64]
    classes: NDArray[Any]

    @classmethod
    def of(
        cls, model: Any, X: Any, graph: Graph | None, nodes: NDArray[np.intp] | None, ids: Any
    ) -> Predictions:
        """Predict some nodes of a graph, all if none are named; `ids` are theirs."""
        probabilities = model.predict_proba(X, graph=graph, nodes=nodes)
        return cls(ids, model.classes_[probabilities.argmax(axis=1)], probabilities, model.classes_)

    def write(self, path: Path) -> None:
        """Write the CSV file; a reader sees the whole file or none of it."""
        write_csv(path, self._columns())

    def _columns(self) -> dict[str, NDArray[Any]]:
        rounded = np.round(self.probabilities, DECIMALS)
        names = [f"p_{label}" for label in self.classes.tolist()]
        return {"id": self.ids, "label": self.labels, **dict(zip(names, rounded.T, strict=True))}

    def show(self, screen: Screen) -> None:
        """Write the first as a table for a person, all as CSV to a pipe, or all as JSON."""
        if screen.as_json or screen.is_terminal:
            best = self.probabilities.max(axis=1)
            rows = zip(self.ids[:SHOWN].tolist(), self.labels.tolist(), best.tolist(), strict=False)
            screen.table(
                ("id", "label", "probability"), [(str(i), str(k), f"{p:.3f}") for i, k, p in rows], left=2
            )
            if len(self.ids) > SHOWN:
                screen.line(f"... and {len(self.ids) - SHOWN:,} more: name a file with --out to get all.")
        else:
            sys.stdout.write(csv_bytes(self._columns()).decode())

    def to_records(self) -> list[dict[str, Any]]:
        """One dictionary a node, for JSON."""
        names = [str(label) for label in self.classes.tolist()]
        rounded = np.round(self.probabilities, DECIMALS).tolist()
        return [
            {"id": node, "label": label, "probabilities": dict(zip(names, row, strict=True))}
            for node, label, row in zip(self.ids.tolist(), self.labels.tolist(), rounded, strict=True)
        ]


def read_predictions(path: Path) -> Labels:
    """Ids and classes of a file with the columns id and label."""
    return read_labels(path, id_column="id", label_column="label")
