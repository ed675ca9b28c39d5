"""Walks of the C++ kernel: all hops of a few columns at a time, packed into cache lines."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn._native import _kernel
from sgclearn.graph.build import index_dtype
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.engines.native_products import (
    WORTH_A_THREAD,
    kernel_for,
    sparse_product,
    thin_product,
)
from sgclearn.propagation.engines.row_positions import places_in
from sgclearn.propagation.neighbourhood import HopBlock, hop_blocks, is_everyone

if TYPE_CHECKING:
    from sgclearn.operators import Operator

_LINE: int = _kernel.LINE_BYTES
# Wider blocks read the pattern less often, while the block of all nodes stays in a near cache: that of one core for 4
# lines a node, a small part of the one that cores share for 2, which processors often fetch in pairs. Constants,
# not what the machine says its caches are: the width decides in how many partial sums a row is added up, and the
# result would have other bits on a machine with other caches.
_LARGEST_BLOCK = {4: 2**20, 2: 2**22}


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
        self._hops: dict[tuple[int, int], tuple[Any, ...]] = {}

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
            return sparse_product(pieces, H, self.n_threads)
        # Both scales at once: nothing is packed by p, so nothing has to be divided by it.
        tail = (block.left, block.right, block.keep)
        return self._one_hop(block, *tail, H)

    def through(
        self, X: Any, scale: NDArray[Any] | None, V: NDArray[np.float64], coefficients: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """See `Walk`."""
        H = thin_product(X, V, self.n_threads) if sparse.issparse(X) else np.asarray(X @ V)
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
        block = self.blocks[k].transposed if back else self.blocks[k]
        p = self.packing_back[k + 1] if back else self.packing[k]
        # Hops between the same nodes are the same hop: their scales are held once, however many there are.
        key = (id(block), id(p))
        if key not in self._hops:
            self._hops[key] = self._pieces(block, block.left * p, block.keep)
        return self._hops[key]

    def _pieces(self, block: HopBlock, mix: NDArray[Any], keep: NDArray[Any] | None) -> tuple[Any, ...]:
        weights = None if block.weights is None else block.weights.astype(self.dtype, copy=False)
        keep = None if keep is None else keep.astype(self.dtype, copy=False)
        mix = mix.astype(self.dtype, copy=False)
        return (block.indptr, block.indices, weights, block.own, mix, keep)

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
        if sparse.issparse(H):
            index = common_index(index, n_columns, H.nnz)
            hops = _with_indices(hops, index)
        most = max([len(packing), *(len(hop[4]) for hop in hops)])
        padded = -(-n_columns * self.dtype.itemsize // _LINE) * _LINE // self.dtype.itemsize
        work = padded * sum(len(hop[1]) for hop in hops)
        n_threads = self.n_threads if work > WORTH_A_THREAD else 1
        lines = block_lines(most, n_columns, self.dtype.itemsize)
        tail = (
            None if nodes is None else nodes.astype(np.int64, copy=False), out,
            np.ascontiguousarray(coefficients, dtype=np.float64), lines, n_threads, on_progress,
        )  # fmt: skip
        head = (hops, places, packing.astype(self.dtype, copy=False), unpacking)
        if sparse.issparse(H):
            H = H if H.has_sorted_indices else H.sorted_indices()
            csr = (H.indptr.astype(index, copy=False), H.indices.astype(index, copy=False))
            values = H.data.astype(self.dtype, copy=False)
            kernel_for("propagate_sparse", self.dtype, index)(*head, *csr, values, n_columns, *tail)
        else:
            propagate = kernel_for("propagate_dense", self.dtype, index)
            propagate(*head, H.astype(self.dtype, copy=False), *tail)
        return out


def common_index(index: np.dtype[Any], n_columns: int, n_entries: int) -> np.dtype[Any]:
    """Width of the indices of graph and features in one call, from that of the graph's and the size of sparse features.

    The features take the graph's, wide or narrow, unless theirs do not fit: then the graph takes wide ones.
    """
    return np.result_type(index, index_dtype(n_columns, n_entries))


def _with_indices(hops: list[tuple[Any, ...]], index: np.dtype[Any]) -> list[tuple[Any, ...]]:
    """The hops with indices of that width; arrays that several hops share are copied once, if at all."""
    if all(hop[0].dtype == index for hop in hops):
        return hops
    wide: dict[int, Any] = {}

    def cast(array: Any) -> Any:
        return None if array is None else wide.setdefault(id(array), array.astype(index))

    return [(cast(hop[0]), cast(hop[1]), hop[2], cast(hop[3]), *hop[4:]) for hop in hops]


def block_lines(n_nodes: int, n_columns: int, itemsize: int) -> int:
    """Cache lines of every node in a packed block: 1, 2 or 4."""
    needed = -(-n_columns * itemsize // _LINE)
    for lines, largest in _LARGEST_BLOCK.items():
        if needed >= lines and n_nodes * _LINE * lines <= largest:
            return lines
    return 1


def _taken(values: NDArray[np.float64], sets: list[NDArray[np.intp]]) -> list[NDArray[np.float64]]:
    """The values of the nodes of every set; those of everyone are not copied."""
    taken: list[NDArray[np.float64]] = []
    for k, nodes in enumerate(sets):
        if k and nodes is sets[k - 1]:
            taken.append(taken[-1])
        else:
            taken.append(values if is_everyone(nodes, len(values)) else values[nodes])
    return taken


def _inverse(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
