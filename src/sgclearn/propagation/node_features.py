"""The features of all nodes as propagation sees them: dense, sparse, or the identity that is never built."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn._native import load_kernel
from sgclearn.errors import InputError, Setting
from sgclearn.propagation.engines import Engine, get_engine
from sgclearn.propagation.sparse_or_dense import by_scipy, sparse_is_cheaper
from sgclearn.validation.matrices import LARGEST, as_matrix, check_values
from sgclearn.validation.parameters import check_parameter

_PART_ROWS = 4096
_TINY_NORM = 1e-140  # below, squares lose digits


class NodeFeatures:
    """`diag(r) X`: features of all nodes; the row norms are kept apart so that X is not copied.

    Parameters
    ----------
    X : ndarray or sparse array (n, d), or None
        None is the identity matrix, the features of a graph that has none.
    n_nodes : int, optional
        Needed when X is None.
    row_norm : {None, "l1", "l2"}
        Divides every row by its norm before propagation; a zero row stays zero.

    Attributes
    ----------
    largest : float
        Largest absolute value of X.
    """

    def __init__(self, X: Any, n_nodes: int | None = None, row_norm: str | None = None) -> None:
        check_row_norm(row_norm)
        self.X = None if X is None else as_matrix(X)
        self.largest, self.row_scale = (1.0, None) if self.X is None else _look_over(self.X, row_norm)
        if self.X is None and n_nodes is None:
            raise InputError(
                "X may be left out only where there is a graph", "neither X nor a graph", argument="X"
            )
        self.n_nodes: int = self.X.shape[0] if self.X is not None else int(n_nodes or 0)
        self.n_columns: int = self.n_nodes if self.X is None else self.X.shape[1]
        self.dtype: np.dtype[Any] = np.dtype(np.float64 if self.X is None else self.X.dtype)
        self.is_identity = self.X is None
        self.is_sparse = self.X is None or sparse.issparse(self.X)

    def row_lengths(self) -> NDArray[np.int64]:
        """Stored entries in every row of X (n,); d for a dense one."""
        if self.X is None or not self.is_sparse:
            return np.full(self.n_nodes, 1 if self.X is None else self.n_columns, dtype=np.int64)
        return np.asarray(np.diff(self.X.indptr), dtype=np.int64)

    def take(self, nodes: NDArray[np.intp] | None = None) -> Any:
        """Rows of `diag(r) X` for the nodes, in their order; every row if none are named."""
        if self.X is None:
            eye = sparse.eye_array(self.n_nodes, format="csr")
            return eye if nodes is None else eye[nodes]
        block, scale = self.part(nodes)
        return block if scale is None else scale_rows(block, scale)

    def part(self, nodes: NDArray[np.intp] | None) -> tuple[Any, NDArray[Any] | None]:
        """Rows of X for the nodes and, apart, what each is multiplied by; every row if none are named."""
        if nodes is None or self.X is None:
            return self.X, self.row_scale
        return self.X[nodes], None if self.row_scale is None else self.row_scale[nodes]

    def left_multiply(self, block: Any, nodes: NDArray[np.intp], engine: Engine | None = None) -> Any:
        """`block @ (diag(r) X)[nodes]` for a sparse block (m, len(nodes)); sparse while that is cheaper."""
        if self.X is None:
            ordered = block.sorted_indices()  # a copy: the block is needed again for the next hop
            shape = (block.shape[0], self.n_nodes)
            return sparse.csr_array((ordered.data, nodes[ordered.indices], ordered.indptr), shape=shape)
        # In the numbering of all nodes, so that X need not be cut.
        columns = (
            block.indices if len(nodes) == self.n_nodes else nodes.astype(block.indices.dtype)[block.indices]
        )
        values = block.data if self.row_scale is None else block.data * self.row_scale[columns]
        shape = (block.shape[0], self.n_nodes)
        spread = sparse.csr_array((values, columns, block.indptr), shape=shape)
        if not self.is_sparse:
            return np.asarray(spread @ self.X)
        engine = engine or get_engine()
        madds = float(self.row_lengths()[columns].sum(dtype=np.float64))
        cells = float(len(nodes)) * self.n_columns
        if sparse_is_cheaper(madds, float(block.nnz) * self.n_columns, cells, by_scipy(engine.prices)):
            return engine.sparse_product(spread, self.X)
        cut = sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)
        return np.asarray(cut @ self.X[nodes].toarray())

    def matmul(self, V: NDArray[Any], nodes: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """`(diag(r) X)[nodes] @ V` (len(nodes), C). Cost: O(nnz(X) C)."""
        if self.X is None:
            return V if nodes is None else V[nodes]
        part = self.X if nodes is None else self.X[nodes]
        product = np.asarray(part @ V) if self.is_sparse else _product_in_parts(part, V)
        if self.row_scale is not None:
            product = product * (self.row_scale if nodes is None else self.row_scale[nodes])[:, None]
        return product

    def rmatmul(self, G: NDArray[Any]) -> NDArray[Any]:
        """`(diag(r) X)^T @ G` (d, C). Cost: O(nnz(X) C)."""
        if self.X is None:
            return G
        if self.row_scale is not None:
            G = G * self.row_scale[:, None]
        return np.asarray(self.X.T @ G)

    def columns(self, start: int, stop: int) -> NDArray[Any]:
        """Columns `start:stop` of `diag(r) X`, dense (n, stop - start)."""
        if self.X is None:
            block = np.zeros((self.n_nodes, stop - start))
            block[np.arange(start, stop), np.arange(stop - start)] = 1.0
            return block
        part = self.X[:, start:stop]
        dense = part.toarray() if self.is_sparse else np.asarray(part)
        return dense if self.row_scale is None else dense * self.row_scale[:, None]


def _product_in_parts(X: NDArray[Any], V: NDArray[Any]) -> NDArray[Any]:
    """`X @ V` in the wider of both types, without a copy of the whole of a narrow X."""
    if X.dtype == V.dtype:
        return np.asarray(X @ V)
    product = np.empty((X.shape[0], V.shape[1]), dtype=np.result_type(X, V))
    for start in range(0, X.shape[0], _PART_ROWS):
        part = slice(start, start + _PART_ROWS)
        np.matmul(X[part].astype(product.dtype), V, out=product[part])
    return product


def scale_rows(matrix: Any, factors: NDArray[Any]) -> Any:
    """`diag(factors) @ matrix`, dense or csr, in a new array."""
    if not sparse.issparse(matrix):
        return matrix * factors[:, None]
    per_entry = np.repeat(factors, np.diff(matrix.indptr))
    return sparse.csr_array((matrix.data * per_entry, matrix.indices, matrix.indptr), shape=matrix.shape)


def check_row_norm(row_norm: Any) -> None:
    """One of the known norms, or None."""
    check_parameter("row_norm", row_norm)


def _look_over(X: Any, row_norm: str | None) -> tuple[float, NDArray[Any] | None]:
    """Largest absolute value of a finite X, and 1 / norm of every row if one is asked for.

    In one pass where X is sparse.
    """
    kernel = load_kernel()
    if kernel is None or not sparse.issparse(X):
        largest = check_values(X)
        return largest, None if row_norm is None else _inverted(X, _norms(X, row_norm), row_norm)
    scan = getattr(kernel, f"scan_rows_f{8 * X.dtype.itemsize}_i{8 * X.indptr.dtype.itemsize}")
    norms = None if row_norm is None else np.empty(X.shape[0])
    largest = scan(X.indptr, X.data, row_norm == "l2", norms)
    if not largest <= LARGEST:  # NaN too: what it is, is looked at more closely
        largest = check_values(X)
    if norms is None or row_norm is None:
        return largest, None
    return largest, _inverted(X, np.sqrt(norms, out=norms) if row_norm == "l2" else norms, row_norm)


def _norms(X: Any, row_norm: str) -> NDArray[np.float64]:
    """Norm of every row, added up in float64."""
    if sparse.issparse(X):
        values = np.abs(X.data, dtype=np.float64) if row_norm == "l1" else np.square(X.data, dtype=np.float64)
        filled = np.flatnonzero(X.indptr[1:] > X.indptr[:-1])  # an empty row would take the next one's entry
        norms = np.zeros(X.shape[0])
        if len(filled):
            norms[filled] = np.add.reduceat(values, X.indptr[filled])
    elif row_norm == "l1":
        norms = np.abs(X).sum(axis=1, dtype=np.float64)
    else:
        norms = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return np.sqrt(norms) if row_norm == "l2" else np.asarray(norms)


def _inverted(X: Any, norms: NDArray[np.float64], row_norm: str) -> NDArray[Any]:
    """1 / norm, 1 for a zero row."""
    with np.errstate(over="ignore", invalid="ignore"):  # what leaves the range is refused below
        if row_norm == "l2" and (tiny := np.flatnonzero(norms < _TINY_NORM)).size:
            norms[tiny] = _tiny_norms(X[tiny].astype(np.float64))
        norms[norms == 0] = 1.0
        inverse = np.divide(1.0, norms, out=norms).astype(X.dtype, copy=False)
    limits = np.finfo(X.dtype)
    if not limits.tiny <= inverse.min(initial=1.0) <= inverse.max(initial=1.0) < np.inf:
        raise InputError(
            f"X must have rows whose norms can be inverted as {X.dtype}",
            f"one outside of {1 / limits.max:.1g} to {1 / limits.tiny:.1g}",
            ("scale the features, or leave out ", Setting("row_norm")),
            argument="X",
        )
    return inverse


def _tiny_norms(rows: Any) -> NDArray[np.float64]:
    """Euclidean norms of rows whose squares vanish, added up relative to the largest entry of each."""
    if rows.shape[1] == 0:
        return np.zeros(rows.shape[0])
    largest = abs(rows).max(axis=1)
    largest = np.asarray(largest.toarray() if sparse.issparse(largest) else largest).ravel()
    relative = scale_rows(rows, np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0))
    return largest * _norms(relative, "l2")
