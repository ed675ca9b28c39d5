"""What every plan would cost in work and memory, from the pattern of the graph and of X alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sgclearn.propagation.engines.contract import Prices
from sgclearn.propagation.neighbourhood import neighbour_sums, widened
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.readout import Readout
from sgclearn.propagation.sparse_or_dense import (
    DENSE_DENSE_NS,
    DENSIFY_NS,
    FACTORISE_NS,
    SPARSE_DENSE_NS,
    by_scipy,
    sparse_is_cheaper,
)

if TYPE_CHECKING:
    from sgclearn.operators import Operator

_MOST = 1e15
_ENTRY_BYTES = 16  # value and index of a stored entry, with room for 64-bit indices
_INDEX_BYTES = 8
_PACKED_BYTES = 2 * 64 + 24  # a line in two packed blocks (more on small graphs), scales, place in a sparse X
_BLOCKS_NS = 1e5  # to cut one block of S, however small
_CALL_NS, _IMPLICIT_CALL_NS = 1e4, 4e4  # of one product with the rows, however small
_PACK_NS = 0.3  # a number that is put into a packed block
_WALK_BYTES = 3 * 8 + 1  # of every node, for the row that a thread is at
_BUILD_BYTES = 32  # more for every entry of a block of S while its values are put together
LBFGS_VECTORS = 45.0  # L-BFGS keeps twenty pairs of vectors of the size of the weights
_LBFGS_NS = 100.0  # what one of its iterations costs a weight, besides the products
_NEWTON_NS = 20.0  # the same for a conjugate gradient step inside Newton's method
NodeSets = list[NDArray[np.intp]]


@dataclass(frozen=True)
class RowsSize:
    """Rows of some `S^k X`, not formed yet: how many, how many stored entries, sparse or dense."""

    count: int
    entries: float
    is_sparse: bool
    itemsize: int

    @property
    def memory(self) -> float:
        """Bytes that they take."""
        return self.entries * (_ENTRY_BYTES if self.is_sparse else self.itemsize)


@dataclass
class Estimate:
    """Work and peak memory of one plan, added up product by product."""

    madds: float = 0.0
    nanoseconds: float = 0.0
    peak: float = 0.0
    result: RowsSize = RowsSize(0, 0.0, False, 8)  # the rows that the plan forms; none if it never does

    def add(self, madds: float, price: float) -> None:
        """Count multiply-adds at a price in nanoseconds."""
        self.madds += madds
        self.nanoseconds += madds * price

    def hold(self, size: float) -> None:
        """Note that so many bytes are held at the same time."""
        self.peak = max(self.peak, size)


def row_space_pays(
    n_rows: float, n_columns: float, entries: float, is_sparse: bool, n_classes: int, evaluations: float
) -> bool:
    """Whether a solver is faster in the space that the rows span than over their columns.

    `n_columns` counts those with an entry, `entries` the stored ones, `evaluations` the expected products.
    """
    if n_rows >= n_columns or not np.isfinite(evaluations):
        return n_rows < n_columns
    price, vectors = (SPARSE_DENSE_NS, _NEWTON_NS) if is_sparse else (DENSE_DENSE_NS, _LBFGS_NS)
    over_columns = evaluations * n_classes * (2.0 * entries * price + n_columns * vectors)
    factorise = 4.0 * n_rows**2 * n_columns * FACTORISE_NS
    return factorise + 2.0 * evaluations * n_rows**2 * n_classes * DENSE_DENSE_NS < over_columns


@dataclass(frozen=True)
class _Level:
    """Totals over the nodes where some `S^k X` is formed."""

    n_nodes: int
    lengths: float  # entries of their rows of S
    madds: float  # of the last product, kept sparse
    width: float  # entries of the result, kept sparse


class CostModel:
    """Costs of the rows of `S^K X` by every plan. Cost: O(K edges), of the nodes that the rows see.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges.
    features : NodeFeatures
    sets : list of ndarray of int
        The nodes of the readout, and every node within 1, ..., K hops of them.
    readout : Readout
    prices : Prices
        What products cost with the engine at hand.
    one_filter : bool
        Whether the rows are wanted for one filter only; for several, every hop is formed.
    n_blocks : int
        How many filters stand side by side.
    """

    def __init__(
        self,
        operator: Operator | None,
        features: NodeFeatures,
        sets: NodeSets,
        readout: Readout,
        prices: Prices,
        one_filter: bool,
        n_blocks: int,
    ) -> None:
        self.features, self.sets, self.prices, self.one_filter = features, sets, prices, one_filter
        self.readout, self.n_blocks = readout, n_blocks
        self.hops = len(sets) - 1
        n, self.d = features.n_nodes, features.n_columns
        self.lengths = np.ones(n) if operator is None else operator.row_lengths().astype(np.float64)
        self.graph = None if operator is None or not self.hops else operator.graph
        self.loops = 0.0 if operator is None or operator.gamma == 0 else 1.0
        self.walks = prices.walks_rows and one_filter and features.is_sparse and not features.is_identity
        self._madds, self._widths = self._row_bounds()

    def _row_bounds(self) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """For k = 0..K and every node of `F_{K-k}`: multiply-adds that its row of `S^k X` takes as a sparse product,
        and stored entries of that row. Exact for k = 1, an upper bound after (columns that meet count once each).
        """
        widths = [np.minimum(self.features.row_lengths(), self.d).astype(np.float64)]
        madds = [np.zeros_like(widths[0])]
        if not self.features.is_sparse:  # rows are full from the start, and no product of them is sparse
            return madds * (self.hops + 1), widths * (self.hops + 1)
        for k in range(1, self.hops + 1):
            madds.append(self._spread(widths[-1], self.sets[self.hops - k]))
            widths.append(np.minimum(madds[-1], self.d))
        return madds, widths

    def _spread(self, counts: NDArray[np.float64], nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Sum of the counts over the columns of the nodes' rows of S."""
        spread = np.zeros_like(counts) if self.graph is None else neighbour_sums(self.graph, counts, nodes)
        if self.loops:
            spread += counts
        return np.minimum(
            spread, _MOST, out=spread
        )  # walks of a thousand hops are more than a float can count

    def _sum(self, values: NDArray[np.float64], nodes: NDArray[np.intp]) -> float:
        return float((values if len(nodes) == len(values) else values[nodes]).sum())

    def frontier(self) -> Estimate:
        """`B_0 (B_1 (... (B_{K-1} X)))` over the nested sets of nodes that the rows see."""
        levels = []
        for k in range(self.hops + 1):
            nodes = self.sets[self.hops - k]
            lengths, madds, width = (
                self._sum(v, nodes) for v in (self.lengths, self._madds[k], self._widths[k])
            )
            levels.append(_Level(len(nodes), lengths, madds, width))
        return self._right_first(levels, copies_rows=not self.hops)

    def full(self) -> Estimate:
        """The same over all nodes, whose rows are taken at the end."""
        n, rows = self.features.n_nodes, self.sets[0]
        if self.hops and len(rows) == n:
            return self.frontier()
        # No node is looked at: the rows are taken to be as long as they are on average.
        lengths, width = float(self.lengths.sum()), self._sum(self._widths[0], self.sets[-1])
        width *= n / max(len(self.sets[-1]), 1)
        levels = [_Level(n, lengths, 0.0, width)]
        for _ in range(self.hops):
            madds = min(levels[-1].width / max(n, 1) * lengths, _MOST * max(n, 1))
            levels.append(_Level(n, lengths, madds, min(madds, float(n) * self.d)))
        return self._right_first(levels, copies_rows=True)

    def _right_first(self, levels: list[_Level], copies_rows: bool) -> Estimate:
        """Feature columns move hop by hop: level k is where `S^k X` is formed."""
        estimate = Estimate(nanoseconds=_BLOCKS_NS * self.hops)
        n_rows, n_nodes = len(self.sets[0]), self.features.n_nodes
        entries = [level.lengths for level in reversed(levels[1:])]  # of the blocks of S, from the rows on
        sizes = [level.n_nodes for level in reversed(levels)]
        values = self.prices.builds_values or self.features.is_identity  # then S itself is the first product
        blocks = self._hold_blocks(estimate, entries, sizes, values)
        H = RowsSize(
            levels[0].n_nodes, levels[0].width, self.features.is_sparse, self.features.dtype.itemsize
        )
        copied = H.count < n_nodes  # else X itself, which is there already
        for k in range(1, self.hops + 1):
            level, stored = levels[k], levels[k].lengths
            held = blocks + (H.memory if copied or k > 1 else 0.0)
            if k == 1 and self.features.is_identity:
                H = RowsSize(level.n_nodes, stored, True, 8)
                estimate.hold(held + H.memory)
                continue
            stays_sparse = H.is_sparse and sparse_is_cheaper(
                level.madds, stored * self.d, float(level.n_nodes) * self.d, self.prices
            )
            if self.prices.packs_columns and self.one_filter and not stays_sparse:
                # The rest of the way in one go: a few columns at a time, and only the rows come out.
                estimate.add(sum(later.lengths for later in levels[k:]) * self.d, self.prices.sparse_dense)
                inputs = levels[k - 1].n_nodes
                estimate.nanoseconds += float(inputs) * self.d * _PACK_NS
                H = RowsSize(n_rows, float(n_rows) * self.d, False, H.itemsize)
                packed = inputs * _PACKED_BYTES
                estimate.hold(blocks + (held - blocks if k > 1 else 0.0) + H.memory + packed)
                estimate.result = H
                return estimate
            H = self._multiply(estimate, H, stored, level.madds, level.n_nodes, level.width, held)
        if not copies_rows:
            estimate.result = H
            return estimate
        width = H.entries * n_rows / max(H.count, 1) if H.is_sparse else float(n_rows) * self.d
        estimate.result = RowsSize(n_rows, width, H.is_sparse, H.itemsize)
        estimate.hold(blocks + (H.memory if self.hops else 0.0) + estimate.result.memory)
        return estimate

    def left_first(self) -> Estimate:
        """`((B_0 B_1) ... B_{K-1}) X`: the counts of walks from the rows bound the work of every product."""
        estimate = Estimate()
        rows, sets = self.sets[0], self.sets
        if not self.hops:
            return self.frontier()
        entries = [self._sum(self.lengths, nodes) for nodes in sets[:-1]]
        sizes = [len(nodes) for nodes in sets]
        blocks = 0.0 if self.walks else self._hold_blocks(estimate, entries, sizes, values=True)
        estimate.nanoseconds += 0.0 if self.walks else _BLOCKS_NS * self.hops
        counts, power, walked = self.lengths, entries[0], entries[0]
        for k, reached in enumerate(sets[2:], 2):
            if k == self.hops and self._has_all_rows():
                # Only the sum is wanted, and in it every node counts once for each of its neighbours.
                longer = min(float((counts * self.lengths).sum()), _MOST * len(rows))
            else:
                counts = self._spread(counts, sets[self.hops - k])
                longer = self._sum(counts, rows)
            # Walks that met in an earlier product are multiplied once.
            estimate.add(longer * min(power / max(walked, 1.0), 1.0), self.prices.sparse_sparse)
            before, walked = power, longer
            power = min(walked, float(len(rows)) * len(reached))
            if not self.walks:
                estimate.hold(blocks + (before + power) * _ENTRY_BYTES)
        held = blocks + (power * _ENTRY_BYTES if self.hops > 1 else 0.0)
        if self.features.is_identity:
            estimate.result = RowsSize(len(rows), power, True, 8)
            estimate.hold(held + estimate.result.memory)
            return estimate
        H = self._features_at(sets[-1])
        sparse_madds = power * H.entries / max(H.count, 1)
        width = min(sparse_madds, self._sum(self._widths[-1], rows))
        if self.walks:
            # One row after the other, and all of them once more when they are put together.
            estimate.add(sparse_madds, self.prices.sparse_sparse)
            estimate.result = RowsSize(len(rows), width, True, H.itemsize)
            estimate.hold(2.0 * estimate.result.memory + _WALK_BYTES * self.features.n_nodes)
            return estimate
        prices = by_scipy(self.prices)
        cells = float(H.count) * self.d
        if H.is_sparse and not sparse_is_cheaper(sparse_madds, power * self.d, cells, prices):
            held += H.memory  # the rows of X that are reached, before they become dense
        estimate.result = self._multiply(estimate, H, power, sparse_madds, len(rows), width, held, prices)
        return estimate

    def _has_all_rows(self) -> bool:
        """Whether the rows of all nodes are wanted, of a graph whose edges go both ways."""
        graph = self.graph
        return graph is not None and not graph.directed and len(self.sets[0]) == graph.n_nodes

    def explicit(self) -> dict[str, Estimate]:
        """Every plan that forms the samples."""
        estimates = {"full": self.full(), "frontier": self.frontier(), "left-first": self.left_first()}
        for estimate in estimates.values():
            self._collect(estimate)
        return estimates

    def _collect(self, estimate: Estimate) -> None:
        """From the rows of the nodes to the samples, and from those of every filter to all side by side."""
        rows, weights = estimate.result, self.readout.weights
        if weights is not None:
            entries = float(weights.nnz) * (rows.entries / max(rows.count, 1))
            estimate.add(entries, self.prices.sparse_sparse if rows.is_sparse else SPARSE_DENSE_NS)
            cells = float(weights.shape[0]) * self.d
            entries = min(entries, cells) if rows.is_sparse else cells
            estimate.result = RowsSize(weights.shape[0], entries, rows.is_sparse, rows.itemsize)
            estimate.hold(rows.memory + estimate.result.memory)
        if self.n_blocks > 1:
            rows = estimate.result
            estimate.result = replace(rows, entries=rows.entries * self.n_blocks)
            estimate.hold(2.0 * estimate.result.memory)

    def implicit(
        self,
        n_classes: int,
        evaluations: int,
        vectors: float = LBFGS_VECTORS,
        is_scaled: bool = False,
        itemsize: int = 8,
    ) -> Estimate:
        """`B_0 (... (B_{K-1} (X V)))` and its transpose at every evaluation: C columns move, not d.

        Products have numbers of `itemsize` bytes; see `make_plan` for `vectors` and `is_scaled`.
        """
        estimate = Estimate(nanoseconds=_BLOCKS_NS * self.hops + 2.0 * evaluations * _IMPLICIT_CALL_NS)
        sets = self.sets if self.graph is None else widened(self.graph, self.sets)
        entries = [self._sum(self.lengths, nodes) for nodes in sets[:-1]]
        blocks = self._hold_blocks(estimate, entries, list(map(len, sets)), self.prices.builds_values)
        reached = self._features_at(sets[-1])
        times, n_columns = 2.0 * evaluations * n_classes, self.d * self.n_blocks
        estimate.nanoseconds += evaluations * n_columns * n_classes * _NEWTON_NS
        estimate.add(times * sum(entries), self.prices.sparse_dense)
        if self.readout.weights is not None:
            estimate.add(times * self.readout.weights.nnz, SPARSE_DENSE_NS)
        # Dense rows that are formed are read once for both products, and float32 ones in float32.
        price = self.prices.sparse_dense if reached.is_sparse else 2.0 * DENSE_DENSE_NS
        estimate.add(times * reached.entries * self.n_blocks, price)
        in_place = reached.count == self.features.n_nodes and self.features.dtype == np.float64
        copied = 0.0 if in_place or self.features.is_identity else reached.entries
        if copied and self.features.dtype != np.float64:
            copied *= 1.5  # narrow and wide at the same time
        held = (3.0 * reached.count * self.n_blocks + vectors * n_columns) * n_classes * 8
        if self.graph is not None and self.graph.weights is not None and itemsize < 8:
            held += 2.0 * self.graph.n_stored * itemsize  # narrow weights, for both directions
        estimate.hold(blocks + copied * (_ENTRY_BYTES if reached.is_sparse else 8) + held)
        if is_scaled and self.features.is_identity:
            estimate.hold(float(self.lengths.sum()) * _BUILD_BYTES)  # S, whose rows give the extremes
        return estimate

    def predict_memory(self, n_classes: int) -> float:
        """Bytes that predicting every node takes: all of S while it is built, and C columns of nodes."""
        stored = float(self.lengths.sum()) if self.hops and self.prices.builds_values else 0.0
        return stored * (_ENTRY_BYTES + _BUILD_BYTES) + 3.0 * self.features.n_nodes * (n_classes + 8) * 8

    def solve(
        self,
        estimate: Estimate,
        n_classes: int,
        evaluations: int,
        copies: int = 1,
        share: float = 1.0,
        vectors: float = LBFGS_VECTORS,
        quadratic: bool = False,
    ) -> None:
        """Add the solver's products with the rows, in the row space where they are fewer than columns.

        `copies` is how many problems over a share of the samples are held at the same time, as folds are.
        """
        formed = estimate.result
        Z = (
            formed
            if share == 1
            else replace(formed, count=int(formed.count * share), entries=formed.entries * share)
        )
        estimate.nanoseconds += 2.0 * evaluations * _CALL_NS
        n_columns = self.d * self.n_blocks
        used_columns = min(n_columns, Z.entries)
        if quadratic:
            r, vectors = min(Z.count, used_columns), 4.0
            estimate.add(4.0 * r * Z.count * used_columns, FACTORISE_NS)
            estimate.add(0.04 * evaluations * Z.count * r * n_classes, DENSE_DENSE_NS)  # two of fifty a solve
            workspace = (3.0 * Z.count * used_columns + 2.0 * Z.count * n_classes) * 8
        elif row_space_pays(Z.count, used_columns, Z.entries, Z.is_sparse, n_classes, evaluations):
            estimate.add(4.0 * Z.count**2 * used_columns, FACTORISE_NS)
            estimate.add(2.0 * evaluations * Z.count**2 * n_classes, DENSE_DENSE_NS)
            workspace = 3 * Z.count * used_columns * 8
        else:
            price = SPARSE_DENSE_NS if Z.is_sparse else DENSE_DENSE_NS
            estimate.add(2.0 * evaluations * Z.entries * n_classes, price)
            estimate.nanoseconds += (
                evaluations * n_columns * n_classes * (_NEWTON_NS if Z.is_sparse else _LBFGS_NS)
            )
            workspace = Z.entries * (_ENTRY_BYTES if Z.is_sparse else 8)
        weights = vectors * n_columns * n_classes * 8
        estimate.hold(formed.memory + copies * workspace + weights)

    def _features_at(self, nodes: NDArray[np.intp]) -> RowsSize:
        entries = self._sum(self._widths[0], nodes)
        return RowsSize(len(nodes), entries, self.features.is_sparse, self.features.dtype.itemsize)

    def _hold_blocks(self, estimate: Estimate, entries: list[float], sizes: list[int], values: bool) -> float:
        """Bytes of the blocks of S; a block between the same nodes as the one before is not built again."""
        built = [e for k, e in enumerate(entries) if not k or sizes[k - 1] < sizes[k + 1]]
        if not values:
            # Their pattern, and that of all nodes is the graph's own.
            cut = [e for e, size in zip(entries, sizes, strict=False) if size < self.features.n_nodes]
            estimate.hold((sum(cut) + 2.0 * max(cut, default=0.0)) * _INDEX_BYTES)
            return sum(cut) * _INDEX_BYTES
        memory = sum(built) * _ENTRY_BYTES
        estimate.hold(memory + max(built, default=0.0) * _BUILD_BYTES)
        return memory

    def _multiply(
        self,
        estimate: Estimate,
        H: RowsSize,
        stored: float,
        sparse_madds: float,
        n_rows: int,
        width: float,
        held: float,
        prices: Prices | None = None,
    ) -> RowsSize:
        """One product of a sparse block with H, sparse or dense, whichever is cheaper."""
        prices = prices or self.prices
        dense_madds, cells = stored * self.d, float(H.count) * self.d
        if H.is_sparse and sparse_is_cheaper(sparse_madds, dense_madds, cells, prices):
            estimate.add(sparse_madds, prices.sparse_sparse)
            product = RowsSize(n_rows, width, True, H.itemsize)
            estimate.hold(held + product.memory)
            return product
        product = RowsSize(n_rows, float(n_rows) * self.d, False, H.itemsize)
        densified = 0.0
        if H.is_sparse:
            estimate.nanoseconds += cells * DENSIFY_NS
            densified = cells * H.itemsize
        estimate.add(dense_madds, prices.sparse_dense)
        estimate.hold(held + densified + product.memory)
        return product
