"""The C++ kernel: blocks of columns packed into cache lines, K hops at a time, on several threads."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn._native import _kernel
from sgclearn.propagation.engines.contract import OnProgress, Prices, Walk
from sgclearn.propagation.engines.places import places_in
from sgclearn.propagation.engines.scipy_engine import ScipyWalk
from sgclearn.propagation.neighbourhood import HopBlock, hop_blocks, is_everyone

if TYPE_CHECKING:
    from sgclearn.operators import Operator

_LINE: int = _kernel.LINE_BYTES
# Wider blocks read the pattern less often, while the block of all nodes stays in the cache of one core.
_CORE_CACHE = 2**20
_WORTH_A_THREAD = 5_000_000  # multiply-adds: below, waking another thread costs more than it does
_WORTH_A_SPARSE_THREAD = 500_000
_WORTH_WALKING = 1000  # rows: below, waking another thread costs more than it does
_RANGE = {np.dtype(np.float32): 1e12, np.dtype(np.float64): 1e100}


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
        return _sparse_product(pieces, B.astype(dtype, copy=False), self.n_threads)

    def sparse_rows(
        self,
        operator: Operator,
        X: Any,
        scale: NDArray[Any] | None,
        rows: NDArray[np.intp],
        coefficients: NDArray[np.float64],
    ) -> Any:
        """See `Engine`; every row is walked from its own node, without the blocks of S."""
        graph = operator.graph
        index = np.result_type(graph.indices, X.indices)
        n_columns = X.shape[1]
        arrays = [graph.indptr, graph.indices, X.indptr, X.indices]
        indptr, indices, x_indptr, x_indices = (array.astype(index, copy=False) for array in arrays)
        keep = None if operator.gamma == 0 else operator.diagonal
        walk = getattr(_kernel, f"walked_rows_{_suffix(X.dtype, index)}")
        walked = walk(
            indptr, indices, graph.weights, operator.left, operator.right, keep,
            np.ascontiguousarray(coefficients, dtype=np.float64), x_indptr, x_indices, X.data, scale, n_columns,
            rows.astype(np.int64, copy=False), self.n_threads if len(rows) > _WORTH_WALKING else 1,
        )  # fmt: skip
        ends = np.zeros(len(rows) + 1, dtype=np.int64)
        walked.count(ends[1:])
        np.cumsum(ends, out=ends)
        columns, values = np.empty(int(ends[-1]), dtype=index), np.empty(int(ends[-1]), dtype=X.dtype)
        walked.write(columns, values)
        rows_of_power = _csr(ends, columns, values, n_columns)
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
        compute = getattr(_kernel, f"product_extremes_{_suffix(A.dtype, index)}")
        compute(*pieces, parts.astype(np.int64, copy=False), low, high, self.n_threads, on_progress)
        return low, high


class NativeWalk:
    """Scales, pattern and places as the kernel wants them; see `_native/hop.hpp` for the formula."""

    def __init__(
        self,
        operator: Operator,
        sets: list[NDArray[np.intp]],
        rows: NDArray[np.intp],
        dtype: DTypeLike,
        n_threads: int,
    ) -> None:
        self.blocks, self.places, self.dtype = (
            hop_blocks(operator, sets),
            places_in(sets, rows),
            np.dtype(dtype),
        )
        self.n_rows, self.n_threads = len(rows), n_threads
        self._operator, self._sets = operator, sets
        # A node without a degree is packed as zero. Its own row is then put right at the end: there it is
        # all that S has, so that g(S) is g of its diagonal.
        self.packing = _taken(operator.right, sets)
        right_of_rows = self.packing[0] if rows is sets[0] else operator.right[rows]
        self.unpacking = _inverse(right_of_rows).astype(self.dtype, copy=False)
        self.bare = np.flatnonzero(right_of_rows == 0)
        self.bare_keep = (
            operator.diagonal[rows[self.bare]] if operator.gamma != 0 else np.zeros(len(self.bare))
        )
        self._hops: dict[tuple[int, bool], tuple[Any, ...]] = {}

    @cached_property
    def packing_back(self) -> list[NDArray[np.float64]]:
        """Scales on the way back. Nobody gathers from a node without a degree then, and it is packed as it is."""
        left = self._operator.left
        return _taken(np.where(left == 0, 1.0, left), self._sets)

    def forward(
        self,
        H: Any,
        coefficients: NDArray[np.float64],
        *,
        scale: NDArray[Any] | None = None,
        nodes: NDArray[np.intp] | None = None,
        on_progress: OnProgress | None = None,
    ) -> NDArray[Any]:
        """See `Walk`."""
        hops = len(coefficients) - 1
        packing = self.packing[hops] if scale is None else self.packing[hops] * scale
        out = self._run(
            [self._hop(k) for k in reversed(range(hops))],
            [self.places[k] for k in reversed(range(hops + 1))],
            packing, self.unpacking, H, nodes, coefficients, on_progress,
        )  # fmt: skip
        if len(self.bare):
            place = self.places[hops]
            at = self.bare if place is None else place[self.bare]
            own = H[at if nodes is None else nodes[at]]
            own = own.toarray() if sparse.issparse(own) else own
            own = own if scale is None else own * scale[at][:, None]
            out[self.bare] = np.polynomial.polynomial.polyval(self.bare_keep, coefficients)[:, None] * own
        return out

    def step(self, k: int, H: Any) -> Any:
        """See `Walk`."""
        block = self.blocks[k]
        if sparse.issparse(H):
            pieces = (
                block.indptr,
                block.indices,
                block.weights,
                block.own,
                block.left,
                block.right,
                block.keep,
            )
            return _sparse_product(pieces, H, self.n_threads)
        # Both scales at once: nothing is packed by p, so nothing has to be divided by it.
        tail = (block.left, block.right, block.keep)
        return self._one_hop(block, *tail, H)

    def through(
        self, X: Any, scale: NDArray[Any] | None, V: NDArray[np.float64], coefficients: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """See `Walk`."""
        H = _thin_product(X, V, self.n_threads) if sparse.issparse(X) else np.asarray(X @ V)
        return self.forward(H, coefficients, scale=scale)

    def backward(self, G: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Walk`; a power in one go, any other polynomial by Horner's rule."""
        hops = len(coefficients) - 1
        H = G
        if self.places[0] is not None:
            H = np.zeros((len(self.packing[0]), G.shape[1]))
            H[self.places[0]] = G
        if not coefficients[:-1].any():
            unpacking = (1.0 / self.packing_back[hops]).astype(self.dtype)
            chain = [self._hop(k, back=True) for k in range(hops)]
            nowhere: list[Any] = [None] * (hops + 1)
            return self._run(chain, nowhere, self.packing_back[0], unpacking, H, None, coefficients, None)
        H = coefficients[hops] * H
        for k in range(hops):
            block = self.blocks[k].transposed
            H = self._one_hop(block, block.left, block.right, block.keep, H)
            if coefficients[hops - k - 1] != 0:
                place = self.places[k + 1]
                H[slice(None) if place is None else place] += coefficients[hops - k - 1] * G
        return H

    def _hop(self, k: int, back: bool = False) -> tuple[Any, ...]:
        """What the kernel needs for the hop from `F_{k+1}` to `F_k`, or back."""
        if (k, back) not in self._hops:
            block = self.blocks[k].transposed if back else self.blocks[k]
            p = self.packing_back[k + 1] if back else self.packing[k]
            self._hops[k, back] = self._pieces(block, block.left * p, block.keep)
        return self._hops[k, back]

    def _pieces(self, block: HopBlock, mix: NDArray[Any], keep: NDArray[Any] | None) -> tuple[Any, ...]:
        weights = None if block.weights is None else block.weights.astype(self.dtype, copy=False)
        keep = None if keep is None else keep.astype(self.dtype, copy=False)
        mix = mix.astype(self.dtype, copy=False)
        return (block.indptr, block.indices, weights, block.own, mix, keep, block.shape[1])

    def _one_hop(
        self, block: HopBlock, left: NDArray[Any], right: NDArray[Any], keep: NDArray[Any] | None, H: Any
    ) -> NDArray[Any]:
        """`(diag(left) A diag(right) + loops) H` for all rows of the block."""
        own = np.arange(block.shape[0]) if block.own is None else block.own
        packing = np.where(right == 0, 0.0, right)
        out = self._run(
            [self._pieces(block, left, None)], [None, None], packing,
            np.ones(block.shape[0], dtype=self.dtype), H, None, np.array([0.0, 1.0]), None,
        )  # fmt: skip
        if keep is not None:
            present = own >= 0
            everything = bool(present.all())
            rows = slice(None) if everything else present
            out[rows] += keep[rows, None].astype(self.dtype) * H[own[rows]]
        return out

    def _run(
        self,
        hops: list[tuple[Any, ...]],
        places: list[Any],
        packing: NDArray[Any],
        unpacking: NDArray[Any],
        H: Any,
        nodes: NDArray[np.intp] | None,
        coefficients: NDArray[np.float64],
        on_progress: OnProgress | None,
    ) -> NDArray[Any]:
        n_columns = H.shape[1]
        if not coefficients.any():
            return np.zeros((len(unpacking), n_columns), dtype=self.dtype)
        out = np.empty((len(unpacking), n_columns), dtype=self.dtype)
        index = hops[0][0].dtype if hops else np.dtype(np.int32)
        most = max([len(packing), *(len(hop[4]) for hop in hops)])
        work = n_columns * sum(len(hop[1]) for hop in hops)
        tail = (
            None if nodes is None else nodes.astype(np.int64, copy=False), out,
            np.ascontiguousarray(coefficients, dtype=np.float64), block_lines(most, n_columns, self.dtype.itemsize),
            self.n_threads if work > _WORTH_A_THREAD else 1, on_progress,
        )  # fmt: skip
        head = (hops, places, packing.astype(self.dtype, copy=False), unpacking)
        name = _suffix(self.dtype, index)
        if sparse.issparse(H):
            H = H if H.has_sorted_indices else H.sorted_indices()
            csr = (H.indptr.astype(index, copy=False), H.indices.astype(index, copy=False))
            values = H.data.astype(self.dtype, copy=False)
            getattr(_kernel, f"propagate_sparse_{name}")(*head, *csr, values, n_columns, *tail)
        else:
            getattr(_kernel, f"propagate_dense_{name}")(*head, H.astype(self.dtype, copy=False), *tail)
        return out


