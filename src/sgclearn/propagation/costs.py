"""What every plan would cost in work and memory, from the pattern of the graph and of X alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.propagation.engines.contract import Prices
from sgclearn.propagation.products import (
    DENSE_DENSE_NS,
    DENSIFY_NS,
    FACTORISE_NS,
    SPARSE_DENSE_NS,
    by_scipy,
    sparse_is_cheaper,
)
from sgclearn.propagation.source import NodeFeatures

if TYPE_CHECKING:
    from sgclearn.operators import Operator

_MOST = 1e15
_ENTRY_BYTES = 16  # value and index of a stored entry, with room for 64-bit indices
_INDEX_BYTES = 8
_PACKED_BYTES = 2 * 64 + 8  # two packed blocks, a cache line a node, and the scale
_BUILD_BYTES = 32  # more for every entry of a block of S while its values are put together
_LBFGS_VECTORS = 45  # L-BFGS keeps twenty pairs of vectors of the size of the weights
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


class CostModel:
    """Costs of the rows of `S^K X` by every plan. Cost: O(K nnz), like propagating two columns.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges.
    features : NodeFeatures
    sets : list of ndarray of int
        The rows, and every node within 1, ..., K hops of them.
    prices : Prices
        What products cost with the engine at hand.
    one_filter : bool
        Whether the rows are wanted for one filter only; for several, every hop is formed.
    """

    def __init__(
        self,
        operator: Operator | None,
        features: NodeFeatures,
        sets: NodeSets,
        prices: Prices,
        one_filter: bool,
    ) -> None:
        self.features, self.sets, self.prices, self.one_filter = features, sets, prices, one_filter
        self.hops = len(sets) - 1
        n, self.d = features.n_nodes, features.n_columns
        self.lengths = np.ones(n) if operator is None else operator.row_lengths().astype(np.float64)
        self.pattern: Any = None
        if operator is not None and self.hops:
            graph = operator.graph
            ones = np.ones(graph.n_stored, dtype=np.float32)
            self.pattern = sparse.csr_array((ones, graph.indices, graph.indptr), shape=(n, n))
        self.loops = 0.0 if operator is None or operator.gamma == 0 else 1.0
        self._madds, self._widths = self._row_bounds()

    def _row_bounds(self) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """For k = 0..K and every node: multiply-adds that its row of `S^k X` takes as a sparse product, and
        stored entries of that row. Exact for k = 1, an upper bound after (columns that meet count once each).
        """
        widths = [np.minimum(self.features.row_lengths(), self.d).astype(np.float64)]
        madds = [np.zeros_like(widths[0])]
        for _ in range(self.hops):
            madds.append(self._spread(widths[-1]))
            widths.append(np.minimum(madds[-1], self.d))
        return madds, widths

    def _spread(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of the counts over the columns of every row of S."""
        spread = np.asarray(self.pattern @ counts + self.loops * counts, dtype=np.float64)
        return np.minimum(spread, _MOST)  # walks of a thousand hops are more than a float can count

    def right_first(self, sets: NodeSets) -> Estimate:
        """`B_0 (B_1 (... (B_{K-1} X)))`: feature columns move, hop by hop, over nested sets of nodes."""
        estimate = Estimate()
        rows = self.sets[0]
        entries = [float(self.lengths[nodes].sum()) for nodes in sets[:-1]]
        values = self.prices.builds_values or self.features.is_identity  # then S itself is the first product
        blocks = self._hold_blocks(estimate, entries, [len(nodes) for nodes in sets], values)
        H = self._features_at(sets[-1])
        copied = len(sets[-1]) < self.features.n_nodes  # else X itself, which is there already
        for k in range(1, self.hops + 1):
            nodes, stored = sets[-1 - k], entries[-k]
            sparse_madds = float(self._madds[k][nodes].sum())
            held = blocks + (H.memory if copied or k > 1 else 0.0)
            if k == 1 and self.features.is_identity:
                H = RowsSize(len(nodes), stored, True, 8)
                estimate.hold(held + H.memory)
                continue
            stays_sparse = H.is_sparse and sparse_is_cheaper(
                sparse_madds, stored * self.d, float(len(nodes)) * self.d, self.prices
            )
            if self.prices.packs_columns and self.one_filter and not stays_sparse:
                # The rest of the way in one go: a few columns at a time, and only the rows come out.
                estimate.add(sum(entries[: self.hops - k + 1]) * self.d, self.prices.sparse_dense)
                H = RowsSize(len(rows), float(len(rows)) * self.d, False, H.itemsize)
                packed = len(sets[self.hops - k + 1]) * _PACKED_BYTES
                estimate.hold(blocks + (held - blocks if k > 1 else 0.0) + H.memory + packed)
                estimate.result = H
                return estimate
            width = float(self._widths[k][nodes].sum())
            H = self._multiply(estimate, H, stored, sparse_madds, len(nodes), width, held)
        last = H.memory if self.hops else 0.0
        if self.hops and np.array_equal(sets[0], rows):
            estimate.result = H
        else:  # a part of the rows is copied
            width = float(self._widths[-1][rows].sum()) if H.is_sparse else float(len(rows)) * self.d
            estimate.result = RowsSize(len(rows), width, H.is_sparse, H.itemsize)
            estimate.hold(blocks + last + estimate.result.memory)
        return estimate

    def left_first(self) -> Estimate:
        """`((B_0 B_1) ... B_{K-1}) X`: the counts of walks from the rows bound the work of every product."""
        estimate = Estimate()
        rows, sets = self.sets[0], self.sets
        if not self.hops:
            return self.right_first(sets)
        entries = [float(self.lengths[nodes].sum()) for nodes in sets[:-1]]
        blocks = self._hold_blocks(estimate, entries, [len(nodes) for nodes in sets], values=True)
        counts, power, walked = self.lengths, entries[0], entries[0]
        for reached in sets[2:]:
            counts = self._spread(counts)
            longer = float(counts[rows].sum())
            # Walks that met in an earlier product are multiplied once.
            estimate.add(longer * min(power / max(walked, 1.0), 1.0), self.prices.sparse_sparse)
            before, walked = power, longer
            power = min(walked, float(len(rows)) * len(reached))
            estimate.hold(blocks + (before + power) * _ENTRY_BYTES)
        held = blocks + (power * _ENTRY_BYTES if self.hops > 1 else 0.0)
        if self.features.is_identity:
            estimate.result = RowsSize(len(rows), power, True, 8)
            estimate.hold(held + estimate.result.memory)
            return estimate
        H = self._features_at(sets[-1])
        sparse_madds = power * H.entries / max(H.count, 1)
        width = min(sparse_madds, float(self._widths[-1][rows].sum()))
        prices = by_scipy(self.prices)
        cells = float(H.count) * self.d
        if H.is_sparse and not sparse_is_cheaper(sparse_madds, power * self.d, cells, prices):
            held += H.memory  # the rows of X that are reached, before they become dense
        estimate.result = self._multiply(estimate, H, power, sparse_madds, len(rows), width, held, prices)
        return estimate

    def implicit(self, n_classes: int, evaluations: int) -> Estimate:
        """`B_0 (... (B_{K-1} (X V)))` and its transpose at every evaluation: C columns move, not d."""
        estimate = Estimate()
        entries = [float(self.lengths[nodes].sum()) for nodes in self.sets[:-1]]
        sizes = [len(nodes) for nodes in self.sets]
        blocks = self._hold_blocks(estimate, entries, sizes, self.prices.builds_values)
        reached = self._features_at(self.sets[-1])
        times = 2.0 * evaluations * n_classes
        estimate.nanoseconds += evaluations * self.d * n_classes * _NEWTON_NS
        estimate.add(times * sum(entries), self.prices.sparse_dense)
        price = self.prices.sparse_dense if reached.is_sparse else DENSE_DENSE_NS
        estimate.add(times * reached.entries, price)
        in_place = len(self.sets[-1]) == self.features.n_nodes and self.features.dtype == np.float64
        copied = 0.0 if in_place or self.features.is_identity else reached.entries
        if copied and self.features.dtype != np.float64:
            copied *= 1.5  # narrow and wide at the same time
        vectors = (3.0 * reached.count + _LBFGS_VECTORS * self.d) * n_classes * 8
        estimate.hold(blocks + copied * (_ENTRY_BYTES if reached.is_sparse else 8) + vectors)
        return estimate

    def predict_memory(self, n_classes: int) -> float:
        """Bytes that predicting every node takes: all of S while it is built, and C columns of nodes."""
        stored = float(self.lengths.sum()) if self.hops and self.prices.builds_values else 0.0
        return stored * (_ENTRY_BYTES + _BUILD_BYTES) + 3.0 * self.features.n_nodes * (n_classes + 8) * 8

    def solve(self, estimate: Estimate, n_classes: int, evaluations: int, copies: int = 1) -> None:
        """Add the solver's products with the rows, in the row space where they are fewer than columns.

        `copies` is how many problems over (parts of) the rows are held at the same time, as folds are.
        """
        Z = estimate.result
        used_columns = min(self.d, Z.entries)
        if row_space_pays(Z.count, used_columns, Z.entries, Z.is_sparse, n_classes, evaluations):
            estimate.add(4.0 * Z.count**2 * used_columns, FACTORISE_NS)
            estimate.add(2.0 * evaluations * Z.count**2 * n_classes, DENSE_DENSE_NS)
            workspace = 3 * Z.count * used_columns * 8
        else:
            price = SPARSE_DENSE_NS if Z.is_sparse else DENSE_DENSE_NS
            estimate.add(2.0 * evaluations * Z.entries * n_classes, price)
            estimate.nanoseconds += (
                evaluations * self.d * n_classes * (_NEWTON_NS if Z.is_sparse else _LBFGS_NS)
            )
            workspace = Z.entries * (_ENTRY_BYTES if Z.is_sparse else 8)
        weights = float(_LBFGS_VECTORS) * self.d * n_classes * 8
        estimate.hold(Z.memory + copies * workspace + weights)

    def _features_at(self, nodes: NDArray[np.intp]) -> RowsSize:
        entries = float(self._widths[0][nodes].sum())
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
