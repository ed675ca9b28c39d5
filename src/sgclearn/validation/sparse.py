"""Sparse matrices from outside: their parts must fit together before scipy or the kernel follows an index.

scipy checks little when a matrix is made and nothing when its arrays are set afterwards, and its compiled routines
follow what they are given: a wrong index is a crash, or an answer made of whatever lies in memory there.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn._native import load_kernel
from sgclearn.errors import InputError, InputTypeError, MemoryLimitError
from sgclearn.validation.arrays import refuse_masks
from sgclearn.validation.memory import format_bytes, memory_limit_bytes
from sgclearn.validation.parameters import is_whole

_REMEDY = "build the matrix again from its entries, as scipy.sparse.coo_array((data, (row, column)), shape)"
_BAD_STARTS, _BAD_COLUMNS, _VALID, _CANONICAL = -1, -2, 0, 1  # what the kernel answers
_FEW_ROWS = 10_000  # nobody asks how much memory there is
_POINTER_BYTES = 24  # a row start, and the two copies that a conversion makes on the way


def check_sparse(matrix: Any, name: str) -> Any:
    """Give a sparse matrix of any format with a structure that can be trusted.

    Parameters
    ----------
    matrix : scipy sparse array or matrix (n, d)
    name : str
        What a message calls it.

    Returns
    -------
    The matrix itself; a new one where its indices had a type that scipy does not compute with.

    Raises
    ------
    InputError
        If row starts do not begin at 0, fall back or do not end at the number of entries, if an index is negative or
        too large, or if arrays that belong together have different lengths.
    InputTypeError
        If its entries are no real numbers.

    Notes
    -----
    Cost: one pass over the indices. Values are not looked at: what may be negative or infinite depends on their use.
    `has_canonical_format` of a CSR matrix tells the truth afterwards.
    """
    if matrix.ndim != 2:
        raise InputError(
            f"{name} must have two dimensions",
            f"a sparse array of shape {matrix.shape}",
            "reshape it",
            argument=name,
        )
    if not all(is_whole(size) and 0 <= size < 2**63 for size in matrix.shape):
        raise _unfit(name, f"the shape {matrix.shape}")
    try:
        return _checked(_with_plain_values(matrix, name), name)
    except AttributeError as error:  # parts that somebody has taken away
        raise _unfit(name, f"one without its parts ({error})") from None


def check_rows_fit(n_rows: int, name: str) -> None:
    """Refuse a matrix whose row starts alone would not fit into memory."""
    needed = _POINTER_BYTES * float(n_rows)
    if n_rows > _FEW_ROWS and needed > memory_limit_bytes():
        raise MemoryLimitError(
            f"{name} of {n_rows:,} rows must fit the {format_bytes(memory_limit_bytes())} that may be used",
            f"{format_bytes(needed)} for its row starts alone",
            "leave out rows without entries",
            argument=name,
        )


def _checked(matrix: Any, name: str) -> Any:
    if matrix.format in ("csr", "csc", "bsr"):
        return _compressed(matrix, name)
    if matrix.format == "coo":
        _check_coordinates(matrix, name)
    elif matrix.format == "dia":
        _check_diagonals(matrix, name)
    else:  # lil and dok hold Python objects: their entries are looked at one by one
        matrix = _from_objects(matrix, name)
    return matrix


def as_csr(matrix: Any, name: str) -> Any:
    """Give any sparse matrix as a `csr_array` that can be trusted; its duplicates are added up, its columns ascend."""
    checked = check_sparse(matrix, name)
    if checked.format != "csr":
        check_rows_fit(checked.shape[0], name)
    # A new object would have to find out anew that it is canonical.
    rows = checked if isinstance(checked, sparse.csr_array) else sparse.csr_array(checked)
    if not rows.has_canonical_format:
        rows = rows.copy() if checked.format == "csr" else rows  # the caller's arrays stay as they are
        rows.sum_duplicates()
    return rows


def _with_plain_values(matrix: Any, name: str) -> Any:
    """Values of a type that scipy's compiled routines know: not half, not extended precision, not foreign bytes."""
    held = getattr(matrix, "dtype", None)
    if not isinstance(held, np.dtype):
        raise _unfit(name, f"entries in {type(matrix.data).__name__}")
    if held.kind not in "biuf":
        raise InputTypeError(
            f"{name} must hold real numbers",
            f"a sparse matrix of {held}",
            "convert it to float64",
            argument=name,
        )
    if held.isnative and (held.kind != "f" or held.itemsize in (4, 8)):
        return matrix
    plain = copy(matrix)  # the arrays are shared, and those that are replaced stay the caller's
    with np.errstate(over="ignore"):
        if matrix.format in ("lil", "dok"):
            return sparse.coo_array(_from_objects(matrix, name), dtype=np.float64)
        plain.data = np.asarray(matrix.data).astype(
            np.float64 if held.kind == "f" else held.newbyteorder("=")
        )
    return plain


