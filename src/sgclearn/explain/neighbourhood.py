"""The part of a graph that one prediction depends on, small enough to be changed and computed again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError
from sgclearn.graph import Graph
from sgclearn.operators.operator import propagation_scales
from sgclearn.propagation.neighbourhood import hop_sets

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Rows of A within K - 1 hops of a sample, and the degrees of all nodes within K hops.

    A prediction reads nothing else: `p S^k` for k <= K needs the rows of S of the nodes within K - 1 hops, and
    these rows are scaled by the degrees of the nodes that they point to. Degrees are those of the whole graph.

    Attributes
    ----------
    graph : Graph or None
        None is the graph without edges, where S = I.
    nodes : ndarray (s,)
        Positions of the nodes within K hops, ascending.
    A : csr_array (s, s)
        Rows of the nodes within K - 1 hops; the other rows are empty.
    degrees : ndarray (s,)
        Row sums of A in the whole graph.
    start : ndarray (s,)
        Row of the readout: 1 at the node itself, or weights that sum over several nodes.
    """

    graph: Graph | None
    normalization: str | None
    gamma: float | None
    nodes: Places
    A: Any
    degrees: Array
    start: Array
    n_hops: int

    @classmethod
    def of(
        cls,
        graph: Graph | None,
        normalization: str | None,
        gamma: float | None,
        readout: tuple[Places, Array],
        n_hops: int,
    ) -> Neighbourhood:
        """Read what a row of the readout, given as positions and weights, can see in `n_hops` hops.

        Cost: O(edges within K - 1 hops).
        """
        order = np.argsort(readout[0], kind="stable")
        seeds, weights = np.asarray(readout[0], dtype=np.intp)[order], np.asarray(readout[1])[order]
        if graph is None or n_hops == 0:
            empty = sparse.csr_array((len(seeds), len(seeds)))
            parts = (seeds, empty, np.zeros(len(seeds)), weights.astype(np.float64), n_hops)
            return cls(graph, normalization, gamma, *parts)
        sets = hop_sets(graph, seeds, n_hops)
        nodes = np.sort(sets[-1])
        rows = graph.rows(sets[-2])
        length = np.zeros(len(nodes), dtype=np.int64)
        places = np.searchsorted(nodes, sets[-2])
        length[places] = np.diff(rows.indptr)
        order = np.argsort(places, kind="stable")
        rows = rows[order] if np.any(order[1:] < order[:-1]) else rows
        place = np.empty(graph.n_nodes, dtype=np.int32 if len(nodes) < 2**31 else np.int64)
        place[nodes] = np.arange(len(nodes))  # what is no such node is never looked up
        columns = place[rows.indices]
        indptr = np.append(0, np.cumsum(length))
        A = sparse.csr_array((rows.data, columns, indptr), shape=(len(nodes), len(nodes)))
        start = np.zeros(len(nodes))
        start[np.searchsorted(nodes, seeds)] = weights
        return cls(graph, normalization, gamma, nodes, A, graph.row_sums(nodes), start, n_hops)

    @cached_property
    def _scaled(self) -> tuple[Any, Array]:
        """`L A R` and `c` of the rows of S of the nodes within K - 1 hops."""
        if self.graph is None or self.normalization is None:
            return self.A, np.ones(len(self.nodes))
        left, right, diagonal = propagation_scales(self.degrees, self.normalization, self.gamma)
        values = np.repeat(left, np.diff(self.A.indptr)) * self.A.data * right[self.A.indices]
        return sparse.csr_array((values, self.A.indices, self.A.indptr), shape=self.A.shape), diagonal

    def step(self, H: Array) -> Array:
        """`S H` (s, C), right in the rows of the nodes within K - 1 hops."""
        scaled, diagonal = self._scaled
        return np.asarray(scaled @ H + diagonal[:, None] * H)

    @cached_property
    def powers(self) -> list[Array]:
        """`p S^k` for k = 0..K, each (s,): how much of every node arrives after k hops."""
        scaled, diagonal = self._scaled
        found = [self.start]
        for _ in range(self.n_hops):
            found.append(scaled.T @ found[-1] + diagonal * found[-1])
        return found

    def place(self, node: int) -> int | None:
        """Where a node stands among `nodes`, None if it is too far away to matter."""
        at = int(np.searchsorted(self.nodes, node))
        return at if at < len(self.nodes) and self.nodes[at] == node else None

    def has_edge(self, source: int, target: int) -> bool:
        """Whether the whole graph has the edge."""
        if self.graph is None:
            return False
        row = self.graph.rows(np.array([source], dtype=np.intp)).indices
        return bool((row == target).any())

    def without(self, edges: Iterable[Pair] = (), nodes: Iterable[int] = ()) -> Neighbourhood:
        """The neighbourhood in the graph without these edges, and without any edge at these nodes.

        Degrees at the ends change too, also where only the degree is seen. An undirected edge goes in both
        directions. Cost: O(edges of the neighbourhood), and of a directed graph all edges for `nodes`.
        """
        graph, removed = self.graph, set()
        for source, target in edges:
            if graph is None or not self.has_edge(source, target):
                raise InputError(
                    "an edge to take away must be in the graph", f"({source}, {target})", "name one that is"
                )
            removed |= {(source, target)} if graph.directed else {(source, target), (target, source)}
        gone = set(nodes)
        if graph is not None:
            for node in gone:
                removed |= set(_edges_at(graph, node))
        return self._cut(removed, gone) if removed or gone else self

    def _cut(self, removed: set[Pair], gone: set[int]) -> Neighbourhood:
        A, degrees, start = self.A.copy(), self.degrees.copy(), self.start.copy()
        keep = np.ones(len(A.data), dtype=bool)
        touched: dict[int, list[int]] = {}
        for source, target in removed:
            touched.setdefault(source, []).append(target)
        for source, targets in touched.items():
            at = self.place(source)
            if at is None or self.graph is None:
                continue
            row = self.graph.rows(np.array([source], dtype=np.intp))
            degrees[at] = row.data[~np.isin(row.indices, targets)].sum()
            part = slice(A.indptr[at], A.indptr[at + 1])
            keep[part] &= ~np.isin(self.nodes[A.indices[part]], targets)
        for node in gone:
            at = self.place(node)
            if at is not None:
                start[at] = 0.0
        counts = np.append(0, np.cumsum(keep))
        cut = sparse.csr_array((A.data[keep], A.indices[keep], counts[A.indptr]), shape=A.shape)
        return replace(self, A=cut, degrees=degrees, start=start)


def _edges_at(graph: Graph, node: int) -> list[Pair]:
    """Every stored entry of A in the row and in the column of a node."""
    neighbours = graph.rows(np.array([node], dtype=np.intp)).indices.tolist()
    if graph.directed:
        into = np.searchsorted(graph.indptr, np.flatnonzero(graph.indices == node), side="right") - 1
        sources = into.tolist()
    else:
        sources = neighbours
    return [(node, other) for other in neighbours] + [(other, node) for other in sources]
