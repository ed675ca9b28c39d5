"""What holds columns of documents: delimited text in any encoding, Parquet, JSON lines, or plain lines."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sgclearn.errors import ANY, DataFileError, InputError, Setting
from sgclearn.tables import TableFile, open_table
from sgclearn.tables.contents import content, first_lines, first_row
from sgclearn.tables.layout import Layout, check_delimiter, find_layout

if TYPE_CHECKING:
    import pyarrow as pa

_PACKED = (".gz", ".bz2", ".xz")
_JSON_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source(Protocol):
    """Columns with names."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    def read(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Read some columns; missing cells are null."""

    def place(self, row: int) -> str:
        """Say where row number `row` (from 0) stands in the file."""


def open_source(
    path: Path,
    *,
    encoding: str | None,
    delimiter: str | None,
    header: bool | None,
    header_words: frozenset[str],
    one_a_line: bool,
    text_names: Collection[str],
) -> Source:
    """Find out what a file is and which columns it has; parameters as in `read_documents`."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _PACKED]
    kind = suffixes[-1] if suffixes else ""
    if kind in _PARQUET:
        _refuse("Parquet", encoding=encoding, delimiter=delimiter, header=header)
        return _Table(open_table(path))
    text = decode(path, read_bytes(path), encoding, by_line=True)
    if not text.strip():
        raise DataFileError(f"{path} must hold documents", "an empty file", "check the path")
    if kind in _JSON_LINES:
        _refuse("JSON", delimiter=delimiter, header=header)
        return _JsonLines(path, text)
    if kind == ".txt" and one_a_line and delimiter is None and header is None:
        return _Lines(text.removesuffix("\n").split("\n"))
    return _Table(_open_delimited(path, text, delimiter, header, header_words, text_names))


def read_bytes(path: Path) -> bytes:
    """Content of a file, unpacked."""
    return bytes(content(path))


def decode(path: Path, raw: bytes, encoding: str | None, *, by_line: bool) -> str:
    """Bytes to text, with an error that says where they are no text and what to do.

    "mixed" takes what is no UTF-8 as latin-1, which any bytes are: by line, or the whole file.
    """
    if encoding == "mixed":
        parts = raw.split(b"\n") if by_line else [raw]
        return "\n".join(map(_utf8_or_latin1, parts)).removeprefix("\ufeff")
    if encoding is None and raw.startswith(_BOMS):
        encoding = "utf-16"
    try:
        text = raw.decode(encoding or "utf-8")
    except LookupError:
        raise InputError(
            "encoding must be one that Python knows, such as 'latin-1' or 'cp1252', or 'mixed'",
            repr(encoding),
            argument="encoding",
        ) from None
    except UnicodeError as error:
        line = raw.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise DataFileError(
            f"{path} must be {encoding or 'UTF-8'} text",
            f"other bytes in line {line}",
            (
                *("name another with ", Setting("encoding", ANY)),
                ", such as 'cp1252', or 'mixed' for several",
            ),
        ) from None
    return text.removeprefix("\ufeff")


def _utf8_or_latin1(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _open_delimited(
    path: Path,
    text: str,
    delimiter: str | None,
    header: bool | None,
    header_words: frozenset[str],
    text_names: Collection[str],
) -> TableFile:
    raw = text.encode("utf-8")
    if b"\0" in raw:
        raise DataFileError(f"{path} must be text", "NUL bytes", "check the file and its encoding")
    start = first_row(raw)
    lines, complete = first_lines(path, raw, start)
    mark = check_delimiter(delimiter)
    single = _single_column(lines, mark, header, text_names)
    layout = single or find_layout(
        str(path),
        lines,
        complete=complete,
        delimiter=mark,
        header=header,
        header_words=header_words,
        is_id=None,
    )
    return TableFile(path, layout.names, layout.has_header, layout, raw, start)


def _single_column(
    lines: list[str], mark: str | None, header: bool | None, text_names: Collection[str]
) -> Layout | None:
    """A file of nothing but texts below their name, which other tables never are."""
    first = next(csv.reader(lines[:1], delimiter=mark or ","), [])
    known = {name.lower() for name in text_names}
    if len(first) != 1 or first[0].strip().lower() not in known or header is False:
        return None
    return Layout(mark or ",", True, (first[0].strip(),))


@dataclass(frozen=True)
class _Table:
    """Delimited text or Parquet."""

    file: TableFile

    @property
    def names(self) -> tuple[str, ...]:
        return self.file.names

    def read(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        # Only delimited text is ambiguous: there every cell keeps its spelling.
        table = self.file.read(names, text_columns=names if self.file.is_text else ())
        return {name: table[name] for name in names}

    def place(self, row: int) -> str:
        return self.file.line(row)


class _JsonLines:
    """One JSON object a line; a key that a line does not have is a missing cell."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._rows: list[dict[str, Any]] = []
        self._numbers: list[int] = []
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                self._rows.append(self._parsed(line, number))
                self._numbers.append(number)
        self.names = tuple(dict.fromkeys(name for row in self._rows for name in row))

    def _parsed(self, line: str, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataFileError(
                f"{self._path} must hold one JSON object a line",
                f"a fault in line {number} ({error})",
                "mend it",
            ) from None
        if not isinstance(row, dict):
            raise DataFileError(
                f"{self._path} must hold one JSON object a line",
                f"{type(row).__name__} in line {number}",
                'write {"text": ...}',
            )
        return row

    def read(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        import pyarrow as pa

        columns = {}
        for name in names:
            try:
                columns[name] = pa.chunked_array([pa.array([row.get(name) for row in self._rows])])
            except UnicodeError:
                raise DataFileError(
                    f"{self._path} must hold characters that UTF-8 has",
                    f"half of a surrogate pair under {name!r}",
                    "write the file again",
                ) from None
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                raise DataFileError(
                    f"{self._path} must hold one type of value for each name",
                    f"several for {name!r}",
                    "write all as strings",
                ) from None
        return columns

    def place(self, row: int) -> str:
        return f"line {self._numbers[row]}"


@dataclass(frozen=True)
class _Lines:
    """One document a line, and nothing else."""

    lines: list[str]
    names: tuple[str, ...] = ("text",)

    def read(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        import pyarrow as pa

        return {name: pa.chunked_array([pa.array(self.lines)]) for name in names}

    def place(self, row: int) -> str:
        return f"line {row + 1}"


def _refuse(kind: str, **options: Any) -> None:
    given = next((name for name, value in options.items() if value is not None), None)
    if given is not None:
        raise InputError(
            f"{given} goes with text", f"{kind}, which has its own", "leave it out", argument=given
        )
