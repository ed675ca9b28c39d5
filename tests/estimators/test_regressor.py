"""Ridge regression on samples of a graph: scikit-learn's Ridge, leaving out one by one, and every plan."""

from __future__ import annotations

import gzip
import re
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sgclearn import Compute, Graph, SGCRegressor, SGCRegressorCV, load_model, propagate, save_model
from sgclearn.errors import InputError
from sgclearn.estimators.search import LeftOut
from sgclearn.filters import S2GCFilter

from problems import labelled_problem
from zoo import random_features, to_dense

PLANS = ["auto", "full", "frontier", "left-first", "implicit"]
GRAPH, X, _ = labelled_problem(60, 6, seed=61)
KNOWN = np.arange(60) % 3 > 0
TARGETS = np.where(KNOWN[:, None], random_features(60, 3, seed=67, density=1.0), np.nan)
WEIGHTS = np.random.default_rng(71).uniform(0.2, 3.0, size=60)


@parametrize_with_checks(
    [SGCRegressor(), SGCRegressorCV(n_hops=(0, 2), weight_decay=(1e-3, 1e-1), cv=2), SGCRegressorCV(n_hops=0)]
)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check) -> None:
    check(estimator)


def ridge(Z, y, decay: float, weights=None, **options) -> Ridge:
    """Bridge: `alpha = sum(w) * weight_decay`."""
    total = len(y) if weights is None else weights.sum()
    return Ridge(alpha=total * decay, solver="cholesky", **options).fit(Z, y, sample_weight=weights)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("n_columns", [6, 100])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_regressor_is_ridge_on_propagated_features(plan, weights, n_columns, form):
    features = random_features(60, n_columns, seed=73)
    for fit_intercept in (True, False):
        model = SGCRegressor(weight_decay=1e-2, fit_intercept=fit_intercept, compute=Compute(plan), tol=1e-13)
        model.fit(form(features), TARGETS, graph=GRAPH, sample_weight=weights)
        Z = to_dense(propagate(features, GRAPH, 2))
        expected = ridge(
            Z[KNOWN],
            TARGETS[KNOWN],
            1e-2,
            None if weights is None else weights[KNOWN],
            fit_intercept=fit_intercept,
        )
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.intercept_, expected.intercept_ * np.ones(3), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.transduction_, expected.predict(Z), rtol=1e-8, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(3, 25),
    st.integers(1, 30),
    st.sampled_from([1e-8, 1e-4, 1e-1, 10.0]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_leaving_out_one_by_one_equals_refitting(m, d, decay, weighted, fit_intercept, seed):
    rng = np.random.default_rng(seed)
    Z, y = rng.normal(size=(m, d)), rng.normal(size=(m, 2))
    weights = rng.uniform(0.2, 3.0, size=m) if weighted else np.ones(m)
    options = {"fit_intercept": fit_intercept}
    search = SGCRegressorCV(0, weight_decay=(decay,), scoring="mse", **options).fit(
        Z, y, sample_weight=weights
    )
    errors = []
    for i in range(m):
        rest = np.delete(np.arange(m), i)
        single = SGCRegressor(0, weight_decay=decay, **options).fit(
            Z[rest], y[rest], sample_weight=weights[rest]
        )
        errors.append(np.square(single.predict(Z[[i]]) - y[[i]]).mean())
    assert search.best_score_ == pytest.approx(-np.average(errors, weights=weights), rel=1e-5)


@pytest.mark.parametrize("penalize", [True, False])
def test_leave_one_out_of_a_path_equals_refitting_on_a_graph(penalize):
    options = {"penalize_intercept": penalize}
    model = SGCRegressorCV((0, 2), weight_decay=(1e-3, 1e-1), scoring="mae", **options)
    model.fit(X, TARGETS, graph=GRAPH)
    assert len(model.cv_results_) == 4
    for trial in model.cv_results_:
        errors = []
        for node in np.flatnonzero(KNOWN):
            y = TARGETS.copy()
            y[node] = np.nan
            single = SGCRegressor(trial["n_hops"], weight_decay=trial["weight_decay"], **options)
            errors.append(np.abs(single.fit(X, y, graph=GRAPH).transduction_[node] - TARGETS[node]).mean())
        assert trial["score"] == pytest.approx(-np.mean(errors), rel=1e-8)


def test_search_without_folds_factorises_once_per_filter(monkeypatch):
    solved = []
    leave = LeftOut.score
    monkeypatch.setattr(LeftOut, "score", lambda self, decay: solved.append(self) or leave(self, decay))
    model = SGCRegressorCV((0, 1, 2)).fit(X, TARGETS, graph=GRAPH)
    assert len(solved) == len(model.cv_results_) == 75
    assert len(set(map(id, solved))) == 3


@pytest.mark.parametrize("options", [{"cv": 4}, {"scale": "standard"}, {"compute": Compute("implicit")}])
def test_search_uses_folds_where_samples_cannot_be_left_out_one_by_one(options, monkeypatch):
    monkeypatch.setattr(LeftOut, "score", None)
    model = SGCRegressorCV((0, 1), weight_decay=(1e-3, 1e-1), **options).fit(X, TARGETS, graph=GRAPH)
    same = SGCRegressor(
        weight_decay=model.weight_decay_, n_hops=model.n_hops_,
        **{key: value for key, value in options.items() if key != "cv"},
    ).fit(X, TARGETS, graph=GRAPH)  # fmt: skip
    np.testing.assert_allclose(model.transduction_, same.transduction_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("scoring", ["r2", "mse", "mae"])
def test_search_on_validation_samples_scores_them_as_single_fits(scoring):
    from sklearn import metrics

    score = {
        "r2": metrics.r2_score,
        "mse": lambda *a: -metrics.mean_squared_error(*a),
        "mae": lambda *a: -metrics.mean_absolute_error(*a),
    }[scoring]
    validation = np.flatnonzero(KNOWN)[:12]
    model = SGCRegressorCV((0, 2), weight_decay=(1e-3, 1e-1), scoring=scoring)
    model.fit(X, TARGETS, graph=GRAPH, validation=validation)
    y = TARGETS.copy()
    y[validation] = np.nan
    for trial in model.cv_results_:
        single = SGCRegressor(trial["n_hops"], weight_decay=trial["weight_decay"]).fit(X, y, graph=GRAPH)
        assert trial["score"] == pytest.approx(
            score(TARGETS[validation], single.transduction_[validation]), rel=1e-8
        )


def test_scaling_is_that_of_the_propagated_samples():
    Z = propagate(X, GRAPH, 2)
    scaler = StandardScaler().fit(Z[KNOWN])
    expected = ridge(scaler.transform(Z[KNOWN]), TARGETS[KNOWN], 1e-1).predict(scaler.transform(Z))
    for plan in PLANS:
        model = SGCRegressor(scale="standard", weight_decay=1e-1, compute=Compute(plan), tol=1e-13)
        np.testing.assert_allclose(
            model.fit(X, TARGETS, graph=GRAPH).transduction_, expected, rtol=1e-8, atol=1e-10
        )


def test_readout_and_filter_list_are_ridge_on_the_samples():
    P = sparse.csr_array(np.random.default_rng(79).uniform(size=(20, 60)) * (np.arange(60) % 4 == 0))
    y, bank = np.arange(20.0), [0, S2GCFilter(2, 0.3)]
    Z = to_dense(propagate(X, GRAPH, filter=bank, readout=P))
    for plan in PLANS:
        model = SGCRegressor(filter=bank, weight_decay=1e-3, compute=Compute(plan), tol=1e-13)
        model.fit(X, y, graph=GRAPH, readout=P)
        expected = ridge(Z, y, 1e-3)
        np.testing.assert_allclose(model.coef_[0], expected.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(model.transduction_, expected.predict(Z), rtol=1e-7)
        np.testing.assert_allclose(
            model.predict(X, graph=GRAPH, readout=P[3:5]), expected.predict(Z[3:5]), rtol=1e-7
        )
        assert model.score(X, y, graph=GRAPH, readout=P) == pytest.approx(expected.score(Z, y), rel=1e-7)


def test_without_weight_decay_the_shortest_solution_is_found():
    Z, y = random_features(8, 20, seed=83), np.arange(8.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SGCRegressor(0, weight_decay=0.0, fit_intercept=False).fit(Z, y)
    np.testing.assert_allclose(model.coef_[0], np.linalg.pinv(Z) @ y, rtol=1e-8, atol=1e-10)


def test_more_outputs_than_columns_predict_the_same():
    y = random_features(60, 40, seed=89, density=1.0)
    model = SGCRegressor(weight_decay=1e-2).fit(X, y, graph=GRAPH)
    Z = propagate(X, GRAPH, 2)
    np.testing.assert_allclose(
        model.predict(X, graph=GRAPH), Z @ model.coef_.T + model.intercept_, rtol=1e-10
    )
    picked = np.array([7, 3, 7])
    np.testing.assert_allclose(
        model.predict(X, graph=GRAPH, nodes=picked), model.transduction_[picked], rtol=1e-10
    )


@pytest.mark.parametrize("y", [TARGETS, TARGETS[:, 0]])
def test_regressor_survives_saving(tmp_path: Path, y):
    for model in (SGCRegressor(weight_decay=1e-2), SGCRegressorCV((0, 1), weight_decay=(1e-3, 1e-1))):
        save_model(model.fit(X, y, graph=GRAPH), tmp_path / "model.safetensors")
        loaded = load_model(tmp_path / "model.safetensors")
        assert type(loaded) is SGCRegressor
        assert np.array_equal(loaded.predict(X, graph=GRAPH), model.predict(X, graph=GRAPH))
        assert loaded.predict(X, graph=GRAPH).shape == y.shape


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(60, np.nan), "at least one sample needs a known y"),
        (np.where(np.arange(60) < 1, np.inf, 1.0), "Input y contains infinity"),
        (
            np.column_stack([np.arange(60.0), np.where(np.arange(60) < 2, np.nan, 1.0)]),
            "known whole or not at all",
        ),
        (np.ones(59), "y must have one row per row of X: got 59 and 60 rows"),
        (np.ones((60, 1, 1)), "y must have one number"),
    ],
)
def test_targets_that_cannot_be_learned_are_refused(y, message):
    with pytest.raises(InputError, match=message):
        SGCRegressor().fit(X, y, graph=GRAPH)


def test_one_known_sample_cannot_be_left_out():
    y = np.full(60, np.nan)
    y[4] = 1.0
    assert SGCRegressor().fit(X, y, graph=GRAPH).transduction_ == pytest.approx(np.ones(60))
    with pytest.raises(InputError, match="at least two known samples"):
        SGCRegressorCV((0, 1)).fit(X, y, graph=GRAPH)


def lines_of(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def zero_shot(data_dir: Path):
    """Graph of classes, word vectors of their names, the 1,000 seen ones and the weights of their classifiers."""
    table = np.load(data_dir / "glove" / "glove6B_100d_subset.npz")["vector"].astype(np.float64)
    row = {
        word: k for k, word in enumerate(lines_of(data_dir / "glove" / "glove6B_100d_subset.words.txt.gz"))
    }
    names = lines_of(data_dir / "zero_shot" / "node_names.txt.gz")
    vectors = np.zeros((len(names), table.shape[1]))
    for node, name in enumerate(names):
        found = [row[word] for word in re.findall(r"[a-z]+", name.lower()) if word in row]
        vectors[node] = table[found].mean(axis=0) if found else 0.0
    stored = np.load(data_dir / "zero_shot" / "wordnet_graph.npz")
    seen = np.flatnonzero(stored["seen_index"] >= 0)
    weights = np.load(data_dir / "zero_shot" / "resnet50_classifier.npz")["weight"].astype(np.float64)
    graph = Graph.from_edges(stored["edge"], n_nodes=len(names))
    return graph, vectors, seen, weights[stored["seen_index"][seen]]


@pytest.mark.clock
def test_classifier_weights_of_classes_follow_from_their_neighbours(data_dir: Path):
    graph, vectors, seen, weights = zero_shot(data_dir)
    learned = np.random.default_rng(97).permutation(1000) < 900
    y = np.full((graph.n_nodes, 2048), np.nan)
    y[seen[learned]] = weights[learned]
    left = {}
    for n_hops in (0, 2):
        start = time.process_time()
        model = SGCRegressorCV(n_hops, row_norm="l2", scoring="mse").fit(vectors, y, graph=graph)
        assert time.process_time() - start < 30
        assert len(model.cv_results_) == 25
        errors = np.square(model.transduction_[seen[~learned]] - weights[~learned]).sum()
        left[n_hops] = errors / np.square(weights[~learned] - weights[learned].mean(axis=0)).sum()
    assert left[2] < left[0] < 1.0
    Z = propagate(vectors, graph, 2, row_norm="l2", nodes=seen[learned])
    expected = ridge(Z, weights[learned], model.weight_decay_)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8, atol=1e-8)
