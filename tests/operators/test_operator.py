from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sgclearn import Graph, Operator, reference
from sgclearn.errors import InputError, SgclearnWarning

from zoo import OPERATORS, UNDIRECTED, ZOO, dense_adjacency, graphs, operator_choices

ignore_loops = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")
each_graph = pytest.mark.parametrize("graph", ZOO.values(), ids=ZOO)
each_operator = pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
FEW = settings(max_examples=50)


def expected_matrix(graph: Graph, normalization: str, gamma: float | None) -> np.ndarray:
    return reference.propagation_matrix(dense_adjacency(graph), normalization, gamma or 0.0)


@ignore_loops
@each_graph
@each_operator
def test_operator_matrix_equals_reference_on_the_zoo(graph, choice):
    S = Operator(graph, *choice).matrix()
    assert S.shape == (graph.n_nodes, graph.n_nodes)
    np.testing.assert_allclose(S.toarray(), expected_matrix(graph, *choice), rtol=1e-12, atol=1e-15)


@ignore_loops
@FEW
@given(graphs(self_loops=True), operator_choices())
def test_operator_matrix_equals_reference_on_random_graphs(graph, choice):
    S = Operator(graph, *choice).matrix()
    np.testing.assert_allclose(S.toarray(), expected_matrix(graph, *choice), rtol=1e-12, atol=1e-15)


@FEW
@given(graphs(), st.floats(0.0, 50.0, allow_subnormal=False), st.sampled_from(["sym", "rw"]))
def test_operator_matrix_equals_reference_for_any_gamma(graph, gamma, normalization):
    S = Operator(graph, normalization, gamma).matrix()
    expected = expected_matrix(graph, normalization, gamma)
    np.testing.assert_allclose(S.toarray(), expected, rtol=1e-12, atol=1e-15)


@ignore_loops
@each_graph
@each_operator
def test_operator_is_three_diagonals_around_the_adjacency(graph, choice):
    operator = Operator(graph, *choice)
    sandwich = operator.left[:, None] * dense_adjacency(graph) * operator.right + np.diag(operator.diagonal)
    np.testing.assert_allclose(sandwich, operator.matrix().toarray(), rtol=1e-12, atol=1e-15)


@ignore_loops
@FEW
@given(st.data(), graphs(self_loops=True), operator_choices())
def test_operator_rows_are_a_slice_of_the_matrix(data, graph, choice):
    node = st.integers(0, graph.n_nodes - 1)
    nodes = np.array(data.draw(st.lists(node, max_size=2 * graph.n_nodes)), dtype=np.intp)
    operator = Operator(graph, *choice)
    np.testing.assert_array_equal(operator.rows(nodes).toarray(), operator.matrix().toarray()[nodes])


@each_operator
def test_operator_rows_of_all_nodes_keep_their_order(choice):
    graph = ZOO["weighted"]
    operator = Operator(graph, *choice)
    for nodes in ([3, 0, 2, 1], [0, 1, 2, 3], [1, 1, 1, 1]):
        rows = operator.rows(np.array(nodes)).toarray()
        np.testing.assert_array_equal(rows, operator.matrix().toarray()[nodes])


def test_operator_matrix_has_the_asked_dtype():
    operator = Operator(ZOO["path"])
    assert operator.matrix().dtype == np.float64
    single = operator.matrix(np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.toarray(), operator.matrix().toarray(), rtol=1e-6)


def test_operator_matrix_leaves_the_graph_as_it_was():
    graph = ZOO["weighted"]
    before = dense_adjacency(graph)
    for choice in OPERATORS.values():
        S = Operator(graph, *choice).matrix()
        S.data[:] = -1.0
    np.testing.assert_array_equal(dense_adjacency(graph), before)


@ignore_loops
@pytest.mark.parametrize("graph", UNDIRECTED.values(), ids=UNDIRECTED)
@pytest.mark.parametrize("choice", [("sym", 0.0), ("sym", 1.0), ("cheby", None)])
def test_operator_sym_and_cheby_are_symmetric_on_undirected_graphs(graph, choice):
    S = Operator(graph, *choice).matrix().toarray()
    np.testing.assert_allclose(S, S.T, rtol=1e-15)


@FEW
@given(graphs(), st.sampled_from([0.0, 0.35, 1.0]))
def test_operator_rw_rows_sum_to_one(graph, gamma):
    sums = Operator(graph, "rw", gamma).matrix().sum(axis=1)
    has_degree = graph.degrees() + gamma > 0
    np.testing.assert_allclose(sums, has_degree.astype(float), rtol=1e-12)


@FEW
@given(graphs(), st.sampled_from([0.0, 0.35, 1.0]))
def test_operator_sym_keeps_the_root_of_the_degrees(graph, gamma):
    assume(not graph.directed or gamma > 0)  # the arrows into a sink without a loop carry nothing
    root = np.sqrt(graph.degrees() + gamma)
    np.testing.assert_allclose(Operator(graph, "sym", gamma).matrix() @ root, root, rtol=1e-12)


