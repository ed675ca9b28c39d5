from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Compute, Operator, propagate
from sgclearn.errors import InputError, InputTypeError, SgclearnWarning
from sgclearn.filters import (
    CustomFilter,
    HeatFilter,
    PageRankFilter,
    PowerFilter,
    S2GCFilter,
    coefficients_of,
    filter_from_dict,
)
from sgclearn.propagation.implicit import ImplicitDesign
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.propagate import propagate_product
from sgclearn.propagation.rows import propagated_rows

from zoo import ZOO, graphs_with_features, operator_choices, to_dense

FILTERS = [
    PowerFilter(3),
    S2GCFilter(4, 0.05),
    PageRankFilter(3, 0.1),
    HeatFilter(5, 1.5),
    CustomFilter((0.5, 0.0, -2.0, 0.25)),
    CustomFilter((2.0,)),
    CustomFilter((0.0, 0.0)),
]
PLANS = ("full", "frontier", "left-first")


def dense_filter(filter_, S, X):
    """`sum_k c_k S^k X`, power by power."""
    total, H = np.zeros_like(X), X
    for coefficient in filter_.coefficients:
        total = total + coefficient * H
        H = S @ H
    return total


@given(graphs_with_features(self_loops=True), operator_choices(), st.sampled_from(FILTERS), st.booleans())
@settings(max_examples=60)
def test_every_plan_applies_a_filter_exactly(drawn, choice, filter_, as_sparse) -> None:
    graph, X = drawn
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*self-loops in the data")
        operator = Operator(graph, *choice)
        S = operator.matrix().toarray()
        expected = dense_filter(filter_, S, X)
        scale = max(1.0, np.abs(expected).max())
        given_X = sparse.csr_array(X) if as_sparse else X
        np.testing.assert_allclose(filter_.apply(given_X, operator), expected, atol=1e-10 * scale)
        features, rows = NodeFeatures(given_X), np.arange(graph.n_nodes)[::2].copy()
        for plan in PLANS:
            Z = next(propagated_rows(operator, features, rows, [filter_], plan))[1]
            np.testing.assert_allclose(to_dense(Z), expected[rows], atol=1e-10 * scale)
            options = {
                "normalization": choice[0],
                "gamma": choice[1],
                "filter": filter_,
                "compute": Compute(plan),
            }
            np.testing.assert_allclose(
                to_dense(propagate(given_X, graph, **options)), expected, atol=1e-10 * scale
            )
        implicit = ImplicitDesign(operator, features, rows, filter_)
        rng = np.random.default_rng(3)
        V, G = rng.normal(size=(X.shape[1], 2)), rng.normal(size=(len(rows), 2))
        np.testing.assert_allclose(implicit.matmul(V), expected[rows] @ V, atol=1e-9 * scale)
        np.testing.assert_allclose(implicit.rmatmul(G), expected[rows].T @ G, atol=1e-9 * scale)
        np.testing.assert_allclose(implicit.rows(np.arange(len(rows))), expected[rows], atol=1e-10 * scale)
        blocks = np.hstack([block for _, _, block in implicit.column_blocks()])
        np.testing.assert_allclose(blocks, expected[rows], atol=1e-10 * scale)
        for nodes in (None, rows):
            logits = propagate_product(operator, features, filter_, V, nodes)
            np.testing.assert_allclose(
                logits, (expected if nodes is None else expected[rows]) @ V, atol=1e-9 * scale
            )


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("identity", [False, True])
def test_filters_and_powers_come_out_of_one_pass(plan: str, identity: bool) -> None:
    graph = ZOO["two-components"]
    operator, X = Operator(graph), np.random.default_rng(8).normal(size=(6, 3))
    features = NodeFeatures(None, 6) if identity else NodeFeatures(X)
    S = operator.matrix().toarray()
    wanted = [0, 2, *FILTERS]
    done = dict(propagated_rows(operator, features, np.array([4, 1]), wanted, plan))
    assert set(done) == set(wanted)
    for entry, Z in done.items():
        filter_ = PowerFilter(entry) if isinstance(entry, int) else entry
        expected = dense_filter(filter_, S, np.eye(6) if identity else X)[[4, 1]]
        np.testing.assert_allclose(to_dense(Z), expected, atol=1e-12)


def test_filter_without_a_graph_weighs_the_features_by_its_sum() -> None:
    X = np.random.default_rng(8).normal(size=(6, 3))
    filter_ = CustomFilter((0.5, 1.0, 0.25))
    Z = next(propagated_rows(None, NodeFeatures(X), np.arange(6), [filter_], "full"))[1]
    np.testing.assert_allclose(Z, 1.75 * X)
    np.testing.assert_allclose(propagate_product(None, NodeFeatures(X), filter_, np.eye(3)), 1.75 * X)
    np.testing.assert_allclose(
        ImplicitDesign(None, NodeFeatures(X), np.arange(6), filter_).matmul(np.eye(3)), 1.75 * X
    )


