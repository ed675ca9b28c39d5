from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Compute, Graph, Operator, propagate, reference
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.propagate import propagate_product

from zoo import (
    OPERATORS,
    ZOO,
    dense_adjacency,
    graphs,
    graphs_with_features,
    operator_choices,
    random_features,
    random_graph,
    to_dense,
)

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")
FEW = settings(max_examples=40)
PLANS = ["full", "frontier", "left-first"]


def expected_rows(X, graph, n_hops, normalization="sym", gamma=1.0):
    S = reference.propagation_matrix(dense_adjacency(graph), normalization, gamma or 0.0)
    return reference.propagate(X, S, n_hops)


def assert_close(actual, expected, rtol=1e-10):
    """Relative to the largest entry: sums of both signs may cancel."""
    actual = to_dense(actual)
    assert actual.shape == expected.shape
    atol = rtol * np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("graph", ZOO.values(), ids=ZOO)
@pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
def test_propagate_equals_reference_on_the_zoo(graph, choice):
    normalization, gamma = choice
    X = random_features(graph.n_nodes, 3, seed=7)
    forms = [
        (X, 1e-10, np.float64),
        (sparse.csr_array(X), 1e-10, np.float64),
        (X.astype(np.float32), 1e-5, np.float32),
        (sparse.csc_matrix(X.astype(np.float32)), 1e-5, np.float32),
    ]
    for n_hops, (form, rtol, dtype) in product(range(5), forms):
        Z = propagate(form, graph, n_hops, normalization=normalization, gamma=gamma)
        assert Z.dtype == dtype
        assert_close(Z, expected_rows(X, graph, n_hops, normalization, gamma), rtol)
    for n_hops in range(5):
        S_power = propagate(None, graph, n_hops, normalization=normalization, gamma=gamma)
        assert_close(S_power, expected_rows(np.eye(graph.n_nodes), graph, n_hops, normalization, gamma))


@FEW
@given(
    graphs_with_features(self_loops=True),
    operator_choices(),
    st.integers(0, 4),
    st.sampled_from(["auto", *PLANS]),
    st.booleans(),
)
def test_propagate_equals_reference_on_random_graphs_by_every_plan(pair, choice, n_hops, plan, as_sparse):
    graph, X = pair
    form = sparse.csr_array(X) if as_sparse else X
    Z = propagate(form, graph, n_hops, normalization=choice[0], gamma=choice[1], compute=Compute(plan=plan))
    assert_close(Z, expected_rows(X, graph, n_hops, *choice))


@FEW
@given(st.data(), graphs_with_features(), operator_choices(), st.integers(0, 3))
def test_propagate_is_permutation_equivariant(data, pair, choice, n_hops):
    graph, X = pair
    order = np.array(data.draw(st.permutations(range(graph.n_nodes))))
    options = {"n_hops": n_hops, "normalization": choice[0], "gamma": choice[1]}
    Z = propagate(X, graph, **options)
    assert_close(propagate(X[order], graph.subgraph(order), **options), Z[order])


@FEW
@given(graphs_with_features(), operator_choices(), st.integers(0, 3), st.floats(-5, 5))
def test_propagate_is_linear(pair, choice, n_hops, factor):
    graph, X = pair
    Y = random_features(graph.n_nodes, X.shape[1], seed=11)
    options = {"n_hops": n_hops, "normalization": choice[0], "gamma": choice[1]}
    separately = propagate(X, graph, **options) + factor * propagate(Y, graph, **options)
    together = propagate(X + factor * Y, graph, **options)
    scale = 1e-10 * (np.abs(X).max() + 5 * np.abs(Y).max(initial=0.0)) * 2**n_hops
    np.testing.assert_allclose(together, separately, rtol=1e-10, atol=scale)


@FEW
@given(graphs_with_features(), operator_choices(), st.integers(0, 2), st.integers(0, 2))
def test_propagate_hops_add_up(pair, choice, first, second):
    graph, X = pair
    options = {"normalization": choice[0], "gamma": choice[1]}
    twice = propagate(propagate(X, graph, first, **options), graph, second, **options)
    assert_close(twice, to_dense(propagate(X, graph, first + second, **options)))


