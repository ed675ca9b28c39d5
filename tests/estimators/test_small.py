"""The native kernels for a few samples, against the same formulas in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sgclearn import SGCClassifier, SGCMultilabelClassifier
from sgclearn.estimators import rowspace, small
from sgclearn.estimators.curvature import Spread
from sgclearn.estimators.labels import one_hot
from sgclearn.estimators.loss import Objective, Sigmoid, Softmax
from sgclearn.estimators.rowspace import row_space
from sgclearn.estimators.solvers.newton import evaluate, newton
from sgclearn.propagation.design import ExplicitDesign

from problems import labelled_problem


def make(link, n_classes: int, m: int = 13, d: int = 11, decay: float = 0.05, seed: int = 107) -> Objective:
    rng = np.random.default_rng(seed)
    codes = np.arange(m) % n_classes
    Y = one_hot(codes, n_classes) if link is Softmax else (rng.random((m, n_classes)) < 0.5).astype(float)
    return Objective(
        ExplicitDesign(rng.normal(size=(m, d))), Y, rng.uniform(0.1, 2, m), link, decay, intercept=False
    )


@pytest.fixture
def no_kernel(monkeypatch):
    def take_away() -> None:
        monkeypatch.setattr(small, "load_kernel", lambda: None)
        monkeypatch.setattr(rowspace, "load_kernel", lambda: None)

    return take_away


@pytest.mark.parametrize("n_classes", [2, 3, 8, 9, 16])
def test_native_objective_equals_that_of_numpy(n_classes, no_kernel):
    fast = make(Softmax, n_classes)
    no_kernel()
    slow = make(Softmax, n_classes)
    assert fast.native is not None
    assert slow.native is None
    W = 5 * np.random.default_rng(109).normal(size=fast.shape)
    for a, b in zip(fast.value_and_gradient(W), slow.value_and_gradient(W), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("link", [Softmax, Sigmoid])
@pytest.mark.parametrize("n_classes", [2, 7, 8, 10, 16])
def test_native_newton_step_solves_its_system(n_classes, link):
    objective = make(link, n_classes)
    W = np.random.default_rng(113).normal(size=objective.shape)
    _, gradient, P = objective.value_and_gradient(W)
    squares = objective.design.squares(objective.weights[:, 0])
    step = objective.native.newton_step(P, squares, gradient, link is Softmax, 1e-13, 500)
    exact = (
        np.linalg.solve(objective.small_hessian_matrix(P), -gradient.T.ravel()).reshape(step.shape[::-1]).T
    )
    np.testing.assert_allclose(step, exact, rtol=1e-8, atol=1e-9)


def test_native_newton_step_without_decay_leaves_flat_directions_alone():
    objective = make(Softmax, 3, m=4, d=9, decay=0.0)
    _, gradient, P = objective.value_and_gradient(np.zeros(objective.shape))
    squares = objective.design.squares(objective.weights[:, 0])
    step = objective.native.newton_step(P, squares, gradient, True, 1e-12, 500)
    assert np.isfinite(step).all()
    assert np.vdot(step, gradient) < 0


@pytest.mark.parametrize("link", [Softmax, Sigmoid])
def test_newton_ends_at_the_same_place_with_and_without_the_kernel(link, no_kernel):
    ends = []
    for _ in range(2):
        objective = make(link, 5, m=40, d=30, decay=1e-3)
        start = evaluate(objective, np.zeros(objective.shape))
        spread = Spread(objective.design.squares(objective.weights[:, 0]))
        point, steps = newton(objective, start, 1e-10 * start.norm, spread, 50, lambda step: None)
        assert point.norm <= 1e-10 * start.norm
        assert steps < 15
        ends.append(point.W)
        no_kernel()
    np.testing.assert_allclose(*ends, atol=1e-7)


def test_more_classes_than_the_kernel_takes_are_left_to_numpy():
    assert make(Softmax, 17, m=40).native is None


@pytest.mark.parametrize(
    "model", [SGCClassifier(weight_decay=1e-4), SGCMultilabelClassifier(weight_decay=1e-4)]
)
def test_fits_of_sparse_features_are_the_same_with_and_without_the_kernel(model, no_kernel):
    graph, _, y = labelled_problem(n_columns=6, seed=127)
    X = sparse.random_array((40, 90), density=0.2, rng=np.random.default_rng(131), format="csr")
    if isinstance(model, SGCMultilabelClassifier):
        y = (np.random.default_rng(137).random((40, 3)) < 0.4).astype(int)
    fast = model.fit(X, y, graph=graph).coef_.copy()
    no_kernel()
    np.testing.assert_allclose(model.fit(X, y, graph=graph).coef_, fast, atol=1e-7 * np.abs(fast).max())


@pytest.mark.parametrize("bordered", [False, True])
def test_row_space_of_equal_samples_has_no_direction_for_their_difference(bordered):
    Z = sparse.random_array((20, 60), density=0.3, rng=np.random.default_rng(139), format="csr")
    twice = sparse.csr_array(sparse.vstack([Z, Z[:3]]))
    space = row_space(ExplicitDesign(twice), np.ones(23), bordered)
    assert space.samples.shape == (23, 20)
    dense = twice.toarray()
    dense = np.concatenate([dense, np.ones((23, 1))], axis=1) if bordered else dense
    np.testing.assert_allclose(space.samples.Z @ space.samples.Z.T, dense @ dense.T, atol=1e-12)
    np.testing.assert_allclose(space.basis.T @ space.basis, np.eye(20), atol=1e-10)
