"""Rows of `S^K X` by the planned order of products."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    hops: Sequence[int],
    plan: str,
    on_hop: OnHop | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield `(k, (S^k X)[rows])` for every k of `hops`, in ascending order, in one pass to the largest.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges: S = I whatever the number of hops.
    features : NodeFeatures
    rows : ndarray of int (m,)
        Distinct nodes.
    hops : sequence of int
        Distinct and ascending.
    plan : {"full", "frontier", "left-first"}
    on_hop : callable, optional
        Called as `on_hop(done, of)` after every hop, for progress.

    Notes
    -----
    Exact: yes, every plan gives the same numbers up to rounding. One pass serves every k, because
    `X, SX, S^2 X, ...` come one after the other.
    """
    if operator is None:
        rows_of_x = features.take(rows)
        for k in hops:
            yield k, rows_of_x
        return
    largest = max(hops)
    if plan == "full":
        # `full` is the frontier of all nodes: the same products over the whole graph, rows taken at the end.
        sets = [np.arange(operator.n_nodes)] * (largest + 1)
    else:
        sets = hop_sets(operator.graph, rows, largest)
    walk = _left_first if plan == "left-first" else _right_first
    yield from walk(operator, features, rows, sets, frozenset(hops), on_hop or _no_progress)


def _right_first(
    operator: Operator,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    sets: list[NDArray[np.intp]],
    hops: frozenset[int],
    on_hop: OnHop,
) -> Iterator[tuple[int, Any]]:
    blocks = hop_blocks(operator, sets, features.dtype)
    if 0 in hops:
        yield 0, features.take(rows)
    H: Any = None
    for k, block in enumerate(reversed(blocks), start=1):
        H = features.left_multiply(block, sets[-1]) if k == 1 else multiply(block, H)  # Eq. (4)
        on_hop(k, len(blocks))
        if k in hops:
            nodes = sets[-1 - k]
            # Node sets are nested, so the rows are always among the nodes at hand, and a set ascends
            # unless it is the rows themselves.
            yield k, H if np.array_equal(nodes, rows) else H[np.searchsorted(nodes, rows)]


def _left_first(
    operator: Operator,
    features: NodeFeatures,
    rows: NDArray[np.intp],
    sets: list[NDArray[np.intp]],
    hops: frozenset[int],
    on_hop: OnHop,
) -> Iterator[tuple[int, Any]]:
    if 0 in hops:
        yield 0, features.take(rows)
    power: Any = None
    blocks = hop_blocks(operator, sets, features.dtype)
    for k, block in enumerate(blocks, start=1):
        power = block if power is None else power @ block  # rows of S^k
        on_hop(k, len(blocks))
        if k in hops:
            yield k, features.left_multiply(power, sets[k])


def _no_progress(done: int, of: int) -> None:
    """Nobody is watching."""
