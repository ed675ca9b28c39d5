"""Delimited text to Arrow columns, once its layout is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sgclearn.tables.contents import Content, single_spaces
from sgclearn.tables.layout import MISSING, WHITESPACE, Layout

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_BLOCK = 2**31 - 1


def parse_delimited(
    text: Content, start: int, layout: Layout, wanted: tuple[str, ...], texts: set[str]
) -> pa.Table:
    """Parse the `wanted` columns of the rows from offset `start` on, `texts` as strings."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    buffer = pa.py_buffer(text).slice(start)
    if layout.delimiter == WHITESPACE:
        buffer = pa.py_buffer(single_spaces(buffer.to_pybytes()))
    parse = pa_csv.ParseOptions(
        delimiter=layout.delimiter,
        # Allowing it costs parallel parsing, and a file without quotes cannot have it.
        newlines_in_values=text.find(b'"', start) >= 0,
    )
    convert = pa_csv.ConvertOptions(
        include_columns=list(wanted),
        column_types=dict.fromkeys(texts & set(wanted), pa.string()),
        null_values=sorted(MISSING),
    )

    def read(block_size: int) -> pa.Table:
        options = pa_csv.ReadOptions(
            column_names=list(layout.names),
            skip_rows_after_names=int(layout.has_header),
            block_size=min(block_size, _MAX_BLOCK),
        )
        return pa_csv.read_csv(
            pa.BufferReader(buffer), read_options=options, parse_options=parse, convert_options=convert
        )

    end = text.find(b"\n", start)
    first_row = (len(text) if end < 0 else end) - start
    try:
        return read(max(4 << 20, 32 * first_row))
    except pa.ArrowInvalid as error:
        if "straddl" not in str(error):
            raise
        return read(buffer.size)  # some row is longer than a block
