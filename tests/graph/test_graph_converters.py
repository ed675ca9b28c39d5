from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from sgclearn.errors import InputError, InputTypeError, SgclearnWarning
from sgclearn.graph import Graph
from sgclearn.graph.columns import choose_columns


def dense(graph: Graph) -> list[list[float]]:
    return graph.to_scipy().toarray().tolist()


@pytest.mark.parametrize("shape", [(2, 3), (0, 1)])
def test_from_scipy_refuses_a_matrix_that_is_not_square(shape: tuple[int, int]) -> None:
    for matrix in (sp.csr_array(shape), np.zeros(shape)):
        with pytest.raises(InputError, match=r"square matrix.*got shape \(\d, \d\)"):
            Graph.from_scipy(matrix)


def test_from_scipy_refuses_what_is_no_matrix() -> None:
    with pytest.raises(InputError, match="square"):
        Graph.from_scipy(np.zeros(4))
    with pytest.raises(InputTypeError, match="real numbers"):
        Graph.from_scipy(np.zeros((2, 2), dtype=complex))
    with pytest.raises(InputTypeError, match="real numbers"):
        Graph.from_scipy(sp.csr_array(np.array([[0, 1j], [1j, 0]])))


def test_from_scipy_takes_one_triangle_of_an_undirected_graph() -> None:
    upper = sp.coo_array(np.triu(np.ones((3, 3)), 1))
    assert dense(Graph.from_scipy(upper)) == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert Graph.from_scipy(upper, directed=True).n_edges == 3


def test_from_scipy_names_rows_and_applies_policies() -> None:
    matrix = sp.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [1, 1, 1])), shape=(2, 2))
    graph = Graph.from_scipy(matrix, ids=["a", "b"], duplicates="max", self_loops="drop")
    assert dense(graph) == [[0, 2], [2, 0]]
    assert graph.ids.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="2 rows of A: got 1"):
        Graph.from_scipy(matrix, ids=["a"])
    with pytest.raises(InputError, match=r"got -1\.0"):
        Graph.from_scipy(np.array([[0, -1.0], [-1.0, 0]]))


def test_from_scipy_drops_explicit_zeros_and_leaves_its_input_alone() -> None:
    matrix = sp.csr_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2))
    graph = Graph.from_scipy(matrix, directed=True)
    assert graph.n_edges == 1
    assert matrix.nnz == 2
    assert matrix.indices.flags.writeable


def test_from_networkx_keeps_nodes_weights_and_direction() -> None:
    G = nx.DiGraph()
    G.add_nodes_from(["lone", (1, 2)])
    G.add_edge("a", (1, 2), weight=2.5)
    G.add_edge((1, 2), "b")
    graph = Graph.from_networkx(G, weight="weight")
    assert graph.directed
    assert graph.ids.tolist() == ["lone", (1, 2), "a", "b"]
    np.testing.assert_array_equal(graph.to_scipy().toarray(), nx.to_numpy_array(G))
    assert not Graph.from_networkx(G).is_weighted
    assert not Graph.from_networkx(G, directed=False).directed


def test_from_networkx_counts_parallel_edges_by_policy() -> None:
    G = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert not Graph.from_networkx(G).is_weighted
    assert Graph.from_networkx(G, duplicates="sum").degrees().tolist() == [2, 3, 1]
    assert Graph.from_networkx(nx.Graph()).n_nodes == 0


def test_from_networkx_matches_networkx_on_a_real_graph() -> None:
    G = nx.karate_club_graph()
    graph = Graph.from_networkx(G, weight="weight")
    np.testing.assert_array_equal(graph.to_scipy().toarray(), nx.to_numpy_array(G))
    assert graph.node_ids.is_range


class FakeIgraph:
    """The few calls of igraph that are used, so that the test needs no igraph."""

    def __init__(self, names: list[str] | None) -> None:
        self.es = {"weight": [2.0, 3.0]}
        self.vs: Any = {"name": names} if names else {}
        self.vs = SimpleVertices(self.vs)

    def get_edgelist(self) -> list[tuple[int, int]]:
        return [(0, 2), (2, 1)]

    def vcount(self) -> int:
        return 4

    def is_directed(self) -> bool:
        return True


class SimpleVertices(dict[str, list[str]]):
    def attributes(self) -> list[str]:
        return list(self)


def test_from_igraph_reads_names_and_weights() -> None:
    graph = Graph.from_igraph(FakeIgraph(["a", "b", "c", "d"]), weight="weight")
    assert graph.directed
    assert graph.ids.tolist() == ["a", "b", "c", "d"]
    assert dense(graph)[0] == [0, 0, 2, 0]
    plain = Graph.from_igraph(FakeIgraph(None), directed=False)
    assert plain.node_ids.is_range
    assert repr(plain) == "Graph(4 nodes, 2 edges, undirected, unweighted, 1 isolated node)"


