"""The C++ kernel: blocks of columns packed into cache lines, K hops at a time, on several threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sgclearn.propagation.engines.contract import OnProgress, Prices, Walk
from sgclearn.propagation.engines.native_products import csr_of, kernel_for, sparse_product
from sgclearn.propagation.engines.native_walk import NativeWalk
from sgclearn.propagation.engines.scipy_engine import ScipyWalk

if TYPE_CHECKING:
    from sgclearn.operators import Operator

_WORTH_WALKING = 1000  # rows: below, waking another thread costs more than it does
# Features are multiplied by one scale and divided by another: those of ordinary size must not leave the range of the
# numbers on the way, nor lose digits near its lower end.
_RANGE = {np.dtype(np.float32): 1e4, np.dtype(np.float64): 1e50}


class NativeEngine:
    """Columns are independent, so a few at a time make all their hops in the cache."""

    name = "native"
    prices = Prices(1.6, 0.12, builds_values=False, packs_columns=True, walks_rows=True)

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def walk(
        self, operator: Operator, sets: list[NDArray[np.intp]], rows: NDArray[np.intp], dtype: DTypeLike
    ) -> Walk:
        """Ready to walk between the sets; scipy's walk for degrees that would leave the range of the numbers."""
        if not _in_range(operator, _RANGE[np.dtype(dtype)]):
            return ScipyWalk(operator, sets, rows, dtype)
        return NativeWalk(operator, sets, rows, dtype, self.n_threads)

    def sparse_product(self, A: Any, B: Any) -> Any:
        """`A @ B`, columns in any order."""
        dtype = np.result_type(A, B)
        pieces = (A.indptr, A.indices, A.data.astype(dtype, copy=False), None, None, None, None)
        return sparse_product(pieces, B.astype(dtype, copy=False), self.n_threads)

    def sparse_rows(
        self,
        operator: Operator,
        X: Any,
        scale: NDArray[Any] | None,
        rows: NDArray[np.intp],
        coefficients: NDArray[np.float64],
        on_progress: OnProgress | None = None,
    ) -> Any:
        """See `Engine`; every row is walked from its own node, without the blocks of S."""
        graph = operator.graph
        index = np.result_type(graph.indices, X.indices)
        n_columns = X.shape[1]
        arrays = [graph.indptr, graph.indices, X.indptr, X.indices]
        indptr, indices, x_indptr, x_indices = (array.astype(index, copy=False) for array in arrays)
        keep = None if operator.gamma == 0 else operator.diagonal
        walked = kernel_for("walked_rows", X.dtype, index)(
            indptr, indices, graph.weights, operator.left, operator.right, keep,
            np.ascontiguousarray(coefficients, dtype=np.float64), x_indptr, x_indices, X.data, scale, n_columns,
            rows.astype(np.int64, copy=False), self.n_threads if len(rows) > _WORTH_WALKING else 1, on_progress,
        )  # fmt: skip
        ends = np.zeros(len(rows) + 1, dtype=np.int64)
        walked.count(ends[1:])
        np.cumsum(ends, out=ends)
        columns, values = np.empty(int(ends[-1]), dtype=index), np.empty(int(ends[-1]), dtype=X.dtype)
        walked.write(columns, values)
        rows_of_power = csr_of(ends, columns, values, n_columns)
        rows_of_power.has_canonical_format = True  # columns ascend, and scipy need not look at them again
        return rows_of_power

    def product_extremes(
        self, A: Any, B: Any, parts: NDArray[np.int64], n_parts: int, on_progress: OnProgress | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """See `Engine`; every thread holds one row."""
        low = np.full((n_parts, B.shape[1]), np.inf, dtype=A.dtype)
        high = -low
        index = np.result_type(A.indices, B.indices)
        pieces: list[Any] = []
        for matrix in (A, B):
            pieces += [
                matrix.indptr.astype(index, copy=False),
                matrix.indices.astype(index, copy=False),
                matrix.data,
            ]
        compute = kernel_for("product_extremes", A.dtype, index)
        compute(*pieces, parts.astype(np.int64, copy=False), low, high, self.n_threads, on_progress)
        return low, high


def _in_range(operator: Operator, most: float) -> bool:
    """Whether all scales, and what they multiply, stay within the range of the numbers."""
    gamma = operator.gamma
    if operator.graph.weights is None and (not gamma or 1e-6 < gamma < 1e6):
        return True  # degrees are counts
    for scale in (operator.left, operator.right):
        positive = scale[scale > 0]
        if len(positive) and not 1 / most < positive.min() <= positive.max() < most:
            return False
    return True
