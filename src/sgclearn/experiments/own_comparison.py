"""SGC beside other models on one's own data: accuracy, time, and what failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from sgclearn.experiments.comparison import Comparison, Row
from sgclearn.experiments.tables import Cells, duration, spread, times

HEADER = ("model", "test accuracy (%)", "n", "training (s)", "times SGC", "search (s)")
SHOWN = ("model", "n", "mean", "std", "seconds", "cpu_seconds", "ratio", "cpu_ratio", "n_parameters")


@dataclass(frozen=True)
class ModelComparison(Comparison):
    """What `compare_models` measured.

    Parameters
    ----------
    experiment, rows, lines, quick
        As in `Comparison`.
    failures : dict
        Name of a model to why it failed, or failed in some runs.
    prepare : str
        What was done to the features, for all models alike.

    Notes
    -----
    As text it is a table. `plot_accuracy_over_time` draws it.
    """

    failures: dict[str, str] = field(default_factory=dict)
    prepare: str = "none"

    def search_seconds(self, model: str) -> float | None:
        """Mean seconds of the search for settings, which `Row.seconds` leaves out; None where there is none."""
        found = [
            line["details"]["search_seconds"]
            for line in self.lines
            if line["model"] == model and "search_seconds" in line["details"]
        ]
        return fmean(found) if found else None

    def chosen_hops(self) -> dict[int, int]:
        """How many runs of SGC chose each number of hops."""
        hops = [
            line["details"].get("n_hops")
            for line in self.lines
            if line["model"] == self.experiment.time_against
        ]
        return {found: hops.count(found) for found in sorted({k for k in hops if k is not None})}

    def reason(self, model: str) -> str:
        """Why a model failed, in a sentence that names it."""
        title, why = self.experiment.models[model].title, self.failures[model]
        return why if title in why else f"{title}: {why}"

    def table(self) -> list[Cells]:
        """Cells of every model below `HEADER`, also of those that failed."""
        by_name = {row.model: row for row in self.rows}
        return [
            self._cells(model, by_name.get(model))
            for model in self.experiment.models
            if model in by_name or model in self.failures
        ]

    def _cells(self, model: str, row: Row | None) -> Cells:
        title = self.experiment.models[model].title
        if row is None:
            return (title, "-", "0", "-", "-", "-")
        search = self.search_seconds(model)
        is_reference = model == self.experiment.time_against
        return (
            title,
            spread(row.mean, row.std, 2),
            str(row.n),
            duration(row.seconds),
            "1x" if is_reference else "-" if row.ratio is None else times(row.ratio),
            "-" if search is None else duration(search),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain document for machines."""
        by_name = {row.model: row for row in self.rows}
        rows: list[dict[str, Any]] = []
        for model, entry in self.experiment.models.items():
            row = by_name.get(model)
            if row is None and model not in self.failures:
                continue
            figures = {name: None if row is None else getattr(row, name) for name in SHOWN}
            rows.append(
                {
                    **figures,
                    "model": model,
                    "n": 0 if row is None else row.n,
                    "search_seconds": self.search_seconds(model),
                    "failure": self.failures.get(model),
                    "settings": [
                        {"source": group.source, "values": group.values} for group in entry.settings
                    ],
                }
            )
        return {
            "title": self.experiment.title,
            "metric": self.experiment.metric,
            "prepare": self.prepare,
            "seed": self.experiment.seed,
            "chosen_hops": self.chosen_hops(),
            "rows": rows,
            "notes": list(self.experiment.notes),
        }

    def __str__(self) -> str:
        lines = aligned([HEADER, *self.table()])
        return "\n".join([*lines, *map(self.reason, self.failures), *self.experiment.notes])


def aligned(rows: Iterable[Cells]) -> list[str]:
    """Lines of a table in plain text: the first column to the left, the others to the right.

    Examples
    --------
    >>> aligned([("model", "n"), ("SGC", "10")])
    ['model   n', 'SGC    10']
    """
    listed = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*listed, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in listed
    ]