def block_lines(n_nodes: int, n_columns: int, itemsize: int) -> int:
    """Cache lines of every node in a packed block: 1, 2 or 4."""
    needed = -(-n_columns * itemsize // _LINE)
    for lines in (4, 2):
        if needed >= lines and n_nodes * _LINE * lines <= _CORE_CACHE:
            return lines
    return 1


def _sparse_product(pieces: tuple[Any, ...], H: Any, n_threads: int) -> Any:
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
    name = _suffix(dtype, index)
    ends = np.zeros(n_rows + 1, dtype=np.int64)
    work = len(indices) * (H.nnz / max(H.shape[0], 1))
    threads = n_threads if work > _WORTH_A_SPARSE_THREAD else 1
    getattr(_kernel, f"product_count_{name}")(*arguments, ends[1:], threads)
    np.cumsum(ends, out=ends)
    columns = np.empty(int(ends[-1]), dtype=index)
    values = np.empty(int(ends[-1]), dtype=dtype)
    getattr(_kernel, f"product_fill_{name}")(*arguments, ends, columns, values, threads)
    return _csr(ends, columns, values, n_columns)


def _csr(ends: NDArray[np.int64], columns: NDArray[Any], values: NDArray[Any], n_columns: int) -> Any:
    wide = columns.dtype == np.int64 or ends[-1] > np.iinfo(np.int32).max
    indptr = ends if wide else ends.astype(np.int32)
    return sparse.csr_array((values, columns, indptr), shape=(len(ends) - 1, n_columns))


def _thin_product(X: Any, V: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    """`X @ V` in float64 for a sparse X of either type, which is not copied."""
    product = np.empty((X.shape[0], V.shape[1]))
    threads = n_threads if X.nnz * V.shape[1] > _WORTH_A_THREAD else 1
    multiply = getattr(_kernel, f"thin_product_{_suffix(X.dtype, X.indices.dtype)}")
    multiply(X.indptr, X.indices, X.data, np.ascontiguousarray(V, dtype=np.float64), None, product, threads)
    return product


def _suffix(dtype: np.dtype[Any], index: np.dtype[Any]) -> str:
    return f"f{8 * dtype.itemsize}_i{8 * index.itemsize}"


def _taken(values: NDArray[np.float64], sets: list[NDArray[np.intp]]) -> list[NDArray[np.float64]]:
    """The values of the nodes of every set; those of everyone are not copied."""
    taken: list[NDArray[np.float64]] = []
    for k, nodes in enumerate(sets):
        if k and nodes is sets[k - 1]:
            taken.append(taken[-1])
        else:
            taken.append(values if is_everyone(nodes, len(values)) else values[nodes])
    return taken


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


def _inverse(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
