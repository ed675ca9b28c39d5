"""Data frames of any library -> one Arrow table and the ids of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, InputTypeError, Place, Setting
from sgclearn.features.columns import as_text, column_kind
from sgclearn.tables.messages import counted, listing

# Column names that are taken for the id, in this order.
ID_NAMES = ("id", "node", "node_id", "name", "key")


def as_arrow(frame: Any) -> Any:
    """Arrow table of a pandas, polars or Arrow frame, or of anything with the Arrow stream interface."""
    import pyarrow as pa

    try:
        if is_pandas(frame):
            table = pa.Table.from_pandas(frame, preserve_index=False)
        elif isinstance(frame, pa.Table):
            table = frame
        elif hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
            table = pa.table(frame)
        else:
            raise InputTypeError(
                "a frame must be a pandas, polars or Arrow table",
                type(frame).__name__,
                "use Features.from_matrix for arrays and sparse matrices",
            )
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError) as error:
        raise InputError(
            "every column of a frame must hold one type of value and have a name of its own",
            " ".join(str(part) for part in error.args),
            "convert, rename or drop the column",
        ) from error
    repeated = [name for name, count in Counter(table.column_names).items() if count > 1]
    if repeated:
        raise InputError(
            "every column of a frame must have a name of its own",
            f"{repeated[0]!r} more than once",
            "rename one",
        )
    return table


def is_pandas(frame: Any) -> bool:
    """Tell a pandas frame (or a subclass of it) without importing pandas."""
    return any(
        held.__name__ == "DataFrame" and held.__module__.split(".")[0] == "pandas"
        for held in type(frame).__mro__
    )


def split_ids(
    frame: Any, id_column: str | bool | None, features: Collection[str] = ()
) -> tuple[Any, NDArray[Any] | None]:
    """Arrow table without the id column, and the ids.

    The id is the column that ``id_column`` names; else the index of a pandas frame that is not the default
    one; else the first of the columns id, node, node_id, name, key (in any case); else the first column if
    it holds strings or integers and each once. Without any of these, or with ``id_column=False``, row i
    belongs to node i. An unnamed pandas index of integers, which every filter leaves behind, gives way to a
    column with one of those names. Columns listed in ``features`` are never the id.
    """
    table = as_arrow(frame)
    if id_column is False:
        return table, None
    if isinstance(id_column, str):
        if id_column in table.column_names:
            return _without(table, id_column)
        if is_pandas(frame) and frame.index.name == id_column:
            return table, np.asarray(frame.index)
        raise InputError(
            f"id_column must be one of the columns {listing(table.column_names)}",
            repr(id_column),
            ("name one of them, or give ", Setting("id_column", False), " if row i belongs to node i"),
            argument="id_column",
        )
    if id_column is not None:
        raise InputTypeError(
            "id_column must be a column name, False or None",
            repr(id_column),
            "name a column",
            argument="id_column",
        )
    taken = frozenset(features)
    free = [name for name in table.column_names if name not in taken]
    named = named_id(free)
    if is_pandas(frame) and index_is_id(frame.index, named):
        return table, np.asarray(frame.index)
    if named is None and free and free[0] == table.column_names[0]:
        named = _first_as_id(table, free[0], sure=bool(features))
    return (table, None) if named is None else _without(table, named)


def named_id(names: list[str]) -> str | None:
    """First of the words that name an id among the column names, in any case."""
    folded = {name.strip().lower(): name for name in reversed(names)}
    return next((folded[word] for word in ID_NAMES if word in folded), None)


def index_is_id(index: Any, named: str | None) -> bool:
    """Tell a pandas index that somebody made from the one that is always there."""
    plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    if index.name is None and (plain or (named is not None and index.dtype.kind in "iu")):
        return False
    return not plain


def _first_as_id(table: Any, name: str, *, sure: bool) -> str | None:
    """Take the first column for the id if it can be one; refuse what looks like an id with repetitions."""
    import pyarrow.compute as pc
    from pyarrow import types

    column = table.column(name)
    if not (types.is_integer(column.type) or column_kind(name, column) == "category"):
        return None
    column = column if types.is_integer(column.type) else as_text(column)
    n_distinct = pc.count_distinct(column, mode="all").as_py()
    if sure or n_distinct == table.num_rows:
        return name
    if 2 * n_distinct > table.num_rows:
        counts = pc.value_counts(column)
        twice = next(entry["values"].as_py() for entry in counts if entry["counts"].as_py() > 1)
        raise InputError(
            f"the first column, {name!r}, must hold each id once to be taken for the id",
            f"{twice!r} more than once",
            (
                *("drop the repeated rows, name the id with ", Setting("id_column"), ", or give "),
                *(Setting("id_column", False), " if row i belongs to node i"),
            ),
        )
    return None


def _without(table: Any, name: str) -> tuple[Any, NDArray[Any]]:
    from pyarrow import types

    column = table.column(name)
    if column.null_count:
        raise InputError(
            "every row must have an id",
            f"{counted(column.null_count, 'missing value')} among {counted(table.num_rows, 'row')}",
            "fill them or drop the rows",
            place=Place(column=name),
        )
    if types.is_integer(column.type) or types.is_floating(column.type):
        ids = column.to_numpy()
    elif types.is_null(column.type) or column_kind(name, column) == "category":
        ids = as_text(column).to_numpy()
    else:
        raise InputError(
            "ids must be strings or whole numbers",
            str(column.type),
            "name another id column or convert it",
            place=Place(column=name),
        )
    return table.drop_columns([name]), ids
