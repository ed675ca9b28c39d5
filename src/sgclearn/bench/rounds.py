"""Measuring: contenders side by side, each once a round, best of the rounds, answers compared."""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sgclearn.bench.process import Contender, ContenderError, Process

TOLERANCE = 1e-4  # of the largest entry: float32 sums over thousands of neighbours in any order
# A peer that took this many times as long as the quickest one at the warm-up, and longer than a moment, is not run
# again. A first run may load half a library, so a short one is followed by a second before anything is concluded.
HOPELESS, MOMENT, SHORT = 3.0, 2.0, 15.0
# Threads of a library keep spinning for a while after their work is done: they must not disturb the next one.
PAUSE = 0.25

OnTurn = Callable[[str, int, int], None]


@dataclass
class Measurement:
    """How one contender did: every run, or why there is none."""

    name: str
    is_peer: bool
    threads: int
    seconds: list[float] = field(default_factory=list)
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

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "best": min(self.seconds, default=None)}


@dataclass(frozen=True)
class Rounds:
    """How to measure: rounds after a warm-up, seconds that a short run is repeated within one turn."""

    repeat: int = 5
    burst: float = 0.5
    pause: float = PAUSE


def measure(
    contenders: Sequence[Contender],
    folder: Path,
    rounds: Rounds,
    peers_python: Path | None = None,
    on_turn: OnTurn | None = None,
    compare: str | None = None,
    tolerance: float = TOLERANCE,
) -> dict[str, Measurement]:
    """Run contenders on the problem in a folder, interleaved.

    Parameters
    ----------
    contenders : sequence of Contender
        The first one that runs is what the answers of the others are compared with.
    folder : Path
        Of a problem, as `write_problem` makes it.
    rounds : Rounds
    peers_python : Path, optional
        Python of the peers' environment; without it those that live there are missing.
    on_turn : callable, optional
        Called as `f(name, done, of)`.
    compare : str, optional
        Name of the array of the answers that must agree, within `tolerance` of its largest entry.

    Returns
    -------
    dict of Measurement, by name and in the order of `contenders`
    """
    measured = {c.name: Measurement(c.name, c.is_peer, c.threads) for c in contenders}
    live: dict[str, Process] = {}
    with tempfile.TemporaryDirectory() as answers:
        try:
            for position, contender in enumerate(contenders):
                _say(on_turn, contender.name, position, len(contenders) * (rounds.repeat + 1))
                _warm_up(
                    contender, measured[contender.name], live, folder, rounds, peers_python, Path(answers)
                )
                _dismiss(measured, live)
            _compare(measured, Path(answers), compare, tolerance)
            _interleave(measured, live, rounds, on_turn)
        finally:
            for process in live.values():
                process.close()
    return measured


def _warm_up(
    contender: Contender,
    measurement: Measurement,
    live: dict[str, Process],
    folder: Path,
    rounds: Rounds,
    peers_python: Path | None,
    answers: Path,
) -> None:
    """Start, prepare and run: memory is measured in the first run, and its answer compared."""
    python = sys.executable if contender.environment == "own" else peers_python
    if python is None:
        measurement.fault, measurement.is_missing = "the peers' environment was left out", True
        return
    process = Process(python, contender.threads)
    try:
        settings = {"threads": contender.threads, **contender.settings}
        ready = process.tell("prepare", contender=contender.entry, folder=str(folder), settings=settings)
        measurement.versions, measurement.setup_seconds = ready["versions"], ready["seconds"]
        first = process.tell("turn", burst=0.0, is_first=True)["runs"][0]
        measurement.bytes_beyond = first["bytes"]
        _note(measurement, [first])
        process.tell("save", path=str(answers / f"{contender.name}.npz"))
        if first["seconds"] < SHORT:
            _note(measurement, process.tell("turn", burst=0.0)["runs"])
        live[contender.name] = process
    except ContenderError as fault:
        measurement.fault, measurement.is_missing = without_paths(str(fault)), fault.missing
        process.close()
    except BaseException:
        process.close()
        raise
    time.sleep(rounds.pause)


