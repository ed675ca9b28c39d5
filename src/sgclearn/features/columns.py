"""One raw column and how it becomes matrix columns: a number stays one column, strings become one-hot."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sgclearn.errors import Alternatives, InputError, Place, Setting, SgclearnWarning
from sgclearn.tables.messages import counted
from sgclearn.validation.matrices import LARGEST

Impute = Literal["mean", "median", "zero"]
Kind = Literal["number", "category"]

# A number in its usual spelling; 007 is a code.
_NUMBER = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"

IMPUTE_CHOICES: tuple[Impute, ...] = ("mean", "median", "zero")


@dataclass(frozen=True)
class ColumnEncoding:
    """How one raw column is turned into ``width`` matrix columns.

    Parameters
    ----------
    name : str
        Name of the raw column.
    kind : {"number", "category"}
        A number is one matrix column (a boolean is 0 or 1); a category is one matrix column for each value.
    categories : tuple of str or None
        The values of a category column, sorted; None, last, stands for a missing value.
    fill : float or None
        What a missing number becomes; None refuses it.
    """

    name: str
    kind: Kind
    categories: tuple[str | None, ...] = ()
    fill: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the matrix columns: ``age``, or ``city=Bern``, ``city=<missing>``."""
        if self.kind == "number":
            return (self.name,)
        return tuple(f"{self.name}={'<missing>' if value is None else value}" for value in self.categories)

    @property
    def width(self) -> int:
        """Number of matrix columns."""
        return 1 if self.kind == "number" else len(self.categories)

    def numbers(self, column: Any, dtype: DTypeLike) -> NDArray[Any]:
        """Values of a number column, missing ones filled: shape (n,), all finite."""
        if column_kind(self.name, column) != "number":
            expected = "features must be numbers where they were when the encoding was learned"
            text = as_text(column)
            row = first_text(text)
            if row is None:
                raise InputError(expected, str(column.type), "convert it", place=Place(column=self.name))
            place = Place(row=row, column=self.name)
            raise InputError(expected, repr(text[row].as_py()), "mend the cell", place=place)
        values = finite_or_missing(self.name, column, dtype)
        missing = np.isnan(values)
        if self.fill is None:
            refuse_missing(self.name, int(np.count_nonzero(missing)))
            return values
        return np.where(missing, values.dtype.type(self.fill), values)

    def codes(self, column: Any, impute: Impute | None) -> NDArray[np.int64]:
        """Position of each value in ``categories``, -1 for a value that is not among them: shape (n,)."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if column_kind(self.name, column) != "category" and not pa.types.is_null(column.type):
            raise InputError(
                "features must be strings where they were when the encoding was learned",
                str(column.type),
                "convert it to strings",
                place=Place(column=self.name),
            )
        text = as_text(column)
        if impute is None:
            refuse_missing(self.name, text.null_count, is_text=True)
        found = pc.index_in(text, value_set=pa.array(self.categories, type=pa.large_string()))
        codes: NDArray[np.int64] = pc.fill_null(found, -1).to_numpy().astype(np.int64)
        unknown = np.flatnonzero(codes < 0)
        if unknown.size:
            first = text[int(unknown[0])].as_py()
            them = "it" if unknown.size == 1 else "them"
            warnings.warn(
                f"feature column {self.name!r} has {counted(unknown.size, 'value')} that the encoding does not know "
                f"(the first is {first!r}): all categories of that column are 0 for {them}.",
                SgclearnWarning,
                stacklevel=2,
            )
        return codes


def column_kind(name: str, column: Any) -> Kind:
    """Tell numbers (booleans and empty columns too) from categories; refuse everything else."""
    from pyarrow import types

    held = column.type
    if (
        types.is_dictionary(held)
        or types.is_string(held)
        or types.is_large_string(held)
        or is_string_view(held)
    ):
        return "category"
    if (
        types.is_integer(held)
        or types.is_floating(held)
        or types.is_boolean(held)
        or types.is_decimal(held)
        or types.is_null(held)
    ):
        return "number"
    raise InputError(
        "features must be numbers, booleans or strings",
        str(held),
        "drop the column or turn it into numbers first",
        place=Place(column=name),
    )


def is_string_view(held: Any) -> bool:
    """Tell polars' own string layout, which pyarrow knows since version 16."""
    return str(held) == "string_view"


