"""How one contender did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Measurement:
    """Every run that counts, or why there is none.

    is_first_run : whether the time is that of the very first run, because that took too long for a second one.
    difference : from the answer of the first contender, in the measure of the part.
    fault : why it counts for nothing; `is_missing` if its library is not there.
    """

    name: str
    is_peer: bool
    threads: int
    seconds: list[float] = field(default_factory=list)
    is_first_run: bool = False
    bytes_beyond: int | None = None
    figures: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    setup_seconds: float | None = None
    difference: float | None = None
    fault: str | None = None
    is_missing: bool = False

    @property
    def best(self) -> float:
        """Least seconds; infinite if it never ran."""
        return min(self.seconds, default=float("inf"))

    @property
    def counts(self) -> bool:
        """Whether it ran and nothing is wrong with it."""
        return self.fault is None and bool(self.seconds)

    def note(self, runs: Sequence[dict[str, Any]]) -> None:
        """Add runs; figures are those of the quickest one, but an accuracy is the mean over all."""
        for run in runs:
            before = len(self.seconds)
            quickest = run["seconds"] < self.best
            for name, value in run["figures"].items():
                if name.endswith("accuracy"):
                    mean = self.figures.get(name, 0.0) if before else 0.0
                    self.figures[name] = mean + (value - mean) / (before + 1)
                elif quickest:
                    self.figures[name] = value
            self.seconds.append(run["seconds"])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "best": min(self.seconds, default=None)}


def without_paths(text: str) -> str:
    """Shorten paths to their last name, for results that are published.

    Examples
    --------
    >>> without_paths("ImportError: /home/ann/env/lib/libmkl_rt.so: no such file")
    'ImportError: libmkl_rt.so: no such file'
    """
    return re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[/\\][^\s/\\:'\"]+)*[/\\](?=[^\s/\\])", "", text)
