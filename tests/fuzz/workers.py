"""Run cases in a forked child, so that a crash, a hang or a flood of memory is an outcome and not the end.

The parent imports everything once; a child serves one case after the other, is killed where it must be, and is
replaced. What happened is known exactly: the case that was sent last.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import re
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from fuzz.verdict import MEGABYTES, OURS, SECONDS, SMALL_FILE, Outcome, check_sound, judge

_SIZE = struct.Struct("<Q")
_EXTRA_ADDRESSES = 8 << 30  # bytes: what a case may map before malloc fails; far above what it may touch
_MOST_SERVED = 200  # cases of one child: a crash later than its cause has few suspects
_RENEW_ABOVE = 64.0  # megabytes: memory that a case leaves behind would hide what the next one takes

# AddressSanitizer maps terabytes, keeps what was freed for a while, and takes its time: its runs look for other faults.
SANITIZED = "SGCLEARN_TEST_KERNEL" in os.environ

Run = Callable[[Any, Path], Any]
Prepare = Callable[[Any], "tuple[Any, int]"]


class Worker:
    """A child that runs cases.

    Parameters
    ----------
    run : callable
        `run(case, folder)` does the work in an empty folder; a file `.label` there says what the case was.
    prepare : callable, optional
        `prepare(case)` gives what `run` gets and the size of its file in bytes; in the child, before time and memory
        are counted.
    strict : bool
        Whether only errors of the library count as a refusal.
    seconds : float
        Longest that a case may take.
    """

    def __init__(
        self,
        run: Run,
        *,
        strict: bool,
        prepare: Prepare | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self.run, self.strict, self.prepare = run, strict, prepare
        self.seconds = 4 * seconds if SANITIZED else seconds
        self.pid: int | None = None
        self.served: list[Any] = []  # cases of the present child
        self.folder = Path(tempfile.mkdtemp(prefix="sgc-fuzz-"))
        self._to: IO[bytes] | None = None
        self._from: IO[bytes] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __call__(self, case: Any) -> Outcome:
        """Run a case."""
        if self.pid is None:
            self._start()
        assert self._to is not None
        self.served.append(case)
        started = time.monotonic()
        message = pickle.dumps(case)
        self._to.write(_SIZE.pack(len(message)) + message)
        self._to.flush()
        outcome = self._answer()
        if outcome is None:
            return self._explained(case, self._obituary(time.monotonic() - started))
        if outcome.megabytes > _RENEW_ABOVE or len(self.served) >= _MOST_SERVED:
            self.close()
        return outcome

    def _explained(self, case: Any, outcome: Outcome) -> Outcome:
        """Whether a case crashes alone too; if not, one that the same child served before has damaged its memory."""
        before = self.served[:-1]
        if outcome.kind == "timeout" or not before:
            return outcome
        alone = self(case)
        if alone.failed:
            return alone
        message = (
            f"{outcome.message}, not alone but after {len(before)} others, the last of them {before[-12:]!r}"
        )
        return replace(outcome, kind=f"{outcome.kind} later", message=message)

    def close(self) -> None:
        """End the child."""
        if self.pid is not None:
            for stream in (self._to, self._from):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = None

    def _start(self) -> None:
        self.served = []
        there, back = os.pipe(), os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, which are idle
            pid = os.fork()
        if pid == 0:
            os.close(there[1])
            os.close(back[0])
            try:
                self._serve(os.fdopen(there[0], "rb"), os.fdopen(back[1], "wb"))
            finally:
                os._exit(3)
        os.close(there[0])
        os.close(back[1])
        self.pid, self._to, self._from = pid, os.fdopen(there[1], "wb"), os.fdopen(back[0], "rb")

    def _answer(self) -> Outcome | None:
        assert self._from is not None
        ready, _, _ = select.select([self._from], [], [], self.seconds + 10.0)
        if not ready:
            return None
        head = self._from.read(_SIZE.size)
        if len(head) < _SIZE.size:
            return None
        outcome: Outcome = pickle.loads(self._from.read(_SIZE.unpack(head)[0]))
        return outcome

    def _obituary(self, seconds: float) -> Outcome:
        assert self.pid is not None
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        for _ in range(50):
            if pid:
                break
            time.sleep(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:  # it neither answers nor ends
            os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
        self.pid = None
        for stream in (self._to, self._from):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        text = self._log.read_text(errors="replace")[-20000:] if self._log.exists() else ""
        if "Timeout (" in text or not pid:
            kind = "timeout"
        elif os.WIFSIGNALED(status):
            kind = signal.Signals(os.WTERMSIG(status)).name
        else:
            kind = f"exit {os.waitstatus_to_exitcode(status)}"
        trace = tuple(line.strip() for line in text.splitlines() if line.strip())[-60:]
        sanitizer = next(
            (line for line in trace if "ERROR: AddressSanitizer" in line or "runtime error:" in line), ""
        )
        return Outcome(
            "failed",
            kind,
            _place_in(text),
            sanitizer or kind,
            seconds=seconds,
            label=self._label(),
            trace=trace[:12],
        )

    def _label(self) -> str:
        path = self.folder / "case" / ".label"
        return path.read_text(errors="replace")[:2000] if path.is_file() else ""

    @property
    def _log(self) -> Path:
        return self.folder / "stderr.log"

    # ---- the child -------------------------------------------------------------------------------------

    def _serve(self, source: IO[bytes], answers: IO[bytes]) -> None:
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.stdout, sys.stderr = (os.fdopen(os.dup(number), "w") for number in (1, 2))
        faulthandler.enable(log, all_threads=False)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not SANITIZED:
            limit = _status("VmSize") * 1024 + _EXTRA_ADDRESSES
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        warnings.simplefilter("ignore")
        while head := source.read(_SIZE.size):
            case = pickle.loads(source.read(_SIZE.unpack(head)[0]))
            os.ftruncate(log, 0)
            message = pickle.dumps(self._outcome(case, log))
            answers.write(_SIZE.pack(len(message)) + message)
            answers.flush()
        os._exit(0)

    def _outcome(self, case: Any, log: int) -> Outcome:
        size: int | None = None
        if self.prepare is not None:
            case, size = self.prepare(case)
        with _empty_folder(self.folder / "case") as folder:
            _reset_peak()
            before, started = _status("VmRSS"), time.monotonic()
            faulthandler.dump_traceback_later(self.seconds, exit=True, file=log)
            try:
                check_sound(self.run(case, folder))
                outcome = Outcome("returned")
            except BaseException as error:
                outcome = judge(error, strict=self.strict)
                traceback.clear_frames(error.__traceback__)
            finally:
                faulthandler.cancel_dump_traceback_later()
        seconds = time.monotonic() - started
        megabytes = max(0, _status("VmHWM") - before) / 1024
        more = {"seconds": seconds, "megabytes": megabytes, "label": self._label()}
        # A small file may take so much and no more; a larger one in proportion.
        allowed = MEGABYTES * max(1.0, (size or 0) / SMALL_FILE)
        if not outcome.failed and size is not None and megabytes > allowed and not SANITIZED:
            text = (
                f"{megabytes:.0f} MB for a file of {size} bytes ({outcome.status}: {outcome.message[:150]})"
            )
            return Outcome("failed", "memory", "", text, **more)
        return Outcome(**{**vars(outcome), **more})


@contextlib.contextmanager
def _empty_folder(folder: Path) -> Iterator[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder


def _reset_peak() -> None:
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as stream:
        stream.write("5")


def _status(name: str) -> int:
    """A figure of /proc/self/status, in kilobytes."""
    found = re.search(rf"^{name}:\s+(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found.group(1)) if found else 0


def _place_in(text: str) -> str:
    """Innermost frame of the library in what faulthandler wrote."""
    for path, line, name in re.findall(r'File "([^"]+)", line (\d+) in (\S+)', text):
        if Path(path).is_relative_to(OURS):
            return f"{Path(path).relative_to(OURS).as_posix()}:{line} {name}"
    return ""


def in_child(make: Callable[[], Any]) -> Any:
    """What a function gives, computed in a child: the parent starts no thread that a fork would lose."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as stream:
                stream.write(pickle.dumps(make()))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        content = stream.read()
    os.waitpid(pid, 0)
    if not content:
        raise RuntimeError(f"{make.__name__} failed in a child, see above")
    return pickle.loads(content)


def import_everything() -> None:
    """Load what the cases use, once, so that no child has to and memory is counted above it."""
    import importlib

    for name in (
        "pyarrow.csv", "pyarrow.parquet", "pyarrow.compute", "sklearn.datasets", "safetensors.numpy",
        "scipy.sparse.linalg",
        "sgclearn.cli.app", "sgclearn.runs", "sgclearn.estimators",
        "sgclearn.persist",
        "sgclearn.propagation.transformer", "sgclearn.spectral", "sgclearn.tasks.text", "sgclearn.datasets.loading",
        "sgclearn.experiments.results", "sgclearn.evaluate", "pandas", "numpy.ma",
    ):  # fmt: skip
        importlib.import_module(name)


def isolated(call: Callable[[Path], Any], *, strict: bool = False) -> Outcome:
    """Outcome of one call in a child of its own, with an empty folder for its files."""
    with Worker(lambda _, folder: call(folder), strict=strict) as worker:
        return worker(None)
