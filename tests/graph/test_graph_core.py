from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import InputError, InputTypeError
from sgclearn.graph import Graph

EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25)


def path_graph(**options: object) -> Graph:
    return Graph.from_edges([0, 1, 2], [1, 2, 3], **options)  # type: ignore[arg-type]


def test_graph_repr_names_what_there_is() -> None:
    assert repr(path_graph()) == "Graph(4 nodes, 3 edges, undirected, unweighted)"
    odd = Graph.from_edges([0, 2], [0, 3], [2.0, 1.0], n_nodes=2001, directed=True)
    assert repr(odd) == "Graph(2,001 nodes, 2 edges, directed, weighted, 1 self-loop, 1,998 isolated nodes)"


def test_graph_counts() -> None:
    graph = Graph.from_edges([(0, 1), (1, 1), (1, 2)], n_nodes=5)
    assert (graph.n_nodes, graph.n_edges, graph.n_stored) == (5, 3, 5)
    assert (graph.n_self_loops, graph.n_isolated, graph.is_weighted) == (1, 2, False)
    assert graph.degrees().tolist() == [1, 3, 1, 0, 0]
    arcs = Graph.from_edges([(0, 1), (1, 0), (1, 2)], directed=True)
    assert (arcs.n_edges, arcs.n_stored, arcs.n_isolated) == (3, 3, 0)


def test_graph_degrees_sum_weights_of_rows() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 0, 2], [2.0, 0.5, 4.0], directed=True)
    assert graph.degrees().tolist() == [2.5, 4.0, 0.0]


