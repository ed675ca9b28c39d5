"""Explanations add up to the logits, and what-if answers are those of a rebuilt graph."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Graph, SGCClassifier, SGCMultilabelClassifier
from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.explain import ALL_CLASSES, Explainer, explain
from sgclearn.explain.explanation import GROUPINGS
from sgclearn.filters import CustomFilter, PageRankFilter, S2GCFilter

TOL = 1e-10
pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data")


@dataclass
class Case:
    graph: Graph
    A: Any
    X: Any
    model: Any

    def logits(self, graph: Graph | None = None, X: Any = None) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SgclearnWarning)
            found = self.model.decision_function(
                self.X if X is None else X, self.graph if graph is None else graph
            )
        return np.stack([-found / 2, found / 2], axis=1) if found.ndim == 1 else found


def make_case(
    seed: int,
    directed: bool = False,
    weighted: bool = False,
    n_classes: int = 3,
    identity: bool = False,
    is_sparse: bool = False,
    **options: Any,
) -> Case:
    """A random graph of 14 nodes with loops and isolated nodes, and a model fitted to half of it."""
    rng = np.random.default_rng(seed)
    n, d = 14, 6
    A = (rng.random((n, n)) < 0.2) * (rng.uniform(0.5, 2.0, (n, n)) if weighted else 1.0)
    if not directed:
        A = np.maximum(A, A.T)
    A[3] = 0.0
    A[:, 3] = 0.0
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    y = np.arange(n) % n_classes
    y[n // 2 :] = -1
    graph = Graph.from_scipy(sparse.csr_array(A), directed=directed)
    data: Any = None if identity else sparse.csr_array(X) if is_sparse else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SgclearnWarning)
        model = SGCClassifier(weight_decay=1e-2, **options).fit(data, y, graph=graph)
    return Case(graph, A, data, model)


FILTERS = [
    None, S2GCFilter(3, 0.1), PageRankFilter(4, 0.2), CustomFilter((0.5, -0.25, 0.1)), [0, 1, 3],
    [S2GCFilter(2, 0.3), 1],
]  # fmt: skip


@st.composite
def cases(draw: st.DrawFn, row_norms: tuple[str | None, ...] = (None, "l1", "l2")) -> Case:
    normalization = draw(st.sampled_from(["sym", "rw", "cheby"]))
    filter_ = draw(st.sampled_from(FILTERS))
    identity = draw(st.booleans())
    options: dict[str, Any] = {"normalization": normalization, "filter": filter_}
    if filter_ is None:
        options["n_hops"] = draw(st.integers(0, 4))
    if normalization != "cheby":
        options["gamma"] = draw(st.sampled_from([0.0, 1.0, 0.3]))
    if not identity:
        options["row_norm"] = draw(st.sampled_from(row_norms))
    return make_case(
        draw(st.integers(2, 10**6)),
        directed=draw(st.booleans()),
        weighted=draw(st.booleans()),
        n_classes=draw(st.integers(2, 4)),
        identity=identity,
        is_sparse=draw(st.booleans()),
        scale=draw(st.sampled_from([None, "standard", "maxabs"])),
        fit_intercept=draw(st.booleans()),
        **options,
    )


@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_grouping_adds_up_to_the_margin(case: Case) -> None:
    logits = case.logits()
    explainer = Explainer(case.model, case.X, case.graph)
    for node in range(case.graph.n_nodes):
        found = explainer.explain(node)
        label, against = (case.model.classes_.tolist().index(name) for name in (found.label, found.against))
        scale = 1.0 + np.abs(logits).max()
        assert found.margin == pytest.approx(logits[node, label] - logits[node, against], abs=TOL * scale)
        assert found.predicted == case.model.transduction_[node]
        for by in GROUPINGS:
            assert found.bias + found.values(by).sum() == pytest.approx(found.margin, abs=TOL * scale)
            terms, rest = found.terms(by, 2)
            assert found.bias + sum(t.value for t in terms) + rest == pytest.approx(
                found.margin, abs=TOL * scale
            )


def test_terms_are_those_of_the_dense_equation() -> None:
    from sgclearn import reference

    case = make_case(7, weighted=True, row_norm="l1", n_hops=2, gamma=0.5)
    S = reference.propagation_matrix(case.A, "sym", 0.5)
    V = case.X / np.maximum(np.abs(case.X).sum(axis=1, keepdims=True), 1e-300)
    found = explain(case.model, case.X, case.graph, 5)
    theta = case.model.coef_.T @ found.weights
    terms = (S @ S)[5][:, None] * V * theta  # (source, feature)
    sources = np.zeros(len(S))
    sources[found.sample.nodes] = found.values("sources")
    through = np.zeros(len(S))
    through[found.sample.nodes] = found.values("through")
    np.testing.assert_allclose(found.values("features"), terms.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(sources, terms.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(through, S[5] * (S @ V @ theta), atol=1e-12)


def without_edge(case: Case, source: int, target: int) -> Graph:
    A = case.A.copy()
    A[source, target] = 0.0
    if not case.graph.directed:
        A[target, source] = 0.0
    return Graph.from_scipy(sparse.csr_array(A), directed=case.graph.directed)


@settings(max_examples=50, deadline=None)
@given(cases(), st.integers(0, 13), st.integers(0, 10**6))
def test_without_an_edge_equals_the_rebuilt_graph(case: Case, node: int, pick: int) -> None:
    sources, targets = np.nonzero(case.A)
    if len(sources) == 0:
        return
    source, target = int(sources[pick % len(sources)]), int(targets[pick % len(sources)])
    found = Explainer(case.model, case.X, case.graph).explain(node).without(edges=[(source, target)])
    expected = case.logits(graph=without_edge(case, source, target))[node]
    logits = found.logits - found.logits.mean()
    np.testing.assert_allclose(logits, expected - expected.mean(), atol=TOL * (1 + np.abs(expected).max()))


@settings(max_examples=50, deadline=None)
@given(cases(), st.integers(0, 13), st.integers(0, 13))
def test_without_a_node_equals_the_graph_without_its_edges(case: Case, node: int, gone: int) -> None:
    if node == gone:
        return
    A = case.A.copy()
    A[gone] = 0.0
    A[:, gone] = 0.0
    graph = Graph.from_scipy(sparse.csr_array(A), directed=case.graph.directed)
    found = Explainer(case.model, case.X, case.graph).explain(node).without(nodes=[gone])
    expected = case.logits(graph=graph)[node]
    logits = found.logits - found.logits.mean()
    np.testing.assert_allclose(logits, expected - expected.mean(), atol=TOL * (1 + np.abs(expected).max()))


@settings(max_examples=50, deadline=None)
@given(cases(), st.integers(0, 13), st.integers(0, 10**6))
def test_without_a_feature_equals_changed_features(case: Case, node: int, pick: int) -> None:
    if case.X is None:
        return
    X = case.X.toarray() if sparse.issparse(case.X) else case.X.copy()
    rows, columns = np.nonzero(X)
    entry = int(rows[pick % len(rows)]), int(columns[pick % len(rows)])
    X[entry] = 0.0
    found = Explainer(case.model, case.X, case.graph).explain(node).without(features=[entry])
    expected = case.logits(X=X)[node]
    logits = found.logits - found.logits.mean()
    scale = TOL * (1 + np.abs(expected).max())
    np.testing.assert_allclose(logits, expected - expected.mean(), atol=scale)
    for by in GROUPINGS:
        assert found.bias + found.values(by).sum() == pytest.approx(found.margin, abs=scale)


def test_several_removals_equal_one_rebuilt_graph() -> None:
    case = make_case(11, row_norm="l2", gamma=1.0)
    sources, targets = np.nonzero(np.triu(case.A, 1))
    edges = list(zip(sources.tolist(), targets.tolist(), strict=True))[:3]
    A, X = case.A.copy(), case.X.copy()
    for source, target in edges:
        A[source, target] = A[target, source] = 0.0
    column = int(np.flatnonzero(X[5])[0])
    X[5, column] = 0.0
    found = explain(case.model, case.X, case.graph, 5).without(edges=edges, features=[column])
    expected = case.logits(graph=Graph.from_scipy(sparse.csr_array(A)), X=X)[5]
    np.testing.assert_allclose(found.logits - found.logits.mean(), expected - expected.mean(), atol=1e-12)


def test_sample_of_several_nodes_is_the_weighted_sum() -> None:
    case = make_case(13)
    explainer = Explainer(case.model, case.X, case.graph)
    row = np.zeros((1, 14))
    row[0, [2, 5]] = 0.5
    mean = explainer.explain_row(row)
    parts = [explainer.explain(node).logits for node in (2, 5)]
    np.testing.assert_allclose(mean.logits, np.mean(parts, axis=0), atol=1e-12)
    assert mean.bias + mean.values("through").sum() == pytest.approx(mean.margin, abs=1e-12)


def test_block_terms_are_those_of_each_filter() -> None:
    case = make_case(15, filter=[0, 2], n_classes=3)
    found = explain(case.model, case.X, case.graph, 4)
    terms, rest = found.terms("blocks")
    assert {term.name for term in terms} == {"X", "S^2 X"}
    assert rest == 0
    own = float(case.X[4] @ case.model.coef_[:, :6].T @ found.weights)
    assert found.values("blocks")[0] == pytest.approx(own)


def test_sample_of_a_readout_equals_its_prediction() -> None:
    rng = np.random.default_rng(16)
    case = make_case(16)
    P = sparse.csr_array((rng.random((6, 14)) < 0.3) * rng.random((6, 14)))
    model = SGCClassifier(filter=[0, 2], weight_decay=1e-2).fit(
        case.X, [0, 1, 2, 0, 1, 2], case.graph, readout=P
    )
    explainer = Explainer(model, case.X, case.graph)
    logits = model.decision_function(case.X, case.graph, readout=P)
    for row in range(6):
        found = explainer.explain_row(P[[row]])
        np.testing.assert_allclose(
            found.logits - found.logits.mean(), logits[row] - logits[row].mean(), atol=1e-10
        )
        assert found.bias + found.values("through").sum() == pytest.approx(found.margin, abs=1e-10)


def test_all_classes_margin_is_over_their_mean() -> None:
    case = make_case(17)
    found = explain(case.model, case.X, case.graph, 4, against=ALL_CLASSES)
    assert found.margin == pytest.approx(found.logits.max() - found.logits.mean())
    assert found.bias + found.values("features").sum() == pytest.approx(found.margin)


def test_temperature_divides_every_term() -> None:
    case = make_case(19)
    plain = explain(case.model, case.X, case.graph, 4)
    case.model.temperature_ = 2.0
    warm = explain(case.model, case.X, case.graph, 4)
    np.testing.assert_allclose(warm.values("features"), plain.values("features") / 2)
    assert warm.margin == pytest.approx(plain.margin / 2)
    assert warm.probabilities is not None
    assert plain.probabilities is not None
    assert warm.probabilities.max() < plain.probabilities.max()


def test_label_of_a_multilabel_model_is_its_logit() -> None:
    case = make_case(23)
    rng = np.random.default_rng(23)
    Y = (rng.random((14, 3)) < 0.5).astype(float)
    model = SGCMultilabelClassifier(weight_decay=1e-2).fit(case.X, Y, graph=case.graph)
    found = explain(model, case.X, case.graph, 6, label=1)
    assert found.against is None
    assert found.margin == pytest.approx(model.decision_function(case.X, case.graph)[6, 1])
    assert found.bias + found.values("sources").sum() == pytest.approx(found.margin)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"node": 99}, "node must be a position from 0 to 13: got 99"),
        ({"node": True}, "node must be a position"),
        ({"node": 2, "label": "x"}, "label must be one of the classes of the model: got 'x'"),
        ({"node": 2, "against": 9}, "against must be one of the classes of the model: got 9"),
    ],
)
def test_explain_refuses_what_is_not_there(arguments: dict[str, Any], message: str) -> None:
    case = make_case(29)
    with pytest.raises(InputError, match=message):
        explain(case.model, case.X, case.graph, **arguments)


def test_without_refuses_what_is_not_there() -> None:
    case = make_case(31)
    found = explain(case.model, case.X, case.graph, 5)
    with pytest.raises(InputError, match=r"an edge to take away must be in the graph: got \(5, 3\)"):
        found.without(edges=[(5, 3)])
    missing = int(np.flatnonzero(case.X[5] == 0)[0]) if (case.X[5] == 0).any() else 0
    if case.X[5, missing] == 0:
        with pytest.raises(InputError, match="a feature to take away must be one that the node has"):
            found.without(features=[missing])
    with pytest.raises(InputError, match="by must be one of"):
        found.values("colour")


def test_isolated_node_is_explained_by_itself() -> None:
    case = make_case(37)
    found = explain(case.model, case.X, case.graph, 3)
    assert [term.key for term in found.terms("sources")[0]] == [3]
