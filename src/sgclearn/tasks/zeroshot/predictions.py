"""Ranked classes of images, and who lent each class its classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.runs.csv_files import DECIMALS
from sgclearn.runs.predictions import Predictions

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankedPredictions(Predictions):
    """The first classes of each image: labels (m, top) by falling score, scores (m, top)."""

    labels: NDArray[Any]
    scores: Array

    def columns(self) -> dict[str, NDArray[Any]]:
        """`label` and `score`, then `label_2`, `score_2`, ..."""
        table: dict[str, NDArray[Any]] = {}
        for rank in range(self.labels.shape[1]):
            ending = "" if rank == 0 else f"_{rank + 1}"
            table[f"label{ending}"] = self.labels[:, rank]
            table[f"score{ending}"] = np.round(self.scores[:, rank], DECIMALS)
        return table

    def records(self) -> list[dict[str, Any]]:
        """Id and ranked classes of each image."""
        rows = zip(self.ids.tolist(), self.labels.tolist(), self.scores.tolist(), strict=True)
        return [{"id": image, "labels": labels, "scores": scores} for image, labels, scores in rows]

    def shown(self, most: int) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Id and ranked classes."""
        rows: list[tuple[str, ...]] = [
            (str(image), ", ".join(map(str, labels)))
            for image, labels in zip(self.ids[:most].tolist(), self.labels[:most].tolist(), strict=True)
        ]
        return ("image", "classes"), rows


@dataclass(frozen=True, eq=False)
class Lenders(Predictions):
    """Of each class the seen class whose classifier weighs most in its own, and how much."""

    names: NDArray[Any]
    lender: NDArray[Any]
    weight: Array

    def columns(self) -> dict[str, NDArray[Any]]:
        """`name, label, weight`: the label is the seen class that weighs most."""
        return {"name": self.names, "label": self.lender, "weight": np.round(self.weight, DECIMALS)}

    def records(self) -> list[dict[str, Any]]:
        """One dictionary a class."""
        table = {name: column.tolist() for name, column in self.table().items()}
        return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]

    def shown(self, most: int) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Id, name, lender and weight."""
        rows = zip(self.ids[:most], self.names[:most], self.lender[:most], self.weight[:most], strict=True)
        return ("id", "name", "most from", "weight"), [
            (str(a), str(b), str(c), f"{w:.3f}") for a, b, c, w in rows
        ]
