"""A contender's process, seen from outside."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sgclearn.errors import SgclearnError

_HERE = Path(__file__).parent
_START = "import sys; sys.path.insert(0, sys.argv[1]); from contenders.worker import main; main()"
THREAD_VARIABLES = (
    *("SGCLEARN_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    *("NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
)
# Memory that a run gives back stays with the process, so that the next run writes to pages it has written to
# before; and torch is allowed the large pages that numpy asks for by itself.
ALLOCATION = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**62),
    "MALLOC_TOP_PAD_": str(1 << 20),
    "THP_MEM_ALLOC_ENABLE": "1",
}


def thread_label(count: int) -> str:
    """How a contender that takes part with several numbers of threads is told apart, in its name."""
    return f"{count} thread{'s' if count > 1 else ''}"


@dataclass(frozen=True)
class Contender:
    """Who takes part.

    name : shown in tables, different for each.
    entry : `module:function` in the package of contenders.
    is_peer : whether ratios are taken against it.
    environment : "own" for what sgclearn itself depends on, "peers" for the rest.
    threads : how many it may use.
    settings : what it finds in `problem.settings` beside those of the problem.
    is_barred : whether a bar speaks of it, so that it takes part in every round, however slow.
    """

    name: str
    entry: str
    is_peer: bool = True
    environment: str = "own"
    threads: int = 1
    settings: dict[str, Any] = field(default_factory=dict)
    is_barred: bool = False


class ContenderError(SgclearnError):
    """A contender that cannot go on; `missing` if its library is not there, `ended` if its process is gone."""

    def __init__(self, reason: str, missing: bool = False, ended: bool = False) -> None:
        super().__init__(reason)
        self.missing, self.ended = missing, ended


class Process:
    """One live process; everything that goes wrong in it is a `ContenderError` here."""

    def __init__(self, python: Path | str, threads: int) -> None:
        variables = {**os.environ, **ALLOCATION, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
        variables.pop("PYTHONPATH", None)
        self._words = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [str(python), "-c", _START, str(_HERE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
            env=variables,
        )

    def tell(self, order: str, **arguments: Any) -> dict[str, Any]:
        """Send an order and wait for the reply."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise ContenderError("it has no pipes")
        try:
            stdin.write(json.dumps({"order": order, **arguments}) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise ContenderError(f"its process ended: {self._last_words()}", ended=True)
        reply: dict[str, Any] = json.loads(line)
        if "missing" in reply:
            raise ContenderError(reply["missing"], missing=True)
        if "failed" in reply:
            raise ContenderError(reply["failed"])
        return reply

    def _last_words(self) -> str:
        code = self._process.wait()
        self._words.seek(0)
        lines = [line.strip() for line in self._words if line.strip()]
        if code == -signal.SIGKILL:
            return "killed by the system, as it does when memory runs out"
        return lines[-1] if lines else f"exit code {code}"

    def close(self) -> None:
        """End the process and wait for it."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # of a process that is gone
                    stream.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._words.close()
