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
and `K_P(Q) = P * (1 - P) * Q`; for numbers `P = L` and
`l = 1/2 |L_i - Y_i|^2`. All are convex; with `a > 0` in every row the minimiser is unique.

Precision: values, gradients, parameters and every sum over samples are float64, whatever the samples are. Hessian
products multiply float32 samples in float32 (their sums over blocks of samples are float64): they only shape a step,
whose end is judged by the next gradient. `K_P` is float64 even there: where a class is almost certain its curvature is
a difference of nearly equal numbers. A `rough` objective, for a tolerance that float32 has no trouble to reach, does
all work on float32 samples in float32, sums over blocks excepted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.blocks import normal_product
from sgclearn.estimators.scaling import unscaled
from sgclearn.estimators.small import SmallSamples
from sgclearn.propagation.design import Design, ExplicitDesign

Array = NDArray[np.float64]
_WHOLE = slice(None)
_FEW_PARAMETERS = 100
_FEW_SAMPLES, _PAYING_STRIDE = 4096, 8
_LEAST_SHARE = 1e-200


def shares(sample_weight: Array) -> Array:
    """Sample weights divided by their sum, which may be larger than any number.

    A weight that is nothing beside the others is raised to one that can still be divided by.
    """
    unit = np.maximum(sample_weight / sample_weight.max(), _LEAST_SHARE)
    return np.asarray(unit / unit.sum())


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
    def evaluate(logits: Array, Y: Array) -> tuple[Array, Array]:
        """Losses (m,) and P (m, C) together, for less than both apart."""
        ...

    @staticmethod
    def curvature(P: Any, weights: Any) -> tuple[Any, Any]:
        """A and B (m, C) such that `w * K_P(Q) = A * Q - B * rowsum(A * Q)`; B is None without a second term."""
        ...

    @staticmethod
    def mean_curvature(P: Any, weights: Any) -> Array:
        """`sum_i w_i K_{P_i}` as a matrix (C, C), or its diagonal (C,) where it has nothing else."""
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
        return Softmax.evaluate(logits, Y)[0]

    @staticmethod
    def evaluate(logits: Array, Y: Array) -> tuple[Array, Array]:
        """Both from one exponential."""
        P = logits - logits.max(axis=1, keepdims=True)
        fit = np.einsum("ic,ic->i", Y, P)  # both terms of the loss are relative to the largest logit
        np.exp(P, out=P)
        total = P.sum(axis=1)
        P /= total[:, None]
        return np.log(total) - fit, P

    @staticmethod
    def curvature(P: Any, weights: Any) -> tuple[Any, Any]:
        """`w P * Q - P (w P . Q)`."""
        return weights * P, P

    @staticmethod
    def mean_curvature(P: Any, weights: Any) -> Array:
        """`diag(w^T P) - P^T diag(w) P`."""
        weighted = weights * P
        spread = (P.T @ weighted).astype(np.float64)
        return np.asarray(np.diag(weighted.sum(axis=0, dtype=np.float64)) - spread)


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
    def evaluate(logits: Array, Y: Array) -> tuple[Array, Array]:
        """The two have nothing in common."""
        return Sigmoid.losses(logits, Y), Sigmoid.probabilities(logits)

    @staticmethod
    def curvature(P: Any, weights: Any) -> tuple[Any, Any]:
        """`w P (1 - P) Q`."""
        return weights * P * (1.0 - P), None

    @staticmethod
    def mean_curvature(P: Any, weights: Any) -> Array:
        """`w^T (P (1 - P))`, a diagonal."""
        return np.asarray((weights * P * (1.0 - P)).sum(axis=0, dtype=np.float64))


