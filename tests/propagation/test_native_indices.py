"""Indices of 64 bits: the same kernels once more, for graphs and features of more than two billion entries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sgclearn import Graph, Operator
from sgclearn._native import load_kernel
from sgclearn.graph.build import Rows
from sgclearn.propagation.engines import get_engine, native_walk
from sgclearn.propagation.engines.native_products import thin_product
from sgclearn.propagation.neighbourhood import hop_sets, neighbour_sums
from sgclearn.propagation.node_features import NodeFeatures

from zoo import dense_adjacency, random_features, random_graph, to_dense

CHOICES = [("sym", 1.0), ("sym", 0.0), ("rw", 0.5), ("rw", 0.0), ("cheby", None)]
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-11}
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
ROWS = np.array([40, 3, 17, 58, 8])


def graph_with(index, *, directed=False, weighted=False) -> Graph:
    graph = random_graph(60, 110, seed=307, directed=directed)
    weights = None
    if weighted:
        A = np.random.default_rng(311).uniform(0.2, 5.0, (60, 60))
        A = A if directed else A + A.T
        weights = A[np.repeat(np.arange(60), np.diff(graph.indptr)), graph.indices]
    rows = Rows(graph.indptr.astype(index), graph.indices.astype(index), weights)
    return Graph._trusted(rows, directed, graph.node_ids)


def sparse_with(index, X) -> sparse.csr_array:
    csr = sparse.csr_array(X)
    csr.indptr, csr.indices = csr.indptr.astype(index), csr.indices.astype(index)
    return csr


def features(dtype, n_columns=37) -> np.ndarray:
    return random_features(60, n_columns, seed=313, density=0.2).astype(dtype)


@pytest.fixture(params=[(INT64, INT64), (INT64, INT32), (INT32, INT64)], ids=["both", "graph", "features"])
def widths(request):
    """Which of graph and features have wide indices."""
    return request.param


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_walks_with_wide_indices_equal_the_reference(
    dtype, directed, weighted, choice, widths, polynomial
):
    graph = graph_with(widths[0], directed=directed, weighted=weighted)
    coefficients = np.array([0.5, 0.0, 2.0])
    P, S = polynomial(graph, choice, coefficients), polynomial(graph, choice, [0.0, 1.0])
    X, close = features(dtype), {"rtol": TOLERANCE[dtype], "atol": 5 * TOLERANCE[dtype]}
    V, everyone = random_features(37, 3, seed=317, density=1.0), np.arange(60)
    for rows in (everyone, ROWS):
        sets = [everyone] * 3 if rows is everyone else hop_sets(graph, rows, 2)
        walk, reached = get_engine("native").walk(Operator(graph, *choice), sets, rows, dtype), sets[-1]
        assert walk.blocks[0].indices.dtype == widths[0]
        expected = P[rows] @ X
        for H in (X, sparse_with(widths[1], X)):
            np.testing.assert_allclose(walk.forward(H, coefficients, nodes=reached), expected, **close)
        for H in (X[sets[1]], sparse_with(widths[1], X[sets[1]])):
            np.testing.assert_allclose(to_dense(walk.step(0, H)), S[rows] @ X, **close)
        H = sparse_with(widths[1], X[reached])
        np.testing.assert_allclose(walk.through(H, None, V, coefficients), expected @ V, **close)
        G = random_features(len(rows), 3, seed=331, density=1.0)
        for back in (coefficients, np.array([0.0, 0.0, 1.0])):  # by Horner's rule, and in one go
            Q = polynomial(graph, choice, back)[np.ix_(rows, reached)]
            np.testing.assert_allclose(walk.backward(G, back), Q.T @ G, **close)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [5, 2000], ids=["crowded", "thin"])
def test_native_walked_rows_with_wide_indices_equal_the_reference(
    n_columns, dtype, weighted, choice, widths, polynomial
):
    graph, X = graph_with(widths[0], weighted=weighted), features(dtype, n_columns)
    coefficients, scale = np.array([0.0, 1.0, -0.5]), np.linspace(0.5, 2.0, 60).astype(dtype)
    X *= (n_columns == 5) | (np.arange(n_columns) % 100 == 3)
    found = get_engine("native").sparse_rows(
        Operator(graph, *choice), sparse_with(widths[1], X), scale, ROWS, coefficients
    )
    expected = (polynomial(graph, choice, coefficients) @ (scale[:, None] * X))[ROWS]
    assert found.dtype == dtype
    np.testing.assert_allclose(found.toarray(), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("n_columns", [6, 3000], ids=["long rows", "short rows"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_products_with_wide_indices_equal_dense_ones(dtype, n_columns, widths):
    rng = np.random.default_rng(337)
    A = rng.normal(size=(50, 60)).astype(dtype) * (rng.random((50, 60)) < 0.2)
    X = features(dtype, n_columns)
    engine, close = get_engine("native"), {"rtol": TOLERANCE[dtype], "atol": 5 * TOLERANCE[dtype]}
    left, right = sparse_with(widths[0], A), sparse_with(widths[1], X)
    expected = A.astype(np.float64) @ X
    product = engine.sparse_product(left, right)
    assert product.dtype == dtype
    np.testing.assert_allclose(product.toarray(), expected, **close)
    parts = np.arange(50) % 3
    for k, extreme in enumerate((np.min, np.max)):
        found = engine.product_extremes(left, right, parts, 3)[k]
        np.testing.assert_allclose(found, [extreme(expected[parts == p], axis=0) for p in range(3)], **close)
    V = rng.normal(size=(n_columns, 5))
    np.testing.assert_allclose(thin_product(right, V, 2), X.astype(np.float64) @ V, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_native_neighbourhoods_with_wide_indices_equal_dense_ones(directed, weighted):
    graph = graph_with(INT64, directed=directed, weighted=weighted)
    A = (dense_adjacency(graph) != 0).astype(float)
    reach, counts = np.eye(60), np.linspace(1.0, 3.0, 60)
    for k, nodes in enumerate(hop_sets(graph, ROWS, 3)):
        if k:
            reach = reach @ (A + np.eye(60))
        np.testing.assert_array_equal(np.sort(nodes), np.flatnonzero(reach[ROWS].any(axis=0)))
    for nodes in (ROWS, np.arange(60)):
        expected = np.where(np.isin(np.arange(60), nodes), A @ counts, 0.0)
        np.testing.assert_allclose(neighbour_sums(graph, counts, nodes), expected, rtol=1e-14)


@pytest.mark.parametrize("index", ["i32", "i64"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_gram_and_norms_equal_dense_ones(dtype, index):
    X = features(dtype, 400)  # several blocks of columns
    Z, wide = sparse_with(INT64 if index == "i64" else INT32, X), X.astype(np.float64)
    gram = np.empty((60, 60))
    getattr(load_kernel(), f"gram_f{8 * Z.dtype.itemsize}_{index}")(Z.indptr, Z.indices, Z.data, 400, gram)
    np.testing.assert_allclose(gram, wide @ wide.T, atol=1e-12)
    for norm, sizes in (("l1", np.abs(wide).sum(axis=1)), ("l2", np.sqrt((wide**2).sum(axis=1)))):
        np.testing.assert_allclose(1 / NodeFeatures(Z, row_norm=norm).row_scale, sizes, rtol=1e-6)


def test_features_that_narrow_indices_cannot_count_widen_those_of_the_graph():
    most = 2**31 - 1
    assert native_walk.common_index(INT32, 300, most) == INT32
    assert (
        native_walk.common_index(INT32, 300, most + 1) == INT64
    )  # a narrow indptr would wrap round to negative numbers
    assert native_walk.common_index(INT32, most + 1, 300) == INT64
    assert native_walk.common_index(INT64, 300, 300) == INT64


def test_native_walk_gives_the_same_where_the_features_widen_the_graph(monkeypatch):
    graph, X, asked = graph_with(INT32, weighted=True), features(np.float64), []
    sets = hop_sets(graph, ROWS, 3)
    walk = get_engine("native").walk(Operator(graph), sets, ROWS, np.float64)
    power, H = np.array([0.0, 0.0, 0.0, 1.0]), sparse_with(INT32, X)
    narrow = walk.forward(H, power, nodes=sets[-1])
    kernel_for = native_walk.kernel_for
    monkeypatch.setattr(native_walk, "common_index", lambda *_: INT64)
    monkeypatch.setattr(
        native_walk, "kernel_for", lambda *which: asked.append(which[-1]) or kernel_for(*which)
    )
    np.testing.assert_array_equal(walk.forward(H, power, nodes=sets[-1]), narrow)
    assert asked == [INT64]
