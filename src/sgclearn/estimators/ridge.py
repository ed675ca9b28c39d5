r"""Least squares in principal coordinates: every weight decay and every left-out sample from one factorisation.

With samples `Q` (m, r) whose columns are orthogonal under the sample weights, `Q^T diag(w) Q = diag(s)`, and weights
`w` that sum to one, the minimiser of `1/2 sum_i w_i |Q_i W + b - Y_i|^2 + a/2 |W|^2` is
`W = diag(s + a)^-1 Q^T diag(w) (Y - b)`; a free bias is the weighted mean of Y where that of Q is zero.

Without sample i the weights of the others are divided by `1 - w_i`, which is the same as a weight decay of
`a_i = (1 - w_i) a` beside the weights as they were. The residual of sample i is then that of the fit to all samples
at `a_i`, divided by `1 - h_i` for `h_i = w_i (Q_i diag(s + a_i)^-1 Q_i^T + 1)`, the 1 for a free bias only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.loss import Objective
from sgclearn.estimators.solvers.result import SolverResult

Array = NDArray[np.float64]
_SINGULAR = 1e-14  # of the largest direction: without weight decay, what is shorter is rounding
_OWN = 1e-10  # of a sample that alone decides its prediction


@dataclass(frozen=True, eq=False)
class PrincipalRidge:
    """`Q` (m, r), `s` (r,), `Y` (m, C), `w` (m,), and whether there is a free bias."""

    Q: Array
    squares: Array
    Y: Array
    weights: Array
    has_bias: bool

    def solve(self, objective: Objective) -> SolverResult:
        """The minimiser; `objective` has the weight decay and judges the result."""
        decay = float(objective.decay[0, 0]) if self.Q.shape[1] else 0.0
        b = self._bias()
        W = self._inverse(np.array([decay]))[0][:, None] * self._pulled(b)
        W = np.concatenate([W, b[None, :]]) if self.has_bias else W
        value, gradient, _ = objective.value_and_gradient(W)
        at_zero = np.linalg.norm(objective.value_and_gradient(np.zeros_like(W))[1])
        ratio = float(np.linalg.norm(gradient) / at_zero) if at_zero > 0 else 0.0
        return SolverResult(W, 1, ratio, True, value)

    def leave_one_out(self, decay: float) -> Array:
        """What is predicted for every sample by the fit to all others (m, C); not finite where no fit is left."""
        b, others = self._bias(), 1.0 - self.weights
        scaled = self.Q * self._inverse(others * decay)
        fitted = b + scaled @ self._pulled(b)
        own = self.weights * (np.einsum("ij,ij->i", scaled, self.Q) + self.has_bias)
        left = 1.0 - own
        left[left <= _OWN] = 0.0
        return np.asarray(self.Y - (self.Y - fitted) / left[:, None])

    def _bias(self) -> Array:
        return self.weights @ self.Y if self.has_bias else np.zeros(self.Y.shape[1])

    def _pulled(self, b: Array) -> Array:
        """`Q^T diag(w) (Y - b)` (r, C)."""
        return np.asarray(self.Q.T @ (self.weights[:, None] * (self.Y - b)))

    def _inverse(self, decays: Array) -> Array:
        """`1 / (s + a)` (k, r) for k weight decays; nothing of a direction that only rounding has."""
        total = self.squares + decays[:, None]
        present = total > _SINGULAR * self.squares.max(initial=0.0)
        return np.divide(1.0, total, out=np.zeros_like(total), where=present)
