"""A temperature lowers the log-loss of held-out labels, or is not applied."""

from __future__ import annotations

import numpy as np
import pytest

from sgclearn import Graph, SGCClassifier, SGCClassifierCV, load_dataset
from sgclearn.estimators.loss import Sigmoid, Softmax
from sgclearn.estimators.temperature import calibrate


def drawn(n: int, seed: int, n_classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and one-hot classes drawn from their softmax."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, n_classes)) * 2
    P = Softmax.probabilities(logits)
    y = np.minimum((rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1), n_classes - 1)
    return logits, np.eye(n_classes)[y]


@pytest.mark.parametrize("factor", [0.01, 0.3, 5.0, 1000.0])
def test_calibrate_finds_the_factor_that_logits_were_multiplied_by(factor: float) -> None:
    logits, Y = drawn(4000, 3)
    found = calibrate(factor * logits, Y, Softmax)
    assert found.applied
    assert found.temperature == pytest.approx(factor, rel=0.1)
    assert found.log_loss_after < found.log_loss_before


def test_calibrate_leaves_calibrated_logits_alone() -> None:
    applied = 0
    for seed in range(10, 20):
        logits, Y = drawn(300, seed)
        found = calibrate(logits, Y, Softmax)
        applied += found.applied
        assert found.temperature == pytest.approx(1.0, abs=0.35)
        assert found.applied or found.temperature == 1.0
    assert applied < 8


def test_calibrate_stays_finite_where_everything_is_right() -> None:
    Y = np.eye(3)[np.arange(60) % 3]
    found = calibrate(0.01 * Y, Y, Softmax)
    confidence = Softmax.probabilities(0.01 * Y / found.temperature).max(axis=1)
    assert found.applied
    assert 0.9 < confidence.min() < 0.9999


def test_calibrate_does_nothing_with_few_labels_or_equal_logits() -> None:
    logits, Y = drawn(9, 5)
    assert not calibrate(logits, Y, Softmax).applied
    assert calibrate(np.zeros((50, 2)), np.eye(2)[np.arange(50) % 2], Softmax).temperature == 1.0


def test_calibrate_of_several_labels_per_sample() -> None:
    rng = np.random.default_rng(9)
    logits = rng.normal(size=(3000, 3)) * 2
    Y = (rng.random((3000, 3)) < Sigmoid.probabilities(logits)).astype(float)
    assert calibrate(3 * logits, Y, Sigmoid).temperature == pytest.approx(3.0, rel=0.1)


def test_cv_calibrates_probabilities_of_the_embedded_graph() -> None:
    from sgclearn.evaluate import evaluate_probabilities

    data = load_dataset("debian")
    y = np.full_like(data.y, -1)
    known = np.concatenate([data.train, data.val])
    y[known] = data.y[known]
    options = {"n_hops": 2, "row_norm": "l2", "weight_decay": (1e-4, 1e-3)}
    model, plain = (
        SGCClassifierCV(calibration=calibration, **options).fit(
            data.X, y, graph=data.graph, validation=data.val
        )
        for calibration in ("temperature", "none")
    )
    np.testing.assert_array_equal(model.transduction_, plain.transduction_)
    logits = model.decision_function(data.X, data.graph)
    np.testing.assert_array_equal(logits, plain.decision_function(data.X, data.graph))
    P = model.predict_proba(data.X, data.graph)
    np.testing.assert_allclose(P, Softmax.probabilities(logits / model.temperature_))
    before, after = (
        evaluate_probabilities(data.y[data.test], p.predict_proba(data.X, data.graph)[data.test])
        for p in (plain, model)
    )
    assert after.calibration_error <= 0.06 < before.calibration_error
    assert after.log_loss <= 0.80 < before.log_loss
    assert model.calibration_.applied
    assert not plain.calibration_.applied


def test_cv_calibrates_on_folds_and_never_on_labels_of_the_fit() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 40))  # noise: perfect in training, chance outside
    y = np.arange(60) % 2
    model = SGCClassifierCV(0, weight_decay=(1e-6,), cv=3).fit(
        X, y, graph=Graph.from_edges([], [], nodes=range(60))
    )
    assert model.calibration_.n == 60
    assert (model.transduction_ == y).all()
    assert model.predict_proba(X, Graph.from_edges([], [], nodes=range(60))).max(axis=1).mean() < 0.9


def test_plain_fit_has_no_temperature() -> None:
    X = np.eye(4)
    model = SGCClassifier(0).fit(X, [0, 1, 0, 1])
    assert model.temperature_ == 1.0
