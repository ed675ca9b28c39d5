"""Sparse products of the C++ kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn._native import _kernel

WORTH_A_THREAD = 1_000_000  # multiply-adds: below, waking another thread costs more than it does
_WORTH_A_SPARSE_THREAD = 500_000


def sparse_product(pieces: tuple[Any, ...], H: Any, n_threads: int) -> Any:
    """`(diag(left) A diag(right) + diag(keep)) H`: entries are counted, then written in their place."""
    indptr, indices, weights, own, left, right, keep = pieces
    dtype, index = H.dtype, indices.dtype
    if H.indices.dtype != index:
        index = np.dtype(np.int64)
        indptr, indices = indptr.astype(index), indices.astype(index)
        own = None if own is None else own.astype(index)

    def cast(values: Any) -> Any:
        return None if values is None else values.astype(dtype, copy=False)

    n_rows, n_columns = len(indptr) - 1, H.shape[1]
    h_indptr, h_indices = H.indptr.astype(index, copy=False), H.indices.astype(index, copy=False)
    arguments = (indptr, indices, cast(weights), own, cast(left), cast(right), cast(keep),
                 h_indptr, h_indices, H.data, n_columns)  # fmt: skip
    ends = np.zeros(n_rows + 1, dtype=np.int64)
    work = len(indices) * (H.nnz / max(H.shape[0], 1))
    threads = n_threads if work > _WORTH_A_SPARSE_THREAD else 1
    kernel_for("product_count", dtype, index)(*arguments, ends[1:], threads)
    np.cumsum(ends, out=ends)
    columns = np.empty(int(ends[-1]), dtype=index)
    values = np.empty(int(ends[-1]), dtype=dtype)
    kernel_for("product_fill", dtype, index)(*arguments, ends, columns, values, threads)
    return csr_of(ends, columns, values, n_columns)


def csr_of(ends: NDArray[np.int64], columns: NDArray[Any], values: NDArray[Any], n_columns: int) -> Any:
    """A `csr_array` whose rows end there, with indices as wide as they have to be."""
    wide = columns.dtype == np.int64 or ends[-1] > np.iinfo(np.int32).max
    indptr = ends if wide else ends.astype(np.int32)
    return sparse.csr_array((values, columns, indptr), shape=(len(ends) - 1, n_columns))


def thin_product(X: Any, V: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    """`X @ V` in float64 for a sparse X of either type, which is not copied."""
    product = np.empty((X.shape[0], V.shape[1]))
    threads = n_threads if X.nnz * V.shape[1] > WORTH_A_THREAD else 1
    multiply = kernel_for("thin_product", X.dtype, X.indices.dtype)
    multiply(X.indptr, X.indices, X.data, np.ascontiguousarray(V, dtype=np.float64), None, product, threads)
    return product


def kernel_for(name: str, dtype: np.dtype[Any], index: np.dtype[Any]) -> Any:
    """The function of the kernel for numbers and indices of these types."""
    return getattr(_kernel, f"{name}_f{8 * dtype.itemsize}_i{8 * index.itemsize}")
