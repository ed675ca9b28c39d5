"""Feature matrices from outside: dense or sparse, real, finite, of a size that can be squared."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import ANY, InputError, InputTypeError, MemoryLimitError, Setting
from sgclearn.validation.arrays import plain_array, refuse_masks
from sgclearn.validation.memory import format_bytes, memory_limit_bytes
from sgclearn.validation.sparse import as_csr

# Products of values beyond this leave the range of float64, and with them every loss and gradient.
LARGEST = np.float64(1e150)  # not a Python float, which float32 arrays would narrow to infinity
# An index this large is a slip or an attack: weights and names of its columns would fill the memory.
MOST_COLUMNS = 10_000_000
# Features that are all smaller vanish when they are squared.
SMALLEST = 1e-152
_SMALL_BYTES = 1e8
_NO_NUMBER = re.compile(r"could not convert|argument must be .* number")  # numpy, of an entry


def as_matrix(X: Any, name: str = "X") -> Any:
    """Give X (n, d) as a float ndarray or a canonical `csr_array`, without a copy where it already is one.

    float32 stays float32, every other type becomes float64. Values are not looked at: see `check_values`.
    """
    if sparse.issparse(X):
        matrix = as_csr(X, name)
    else:
        matrix = X if type(X) is np.ndarray else plain_array(X, name)
    if matrix.ndim != 2:
        raise InputError(
            f"{name} must have two dimensions (nodes, features)", f"shape {matrix.shape}", argument=name
        )
    if matrix.shape[1] > MOST_COLUMNS:
        raise InputError(
            f"{name} must have at most {MOST_COLUMNS:,} columns",
            f"{matrix.shape[1]:,}",
            "check the largest column index, or hash the columns",
            argument=name,
        )
    if matrix.dtype.kind not in "fiub":
        raise InputTypeError(
            f"{name} must hold numbers",
            f"dtype {matrix.dtype}",
            "read_features turns columns of text into numbers",
            argument=name,
        )
    if matrix.dtype in (np.float64, np.float32):  # in the byte order of the machine
        return matrix
    with np.errstate(over="ignore"):  # a longdouble that is too large becomes infinity, which is then refused
        return matrix.astype(np.float64)


def as_dense(X: Any, name: str = "X") -> NDArray[np.float64]:
    """Give a checked matrix as a dense one in float64, where memory has room for it."""
    needed = 24.0 * X.shape[0] * X.shape[1]  # with the copies that a computation makes of it
    if sparse.issparse(X) and needed > _SMALL_BYTES and needed > memory_limit_bytes():
        raise MemoryLimitError(
            f"{name} of shape {X.shape} must fit the {format_bytes(memory_limit_bytes())} that may be used",
            f"{format_bytes(needed)} as a dense matrix",
            "use fewer columns, or propagate, which keeps it sparse",
            argument=name,
        )
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def refuse_unusable(X: Any, name: str = "X") -> Any:
    """Give X as it is, for a validation of scikit-learn that follows; what that would follow blindly is refused."""
    if sparse.issparse(X):
        return as_csr(X, name)
    refuse_masks(X, name)
    return X


def validated(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as scikit-learn's own validation gives it, once nothing is left in it that this would follow blindly."""
    from sklearn.utils.validation import validate_data

    try:
        return validate_data(
            estimator,
            refuse_unusable(X),
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            accept_large_sparse=True,
            reset=reset,
        )
    except (OverflowError, UnicodeError, ArithmeticError):
        raise InputError(
            "X must hold numbers that a float can hold", "others", "convert or scale them", argument="X"
        ) from None
    except (ValueError, TypeError) as error:
        if not _NO_NUMBER.search(str(error)):
            raise  # in scikit-learn's own words
        kind = InputTypeError if isinstance(error, TypeError) else InputError
        remedy = "read_features turns columns of text into numbers"
        raise kind("X must hold numbers", str(error), remedy, argument="X") from None


def check_values(X: Any, name: str = "X") -> float:
    """Give the largest absolute value of a matrix; refuse values that are not finite, or whose squares are not."""
    values: NDArray[Any] = X.data if sparse.issparse(X) else X
    # Without a temporary array; NaN goes through both, infinity is the one or the other.
    highest, lowest = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    if not (np.isfinite(highest) and np.isfinite(lowest)):
        kind = "NaN" if np.isnan(values).any() else "infinity"
        raise InputError(
            f"{name} must be finite",
            kind,
            ("fill or drop such values before (see ", Setting("impute", ANY), ")"),
            argument=name,
        )
    largest = max(highest, -lowest)
    if largest > LARGEST:
        raise _not_squared(largest, name)
    return largest


def check_not_tiny(largest: float, name: str = "X") -> None:
    """Refuse a matrix to be fitted, other than zeros, whose squares all vanish: its weights would too."""
    if 0.0 < largest < SMALLEST:
        raise _not_squared(largest, name)


def _not_squared(largest: float, name: str) -> InputError:
    return InputError(
        f"{name} must be of a size that can be squared",
        f"{largest:.3g} as its largest absolute value",
        "scale the features or mend that value",
        argument=name,
    )
