"""A zoo of tiny graphs that every room is tested on, and strategies for random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import sparse

from sgclearn import Graph

# The paper's five matrices, and a gamma that is neither 0 nor 1.
OPERATORS: dict[str, tuple[str, float | None]] = {
    "sym-plain": ("sym", 0.0),
    "sym-augmented": ("sym", 1.0),
    "rw-plain": ("rw", 0.0),
    "rw-augmented": ("rw", 1.0),
    "cheby": ("cheby", None),
    "sym-gamma": ("sym", 0.35),
}


def _make_zoo() -> dict[str, Graph]:
    edges = Graph.from_edges
    return {
        "no-edges": edges([], n_nodes=4),
        "single-node": edges([], n_nodes=1),
        "one-edge": edges([(0, 1)]),
        "path": edges([(0, 1), (1, 2), (2, 3), (3, 4)]),
        "star": edges([(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]),
        "triangle": edges([(0, 1), (1, 2), (2, 0)]),
        "two-components": edges([(0, 1), (1, 2), (3, 4), (4, 5), (5, 3)]),
        "isolated-nodes": edges([(1, 3), (3, 4)], n_nodes=6),
        "self-loops": edges([(0, 0), (0, 1), (1, 2), (2, 2)]),
        "weighted": edges([(0, 1), (1, 2), (2, 3), (3, 0)], weights=[0.5, 2.0, 3.25, 1.0]),
        "weighted-loops": edges([(0, 0), (0, 1), (2, 2)], weights=[0.25, 4.0, 2.0], n_nodes=4),
        "directed-cycle": edges([(0, 1), (1, 2), (2, 3), (3, 0)], directed=True),
        "directed-sink": edges([(0, 1), (0, 2), (1, 2), (3, 2)], directed=True),
        "directed-weighted": edges(
            [(0, 1), (1, 0), (1, 2), (3, 1)], weights=[2.0, 0.5, 1.5, 3.0], directed=True
        ),
        "bipartite": edges([(0, 3), (0, 4), (1, 3), (1, 4), (2, 4)]),
        "complete": edges([(i, j) for i in range(5) for j in range(i)]),
        "string-ids": edges([("ann", "bob"), ("bob", "cas"), ("cas", "dan"), ("dan", "bob")]),
    }


ZOO = _make_zoo()
UNDIRECTED = {name: graph for name, graph in ZOO.items() if not graph.directed}


def dense_adjacency(graph: Graph) -> NDArray[np.float64]:
    """A (n, n), entry by entry, without any sparse code."""
    A = np.zeros((graph.n_nodes, graph.n_nodes))
    for node in range(graph.n_nodes):
        for entry in range(graph.indptr[node], graph.indptr[node + 1]):
            A[node, graph.indices[entry]] = 1.0 if graph.weights is None else graph.weights[entry]
    return A


def random_graph(n_nodes: int, n_edges: int, seed: int, *, directed: bool = False) -> Graph:
    """Graph with about `n_edges` edges between uniformly drawn nodes, without loops."""
    pairs = np.random.default_rng(seed).integers(n_nodes, size=(n_edges, 2))
    return Graph.from_edges(pairs, n_nodes=n_nodes, directed=directed, self_loops="drop")


def random_features(n_nodes: int, n_columns: int, seed: int, *, density: float = 0.5) -> NDArray[np.float64]:
    """Features (n, d) with some zero entries."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(n_nodes, n_columns))
    return values * (generator.random((n_nodes, n_columns)) < density)


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    min_nodes: int = 1,
    max_nodes: int = 9,
    directed: bool | None = None,
    weighted: bool | None = None,
    self_loops: bool = False,
) -> Graph:
    """Random graphs: few nodes, any pattern, isolated nodes and sinks included."""
    n_nodes = draw(st.integers(min_nodes, max_nodes))
    directed = draw(st.booleans()) if directed is None else directed
    weighted = draw(st.booleans()) if weighted is None else weighted
    node = st.integers(0, n_nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=3 * n_nodes))
    if not directed:
        pairs = [(min(pair), max(pair)) for pair in pairs]
    pairs = sorted({pair for pair in pairs if self_loops or pair[0] != pair[1]})
    weights = None
    if weighted:
        weight = st.floats(0.05, 20.0)
        weights = draw(st.lists(weight, min_size=len(pairs), max_size=len(pairs)))
    return Graph.from_edges(pairs, weights=weights, n_nodes=n_nodes, directed=directed)


def features(n_nodes: int, *, max_columns: int = 4) -> st.SearchStrategy[NDArray[np.float64]]:
    """Features (n, d) with many zeros."""
    values = st.one_of(st.just(0.0), st.floats(-10.0, 10.0, allow_subnormal=False))
    columns = st.integers(1, max_columns)
    return columns.flatmap(lambda d: hnp.arrays(np.float64, (n_nodes, d), elements=values))


@st.composite
def graphs_with_features(draw: st.DrawFn, **options: Any) -> tuple[Graph, NDArray[np.float64]]:
    """A random graph and features of its nodes."""
    graph = draw(graphs(**options))
    return graph, draw(features(graph.n_nodes))


def operator_choices(*, with_cheby: bool = True) -> st.SearchStrategy[tuple[str, float | None]]:
    """Normalization and gamma."""
    choices = st.tuples(st.sampled_from(["sym", "rw"]), st.sampled_from([0.0, 0.35, 1.0, 3.0]))
    return st.one_of(choices, st.just(("cheby", None))) if with_cheby else choices


def to_dense(matrix: Any) -> NDArray[Any]:
    """An ndarray, whatever was given."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
