"""Samples `P [F_1(S) X, F_2(S) X, ...]` that are formed, by the planned order of products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.filters import Member, Wanted, coefficients_of, hops_of, members_of
from sgclearn.propagation.bounds import check_finite_rows, may_overflow
from sgclearn.propagation.engines import Engine, Walk, get_engine
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.neighbourhood import hop_blocks, hop_sets, is_everyone
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.readout import Readout
from sgclearn.propagation.sparse_or_dense import stays_sparse

if TYPE_CHECKING:
    from sgclearn.operators import Operator


def propagated_rows(
    operator: Operator | None,
    features: NodeFeatures,
    samples: Readout | NDArray[np.intp],
    wanted: Sequence[Wanted],
    plan: str,
    on_progress: OnProgress | None = None,
    engine: Engine | None = None,
    sets: list[NDArray[np.intp]] | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Yield `(filters, P [F_1(S) X, F_2(S) X, ...])` for every wanted list of filters, in one pass to the longest.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges: S = I whatever the number of hops.
    features : NodeFeatures
    samples : Readout or ndarray of int (m,)
        P, or the nodes that are the samples.
    wanted : sequence of Wanted
        What every filter is: a whole number k is the power `S^k`, a tuple several filters side by side.
    plan : {"full", "frontier", "left-first"}
    on_progress : callable, optional
        Called as `on_progress(done, of)` now and then, in units that the plan and the engine choose, and with
        `done == of` at the end of the work.
    engine : Engine, optional
        What computes the products; the best there is if not given.
    sets : list of ndarray, optional
        `hop_sets` of the nodes of P for the longest filter, where they are known already.

    Notes
    -----
    Exact: yes, every plan gives the same numbers up to rounding. One pass serves every filter, because
    `X, SX, S^2 X, ...` come one after the other and a filter is a sum of them. Rows that are not finite are an error.
    """
    readout = Readout.of(samples)
    left = Counter(member for entry in wanted for member in members_of(entry))
    members = sorted(left, key=hops_of)  # in the order in which they are finished
    found = _unchecked_rows(operator, features, readout.nodes, members, plan, on_progress, engine, sets)
    ready: dict[Any, Any] = {}
    for entry in wanted:
        while any(member not in ready for member in members_of(entry)):
            with np.errstate(over="ignore", invalid="ignore"):
                member, rows = next(found)
                ready[member] = readout.collect(rows)
            coefficients = coefficients_of(member)
            if may_overflow(operator, coefficients, features.dtype):
                check_finite_rows(ready[member], len(coefficients) - 1)
        Z = side_by_side([ready[member] for member in members_of(entry)])
        left.subtract(members_of(entry))
        ready = {member: rows for member, rows in ready.items() if left[member]}
        yield entry, Z


def side_by_side(parts: list[Any]) -> Any:
    """Matrices with the same rows as one, sparse if all of them are."""
    if len(parts) == 1:
        return parts[0]
    if all(sparse.issparse(part) for part in parts):
        return sparse.hstack(parts, format="csr")
    return np.concatenate([part.toarray() if sparse.issparse(part) else part for part in parts], axis=1)


def _unchecked_rows(
    operator: Operator | None,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    wanted: Sequence[Member],
    plan: str,
    on_progress: OnProgress | None,
    engine: Engine | None,
    sets: list[NDArray[np.intp]] | None,
) -> Iterator[tuple[Any, Any]]:
    sums = [_Sum(entry, coefficients_of(entry)) for entry in wanted]
    if operator is None:
        rows_of_x = features.take(None if is_everyone(rows, features.n_nodes) else rows)
        for total in sums:
            yield total.entry, _times(float(total.coefficients.sum()), rows_of_x)
        return
    longest = max(total.degree for total in sums)
    if plan == "full":
        # `full` is the frontier of all nodes: the same products over the whole graph, rows taken at the end.
        everyone = rows if is_everyone(rows, operator.n_nodes) else np.arange(operator.n_nodes)
        sets = [everyone] * (longest + 1)
    elif sets is None:
        sets = hop_sets(operator.graph, rows, longest)
    if plan == "left-first" and len(sums) == 1 and features.is_sparse and not features.is_identity:
        # One filter: the engine may have a shorter way than one sparse product after the other.
        found = _walked(engine or get_engine(), operator, features, rows, sums[0], on_progress)
        if found is not None:
            yield sums[0].entry, found
            return
    arguments = (engine or get_engine(), operator, features, rows, sets, sums, on_progress or _no_progress)
    yield from (_left_first if plan == "left-first" else _right_first)(*arguments)


def _walked(
    engine: Engine,
    operator: Operator,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    sum: _Sum,
    on_progress: OnProgress | None,
) -> Any:
    if sum.degree == 0:
        return None  # rows of X
    return engine.sparse_rows(operator, features.X, features.row_scale, rows, sum.coefficients, on_progress)


class _Sum:
    """`sum_k c_k term_k`, added up as the terms come; a single term of weight one is never copied."""

    def __init__(self, entry: Member, coefficients: NDArray[np.float64]) -> None:
        self.entry, self.coefficients, self.degree = entry, coefficients, len(coefficients) - 1
        self.total: Any = None

    def uses(self, k: int) -> bool:
        return k <= self.degree and self.coefficients[k] != 0

    def add(self, k: int, term: Any) -> None:
        weighted = _times(float(self.coefficients[k]), term)
        self.total = weighted if self.total is None else self.total + weighted


