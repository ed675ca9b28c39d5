"""Only what the asked rows can see: node sets hop by hop, and the blocks of S between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn._native import load_kernel
from sgclearn.graph.build import index_dtype

if TYPE_CHECKING:
    from sgclearn.graph import Graph
    from sgclearn.operators import Operator

_MOST = 0.75


def hop_sets(graph: Graph, rows: NDArray[np.intp], n_hops: int) -> list[NDArray[np.intp]]:
    """Node sets `F_0 = rows, F_1, ..., F_K`: `F_k` holds every node within k hops of a row, rows included.

    `F_0` keeps the order of `rows`; the others ascend. Cost: O(edges touched), independent of the features.
    """
    sets = [np.asarray(rows, dtype=np.intp)]
    reached = np.zeros(graph.n_nodes, dtype=bool)
    reached[sets[0]] = True
    fresh = sets[0]
    for _ in range(n_hops):
        if len(fresh):
            before = reached.copy()
            if not reached.all():
                _mark_neighbours(graph, fresh, reached)
            fresh = np.flatnonzero(reached > before)
        # A set that nothing was added to is the same object: whoever looks for that sees it at once.
        sets.append(np.flatnonzero(reached) if len(fresh) or len(sets) == 1 else sets[-1])
    return sets


def widened(graph: Graph, sets: list[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """The hop sets, those of most nodes and edges replaced by all nodes, whose rows need not be cut out."""
    lengths = np.diff(graph.indptr)
    for k, nodes in enumerate(sets[1:], 1):
        if len(nodes) >= _MOST * graph.n_nodes and lengths[nodes].sum() >= _MOST * graph.n_stored:
            everyone = np.arange(graph.n_nodes)
            return sets[:k] + [everyone] * (len(sets) - k)
    return sets


def _mark_neighbours(graph: Graph, nodes: NDArray[np.intp], reached: NDArray[np.bool_]) -> None:
    kernel = load_kernel()
    if kernel is None:
        reached[_neighbours(graph, nodes)[1]] = True
        return
    mark = kernel.mark_neighbours_i32 if graph.indices.dtype == np.int32 else kernel.mark_neighbours_i64
    mark(graph.indptr, graph.indices, np.ascontiguousarray(nodes, dtype=np.int64), reached.view(np.uint8))


def neighbour_sums(graph: Graph, counts: NDArray[np.float64], nodes: NDArray[np.intp]) -> NDArray[np.float64]:
    """The counts added up over the neighbours of the nodes, each of weight one (n,); zero at other nodes."""
    kernel, sums = load_kernel(), np.zeros(graph.n_nodes)
    if len(counts) and counts.min() == counts.max():  # as those of dense features are: no edge has to be read
        sums[nodes] = counts[0] * np.diff(graph.indptr)[nodes]
        return sums
    if kernel is None:
        _, neighbours, indptr = _neighbours(graph, nodes)
        ones = np.ones(len(neighbours), dtype=np.float32)
        block = sparse.csr_array((ones, neighbours, indptr), shape=(len(nodes), graph.n_nodes))
        sums[nodes] = block @ counts
        return sums
    add = kernel.sum_neighbours_i32 if graph.indices.dtype == np.int32 else kernel.sum_neighbours_i64
    named = None if len(nodes) == graph.n_nodes else np.ascontiguousarray(nodes, dtype=np.int64)
    add(graph.indptr, graph.indices, counts, named, sums)
    return sums


@dataclass(frozen=True)
class HopBlock:
    """`S[nodes, columns] = diag(left) A[nodes, columns] diag(right) + loops`, in pieces.

    `own` says where the node of row i stands among the columns (-1: nowhere, None: at i), and `keep` how
    much of it stays. The values of S are put together only if someone asks for the `matrix`.
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[np.float64] | None
    own: NDArray[Any] | None
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    keep: NDArray[np.float64] | None
    is_symmetric: bool
    has_loops: bool  # whether the pattern has loops of its own

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.left), len(self.right)

    @property
    def n_stored(self) -> int:
        """Stored entries of the pattern, loops that S adds not counted."""
        return len(self.indices)

    @cached_property
    def _float64(self) -> Any:
        lengths = np.diff(self.indptr)
        values = np.repeat(self.left, lengths)
        if self.weights is not None:  # before the other scale: the two of them may underflow
            values *= self.weights
        values *= self.right[self.indices]
        if self.keep is None:
            return sparse.csr_array((values, self.indices, self.indptr), shape=self.shape)
        own = np.arange(self.shape[0], dtype=self.indices.dtype) if self.own is None else self.own
        if self.has_loops or (own < 0).any():
            present = np.flatnonzero(own >= 0)
            loops = sparse.csr_array((self.keep[present], (present, own[present])), shape=self.shape)
            return sparse.csr_array((values, self.indices, self.indptr), shape=self.shape) + loops
        # The loop of every row goes in front of it: adding two matrices would take several times as long.
        with_loops = np.empty(len(values) + len(own))
        wide_enough = index_dtype(max(self.shape), len(with_loops))  # the loops may be what no longer fits
        indptr = self.indptr + np.arange(len(self.indptr), dtype=wide_enough)
        columns = np.empty(len(with_loops), dtype=self.indices.dtype)
        at_front = np.zeros(len(with_loops), dtype=bool)
        at_front[indptr[:-1]] = True
        with_loops[at_front], columns[at_front] = self.keep, own
        with_loops[~at_front], columns[~at_front] = values, self.indices
        return sparse.csr_array((with_loops, columns, indptr), shape=self.shape)

    def matrix(self, dtype: DTypeLike = np.float64) -> Any:
        """The block as a `csr_array`, columns in any order. Cost: O(stored entries) time and memory, once."""
        return self._float64.astype(dtype, copy=False)

    @cached_property
    def transposed(self) -> HopBlock:
        """The block of `S^T`, for gradients; the same arrays where the pattern is symmetric."""
        if self.is_symmetric:
            return HopBlock(
                self.indptr, self.indices, self.weights, None, self.right, self.left, self.keep, True,
                self.has_loops,
            )  # fmt: skip
        ones = np.ones(len(self.indices), dtype=np.bool_) if self.weights is None else self.weights
        flipped = sparse.csr_array((ones, self.indices, self.indptr), shape=self.shape).T.tocsr()
        own, keep = self.own, self.keep
        if self.own is not None:
            own = np.full(self.shape[1], -1, dtype=self.indices.dtype)
            present = np.flatnonzero(self.own >= 0)
            own[self.own[present]] = present
            if self.keep is not None:
                keep = np.where(own >= 0, self.keep[own], 0.0)
        index = self.indices.dtype
        return HopBlock(
            flipped.indptr.astype(index, copy=False),
            flipped.indices.astype(index, copy=False),
            None if self.weights is None else flipped.data,
            own,
            self.right,
            self.left,
            keep,
            is_symmetric=False,
            has_loops=self.has_loops,
        )


