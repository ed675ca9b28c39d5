"""Laplacians against dense algebra, and the symmetric matrix behind an operator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from sgclearn import Graph, Operator, reference
from sgclearn.errors import InputError
from sgclearn.spectral import laplacian
from sgclearn.spectral.laplacian import symmetric_matrix

from zoo import OPERATORS, UNDIRECTED, ZOO, dense_adjacency, graphs, random_features

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data")


@pytest.mark.parametrize("graph", UNDIRECTED.values(), ids=UNDIRECTED)
def test_laplacian_equals_dense_algebra(graph: Graph) -> None:
    A, eye = dense_adjacency(graph), np.eye(graph.n_nodes)
    expected = {
        ("combinatorial", None): np.diag(A.sum(axis=1)) - A,
        ("normalized", None): eye - reference.propagation_matrix(A, "sym", 0.0),
        ("augmented", None): eye - reference.propagation_matrix(A, "sym", 1.0),
        ("augmented", 0.35): eye - reference.propagation_matrix(A, "sym", 0.35),
    }
    X = random_features(graph.n_nodes, 3, seed=71)
    for (kind, gamma), dense in expected.items():
        matrix = laplacian(graph, kind, gamma=gamma)
        np.testing.assert_allclose(matrix.toarray(), dense, atol=1e-14)
        product = laplacian(graph, kind, gamma=gamma, as_operator=True)
        np.testing.assert_allclose(product @ X, dense @ X, atol=1e-13)
        np.testing.assert_allclose(product.T @ X[:, 0], dense @ X[:, 0], atol=1e-13)


@given(graphs(directed=False))
def test_laplacian_is_positive_semidefinite(graph: Graph) -> None:
    for kind in ("combinatorial", "normalized", "augmented"):
        assert np.linalg.eigvalsh(laplacian(graph, kind).toarray()).min() > -1e-11


@pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("graph", UNDIRECTED.values(), ids=UNDIRECTED)
def test_symmetric_matrix_is_similar_to_the_operator(graph: Graph, choice: tuple[str, float | None]) -> None:
    operator = Operator(graph, *choice)
    matrix, scale = symmetric_matrix(operator)
    M = matrix.toarray()
    np.testing.assert_allclose(M, M.T, atol=1e-15)
    np.testing.assert_allclose(M * scale / scale[:, None], operator.matrix().toarray(), atol=1e-14)


def test_laplacian_refuses_a_directed_graph_and_its_remedy_works() -> None:
    graph = ZOO["directed-weighted"]
    with pytest.raises(InputError, match="got a directed one") as caught:
        laplacian(graph)
    assert "Graph.from_scipy(graph.to_scipy(), ids=graph.ids, duplicates='max')" in str(caught.value)
    undirected = Graph.from_scipy(graph.to_scipy(), ids=graph.ids, duplicates="max")
    assert not undirected.directed
    assert laplacian(undirected).shape == (4, 4)


def test_laplacian_refuses_what_it_does_not_know() -> None:
    with pytest.raises(InputError, match="kind must be one of combinatorial"):
        laplacian(ZOO["path"], "signed")
    with pytest.raises(InputError, match="gamma goes with kind='augmented': got gamma=2"):
        laplacian(ZOO["path"], "normalized", gamma=2.0)
    with pytest.raises(InputError, match="got a graph without nodes"):
        symmetric_matrix(Operator(Graph.from_edges([], n_nodes=0)))
