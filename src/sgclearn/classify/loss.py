r"""Softmax regression: loss, gradient and Hessian product, every shape written down.

With m samples, d columns and C classes, `Z` (m, d) the samples, `Y` (m, C) the targets, `w` (m,) the sample
weights divided by their sum, and `W` (d + 1, C) the parameters: `Theta = W[:d]`, `b = W[d]` (no last row without
an intercept).

==================  ==========================================================================================
logits (m, C)       `L = Z Theta + b`
value               `f = sum_i w_i l(L_i, Y_i) + 1/2 sum_j a_j |W_j|^2`, `a_j` the weight decay of row j
gradient (d+1, C)   `[Z 1]^T (w * (P - Y)) + a * W`
Hessian product     `[Z 1]^T (w * K_P([Z 1] U)) + a * U` for a direction U (d+1, C)
==================  ==========================================================================================

For the softmax link `P = softmax(L)`, `l = logsumexp(L_i) - Y_i . L_i` and `K_P(Q)_i = P_i * (Q_i - P_i . Q_i)`;
for the sigmoid link (one yes/no question a class) `P = 1 / (1 + exp(-L))`, `l = sum_c log(1 + exp(L_ic)) - Y_ic L_ic`
and `K_P(Q) = P * (1 - P) * Q`. Both are convex; with `a > 0` in every row the minimiser is unique.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sgclearn.propagation.design import Design

Array = NDArray[np.float64]


class Link(Protocol):
    """From logits to probabilities, and the loss that goes with them.

    `curvature_bound` is the largest eigenvalue that `K_P` can have at any P.
    """

    curvature_bound: float

    @staticmethod
    def probabilities(logits: Array) -> Array:
        """P (m, C)."""
        ...

    @staticmethod
    def losses(logits: Array, Y: Array) -> Array:
        """The loss of every sample (m,)."""
        ...

    @staticmethod
    def curvature(P: Array, Q: Array) -> Array:
        """`K_P(Q)` (m, C)."""
        ...


class Softmax:
    """One class of C."""

    curvature_bound = 0.5

    @staticmethod
    def probabilities(logits: Array) -> Array:
        """`exp(L) / sum exp(L)`, row by row, safe for large logits."""
        P = logits - logits.max(axis=1, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(axis=1, keepdims=True)
        return np.asarray(P)

    @staticmethod
    def losses(logits: Array, Y: Array) -> Array:
        """`logsumexp(L_i) - Y_i . L_i`."""
        top = logits.max(axis=1)
        log_sum: Array = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        return np.asarray(log_sum - np.einsum("ic,ic->i", Y, logits))

    @staticmethod
    def curvature(P: Array, Q: Array) -> Array:
        """`P * (Q - (P . Q))`."""
        product = P * Q
        product -= P * product.sum(axis=1, keepdims=True)
        return product


class Sigmoid:
    """Any number of C labels at once."""

    curvature_bound = 0.25

    @staticmethod
    def probabilities(logits: Array) -> Array:
        """`1 / (1 + exp(-L))`, safe for large logits."""
        return np.exp(-np.logaddexp(0.0, -logits))

    @staticmethod
    def losses(logits: Array, Y: Array) -> Array:
        """`sum_c log(1 + exp(L_ic)) - Y_ic L_ic`."""
        losses: Array = (np.logaddexp(0.0, logits) - Y * logits).sum(axis=1)
        return losses

    @staticmethod
    def curvature(P: Array, Q: Array) -> Array:
        """`P (1 - P) Q`."""
        return P * (1.0 - P) * Q


class Objective:
    """The regularised mean loss of a linear model over a design.

    Parameters
    ----------
    design : Design
        Z (m, d).
    Y : ndarray (m, C)
        Targets.
    sample_weight : ndarray (m,)
        Non-negative, not all zero; divided by their sum here.
    link : Link
    weight_decay : float >= 0
    intercept, penalize_intercept : bool
        Whether there is a bias row, and whether weight decay acts on it (the authors' own recipe does).
    """

    def __init__(
        self,
        design: Design,
        Y: Array,
        sample_weight: Array,
        link: type[Link],
        weight_decay: float,
        intercept: bool = True,
        penalize_intercept: bool = True,
    ) -> None:
        self.design, self.Y, self.link, self.intercept = design, Y, link, intercept
        self.weights = (sample_weight / sample_weight.sum())[:, None]  # (m, 1)
        self.n_columns = design.shape[1]
        self.shape = (self.n_columns + intercept, Y.shape[1])
        self.decay = np.full((self.shape[0], 1), weight_decay)
        if intercept and not penalize_intercept:
            self.decay[-1] = 0.0

    def logits(self, W: Array) -> Array:
        """`Z Theta + b` (m, C)."""
        L = self.design.matmul(W[: self.n_columns])
        return L + W[-1] if self.intercept else L

    def pull_back(self, G: Array) -> Array:
        """`[Z 1]^T G` (d + 1, C)."""
        parameters = self.design.rmatmul(G)
        return np.vstack([parameters, G.sum(axis=0)]) if self.intercept else parameters

    def value_and_gradient(self, W: Array) -> tuple[float, Array, Array]:
        """`f`, its gradient (d + 1, C), and P (m, C), which the Hessian product needs."""
        L = self.logits(W)
        P = self.link.probabilities(L)
        value = float(self.weights[:, 0] @ self.link.losses(L, self.Y))
        decayed = self.decay * W
        gradient = self.pull_back(self.weights * (P - self.Y)) + decayed
        return value + 0.5 * float(np.vdot(decayed, W)), gradient, P

    def hessian_product(self, P: Array, U: Array) -> Array:
        """`H U` (d + 1, C) at the point whose probabilities are P."""
        return self.pull_back(self.weights * self.link.curvature(P, self.logits(U))) + self.decay * U

    def hessian_diagonal_bound(self) -> Array:
        """An upper bound on the diagonal of the Hessian (d + 1, 1), the same at every W.

        `bound * sum_i w_i z_ij^2 + a_j`; ones where the entries of the design are never formed.
        """
        squares = self.design.squares(self.weights[:, 0])
        if squares is None:
            return np.ones((self.shape[0], 1))
        if self.intercept:
            squares = np.append(squares, 1.0)
        bound = self.link.curvature_bound * squares[:, None] + self.decay
        # A column of zeros without weight decay has no curvature at all, and no gradient either.
        return np.where(bound > 0, bound, 1.0)
