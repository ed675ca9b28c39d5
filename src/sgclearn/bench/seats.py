"""The contenders' processes: alive side by side while there is memory for all, else one after the other."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sgclearn.bench.process import Contender, ContenderError, Process

# Processes keep what they were given, so that nobody is timed on fresh pages. With less than this share of the
# machine's memory left, those that are not at work end before another one starts.
LEAST_FREE = 0.5
T = TypeVar("T")


class Seats:
    """A process for each contender that asks; one that had to end is started anew when its turn comes."""

    def __init__(self, folder: Path, peers_python: Path | None) -> None:
        self.folder, self.peers_python = folder, peers_python
        self._live: dict[str, Process] = {}

    def __enter__(self) -> Seats:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._live):
            self.end(name)

    def first(self, contender: Contender, work: Callable[[Process, dict[str, Any]], T]) -> T:
        """Start a contender; `work(process, ready)` is given the reply to its preparation."""

        def begin() -> T:
            process, ready = self._start(contender)
            return work(process, ready)

        return self._with_room(contender, begin)

    def turn(self, contender: Contender, burst: float) -> list[dict[str, Any]]:
        """Runs of a turn; a process that is started anew for it has a run before that does not count."""

        def run() -> list[dict[str, Any]]:
            process = self._live.get(contender.name)
            if process is None:
                process, _ = self._start(contender)
                process.tell("turn", burst=0.0)
            runs: list[dict[str, Any]] = process.tell("turn", burst=burst)["runs"]
            return runs

        return self._with_room(contender, run)

    def end(self, name: str) -> None:
        """End the process of a contender, if it is alive."""
        if name in self._live:
            self._live.pop(name).close()

    def _with_room(self, contender: Contender, work: Callable[[], T]) -> T:
        """Do it; where the system ended the process beside others or at rest, for want of memory, once more alone."""
        was_live = contender.name in self._live
        try:
            return work()
        except ContenderError as fault:
            self.end(contender.name)
            if not fault.ended or not (self._live or was_live):
                raise
        for name in list(self._live):
            self.end(name)
        try:
            return work()
        except ContenderError:
            self.end(contender.name)
            raise

    def _start(self, contender: Contender) -> tuple[Process, dict[str, Any]]:
        python = sys.executable if contender.environment == "own" else self.peers_python
        if python is None:
            raise ContenderError("the peers' environment was left out", missing=True)
        if free_share() < LEAST_FREE:
            for name in list(self._live):
                self.end(name)
        process = self._live[contender.name] = Process(python, contender.threads)
        settings = {"threads": contender.threads, **contender.settings}
        ready = process.tell("prepare", contender=contender.entry, folder=str(self.folder), settings=settings)
        return process, ready


def free_share() -> float:
    """Memory that could be had, as a share of all; 1 where the system does not say."""
    with contextlib.suppress(OSError, KeyError, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = {name: int(size.split()[0]) for name, size in (line.split(":", 1) for line in lines)}
        return sizes["MemAvailable"] / sizes["MemTotal"]
    return 1.0
