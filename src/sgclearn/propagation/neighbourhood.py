"""Only what the asked rows can see: node sets hop by hop, and the blocks of S between them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

if TYPE_CHECKING:
    from sgclearn.graph import Graph
    from sgclearn.operators import Operator


def hop_sets(graph: Graph, rows: NDArray[np.intp], n_hops: int) -> list[NDArray[np.intp]]:
    """Node sets `F_0 = rows, F_1, ..., F_K`: `F_k` holds every node within k hops of a row, rows included.

    `F_0` keeps the order of `rows`; the others ascend. Cost: O(edges touched), independent of the features.
    """
    sets = [np.asarray(rows, dtype=np.intp)]
    reached = np.zeros(graph.n_nodes, dtype=bool)
    reached[sets[0]] = True
    adjacency = graph.to_scipy(np.bool_)
    fresh = sets[0]
    for _ in range(n_hops):
        before = int(np.count_nonzero(reached))
        if before < graph.n_nodes and len(fresh):
            candidates = adjacency[fresh].indices
            fresh = np.unique(candidates[~reached[candidates]]).astype(np.intp)
            reached[fresh] = True
        sets.append(np.flatnonzero(reached))
    return sets


def hop_blocks(operator: Operator, sets: list[NDArray[np.intp]], dtype: DTypeLike) -> list[Any]:
    """Blocks `B_k = S[F_k, F_{k+1}]`, so that `(S^K X)[F_0] = B_0 B_1 ... B_{K-1} X[F_K]`."""
    blocks: list[Any] = []
    position = np.zeros(operator.n_nodes, dtype=operator.graph.indices.dtype)
    for k, (nodes, columns) in enumerate(pairwise(sets)):
        # Sets are nested, so equal sizes are equal sets (the rows themselves may be in another order).
        if k and len(sets[k - 1]) == len(columns) and _ascending(sets[k - 1]):
            blocks.append(blocks[-1])  # nothing new is reached: the same block again, not a copy
            continue
        block = operator.rows(nodes, dtype)
        if len(columns) < operator.n_nodes:
            position[columns] = np.arange(len(columns), dtype=position.dtype)
            shape = (len(nodes), len(columns))
            block = sparse.csr_array((block.data, position[block.indices], block.indptr), shape=shape)
        blocks.append(block)
    return blocks


def _ascending(nodes: NDArray[np.intp]) -> bool:
    return bool((np.diff(nodes) > 0).all())
