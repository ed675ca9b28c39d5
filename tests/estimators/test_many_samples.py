"""Fits over many samples: shared by threads, begun on a few of them, and in float32 where that is exact enough."""

import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sgclearn import SGCClassifier
from sgclearn.estimators import blocks
from sgclearn.estimators.curvature import measure_spread
from sgclearn.estimators.loss import Objective, Softmax
from sgclearn.estimators.solvers import lbfgs, minimize_lbfgs, newton
from sgclearn.estimators.threads import mapping
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


@pytest.mark.parametrize("n_columns", [N_COLUMNS, 5], ids=["blocks", "few columns"])
def test_first_length_from_a_few_samples_leaves_the_optimum_where_it_is(samples, n_columns, monkeypatch):
    X, y = samples[0][:, :n_columns], samples[1]
    assert objective(samples).sampled.design.shape[0] < N_SAMPLES / 8
    quick = SGCClassifier(0, weight_decay=1e-3, tol=1e-8).fit(X, y)
    monkeypatch.setattr(newton, "first_length", lambda objective, point, step: 1.0)
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


class Counted(Objective):
    """Counts products with the samples."""

    products = 0

    def value_and_gradient(self, W):
        self.products += 1
        return super().value_and_gradient(W)

    def hessian(self, P):
        product = super().hessian(P)

        def counted(U):
            self.products += 1
            return product(U)

        return counted


def test_samples_that_bend_little_are_read_less_often_than_by_newton_steps_alone(samples):
    X, y = samples
    X = X * np.logspace(0, 1.5, N_COLUMNS, dtype=X.dtype)  # far, so that most classes soon are certain
    Y = np.eye(N_CLASSES)[y]
    alone, mixed = (Counted(ExplicitDesign(X), Y, np.ones(len(X)), Softmax, 1e-8) for _ in range(2))
    spread = measure_spread(alone)
    start = newton.evaluate(alone, np.zeros(alone.shape))
    end, _ = newton.newton(alone, start, 1e-3 * start.norm, spread, 50, lambda done: None)
    found = minimize_lbfgs(mixed, tol=1e-3, newton_first=True, spread=spread)
    assert end.norm <= 1e-3 * start.norm
    assert found.converged
    assert mixed.products < 0.8 * alone.products


def test_threads_share_blocks_to_the_same_bits(samples, monkeypatch):
    design = ExplicitDesign(samples[0])
    design._block_rows = 500  # many blocks, so that several threads have something to do
    V = np.random.default_rng(5).normal(size=(N_COLUMNS, N_CLASSES))
    workers = set()

    def middle(part, Q):
        workers.add(threading.get_ident())
        return np.tanh(Q)

    @contextmanager
    def three_at_a_time(multiply_adds):
        with ThreadPoolExecutor(3) as pool:
            yield pool.map

    monkeypatch.setattr(blocks, "mapping", lambda multiply_adds: nullcontext(map))
    alone = blocks.normal_product(design, V, middle)
    assert workers == {threading.get_ident()}
    monkeypatch.setattr(blocks, "mapping", three_at_a_time)
    shared = blocks.normal_product(design, V, middle)
    assert len(workers) > 1
    for ours, theirs in zip(shared, alone, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_blocks_are_shared_by_as_many_threads_as_blas_has():
    with threadpool_limits(2, "blas"):
        with mapping(1e12) as shared:
            assert shared is not map
        with mapping(1e3) as small:
            assert small is map
    with threadpool_limits(1, "blas"), mapping(1e12) as alone:
        assert alone is map


def test_features_of_all_nodes_are_neither_copied_nor_changed():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(N_SAMPLES, 400)).astype(np.float32)
    y, before = rng.integers(0, 2, N_SAMPLES), X[::100].copy()
    tracemalloc.start()
    SGCClassifier(0, weight_decay=1e-3, tol=1e-2).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.9 * X.nbytes
    np.testing.assert_array_equal(X[::100], before)


@pytest.mark.parametrize("n_samples", [60, 40_000], ids=["few", "many"])
def test_lbfgs_goes_all_the_way_where_newton_finds_no_step(samples, n_samples, monkeypatch):
    X, y = samples[0][:n_samples], samples[1][:n_samples]
    part = Objective(ExplicitDesign(X), np.eye(N_CLASSES)[y], np.ones(n_samples), Softmax, 1e-2)
    monkeypatch.setattr(lbfgs, "newton", lambda objective, point, *rest: (point, 0))
    found = minimize_lbfgs(part, tol=1e-6, newton_first=True)
    assert found.converged
    assert found.gradient_ratio <= 1e-6


def test_a_few_samples_that_see_no_way_down_have_no_say(samples):
    whole = objective(samples)
    point = newton.evaluate(whole, np.zeros(whole.shape))
    uphill = newton.evaluate(whole.sampled, point.W).gradient
    assert newton.first_length(whole, point, uphill) == 1.0
    assert newton.first_length(whole, point, -1e4 * uphill) < 1.0
