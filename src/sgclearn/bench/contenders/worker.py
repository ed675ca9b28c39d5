"""The loop of a contender's process: one order a line on stdin, one reply a line on stdout, both JSON."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .problem import Answer, Later, Problem, Run

PACKAGES = (
    *("sgclearn", "numpy", "scipy", "scikit-learn", "torch", "torch_geometric"),
    *("scikit-network", "mkl", "sparse_dot_mkl", "python-graphblas", "suitesparse-graphblas"),
)
# An array of so few numbers is compared whole; of a larger one so many rows are, with so many numbers at most.
WHOLE, SKETCH_ROWS, SKETCH_NUMBERS = 1_000_000, 2000, 20_000_000
RESET_PEAK = "5"  # what Linux wants to read for the peak to start again


def memory(name: str) -> int | None:
    """VmRSS (now) or VmHWM (the most so far) of this process in bytes; None where the system does not say."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    return None


def give_back() -> None:
    """Return memory that is free to the system, so that a run which takes it again is seen to do so."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # not every C library can
        ctypes.CDLL(None).malloc_trim(0)


def sketch(array: Any) -> dict[str, Any]:
    """What is compared of a result: a fixed sample of its rows or all, and the sums of its columns."""
    array = array.make() if isinstance(array, Later) else array
    if np.ndim(array) == 1:
        return {"rows": np.asarray(array)}
    n_rows = min(SKETCH_ROWS, array.shape[0], max(1, SKETCH_NUMBERS // array.shape[1]))
    if array.shape[0] * array.shape[1] <= WHOLE:
        n_rows = array.shape[0]
    rows = np.sort(np.random.default_rng(1907).choice(array.shape[0], n_rows, replace=False))
    taken = array[rows]
    taken = taken.toarray() if hasattr(taken, "toarray") else taken
    sums = np.asarray(array.sum(axis=0), dtype=np.float64).ravel()
    return {"rows": np.asarray(taken), "sums": sums}


class Server:
    """One contender: prepared once, then run as often as it is told."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.answer: Answer | None = None

    def prepare(self, contender: str, folder: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Import the library and get ready what it keeps between calls."""
        module, function = contender.split(":")
        start = time.perf_counter()
        self.run = getattr(importlib.import_module(f".{module}", __package__), function)(
            Problem(folder, settings)
        )
        found = {}
        for name in PACKAGES:
            with contextlib.suppress(PackageNotFoundError):
                found[name] = version(name)
        return {"seconds": time.perf_counter() - start, "versions": found}

    def turn(self, burst: float, is_first: bool = False) -> dict[str, Any]:
        """Run at least once, and again while `burst` seconds have not passed; every run is reported.

        The memory of a run means something only in the first turn: later ones use again what it gave back.
        """
        if self.run is None:
            raise RuntimeError("prepare comes first")
        runs: list[dict[str, Any]] = []
        begin = time.perf_counter()
        while not runs or time.perf_counter() - begin < burst:
            self.answer = None
            gc.collect()
            if is_first:
                give_back()
            with contextlib.suppress(OSError):
                Path("/proc/self/clear_refs").write_text(RESET_PEAK)
            before = memory("VmRSS")
            start = time.perf_counter()
            self.answer = self.run()
            seconds = time.perf_counter() - start
            peak = memory("VmHWM")
            beyond = None if before is None or peak is None else max(0, peak - before - self._result_bytes())
            runs.append({"seconds": seconds, "bytes": beyond, "figures": self.answer.figures})
        return {"runs": runs}

    def _result_bytes(self) -> int:
        total = 0
        for array in [] if self.answer is None else self.answer.arrays.values():
            whole = isinstance(array, np.ndarray | Later)
            parts = [array] if whole else [array.data, array.indices, array.indptr]
            total += sum(part.nbytes for part in parts)
        return total

    def save(self, path: str) -> dict[str, Any]:
        """Write what is compared of the last answer."""
        arrays = {} if self.answer is None else self.answer.arrays
        parts = {
            f"{name}.{key}": part for name, array in arrays.items() for key, part in sketch(array).items()
        }
        np.savez(path, **parts)
        return {}


def main() -> None:
    """Serve until stdin ends."""
    # A library that prints would spoil the replies: its words go to stderr.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    serve(replies)


def serve(replies: TextIO) -> None:
    """Do what stdin orders, and write a reply to each order."""
    server = Server()
    orders: dict[str, Any] = {"prepare": server.prepare, "turn": server.turn, "save": server.save}
    for line in sys.stdin:
        order = json.loads(line)
        try:
            reply = orders[order.pop("order")](**order)
        except ImportError as error:
            reply = {"missing": f"{type(error).__name__}: {error}"}
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