@pytest.mark.parametrize("name", ["from_networkx", "from_igraph", "from_pandas", "from_pyg"])
def test_converters_refuse_what_they_do_not_know(name: str) -> None:
    with pytest.raises(InputTypeError, match="got list"):
        getattr(Graph, name)([1, 2])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_from_pandas_finds_the_columns(frame: Any) -> None:
    table = frame({"Weight": [1.0, 2.0], "Src": ["b", "a"], "dst": ["a", "c"]})
    graph = Graph.from_pandas(table)
    assert graph.ids.tolist() == ["b", "a", "c"]
    assert graph.degrees().tolist() == [1, 3, 2]
    assert not Graph.from_pandas(table, weight=False).is_weighted
    assert Graph.from_pandas(table, "dst", "Src", directed=True).degrees().tolist() == [1, 0, 2]


def test_from_pandas_takes_integers_for_ids() -> None:
    table = pd.DataFrame({"a": [101, 7], "b": [7, 10**9]})
    assert Graph.from_pandas(table).ids.tolist() == [7, 101, 10**9]
    assert Graph.from_pandas(table, nodes=[10**9, 101, 7, 1]).n_nodes == 4


def test_from_pandas_takes_a_frame_without_rows() -> None:
    empty = pd.DataFrame({"source": [], "target": []})
    assert Graph.from_pandas(empty).n_nodes == 0
    assert Graph.from_pandas(empty, nodes=["a"]).n_isolated == 1


def test_from_pandas_refuses_missing_endpoints_and_weights() -> None:
    with pytest.raises(InputError, match="column 'source' must have no missing id"):
        Graph.from_pandas(pd.DataFrame({"source": ["a", None], "target": ["b", "c"]}))
    with pytest.raises(InputError, match=r"column 'target'.*nan at position 1"):
        Graph.from_pandas(pd.DataFrame({"source": [1, 2], "target": [3, None]}))
    with pytest.raises(InputError, match="finite and not negative"):
        Graph.from_pandas(pd.DataFrame({"source": [1, 2], "target": [3, 4], "weight": [1.0, None]}))


def pyg(edges: list[list[int]], **more: object) -> SimpleNamespace:
    return SimpleNamespace(edge_index=np.array(edges, dtype=np.int64).reshape(2, -1), **more)


def test_from_pyg_reads_edges_nodes_and_weights() -> None:
    data = pyg(
        [[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=5, edge_weight=np.array([1, 1, 3, 3], dtype=np.float32)
    )
    graph = Graph.from_pyg(data)
    assert repr(graph) == "Graph(5 nodes, 2 edges, undirected, weighted, 2 isolated nodes)"
    assert Graph.from_pyg(data, directed=True).n_edges == 4
    assert Graph.from_pyg(pyg([[0], [1]])).n_nodes == 2


class Tensor:
    """A tensor on some device: an array only after detach and cpu."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self._values = values

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> np.ndarray[Any, Any]:
        return self._values


def test_from_pyg_takes_tensors_without_torch() -> None:
    data = SimpleNamespace(edge_index=Tensor(np.array([[0], [1]])), num_nodes=3, edge_weight=None)
    assert Graph.from_pyg(data).n_nodes == 3


def test_from_pyg_refuses_edges_of_another_shape() -> None:
    with pytest.raises(InputError, match=r"shape \(2, E\): got \(1, 3\)"):
        Graph.from_pyg(SimpleNamespace(edge_index=np.zeros((1, 3), dtype=int)))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["citing", "cited"], ("citing", "cited", None)),
        (["x", "From", "TO", "y"], ("From", "TO", None)),
        (["weight", "p", "q"], ("p", "q", "weight")),
        (["id", "head", "tail", "source", "target"], ("source", "target", None)),
    ],
)
def test_columns_are_chosen_by_their_words(names: list[str], expected: tuple[str, str, str | None]) -> None:
    chosen = choose_columns(names, None, None, None)
    assert (chosen.source, chosen.target, chosen.weight) == expected


def test_columns_that_cannot_be_chosen_are_asked_for() -> None:
    with pytest.raises(InputError, match="got the columns 'a', 'b', 'c'"):
        choose_columns(["a", "b", "c"], None, None, None)
    with pytest.raises(InputError, match="together"):
        choose_columns(["a", "b"], "a", None, None)
    with pytest.raises(InputError, match="two columns"):
        choose_columns(["a", "b"], "a", 0, None)
    with pytest.raises(InputError, match="weight must name a column: got 'w'"):
        choose_columns(["a", "b"], None, None, "w")
    with pytest.raises(InputError, match="and 2 more"):
        choose_columns([f"c{i}" for i in range(12)], "x", "y", None)


def test_columns_without_header_are_the_first_two_and_the_rest_is_said() -> None:
    names = ["column_0", "column_1", "column_2"]
    with pytest.warns(SgclearnWarning, match="weight='column_2' makes the third the weight"):
        choose_columns(names, None, None, None, has_header=False)
    assert choose_columns(names, None, None, 2, has_header=False).weight == "column_2"
    assert choose_columns(names, None, None, False, has_header=False).weight is None
