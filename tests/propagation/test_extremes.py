"""Extremes of columns over several sets of samples, walked or formed, and hop sets that are widened to all nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sgclearn import Operator, reference
from sgclearn.propagation import extremes
from sgclearn.propagation.engines import get_engine
from sgclearn.propagation.extremes import column_extremes
from sgclearn.propagation.implicit import ImplicitDesign, build_designs
from sgclearn.propagation.neighbourhood import hop_sets, widened
from sgclearn.propagation.node_features import NodeFeatures

from zoo import ZOO, dense_adjacency, graphs, operator_choices, random_features, random_graph

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")


@settings(max_examples=40)
@given(
    graphs(self_loops=True),
    operator_choices(),
    st.integers(0, 3),
    st.sampled_from(["implicit", "frontier"]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_extremes_are_those_of_the_dense_rows(graph, choice, n_hops, plan, is_identity, random):
    X = np.eye(graph.n_nodes) if is_identity else random_features(graph.n_nodes, 5, seed=61)
    operator = Operator(graph, *choice)
    S = reference.propagation_matrix(dense_adjacency(graph), choice[0], choice[1] or 0.0)
    nodes = np.array(random.sample(range(graph.n_nodes), random.randint(1, graph.n_nodes)))
    Z = reference.propagate(X, S, n_hops)[nodes]
    features = NodeFeatures(None if is_identity else X, graph.n_nodes)
    design = next(build_designs(operator, features, nodes, [n_hops], plan))[1]
    m = len(nodes)
    samples = [np.arange(m), *(np.sort(random.sample(range(m), random.randint(1, m))) for _ in range(3))]
    low, high = column_extremes(design, samples)
    for k, rows in enumerate(samples):
        np.testing.assert_allclose(low[k], Z[rows].min(axis=0), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(high[k], Z[rows].max(axis=0), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("engine", ["auto", "scipy"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_walked_extremes_equal_those_of_formed_columns(engine, dtype, monkeypatch):
    graph = random_graph(40, 150, seed=62)
    design = ImplicitDesign(
        Operator(graph), NodeFeatures(None, 40), np.arange(25), 2, get_engine(engine), dtype
    )
    samples = [np.arange(25) % 3 != k for k in range(3)]
    steps: list[tuple[int, int]] = []
    parts = [np.flatnonzero(inside) for inside in samples]
    walked = column_extremes(design, parts, lambda done, of: steps.append((done, of)))
    assert steps[-1][0] == steps[-1][1]
    monkeypatch.setattr(extremes, "_MOST_PARTS", 2)  # too many to keep apart: the columns are formed
    formed = column_extremes(design, parts)
    for one, other in zip(walked, formed, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14 if dtype == np.float64 else 1e-6)


def test_columns_are_walked_only_where_they_are_a_power_of_one_or_two_hops():
    graph = random_graph(30, 60, seed=63)
    rows = np.array([4, 2, 9])
    for n_hops, walked in ((0, False), (1, True), (2, True), (3, False)):
        design = ImplicitDesign(Operator(graph), NodeFeatures(None, 30), rows, n_hops)
        assert (design.factors() is not None) is walked
    featured = ImplicitDesign(Operator(graph), NodeFeatures(np.ones((30, 2))), rows, 2)
    assert featured.factors() is None


def test_narrow_walks_of_an_implicit_design_are_near_the_wide_ones():
    graph = random_graph(50, 200, seed=64)
    parts = (Operator(graph), NodeFeatures(None, 50), np.arange(20), 2)
    wide, narrow = ImplicitDesign(*parts), ImplicitDesign(*parts, dtype=np.float32)
    V, G = random_features(50, 3, seed=65, density=1.0), random_features(20, 3, seed=66, density=1.0)
    for a, b in ((wide.matmul(V), narrow.matmul(V)), (wide.rmatmul(G), narrow.rmatmul(G))):
        assert a.dtype == b.dtype == np.float64
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-6)
        assert not np.array_equal(a, b)


def test_sets_of_most_nodes_and_edges_are_widened_to_all_nodes():
    graph = random_graph(40, 200, seed=67)
    sets = hop_sets(graph, np.arange(12), 2)
    assert 30 <= len(sets[1]) < 40
    wide = widened(graph, sets)
    assert wide[0] is sets[0]
    assert wide[1] is wide[2]
    assert wide[1].tolist() == list(range(40))
    hub = hop_sets(ZOO["star"], np.array([1]), 1)  # the hub has all edges, but a third of the nodes
    assert widened(ZOO["star"], hub) is hub