def _compressed(matrix: Any, name: str) -> Any:
    """Check CSR, CSC and BSR."""
    n_rows, n_columns = matrix.shape
    block = matrix.data.shape[1:] if matrix.format == "bsr" and np.ndim(matrix.data) == 3 else (1, 1)
    major, minor = (n_columns, n_rows) if matrix.format == "csc" else (n_rows, n_columns)
    if 0 in block or major % block[0] or minor % block[1]:
        raise _unfit(name, f"blocks of {block} in a matrix of shape {matrix.shape}")
    major, minor = major // block[0], minor // block[1]
    indptr, indices = _index_array(matrix.indptr, name), _index_array(matrix.indices, name)
    data = matrix.data
    if not isinstance(data, np.ndarray) or data.ndim != (3 if matrix.format == "bsr" else 1):
        raise _unfit(name, f"entries in {type(data).__name__} of {np.ndim(data)} dimensions")
    _check_values(data, name)
    if len(indptr) != major + 1:
        raise _unfit(name, f"{len(indptr):,} row starts for {major:,} rows")
    if len(indices) != len(data):
        raise _unfit(name, f"{len(indices):,} indices and {len(data):,} entries")
    if indptr.dtype != indices.dtype or indptr.dtype not in (np.int32, np.int64):
        _check_rows(indptr, indices, minor, name)  # as they are: a cast could wrap
        parts = (data, indices.astype(np.int64), indptr.astype(np.int64))
        return type(matrix)(parts, shape=matrix.shape)
    structure = _check_rows(indptr, indices, minor, name)
    if matrix.format == "csr":
        matrix.has_canonical_format = structure == _CANONICAL
    return matrix


def _check_rows(indptr: NDArray[Any], indices: NDArray[Any], n_columns: int, name: str) -> int:
    """Check row starts and column indices; whether columns ascend, each once, is the answer."""
    kernel = load_kernel()
    if kernel is not None and indptr.dtype == indices.dtype and indptr.dtype in (np.int32, np.int64):
        look = getattr(kernel, f"structure_i{8 * indptr.dtype.itemsize}")
        found = int(look(np.ascontiguousarray(indptr), np.ascontiguousarray(indices), n_columns))
    else:
        found = _structure(indptr, indices, n_columns)
    if found == _BAD_STARTS:
        raise _unfit(name, f"row starts that do not rise from 0 to the number of entries, {len(indices):,}")
    if found == _BAD_COLUMNS:
        raise _unfit(name, f"indices from {indices.min()} to {indices.max()}, not in [0, {n_columns:,})")
    return found


