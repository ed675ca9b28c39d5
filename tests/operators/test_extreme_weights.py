"""Weights at the ends of the range: an operator that equals the reference, or an error that names the node."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Compute, Graph, Operator, propagate, reference
from sgclearn.errors import InputError

from zoo import dense_adjacency

CHOICES = [("sym", 0.0), ("sym", 1.0), ("rw", 0.0), ("rw", 1.0), ("cheby", None)]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("weight", [1e308, 1.7e308])
def test_operator_refuses_a_degree_that_overflows_and_names_the_node(choice, weight):
    graph = Graph.from_edges([("ann", "bob"), ("bob", "cas"), ("dan", "eve")], weights=[weight, weight, 1.0])
    with pytest.raises(
        InputError, match=r"degree .* got inf.* for node 'bob' \(1 such\); multiply all weights"
    ):
        Operator(graph, *choice)


@pytest.mark.parametrize("choice", [("sym", 0.0), ("rw", 0.0), ("cheby", None)], ids=str)
@pytest.mark.parametrize("weight", [5e-324, 1e-310])
def test_operator_refuses_a_degree_without_an_inverse(choice, weight):
    graph = Graph.from_edges([("ann", "bob"), ("bob", "cas")], weights=[weight, 1.0])
    with pytest.raises(InputError, match="for node 'ann'"):
        Operator(graph, *choice)


def test_operator_refuses_a_gamma_that_makes_degrees_overflow():
    graph = Graph.from_edges([(0, 1)], weights=[1e308])
    with pytest.raises(InputError, match=r"with gamma=1e\+308 .* and gamma by one number"):
        Operator(graph, "sym", 1e308)


@given(
    st.lists(st.floats(-307, 307), min_size=4, max_size=4),
    st.sampled_from(CHOICES),
    st.booleans(),
    st.sampled_from([1e-150, 1.0, 1e150]),
    st.sampled_from(["native", "scipy"]),
)
def test_propagation_over_weights_of_any_size_is_that_of_the_reference_or_an_error(
    exponents, choice, directed, size, engine
):
    weights = 10.0 ** np.array(exponents)
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], weights=weights, directed=directed)
    X = size * np.random.default_rng(31).normal(size=(4, 3))
    with np.errstate(all="ignore"):
        S = reference.propagation_matrix(dense_adjacency(graph), choice[0], choice[1] or 0.0)
        expected, sizes = reference.propagate(X, S, 2), reference.propagate(np.abs(X), S, 2)
    for features in (X, sparse.csr_array(X)):
        try:
            Z = propagate(
                features,
                graph,
                2,
                normalization=choice[0],
                gamma=choice[1],
                compute=Compute(engine=engine),
                output="dense",
            )
        except InputError:
            continue
        assert np.isfinite(Z).all()
        # The reference itself underflows on the way where weights are this far apart.
        clear = np.isfinite(sizes) & (sizes > 1e-280)
        # Products on the way may be subnormal, with fewer digits: an error that vanishes next to X is none.
        assert (np.abs(Z - expected)[clear] <= 1e-10 * sizes[clear] + 1e-120 * size).all()


def test_operator_of_ordinary_sums_at_the_ends_of_the_range_is_right():
    for weight in (1e-300, 1e300):
        graph = Graph.from_edges([(0, 1), (1, 2)], weights=[weight, 3 * weight])
        expected = reference.propagation_matrix(dense_adjacency(graph), "rw", 0.0)
        np.testing.assert_allclose(Operator(graph, "rw", 0.0).matrix().toarray(), expected, rtol=1e-14)


@pytest.mark.parametrize("directed", [False, True])
def test_graph_refuses_summed_weights_that_overflow(directed):
    edges, weights = [("ann", "bob"), ("ann", "bob"), ("bob", "cas")], [1e308, 1e308, 1.0]
    with pytest.raises(
        InputError, match=r"finite sum: got infinity for the edge 'ann', 'bob' \(1 such edge\)"
    ):
        Graph.from_edges(edges, weights=weights, duplicates="sum", directed=directed)


def test_graph_takes_a_symmetric_list_of_the_largest_weights_once():
    graph = Graph.from_edges([(0, 1), (1, 0)], weights=[1.7e308, 1.7e308], duplicates="sum")
    assert graph.weights.tolist() == [1.7e308, 1.7e308]
