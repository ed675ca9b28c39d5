"""Read a delimited or Parquet file into an Arrow table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sgclearn.errors import DataFileError, InputError
from sgclearn.tables.columns import mark_missing
from sgclearn.tables.contents import Content, content, count_quotes, first_lines, first_row, not_text
from sgclearn.tables.layout import (
    WHITESPACE,
    WRONG_DELIMITER,
    Layout,
    cells_of_any_length,
    check_delimiter,
    find_layout,
    spell,
)
from sgclearn.tables.messages import listing
from sgclearn.tables.parsing import parse_delimited
from sgclearn.validation.reading import (
    check_budget,
    check_ratio,
    over_budget,
    reading,
    reason_of,
    unpacked_budget,
)

if TYPE_CHECKING:
    import os

    import pyarrow as pa

_PARQUET_MAGIC = b"PAR1"
_PARQUET = "a whole Parquet file"
_BATCH_ROWS = 1 << 16
_CELL_BYTES = 32


@dataclass(frozen=True)
class TableFile:
    """A table on disk whose column names are known and whose rows are not read yet.

    Attributes
    ----------
    path : Path
        The file.
    names : tuple of str
        Its columns; `column_0`, `column_1`, ... where the file has no header.
    has_header : bool
        Whether the names are the file's own.
    """

    path: Path
    names: tuple[str, ...]
    has_header: bool
    _layout: Layout | None  # None: Parquet
    _text: Content
    _start: int  # offset of the first row in _text, behind the comments

    @property
    def is_text(self) -> bool:
        """Whether the file is delimited text; Parquet has types of its own."""
        return self._layout is not None

    def position(self, column: str | int, role: str) -> int:
        """Find a column by name or position; `role` says in the error what it was wanted for."""
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        if isinstance(column, int) and 0 <= column < len(self.names):
            return column
        raise DataFileError(
            f"{role} must name a column of {self.path}",
            repr(column),
            f"its columns are {listing(self.names)}",
            argument=role,
        )

    def read(
        self, columns: Collection[str] | None = None, *, text_columns: Collection[str | int] = ()
    ) -> pa.Table:
        """Read the rows: all columns or some, `text_columns` as strings in their own spelling."""
        wanted = self.names if columns is None else tuple(columns)
        for name in wanted:
            self.position(name, "columns")
        texts = {self.names[self.position(column, "text_columns")] for column in text_columns}
        if self._layout is None:
            return self._read_parquet(wanted, texts)
        return self._read_delimited(self._layout, wanted, texts)

    def line(self, row: int) -> str:
        """Say where row number `row` (from 0) stands in the file."""
        if self._layout is None:
            return f"row {row + 1}"
        for number, (line, _) in enumerate(self._rows(self._layout)):
            if number == row + self.has_header:
                return f"line {line}"
        raise InputError(f"row must be one of the rows of {self.path}", f"{row}", argument="row")

    def _rows(self, layout: Layout) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and cells one row at a time: slow, used only to say where an error is."""
        text = self._text
        skipped = bytes(text[: self._start]).count(b"\n")
        stream = io.TextIOWrapper(io.BytesIO(text[self._start :]), encoding="utf-8", newline="")
        if layout.delimiter == WHITESPACE:
            for number, line in enumerate(stream, start=skipped + 1):
                if cells := line.split():
                    yield number, cells
        else:
            with cells_of_any_length():
                reader = csv.reader(stream, delimiter=layout.delimiter)
                for cells in filter(None, reader):
                    yield reader.line_num + skipped, cells

    def _read_delimited(self, layout: Layout, wanted: tuple[str, ...], texts: set[str]) -> pa.Table:
        import pyarrow as pa
        import pyarrow.types as pt

        try:
            table = parse_delimited(self._text, self._start, layout, wanted, texts)
        except pa.ArrowInvalid as error:
            raise self._explained(layout, error) from None
        self._refuse_open_quote(layout)
        for position, name in enumerate(table.column_names):
            column = table.column(position)
            if pt.is_binary(column.type):
                raise not_text(self.path)
            if pt.is_string(column.type):
                table = table.set_column(position, name, mark_missing(column, only_empty=name in texts))
        return table

    def _read_parquet(self, wanted: tuple[str, ...], texts: set[str]) -> pa.Table:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path
        with reading(path, _PARQUET), pq.ParquetFile(pa.BufferReader(self._text)) as file:
            budget, size = unpacked_budget(path.stat().st_size), 0
            # As columns of numbers or texts a cell takes so much, however few bits it has in the file.
            cells = float(file.metadata.num_rows) * max(len(wanted), 1)
            check_budget(path, 8 * cells, "its cells")
            check_ratio(path, _CELL_BYTES * cells, "its cells")
            batches = []
            # Batch by batch: a page can repeat one value for as many rows as it likes.
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=list(wanted)):
                batches.append(batch)
                size += batch.nbytes
                if size > budget:
                    raise over_budget(path, size, budget, "its columns")
            table = pa.Table.from_batches(batches, schema=None if batches else _schema(file, wanted))
            for name in texts & set(wanted):
                table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.string()))
            table.validate(full=True)
            return table.select(list(wanted))

    def _refuse_open_quote(self, layout: Layout) -> None:
        """A quote that is opened and never closed swallows the rest of the file without any other sign."""
        if count_quotes(self._text) % 2 == 0 or layout.delimiter == WHITESPACE:
            return
        start, end, last = 0, 0, [""]
        for line, cells in self._rows(layout):
            start, end, last = end + 1, line, cells
        if any("\n" in cell for cell in last):
            raise DataFileError(
                f"{self.path} must close every quote",
                f"one that opens in line {start} and goes on to the end",
                'write "" for a quote inside a cell',
            )

    def _explained(self, layout: Layout, error: Exception) -> DataFileError:
        """Turn a parse error of Arrow into a sentence with the line it is about."""
        width = len(layout.names)
        try:
            for line, cells in self._rows(layout):
                if len(cells) != width:
                    return DataFileError(
                        f"{self.path} must have {width} columns in every line",
                        f"{len(cells)} in line {line} with the delimiter {spell(layout.delimiter)}",
                        ("mend the line, or ", WRONG_DELIMITER),
                    )
        except UnicodeDecodeError:
            return not_text(self.path)
        return DataFileError(
            f"{self.path} must be a delimited text file", f"one that could not be parsed ({reason_of(error)})"
        )