@FEW
@given(graphs_with_features(), operator_choices())
def test_propagate_zero_hops_give_the_features_back(pair, choice):
    graph, X = pair
    Z = propagate(X, graph, 0, normalization=choice[0], gamma=choice[1])
    np.testing.assert_array_equal(Z, X)
    assert not np.shares_memory(Z, X)


@FEW
@given(graphs(directed=True), graphs(directed=True), operator_choices(), st.integers(0, 3))
def test_propagate_treats_a_disjoint_union_as_two_graphs(left, right, choice, n_hops):
    A = sparse.block_diag([left.to_scipy(), right.to_scipy()], format="csr")
    both = Graph.from_scipy(sparse.csr_array(A), directed=True)
    X = random_features(both.n_nodes, 2, seed=13)
    options = {"n_hops": n_hops, "normalization": choice[0], "gamma": choice[1]}
    parts = [
        propagate(X[: left.n_nodes], left, **options),
        propagate(X[left.n_nodes :], right, **options),
    ]
    assert_close(propagate(X, both, **options), np.vstack(parts))


@FEW
@given(st.data(), graphs_with_features(self_loops=True), operator_choices(), st.integers(0, 3))
def test_propagate_named_nodes_are_rows_of_the_whole(data, pair, choice, n_hops):
    graph, X = pair
    node = st.integers(0, graph.n_nodes - 1)
    nodes = data.draw(st.lists(node, max_size=2 * graph.n_nodes))  # any order, with repeats
    plan = data.draw(st.sampled_from(["auto", *PLANS]))
    features = data.draw(st.sampled_from([X, sparse.csr_array(X), None]))
    options = {"n_hops": n_hops, "normalization": choice[0], "gamma": choice[1]}
    whole = to_dense(propagate(features, graph, **options))
    assert_close(propagate(features, graph, nodes=nodes, compute=Compute(plan=plan), **options), whole[nodes])


def test_propagate_takes_a_mask_of_nodes():
    graph, X = ZOO["bipartite"], random_features(5, 3, seed=17)
    mask = np.array([True, False, False, True, True])
    Z = propagate(X, graph, nodes=mask)
    assert_close(Z, propagate(X, graph)[mask])
    assert propagate(X, graph, nodes=np.zeros(5, dtype=bool)).shape == (0, 3)


@pytest.mark.parametrize("graph", ZOO.values(), ids=ZOO)
@pytest.mark.parametrize("row_norm", ["l1", "l2"])
def test_propagate_row_norm_divides_rows_before_the_hops(graph, row_norm):
    X = random_features(graph.n_nodes, 4, seed=19) - 0.25
    X[0] = 0.0  # a zero row stays zero
    norms = np.linalg.norm(X, ord=1 if row_norm == "l1" else 2, axis=1, keepdims=True)
    expected = expected_rows(X / np.where(norms > 0, norms, 1.0), graph, 2)
    for form, plan in product([X, sparse.csr_array(X)], PLANS):
        assert_close(propagate(form, graph, row_norm=row_norm, compute=Compute(plan=plan)), expected)
        unpropagated = to_dense(propagate(form, graph, 0, row_norm=row_norm, compute=Compute(plan=plan)))
        assert not unpropagated[0].any()
    assert_close(propagate(X.astype(np.float32), graph, row_norm=row_norm), expected, 1e-5)


def test_propagate_identity_features_ignore_the_row_norm():
    graph = ZOO["star"]
    for row_norm in ("l1", "l2"):
        assert_close(propagate(None, graph, row_norm=row_norm), propagate(np.eye(6), graph))


def test_propagate_leaves_its_input_as_it_was():
    graph = ZOO["path"]
    X = random_features(5, 3, seed=23)
    given = sparse.coo_array(X)
    unsorted = sparse.csr_array(([1.0, 2.0, -5.0], [2, 0, 0], [0, 3, 3, 3, 3, 3]), shape=(5, 3))
    before = X.copy()
    for row_norm in (None, "l1", "l2"):
        propagate(X, graph, row_norm=row_norm)
        propagate(given, graph, row_norm=row_norm)
        propagate(unsorted, graph, row_norm=row_norm)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(given.toarray(), before)
    np.testing.assert_array_equal(unsorted.indices, [2, 0, 0])


