"""Neighbours drawn for a batch of nodes, so that a layer never has to read the whole graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.graph import Graph

Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Block:
    """What one layer reads: the `targets` it makes numbers for, and the `sources` it makes them from.

    Parameters
    ----------
    sources : integer array (s,)
        Nodes of the graph, ascending, each once: the targets and all neighbours that were drawn for them.
    own : integer array (t,)
        Places of the targets among the sources.
    indptr, indices : integer arrays (t + 1,) and (m,)
        Target i has drawn the sources `indices[indptr[i]:indptr[i + 1]]`, in random order.
    """

    sources: Positions
    own: Positions
    indptr: Positions
    indices: Positions

    @cached_property
    def counts(self) -> Positions:
        """Neighbours drawn for each target (t,)."""
        return np.diff(self.indptr)

    def mean(self, with_own: bool = False) -> sp.csr_array:
        """Matrix (t, s) whose product is the mean over the neighbours drawn, and the target itself if asked.

        The row of a target without neighbours is zero, as in torch_geometric.
        """
        n_targets, n_sources = len(self.own), len(self.sources)
        ones = np.ones(len(self.indices), np.float32)
        A = sp.csr_array((ones, self.indices, self.indptr), shape=(n_targets, n_sources))
        counts = self.counts
        if with_own:
            own = np.ones(n_targets, np.float32)
            A = A + sp.csr_array((own, self.own, np.arange(n_targets + 1)), shape=A.shape)
            counts = counts + 1
        return sp.csr_array(sp.diags_array((1.0 / np.maximum(counts, 1)).astype(np.float32)) @ A)


def draw_block(graph: Graph, targets: Positions, n_drawn: int | None, rng: np.random.Generator) -> Block:
    """Draw neighbours of some nodes, uniformly and each at most once.

    Parameters
    ----------
    graph : Graph
        Edge weights are not read.
    targets : integer array (t,)
    n_drawn : int or None
        A node with more neighbours gets so many different ones, any other all it has; None takes all.
    rng : numpy Generator

    Notes
    -----
    Cost: O(t n_drawn^2 + n) whatever the degrees. Vectorised by Floyd's way of drawing a subset: draw j goes up to
    place `degree - n_drawn + j`, and a place that was drawn before gives way to that one.
    """
    degrees = np.diff(graph.indptr)[targets]
    counts = degrees if n_drawn is None else np.minimum(degrees, n_drawn)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    owners = np.repeat(np.arange(len(targets)), counts)
    places = np.arange(indptr[-1]) - indptr[owners]
    if n_drawn is not None and (many := np.flatnonzero(degrees > n_drawn)).size:
        slots = indptr[many][:, None] + np.arange(n_drawn)
        places[slots] = _subsets(degrees[many].astype(np.int64), n_drawn, rng)
    drawn = graph.indices[graph.indptr[targets][owners] + places]
    # In random order: a network that reads neighbours as a sequence must not learn how nodes are numbered.
    drawn = drawn[np.argsort(owners + rng.random(len(drawn)))]
    # A mark for every node of the graph: far cheaper than to sort what was drawn.
    is_source = np.zeros(graph.n_nodes, dtype=bool)
    is_source[targets] = is_source[drawn] = True
    sources = np.flatnonzero(is_source)
    place = np.empty(graph.n_nodes, dtype=np.intp)
    place[sources] = np.arange(len(sources))
    return Block(sources, place[targets], indptr, place[drawn])


def _subsets(sizes: NDArray[np.int64], n_drawn: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Subsets (m, n_drawn) of `range(size)`, each as likely as any other."""
    chosen = np.empty((len(sizes), n_drawn), dtype=np.int64)
    for j in range(n_drawn):
        last = sizes - n_drawn + j
        place = (rng.random(len(sizes)) * (last + 1)).astype(np.int64)
        seen = (chosen[:, :j] == place[:, None]).any(axis=1)
        chosen[:, j] = np.where(seen, last, place)
    return chosen


def draw_blocks(
    graph: Graph, targets: Positions, n_drawn: Sequence[int], rng: np.random.Generator
) -> list[Block]:
    """Blocks of all layers, the first layer first: each makes the sources of the next.

    Parameters
    ----------
    n_drawn : sequence of int
        Neighbours a node in each layer, the first layer first; the last layer is the one that makes the targets. A
        node that several others have drawn draws its own neighbours once.
    """
    blocks: list[Block] = []
    for n in reversed(n_drawn):
        blocks.insert(0, draw_block(graph, targets, n, rng))
        targets = blocks[0].sources
    return blocks


def check_drawn(n_drawn: Sequence[int], batch_size: int) -> None:
    """Raise unless there are two layers, and neighbours and nodes in every batch."""
    if len(n_drawn) != 2 or min(n_drawn) < 1 or batch_size < 1:
        raise InputError(
            "n_drawn must be two numbers >= 1 and batch_size >= 1",
            f"{list(n_drawn)} and {batch_size}",
            "the published ones are 25 and 10, and 512",
            argument="n_drawn",
        )
