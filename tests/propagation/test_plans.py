"""Every order of the products gives the same numbers, whether the rows are formed or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from propagation.designs import EXPLICIT, KINDS, check_design, features_of, tolerance
from sgclearn import Operator, reference
from sgclearn.propagation import design
from sgclearn.propagation.design import ExplicitDesign
from sgclearn.propagation.implicit import ImplicitDesign, build_designs
from sgclearn.propagation.neighbourhood import hop_blocks, hop_sets
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.rows import propagated_rows

from zoo import ZOO, dense_adjacency, graphs, operator_choices, random_graph, to_dense

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")
FEW = settings(max_examples=40)


def expected_rows(graph, choice, X, nodes, n_hops):
    S = reference.propagation_matrix(dense_adjacency(graph), choice[0], choice[1] or 0.0)
    return reference.propagate(X, S, n_hops)[nodes]


@st.composite
def cases(draw):
    graph = draw(graphs(self_loops=True))
    node = st.integers(0, graph.n_nodes - 1)
    nodes = np.array(draw(st.lists(node, min_size=1, unique=True)), dtype=np.intp)  # in any order
    return graph, nodes, draw(operator_choices()), draw(st.sampled_from(KINDS))


@FEW
@given(cases(), st.sets(st.integers(0, 4), min_size=1), st.sampled_from(EXPLICIT))
def test_rows_of_every_hop_come_out_of_one_pass(case, hops, plan):
    graph, nodes, choice, kind = case
    features, X = features_of(graph.n_nodes, kind)
    operator = Operator(graph, *choice)
    one_pass = dict(propagated_rows(operator, features, nodes, sorted(hops), plan))
    assert list(one_pass) == sorted(hops)
    for k, Z in one_pass.items():
        alone = next(propagated_rows(operator, features, nodes, [k], plan))[1]
        np.testing.assert_allclose(to_dense(Z), to_dense(alone), **tolerance(kind))
        np.testing.assert_allclose(to_dense(Z), expected_rows(graph, choice, X, nodes, k), **tolerance(kind))


@pytest.mark.parametrize("plan", EXPLICIT)
def test_rows_of_identity_features_survive_further_hops(plan):
    # The product of two blocks has unsorted rows; sorting what is given out must not disturb the next hop.
    graph = random_graph(40, 80, seed=67)
    features, operator, nodes = NodeFeatures(None, 40), Operator(graph), np.array([5, 3, 30])
    S = reference.propagation_matrix(dense_adjacency(graph), "sym", 1.0)
    for k, Z in propagated_rows(operator, features, nodes, [1, 2, 3, 4], plan):
        if sparse.issparse(Z):
            Z.sort_indices()
        np.testing.assert_allclose(to_dense(Z), np.linalg.matrix_power(S, k)[nodes], rtol=1e-10, atol=1e-14)


def test_rows_without_a_graph_are_those_of_the_features():
    features, X = features_of(6, "sparse")
    nodes = np.array([4, 1])
    for k, Z in propagated_rows(None, features, nodes, [0, 2], "full"):
        assert k in (0, 2)
        np.testing.assert_array_equal(to_dense(Z), X[nodes])


@FEW
@given(cases(), st.integers(0, 3))
def test_designs_of_all_plans_multiply_alike(case, n_hops):
    graph, nodes, choice, kind = case
    features, X = features_of(graph.n_nodes, kind)
    operator = Operator(graph, *choice)
    expected = expected_rows(graph, choice, X, nodes, n_hops)
    for plan in (*EXPLICIT, "implicit"):
        ((k, Z),) = build_designs(operator, features, nodes, [n_hops], plan)
        assert k == n_hops
        assert isinstance(Z, ImplicitDesign if plan == "implicit" else ExplicitDesign)
        check_design(Z, expected, tolerance(kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plan", ["full", "implicit"])
def test_designs_without_a_graph_are_the_features(kind, plan):
    features, X = features_of(6, kind)
    for nodes in ([0, 1, 2, 3, 4, 5], [3, 2, 5, 4, 1, 0], [4, 0]):
        ((_, Z),) = build_designs(None, features, np.array(nodes), [2], plan)
        check_design(Z, X[nodes], tolerance(kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["isolated-nodes", "directed-weighted", "complete"])
def test_designs_split_into_column_blocks_of_bounded_size(monkeypatch, name, kind):
    graph = ZOO[name]
    monkeypatch.setattr(design, "_BLOCK_BYTES", 8 * 2 * graph.n_nodes)
    features, X = features_of(graph.n_nodes, kind)
    nodes = np.arange(graph.n_nodes)[::-1]
    expected = expected_rows(graph, ("sym", 1.0), X, nodes, 2)
    for plan in (*EXPLICIT, "implicit"):
        ((_, Z),) = build_designs(Operator(graph), features, nodes, [2], plan)
        assert all(stop - start <= 2 for start, stop, _ in Z.column_blocks())
        check_design(Z, expected, tolerance(kind))


def test_designs_add_up_weighted_squares_of_columns_where_they_can():
    graph, weights = ZOO["star"], np.array([0.5, 2.0, 1.0])
    features, X = features_of(6, "dense")
    nodes = np.array([2, 0, 5])
    expected = (expected_rows(graph, ("sym", 1.0), X, nodes, 2) ** 2).T @ weights
    ((_, explicit),) = build_designs(Operator(graph), features, nodes, [2], "frontier")
    np.testing.assert_allclose(explicit.squares(weights), expected, rtol=1e-12)
    stored = ExplicitDesign(sparse.csr_array(explicit.Z))
    np.testing.assert_allclose(stored.squares(weights), expected, rtol=1e-12)
    ((_, implicit),) = build_designs(Operator(graph), features, nodes, [2], "implicit")
    assert implicit.squares(weights) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_hops", [0, 2])
def test_designs_may_repeat_a_node(kind, n_hops):
    graph, nodes = ZOO["star"], np.array([2, 0, 2, 2])
    features, X = features_of(6, kind)
    expected = expected_rows(graph, ("rw", 1.0), X, nodes, n_hops)
    check_design(ImplicitDesign(Operator(graph, "rw"), features, nodes, n_hops), expected, tolerance(kind))


def test_designs_of_several_hops_come_in_order():
    graph, nodes = ZOO["path"], np.array([0, 4])
    features, X = features_of(5, "dense")
    for plan in (*EXPLICIT, "implicit"):
        built = list(build_designs(Operator(graph), features, nodes, [0, 1, 3], plan))
        assert [k for k, _ in built] == [0, 1, 3]
        for k, Z in built:
            check_design(Z, expected_rows(graph, ("sym", 1.0), X, nodes, k), tolerance("dense"))


def test_hop_sets_grow_along_the_arrows():
    path = ZOO["path"]
    assert [s.tolist() for s in hop_sets(path, np.array([4, 0]), 2)] == [
        [4, 0],
        [0, 1, 3, 4],
        [0, 1, 2, 3, 4],
    ]
    sink = ZOO["directed-sink"]  # 0 -> 1, 0 -> 2, 1 -> 2, 3 -> 2
    assert [s.tolist() for s in hop_sets(sink, np.array([2]), 2)] == [[2], [2], [2]]
    assert [s.tolist() for s in hop_sets(sink, np.array([1]), 2)] == [[1], [1, 2], [1, 2]]


def test_hop_blocks_between_the_same_nodes_are_built_once():
    operator = Operator(ZOO["two-components"])
    sets = hop_sets(operator.graph, np.array([4]), 4)
    blocks = hop_blocks(operator, sets)
    assert [block.shape for block in blocks] == [(1, 3), (3, 3), (3, 3), (3, 3)]
    assert blocks[1] is blocks[2] is blocks[3]
    unordered = hop_blocks(operator, hop_sets(operator.graph, np.array([4, 3, 5]), 3))
    assert unordered[0] is not unordered[1]
    assert unordered[1] is unordered[2]
