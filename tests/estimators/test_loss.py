from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from sgclearn import reference
from sgclearn.estimators.curvature import Spread, curvature_bound
from sgclearn.estimators.labels import class_codes, one_hot
from sgclearn.estimators.loss import Objective, Sigmoid, Softmax
from sgclearn.estimators.scaling import ScaledDesign, fit_scaling, fit_scalings
from sgclearn.propagation.design import ExplicitDesign


def make(seed: int, link=Softmax, intercept=True, penalize=True, decay=0.3, m=7, d=4, C=3):
    rng = np.random.default_rng(seed)
    Z, w = rng.normal(size=(m, d)), rng.uniform(0.1, 2.0, size=m)
    Y = one_hot(rng.integers(C, size=m), C) if link is Softmax else (rng.random((m, C)) < 0.5).astype(float)
    objective = Objective(ExplicitDesign(Z), Y, w, link, decay, intercept, penalize)
    return objective, rng.normal(size=objective.shape), Z, Y, w


@given(
    arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9),
        elements=st.sampled_from([-2.5, 0.0, 7.0]),
    )
)
def test_class_codes_are_the_first_of_the_largest(logits) -> None:
    for some in (logits, logits.T, logits.astype(np.float32)):
        np.testing.assert_array_equal(class_codes(some), some.argmax(axis=1))


@given(st.integers(2, 10**6))
@settings(max_examples=30)
def test_softmax_objective_equals_the_reference(seed: int) -> None:
    objective, W, Z, Y, w = make(seed)
    value, gradient, P = objective.value_and_gradient(W)
    assert value == pytest.approx(reference.objective(Z, Y, w, W[:-1], W[-1], 0.3), rel=1e-12)
    Theta_gradient, b_gradient = reference.gradient(Z, Y, w, W[:-1], W[-1], 0.3)
    np.testing.assert_allclose(gradient[:-1], Theta_gradient, atol=1e-13)
    np.testing.assert_allclose(gradient[-1], b_gradient, atol=1e-13)
    np.testing.assert_allclose(P, reference.softmax(Z @ W[:-1] + W[-1]), atol=1e-14)


@pytest.mark.parametrize("link", [Softmax, Sigmoid])
@pytest.mark.parametrize(("intercept", "penalize"), [(True, True), (True, False), (False, True)])
def test_gradient_and_hessian_product_equal_finite_differences(link, intercept, penalize) -> None:
    objective, W, *_ = make(77, link, intercept, penalize)
    U = np.random.default_rng(78).normal(size=W.shape)
    step = 1e-6
    ahead, behind = (objective.value_and_gradient(W + sign * step * U) for sign in (1, -1))
    _, gradient, P = objective.value_and_gradient(W)
    assert (ahead[0] - behind[0]) / (2 * step) == pytest.approx(np.vdot(gradient, U), rel=1e-7)
    numeric = (ahead[1] - behind[1]) / (2 * step)
    np.testing.assert_allclose(objective.hessian_product(P, U), numeric, atol=1e-8)


@pytest.mark.parametrize("link", [Softmax, Sigmoid])
def test_curvature_of_the_samples_never_exceeds_its_bound(link) -> None:
    for seed in range(50, 60):
        objective, W, *_ = make(seed, link)
        P = objective.value_and_gradient(W)[2]
        squares = np.append(objective.design.squares(objective.weights[:, 0]), 1.0)
        bound = curvature_bound(objective, Spread(squares))
        H = np.empty((W.size, W.size))
        for k in range(W.size):
            unit = np.zeros(W.size)
            unit[k] = 1.0
            unit = unit.reshape(W.shape)
            H[k] = (objective.hessian_product(P, unit) - objective.decay * unit).ravel()
        assert np.linalg.eigvalsh(H)[-1] <= bound


@pytest.mark.parametrize("link", [Softmax, Sigmoid])
def test_losses_stay_finite_for_enormous_logits(link) -> None:
    logits = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4]])
    Y = one_hot(np.array([1, 2]), 3)
    assert np.isfinite(link.losses(logits, Y)).all()
    P = link.probabilities(logits)
    assert np.isfinite(P).all()
    assert (P >= 0).all()
    assert (P <= 1).all()


@pytest.mark.parametrize("scale", ["standard", "minmax", "maxabs"])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_scaled_design_equals_scaling_the_matrix(scale: str, as_sparse: bool) -> None:
    rng = np.random.default_rng(14)
    Z = rng.normal(size=(9, 5)) * (rng.random((9, 5)) < 0.6)
    Z[:, 2] = 4.0  # constant: carries nothing
    design = ExplicitDesign(sparse.csr_array(Z) if as_sparse else Z)
    scaling = fit_scaling(design, scale)
    assert scaling is not None
    scaled = ScaledDesign(design, scaling)
    low, high, mean, std = Z.min(axis=0), Z.max(axis=0), Z.mean(axis=0), Z.std(axis=0)
    if scale == "standard":
        expected = np.where(std > 0, (Z - mean) / np.where(std > 0, std, 1), 0)
    elif scale == "minmax":
        expected = np.where(high > low, (Z - low) / np.where(high > low, high - low, 1), 0)
    else:
        expected = Z / np.abs(Z).max(axis=0)
    V, G, w = rng.normal(size=(5, 3)), rng.normal(size=(9, 3)), rng.random(9)
    np.testing.assert_allclose(scaled.matmul(V), expected @ V, atol=1e-12)
    np.testing.assert_allclose(scaled.rmatmul(G), expected.T @ G, atol=1e-12)
    np.testing.assert_allclose(scaled.rows(np.array([3, 1])), expected[[3, 1]], atol=1e-12)
    np.testing.assert_allclose(np.hstack([b for _, _, b in scaled.column_blocks()]), expected, atol=1e-12)
    np.testing.assert_allclose(scaled.subset(np.array([2, 5])).matmul(V), expected[[2, 5]] @ V, atol=1e-12)
    np.testing.assert_allclose(scaled.squares(w), w @ expected**2, atol=1e-12)
    Theta, b = scaling.unscale(V, np.ones(3))
    np.testing.assert_allclose(Z @ Theta + b, expected @ V + 1, atol=1e-12)


@pytest.mark.parametrize("scale", ["standard", "minmax", "maxabs"])
def test_scalings_of_several_folds_are_those_of_each_alone(scale: str) -> None:
    design = ExplicitDesign(np.random.default_rng(83).normal(size=(20, 6)))
    folds = [np.arange(20), np.arange(0, 20, 2), np.array([7, 3, 11, 2])]
    for rows, found in zip(folds, fit_scalings(design, scale, folds), strict=True):
        alone = fit_scaling(design.subset(rows), scale)
        assert found is not None
        assert alone is not None
        np.testing.assert_allclose(found.shift, alone.shift, rtol=1e-14)
        np.testing.assert_allclose(found.factor, alone.factor, rtol=1e-14)
