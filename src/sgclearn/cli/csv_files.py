"""Tables written as CSV files, quoted only where a cell needs it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.files import replacing


def write_csv(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write columns of equal length; a reader sees the whole file or none of it."""
    with replacing(path) as temporary:
        temporary.write_bytes(csv_bytes(columns))


def csv_bytes(columns: dict[str, NDArray[Any]]) -> bytes:
    r"""Columns of equal length as CSV text with a header, in UTF-8.

    Examples
    --------
    >>> csv_bytes({"id": np.array(["a", "b, c"]), "n": np.array([3, 5])})
    b'id,n\na,3\n"b, c",5\n'
    """
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(columns)
    body = _plain_body(columns)
    return header.getvalue().encode() + (_quoted_body(columns) if body is None else body)


def _plain_body(columns: dict[str, NDArray[Any]]) -> bytes | None:
    """Rows without quotes, which pyarrow writes fast; None where a cell needs them."""
    import pyarrow as pa
    import pyarrow.csv

    table = pa.table({str(k): _arrow(values) for k, values in enumerate(columns.values())})
    stream = io.BytesIO()
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
    try:
        pyarrow.csv.write_csv(table, stream, options)
    except pa.ArrowInvalid:
        return None
    return stream.getvalue()


def _arrow(values: NDArray[Any]) -> Any:
    import pyarrow as pa

    return pa.array(values if values.dtype.kind in "iuf" else values.tolist())


def _quoted_body(columns: dict[str, NDArray[Any]]) -> bytes:
    text = io.StringIO()
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
