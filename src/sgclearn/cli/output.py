"""What a person sees (tables, progress) and what a machine reads (one JSON document)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sgclearn.cli.layout import column_widths, record_lines
from sgclearn.errors import ANY, InputError, Setting
from sgclearn.errors import counted as counted
from sgclearn.runs.documents import to_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from sgclearn.runs.predictions import Predictions

# Where no terminal says how wide it is.
PLAIN_WIDTH = 100
SHOWN = 20  # predictions
LEAST_GAP = 2  # characters between columns

OPTION_OF = {
    "id_column=False": "--row-numbers",
    "weight=False": "--unweighted",
    "header=True": "--header",
    "header=False": "--no-header",
    "directed=True": "--directed",
    "directed=False": "--undirected",
    "weight": "--weights-column",
    "source": "--source-column",
    "target": "--target-column",
    "nodes": "--features",
    "n_trials": "--trials",
    "random_state": "--seed",
    "name": "--dataset",
    "force=True": "--force",
    "run": "RUN",
} | {
    name: "--" + name.replace("_", "-")
    for name in (
        *("id_column", "label_column", "split_column", "delimiter", "impute", "max_categories", "directed"),
        *("duplicates", "self_loops", "data_dir", "n_hops", "weight_decay", "normalization", "gamma"),
        *("row_norm", "scale", "solver", "class_weight", "max_iter", "memory_limit", "cv", "search"),
        *(
            "scoring",
            "confidence",
            "text_column",
            "encoding",
            "analyzer",
            "stop_words",
            "min_count",
            "min_df",
        ),
        *(
            "max_df",
            "max_words",
            "window",
            "recipe",
            "runs",
            "threads",
            "out",
            "held_out",
            "split",
            "force",
            "regression",
        ),
    )
}


def option(setting: Setting) -> str | None:
    """Spell a setting as an option of the command line; None where there is none.

    Examples
    --------
    >>> option(Setting("id_column", False)), option(Setting("n_hops", 3)), option(Setting("target", None))
    ('--row-numbers', '--n-hops 3', 'no --target-column')
    """
    name = OPTION_OF.get(setting.name)
    if name is None or setting.value is ... or setting.value is ANY:
        return name
    whole = OPTION_OF.get(str(setting))
    return whole or (f"no {name}" if setting.value is None else f"{name} {setting.shown}")


def check_new_file(out: Path | None, force: bool) -> None:
    """Refuse to overwrite a file that nobody said to replace."""
    if out is not None and out.exists() and not force:
        raise InputError("--out must be a new file", f"{out}, which exists", "choose another or add --force")


def complain(text: str) -> None:
    """One line on stderr, whatever the text was."""
    sys.stderr.write(" ".join(text.split()) + "\n")
    sys.stderr.flush()


class Screen:
    """Where a command shows its results: tables for a person, or one JSON document if `as_json`."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json

    @property
    def is_terminal(self) -> bool:
        """Whether a person reads the output."""
        return not self.as_json and sys.stdout.isatty()

    def line(self, text: str = "") -> None:
        """Write one line, unbroken."""
        if not self.as_json:
            _console().print(text, soft_wrap=True)

    def field(self, name: str, text: str) -> None:
        """Write a name and what it says, wrapped to stay in its column."""
        if self.as_json:
            return
        from rich.table import Table

        grid = Table.grid(padding=(0, 2))
        grid.add_column(width=9, style="bold")
        grid.add_column(overflow="fold")
        grid.add_row(name, text)
        _console().print(grid)

    @property
    def width(self) -> int:
        """Characters in a line."""
        return _console().width

    def table(
        self,
        header: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        left: int = 1,
        title: str | None = None,
        gap: int = 3,
    ) -> None:
        """Write a table below an empty line; its first `left` columns are text and its others are numbers.

        Where the terminal is too narrow for it, every row becomes a few lines of name and value.
        """
        if self.as_json:
            return
        listed = [list(row) for row in rows]
        console = _console()
        console.print()
        if title is not None:
            # Not the table's own title, which is broken to the width of a narrow table.
            console.print(title, style="bold")
        for narrower in range(gap, LEAST_GAP - 1, -1):
            prose = left == len(header)
            widths = column_widths(header, listed, width=console.width, gap=narrower, prose=prose)
            if widths is not None:
                console.print(_grid(header, listed, widths, left, narrower))
                return
        console.print(_records(header, listed))

    def document(self, document: Any) -> None:
        """Write the JSON document, if that was asked for."""
        if self.as_json:
            sys.stdout.write(to_json(document) + "\n")

    def predictions(self, predictions: Predictions) -> None:
        """Show the first as a table for a person, or write all as CSV to a pipe."""
        if not (self.as_json or self.is_terminal):
            sys.stdout.write(predictions.to_csv().decode())
            return
        header, rows = predictions.shown(SHOWN)
        self.table(header, rows, left=2)
        if len(predictions.ids) > SHOWN:
            self.line(f"... and {len(predictions.ids) - SHOWN:,} more: name a file with --out to get all.")

    @contextmanager
    def progress(self) -> Iterator[Stages]:
        """Progress on stderr while the block runs; none for machines or where stderr is no terminal."""
        if self.as_json or not sys.stderr.isatty():
            yield Stages(None)
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=_console(stderr=True), transient=True) as bars:
            yield Stages(bars)


class Stages:
    """The steps of a command, one bar after the other."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._current: Any = None

    def stage(self, text: str) -> Callable[[int, int], None]:
        """Begin a step; gives what is called as `f(done, of)` to move its bar."""
        if self._bars is None:
            return lambda done, of: None
        if self._current is not None:
            self._bars.update(self._current, visible=False)
        bar = self._current = self._bars.add_task(text, total=None)
        return lambda done, of: self._bars.update(bar, completed=done, total=of)


def _grid(
    header: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], left: int, gap: int
) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.pad_edge, table.show_edge, table.padding = False, False, (0, gap - 1, 0, 0)
    for position, (name, width) in enumerate(zip(header, widths, strict=True)):
        justify: Any = "left" if position < left else "right"
        table.add_column(name, justify=justify, overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    return table


def _records(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in record_lines(header, rows):
        grid.add_row(name, value)
    return grid


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


TITLES = {"macro_f1": "macro-F1", "r2": "R2", "mae": "MAE"}  # of scores; the others are called what they are


def title_of(score: str) -> str:
    """What a score is called at the beginning of a line."""
    title = TITLES.get(score, score)
    return title[0].upper() + title[1:]