@FEW
@given(graphs(directed=False), st.sampled_from([0.2, 1.0, 4.0]), st.sampled_from(["sym", "rw"]))
def test_operator_spectrum_lies_above_minus_one_and_up_to_one(graph, gamma, normalization):
    S = Operator(graph, normalization, gamma).matrix().toarray()
    eigenvalues = np.linalg.eigvals(S)
    np.testing.assert_allclose(eigenvalues.imag, 0.0, atol=1e-7)
    assert eigenvalues.real.min() > -1
    assert eigenvalues.real.max() == pytest.approx(1.0, abs=1e-9)


def test_operator_isolated_nodes_keep_their_features_or_get_zero_rows():
    graph = ZOO["isolated-nodes"]
    isolated = [0, 2, 5]
    own = np.eye(graph.n_nodes)[isolated]
    for choice in [("sym", 1.0), ("rw", 0.35), ("cheby", None)]:
        np.testing.assert_allclose(Operator(graph, *choice).matrix().toarray()[isolated], own, rtol=1e-12)
    for normalization in ("sym", "rw"):
        assert not Operator(graph, normalization, 0.0).matrix().toarray()[isolated].any()


def test_operator_directed_graph_averages_over_targets_with_row_degrees():
    graph = ZOO["directed-sink"]  # 0 -> 1, 0 -> 2, 1 -> 2, 3 -> 2
    plain = Operator(graph, "rw", 0.0).matrix().toarray()
    np.testing.assert_array_equal(plain[0], [0.0, 0.5, 0.5, 0.0])
    np.testing.assert_array_equal(plain[2], np.zeros(4))
    turned = Operator(graph.reversed(), "rw", 0.0).matrix().toarray()
    np.testing.assert_allclose(turned[2], [1 / 3, 1 / 3, 0.0, 1 / 3])
    np.testing.assert_array_equal(turned[0], np.zeros(4))


@FEW
@given(graphs(directed=True), operator_choices())
def test_operator_of_reversed_graph_is_that_of_the_transposed_adjacency(graph, choice):
    expected = reference.propagation_matrix(dense_adjacency(graph).T, choice[0], choice[1] or 0.0)
    S = Operator(graph.reversed(), *choice).matrix().toarray()
    np.testing.assert_allclose(S, expected, rtol=1e-12, atol=1e-15)


def test_operator_loops_in_the_data_are_named_in_a_warning():
    with pytest.warns(SgclearnWarning, match=r"at 2 of 3 nodes \(0, 2\) stay and gamma=1 adds another"):
        Operator(ZOO["self-loops"])
    many = Graph.from_edges([(name, name) for name in "pqrst"])
    with pytest.warns(SgclearnWarning, match=r"at 5 of 5 nodes \(p, q, r, \.\.\.\)"):
        Operator(many, "rw", 0.5)


@pytest.mark.parametrize("choice", [("sym", 0.0), ("rw", 0.0), ("cheby", None)])
def test_operator_without_added_loops_does_not_warn(choice):
    Operator(ZOO["self-loops"], *choice)  # warnings are errors


def test_operator_gamma_is_one_unless_given():
    assert Operator(ZOO["path"]).gamma == 1.0
    assert Operator(ZOO["path"], "rw").gamma == 1.0
    assert Operator(ZOO["path"], "cheby").gamma is None
    assert Operator(ZOO["path"], gamma=np.float32(0.5)).gamma == 0.5
    assert Operator(ZOO["path"], gamma=2).gamma == 2.0


@pytest.mark.parametrize("gamma", [-0.1, float("nan"), float("inf"), "1", True, [1.0], 1j])
def test_operator_bad_gamma_is_refused_with_its_value(gamma):
    with pytest.raises(InputError, match="gamma must be a number >= 0: got"):
        Operator(ZOO["path"], gamma=gamma)


@pytest.mark.parametrize("gamma", [0, 1.0])
def test_operator_cheby_with_gamma_is_refused(gamma):
    with pytest.raises(InputError, match=r"'cheby' has its own self-loops: got gamma .*leave gamma out"):
        Operator(ZOO["path"], "cheby", gamma)


@pytest.mark.parametrize("normalization", ["SYM", "", None, 3])
def test_operator_unknown_normalization_is_refused_with_the_choices(normalization):
    with pytest.raises(InputError, match="one of sym, rw, cheby: got"):
        Operator(ZOO["path"], normalization)


def test_operator_repr_says_graph_and_choice():
    assert repr(Operator(ZOO["triangle"], gamma=0.5)) == (
        "Operator(Graph(3 nodes, 3 edges, undirected, unweighted), 'sym', gamma=0.5)"
    )
    assert repr(Operator(ZOO["triangle"], "cheby")).endswith("unweighted), 'cheby')")


@each_graph
@each_operator
@ignore_loops
def test_operator_row_lengths_bound_the_stored_entries(graph, choice):
    operator = Operator(graph, *choice)
    stored = np.diff(operator.matrix().indptr)
    loops = dense_adjacency(graph).diagonal() > 0
    added = 0 if choice[1] == 0 else loops.astype(int)
    assert (operator.row_lengths() >= stored).all()
    if not graph.directed:  # an arrow into a sink may be an entry of value 0, which is not stored
        np.testing.assert_array_equal(operator.row_lengths(), stored + added)
