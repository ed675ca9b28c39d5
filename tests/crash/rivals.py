"""Processes that do the same at the same moment, forked from one that has imported the library.

    python rivals.py SCRATCH CONTEST COUNT > report.json

A contest is repeated COUNT times; what went wrong is listed in the report, with how often each process won.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from crash_operations import Dataset, NewRun, remembered_fits

from sgclearn.cli.app import run as sgc
from sgclearn.datasets import fetch_dataset
from sgclearn.errors import DataFileError
from sgclearn.experiments import ResultFile

SECONDS = 60
SEED = 1907
LINES = 40
HIDDEN = ".*"


def at_once(scratch: Path, calls: Sequence[Callable[[], int]]) -> list[tuple[int, str]]:
    """Exit code of each call in a process of its own, all begun together, and what it said."""
    ready, go = os.pipe()
    processes = []
    for number, call in enumerate(calls):
        if process := os.fork():
            processes.append(process)
            continue
        code = 1
        try:
            os.close(go)
            descriptor = os.open(scratch / f"said-{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            sys.stderr = sys.__stderr__
            signal.alarm(SECONDS)
            os.read(ready, 1)  # until the parent closes the other end
            code = call()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    os.close(ready)
    os.close(go)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
    return [(code, (scratch / f"said-{number}").read_text()) for number, code in enumerate(codes)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Contest:
    """Two fits with different settings."""

    options: tuple[str, ...] = ()
    has_run = False

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.folder = scratch, scratch / "folder"
        self.random = random.Random(SEED)
        self.fits = NewRun()
        self.fits.prepare(scratch)
        self.begin()
        self.settings = (("--n-hops", "1"), ("--n-hops", "2", *self.fits.features))
        self.complete = []
        for number, settings in enumerate(self.settings):
            assert self.fit(*settings, "--out", f"run-{number}") == 0
            self.complete.append(contents(Path(f"run-{number}")))

    def fit(self, *options: str) -> int:
        return sgc(["fit", *self.fits.files, "--weight-decay", "1e-3", "--json", *options])

    def begin(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        os.chdir(self.folder)

    def late(self, number: int) -> Callable[[], int]:
        """A fit that begins a little later than now, so that the two meet at every point."""
        delay = self.random.choice([0, 0, self.random.random() * 0.05])

        def call() -> int:
            time.sleep(delay)
            return self.fit(*self.settings[number], *self.options)

        return call

    def contest(self) -> tuple[str, list[str]]:
        """Who won, and what is wrong."""
        self.begin()
        if self.has_run:
            shutil.copytree(self.fits_of_third(), "run")
        ended = at_once(self.scratch, [self.late(0), self.late(1)])
        codes = [code for code, _ in ended]
        wrong = [said[-400:] for code, said in ended if code not in (0, 2) or "Traceback" in said]
        return self.judge(codes, [said for _, said in ended], wrong)

    def fits_of_third(self) -> Path:
        third = self.scratch / "third"
        if not third.exists():
            assert self.fit("--n-hops", "3", "--out", str(third)) == 0
        return third

    def judge(self, codes: list[int], said: list[str], wrong: list[str]) -> tuple[str, list[str]]:
        raise NotImplementedError

    def left(self) -> list[str]:
        return [f"left over: {path}" for path in Path().glob(HIDDEN)]


class NewFolder(Contest):
    """Two fits into one folder that is not there: one wins, the other is refused."""

    options = ("--out", "run")

    def judge(self, codes: list[int], said: list[str], wrong: list[str]) -> tuple[str, list[str]]:
        if sorted(codes) != [0, 2]:
            wrong.append(f"exit codes {codes}: {said}")
        elif contents(Path("run")) != self.complete[codes.index(0)]:
            wrong.append("what is there is not what the winner wrote")
        elif "--out must be" not in said[codes.index(2)]:
            wrong.append(f"the other is refused with {said[codes.index(2)]}")
        return str(codes), wrong + self.left()


class Forced(Contest):
    """Two fits over one run: the last one wins, or one is refused."""

    options = ("--out", "run", "--force")
    has_run = True

    def judge(self, codes: list[int], said: list[str], wrong: list[str]) -> tuple[str, list[str]]:
        winners = [self.complete[number] for number, code in enumerate(codes) if code == 0]
        if contents(Path("run")) not in winners:
            wrong.append(f"what is there is not what a winner wrote: exit codes {codes}: {said}")
        return str(codes), wrong + self.left()


class Unnamed(Contest):
    """Two fits without a name: both get a folder."""

    def judge(self, codes: list[int], said: list[str], wrong: list[str]) -> tuple[str, list[str]]:
        found = [contents(Path(name)) for name in ("sgc-run", "sgc-run-2") if Path(name).exists()]
        if codes != [0, 0] or found not in (self.complete, self.complete[::-1]):
            wrong.append(f"exit codes {codes}, {len(found)} folders: {said}")
        return str(codes), wrong + self.left()


class Reading(Contest):
    """A run that is read again and again while it is replaced: every reader sees one run, or says so."""

    def contest(self) -> tuple[str, list[str]]:
        self.begin()
        assert self.fit(*self.settings[0], "--out", "run") == 0
        ended = at_once(self.scratch, [self.replace, self.read, self.read])
        wrong = [said[-400:] for code, said in ended if code]
        return " ".join(said.split("\n")[-2] for _, said in ended[1:] if said.endswith("read\n")), wrong

    def replace(self) -> int:
        try:
            options = "--out", "run", "--force"
            return max(self.fit(*self.settings[number % 2], *options) for number in range(1, 13))
        finally:
            Path("done").touch()

    def read(self) -> int:
        from sgclearn.runs.run import Run

        whole = refused = 0
        while not Path("done").exists():
            try:
                with Run.open(Path("run")) as run:
                    held = {name: run.path(name).read_bytes() for name in (*run.digests, "run.json")}
            except DataFileError as error:
                if "open it again" not in str(error):
                    raise
                refused += 1
            else:
                whole += 1
                if held not in self.complete:
                    return 3
        print(f"{whole} whole, {refused} refused, read")
        return 0


class Appending(Contest):
    """Lines of a results file, by two processes that also open it: all of them are there."""

    def contest(self) -> tuple[str, list[str]]:
        self.begin()
        ended = at_once(self.scratch, [lambda: self.append(0), lambda: self.append(1), self.open_often])
        wrong = [said[-400:] for code, said in ended if code]
        lines = ResultFile("r.jsonl").lines("run")
        for process in (0, 1):
            numbers = [line["number"] for line in lines if line["process"] == process]
            if numbers != list(range(LINES)):
                wrong.append(f"lines of process {process}: {numbers}")
        return str(len(lines)), wrong + self.left()

    def append(self, process: int) -> int:
        for number in range(LINES):
            file = ResultFile("r.jsonl")
            file.append({"kind": "run", "process": process, "number": number, "text": "x" * 5000})
        return 0

    def open_often(self) -> int:
        for _ in range(4 * LINES):
            ResultFile("r.jsonl")
        return 0


class Fetching(Contest):
    """One dataset by three processes: it is downloaded once."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.folder = scratch, scratch / "folder"
        self.source = Dataset()
        self.source.prepare(scratch)
        self.count = 0

    def contest(self) -> tuple[str, list[str]]:
        self.begin()
        ended = at_once(self.scratch, [self.fetch] * 3)
        wrong = [said[-400:] for code, said in ended if code]
        self.source.open()
        wrong += [
            f"left over: {path}" for path in Path("data").rglob("*") if path.name not in ("tiny", "ring.npz")
        ]
        return " ".join(sorted(said.strip() for _, said in ended)), wrong

    def fetch(self) -> int:
        print(fetch_dataset("tiny", data_dir="data").origin)
        return 0


CONTESTS = {
    "new-folder": NewFolder,
    "forced": Forced,
    "unnamed": Unnamed,
    "reading": Reading,
    "appending": Appending,
    "fetching": Fetching,
}


def main() -> None:
    scratch, name, count = Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3])
    report = os.fdopen(os.dup(1), "w")
    sys.stderr = os.fdopen(os.dup(2), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    with remembered_fits():
        contest = CONTESTS[name](scratch)
        ended = [contest.contest() for _ in range(count)]
    outcomes, wrong = Counter(outcome for outcome, _ in ended), [why for _, whys in ended for why in whys]
    json.dump({"outcomes": outcomes, "wrong": wrong}, report)
    report.close()
    os._exit(0)


if __name__ == "__main__":
    main()
