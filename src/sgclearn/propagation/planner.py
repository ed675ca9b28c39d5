"""Which order of products to use: what each plan would cost in work and memory, before anything is allocated.

Every plan computes the same rows of `S^K X`:

- ``full``: propagate the features of all nodes, then take the rows.
- ``frontier``: hop k touches only the nodes within K - k hops of a row.
- ``left-first``: `(S^K)[rows]` as a sparse block, then times X; wins when both are thin.
- ``implicit``: never form the rows; multiply by S and X inside the solver. Wins when they would be huge.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError, MemoryLimitError
from sgclearn.propagation.memory import format_bytes, memory_limit_bytes
from sgclearn.propagation.neighbourhood import hop_sets
from sgclearn.propagation.products import (
    DENSE_DENSE_NS,
    DENSIFY_NS,
    SPARSE_DENSE_NS,
    SPARSE_SPARSE_NS,
    sparse_is_cheaper,
)
from sgclearn.propagation.source import NodeFeatures

if TYPE_CHECKING:
    from sgclearn.operators import Operator

PLANS = ("full", "frontier", "left-first", "implicit")
_ENTRY_BYTES = 16  # value and index of a stored entry, with room for 64-bit indices


@dataclass(frozen=True)
class PlanCost:
    """What one plan would cost: multiply-adds, seconds on one ordinary core, bytes at the peak."""

    name: str
    multiply_adds: float
    seconds: float
    memory: int
    fits: bool


@dataclass(frozen=True)
class Plan:
    """The chosen plan and, beside it, what the others would have cost."""

    chosen: str
    costs: tuple[PlanCost, ...]
    n_nodes: int
    n_rows: int
    n_hops: int
    n_columns: int
    n_classes: int
    neighbourhood: tuple[int, ...]  # nodes within 0, 1, ..., K hops of the rows
    memory_limit: int
    forced: bool

    @property
    def cost(self) -> PlanCost:
        """The cost of the chosen plan."""
        return next(cost for cost in self.costs if cost.name == self.chosen)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.chosen}: {self.n_rows:,} labelled of {self.n_nodes:,} nodes see "
            f"{self.neighbourhood[-1]:,} nodes in {self.n_hops} hops; {self.n_columns:,} features, "
            f"{self.n_classes} classes"
        ]
        for cost in self.costs:
            mark = "*" if cost.name == self.chosen else " "
            fits = "" if cost.fits else f"  over the limit of {format_bytes(self.memory_limit)}"
            lines.append(
                f"{mark} {cost.name:<11}{cost.multiply_adds:>10.2g} multiply-adds "
                f"{cost.seconds:>9.2g} s {format_bytes(cost.memory):>10}{fits}"
            )
        return "\n".join(lines)


@dataclass
class _Estimate:
    madds: float = 0.0
    nanoseconds: float = 0.0
    peak: float = 0.0

    def add(self, madds: float, price: float) -> None:
        self.madds += madds
        self.nanoseconds += madds * price

    def hold(self, size: float) -> None:
        self.peak = max(self.peak, size)


@dataclass(frozen=True)
class _Rows:
    """Rows of `S^K X` while they are estimated: how many, how wide on average, sparse or dense."""

    count: float
    width: float
    is_sparse: bool

    def size(self, n_columns: int, itemsize: int) -> float:
        if self.is_sparse:
            return self.count * self.width * _ENTRY_BYTES
        return self.count * n_columns * itemsize


def make_plan(
    operator: Operator | None,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    n_hops: int,
    n_classes: int,
    *,
    evaluations: int = 100,
    plan: str = "auto",
    memory_limit: int | float | str | None = None,
) -> Plan:
    """Estimate every plan and choose the fastest that fits. Cost: O(K nnz), like propagating one column.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges.
    features : NodeFeatures
    rows : ndarray of int (m,)
        Nodes whose rows of `S^K X` are wanted.
    n_hops, n_classes : int
    evaluations : int
        How often the solver is expected to multiply by the rows and by their transpose.
    plan : str
        "auto", or the name of the plan to use.
    memory_limit : int, str or None
        See `memory_limit_bytes`.
    """
    if plan not in ("auto", *PLANS):
        raise InputError(f"plan must be 'auto' or one of {', '.join(PLANS)}: got {plan!r}.")
    hops = n_hops if operator is not None else 0
    sets = [rows] if operator is None else hop_sets(operator.graph, rows, hops)
    lengths = np.ones(features.n_nodes, dtype=np.int64) if operator is None else operator.row_lengths()
    limit = memory_limit_bytes(memory_limit)
    everything = [np.arange(features.n_nodes)] * (hops + 1)
    estimates = {
        "full": _right_first(features, everything, lengths, rows, n_classes, evaluations),
        "frontier": _right_first(features, sets, lengths, rows, n_classes, evaluations),
        "left-first": _left_first(operator, features, sets, lengths, n_classes, evaluations),
        "implicit": _implicit(features, sets, lengths, n_classes, evaluations),
    }
    costs = tuple(
        PlanCost(name, e.madds, e.nanoseconds * 1e-9, int(e.peak), e.peak <= limit) for name, e in estimates.items()
    )
    chosen = _choose(costs, plan, limit)
    sizes = tuple(len(nodes) for nodes in sets)
    return Plan(
        chosen, costs, features.n_nodes, len(rows), hops, features.n_columns, n_classes, sizes, limit, plan != "auto"
    )


def _choose(costs: tuple[PlanCost, ...], plan: str, limit: int) -> str:
    candidates = [cost for cost in costs if plan in ("auto", cost.name)]
    fitting = [cost for cost in candidates if cost.fits]
    if not fitting:
        least = min(candidates, key=lambda cost: cost.memory)
        raise MemoryLimitError(
            f"this needs about {format_bytes(least.memory)} (plan {least.name!r}) and "
            f"{format_bytes(limit)} may be used: raise memory_limit, use fewer hops or fewer columns"
            + ("." if plan == "auto" else ", or leave the choice to plan='auto'.")
        )
    return min(fitting, key=lambda cost: cost.seconds).name


def _right_first(
    features: NodeFeatures,
    sets: list[NDArray[np.intp]],
    lengths: NDArray[np.int64],
    rows: NDArray[np.intp],
    n_classes: int,
    evaluations: int,
) -> _Estimate:
    """`B_0 (B_1 (... (B_{K-1} X)))`: feature columns move, hop by hop."""
    estimate = _Estimate()
    d, itemsize = features.n_columns, features.dtype.itemsize
    H = _Rows(len(sets[-1]), features.n_stored / max(features.n_nodes, 1), features.is_sparse)
    stored = {len(nodes): float(lengths[nodes].sum()) for nodes in sets[:-1]}
    blocks = sum(stored.values()) * _ENTRY_BYTES
    for nodes in reversed(sets[:-1]):
        entries = stored[len(nodes)]
        product = _multiply(estimate, H, entries, len(nodes), d)
        estimate.hold(blocks + H.size(d, itemsize) + product.size(d, itemsize))
        H = product
    final = _Rows(len(rows), H.width, H.is_sparse)
    _solve(estimate, final, d, n_classes, evaluations, blocks + H.size(d, itemsize))
    return estimate


def _left_first(
    operator: Operator | None,
    features: NodeFeatures,
    sets: list[NDArray[np.intp]],
    lengths: NDArray[np.int64],
    n_classes: int,
    evaluations: int,
) -> _Estimate:
    """`((B_0 B_1) ... B_{K-1}) X`: the counts of walks from the rows bound the work of every product."""
    estimate = _Estimate()
    rows, d = sets[0], features.n_columns
    entries, walks = float(len(rows)), lengths.astype(np.float64)
    if operator is not None and len(sets) > 1:
        pattern = sparse.csr_array(
            (np.ones(len(operator.graph.indices)), operator.graph.indices, operator.graph.indptr),
            shape=(operator.n_nodes, operator.n_nodes),
        )
        for k, reached in enumerate(sets[1:]):
            madds = float(walks[rows].sum())
            if k:  # columns that met in an earlier product are multiplied once
                madds *= min(entries / max(walked, 1.0), 1.0)
                estimate.add(madds, SPARSE_SPARSE_NS)
            walked = float(walks[rows].sum())
            entries = min(walked, float(len(rows)) * len(reached))
            estimate.hold(2 * entries * _ENTRY_BYTES)
            walks = pattern @ walks + (0 if operator.gamma == 0 else walks)
    block = entries * _ENTRY_BYTES
    width = features.n_stored / max(features.n_nodes, 1)
    H = _Rows(len(sets[-1]), width, features.is_sparse)
    if features.is_identity:
        product = _Rows(len(rows), entries / max(len(rows), 1), True)
    else:
        product = _multiply(estimate, H, entries, len(rows), d)
    _solve(estimate, product, d, n_classes, evaluations, block)
    return estimate


def _implicit(
    features: NodeFeatures, sets: list[NDArray[np.intp]], lengths: NDArray[np.int64], n_classes: int, evaluations: int
) -> _Estimate:
    """`B_0 (... (B_{K-1} (X V)))` and its transpose at every evaluation: C columns move, not d."""
    estimate = _Estimate()
    entries = sum(float(lengths[nodes].sum()) for nodes in sets[:-1])
    touched = features.n_stored * len(sets[-1]) / max(features.n_nodes, 1)
    times = 2.0 * evaluations * n_classes
    estimate.add(times * entries, SPARSE_DENSE_NS)
    estimate.add(times * touched, SPARSE_DENSE_NS if features.is_sparse else DENSE_DENSE_NS)
    part = 0.0 if len(sets[-1]) == features.n_nodes else touched * _ENTRY_BYTES
    vectors = 3.0 * len(sets[-1]) * n_classes * 8 + 25.0 * features.n_columns * n_classes * 8
    estimate.hold(entries * _ENTRY_BYTES + part + vectors)
    return estimate


def _multiply(estimate: _Estimate, H: _Rows, entries: float, n_rows: int, n_columns: int) -> _Rows:
    """Add one product of a sparse block with H, sparse or dense as `products.multiply` will decide."""
    sparse_madds, dense_madds, cells = entries * H.width, entries * n_columns, H.count * n_columns
    if H.is_sparse and sparse_is_cheaper(sparse_madds, dense_madds, cells):
        estimate.add(sparse_madds, SPARSE_SPARSE_NS)
        return _Rows(n_rows, min(n_columns, sparse_madds / max(n_rows, 1)), True)
    if H.is_sparse:
        estimate.nanoseconds += cells * DENSIFY_NS
        estimate.hold(cells * 8)
    estimate.add(dense_madds, SPARSE_DENSE_NS)
    return _Rows(n_rows, n_columns, False)


def _solve(
    estimate: _Estimate, Z: _Rows, n_columns: int, n_classes: int, evaluations: int, already_held: float
) -> None:
    """The solver's products with explicit rows, in the row space where there are fewer rows than columns."""
    used_columns = min(n_columns, Z.count * Z.width)
    if Z.count < used_columns:
        estimate.add(4 * Z.count**2 * used_columns, DENSE_DENSE_NS)
        estimate.add(2 * evaluations * Z.count**2 * n_classes, DENSE_DENSE_NS)
        workspace = 3 * Z.count * used_columns * 8
    else:
        price = SPARSE_DENSE_NS if Z.is_sparse else DENSE_DENSE_NS
        estimate.add(2.0 * evaluations * Z.count * Z.width * n_classes, price)
        workspace = Z.size(n_columns, 8)
    weights = 25.0 * n_columns * n_classes * 8  # L-BFGS keeps ten pairs of vectors
    estimate.hold(already_held + workspace + weights)
