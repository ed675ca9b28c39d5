"""Tables written as CSV files, quoted only where a cell needs it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.files import replacing

DECIMALS = 6  # of fractions


def write_csv(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write columns of equal length; a reader sees the whole file or none of it."""
    with replacing(path) as temporary:
        temporary.write_bytes(csv_bytes(columns))


def csv_bytes(columns: dict[str, NDArray[Any]]) -> bytes:
    r"""Columns of equal length as CSV text with a header, in UTF-8; fractions have six decimals.

    Examples
    --------
    >>> import numpy as np
    >>> csv_bytes({"id": np.array(["a", "b, c"]), "n": np.array([3, 5]), "p": np.array([0.5, 5e-5])})
    b'id,n,p\na,3,0.500000\n"b, c",5,0.000050\n'
    """
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(columns)
    held = [_arrow(values) for values in columns.values()]
    body = _plain_body(held)
    return header.getvalue().encode() + (_quoted_body(held) if body is None else body)


def spelled(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers of any size as text, with ten significant digits; an empty cell for NaN.

    Examples
    --------
    >>> import numpy as np
    >>> spelled(np.array([1e-12, 250.0, np.nan])).tolist()
    ['1e-12', '250', '']
    """
    return np.array(["" if value != value else f"{value:.10g}" for value in values.tolist()], dtype=object)


def _plain_body(columns: list[Any]) -> bytes | None:
    """Rows without quotes, which pyarrow writes fast; None where a cell needs them."""
    import pyarrow as pa
    import pyarrow.csv

    table = pa.table({str(k): column for k, column in enumerate(columns)})
    stream = io.BytesIO()
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
    try:
        pyarrow.csv.write_csv(table, stream, options)
    except pa.ArrowInvalid:
        return None
    return stream.getvalue()


def _arrow(values: NDArray[Any]) -> Any:
    import pyarrow as pa

    if values.dtype.kind == "f":
        # As decimals they are spelled in one way only, however small they are.
        return pa.array(values).cast(pa.decimal128(38, DECIMALS)).cast(pa.string())
    return pa.array(values if values.dtype.kind in "iu" else values.tolist())


def _quoted_body(columns: list[Any]) -> bytes:
    text = io.StringIO()
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
