"""How far propagated features can grow, and what is said where they leave the range of their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Compute, Graph, Operator, SGCClassifier, propagate
from sgclearn.errors import InputError
from sgclearn.filters import CustomFilter
from sgclearn.propagation.bounds import growth, is_finite, may_overflow

from zoo import graphs, operator_choices, random_features, random_graph

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")


@given(
    graphs(self_loops=True),
    operator_choices(),
    st.lists(st.floats(-3, 3, allow_subnormal=False), min_size=1, max_size=6),
)
def test_growth_is_never_exceeded(graph, choice, coefficients):
    operator = Operator(graph, *choice)
    S = operator.matrix().toarray()
    total = sum(c * np.linalg.matrix_power(S, k) for k, c in enumerate(coefficients))
    bound = growth(operator, np.array(coefficients))
    assert np.abs(total).sum(axis=1).max() <= bound * (1 + 1e-12)


def test_growth_of_weighted_degrees_is_their_ratio():
    star = Graph.from_edges([(0, 1), (0, 2)], weights=[1e40, 1.0])
    assert growth(Operator(star, "sym", 0.0), np.array([0.0, 1.0])) == pytest.approx(1e20)
    assert growth(Operator(star, "rw", 0.0), np.array([0.0, 1.0])) == 1.0
    assert growth(Operator(star, "cheby"), np.array([0.0, 0.0, 0.0, 1.0])) == pytest.approx(8e20)


def test_ordinary_float64_features_are_not_looked_at():
    graph = random_graph(50, 120, seed=41)
    for choice in (("sym", 1.0), ("sym", 0.0), ("rw", 3.0), ("cheby", None)):
        assert not may_overflow(Operator(graph, *choice), np.append(np.zeros(20), 1.0), np.dtype(np.float64))
    assert may_overflow(Operator(graph), np.array([0.0, 1.0]), np.dtype(np.float32))
    assert may_overflow(Operator(graph, "cheby"), np.append(np.zeros(900), 1.0), np.dtype(np.float64))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("engine", ["native", "scipy"])
@pytest.mark.parametrize("plan", ["full", "frontier", "left-first"])
def test_propagation_that_overflows_is_an_error_with_the_way_out(form, engine, plan):
    graph, X = random_graph(30, 90, seed=42), random_features(30, 4, seed=43)
    doubling = {"normalization": "cheby", "compute": Compute(plan, engine)}
    with pytest.raises(InputError, match=r"beyond 1\.8e\+308 after 600 hops; .* fewer hops"):
        propagate(form(1e140 * X), graph, 600, **doubling)
    with pytest.raises(InputError, match=r"beyond 3\.4e\+38 after 30 hops; give the features as float64"):
        propagate(form((1e35 * X).astype(np.float32)), graph, 30, **doubling)
    with pytest.raises(InputError, match="propagated features must be finite"):
        propagate(form(X), graph, filter=CustomFilter((1e308, 1e308, 1e308)), compute=Compute(plan, engine))


@pytest.mark.parametrize("plan", ["full", "left-first", "implicit"])
def test_fit_to_features_that_overflow_on_the_way_is_an_error(plan):
    graph, X = random_graph(30, 90, seed=44), random_features(30, 4, seed=45)
    clf = SGCClassifier(600, normalization="cheby", compute=Compute(plan=plan))
    with pytest.raises(InputError, match=r"must be finite|stay finite"):
        clf.fit(1e140 * X, np.arange(30) % 3, graph=graph)


def test_finite_values_whose_sum_overflows_are_finite():
    assert is_finite(np.full(9, 1.5e308))
    assert not is_finite(np.array([1.0, -np.inf]))
    assert not is_finite(np.array([np.inf, -np.inf]))
    assert is_finite(np.zeros(0))