class Squared:
    """Any number of C numbers at once: `P = L`, `l = 1/2 |L_i - Y_i|^2` and `K_P(Q) = Q`."""

    curvature_bound = 1.0

    @staticmethod
    def probabilities(logits: Array) -> Array:
        """The logits: they are the prediction."""
        return logits

    @staticmethod
    def losses(logits: Array, Y: Array) -> Array:
        """`1/2 |L_i - Y_i|^2`."""
        R = logits - Y
        return np.asarray(0.5 * np.einsum("ic,ic->i", R, R))

    @staticmethod
    def evaluate(logits: Array, Y: Array) -> tuple[Array, Array]:
        """The logits are known already."""
        return Squared.losses(logits, Y), logits

    @staticmethod
    def curvature(P: Any, weights: Any) -> tuple[Any, Any]:
        """`w Q`."""
        return np.broadcast_to(weights, P.shape), None

    @staticmethod
    def mean_curvature(P: Any, weights: Any) -> Array:
        """`sum_i w_i`, in every direction."""
        return np.full(P.shape[1], float(weights.sum(dtype=np.float64)))


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
    rough : bool
        Whether float32 is exact enough where the samples are.
    factor : float or ndarray (d,), optional
        What the columns were multiplied by: weight decay is meant for the weights of those before.
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
        rough: bool = False,
        factor: Array | float | None = None,
    ) -> None:
        self.design, self.Y, self.link, self.intercept = design, Y, link, intercept
        self.weights = shares(sample_weight)[:, None]  # (m, 1)
        self.n_columns = design.shape[1]
        self.shape = (self.n_columns + intercept, Y.shape[1])
        self.decay = np.full((self.shape[0], 1), weight_decay)
        if factor is not None:
            self.decay[: self.n_columns, 0] *= np.square(factor)
        if intercept and not penalize_intercept:
            self.decay[-1] = 0.0
        base = unscaled(design)
        self.is_narrow = isinstance(base, ExplicitDesign) and base.is_narrow
        self.is_rough = rough and self.is_narrow
        if self.is_rough:
            self.Y, self.weights = Y.astype(np.float32), self.weights.astype(np.float32)
        # Samples in memory without a bias beside them, as `rowspace` makes them.
        self._small: Array | None = None
        if isinstance(design, ExplicitDesign) and not (design.is_sparse or design.is_blocked or intercept):
            self._small = design.Z
        self.native: SmallSamples | None = None
        if self._small is not None and link is not Squared and SmallSamples.suits(self._small, Y.shape[1]):
            self.native = SmallSamples(self._small, Y, self.weights, self.decay)
        self._ones = np.ones((Y.shape[1], 1))
        # Few enough parameters for a Newton step by elimination, and none without curvature.
        few = self.shape[0] * self.shape[1] <= _FEW_PARAMETERS and weight_decay > 0
        self.is_tiny = self._small is not None and few

    @property
    def is_small(self) -> bool:
        """Whether the samples are a matrix in memory without a bias beside it, as `rowspace` makes them."""
        return self._small is not None

    @cached_property
    def sampled(self) -> Objective | None:
        """The objective over an even choice of its samples; None where they are not so many that it pays."""
        stride = self.design.shape[0] // _FEW_SAMPLES
        base = unscaled(self.design)
        if stride < _PAYING_STRIDE or not isinstance(base, ExplicitDesign) or base.is_sparse:
            return None
        chosen = np.arange(0, self.design.shape[0], stride)
        return Objective(
            self.design.subset(chosen),
            self.Y[chosen],
            self.weights[chosen, 0],
            self.link,
            float(self.decay[0, 0]),
            self.intercept,
            penalize_intercept=float(self.decay[-1, 0]) > 0,
            rough=self.is_rough,
        ).decayed_by(self.decay)

    def decayed_by(self, decay: Array) -> Objective:
        """The same objective with the weight decay of another."""
        self.decay = decay
        return self

    def value_and_gradient(self, W: Array) -> tuple[float, Array, NDArray[Any]]:
        """`f`, its gradient (d + 1, C), and P (m, C), which the Hessian product needs."""
        P: NDArray[Any]
        if self.native is not None and self.link is Softmax:
            return self.native.softmax(W)
        if self._small is not None:
            value, P, R = self._residuals(_WHOLE, self._small @ W)
            gradient: Array = self._small.T @ R
        else:
            value, P, gradient = self._by_blocks(W)
        decayed = self.decay * W
        gradient += decayed
        return value + 0.5 * float(np.vdot(decayed, W)), gradient, P

    def _residuals(self, part: slice, L: Array) -> tuple[float, Array, Array]:
        """Weighted loss, probabilities and `w * (P - Y)` of some samples, from their logits."""
        Y, weights = self.Y[part], self.weights[part]
        losses, P = self.link.evaluate(L, Y)
        R = P - Y
        R *= weights
        return float(losses @ weights[:, 0]), P, R

    def _by_blocks(self, W: Array) -> tuple[float, NDArray[Any], Array]:
        P = np.empty_like(self.Y)
        losses: dict[int, float] = {}  # of every block, by its first sample

        def residuals(part: slice, L: Array) -> Array:
            if self.intercept:
                L += W[-1].astype(L.dtype)  # of this block alone, and nobody else's
            losses[part.start or 0], P[part], R = self._residuals(part, L)
            return R

        pulled, sums = normal_product(self.design, W[: self.n_columns], residuals, exact=not self.is_rough)
        return sum(losses[first] for first in sorted(losses)), P, self._bordered(pulled, sums)

    def hessian(self, P: NDArray[Any]) -> Callable[[Array], Array]:
        """`U -> H U` (d + 1, C) at the point whose probabilities are P."""
        A, B = self.link.curvature(P, self.weights)
        if self._small is not None:
            return self._small_hessian(self._small, A, B)
        ones = self._ones.astype(A.dtype)

        def product(U: Array) -> Array:
            def curved(part: slice, Q: NDArray[Any]) -> NDArray[Any]:
                G = A[part] * (Q + U[-1].astype(A.dtype) if self.intercept else Q)
                if B is not None:
                    G -= B[part] * (G @ ones)
                return np.asarray(G, dtype=Q.dtype)

            pulled, sums = normal_product(self.design, U[: self.n_columns], curved, exact=False)
            bordered = self._bordered(pulled, sums)
            bordered += self.decay * U
            return bordered

        return product

    def _small_hessian(self, Z: Array, A: Array, B: Array | None) -> Callable[[Array], Array]:
        """The same in as few steps as possible: here it takes longer to say what to do than to do it."""
        transposed, ones, decay = Z.T, self._ones, self.decay

        def product(U: Array) -> Array:
            G = Z @ U
            G *= A
            if B is not None:
                G -= B * (G @ ones)
            pulled: Array = transposed @ G
            pulled += decay * U
            return pulled

        return product

    def small_hessian_matrix(self, P: Array) -> Array:
        """H itself (dC, dC), rows of parameters class by class, of samples in memory without a bias beside them."""
        if self._small is None:
            raise ValueError("the Hessian is a matrix only for small samples without a bias row")
        A, B = self.link.curvature(P, self.weights)
        n_classes, d = self.shape[1], self.shape[0]
        inside = np.zeros((n_classes, n_classes, len(A)))  # K of every sample
        inside[np.arange(n_classes), np.arange(n_classes)] = A.T
        if B is not None:
            inside -= B.T[:, None, :] * A.T[None, :, :]
        blocks = (inside[:, :, None, :] * self._small.T) @ self._small  # (C, C, d, d)
        H: Array = blocks.transpose(0, 2, 1, 3).reshape(n_classes * d, n_classes * d)
        H.flat[:: len(H) + 1] += np.tile(self.decay[:, 0], n_classes)
        return H

    def hessian_product(self, P: NDArray[Any], U: Array) -> Array:
        """`H U` (d + 1, C) at the point whose probabilities are P."""
        return self.hessian(P)(U)

    def _bordered(self, columns: Array, last: Array) -> Array:
        return np.concatenate([columns, last[None, :]]) if self.intercept else columns
