"""GeoSGC against its parts: cells, a classifier, medians; two maps against the nuclear norm."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn import Graph, SGCClassifier, load_model, propagate, save_model
from sgclearn.errors import InputError
from sgclearn.operators import Operator
from sgclearn.reference import propagation_matrix
from sgclearn.tasks.geo.cells import Cells
from sgclearn.tasks.geo.evidence import evidence, self_weights
from sgclearn.tasks.geo.model import GeoSGC
from sgclearn.tasks.geo.propagated import PropagatedLabels
from sgclearn.tasks.geo.search import GeoSGCCV
from sgclearn.tasks.geo.sphere import haversine
from sgclearn.tasks.geo.two_maps import fit_two_maps, row_basis


@pytest.fixture(scope="module")
def cities():
    """Six cities of 20 users; friends are mostly of the same city, words partly."""
    rng = np.random.default_rng(41)
    centres = np.array(
        [[40.7, -74.0], [34.0, -118.2], [41.9, -87.6], [47.6, -122.3], [-36.8, 174.8], [51.5, -0.1]]
    )
    city = np.repeat(np.arange(6), 20)
    points = centres[city] + rng.normal(scale=0.1, size=(120, 2))
    edges = [
        (i, j) for i in range(120) for j in range(i) if rng.random() < (0.25 if city[i] == city[j] else 0.01)
    ]
    X = sp.csr_array(
        rng.random((120, 30)) < np.where(np.arange(30) // 5 == city[:, None], 0.4, 0.15), dtype=float
    )
    known = rng.random(120) < 0.5
    return X, np.where(known[:, None], points, np.nan), points, Graph.from_edges(edges, nodes=range(120))


def test_geosgc_is_a_classifier_of_cells_and_their_medians(cities):
    X, y, points, graph = cities
    model = GeoSGC(2, bucket=12, weight_decay=1e-3).fit(X, y, graph)
    known = ~np.isnan(y[:, 0])
    cells = Cells.from_points(y[known], 12)
    codes = np.full(120, -1)
    codes[known] = cells.of(y[known])
    classifier = SGCClassifier(2, weight_decay=1e-3, tol=1e-6).fit(X, codes, graph)
    np.testing.assert_allclose(model.predict_proba(X, graph), classifier.predict_proba(X, graph))
    np.testing.assert_array_equal(model.predict(X, graph), cells.centres[classifier.predict(X, graph)])
    assert (haversine(model.predict(X, graph), points)[~known] < 161).mean() > 0.8


def test_expected_error_is_the_mean_distance_to_known_places(cities):
    X, y, _, graph = cities
    model = GeoSGC(2, bucket=12, weight_decay=1e-3).fit(X, y, graph)
    proba = model.predict_proba(X, graph, nodes=[3])
    chosen, known = proba[0].argmax(), y[~np.isnan(y[:, 0])]
    of = model.cells_.of(known)
    centre = model.cells_.centres[[chosen]]
    means = [
        haversine(known[of == k], np.repeat(centre, (of == k).sum(), 0)).mean()
        for k in range(len(model.cells_))
    ]
    np.testing.assert_allclose(model.expected_errors(proba), [proba[0] @ means])


def test_geosgc_does_not_read_unknown_places_or_depend_on_their_marks(cities):
    X, y, _, graph = cities
    other = y.copy()
    other[np.isnan(y[:, 0])] = [0.0, 0.0]  # the mark of a failed look-up
    with pytest.warns(UserWarning, match="taken for unknown"):
        model = GeoSGC(2, bucket=12).fit(X, other, graph)
    np.testing.assert_array_equal(
        model.predict(X, graph), GeoSGC(2, bucket=12).fit(X, y, graph).predict(X, graph)
    )


def test_geosgc_places_new_nodes_of_a_larger_graph(cities):
    X, y, points, graph = cities
    model = GeoSGC(2, bucket=12, weight_decay=1e-3).fit(X, y, graph)
    friend = int(np.flatnonzero(~np.isnan(y[:, 0]))[0])
    larger = graph.extend([("new", friend)], new_ids=["new"])
    with_new = sp.vstack([X, X[[friend]]], format="csr")
    assert haversine(model.predict(with_new, larger, nodes=[120]), points[[friend]])[0] < 161


@pytest.mark.parametrize(("points", "bucket"), [([[1.0, 2.0]] * 4, 1), ([[1.0, 2.0], [3.0, 4.0]], 2)])
def test_geosgc_refuses_places_in_one_cell(points, bucket):
    with pytest.raises(InputError, match="known places must fill at least two cells"):
        GeoSGC(bucket=bucket).fit(
            np.eye(len(points)), points, Graph.from_edges([(0, 1)], nodes=range(len(points)))
        )


def test_geosgc_without_features_learns_from_the_graph(cities):
    _, y, points, graph = cities
    unknown = np.isnan(y[:, 0])
    predicted = GeoSGC(2, bucket=12).fit(None, y, graph).predict(None, graph)
    assert (haversine(predicted, points)[unknown] < 161).mean() > 0.6


def test_propagated_labels_are_votes_of_the_neighbourhood(cities):
    _, y, _, graph = cities
    known = np.flatnonzero(~np.isnan(y[:, 0]))
    cells = Cells.from_points(y[known], 12)
    Y = np.zeros((120, len(cells)))
    Y[known, cells.of(y[known])] = 1
    S = propagation_matrix(graph.to_scipy().toarray(), "sym", 1.0)
    expected = cells.centres[(S @ S @ Y).argmax(axis=1)]
    model = PropagatedLabels(2, bucket=12).fit(None, y, graph)
    predicted, reached = model.predict(), model.reached_
    np.testing.assert_array_equal(predicted[reached], expected[reached])


def test_propagated_labels_count_who_is_not_reached():
    y = np.array([[10.0, 20.0], [11.0, 21.0], [10.1, 20.1], [np.nan] * 2, [np.nan] * 2])
    graph = Graph.from_edges([(0, 3)], nodes=range(5))
    model = PropagatedLabels(1, bucket=1).fit(None, y, graph)
    predicted, reached = model.predict(), model.reached_
    assert reached.tolist() == [True, True, True, True, False]
    np.testing.assert_allclose(predicted[3], [10.0, 20.0])


def test_self_weights_are_the_diagonal_of_the_power(cities):
    *_, graph = cities
    nodes = np.array([5, 0, 77])
    for normalization in ("sym", "rw", "cheby"):
        operator = Operator(graph, normalization)
        S = operator.matrix().toarray()
        for hops in (0, 1, 2, 3, 4):
            expected = np.diag(np.linalg.matrix_power(S, hops))[nodes]
            np.testing.assert_allclose(self_weights(operator, hops, nodes), expected)


def test_evidence_names_text_graph_and_prior():
    # 0-1-2 are joined, 3 is alone with words, 4 alone without, 5 has no words but friends.
    X = np.zeros((6, 2))
    X[[0, 1], 0], X[[2, 3], 1] = 1.0, 1.0
    graph = Graph.from_edges([(0, 1), (0, 5), (1, 5)], nodes=range(6))
    y = np.array([[10.0, 20.0], [10.1, 20.1], [40.0, 50.0], *[[np.nan] * 2] * 3])
    model = GeoSGC(1, bucket=2, weight_decay=1e-3).fit(X, y, graph)
    assert evidence(model.classifier_, X, graph)[2:].tolist() == ["text", "text", "prior", "graph"]
    assert evidence(model.classifier_, X, graph, np.array([5, 4])).tolist() == ["graph", "prior"]


def test_evidence_without_a_graph_is_text(cities):
    X, y, _, _ = cities
    with pytest.warns(UserWarning, match="no graph"):
        model = GeoSGC(1, bucket=12).fit(X, y)
    assert set(evidence(model.classifier_, X, None)) == {"text"}


def test_two_maps_reach_the_optimum_of_the_nuclear_norm(cities):
    X, y, _, graph = cities
    known = np.flatnonzero(~np.isnan(y[:, 0]))
    codes = Cells.from_points(y[known], 12).of(y[known])
    Z = np.asarray(propagate(X, graph, 2, output="dense"))[known]
    decay = 0.01
    fit = fit_two_maps(Z, codes, 300, decay, max_iter=5000, tol=1e-15)
    # Optimality of loss + decay |Theta, b|_*: the gradient is -decay times a subgradient of the nuclear norm.
    Z1 = np.column_stack([Z, np.ones(len(Z))])
    W = np.vstack([fit.Theta, fit.b])
    logits = Z1 @ W
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    G = Z1.T @ (P - np.eye(P.shape[1])[codes]) / len(codes)
    U, s, Vt = np.linalg.svd(W, full_matrices=False)
    U, s, Vt = U[:, s > 1e-4 * s[0]], s[s > 1e-4 * s[0]], Vt[s > 1e-4 * s[0]]
    assert len(s) < P.shape[1] - 1  # a low rank, which one map never gives
    np.testing.assert_allclose(U.T @ G @ Vt.T, -decay * np.eye(len(s)), atol=decay * 0.02)
    assert np.linalg.norm(G, 2) <= decay * 1.02


def test_two_maps_of_a_wider_hidden_layer_are_the_same(cities):
    X, y, _, graph = cities
    fits = [GeoSGC(2, bucket=12, hidden=h, weight_decay=1e-3).fit(X, y, graph) for h in (30, 300)]
    np.testing.assert_array_equal(*(fit.classifier_.coef_ for fit in fits))


def test_two_maps_predict_save_and_load_as_one(cities, tmp_path):
    X, y, points, graph = cities
    model = GeoSGC(2, bucket=4, hidden=50, weight_decay=1e-4).fit(X, y, graph)
    assert (haversine(model.predict(X, graph), points)[np.isnan(y[:, 0])] < 161).mean() > 0.8
    save_model(model.classifier_, tmp_path / "m.safetensors")
    again = load_model(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X, graph), model.predict_proba(X, graph))


@pytest.mark.parametrize(("rows", "columns"), [(5, 12), (12, 5), (8, 8)])
@pytest.mark.parametrize("sparse", [False, True])
def test_row_basis_keeps_products(rows, columns, sparse):
    rng = np.random.default_rng(42)
    Z = rng.normal(size=(rows, columns))
    Z[-1] = Z[0]
    R, back = row_basis(sp.csr_array(Z) if sparse else Z)
    V = rng.normal(size=(R.shape[1], 3))
    np.testing.assert_allclose(Z @ back(V), R @ V, atol=1e-10)


def test_two_maps_refuse_what_they_do_not_take(cities):
    X, y, _, graph = cities
    with pytest.raises(InputError, match="two linear maps take no scale"):
        GeoSGC(hidden=4, bucket=12, scale="standard").fit(X, y, graph)
    with pytest.raises(InputError, match="hidden must be a whole number >= 1"):
        GeoSGC(hidden=0, bucket=12).fit(X, y, graph)


def test_search_chooses_on_validation_and_learns_without_it(cities):
    X, y, points, graph = cities
    known = np.flatnonzero(~np.isnan(y[:, 0]))
    held = known[::4]
    grid = {"n_hops": [0, 2], "bucket": [12, 30], "normalization": "rw", "weight_decay": [1e-2, 1e-4]}
    model = GeoSGCCV(**grid, refit_with_validation=False).fit(X, y, graph, validation=held)
    assert len(model.cv_results_) == 8
    assert model.best_score_ == max(trial["score"] for trial in model.cv_results_)
    learned = y.copy()
    learned[held] = np.nan
    plain = GeoSGC(**model.best_params_).fit(X, learned, graph)
    np.testing.assert_array_equal(model.predict(X, graph), plain.predict(X, graph))
    best = next(trial for trial in model.cv_results_ if trial["score"] == model.best_score_)
    errors = haversine(plain.predict(X, graph, nodes=held), points[held])
    assert best["score"] == (errors < 161).mean()


def test_search_holds_places_back_by_itself_and_refits_on_all(cities):
    X, y, _, graph = cities
    model = GeoSGCCV(2, bucket=[12], normalization="sym", weight_decay=[1e-3, 1e-4]).fit(X, y, graph)
    plain = GeoSGC(**model.best_params_).fit(X, y, graph)
    np.testing.assert_array_equal(model.predict_proba(X, graph), plain.predict_proba(X, graph))


def test_search_refuses_validation_without_a_place(cities):
    X, y, _, graph = cities
    unknown = np.flatnonzero(np.isnan(y[:, 0]))[:3]
    with pytest.raises(InputError, match="validation nodes must have a known place"):
        GeoSGCCV(2).fit(X, y, graph, validation=unknown)
