"""How a delimited file is laid out: its delimiter, its header, where its rows begin."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sgclearn.errors import ANY, DataFileError, InputError, Setting
from sgclearn.validation.reading import MOST_TABLE_COLUMNS

# A comma comes last of the marks: it also stands inside numbers and text, the others seldom do.
_MARKS = ("\t", ";", "|", ",")
WHITESPACE = " "
_SPELLINGS = {"\\t": "\t", "tab": "\t", "space": WHITESPACE, "whitespace": WHITESPACE}
_NAMES = {"\t": "tab", WHITESPACE: "whitespace"}
# Every digit can match in one place only: two would take quadratic time over a long cell.
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_SAMPLE_ROWS = 100
_TELLING_COLUMNS = 10_000  # the first so many tell whether there is a header

MISSING = frozenset(
    {"", "#N/A", "<NA>", "-NaN", "-nan", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)
"""Spellings of a cell that holds no value."""

WRONG_DELIMITER = ("name the delimiter with ", Setting("delimiter", ANY))


@dataclass(frozen=True)
class Layout:
    """What must be known before the rows of a delimited file can be parsed."""

    delimiter: str
    has_header: bool
    names: tuple[str, ...]


def check_delimiter(delimiter: str | None) -> str | None:
    """Give the delimiter as one character; "tab" and "whitespace" are understood."""
    if delimiter is None:
        return None
    mark = _SPELLINGS.get(delimiter, delimiter)
    if len(mark) != 1 or mark in '"\r\n':
        raise InputError(
            "delimiter must be one character, 'tab' or 'whitespace'",
            repr(delimiter),
            "leave it out to have it found in the file",
            argument="delimiter",
        )
    return mark


def spell(delimiter: str) -> str:
    """Name a delimiter in a message."""
    return _NAMES.get(delimiter, repr(delimiter))


def parse_rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Split lines into cells; empty lines are left out."""
    if delimiter == WHITESPACE:
        return [cells for line in lines if (cells := line.split())]
    with cells_of_any_length():
        return [cells for cells in csv.reader(lines, delimiter=delimiter) if cells]


@contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Lift the limit of the csv module, which a wide row read with a wrong delimiter exceeds."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def find_layout(
    path: str,
    lines: Sequence[str],
    *,
    complete: bool,
    delimiter: str | None,
    header: bool | None,
    header_words: Collection[str],
    is_id: Callable[[str], bool] | None,
) -> Layout:
    """Find the layout from the first lines of a file (`complete`: there are no further lines)."""
    mark = delimiter or _sniff(lines, complete)
    rows = _sample(lines, mark, complete) if mark else []
    if mark is None or len(rows[0]) == 1:
        tried = f" with the delimiter {spell(mark)}" if mark else ""
        raise DataFileError(f"{path} must have at least two columns", f"one{tried}", WRONG_DELIMITER)
    if len(rows[0]) > MOST_TABLE_COLUMNS:
        raise DataFileError(
            f"{path} must have at most {MOST_TABLE_COLUMNS:,} columns",
            f"{len(rows[0]):,}",
            ("give so wide a table as npz or svmlight, or ", WRONG_DELIMITER),
        )
    has_header = header if header is not None else _has_header(path, rows, header_words, is_id)
    return Layout(mark, has_header, _column_names(path, rows[0], has_header))


def _sample(lines: Sequence[str], mark: str, complete: bool) -> list[list[str]]:
    rows = parse_rows(lines, mark)
    # A quoted cell may go on past the lines at hand, so the last row of a longer file is not trusted.
    return rows[:_SAMPLE_ROWS] if complete or len(rows) == 1 else rows[:-1][:_SAMPLE_ROWS]


def _sniff(lines: Sequence[str], complete: bool) -> str | None:
    best, best_share = None, 0.5
    for mark in (*_MARKS, WHITESPACE):
        rows = _sample(lines, mark, complete)
        width, count = Counter(map(len, rows)).most_common(1)[0]
        share = count / len(rows)
        # The first mark that gives every row the same width wins; failing that, the most regular one.
        if width > 1 and share > best_share:
            best, best_share = mark, share
    return best


def _has_header(
    path: str, rows: Sequence[Sequence[str]], words: Collection[str], is_id: Callable[[str], bool] | None
) -> bool:
    first = [cell.strip() for cell in rows[0]]
    if is_id is not None and is_id(first[0]) and is_id(first[1]):
        return False
    if any(cell.lower() in words for cell in first):
        return True
    number_on_top = False
    for position, cell in enumerate(first[:_TELLING_COLUMNS]):
        below = [row[position].strip() for row in rows[1:] if position < len(row)]
        values = [value for value in below if value not in MISSING]
        numeric = bool(values) and all(map(_NUMBER.fullmatch, values))
        top = _NUMBER.fullmatch(cell) is not None
        missing = cell in MISSING
        if (numeric and not top and not missing) or (cell == "" and len(values) == len(below) > 0):
            return True
        number_on_top |= top
    if number_on_top:
        return False
    shown = ", ".join(repr(cell) for cell in first[:3])
    raise DataFileError(
        f"{path} must show whether its first line is a header",
        f"text in it ({shown}) as in the rest",
        ("say ", Setting("header", True), " or ", Setting("header", False)),
    )


def _column_names(path: str, first: Sequence[str], has_header: bool) -> tuple[str, ...]:
    if not has_header:
        return tuple(f"column_{position}" for position in range(len(first)))
    names = tuple(cell.strip() or f"column_{position}" for position, cell in enumerate(first))
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise DataFileError(
            f"{path} must have a different name for each column",
            f"{count} columns named {name!r}",
            "rename all but one",
        )
    return names