def as_text(column: Any) -> Any:
    """Column of strings in one layout, whatever the frame library used (dictionary, view, large)."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        # The values are cast before they are spread: Arrow cannot spread polars' layout.
        spread = [chunk.dictionary.cast(pa.large_string()).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(spread, type=pa.large_string())
    return column.cast(pa.large_string())


def finite_or_missing(name: str, column: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Numbers of a column with NaN where one is missing; infinity is refused."""
    import pyarrow as pa

    with np.errstate(over="ignore"):
        values: NDArray[Any] = column.cast(pa.float64(), safe=False).to_numpy().astype(dtype, copy=False)
    n_infinite = int(np.count_nonzero(np.isinf(values)))
    if n_infinite:
        raise InputError(
            "features must be finite",
            counted(n_infinite, "infinite value"),
            "replace them or drop the column",
            place=Place(column=name),
        )
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if huge.size:
        raise too_large(name, float(values[huge[0]]))
    return values


def too_large(name: str, value: float) -> InputError:
    """Give the error for a number whose square is beyond float64."""
    return InputError(
        f"features must lie within {LARGEST:g}, so that their squares are finite",
        f"{value:g}",
        "give the column in another unit, or drop it",
        place=Place(column=name),
    )


def refuse_missing(name: str, n_missing: int, *, is_text: bool = False) -> None:
    """Refuse missing cells; the error names the choices and, for text, what all of them do."""
    if n_missing:
        them = "it" if n_missing == 1 else "them"
        becomes = ", which makes a missing text a category of its own" if is_text else ""
        choices = Alternatives(*(Setting("impute", choice) for choice in IMPUTE_CHOICES))
        raise InputError(
            "features must not be missing",
            counted(n_missing, "missing value"),
            (f"fill {them}, or choose ", choices, becomes),
            argument="impute",
            place=Place(column=name),
        )


def first_text(text: Any) -> int | None:
    """Number of the first row of a text column that spells no number; None if all spell one."""
    import pyarrow.compute as pc

    row = pc.index(pc.match_substring_regex(text, _NUMBER), False).as_py()
    return None if row < 0 else int(row)


def refuse_mixture(name: str, text: Any) -> None:
    """Refuse a column of numbers that a few other cells turned into text."""
    import pyarrow.compute as pc

    n_numbers = pc.sum(pc.match_substring_regex(text, _NUMBER)).as_py() or 0
    n_cells = len(text) - text.null_count
    row = first_text(text)
    # All of them: somebody chose text for them. Few of them: words like any other.
    if row is None or 2 * n_numbers < n_cells:
        return
    raise InputError(
        "a feature column must hold numbers or text",
        f"{counted(n_numbers, 'number')} and {text[row].as_py()!r}",
        "mend or empty the cell, or, if its values are categories, write all of them as text such as 'v1'",
        place=Place(row=row, column=name),
    )


def learn_fill(name: str, values: NDArray[Any], impute: Impute | None) -> float | None:
    """Value for the missing cells of a number column, from the cells that are there."""
    if impute is None:
        refuse_missing(name, int(np.count_nonzero(np.isnan(values))))
        return None
    if impute == "zero":
        return 0.0
    present = values[~np.isnan(values)].astype(np.float64, copy=False)
    if present.size == 0:
        raise InputError(
            (Setting("impute", impute), " needs at least one value"),
            f"none in {values.size} rows",
            ("drop the column or choose ", Setting("impute", "zero")),
            place=Place(column=name),
        )
    return float(np.mean(present) if impute == "mean" else np.median(present))


def learn_categories(name: str, column: Any, max_categories: int, impute: Impute | None) -> ColumnEncoding:
    """Categories of a string column, sorted, so that the order of the rows has no say."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = as_text(column)
    if not pa.types.is_dictionary(column.type):
        refuse_mixture(name, text)
    if impute is None:
        refuse_missing(name, text.null_count, is_text=True)
    values = sorted(value for value in pc.unique(text).to_pylist() if value is not None)
    if len(values) > max_categories:
        raise InputError(
            f"string columns may have at most {max_categories} categories",
            str(len(values)),
            (
                *("drop it, name it as ", Setting("id_column"), " if it is the node id, or raise "),
                Setting("max_categories"),
            ),
            place=Place(column=name),
        )
    return ColumnEncoding(name, "category", (*values, None) if text.null_count else tuple(values))
