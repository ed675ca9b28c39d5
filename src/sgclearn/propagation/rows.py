"""Rows of `S^K X`, or of any polynomial of S times X, by the planned order of products."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.filters import PolynomialFilter, coefficients_of
from sgclearn.propagation.neighbourhood import hop_blocks, hop_sets
from sgclearn.propagation.products import multiply
from sgclearn.propagation.source import NodeFeatures

if TYPE_CHECKING:
    from sgclearn.operators import Operator

OnHop = Callable[[int, int], None]


def propagated_rows(
    operator: Operator | None,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    wanted: Sequence[int | PolynomialFilter],
    plan: str,
    on_hop: OnHop | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Yield `(filter, (g(S) X)[rows])` for every wanted filter, the shortest first, in one pass to the longest.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges: S = I whatever the number of hops.
    features : NodeFeatures
    rows : ndarray of int (m,)
        Distinct nodes.
    wanted : sequence of int or PolynomialFilter
        A whole number k is the power `S^k`.
    plan : {"full", "frontier", "left-first"}
    on_hop : callable, optional
        Called as `on_hop(done, of)` after every hop, for progress.

    Notes
    -----
    Exact: yes, every plan gives the same numbers up to rounding. One pass serves every filter, because
    `X, SX, S^2 X, ...` come one after the other and a filter is a sum of them.
    """
    sums = [_Sum(entry, coefficients_of(entry)) for entry in wanted]
    if operator is None:
        rows_of_x = features.take(rows)
        for total in sums:
            yield total.entry, _times(float(total.coefficients.sum()), rows_of_x)
        return
    longest = max(total.degree for total in sums)
    if plan == "full":
        # `full` is the frontier of all nodes: the same products over the whole graph, rows taken at the end.
        sets = [np.arange(operator.n_nodes)] * (longest + 1)
    else:
        sets = hop_sets(operator.graph, rows, longest)
    walk = _left_first if plan == "left-first" else _right_first
    yield from walk(operator, features, rows, sets, sums, on_hop or _no_progress)


class _Sum:
    """`sum_k c_k term_k`, added up as the terms come; a single term of weight one is never copied."""

    def __init__(self, entry: int | PolynomialFilter, coefficients: NDArray[np.float64]) -> None:
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
    operator: Operator,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    sets: list[NDArray[np.intp]],
    sums: list[_Sum],
    on_hop: OnHop,
) -> Iterator[tuple[Any, Any]]:
    blocks = hop_blocks(operator, sets, features.dtype)
    H: Any = None
    for k in range(len(sets)):
        if k:
            block = blocks[-k]
            H = features.left_multiply(block, sets[-1]) if k == 1 else multiply(block, H)  # Eq. (4)
            on_hop(k, len(blocks))
        users = [total for total in sums if total.uses(k)]
        if users:
            nodes = sets[-1 - k]
            if k == 0:
                term = features.take(rows)
            else:
                # Node sets are nested, so the rows are always among the nodes at hand, and a set ascends
                # unless it is the rows themselves.
                term = H if np.array_equal(nodes, rows) else H[np.searchsorted(nodes, rows)]
            for total in users:
                total.add(k, term)
        yield from _finished(sums, k, features, rows)


def _left_first(
    operator: Operator,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    sets: list[NDArray[np.intp]],
    sums: list[_Sum],
    on_hop: OnHop,
) -> Iterator[tuple[Any, Any]]:
    blocks = hop_blocks(operator, sets, features.dtype)
    power: Any = sparse.eye_array(len(rows), format="csr", dtype=features.dtype)  # rows of S^0, columns F_0
    for k in range(len(sets)):
        if k:
            power = blocks[0] if k == 1 else power @ blocks[k - 1]  # rows of S^k
            on_hop(k, len(blocks))
        for total in sums:
            if total.uses(k):
                total.add(k, _spread(power, sets[k], sets[total.degree]))
        for total in sums:
            if total.degree == k and k and total.total is not None:
                total.total = features.left_multiply(total.total, sets[k])
            elif (
                total.degree == k and total.total is not None
            ):  # no hop: the rows of X, in the order asked for
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
