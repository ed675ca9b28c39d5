"""Progress over the runs of a recipe, with the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sgclearn.cli.output import Screen, complain

if TYPE_CHECKING:
    from sgclearn.experiments.runner import Progress


TRIALS_A_LINE = 10  # a search has more trials than a table has runs


@contextmanager
def watching(screen: Screen) -> Iterator[Callable[[Progress], None]]:
    """A bar over the runs with the time left; where nobody watches, lines on stderr: one a run, one for ten trials."""
    if screen.as_json:
        yield lambda progress: None
        return
    if not sys.stderr.isatty():
        yield _log
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(
        *columns, TextColumn("{task.fields[left]}"), console=Console(stderr=True), transient=True
    ) as bars:
        bar = bars.add_task("getting ready", total=None, left="")
        shown = 0.0

        def on_progress(progress: Progress) -> None:
            nonlocal shown
            now = time.monotonic()
            if progress.line is None and progress.part and now - shown < 0.1:
                return
            shown = now
            done = min(progress.done + progress.part, progress.of)
            left = _left(progress.seconds_left)
            bars.update(bar, description=progress.what, completed=done, total=progress.of, left=left)

        yield on_progress


def _log(progress: Progress) -> None:
    line = progress.line
    if line is None:
        return
    told = f"{progress.done}/{progress.of} {progress.what}"
    left = _left(progress.seconds_left, ", ")
    if line["kind"] == "failure":
        complain(f"{told}: failed")
    elif line["kind"] == "run":
        complain(f"{told}: {progress.score:.2f}, {line['seconds']:.3g} s{left}")
    elif (line["trial"] + 1) % TRIALS_A_LINE == 0:
        complain(f"{told}: validation {progress.score:.2f}, {line['wall_seconds']:.3g} s{left}")


def _left(seconds: float | None, before: str = "") -> str:
    if not seconds:
        return ""
    if seconds < 90:
        return f"{before}{seconds:.0f} s left"
    return (
        f"{before}{seconds / 60:.0f} min left" if seconds < 5400 else f"{before}{seconds / 3600:.1f} h left"
    )
