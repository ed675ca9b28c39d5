"""The oracle against facts that need no library: hand-worked entries, and derivatives by differences."""

from __future__ import annotations

import numpy as np

from sgclearn import reference

from zoo import random_features

STAR = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


def test_reference_matrices_of_a_star_are_those_worked_by_hand():
    root = np.sqrt(0.5)
    plain = [[0, root, root], [root, 0, 0], [root, 0, 0]]
    np.testing.assert_allclose(reference.propagation_matrix(STAR, "sym", 0.0), plain)
    np.testing.assert_allclose(reference.propagation_matrix(STAR, "cheby"), np.eye(3) + plain)
    walk = [[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(reference.propagation_matrix(STAR, "rw", 0.0), walk)
    lazy = [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0], [0.5, 0, 0.5]]
    np.testing.assert_allclose(reference.propagation_matrix(STAR, "rw", 1.0), lazy)
    across = 1 / np.sqrt(6)
    augmented = [[1 / 3, across, across], [across, 0.5, 0], [across, 0, 0.5]]
    np.testing.assert_allclose(reference.propagation_matrix(STAR, "sym", 1.0), augmented)


def test_reference_softmax_is_a_distribution_even_for_large_logits():
    P = reference.softmax(np.array([[1e4, 0.0], [-1e4, -1e4]]))
    np.testing.assert_allclose(P, [[1.0, 0.0], [0.5, 0.5]])


def test_reference_predict_proba_is_the_softmax_of_propagated_features():
    X, Theta, b = random_features(3, 2, 5), random_features(2, 3, 6), np.array([0.1, -0.2, 0.3])
    S = reference.propagation_matrix(STAR, "sym", 1.0)
    P = reference.predict_proba(X, S, 2, Theta, b)
    logits = np.linalg.matrix_power(S, 2) @ X @ Theta + b
    np.testing.assert_allclose(P, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))


def test_reference_gradient_is_the_derivative_of_the_objective():
    generator = np.random.default_rng(20)
    Z, Theta, b = generator.normal(size=(6, 3)), generator.normal(size=(3, 4)), generator.normal(size=4)
    Y, w = np.eye(4)[generator.integers(4, size=6)], generator.random(6) + 0.1
    of_theta, of_b = reference.gradient(Z, Y, w, Theta, b, 0.3)
    step = 1e-6

    def slope(dTheta: np.ndarray, db: np.ndarray) -> float:
        ahead = reference.objective(Z, Y, w, Theta + step * dTheta, b + step * db, 0.3)
        behind = reference.objective(Z, Y, w, Theta - step * dTheta, b - step * db, 0.3)
        return (ahead - behind) / (2 * step)

    for _ in range(5):
        dTheta, db = generator.normal(size=Theta.shape), generator.normal(size=4)
        expected = (of_theta * dTheta).sum() + (of_b * db).sum()
        np.testing.assert_allclose(slope(dTheta, db), expected, rtol=1e-6)
