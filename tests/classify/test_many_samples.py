"""Fits over many samples: shared by threads, begun on a few of them, and in float32 where that is exact enough."""

from contextlib import contextmanager

import numpy as np
import pytest

from sgclearn import SGCClassifier
from sgclearn.classify import blocks
from sgclearn.classify.loss import Objective, Softmax
from sgclearn.classify.solvers import newton
from sgclearn.propagation.design import ExplicitDesign

N_SAMPLES, N_COLUMNS, N_CLASSES = 40_000, 30, 4


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(2021)
    y = rng.integers(0, N_CLASSES, N_SAMPLES)
    X = rng.normal(size=(N_SAMPLES, N_COLUMNS)) + rng.normal(size=(N_CLASSES, N_COLUMNS))[y]
    return X.astype(np.float32), y


def objective(samples, **options):
    X, y = samples
    Y = np.eye(N_CLASSES)[y]
    return Objective(ExplicitDesign(X), Y, np.ones(len(X)), Softmax, 1e-3, **options)


def test_first_length_from_a_few_samples_leaves_the_optimum_where_it_is(samples, monkeypatch):
    X, y = samples
    assert objective(samples).sampled.design.shape[0] < N_SAMPLES / 8
    quick = SGCClassifier(0, weight_decay=1e-3, tol=1e-8).fit(X, y)
    monkeypatch.setattr(newton, "_first_length", lambda objective, point, step: 1.0)
    plain = SGCClassifier(0, weight_decay=1e-3, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(quick.coef_, plain.coef_, atol=1e-6)


def test_few_samples_have_no_smaller_choice(samples):
    X, y = samples
    assert objective((X[:5000], y[:5000])).sampled is None


def test_rough_gradient_is_the_exact_one_to_float32(samples):
    rng = np.random.default_rng(77)
    W = rng.normal(size=(N_COLUMNS + 1, N_CLASSES))
    exact, rough = (objective(samples, rough=rough).value_and_gradient(W) for rough in (False, True))
    assert rough[2].dtype == np.float32
    assert rough[0] == pytest.approx(exact[0], rel=1e-5)
    np.testing.assert_allclose(rough[1], exact[1], atol=1e-5 * np.abs(exact[1]).max())


def test_gradient_of_a_loose_fit_is_as_small_as_it_says(samples):
    X, y = samples
    model = SGCClassifier(0, weight_decay=1e-3, tol=1e-2).fit(X, y)
    exact = objective(samples)
    W = np.vstack([model.coef_.T, model.intercept_])
    at_zero = np.linalg.norm(exact.value_and_gradient(np.zeros_like(W))[1])
    ratio = np.linalg.norm(exact.value_and_gradient(W)[1]) / at_zero
    assert ratio == pytest.approx(model.gradient_ratio_, rel=1e-2)
    assert ratio <= 1e-2


def test_threads_share_blocks_to_the_same_sums(samples, monkeypatch):
    design = ExplicitDesign(samples[0])
    design._block_rows = 500  # many blocks, so that several threads have something to do
    V = np.random.default_rng(5).normal(size=(N_COLUMNS, N_CLASSES))
    monkeypatch.setattr("sgclearn.classify.threads._WORTH_THREADS", 0.0)
    threaded = blocks.normal_product(design, V, lambda part, Q: np.tanh(Q))

    @contextmanager
    def one_by_one(multiply_adds):
        yield map

    monkeypatch.setattr(blocks, "mapping", one_by_one)
    alone = blocks.normal_product(design, V, lambda part, Q: np.tanh(Q))
    for ours, theirs in zip(threaded, alone, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
