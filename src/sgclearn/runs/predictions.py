"""Predictions of samples, as the file `predictions.csv`: id, then what the kind of prediction has to say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.features import Labels, read_labels
from sgclearn.runs.csv_files import DECIMALS, csv_bytes, spelled, write_csv


@dataclass(frozen=True, eq=False)
class Predictions(ABC):
    """What was predicted for some samples; ids (m,).

    A kind of prediction names its columns and gives each sample as a record; writing is the same for all.
    """

    ids: NDArray[Any]

    @abstractmethod
    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns of the table by name, without the id, each (m,)."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """One dictionary a sample, for JSON."""

    @abstractmethod
    def shown(self, most: int) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Header and rows of a table of the first samples, for a person."""

    def table(self) -> dict[str, NDArray[Any]]:
        """All columns, the id first."""
        return {"id": self.ids, **self.columns()}

    def to_csv(self) -> bytes:
        """The table as CSV text."""
        return csv_bytes(self.table())

    def write(self, path: Path) -> None:
        """Write the CSV file; a reader sees the whole file or none of it."""
        write_csv(path, self.table())


@dataclass(frozen=True, eq=False)
class ClassPredictions(Predictions):
    """Class and probabilities: labels (m,), probabilities (m, C), classes (C,)."""

    labels: NDArray[Any]
    probabilities: NDArray[np.float64]
    classes: NDArray[Any]

    @classmethod
    def of(cls, ids: Any, probabilities: NDArray[np.float64], classes: NDArray[Any]) -> ClassPredictions:
        """The most probable class of every sample."""
        return cls(ids, classes[probabilities.argmax(axis=1)], probabilities, classes)

    def answered(self, min_confidence: float) -> ClassPredictions:
        """The same probabilities, and no label where none of them reaches `min_confidence`."""
        labels = self.labels.astype(object)
        labels[self.probabilities.max(axis=1, initial=0.0) < min_confidence] = None
        return replace(self, labels=labels)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Label, and `p_<class>` for each class."""
        rounded = np.round(self.probabilities, DECIMALS)
        names = [f"p_{label}" for label in self.classes.tolist()]
        return {"label": self.labels, **dict(zip(names, rounded.T, strict=True))}

    def records(self) -> list[dict[str, Any]]:
        """Id, label, and probabilities by class."""
        names = [str(label) for label in self.classes.tolist()]
        rounded = np.round(self.probabilities, DECIMALS).tolist()
        return [
            {"id": sample, "label": label, "probabilities": dict(zip(names, row, strict=True))}
            for sample, label, row in zip(self.ids.tolist(), self.labels.tolist(), rounded, strict=True)
        ]

    def shown(self, most: int) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Id, label, and the probability of that label."""
        best = self.probabilities[:most].max(axis=1, initial=0.0)
        rows = zip(self.ids[:most].tolist(), self.labels.tolist(), best.tolist(), strict=False)
        names = ("id", "label", "probability")
        return names, [(str(i), "-" if k is None else str(k), f"{p:.3f}") for i, k, p in rows]


@dataclass(frozen=True, eq=False)
class ValuePredictions(Predictions):
    """Numbers: values (m, q), one column a target, and the names of the targets."""

    values: NDArray[np.float64]
    targets: tuple[str, ...]

    def columns(self) -> dict[str, NDArray[Any]]:
        """One column a target."""
        return dict(zip(self.targets, self.values.T, strict=True))

    def table(self) -> dict[str, NDArray[Any]]:
        """As text, since numbers may be of any size."""
        return {"id": self.ids, **{name: spelled(column) for name, column in self.columns().items()}}

    def records(self) -> list[dict[str, Any]]:
        """Id, and the value of every target."""
        return [
            {"id": sample, **dict(zip(self.targets, row, strict=True))}
            for sample, row in zip(self.ids.tolist(), self.values.tolist(), strict=True)
        ]

    def shown(self, most: int) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Id, and the value of every target."""
        rows = zip(self.ids[:most].tolist(), self.values[:most].tolist(), strict=True)
        return ("id", *self.targets), [(str(i), *(f"{v:.4g}" for v in row)) for i, row in rows]


def read_predictions(path: Path) -> Labels:
    """Ids and classes of a file with the columns id and label."""
    return read_labels(path, id_column="id", label_column="label")