def _interleave(
    measured: dict[str, Measurement], live: dict[str, Process], rounds: Rounds, on_turn: OnTurn | None
) -> None:
    """Everyone that is still there once a round; for those the warm-up does not count."""
    hopeful = [measured[name] for name in live]
    for measurement in hopeful:
        measurement.seconds.clear()
    of, done = len(measured) * (rounds.repeat + 1), len(measured)
    for _ in range(rounds.repeat):
        for measurement in hopeful:
            _say(on_turn, measurement.name, done, of)
            done += 1
            if measurement.fault is not None:
                continue
            try:
                _note(measurement, live[measurement.name].tell("turn", burst=rounds.burst)["runs"])
            except ContenderError as fault:
                measurement.fault = without_paths(str(fault))
            time.sleep(rounds.pause)


def _dismiss(measured: dict[str, Measurement], live: dict[str, Process]) -> None:
    """End those that the warm-up shows to be hopeless, at once: large problems need the memory that they hold."""
    running = [measured[name] for name in live]
    for measurement in [m for m in running if _is_hopeless(m, running)]:
        live.pop(measurement.name).close()


def _is_hopeless(measurement: Measurement, running: Sequence[Measurement]) -> bool:
    same = [other.best for other in running if other.is_peer == measurement.is_peer]
    return measurement.is_peer and measurement.best > max(MOMENT, HOPELESS * min(same))


def _note(measurement: Measurement, runs: Sequence[dict[str, Any]]) -> None:
    """Add runs; figures are those of the quickest one, but an accuracy is the mean over all."""
    for run in runs:
        before = len(measurement.seconds)
        quickest = run["seconds"] < measurement.best
        for name, value in run["figures"].items():
            if name.endswith("accuracy"):
                mean = measurement.figures.get(name, 0.0) if before else 0.0
                measurement.figures[name] = mean + (value - mean) / (before + 1)
            elif quickest:
                measurement.figures[name] = value
        measurement.seconds.append(run["seconds"])


def _compare(measured: dict[str, Measurement], answers: Path, name: str | None, tolerance: float) -> None:
    """Largest difference from the first answer, relative to its largest entry; too large a one is a fault."""
    reference: dict[str, Any] | None = None
    for measurement in measured.values():
        path = answers / f"{measurement.name}.npz"
        if name is None or measurement.fault is not None or not path.exists():
            continue
        with np.load(path) as found:
            parts = {key: found[key] for key in found.files if key.startswith(f"{name}.")}
        if not parts:  # it has no such answer, as a loop that only reads
            continue
        if reference is None:
            reference = parts
        measurement.difference = max(_difference(parts[key], reference[key]) for key in reference)
        if not measurement.difference <= tolerance:
            measurement.fault = (
                f"its answer differs from the first one by {measurement.difference:.1e} of the largest entry"
            )


def _difference(found: Any, wanted: Any) -> float:
    if found.shape != wanted.shape:
        return float("inf")
    scale = float(np.abs(wanted).max(initial=0.0)) or 1.0
    gap = np.abs(np.asarray(found, dtype=np.float64) - wanted).max(initial=0.0)
    return float(gap) / scale


def without_paths(text: str) -> str:
    """Shorten paths to their last name, for results that are published.

    Examples
    --------
    >>> without_paths("ImportError: /home/ann/env/lib/libmkl_rt.so: no such file")
    'ImportError: libmkl_rt.so: no such file'
    """
    return re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[/\\][^\s/\\:'\"]+)*[/\\](?=[^\s/\\])", "", text)


def _say(on_turn: OnTurn | None, name: str, done: int, of: int) -> None:
    if on_turn is not None:
        on_turn(name, done, of)
