"""Samples `P [F_1(S) X, F_2(S) X, ...]`: every plan against the dense equation, and rows of the identity as nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from propagation.designs import EXPLICIT, KINDS, check_design, features_of, tolerance
from sgclearn import Compute, Operator, propagate, reference
from sgclearn.errors import InputError, InputTypeError
from sgclearn.filters import CustomFilter, PowerFilter, S2GCFilter, coefficients_of
from sgclearn.propagation.engines import get_engine
from sgclearn.propagation.implicit import ImplicitDesign, build_designs
from sgclearn.propagation.planner import make_plan, plan_rows
from sgclearn.propagation.propagate import propagate_product
from sgclearn.propagation.readout import Readout
from sgclearn.propagation.rows import propagated_rows

from zoo import ZOO, dense_adjacency, graphs, operator_choices, random_features, random_graph, to_dense

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")
MEMBERS = [
    0,
    1,
    2,
    3,
    S2GCFilter(2, 0.3),
    CustomFilter((0.5, 0.0, -1.0)),
    CustomFilter((0.0, 0.0)),
    PowerFilter(1),
]


@st.composite
def readouts(draw, n_nodes: int):
    """P (m, n) of any pattern: empty samples, nodes in no or in several samples, weights of both signs."""
    m = draw(st.integers(1, 4))
    weight = st.sampled_from([0.0, 0.0, 1.0, 0.5, -2.0, 0.25])
    rows = draw(st.lists(st.lists(weight, min_size=n_nodes, max_size=n_nodes), min_size=m, max_size=m))
    return sparse.csr_array(np.array(rows))


@st.composite
def cases(draw):
    graph = draw(graphs(self_loops=True))
    bank = tuple(draw(st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=3)))
    return graph, draw(operator_choices()), draw(st.sampled_from(KINDS)), bank, draw(readouts(graph.n_nodes))


def expected_samples(graph, choice, X, bank, P):
    S = reference.propagation_matrix(dense_adjacency(graph), choice[0], choice[1] or 0.0)
    return reference.samples(X, S, [coefficients_of(member) for member in bank], P.toarray())


@settings(max_examples=120)
@given(cases(), st.sampled_from([*EXPLICIT, "implicit"]), st.sampled_from(["native", "scipy"]))
def test_designs_of_readouts_and_filter_lists_equal_the_reference(case, plan, engine):
    graph, choice, kind, bank, P = case
    features, X = features_of(graph.n_nodes, kind)
    operator, readout = Operator(graph, *choice), Readout.of_matrix(P, graph.n_nodes)
    expected = expected_samples(graph, choice, X, bank, P)
    ((entry, Z),) = build_designs(operator, features, readout, [bank], plan, engine=get_engine(engine))
    assert entry == bank
    check_design(Z, expected, tolerance(kind))


@settings(max_examples=60)
@given(cases())
def test_products_of_readouts_and_filter_lists_equal_the_reference(case):
    graph, choice, kind, bank, P = case
    features, X = features_of(graph.n_nodes, kind)
    readout, expected = Readout.of_matrix(P, graph.n_nodes), expected_samples(graph, choice, X, bank, P)
    Theta = random_features(expected.shape[1], 3, seed=19, density=1.0)
    found = propagate_product(Operator(graph, *choice), features, bank, Theta, readout)
    np.testing.assert_allclose(found, expected @ Theta, **tolerance(kind))
    edgeless = reference.samples(X, np.eye(len(X)), [coefficients_of(b) for b in bank], P.toarray())
    found = propagate_product(None, features, bank, Theta, readout)
    np.testing.assert_allclose(found, edgeless @ Theta, **tolerance(kind))


@settings(max_examples=40)
@given(cases(), st.sampled_from(EXPLICIT), st.sampled_from(["auto", "dense", "sparse"]))
def test_propagate_takes_readouts_and_filter_lists(case, plan, output):
    graph, choice, kind, bank, P = case
    X = None if kind == "identity" else random_features(graph.n_nodes, 4, seed=5)
    Z = propagate(
        X, graph, normalization=choice[0], gamma=choice[1], filter=list(bank), readout=P, output=output,
        compute=Compute(plan),
    )  # fmt: skip
    dense = np.eye(graph.n_nodes) if X is None else X
    np.testing.assert_allclose(
        to_dense(Z), expected_samples(graph, choice, dense, bank, P), rtol=1e-10, atol=1e-11
    )
    assert output == "auto" or sparse.issparse(Z) == (output == "sparse")


@pytest.mark.parametrize("plan", [*EXPLICIT, "implicit"])
@pytest.mark.parametrize("nodes", [np.array([7, 2, 30]), np.arange(40), np.array([5])])
def test_rows_of_the_identity_are_the_nodes_to_the_bit(plan, nodes):
    graph, features = random_graph(40, 90, seed=3), features_of(40, "sparse")[0]
    readout = Readout.of_matrix(sparse.eye_array(40, format="csr")[nodes], 40)
    assert readout.weights is None
    V = random_features(5, 3, seed=7)
    designs = [next(build_designs(Operator(graph), features, s, [2], plan))[1] for s in (nodes, readout)]
    np.testing.assert_array_equal(*(design.matmul(V) for design in designs))
    np.testing.assert_array_equal(readout.nodes, nodes)


def test_nodes_that_are_named_twice_are_samples_of_their_own():
    graph, nodes = random_graph(40, 90, seed=3), np.array([4, 9, 4])
    features, X = features_of(40, "dense")
    expected = expected_samples(graph, ("sym", 1.0), X, (2,), sparse.eye_array(40, format="csr")[nodes])
    for plan in (*EXPLICIT, "implicit"):
        ((_, Z),) = build_designs(Operator(graph), features, nodes, [2], plan)
        check_design(Z, expected, tolerance("dense"))


def test_one_pass_serves_filters_and_lists_of_them():
    graph, features = ZOO["weighted"], features_of(4, "sparse")[0]
    wanted = [0, (0, 2), 2, (S2GCFilter(3, 0.1), 1)]
    for plan in EXPLICIT:
        for entry, Z in propagated_rows(Operator(graph), features, np.arange(4), wanted, plan):
            alone = next(propagated_rows(Operator(graph), features, np.arange(4), [entry], plan))[1]
            np.testing.assert_allclose(to_dense(Z), to_dense(alone), rtol=1e-12)


def test_implicit_list_walks_as_far_as_its_longest_filter(monkeypatch):
    graph = random_graph(30, 60, seed=11)
    design = ImplicitDesign(Operator(graph), features_of(30, "dense")[0], np.arange(30), (0, 1, 2, 3))
    calls = []
    for walk in design._walks:
        forward = walk.forward
        monkeypatch.setattr(walk, "forward", lambda *a, f=forward, **k: calls.append(1) or f(*a, **k))
    design.matmul(np.ones((20, 2)))
    assert len(calls) == 3


def test_plan_counts_samples_and_columns_of_every_filter():
    graph, features = random_graph(4000, 20_000, seed=13), features_of(4000, "dense")[0]
    P = sparse.random_array((30, 4000), density=0.05, rng=np.random.default_rng(17), format="csr")
    readout = Readout.of_matrix(P, 4000)
    plan = make_plan(Operator(graph), features, readout, (0, 1, 2), 3)
    single = make_plan(Operator(graph), features, readout, 2, 3)
    assert (plan.n_rows, plan.n_hops) == (30, 2)
    assert plan.neighbourhood == single.neighbourhood
    assert plan.neighbourhood[0] == len(readout.nodes)
    assert all(
        more.multiply_adds > less.multiply_adds for more, less in zip(plan.costs, single.costs, strict=True)
    )
    assert plan_rows(Operator(graph), features, readout, (0, 1, 2)) in EXPLICIT


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"readout": np.ones((1, 3))},
            InputError,
            "readout must have one column per node of the graph: got 3",
        ),
        ({"readout": np.full((1, 4), np.nan)}, InputError, "readout must be finite"),
        ({"readout": np.ones(4)}, InputError, "readout must have two dimensions"),
        ({"readout": np.ones((1, 4)), "nodes": [0]}, InputError, "readout and nodes both name the samples"),
        ({"filter": []}, InputError, "filter must name at least one"),
        ({"filter": [2, "heat"]}, InputTypeError, "filter must be one of sgclearn.filters"),
        ({"filter": 2}, InputTypeError, "filter must be one of sgclearn.filters"),
        ({"filter": [-1]}, InputError, "n_hops must be a whole number >= 0"),
        ({"filter": [1, 2], "n_hops": 3}, InputError, "a filter has its own number of hops"),
    ],
)
def test_readouts_and_filters_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        propagate(np.ones((4, 2)), ZOO["weighted"], **options)
