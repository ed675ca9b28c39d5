"""Estimators over `P [F_1(S) X, F_2(S) X, ...]`: the same as a plain linear model on these samples, formed before."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sgclearn import (
    Compute,
    SGCClassifier,
    SGCClassifierCV,
    SGCMultilabelClassifier,
    load_model,
    propagate,
    save_model,
)
from sgclearn.errors import InputError
from sgclearn.filters import PageRankFilter, S2GCFilter

from problems import labelled_problem
from zoo import to_dense

PLANS = ["auto", "full", "frontier", "left-first", "implicit"]
GRAPH, X, _ = labelled_problem(60, 6, seed=47)
BANK = [0, 1, S2GCFilter(3, 0.2)]


def mean_readout(n_samples: int = 30, seed: int = 53) -> sparse.csr_array:
    """Means over one to four nodes."""
    rng = np.random.default_rng(seed)
    rows = [rng.choice(60, size=rng.integers(1, 5), replace=False) for _ in range(n_samples)]
    lengths = list(map(len, rows))
    values = np.repeat(1.0 / np.array(lengths), lengths)
    indptr = np.append(0, np.cumsum(lengths))
    return sparse.csr_array((values, np.concatenate(rows), indptr), shape=(n_samples, 60))


P, Y = mean_readout(), np.where(np.arange(30) < 22, np.arange(30) % 3, -1)


def samples(**options) -> np.ndarray:
    return to_dense(propagate(X, GRAPH, readout=P, **options))


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize(
    "options", [{"filter": BANK}, {"n_hops": 2}, {"filter": BANK, "normalization": "rw"}]
)
@pytest.mark.parametrize(
    "how", [{}, {"scale": "standard"}, {"penalize_intercept": False}, {"solver": "adam", "max_iter": 20}]
)
def test_classifier_of_a_readout_is_that_of_its_samples(plan, options, how):
    model = SGCClassifier(weight_decay=1e-2, compute=Compute(plan), **options, **how)
    model.fit(X, Y, graph=GRAPH, readout=P)
    Z = samples(**options)
    plain = SGCClassifier(0, weight_decay=1e-2, **how).fit(Z, Y)
    assert model.coef_.shape == (3, Z.shape[1])
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.transduction_proba_, plain.predict_proba(Z), rtol=1e-6, atol=1e-9)
    assert model.transduction_.tolist() == plain.predict(Z).tolist()
    np.testing.assert_allclose(
        model.predict_proba(X, graph=GRAPH, readout=P[25:]), plain.predict_proba(Z[25:]), rtol=1e-6, atol=1e-9
    )
    assert model.score(X, Y, graph=GRAPH, readout=P) == plain.score(Z, Y)


def test_rows_of_the_identity_are_the_nodes_to_the_bit():
    y = np.where(np.arange(60) < 30, np.arange(60) % 3, -1)
    nodes = SGCClassifier().fit(X, y, graph=GRAPH)
    rows = SGCClassifier().fit(X, y, graph=GRAPH, readout=sparse.eye_array(60))
    assert np.array_equal(nodes.coef_, rows.coef_)
    assert np.array_equal(nodes.transduction_proba_, rows.transduction_proba_)
    picked = np.array([50, 3, 3])
    np.testing.assert_array_equal(
        nodes.decision_function(X, graph=GRAPH, nodes=picked),
        nodes.decision_function(X, graph=GRAPH, readout=sparse.eye_array(60, format="csr")[picked]),
    )


def test_multilabel_of_a_readout_is_that_of_its_samples():
    labels = np.where(np.arange(30)[:, None] < 25, np.random.default_rng(5).integers(2, size=(30, 4)), -1)
    model = SGCMultilabelClassifier(filter=BANK, weight_decay=1e-2).fit(X, labels, graph=GRAPH, readout=P)
    plain = SGCMultilabelClassifier(0, weight_decay=1e-2).fit(samples(filter=BANK), labels)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.transduction_proba_, plain.transduction_proba_, rtol=1e-7)


@pytest.mark.parametrize("plan", PLANS)
def test_search_over_filter_lists_of_a_readout_scores_them_as_single_fits(plan):
    validation = np.arange(15, 22)
    model = SGCClassifierCV(
        filter=[BANK, S2GCFilter(2, 0.1), None],
        n_hops=(0, 2),
        weight_decay=(1e-3, 1e-1),
        compute=Compute(plan),
    ).fit(X, Y, graph=GRAPH, readout=P, validation=validation)
    assert len(model.cv_results_) == 8
    hidden = np.where(np.isin(np.arange(30), validation), -1, Y)
    for trial in model.cv_results_:
        options = {"n_hops": trial["n_hops"]} if trial["filter"] is None else {"filter": trial["filter"]}
        single = SGCClassifier(weight_decay=trial["weight_decay"], **options)
        single.fit(X, hidden, graph=GRAPH, readout=P)
        right = single.transduction_[validation] == Y[validation]
        assert trial["score"] == pytest.approx(right.mean())
    best = SGCClassifier(**model.best_params_).fit(X, hidden, graph=GRAPH, readout=P)
    np.testing.assert_allclose(model.coef_, best.coef_, rtol=1e-7, atol=1e-9)


def test_filter_list_survives_saving(tmp_path):
    model = SGCClassifier(filter=[1, PageRankFilter(4, 0.2)]).fit(X, Y, graph=GRAPH, readout=P)
    save_model(model, tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    assert loaded.filter_ == (1, PageRankFilter(4, 0.2))
    assert loaded.n_hops_ == 4
    assert np.array_equal(loaded.predict_proba(X, graph=GRAPH), model.predict_proba(X, graph=GRAPH))
    refitted = loaded.fit(X, Y, graph=GRAPH, readout=P)
    assert np.array_equal(refitted.coef_, model.coef_)


def test_labels_and_weights_belong_to_the_samples():
    weights = np.linspace(1.0, 2.0, 30)
    model = SGCClassifier(weight_decay=1e-2).fit(X, Y, graph=GRAPH, readout=P, sample_weight=weights)
    plain = SGCClassifier(0, weight_decay=1e-2).fit(samples(), Y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6)
    with pytest.raises(InputError, match=r"y must have one label per row of X: got 60 labels and 30 rows"):
        SGCClassifier().fit(X, np.zeros(60), graph=GRAPH, readout=P)
    with pytest.raises(InputError, match="readout must have one column per node"):
        model.predict(X, graph=GRAPH, readout=P[:, :50])