def _structure(indptr: NDArray[Any], indices: NDArray[Any], n_columns: int) -> int:
    """Do what the kernel does, with numpy."""
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        return _BAD_STARTS
    if len(indices) == 0:
        return _CANONICAL
    if indices.min() < 0 or indices.max() >= n_columns:
        return _BAD_COLUMNS
    falls = indices[1:] <= indices[:-1]
    starts = indptr[:-1][(indptr[:-1] < indptr[1:]) & (indptr[:-1] > 0)].astype(np.intp)
    return _CANONICAL if np.count_nonzero(falls) == np.count_nonzero(falls[starts - 1]) else _VALID


def _check_coordinates(matrix: Any, name: str) -> None:
    coords = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
    _check_values(matrix.data, name)
    if not isinstance(coords, tuple) or len(coords) != 2 or matrix.data.ndim != 1:
        raise _unfit(name, "coordinates that are not a row and a column for every entry")
    for axis, size, index in zip(("row", "column"), matrix.shape, coords, strict=True):
        index = _index_array(index, name)
        if len(index) != len(matrix.data):
            raise _unfit(name, f"{len(index):,} {axis} indices and {len(matrix.data):,} entries")
        if len(index) and (index.min() < 0 or index.max() >= size):
            raise _unfit(name, f"{axis} indices from {index.min()} to {index.max()}, not in [0, {size:,})")
    # Set by the constructor of a matrix without repeated entries; arrays that were set later may have some.
    matrix.has_canonical_format = False


def _check_diagonals(matrix: Any, name: str) -> None:
    offsets = _index_array(matrix.offsets, name)
    data = matrix.data
    if not isinstance(data, np.ndarray) or data.ndim != 2 or len(offsets) != len(data):
        raise _unfit(name, f"{len(offsets):,} offsets and diagonals of shape {np.shape(data)}")
    _check_values(data, name)
    if len(np.unique(offsets)) < len(offsets):
        raise _unfit(name, "an offset twice")
    if len(offsets) and (offsets.min() <= -matrix.shape[0] or offsets.max() >= max(matrix.shape[1], 1)):
        raise _unfit(
            name, f"offsets from {offsets.min()} to {offsets.max()} in a matrix of shape {matrix.shape}"
        )


def _from_objects(matrix: Any, name: str) -> Any:
    """COO matrix of one whose entries are Python objects."""
    try:
        if matrix.format == "lil":
            lengths = [len(columns) for columns in matrix.rows]
            if lengths != [len(values) for values in matrix.data] or len(lengths) != matrix.shape[0]:
                raise ValueError("rows of columns and rows of values of different lengths")
            row = np.repeat(np.arange(len(lengths)), lengths)
            column = np.array([column for columns in matrix.rows for column in columns], dtype=np.int64)
            data = np.array([value for values in matrix.data for value in values], dtype=matrix.dtype)
        else:
            keys, values = list(matrix.keys()), list(matrix.values())
            row, column = np.array(keys, dtype=np.int64).reshape(-1, 2).T
            data = np.array(values, dtype=matrix.dtype)
        entries = sparse.coo_array((data, (row, column)), shape=matrix.shape)
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise _unfit(name, f"entries that cannot be read ({error})") from None
    _check_coordinates(entries, name)
    return entries


def _index_array(values: Any, name: str) -> NDArray[Any]:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "iu":
        kind = (
            f"{values.dtype} of {values.ndim} dimensions"
            if isinstance(values, np.ndarray)
            else type(values).__name__
        )
        raise _unfit(name, f"indices in {kind}")
    refuse_masks(values, f"the indices of {name}")
    return values


def _check_values(data: Any, name: str) -> None:
    if not isinstance(data, np.ndarray):
        raise _unfit(name, f"entries in {type(data).__name__}")
    refuse_masks(data, f"the entries of {name}")
    if data.dtype.kind not in "biuf":
        raise InputTypeError(
            f"{name} must hold real numbers",
            f"a sparse matrix of {data.dtype}",
            "convert it to float64",
            argument=name,
        )


def _unfit(name: str, got: str) -> InputError:
    return InputError(
        f"{name} must be a sparse matrix whose parts fit together", got, f"{_REMEDY}", argument=name
    )