def test_propagate_adds_repeated_entries_of_sparse_features_before_the_norm():
    repeated = sparse.csr_array(([1.0, 2.0, -5.0], [1, 0, 0], [0, 3, 3]), shape=(2, 2))  # row (-3, 1)
    Z = propagate(repeated, ZOO["one-edge"], 0, row_norm="l1")
    np.testing.assert_allclose(to_dense(Z), [[-0.75, 0.25], [0.0, 0.0]])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float16])
def test_propagate_computes_in_float64_whatever_the_numbers(dtype):
    X = (np.arange(10).reshape(5, 2) % 2).astype(dtype)
    for form in (X, sparse.csr_array(X.astype(np.int8 if dtype == np.float16 else dtype))):
        Z = propagate(form, ZOO["path"])
        assert Z.dtype == np.float64
        assert_close(Z, expected_rows(X.astype(np.float64), ZOO["path"], 2))


def test_propagate_output_has_the_asked_form():
    graph, X = ZOO["two-components"], random_features(6, 3, seed=29, density=0.2)
    expected = expected_rows(X, graph, 2)
    for form in (X, sparse.csr_array(X), sparse.csr_matrix(X)):
        dense, stored = (
            propagate(form, graph, output="dense"),
            propagate(form, graph, output="sparse"),
        )
        assert isinstance(dense, np.ndarray)
        assert isinstance(stored, sparse.csr_array)
        assert_close(dense, expected)
        assert_close(stored, expected)
    assert isinstance(propagate(X, graph), np.ndarray)
    for n_hops in range(3):
        assert isinstance(propagate(None, graph, n_hops, output="dense"), np.ndarray)


def test_propagate_keeps_sparse_features_sparse_while_that_is_cheaper():
    X = sparse.random_array((400, 5000), density=0.001, rng=np.random.default_rng(31), format="csr")
    thin = propagate(X, random_graph(400, 500, seed=37))
    assert isinstance(thin, sparse.csr_array)
    assert thin.has_sorted_indices
    crowded = propagate(X[:, :50] + sparse.eye_array(400, 50), random_graph(400, 20_000, seed=41))
    assert isinstance(crowded, np.ndarray)


@pytest.mark.parametrize("engine", ["native", "scipy"])
@pytest.mark.parametrize("plan", PLANS)
def test_propagate_reports_progress_up_to_the_end(plan, engine):
    seen = []
    X = random_features(5, 20, seed=43)
    on_progress = lambda done, of: seen.append((done, of))  # noqa: E731
    propagate(X, ZOO["path"], 3, compute=Compute(plan=plan, engine=engine), on_progress=on_progress)
    shares = [done / of for done, of in seen]
    assert len(shares) > 1
    assert shares == sorted(set(shares))
    assert shares[-1] == 1.0


def test_propagate_gives_the_same_bits_twice():
    graph, X = random_graph(60, 200, seed=47), random_features(60, 8, seed=53)
    for form in (X, sparse.csr_array(X)):
        first, second = (to_dense(propagate(form, graph, 3)) for _ in range(2))
        np.testing.assert_array_equal(first, second)


@FEW
@given(st.data(), graphs_with_features(self_loops=True), operator_choices(), st.integers(0, 3))
def test_propagate_product_equals_reference_logits(data, pair, choice, n_hops):
    graph, X = pair
    node = st.integers(0, graph.n_nodes - 1)
    nodes = data.draw(st.none() | st.lists(node, max_size=2 * graph.n_nodes))
    X = np.eye(graph.n_nodes) if data.draw(st.booleans()) else X
    form = data.draw(st.sampled_from([X, sparse.csr_array(X)]))
    is_identity = X.shape == (graph.n_nodes,) * 2 and np.array_equal(X, np.eye(graph.n_nodes))
    features = NodeFeatures(None if is_identity else form, graph.n_nodes)
    Theta = random_features(X.shape[1], 3, seed=59, density=1.0)
    positions = None if nodes is None else np.array(nodes, dtype=np.intp)
    logits = propagate_product(Operator(graph, *choice), features, n_hops, Theta, positions)
    expected = expected_rows(X, graph, n_hops, *choice) @ Theta
    assert_close(logits, expected if nodes is None else expected[nodes])
    without_graph = propagate_product(None, features, n_hops, Theta, positions)
    assert_close(without_graph, X @ Theta if nodes is None else (X @ Theta)[nodes])
