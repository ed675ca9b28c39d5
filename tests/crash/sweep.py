"""Interrupt an operation at every step, in every way, and look at what is left.

    LD_PRELOAD=faults.so python sweep.py SCRATCH OPERATION:kill,torn,ENOSPC,lasting-EIO ... > report.json

One process imports the library and does the operation once; every case is a fork of it, in which `faults.c` is armed.
After each case: what is there is all of the old state or all of the new one, it can be opened, nothing failed in
silence or with a traceback, and doing the operation again succeeds and leaves nothing else behind.

A killed process loses nothing that it has written, but a machine without power does: `lost_without_power` finds what
was renamed before the disk had it, and names that the disk never got.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import re
import shutil
import signal
import stat
import sys
import time
from pathlib import Path
from typing import NamedTuple

from crash_operations import OPERATIONS, Operation, remembered_fits

from sgclearn.errors import DataFileError

ERRORS = {name: getattr(errno, name) for name in ("ENOSPC", "EIO", "EACCES")}
KINDS = {"kill": -1, "torn": -2, **ERRORS, **{f"lasting-{name}": code for name, code in ERRORS.items()}}
SECONDS = 20  # a case that takes longer hangs
# What may lie about until the operation is done again: work folders, temporary files, downloads to go on with.
PASSING = re.compile(r"\..+\.(sgc|tmp)|\.unfinished")


class Step(NamedTuple):
    """A call that changes files, and what it changes."""

    name: str
    path: str
    other: str


class Case(NamedTuple):
    """A fault at one step, counted from 1."""

    step: int
    kind: str

    @property
    def is_error(self) -> bool:
        """Whether the process goes on."""
        return KINDS[self.kind] > 0


class Sweep:
    """An operation, its old and its new state, and the steps between them."""

    def __init__(self, operation: Operation, scratch: Path) -> None:
        self.operation, self.scratch = operation, scratch
        self.folder, self.template = scratch / "folder", scratch / "template"
        self.library = ctypes.CDLL(None)
        self._arm(None)
        operation.prepare(scratch)
        self._begin(self.template)
        operation.make_old()
        self.old = self._state()
        self._begin()
        if operation.change() != 0:  # imports and fits for all cases
            raise RuntimeError("the operation fails without a fault")
        self.new = self._state()
        self.steps = self._count()

    def _begin(self, folder: Path | None = None) -> None:
        """Go to a folder in the old state, or to an empty one."""
        shutil.rmtree(folder or self.folder, ignore_errors=True)
        if folder:
            folder.mkdir()
        else:
            shutil.copytree(self.template, self.folder, symlinks=True)
        os.chdir(folder or self.folder)

    def _count(self) -> list[Step]:
        self._begin()
        trace = self.scratch / "trace"
        with trace.open("wb") as stream:
            code, _ = self._child(None, stream.fileno())
        if code != 0:
            raise RuntimeError("the operation fails without a fault")
        return [Step(*line.split("\t")) for line in trace.read_text().splitlines()]

    def _child(self, case: Case | None, trace: int = -1) -> tuple[int, str]:
        """Exit code, negative for a signal, and everything that was said."""
        said = self.scratch / "said"
        process = os.fork()
        if not process:
            descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            sys.stderr = sys.__stderr__
            signal.alarm(SECONDS)
            self._arm(case, trace)
            code = 1
            try:
                code = self.operation.change()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status), said.read_text()

    def _arm(self, case: Case | None, trace: int = -1) -> None:
        at, kind, is_lasting = 0, 0, False
        if case is not None:
            at, kind, is_lasting = case.step, KINDS[case.kind], case.kind.startswith("lasting")
        arguments = os.fsencode(self.folder), ctypes.c_long(at), kind, is_lasting
        self.library.faults_arm(*arguments, self.operation.has_no_exchange, trace)

    def _state(self, passing: bool = False) -> dict[str, str]:
        """Every file below the current folder with its mode and contents; empty folders do not count."""
        found = {}
        for above, folders, files in os.walk("."):
            if not passing:
                folders[:] = [name for name in folders if not PASSING.fullmatch(name)]
            for name in [*files, *(name for name in folders if Path(above, name).is_symlink())]:
                path = Path(above, name)
                if path.is_symlink():
                    found[str(path)] = f"to {path.readlink()}"
                elif passing or not PASSING.fullmatch(name):
                    content = self.operation.counted(path.read_bytes())
                    if content:
                        found[str(path)] = f"{stat.S_IMODE(path.stat().st_mode):o} {content!r}"
        return found

    def cases(self, kinds: list[str]) -> list[Case]:
        """Every kind of fault at every step; only a write can be torn."""
        return [
            Case(number, kind)
            for number, step in enumerate(self.steps, start=1)
            for kind in kinds
            if kind != "torn" or step.name == "write"
        ]

    def faults_of(self, case: Case) -> list[str]:
        """What is wrong after a case."""
        self._begin()
        code, said = self._child(case)
        wrong = []
        if "Traceback" in said or code not in (0, 2, -signal.SIGKILL):
            wrong.append(f"ended with {code}: {said[-300:]}")
        if code == -signal.SIGKILL and case.is_error:
            wrong.append("killed by an error")
        seen = self._state()
        # Where two folders cannot be exchanged, the old one may be away until it is opened.
        if seen not in (self.old, self.new) and not self.operation.has_no_exchange:
            wrong.append("neither old nor new: " + self._difference(seen))
        elif code == 0 and seen != self.new:
            wrong.append("success is said, and the state is old")
        try:
            self.operation.open()
        except DataFileError as error:
            if self._state() != self.old or self._can_be_opened:
                wrong.append(f"cannot be opened: {error}")
        except Exception as error:
            wrong.append(f"cannot be opened: {error!r}")
        opened = self._state()
        if opened not in (self.old, self.new):
            wrong.append("neither old nor new after opening: " + self._difference(opened))
        if seen == self.new and opened != self.new:
            wrong.append("opening it brings back the old state")
        if (again := self.operation.change_again()) != 0:
            wrong.append(f"cannot be done again: exit code {again}")
        elif self._state(passing=True) != self.new:
            wrong.append("leftovers after doing it again: " + self._difference(self._state(passing=True)))
        return wrong

    @property
    def _can_be_opened(self) -> bool:
        """Whether the old state is something to open."""
        if not hasattr(self, "_old_opens"):
            here = os.getcwd()
            os.chdir(self.template)
            try:
                self.operation.open()
                self._old_opens = True
            except DataFileError:
                self._old_opens = False
            os.chdir(here)
        return self._old_opens

    def _difference(self, state: dict[str, str]) -> str:
        parts = []
        for name, other in (("old", self.old), ("new", self.new)):
            odd = sorted(path for path in {*state, *other} if state.get(path) != other.get(path))
            parts.append(f"not {name} in {', '.join(odd)}")
        return "; ".join(parts)


def lost_without_power(steps: list[Step]) -> list[str]:
    """What a power cut could lose although the operation had made it visible, or had ended."""
    contents: set[str] = set()  # files that the disk has not got as they are
    names: set[str] = set()  # folders with a name that the disk has not got
    lost = []

    def below(path: str) -> list[str]:
        return [held for held in sorted(contents | names) if held == path or held.startswith(f"{path}/")]

    for step in steps:
        if step.name in ("write", "ftruncate", "ftruncate64"):
            contents.add(step.path)
        elif step.name in ("fsync", "fdatasync"):
            contents.discard(step.path)
            names.discard(step.path)
        elif step.name.startswith("rename"):
            lost += [f"{held} was renamed before it was on the disk" for held in below(step.path)]
            names.add(str(Path(step.other).parent))
        elif step.name in ("mkdir", "link", "linkat"):
            names.add(str(Path(step.other or step.path).parent))
        elif step.name in ("unlink", "rmdir"):
            for gone in below(step.path):
                contents.discard(gone)
                names.discard(gone)
    passing = [held for held in contents | names if any(map(PASSING.fullmatch, Path(held).parts))]
    return lost + [f"{held} is not on the disk at the end" for held in (contents | names).difference(passing)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scratch", type=Path)
    parser.add_argument("operations", nargs="+", help="OPERATION:KIND,KIND")
    options = parser.parse_args()
    report = os.fdopen(os.dup(1), "w")
    sys.stderr = os.fdopen(os.dup(2), "w")  # of this file; what operations say is no part of the report
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    found = {}
    for name, _, kinds in (operation.partition(":") for operation in options.operations):
        scratch = options.scratch.resolve() / name
        scratch.mkdir()
        start = time.perf_counter()
        with remembered_fits():
            sweep = Sweep(OPERATIONS[name](), scratch)
            cases = sweep.cases(kinds.split(",") if kinds else list(KINDS))
            wrong = {case: sweep.faults_of(case) for case in cases}
        found[name] = {
            "steps": sweep.steps,
            "cases": len(cases),
            "bad": [(case, sweep.steps[case.step - 1], why) for case, why in wrong.items() if why],
            "lost_without_power": lost_without_power(sweep.steps),
            "seconds": round(time.perf_counter() - start, 2),
        }
    json.dump(found, report)
    report.close()
    os._exit(0)  # a server may be running


if __name__ == "__main__":
    main()
