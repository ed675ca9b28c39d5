from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from sgclearn import Compute, SGCMultilabelClassifier, reference
from sgclearn.errors import InputError

from zoo import dense_adjacency, random_features, random_graph


def problem(seed: int = 17):
    graph = random_graph(50, 90, seed)
    X = random_features(50, 5, seed + 1)
    Y = (np.random.default_rng(seed + 2).random((50, 3)) < 0.4).astype(float)
    Y[30:] = -1
    return graph, X, Y


@pytest.mark.parametrize("plan", ["full", "frontier", "left-first", "implicit"])
def test_multilabel_is_one_logistic_regression_a_label_on_propagated_features(plan: str) -> None:
    graph, X, Y = problem()
    model = SGCMultilabelClassifier(
        weight_decay=1e-2, penalize_intercept=False, compute=Compute(plan=plan)
    ).fit(X, Y, graph=graph)
    Z = reference.propagate(X, reference.propagation_matrix(dense_adjacency(graph), "sym", 1.0), 2)
    P = model.predict_proba(X, graph=graph)
    for label in range(3):
        peer = LogisticRegression(C=1 / (30 * 1e-2), tol=1e-10, max_iter=1000).fit(Z[:30], Y[:30, label])
        np.testing.assert_allclose(P[:, label], peer.predict_proba(Z)[:, 1], atol=1e-5)
    assert np.array_equal(model.predict(X, graph=graph), (P > 0.5).astype(int))
    assert np.array_equal(model.decision_function(X, graph=graph) > 0, P > 0.5)


def test_multilabel_rows_of_nan_and_minus_one_are_unlabelled() -> None:
    graph, X, Y = problem()
    with_nan = np.where(Y == -1, np.nan, Y)
    one, two = (SGCMultilabelClassifier().fit(X, targets, graph=graph) for targets in (Y, with_nan))
    assert np.array_equal(one.coef_, two.coef_)


def test_multilabel_sample_weight_zero_is_no_label() -> None:
    graph, X, Y = problem()
    weights = np.ones(50)
    weights[:5] = 0
    hidden = Y.copy()
    hidden[:5] = -1
    one = SGCMultilabelClassifier().fit(X, Y, graph=graph, sample_weight=weights)
    assert np.array_equal(one.coef_, SGCMultilabelClassifier().fit(X, hidden, graph=graph).coef_)


def test_multilabel_clones_and_keeps_its_parameters() -> None:
    model = SGCMultilabelClassifier(3, weight_decay=0.5, scale="maxabs")
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (None, "requires y to be passed"),
        (np.zeros(50), "for one label a node use SGCClassifier"),
        (np.zeros((49, 2)), "one row per row of X: got 49 and 50 rows"),
        (np.full((50, 2), -1), "none of them labelled"),
        (np.full((50, 2), 2), "must hold 0 and 1"),
        (np.tile([0.0, -1.0], (50, 1)), "known whole or not at all: got 50 rows"),
    ],
)
def test_multilabel_bad_targets_are_one_clear_sentence(targets, message: str) -> None:
    graph, X, _ = problem()
    with pytest.raises(InputError, match=message):
        SGCMultilabelClassifier().fit(X, targets, graph=graph)