def hop_blocks(operator: Operator, sets: list[NDArray[np.intp]]) -> list[HopBlock]:
    """Blocks `B_k = S[F_k, F_{k+1}]`, so that `(S^K X)[F_0] = B_0 B_1 ... B_{K-1} X[F_K]`."""
    blocks: list[HopBlock] = []
    for k, (nodes, columns) in enumerate(pairwise(sets)):
        # Sets are nested, so equal sizes are equal sets (the rows themselves may be in another order).
        if k and len(sets[k - 1]) == len(columns) and _ascending(sets[k - 1]):
            blocks.append(blocks[-1])  # nothing new is reached: the same block again, not a copy
        else:
            blocks.append(_block(operator, nodes, columns))
    return blocks


def _block(operator: Operator, nodes: NDArray[np.intp], columns: NDArray[np.intp]) -> HopBlock:
    graph, n = operator.graph, operator.n_nodes
    if is_everyone(nodes, n):
        keep = None if operator.gamma == 0 else operator.diagonal
        pieces = (graph.indptr, graph.indices, graph.weights, None, operator.left, operator.right, keep)
        return HopBlock(*pieces, is_symmetric=not graph.directed, has_loops=graph.n_self_loops > 0)
    entries, indices, indptr = _neighbours(graph, nodes)
    own: NDArray[Any] = nodes.astype(indices.dtype)
    if len(columns) < n:
        position = np.zeros(n, dtype=indices.dtype)
        position[columns] = np.arange(len(columns), dtype=indices.dtype)
        indices, own = position[indices], position[own]
    return HopBlock(
        indptr,
        indices,
        None if graph.weights is None else graph.weights[entries],
        own,
        operator.left[nodes],
        operator.right if len(columns) == n else operator.right[columns],
        None if operator.gamma == 0 else operator.diagonal[nodes],
        is_symmetric=False,
        has_loops=graph.n_self_loops > 0,
    )


def _neighbours(graph: Graph, nodes: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Which stored entries belong to the nodes, the neighbours they name, and where every node's begin."""
    starts = graph.indptr[nodes]
    lengths = graph.indptr[nodes + 1] - starts
    indptr = np.zeros(len(nodes) + 1, dtype=graph.indptr.dtype)
    np.cumsum(lengths, out=indptr[1:])
    entries = np.repeat(starts - indptr[:-1], lengths)
    entries += np.arange(len(entries), dtype=entries.dtype)
    return entries, graph.indices[entries], indptr


def is_everyone(nodes: NDArray[np.intp], n_nodes: int) -> bool:
    """Whether distinct nodes are all there are, in their order."""
    return len(nodes) == n_nodes and _ascending(nodes)


def _ascending(nodes: NDArray[np.intp]) -> bool:
    return bool((nodes[1:] > nodes[:-1]).all())
