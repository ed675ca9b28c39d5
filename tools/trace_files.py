"""How many files and functions of sgclearn one call walks through: a measure of how much a reader has to hold.

Counts every Python function of the package that is entered, in all threads, while `sgc fit` labels the embedded graph
and while `SGCClassifier.fit` fits the same data. Bodies of modules and classes, lambdas and
comprehensions do not count as functions.

    python tools/trace_files.py            two lines, one for each call
    python tools/trace_files.py --list     also the files, with the number of functions in each
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import sgclearn

PACKAGE = str(Path(sgclearn.__file__).parent) + os.sep


def traced(call: Callable[[], Any]) -> set[CodeType]:
    """Functions of the package that a call enters."""
    entered: set[CodeType] = set()

    def on_event(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            entered.add(frame.f_code)

    threading.setprofile(on_event)
    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return {
        code
        for code in entered
        if code.co_filename.startswith(PACKAGE)
        and not code.co_name.startswith("<")
        and code.co_flags & inspect.CO_OPTIMIZED  # the body of a class has no fast locals
    }


def command_line() -> None:
    """`sgc fit` in an empty folder, with its output thrown away."""
    from sgclearn.cli.app import run

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nothing:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
                code = run(["fit"])
        finally:
            os.chdir(before)
    if code != 0:
        raise SystemExit(f"sgc fit ended with {code}")


def estimator() -> Callable[[], None]:
    """`SGCClassifier.fit` on the embedded graph, which is loaded before."""
    from sgclearn import SGCClassifier, load_dataset

    data = load_dataset("debian")
    y = data.train_labels()
    return lambda: SGCClassifier(row_norm="l2").fit(data.X, y, graph=data.graph)


def report(name: str, entered: set[CodeType], listed: bool) -> None:
    files = Counter(code.co_filename.removeprefix(PACKAGE) for code in entered)
    print(f"{name}: {len(files)} files, {len(entered)} functions")
    if listed:
        for path, functions in sorted(files.items()):
            print(f"    {path}: {functions}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Files and functions of sgclearn that a call walks through.")
    parser.add_argument("--list", action="store_true", help="name the files")
    listed = parser.parse_args().list
    report("sgc fit", traced(command_line), listed)
    report("SGCClassifier.fit", traced(estimator()), listed)


if __name__ == "__main__":
    main()
