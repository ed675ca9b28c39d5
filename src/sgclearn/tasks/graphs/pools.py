"""Rows of graphs: hops side by side, each pooled over the nodes of a graph in several ways.

Sum and mean are readouts, `P S^k X` with a sparse P (G, n). Maximum, standard deviation and quantiles are not linear
and work on the formed rows `S^k X`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.propagation import propagate
from sgclearn.propagation.compute import Compute
from sgclearn.tasks.graphs.collection import GraphCollection
from sgclearn.validation.parameters import shown

Array = NDArray[np.float64]
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
LINEAR = ("sum", "mean")


def readout(graphs: GraphCollection, pool: str) -> sp.csr_array:
    """`P` (G, n) of a linear pool: ones, or one over the size of the graph."""
    values = np.ones(graphs.n_nodes) if pool == "sum" else 1.0 / graphs.sizes[graphs.graph_of]
    return sp.csr_array(
        (values, np.arange(graphs.n_nodes), graphs.starts), shape=(len(graphs), graphs.n_nodes)
    )


def _largest(H: Array, graphs: GraphCollection) -> Array:
    return np.maximum.reduceat(H, graphs.starts[:-1], axis=0)


def _deviation(H: Array, graphs: GraphCollection) -> Array:
    P = readout(graphs, "mean")
    centred = H - (P @ H)[graphs.graph_of]
    return np.asarray(np.sqrt(P @ np.square(centred)))


def _quantiles(H: Array, graphs: GraphCollection) -> Array:
    """Linear between the two nearest values, column by column: one sort for all graphs."""
    starts, last = graphs.starts[:-1], graphs.sizes - 1
    found = np.empty((len(graphs), len(QUANTILES), H.shape[1]))
    for column in range(H.shape[1]):
        ordered = H[np.lexsort((H[:, column], graphs.graph_of)), column]
        for at, quantile in enumerate(QUANTILES):
            place = quantile * last
            low = np.floor(place).astype(np.intp)
            high = np.minimum(low + 1, last)
            share = place - low
            found[:, at, column] = (1 - share) * ordered[starts + low] + share * ordered[starts + high]
    return found.reshape(len(graphs), -1)


POOLS: dict[str, Callable[[Array, GraphCollection], Array]] = {
    "sum": lambda H, graphs: readout(graphs, "sum") @ H,
    "mean": lambda H, graphs: readout(graphs, "mean") @ H,
    "max": _largest,
    "std": _deviation,
    "quantiles": _quantiles,
}


def pool_width(pools: Sequence[str], n_columns: int) -> int:
    """Columns that the pools make of d columns of one hop."""
    return n_columns * sum(len(QUANTILES) if pool == "quantiles" else 1 for pool in pools)


def pooled_rows(
    graphs: GraphCollection,
    X: Array,
    n_hops: int,
    pools: Sequence[str],
    normalization: str,
    gamma: float | None,
    compute: Compute | None = None,
) -> Array:
    """`Z` (G, (K + 1) w): for every hop from 0 to K, the columns of every pool.

    Cost: O(K nnz(S) d), and a sort of n numbers for every column where quantiles are wanted.
    """
    blocks, H = [], X
    for hop in range(n_hops + 1):
        if hop:
            H = propagate(H, graphs.graph, 1, normalization=normalization, gamma=gamma, compute=compute)
        blocks += [POOLS[pool](H, graphs) for pool in pools]
    return np.concatenate(blocks, axis=1)


def check_pools(pools: Sequence[str]) -> tuple[str, ...]:
    """Names of pools, at least one."""
    named = tuple(pools) if isinstance(pools, list | tuple) else ()
    if not named or any(pool not in POOLS for pool in named) or len(set(named)) < len(named):
        raise InputError(
            f"pools must be some of {', '.join(POOLS)}", shown(pools), "choose", argument="pools"
        )
    return named