def open_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    header_words: Collection[str] = frozenset(),
    is_id: Callable[[str], bool] | None = None,
) -> TableFile:
    """Find out the columns of a delimited or Parquet file without reading its rows.

    Parameters are those of `read_table`.
    """
    path = Path(path)
    mark = check_delimiter(delimiter)
    text = content(path)
    if path.suffix.lower() in {".parquet", ".pq"} or text[:4] == _PARQUET_MAGIC:
        names = _parquet_names(path, text)
        return TableFile(path, names, True, None, text, 0)
    if text.find(b"\0") >= 0:
        raise not_text(path)
    start = first_row(text)
    if start >= len(text):
        raise DataFileError(f"{path} must hold rows of data", "an empty file", "check the path")
    lines, complete = first_lines(path, text, start)
    layout = find_layout(
        str(path),
        lines,
        complete=complete,
        delimiter=mark,
        header=header,
        header_words=header_words,
        is_id=is_id,
    )
    return TableFile(path, layout.names, layout.has_header, layout, text, start)


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    header_words: Collection[str] = frozenset(),
    is_id: Callable[[str], bool] | None = None,
    text_columns: Collection[str | int] = (),
) -> pa.Table:
    r"""Read a CSV, TSV or other delimited file (also `.gz`, `.bz2`, `.xz`), or a Parquet file.

    Parameters
    ----------
    path : path
        The file, UTF-8. Lines at its top that start with `#` or `%` are comments.
    delimiter : str, optional
        One character, `"tab"` or `"whitespace"` (any run of spaces and tabs). Found in the file if not given.
    header : bool, optional
        Whether the first line names the columns. Found in the file if not given: it does if it holds one of
        `header_words`, or text above a column of numbers; it does not if it holds a number or two known ids.
    header_words : collection of str
        Lower-case words that only a header holds.
    is_id : callable, optional
        Says of a cell whether it is a known id.
    text_columns : collection of str or int
        Columns (names or positions) to read as text in their own spelling, such as ids: `007` stays `007`.
        Only an empty cell is missing in them.

    Returns
    -------
    pyarrow.Table
        Numbers as int64 or double, other cells as strings; missing cells are nulls.
        Columns of a file without header are `column_0`, `column_1`, ...

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("source,target,weight\n007,12,0.5\n12,9,2\n")
    >>> table = read_table(path, text_columns=["source", "target"])
    >>> table.to_pylist()
    [{'source': '007', 'target': '12', 'weight': 0.5}, {'source': '12', 'target': '9', 'weight': 2.0}]
    """
    file = open_table(path, delimiter=delimiter, header=header, header_words=header_words, is_id=is_id)
    return file.read(text_columns=text_columns)


def _parquet_names(path: Path, text: Content) -> tuple[str, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(path, _PARQUET):
        return tuple(pq.read_schema(pa.BufferReader(text)).names)


def _schema(file: Any, wanted: tuple[str, ...]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([file.schema_arrow.field(name) for name in wanted])