@pytest.mark.parametrize("filter_", FILTERS)
def test_response_is_the_filter_in_the_spectral_domain(filter_) -> None:
    operator = Operator(ZOO["two-components"])
    X = np.random.default_rng(12).normal(size=(6, 2))
    frequencies, U = np.linalg.eigh(np.eye(6) - operator.matrix().toarray())
    expected = U @ (filter_.response(frequencies)[:, None] * (U.T @ X))
    np.testing.assert_allclose(filter_.apply(X, operator), expected, atol=1e-10)


@given(
    graphs_with_features(directed=False),
    st.sampled_from([("sym", 0.0), ("sym", 0.35), ("sym", 1.0), ("cheby", None)]),
    st.sampled_from(FILTERS),
)
@settings(max_examples=60)
def test_filtering_is_multiplication_by_the_response_on_random_graphs(drawn, choice, filter_) -> None:
    graph, X = drawn
    operator = Operator(graph, *choice)
    frequencies, U = np.linalg.eigh(np.eye(graph.n_nodes) - operator.matrix().toarray())
    expected = U @ (filter_.response(frequencies)[:, None] * (U.T @ X))
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(filter_.apply(X, operator), expected, atol=1e-10 * scale)


@pytest.mark.parametrize(
    ("filter_", "total"),
    [
        (PowerFilter(4), 1.0),
        (S2GCFilter(16, 0.05), 1.0),
        (PageRankFilter(10, 0.1), 1.0),
        (HeatFilter(40, 3.0), 1.0),
    ],
)
def test_coefficients_keep_a_constant_signal(filter_, total: float) -> None:
    assert filter_.coefficients.sum() == pytest.approx(total, abs=1e-12)
    assert filter_.response(0.0) == pytest.approx(total, abs=1e-12)


def test_coefficients_follow_their_formulas() -> None:
    np.testing.assert_allclose(S2GCFilter(2, 0.2).coefficients, [0.2, 0.4, 0.4])
    np.testing.assert_allclose(PageRankFilter(2, 0.1).coefficients, [0.1, 0.09, 0.81])
    np.testing.assert_allclose(HeatFilter(3, 2.0).coefficients, np.exp(-2) * np.array([1, 2, 2, 8 / 6]))
    assert coefficients_of(2).tolist() == [0, 0, 1]


@pytest.mark.parametrize("filter_", FILTERS)
def test_filters_survive_json(filter_) -> None:
    import json

    assert filter_from_dict(json.loads(json.dumps(filter_.to_dict()))) == filter_


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PowerFilter(-1), "n_hops of a filter must be a whole number >= 0: got -1"),
        (lambda: S2GCFilter(0), "n_hops of a filter must be a whole number >= 1: got 0"),
        (lambda: S2GCFilter(2, 1.5), "alpha must be a number from 0 to 1: got 1.5"),
        (lambda: PageRankFilter(True), "must be a whole number"),
        (lambda: HeatFilter(3, -1.0), "t must be a number >= 0: got -1.0"),
        (lambda: CustomFilter(()), "at least one"),
        (lambda: CustomFilter("abc"), "a list of numbers"),
        (lambda: CustomFilter(3.0), "a list of numbers"),
        (lambda: S2GCFilter(2, True), "alpha must be a number from 0 to 1"),
        (lambda: filter_from_dict({"filter": "PowerFilter", "alpha": 1}), "has other parameters"),
        (lambda: CustomFilter((1.0, float("nan"))), "finite coefficients"),
        (lambda: filter_from_dict({"filter": "Magic"}), "filter must be one of"),
        (lambda: propagate(np.eye(2), ZOO["one-edge"], 5, filter=S2GCFilter(3)), "leave n_hops out"),
    ],
)
def test_bad_filters_are_refused(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_filter_of_another_type_is_refused() -> None:
    with pytest.raises(InputTypeError, match="S2GCFilter"):
        propagate(np.eye(2), ZOO["one-edge"], filter="s2gc")


def test_heat_filter_says_when_its_terms_are_too_few() -> None:
    with pytest.warns(SgclearnWarning, match="10 hops hold 1.1% of the heat kernel"):
        HeatFilter(10, 20.0)


def test_filters_made_of_numpy_numbers_survive_json() -> None:
    import json

    filter_ = S2GCFilter(np.int64(4), np.float64(0.1))
    assert filter_from_dict(json.loads(json.dumps(filter_.to_dict()))) == S2GCFilter(4, 0.1)
