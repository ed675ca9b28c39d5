"""Predicted places as a table, and as GeoJSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.files import replacing
from sgclearn.runs.csv_files import DECIMALS
from sgclearn.runs.predictions import Predictions

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GeoPredictions(Predictions):
    """Where each user is: point (m, 2), cell, its probability, expected error in km, and what it rests on."""

    points: Array
    cells: NDArray[np.intp]
    probability: Array
    expected_error: Array
    evidence: NDArray[Any]

    def columns(self) -> dict[str, NDArray[Any]]:
        """`lat, lon, cell, probability, expected_error_km, evidence`."""
        return {
            "lat": np.round(self.points[:, 0], DECIMALS),
            "lon": np.round(self.points[:, 1], DECIMALS),
            "cell": self.cells,
            "probability": np.round(self.probability, DECIMALS),
            "expected_error_km": np.round(self.expected_error, 1),
            "evidence": self.evidence,
        }

    def records(self) -> list[dict[str, Any]]:
        """One dictionary a user."""
        table = {name: column.tolist() for name, column in self.table().items()}
        return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]

    def shown(self, most: int) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Id, place, probability, expected error and evidence."""
        header = ("id", "lat", "lon", "probability", "expected error", "evidence")
        rows: list[tuple[str, ...]] = [
            (
                str(record["id"]),
                f"{record['lat']:.3f}",
                f"{record['lon']:.3f}",
                f"{record['probability']:.3f}",
                f"{record['expected_error_km']:,.0f} km",
                str(record["evidence"]),
            )
            for record in self.first(most).records()
        ]
        return header, rows

    def first(self, most: int) -> GeoPredictions:
        """Predictions of the first users."""
        at = slice(most)
        return GeoPredictions(
            self.ids[at],
            self.points[at],
            self.cells[at],
            self.probability[at],
            self.expected_error[at],
            self.evidence[at],
        )

    def write_geojson(self, path: Path) -> None:
        """Write a FeatureCollection of points (RFC 7946: longitude first); a reader sees all of it or nothing."""
        features = []
        for record in self.records():
            point = {"type": "Point", "coordinates": [record.pop("lon"), record.pop("lat")]}
            features.append({"type": "Feature", "geometry": point, "properties": record})
        document = {"type": "FeatureCollection", "features": features}
        with replacing(path) as temporary:
            temporary.write_text(
                json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8"
            )
