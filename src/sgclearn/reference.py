"""The paper on one screen: dense numpy, no options beyond its symbols, no speed. The oracle of the tests.

`A` (n, n) adjacency, `X` (n, d) features, `Theta` (d, C) weights, `b` (C,) bias, `Y` (m, C) one-hot labels,
`w` (m,) sample weights. Directed graphs: the degree is the row sum, `d_i = sum_j a_ij`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def inverse_power(degrees: Array, power: float) -> Array:
    """`d^-power`, with 0 for a node without degree, so that its row is zero and never NaN."""
    return np.where(degrees > 0, np.where(degrees > 0, degrees, 1.0) ** -power, 0.0)


def propagation_matrix(A: Array, normalization: str, gamma: float = 0.0) -> Array:
    """The paper's five matrices: sym and rw with gamma = 0 or 1 (any gamma >= 0), and cheby."""
    eye = np.eye(len(A))
    if normalization == "cheby":  # Eq. (11): I + D^-1/2 A D^-1/2
        root = np.diag(inverse_power(A.sum(axis=1), 0.5))
        return eye + root @ A @ root
    A_tilde = A + gamma * eye  # the loops that the data has stay, gamma I comes on top
    d_tilde = A_tilde.sum(axis=1)
    if normalization == "rw":  # D~^-1 A~
        return np.diag(inverse_power(d_tilde, 1.0)) @ A_tilde
    root = np.diag(inverse_power(d_tilde, 0.5))  # Eq. (3): D~^-1/2 A~ D~^-1/2
    return root @ A_tilde @ root


def propagate(X: Array, S: Array, n_hops: int) -> Array:
    """`S^K X`, one hop at a time."""
    H = X  # Eq. (1)
    for _ in range(n_hops):
        H = S @ H  # Eq. (4)
    return H


def samples(X: Array, S: Array, filters: list[Array], P: Array) -> Array:
    """`P [F_1(S) X, F_2(S) X, ...]` with `F_b(S) = sum_k c_bk S^k`, one row of coefficients a filter, P (m, n)."""
    blocks = [sum((c * propagate(X, S, k) for k, c in enumerate(row)), np.zeros_like(X)) for row in filters]
    return np.asarray(P @ np.concatenate(blocks, axis=1))


def softmax(logits: Array) -> Array:
    """`exp(l_c) / sum_c exp(l_c)` of every row."""
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def predict_proba(X: Array, S: Array, n_hops: int, Theta: Array, b: Array) -> Array:
    """Eq. (8): `softmax(S^K X Theta + b)`."""
    return softmax(propagate(X, S, n_hops) @ Theta + b)


def objective(Z: Array, Y: Array, w: Array, Theta: Array, b: Array, weight_decay: float) -> float:
    """Mean cross-entropy plus `weight_decay / 2 (|Theta|^2 + |b|^2)`; the mean is `sum(w l) / sum(w)`."""
    P = softmax(Z @ Theta + b)
    cross_entropy = -(w * np.log((P * Y).sum(axis=1))).sum() / w.sum()
    return float(cross_entropy + 0.5 * weight_decay * ((Theta**2).sum() + (b**2).sum()))


def gradient(
    Z: Array, Y: Array, w: Array, Theta: Array, b: Array, weight_decay: float
) -> tuple[Array, Array]:
    """Derivative of `objective` with respect to `Theta` and `b`."""
    R = (softmax(Z @ Theta + b) - Y) * w[:, None] / w.sum()
    return Z.T @ R + weight_decay * Theta, R.sum(axis=0) + weight_decay * b