def _times(coefficient: float, matrix: Any) -> Any:
    # A python float leaves float32 what it is.
    return matrix if coefficient == 1.0 else coefficient * matrix


def _right_first(
    engine: Engine,
    operator: Operator,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    sets: list[NDArray[np.intp]],
    sums: list[_Sum],
    on_progress: OnProgress,
) -> Iterator[tuple[Any, Any]]:
    walk = engine.walk(operator, sets, rows, features.dtype)
    hops, done = len(sets) - 1, 0
    places = [None if np.array_equal(nodes, rows) else np.searchsorted(nodes, rows) for nodes in sets]

    def report(columns: int, of: int) -> None:
        on_progress(done * of + (hops - done) * columns, hops * of)

    H: Any = None  # the rows of S^k X of every node of F_{K-k}; before the first hop they are taken from X
    is_sparse = False
    for k in range(hops + 1):
        if k:
            H = _hop(walk, hops - k, H, features, sets[-1], is_sparse)
            done = k
            on_progress(k, hops)
        for total in sums:
            if total.uses(k):
                place = places[-1 - k]
                total.add(k, features.take(rows) if k == 0 else H if place is None else H[place])
        yield from _finished(sums, k, features, rows)
        waiting = [total for total in sums if total.degree > k]
        is_sparse = bool(waiting) and _next_is_sparse(walk, hops - k - 1, H, features, sets[-1], engine)
        if len(waiting) == 1 and not is_sparse:
            # One filter is left and the rest of its way is dense: the engine goes it in one go.
            (last,) = waiting
            ahead = np.append(0.0, last.coefficients[k + 1 :])
            if k == 0:
                nodes = None if len(sets[-1]) == features.n_nodes else sets[-1]
                scale = features.row_scale
                scale = scale if nodes is None or scale is None else scale[nodes]
                term = walk.forward(features.X, ahead, scale=scale, nodes=nodes, on_progress=report)
            else:
                term = walk.forward(H, ahead, on_progress=report)
            yield last.entry, term if last.total is None else last.total + term
            return


def _hop(
    walk: Walk, k: int, H: Any, features: NodeFeatures, reached: NDArray[np.intp], stays_sparse: bool
) -> Any:
    """The next hop, to the nodes of `F_k`; Eq. (4)."""
    if H is None and features.is_identity:
        return features.left_multiply(walk.blocks[k].matrix(), reached)
    if H is None:
        H = features.take(None if len(reached) == features.n_nodes else reached)
    return walk.step(k, H if stays_sparse or not sparse.issparse(H) else H.toarray())


def _next_is_sparse(
    walk: Walk, k: int, H: Any, features: NodeFeatures, reached: NDArray[np.intp], engine: Engine
) -> bool:
    """Whether the product with the next block stays sparse."""
    if H is None:
        if features.is_identity or not features.is_sparse:
            return features.is_identity
        lengths = features.row_lengths()
        lengths = lengths if len(reached) == features.n_nodes else lengths[reached]
        return stays_sparse(walk.blocks[k], lengths, features.n_columns, engine.prices)
    if not sparse.issparse(H):
        return False
    return stays_sparse(walk.blocks[k], np.diff(H.indptr), H.shape[1], engine.prices)


def _left_first(
    engine: Engine,
    operator: Operator,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    sets: list[NDArray[np.intp]],
    sums: list[_Sum],
    on_progress: OnProgress,
) -> Iterator[tuple[Any, Any]]:
    blocks = [block.matrix(features.dtype) for block in hop_blocks(operator, sets)]
    power: Any = sparse.eye_array(len(rows), format="csr", dtype=features.dtype)  # rows of S^0, columns F_0
    for k in range(len(sets)):
        if k:
            power = blocks[0] if k == 1 else engine.sparse_product(power, blocks[k - 1])  # rows of S^k
            on_progress(k, len(blocks))
        for total in sums:
            if total.uses(k):
                total.add(k, _spread(power, sets[k], sets[total.degree]))
        for total in sums:
            if total.degree == k and total.total is not None:
                if k:
                    total.total = features.left_multiply(total.total, sets[k], engine)
                else:  # no hop: the rows of X, in the order asked for
                    total.total = _times(float(total.coefficients[0]), features.take(rows))
        yield from _finished(sums, k, features, rows)


def _spread(block: Any, nodes: NDArray[np.intp], larger: NDArray[np.intp]) -> Any:
    """A block with columns `nodes` as one with columns `larger`, an ascending set that contains them."""
    if len(nodes) == len(larger):
        return block
    columns = np.searchsorted(larger, nodes)[block.indices]
    return sparse.csr_array((block.data, columns, block.indptr), shape=(block.shape[0], len(larger)))


def _finished(
    sums: list[_Sum], k: int, features: NodeFeatures, rows: NDArray[np.intp]
) -> Iterator[tuple[Any, Any]]:
    for total in sums:
        if total.degree == k:
            # A filter whose coefficients are all zero gives zeros.
            yield total.entry, 0.0 * features.take(rows) if total.total is None else total.total
            total.total = None


def _no_progress(done: int, of: int) -> None:
    """Nobody is watching."""
