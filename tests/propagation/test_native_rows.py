"""Passes of the kernel over rows of a graph and of sparse features, against the plain way of doing the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Graph, Operator, reference
from sgclearn.errors import InputError
from sgclearn.filters import CustomFilter
from sgclearn.propagation import neighbourhood, node_features
from sgclearn.propagation.engines import get_engine
from sgclearn.propagation.engines.native_products import thin_product
from sgclearn.propagation.neighbourhood import hop_sets, neighbour_sums
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.planner import make_plan
from sgclearn.propagation.rows import propagated_rows

from zoo import ZOO, dense_adjacency, graphs, operator_choices, random_graph

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")
FEW = settings(max_examples=40)


def words(n_nodes: int, n_columns: int, density: float, seed: int, dtype=np.float64) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n_nodes, n_columns), density=density, format="csr", rng=rng, dtype=dtype)
    X.data -= dtype(0.4)
    return X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [7, 3000], ids=["crowded", "thin"])
@FEW
@given(case=st.data())
def test_native_walked_rows_equal_the_reference(n_columns, dtype, case):
    graph, choice = case.draw(graphs(self_loops=True)), case.draw(operator_choices())
    node = st.integers(0, graph.n_nodes - 1)
    rows = np.array(case.draw(st.lists(node, min_size=1, unique=True)), dtype=np.intp)
    coefficients = case.draw(st.lists(st.sampled_from([0.0, 1.0, -0.5]), min_size=2, max_size=4))
    X = words(graph.n_nodes, n_columns, 0.3 if n_columns < 10 else 0.005, 61, dtype)
    features = NodeFeatures(X, row_norm=case.draw(st.sampled_from([None, "l1", "l2"])))
    walked = get_engine("native").sparse_rows(
        Operator(graph, *choice), features.X, features.row_scale, rows, np.array(coefficients)
    )
    S = reference.propagation_matrix(dense_adjacency(graph), choice[0], choice[1] or 0.0)
    expected = (
        sum(c * np.linalg.matrix_power(S, k) for k, c in enumerate(coefficients)) @ features.take().toarray()
    )
    assert walked.dtype == dtype
    assert walked.has_canonical_format
    tolerance = 1e-5 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(walked.toarray(), expected[rows], rtol=tolerance, atol=tolerance)


def test_native_walked_rows_do_not_depend_on_threads_nor_on_the_width_of_indices():
    graph = random_graph(4000, 12_000, seed=67)
    wide = Graph(graph.indptr, graph.indices)
    X = words(4000, 500, 0.02, 71)
    rows, power = np.arange(0, 4000, 2), np.array([0.0, 0.0, 1.0])
    one = get_engine("native", 1).sparse_rows(Operator(graph), X, None, rows, power)
    X_wide = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    two = get_engine("native", 2).sparse_rows(Operator(wide), X_wide, None, rows, power)
    assert one.indices.dtype == np.int32
    assert two.indices.dtype == np.int64
    np.testing.assert_array_equal(one.toarray(), two.toarray())


@pytest.mark.parametrize("filter_", [0, 1, CustomFilter([0.5, 0.0, -1.0]), CustomFilter([0.0, 0.0])], ids=str)
def test_left_first_gives_the_same_by_walking_and_by_products(filter_):
    operator, rows = Operator(random_graph(60, 120, seed=73)), np.array([7, 3, 50])
    features = NodeFeatures(words(60, 20, 0.2, 79), row_norm="l1")
    found = [
        next(propagated_rows(operator, features, rows, [filter_], "left-first", engine=get_engine(name)))[1]
        for name in ("native", "scipy")
    ]
    np.testing.assert_allclose(found[0].toarray(), found[1].toarray(), atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 3, 4, 5, 8, 9, 17])
def test_native_thin_products_equal_dense_ones(n_columns, dtype):
    X = words(300, 50, 0.2, 83, dtype)
    V = np.random.default_rng(89).normal(size=(50, n_columns))
    product = thin_product(X, np.asfortranarray(V), 2)
    np.testing.assert_allclose(product, X.toarray().astype(np.float64) @ V, atol=1e-13)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_norms_are_the_same_with_and_without_the_kernel(monkeypatch, dtype, norm):
    X = words(40, 60, 0.4, 97, dtype)
    X = sparse.csr_array(sparse.vstack([X, sparse.csr_array((3, 60), dtype=dtype)]))
    fast = NodeFeatures(X, row_norm=norm).row_scale
    monkeypatch.setattr(node_features, "load_kernel", lambda: None)
    slow = NodeFeatures(X, row_norm=norm).row_scale
    assert fast.dtype == slow.dtype == dtype
    np.testing.assert_allclose(fast, slow, rtol=1e-6 if dtype == np.float32 else 1e-14)
    np.testing.assert_array_equal(fast[-3:], 1.0)


@pytest.mark.parametrize("norm", [None, "l1", "l2"])
@pytest.mark.parametrize("position", [0, 8, 10])  # within a vector of the kernel, and after the last
@pytest.mark.parametrize(
    ("value", "words_"), [(np.nan, "NaN"), (-np.inf, "infinity"), (1e200, "can be squared: got 1e")]
)
def test_values_that_cannot_be_used_are_seen_wherever_they_are(value, words_, position, norm):
    X = sparse.csr_array(np.ones((2, 11)))
    X.data[11 + position] = value
    with pytest.raises(InputError, match=words_):
        NodeFeatures(X, row_norm=norm)


@pytest.mark.parametrize("graph", ZOO.values(), ids=ZOO)
def test_neighbourhoods_are_the_same_with_and_without_the_kernel(monkeypatch, graph):
    nodes = np.arange(graph.n_nodes)[::-2].copy()
    counts = np.arange(graph.n_nodes) + 0.5
    fast = (
        hop_sets(graph, nodes, 2),
        neighbour_sums(graph, counts, nodes),
        neighbour_sums(graph, counts, nodes[:1]),
    )
    monkeypatch.setattr(neighbourhood, "load_kernel", lambda: None)
    slow = (
        hop_sets(graph, nodes, 2),
        neighbour_sums(graph, counts, nodes),
        neighbour_sums(graph, counts, nodes[:1]),
    )
    for a, b in zip(fast[0], slow[0], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(fast[1], slow[1])
    np.testing.assert_allclose(fast[2], slow[2])


def test_plan_of_a_tiny_graph_forms_its_rows():
    graph = random_graph(34, 78, seed=101)
    features = NodeFeatures(np.random.default_rng(103).normal(size=(34, 16)))
    # Products that are never formed would take a call each, which costs more than everything else here.
    assert make_plan(Operator(graph), features, np.arange(0, 34, 2), 2, 2).chosen != "implicit"


def test_equal_counts_are_added_up_as_any_others():
    graph = random_graph(60, 150, seed=3)
    pattern = (graph.to_scipy() != 0).astype(float).toarray()
    for nodes in (np.arange(60), np.array([7, 2, 41])):
        wanted = np.zeros(60)
        wanted[nodes] = (pattern @ np.full(60, 5.0))[nodes]
        np.testing.assert_array_equal(neighbour_sums(graph, np.full(60, 5.0), nodes), wanted)