def test_graph_is_frozen() -> None:
    graph = path_graph()
    with pytest.raises(AttributeError, match="frozen"):
        graph.directed = True
    with pytest.raises(AttributeError, match="frozen"):
        del graph.indices
    with pytest.raises(ValueError, match="read-only"):
        graph.indices[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        graph.to_scipy().indices[0] = 3
    with pytest.raises(AttributeError, match="frozen"):
        graph.node_ids.kind = "int"


def test_graph_does_not_look_like_a_matrix() -> None:
    graph = path_graph()
    assert not hasattr(graph, "shape")
    assert not hasattr(graph, "__len__")
    assert not hasattr(graph, "__iter__")


def test_graph_copies_are_itself_and_pickles_are_equal() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"], [1.0, 2.0])
    assert copy.copy(graph) is graph
    assert copy.deepcopy(graph) is graph
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert hash(again) == hash(graph)
    assert not again.indices.flags.writeable


def test_graph_equality_sees_every_part() -> None:
    graph = path_graph()
    assert graph == path_graph()
    assert graph != path_graph(directed=True)
    assert graph != path_graph(weights=[1, 1, 2])
    assert path_graph(weights=[1, 1, 3]) != path_graph(weights=[1, 1, 2])
    assert graph != graph.with_ids("abcd"[i] for i in range(4))
    assert graph != "graph"
    assert graph == copy.copy(graph)


def test_graph_with_ids_needs_one_a_node() -> None:
    with pytest.raises(InputError, match="4 nodes: got 2"):
        path_graph().with_ids(["a", "b"])


def test_graph_without_nodes_and_without_edges_are_graphs() -> None:
    none = Graph.from_edges([], [])
    assert repr(none) == "Graph(0 nodes, 0 edges, undirected, unweighted)"
    assert none.to_scipy().shape == (0, 0)
    assert none.degrees().shape == (0,)
    assert none.subgraph([]) == none
    bare = Graph.from_edges([], [], [], n_nodes=3)
    assert repr(bare) == "Graph(3 nodes, 0 edges, undirected, unweighted, 3 isolated nodes)"
    assert bare.degrees().tolist() == [0, 0, 0]
    assert Graph.from_scipy(sp.csr_array((0, 0))) == none
    assert Graph.from_edges(np.empty((0, 2)), nodes=["a"]).n_nodes == 1


def test_graph_constructor_takes_canonical_rows() -> None:
    graph = Graph([0, 1, 2], [1, 0], [2.0, 2.0], ids=["a", "b"])
    assert graph == Graph.from_edges(["a"], ["b"], [2.0])


@pytest.mark.parametrize(
    ("indptr", "indices", "weights", "message"),
    [
        ([0, 1], [0, 0], None, "indptr must rise"),
        ([0, 2, 1, 3], [0, 1, 2], None, "indptr must rise"),
        ([], [], None, "indptr must rise"),
        (np.array([0, 2**31 - 1, -2, 1], np.int32), [0], None, "indptr must rise"),  # a difference would wrap
        ([0, 1, 1], [5], None, r"lie in \[0, 2\)"),
        ([0, 2, 2], [1, 0], None, "ascend within each row"),
        ([0, 2, 2], [1, 1], None, "ascend within each row"),
        ([0, 1, 1], [1], None, "must be symmetric"),
        ([0, 1, 2], [1, 0], [1.0, 2.0], "must be symmetric"),
        ([0, 1, 2], [1, 0], [0.0, 0.0], "positive and finite"),
        ([0, 1, 2], [1, 0], [1.0], "one number an edge"),
    ],
)
def test_graph_constructor_refuses_rows_that_are_not_canonical(
    indptr: list[int], indices: list[int], weights: list[float] | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Graph(indptr, indices, weights)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_graph_constructor_knows_symmetry_on_every_graph_of_three_nodes(dtype: type) -> None:
    for bits in itertools.product((0, 1), repeat=9):
        A = np.array(bits).reshape(3, 3)
        rows = sp.csr_array(A)
        indptr, indices = rows.indptr.astype(dtype), rows.indices.astype(dtype)
        if np.array_equal(A, A.T):
            assert Graph(indptr, indices).n_self_loops == np.trace(A)
        else:
            with pytest.raises(InputError, match="must be symmetric"):
                Graph(indptr, indices)


def test_graph_constructor_needs_one_id_a_node() -> None:
    with pytest.raises(InputError, match="2 nodes: got 1"):
        Graph([0, 0, 0], [], ids=["a"])


def test_to_scipy_shares_the_index_arrays() -> None:
    graph = path_graph(weights=[1, 2, 3])
    matrix = graph.to_scipy()
    assert np.shares_memory(matrix.indices, graph.indices)
    assert np.shares_memory(matrix.indptr, graph.indptr)
    assert matrix.has_canonical_format
    assert path_graph().to_scipy(np.float32).dtype == np.float32


def test_reversed_turns_edges_round() -> None:
    graph = Graph.from_edges([0, 0, 2], [1, 2, 1], [1.0, 2.0, 3.0], directed=True)
    np.testing.assert_array_equal(graph.reversed().to_scipy().toarray(), graph.to_scipy().toarray().T)
    assert graph.reversed().reversed() == graph
    assert path_graph(directed=True).reversed().weights is None
    undirected = path_graph()
    assert undirected.reversed() is undirected


@given(EDGES, st.booleans(), st.booleans(), st.data())
def test_subgraph_matches_dense_slicing(
    edges: list[tuple[int, int]], directed: bool, weighted: bool, data: st.DataObject
) -> None:
    weights = np.arange(1, len(edges) + 1) if weighted else None
    graph = Graph.from_edges(edges, weights=weights, n_nodes=8, directed=directed, duplicates="max")
    nodes = data.draw(st.lists(st.integers(0, 7), unique=True))
    expected = graph.to_scipy().toarray()[np.ix_(nodes, nodes)]
    part = graph.subgraph(nodes)
    np.testing.assert_array_equal(part.to_scipy().toarray(), expected)
    assert part.ids.tolist() == nodes
    mask = np.isin(np.arange(8), nodes)
    assert graph.subgraph(mask) == graph.subgraph(sorted(nodes))
    assert Graph(part.indptr, part.indices, part.weights, directed=directed, ids=part.ids) == part


@pytest.mark.parametrize(
    ("nodes", "kind", "message"),
    [
        ([True, False], InputError, "mask of nodes"),
        ([4], InputError, r"\[0, 4\)"),
        ([-1], InputError, r"\[0, 4\)"),
        ([1, 1], InputError, "once each"),
        (["a"], InputTypeError, "positions"),
        ([0.5], InputTypeError, "positions"),
        ([[0, 1]], InputTypeError, "positions"),
    ],
)
def test_subgraph_refuses_what_are_not_positions(nodes: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        path_graph().subgraph(nodes)  # type: ignore[arg-type]


@given(EDGES, st.booleans(), st.booleans())
def test_from_scipy_gives_back_what_to_scipy_gave(
    edges: list[tuple[int, int]], directed: bool, weighted: bool
) -> None:
    weights = np.arange(1, len(edges) + 1) / 2 if weighted else None
    graph = Graph.from_edges(edges, weights=weights, n_nodes=9, directed=directed, duplicates="sum")
    assert Graph.from_scipy(graph.to_scipy(), directed=directed) == graph
    assert Graph.from_scipy(graph.to_scipy().toarray(), directed=directed) == graph
    assert Graph(graph.indptr, graph.indices, graph.weights, directed=directed) == graph


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, sgclearn.graph as g; g.Graph.from_edges([('a', 'b')]).subgraph([0]);"
        "heavy = {'pandas', 'pyarrow', 'sklearn', 'networkx', 'torch', 'matplotlib', 'polars'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
