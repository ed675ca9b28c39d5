"""Raw columns -> matrix, learned once and applied to new nodes in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from sgclearn.errors import InputError, InputTypeError, Setting
from sgclearn.features.columns import (
    IMPUTE_CHOICES,
    ColumnEncoding,
    Impute,
    column_kind,
    finite_or_missing,
    learn_categories,
    learn_fill,
)
from sgclearn.tables.messages import listing
from sgclearn.validation.parameters import Choice, Whole

Matrix: TypeAlias = NDArray[Any] | csr_array

# Below this share of nonzeros a csr matrix is smaller than a dense one and faster in every product.
SPARSE_DENSITY = 0.1
# A dense matrix of fewer cells (8 MB) is never worth a sparse one, unless it is mostly one-hot columns.
SPARSE_CELLS = 1_000_000
# Columns gathered before they are written: a transposed block is written four times faster than columns.
BLOCK_COLUMNS = 32


@dataclass(frozen=True)
class Encoding:
    """How the raw columns of a table became the columns of a feature matrix.

    Numbers are kept, booleans are 0 and 1, and strings are one-hot, their categories in sorted order. A new
    table is encoded by column name: missing and surplus columns are errors, and a category that was not
    there at learning gives zeros with a warning.

    Parameters
    ----------
    columns : tuple of ColumnEncoding
        Raw columns in the order of their matrix columns.
    dtype : {"float64", "float32"}
        float32 if every number column was (booleans and strings have no say), else float64.
    sparse : bool
        Whether the matrix is a ``csr_array``. Learned: less than 10 % of the cells are nonzero, and there
        are more than a million cells or more one-hot columns than others.
    impute : {"mean", "median", "zero"} or None
        How the fill values of numbers were found; None refuses missing cells. With a choice, a missing
        string is a category of its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [30, None], "city": ["Bern", "Graz"]})
    >>> encoding = Encoding.learn(table, impute="mean")
    >>> encoding.names
    ('age', 'city=Bern', 'city=Graz')
    >>> encoding.apply(table)
    array([[30.,  1.,  0.],
           [30.,  0.,  1.]])
    >>> Encoding.from_dict(encoding.to_dict()) == encoding
    True
    """

    columns: tuple[ColumnEncoding, ...]
    dtype: str = "float64"
    sparse: bool = False
    impute: Impute | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the matrix columns, (d,)."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the raw columns."""
        return tuple(column.name for column in self.columns)

    @property
    def n_features(self) -> int:
        """Number d of matrix columns."""
        return sum(column.width for column in self.columns)

    @classmethod
    def learn(cls, table: Any, *, impute: Impute | None = None, max_categories: int = 50) -> Encoding:
        """Learn the encoding of an Arrow table whose columns are all features.

        Parameters
        ----------
        table : pyarrow.Table
            Raw columns, without the id.
        impute : {"mean", "median", "zero"}, optional
            How missing numbers are filled; by default they are an error.
        max_categories : int, default=50
            Most categories that a string column may have.

        Returns
        -------
        Encoding
        """
        check_impute(impute)
        _check_table(table)
        Whole("leave it at 50", low=1).check("max_categories", max_categories)
        if table.num_columns == 0:
            raise InputError(
                "features must have at least one column besides the id",
                "none",
                ("name the id with ", Setting("id_column"), ", or fit without features"),
            )
        dtype = _common_dtype(table)
        columns, n_nonzero, n_one_hot = [], 0, 0
        for name, column in zip(table.column_names, table.columns, strict=True):
            if column_kind(name, column) == "category":
                learned = learn_categories(name, column, max_categories, impute)
                n_nonzero += table.num_rows
                n_one_hot += learned.width
            else:
                values = finite_or_missing(name, column, dtype)
                learned = ColumnEncoding(name, "number", fill=learn_fill(name, values, impute))
                n_nonzero += int(np.count_nonzero(values))
            columns.append(learned)
        width = sum(column.width for column in columns)
        sparse = _is_sparse(table.num_rows, width, n_nonzero, n_one_hot)
        return cls(tuple(columns), dtype, sparse, impute)

    def apply(self, table: Any) -> Matrix:
        """Encode an Arrow table that has these columns, in any order, and no others.

        Returns
        -------
        ndarray or csr_array of shape (n, d)
        """
        _check_table(table)
        self._check_columns(table.column_names)
        return self._apply_sparse(table) if self.sparse else self._apply_dense(table)

    def _check_columns(self, given: Iterable[str]) -> None:
        known = dict.fromkeys(self.column_names)
        held = dict.fromkeys(given)
        missing = [name for name in known if name not in held]
        surplus = [name for name in held if name not in known]
        if missing or surplus:
            faults = [f"none called {listing(missing)}"] if missing else []
            faults += [f"{listing(surplus)}, which it does not know"] if surplus else []
            raise InputError(
                f"features must have the {len(self.columns)} columns that the encoding was learned from",
                " and ".join(faults),
                "give the same columns",
            )

    def _apply_dense(self, table: Any) -> NDArray[Any]:
        n_rows = table.num_rows
        matrix = np.empty((n_rows, self.n_features), dtype=self.dtype)
        start = 0
        for first in range(0, len(self.columns), BLOCK_COLUMNS):
            parts = [
                self._dense_part(column, table.column(column.name))
                for column in self.columns[first : first + BLOCK_COLUMNS]
            ]
            block = np.concatenate(parts)  # (width, n)
            matrix[:, start : start + len(block)] = block.T
            start += len(block)
        return matrix

    def _dense_part(self, column: ColumnEncoding, raw: Any) -> NDArray[Any]:
        """Matrix columns of one raw column, transposed: (width, n)."""
        if column.kind == "number":
            return column.numbers(raw, self.dtype)[np.newaxis, :]
        codes = column.codes(raw, self.impute)
        one_hot: NDArray[Any] = codes == np.arange(column.width)[:, np.newaxis]
        return one_hot.astype(self.dtype)

    def _apply_sparse(self, table: Any) -> csr_array:
        rows, columns, values = [], [], []
        start = 0
        for column in self.columns:
            raw = table.column(column.name)
            if column.kind == "number":
                numbers = column.numbers(raw, self.dtype)
                held = np.flatnonzero(numbers)
                columns.append(np.full(held.size, start, dtype=np.int64))
                values.append(numbers[held])
            else:
                codes = column.codes(raw, self.impute)
                held = np.flatnonzero(codes >= 0)
                columns.append(codes[held] + start)
                values.append(np.ones(held.size, dtype=self.dtype))
            rows.append(held)
            start += column.width
        triplets = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return csr_array(coo_array(triplets, shape=(table.num_rows, self.n_features)))

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON; `from_dict` reads it back to an equal encoding."""
        return {
            "columns": [
                {"name": column.name, "kind": column.kind}
                | ({"categories": list(column.categories)} if column.kind == "category" else {})
                | ({"fill": column.fill} if column.fill is not None else {})
                for column in self.columns
            ],
            "dtype": self.dtype,
            "sparse": self.sparse,
            "impute": self.impute,
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Encoding:
        """Encoding from the dictionary of `to_dict`; anything else is an InputError."""
        try:
            columns = tuple(_column_from_dict(column) for column in state["columns"])
            dtype, sparse, impute = state["dtype"], state["sparse"], state["impute"]
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                "a feature encoding must be the dictionary that Encoding.to_dict gives",
                f"one that lacks or garbles {error}",
                "save the model again",
            ) from error
        if not isinstance(dtype, str) or dtype not in ("float32", "float64") or not isinstance(sparse, bool):
            raise InputError(
                "a feature encoding must have dtype float32 or float64 and sparse true or false",
                f"{dtype!r} and {sparse!r}",
                "save the model again",
            )
        check_impute(impute)
        if len({column.name for column in columns}) < len(columns):
            raise InputError(
                "a feature encoding must name each column once", "one twice", "save the model again"
            )
        return cls(columns, dtype, sparse, impute)


def check_impute(impute: str | None) -> None:
    """Refuse an impute choice that does not exist."""
    Choice(
        "choose one of them",
        optional=True,
        values=IMPUTE_CHOICES,
        sentence='"mean", "median", "zero" or None',
    ).check("impute", impute)


def _check_table(table: Any) -> None:
    if not (hasattr(table, "column_names") and hasattr(table, "num_columns")):
        raise InputTypeError(
            "table must be an Arrow table",
            type(table).__name__,
            "use Features.from_frame for other frames",
            argument="table",
        )


def _column_from_dict(state: Mapping[str, Any]) -> ColumnEncoding:
    name, kind, fill = state["name"], state["kind"], state.get("fill")
    categories = tuple(state.get("categories", ()))
    good_fill = fill is None or (isinstance(fill, float | int) and isfinite(fill))
    good_values = all(value is None or isinstance(value, str) for value in categories)
    if not isinstance(name, str) or kind not in ("number", "category") or not good_fill or not good_values:
        raise InputError(
            "a feature encoding must describe each column by name, kind, categories and a finite fill value",
            repr(dict(state)),
            "save the model again",
        )
    return ColumnEncoding(name, kind, categories, None if fill is None else float(fill))


def _common_dtype(table: Any) -> str:
    from pyarrow import types

    held = [field.type for field in table.schema]
    numbers = [
        kind for kind in held if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    ]
    narrow = [types.is_float32(kind) or types.is_float16(kind) for kind in numbers]
    return "float32" if narrow and all(narrow) else "float64"


def _is_sparse(n_rows: int, width: int, n_nonzero: int, n_one_hot: int) -> bool:
    n_cells = n_rows * width
    thin = n_nonzero < SPARSE_DENSITY * n_cells
    return thin and (n_cells > SPARSE_CELLS or 2 * n_one_hot > width)
