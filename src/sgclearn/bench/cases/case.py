"""What a case is, and what it is given to measure with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sgclearn.bench.answers import Judge
from sgclearn.bench.measurement import Measurement
from sgclearn.bench.problems import small_dataset
from sgclearn.bench.process import Contender
from sgclearn.bench.rounds import OnTurn, Rounds, measure
from sgclearn.errors import SgclearnError

OURS = "sgclearn"


@dataclass(frozen=True)
class Bar:
    """Something the benchmark must show: a value and what it must reach.

    `value` is None where it could not be measured, and the bar is then not met. Neither is it where a peer that it
    speaks of is in `absent`: who knows what that one would have done.
    """

    text: str
    value: float | None
    needed: float
    at_most: bool = False
    absent: Sequence[str] = ()

    @property
    def reached(self) -> bool:
        """Whether the value is there and good enough."""
        if self.value is None:
            return False
        return self.value <= self.needed if self.at_most else self.value >= self.needed

    @property
    def met(self) -> bool:
        """Whether it is shown."""
        return self.reached and not self.absent

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        wanted = "at most" if self.at_most else "at least"
        return {
            "text": self.text,
            "value": self.value,
            "wanted": wanted,
            "needed": self.needed,
            "reached": self.reached,
            "absent": list(self.absent),
            "met": self.met,
        }


@dataclass
class Part:
    """One problem of a case and how the contenders did on it; `notes` say what a reader must know."""

    name: str
    sizes: dict[str, Any]
    measured: dict[str, Measurement]
    figures: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def best(self, prefix: str) -> Measurement | None:
        """The quickest contender whose name begins so; None if none of them ran."""
        found = [m for m in self.measured.values() if m.name.startswith(prefix) and m.counts]
        return min(found, key=lambda m: m.best, default=None)

    def fastest_peer(self, *prefixes: str) -> Measurement | None:
        """The quickest of the peers, or of those whose names begin so."""
        return min((m for m in self._peers(prefixes) if m.counts), key=lambda m: m.best, default=None)

    def absent(self, *prefixes: str) -> list[str]:
        """Peers that count for nothing, in words."""
        gone = [m for m in self._peers(prefixes) if not m.counts]
        return [f"peer {m.name} {'missing' if m.is_missing else 'failed'}" for m in gone]

    def _peers(self, prefixes: tuple[str, ...]) -> list[Measurement]:
        peers = [m for m in self.measured.values() if m.is_peer]
        return [m for m in peers if m.name.startswith(prefixes)] if prefixes else peers

    def ratio(self, *prefixes: str) -> float | None:
        """How many times as long the quickest peer takes as sgclearn."""
        ours, peer = self.best(OURS), self.fastest_peer(*prefixes)
        return None if ours is None or peer is None else peer.best / ours.best

    def bar(self, text: str, needed: float, *prefixes: str) -> Bar:
        """The ratio as something to show, with the peers that are absent from it."""
        return Bar(text, self.ratio(*prefixes), needed, absent=self.absent(*prefixes))

    def to_dict(self) -> dict[str, Any]:
        """For JSON: every contender with its ratio to sgclearn."""
        ours, peer = self.best(OURS), self.fastest_peer()
        return {
            "name": self.name,
            "sizes": self.sizes,
            "figures": self.figures,
            "notes": self.notes,
            "fastest_peer": None if peer is None else peer.name,
            "ratio": self.ratio(),
            "contenders": [
                {**m.to_dict(), "times_ours": m.best / ours.best if ours is not None and m.counts else None}
                for m in self.measured.values()
            ],
        }


@dataclass
class Outcome:
    """What a case found."""

    parts: list[Part] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "parts": [part.to_dict() for part in self.parts],
            "bars": [bar.to_dict() for bar in self.bars],
            "skipped": self.skipped,
            "figures": self.figures,
        }


@dataclass(frozen=True)
class Bench:
    """What a case measures with.

    quick : small problems, to see that everything runs; its numbers mean nothing.
    threads : for every contender, where a case does not say otherwise.
    on_turn : told whose turn it is.
    """

    quick: bool
    threads: int
    rounds: Rounds
    peers_python: Path | None
    data_dir: Path | None
    scratch: Path | None
    on_turn: OnTurn | None

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A temporary folder for a problem, removed with everything in it."""
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="sgc-bench-") as name:
            yield Path(name)

    def measure(
        self,
        name: str,
        sizes: dict[str, Any],
        folder: Path,
        contenders: Sequence[Contender],
        judge: Judge | None = None,
    ) -> Part:
        """Let contenders take turns on the problem in a folder."""

        def say(contender: str, done: int, of: int) -> None:
            if self.on_turn is not None:
                self.on_turn(f"{name}: {contender}", done, of)

        return Part(name, sizes, measure(contenders, folder, self.rounds, self.peers_python, say, judge))

    def load(self, name: str) -> Any:
        """A dataset by name, or the reason why it cannot be had; quick runs have one that is always there."""
        from sgclearn.datasets import load_dataset

        if self.quick:
            return small_dataset()

        try:
            return load_dataset(name, data_dir=self.data_dir)
        except SgclearnError:
            # Not the error itself: it names the folder where it was looked for.
            return "not found in the folder that SGCLEARN_DATA or --data-dir names"


@dataclass(frozen=True)
class Case:
    """A letter, a title, what is measured, and the function that does it."""

    letter: str
    title: str
    about: str
    run: Callable[[Bench], Outcome]
