"""What solvers are judged by: one function for everyone, in float64, outside of what is timed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

BLOCK = 20_000  # rows at a time


class Objective:
    """`mean cross-entropy + weight_decay / 2 |Theta|^2` of softmax regression; the bias is free.

    X : ndarray (m, d)
    y : integer array (m,), classes from 0
    """

    def __init__(self, X: Any, y: Any, weight_decay: float) -> None:
        self.X, self.y, self.weight_decay = X, np.asarray(y), weight_decay

    def at(self, Theta: Any, b: Any) -> tuple[float, float]:
        """Value, and norm of the gradient, at Theta (d, C) and b (C,)."""
        Theta, b = np.asarray(Theta, dtype=np.float64), np.asarray(b, dtype=np.float64)
        n_rows, total = len(self.y), 0.0
        slope, bias_slope = self.weight_decay * Theta, np.zeros_like(b)
        for start in range(0, n_rows, BLOCK):
            X, y = self.X[start : start + BLOCK].astype(np.float64), self.y[start : start + BLOCK]
            logits = X @ Theta + b
            logits -= logits.max(axis=1, keepdims=True)
            P = np.exp(logits)
            sums = P.sum(axis=1, keepdims=True)
            own = np.arange(len(y)), y
            total += float(np.log(sums).sum() - logits[own].sum())
            P /= sums
            P[own] -= 1
            slope += X.T @ P / n_rows
            bias_slope += P.sum(axis=0) / n_rows
        value = total / n_rows + self.weight_decay / 2 * float(np.vdot(Theta, Theta))
        return value, float(np.sqrt(np.vdot(slope, slope) + np.vdot(bias_slope, bias_slope)))

    def loss(self, Theta: Any, b: Any) -> float:
        """The value alone."""
        return self.at(Theta, b)[0]

    def relative(self, Theta: Any, b: Any) -> tuple[float, float]:
        """Value, and norm of the gradient over its norm at zero."""
        value, norm = self.at(Theta, b)
        return value, norm / self._norm_at_zero

    @cached_property
    def _norm_at_zero(self) -> float:
        n_classes = int(self.y.max()) + 1
        return self.at(np.zeros((self.X.shape[1], n_classes)), np.zeros(n_classes))[1]
