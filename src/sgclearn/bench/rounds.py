"""Measuring: contenders side by side, each once a round, best of the rounds, answers judged."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sgclearn.bench.answers import Judge, judge_answers
from sgclearn.bench.measurement import Measurement, without_paths
from sgclearn.bench.process import Contender, ContenderError, Process
from sgclearn.bench.seats import Seats

# A peer that takes this many times as long as the quickest one, and longer than a moment, is not run in the rounds,
# unless a bar speaks of it:
# its time is that of the run after its first one, or of the first where that took longer than `LONG` seconds.
HOPELESS, MOMENT, LONG = 3.0, 2.0, 120.0
# Threads of a library keep spinning for a while after their work is done: they must not disturb the next one.
PAUSE = 0.25

OnTurn = Callable[[str, int, int], None]


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
    judge: Judge | None = None,
) -> dict[str, Measurement]:
    """Run contenders on the problem in a folder, interleaved.

    Parameters
    ----------
    contenders : sequence of Contender
    folder : Path
        Of a problem, as `write_problem` makes it.
    rounds : Rounds
    peers_python : Path, optional
        Python of the peers' environment; without it those that live there are missing.
    on_turn : callable, optional
        Called as `f(name, done, of)`.
    judge : callable, optional
        Is shown the answer of every contender, in their order; see `answers`.

    Returns
    -------
    dict of Measurement, by name and in the order of `contenders`
    """
    measured = {c.name: Measurement(c.name, c.is_peer, c.threads) for c in contenders}
    going: dict[str, Contender] = {}
    of = len(contenders) * (rounds.repeat + 1)
    with tempfile.TemporaryDirectory() as answers, Seats(folder, peers_python) as seats:
        for position, contender in enumerate(contenders):
            _say(on_turn, contender.name, position, of)
            if _warm_up(contender, measured[contender.name], seats, Path(answers)):
                going[contender.name] = contender
            _dismiss(measured, going, seats)
            time.sleep(rounds.pause)
        judge_answers(measured, Path(answers), judge)
        for name in going:
            measured[name].seconds.clear()  # for those that go on, the warm-up does not count
        for done in range(rounds.repeat * len(going)):
            name = list(going)[done % len(going)]
            _say(on_turn, name, len(contenders) + done, of)
            if measured[name].fault is None:
                _turn(going[name], measured[name], seats, rounds)
    return measured


def _warm_up(contender: Contender, measurement: Measurement, seats: Seats, answers: Path) -> bool:
    """Start, prepare and run twice: memory is measured in the first run, time in the second. Whether it can go on."""

    def work(process: Process, ready: dict[str, Any]) -> None:
        measurement.versions, measurement.setup_seconds = ready["versions"], ready["seconds"]
        runs = process.tell("turn", burst=0.0, is_first=True)["runs"]
        measurement.bytes_beyond = runs[0]["bytes"]
        process.tell("save", path=str(answers / f"{contender.name}.npz"))
        measurement.is_first_run = runs[0]["seconds"] > LONG
        measurement.note(runs if measurement.is_first_run else process.tell("turn", burst=0.0)["runs"])

    try:
        seats.first(contender, work)
    except ContenderError as fault:
        measurement.fault, measurement.is_missing = without_paths(str(fault)), fault.missing
    return measurement.fault is None


def _turn(contender: Contender, measurement: Measurement, seats: Seats, rounds: Rounds) -> None:
    try:
        measurement.note(seats.turn(contender, rounds.burst))
        measurement.is_first_run = False
    except ContenderError as fault:
        measurement.fault = without_paths(str(fault))
    time.sleep(rounds.pause)


def _dismiss(measured: dict[str, Measurement], going: dict[str, Contender], seats: Seats) -> None:
    """End those that the warm-up shows to be hopeless, at once: large problems need the memory that they hold."""
    running = [measured[name] for name in going]
    slow = [m for m in running if _is_hopeless(m, running)]
    for measurement in [m for m in slow if not going[m.name].is_barred]:
        del going[measurement.name]
        seats.end(measurement.name)


def _is_hopeless(measurement: Measurement, running: Sequence[Measurement]) -> bool:
    same = [other.best for other in running if other.is_peer == measurement.is_peer]
    return measurement.is_peer and measurement.best > max(MOMENT, HOPELESS * min(same))


def _say(on_turn: OnTurn | None, name: str, done: int, of: int) -> None:
    if on_turn is not None:
        on_turn(name, done, of)
