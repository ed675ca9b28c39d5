"""Whether contenders gave the same answer: judged once, outside of everything that is timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sgclearn.bench.measurement import Measurement

TOLERANCE = 1e-4  # of the largest entry: float32 sums over thousands of neighbours in any order
# Looks at the arrays a contender gave, as its process saved them; notes figures or a fault.
Judge = Callable[[Measurement, dict[str, Any]], None]
Difference = Callable[[Any, Any], float]


def of_largest(found: Any, wanted: Any) -> float:
    """Largest difference, as a share of the largest entry.

    Examples
    --------
    >>> of_largest(np.array([1.0, 3.0]), np.array([1.0, 4.0]))
    0.25
    """
    scale = float(np.abs(wanted).max(initial=0.0)) or 1.0
    return float(np.abs(np.asarray(found, dtype=np.float64) - wanted).max(initial=0.0)) / scale


def of_entries(found: Any, wanted: Any) -> float:
    """Share of the entries that differ, for classes.

    Examples
    --------
    >>> of_entries(np.array([1, 1, 2, 2]), np.array([1, 2, 2, 2]))
    0.25
    """
    return float(np.mean(found != wanted))


def of_best(found: Any, wanted: Any) -> float:
    """Difference between the largest entries, for scores among which the best is chosen.

    Examples
    --------
    >>> of_best(np.array([0.5, 0.75]), np.array([1.0, 0.5]))
    0.25
    """
    return abs(float(np.max(found)) - float(np.max(wanted)))


_WORDS: dict[Difference, str] = {
    of_largest: "of the largest entry",
    of_entries: "of the entries",
    of_best: "in the best entry",
}


@dataclass
class Agreement:
    """The array of that name must be within a tolerance of the first one that was given.

    A contender without such an array, as a loop that only reads, is not compared.
    """

    name: str
    tolerance: float = TOLERANCE
    difference: Difference = of_largest
    _first: dict[str, Any] = field(default_factory=dict, init=False)

    def __call__(self, measurement: Measurement, arrays: dict[str, Any]) -> None:
        """Note the difference, and a fault if it is too large."""
        own = {key: array for key, array in arrays.items() if key.startswith(f"{self.name}.")}
        self._first = self._first or own
        if not own:
            return
        measurement.difference = max(
            self.difference(own[key], wanted) if own[key].shape == wanted.shape else float("inf")
            for key, wanted in self._first.items()
        )
        if not measurement.difference <= self.tolerance:
            measurement.fault = (
                f"its answer differs from the first one by {measurement.difference:.1e} "
                f"{_WORDS[self.difference]}, {self.tolerance:g} is allowed"
            )


def judge_answers(measured: dict[str, Measurement], answers: Path, judge: Judge | None) -> None:
    """Show every answer that was saved to the judge, in the order of the contenders."""
    for measurement in measured.values():
        path = answers / f"{measurement.name}.npz"
        if judge is not None and measurement.fault is None and path.exists():
            with np.load(path) as found:
                judge(measurement, {key: found[key] for key in found.files})
