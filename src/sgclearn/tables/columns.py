"""Cells as values: what counts as missing, and ids that keep their spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sgclearn.tables.layout import MISSING

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def mark_missing(column: pa.ChunkedArray, *, only_empty: bool) -> pa.ChunkedArray:
    """Trim text cells and turn those that hold no value into nulls.

    Where `only_empty`, every spelling but the empty one is a value: `NA` and `null` are fine ids.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    if only_empty:
        missing = pc.equal(pc.binary_length(trimmed), 0)
    else:
        missing = pc.is_in(trimmed, value_set=pa.array(sorted(MISSING), column.type))
    if not pc.any(missing).as_py():
        return trimmed
    return pc.if_else(missing, pa.scalar(None, column.type), trimmed)


def canonical_integers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a text column as int64 if every cell is an integer in its one usual spelling.

    `7` and `-3` are usual; `007`, `+7` and `7.0` are not: as numbers they could not be written back.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks = []
    for chunk in column.chunks:
        try:
            numbers = pc.cast(chunk, pa.int64())
        except pa.ArrowInvalid:
            return column
        if not pc.all(pc.equal(pc.cast(numbers, chunk.type), chunk), min_count=0).as_py():
            return column
        chunks.append(numbers)
    return pa.chunked_array(chunks, type=pa.int64())


def id_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a column of ids in the one Arrow type of its kind: int64 or string; other types as they are.

    Text becomes int64 where all of it is usually spelled integers, so that an id has the same type
    whether it was read from text or from Parquet.
    """
    import pyarrow as pa
    import pyarrow.types as pt

    if pt.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pt.is_string(column.type) or pt.is_large_string(column.type):
        return canonical_integers(column)
    if pt.is_integer(column.type) and column.type != pa.uint64():
        return column.cast(pa.int64())
    return column


def id_array(column: pa.ChunkedArray) -> NDArray[Any]:
    """Give a column of ids as an int64 array, or as an object array (strings, None where missing).

    Examples
    --------
    >>> import pyarrow as pa
    >>> id_array(pa.chunked_array([["10", "9"]]))
    array([10,  9])
    >>> id_array(pa.chunked_array([["007", "9"]]))
    array(['007', '9'], dtype=object)
    """
    import pyarrow.types as pt

    ids = id_column(column)
    if pt.is_integer(ids.type) and ids.null_count == 0:
        return ids.to_numpy()  # type: ignore[no-any-return]
    return np.fromiter(ids.to_pylist(), dtype=object, count=len(ids))
