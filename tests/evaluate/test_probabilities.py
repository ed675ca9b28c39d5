"""Scores of probabilities against their definitions, and sets that hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from sgclearn.errors import InputError
from sgclearn.evaluate import PredictionSets, evaluate_probabilities
from sgclearn.evaluate.probabilities import reliability, risk_coverage


def drawn(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and classes drawn from them: perfectly calibrated."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_classes, 0.7), size=n)
    y = (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    return np.minimum(y, n_classes - 1), P


def test_scores_equal_those_of_scikit_learn() -> None:
    y, P = drawn(400, 4, 3)
    found = evaluate_probabilities(y, P)
    assert found.log_loss == pytest.approx(log_loss(y, P, labels=range(4)))
    y2, P2 = drawn(300, 2, 5)
    assert evaluate_probabilities(y2, P2).brier_score == pytest.approx(2 * brier_score_loss(y2, P2[:, 1]))


def test_calibration_error_is_small_only_for_calibrated_probabilities() -> None:
    y, P = drawn(20_000, 3, 7)
    sharp = P**3 / (P**3).sum(axis=1, keepdims=True)
    assert evaluate_probabilities(y, P).calibration_error < 0.02
    assert evaluate_probabilities(y, sharp).calibration_error > 0.08


def test_calibration_error_of_a_case_by_hand() -> None:
    P = np.array([[0.9, 0.1]] * 30)
    y = np.array([0] * 15 + [1] * 15)  # in this order: half of the bins are all right, half all wrong
    found = evaluate_probabilities(y, P)
    assert found.calibration_error == pytest.approx((7 * 0.1 + 7 * 0.9 + 0.4) / 15)


def test_reliability_has_equally_many_in_every_bin() -> None:
    confidence = np.linspace(0.5, 1.0, 47)
    bins = reliability(confidence, confidence > 0.7)
    assert len(bins) == 15
    assert {b.n for b in bins} == {3, 4}
    assert sum(b.n for b in bins) == 47


def test_risk_coverage_answers_the_most_confident_first() -> None:
    confidence = np.array([0.9, 0.8, 0.8, 0.6])
    right = np.array([True, True, False, False])
    full, half = risk_coverage(confidence, right, (1.0, 0.5))
    assert (full.accuracy, full.n) == (0.5, 4)
    assert half.n == 3  # two are equally confident
    assert half.accuracy == pytest.approx(2 / 3)


def test_prediction_sets_cover_what_they_promise() -> None:
    y, P = drawn(4000, 5, 11)
    sets = PredictionSets.fit(y[:2000], P[:2000], 0.9)
    found = sets.evaluate(y[2000:], P[2000:])
    assert found["coverage"] == pytest.approx(0.9, abs=0.02)
    assert found["worst_class_coverage"] <= found["coverage"]
    assert found["mean_size"] < 5


def test_prediction_sets_of_few_labels_hold_every_class() -> None:
    y, P = drawn(5, 3, 13)
    assert PredictionSets.fit(y, P, 0.9).contains(P).all()


@pytest.mark.parametrize(
    ("codes", "probabilities", "message"),
    [
        ([0], [[0.5, 0.5], [0.5, 0.5]], "one row per label"),
        ([0, 1], [[0.5, 0.6], [0.5, 0.5]], "sum to 1"),
        ([0, 2], [[0.5, 0.5], [0.5, 0.5]], "columns from 0 to 1"),
    ],
)
def test_probabilities_that_do_not_fit_are_refused(codes: list, probabilities: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_probabilities(np.array(codes), np.array(probabilities))
