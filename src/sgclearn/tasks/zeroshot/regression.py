r"""Ridge regression in its dual form, so that every prediction is a weighted sum of the targets.

With the centred kernel matrix :math:`K_c = J K J` of the training rows, :math:`J = I - 11^T / m`, the fit of

.. math:: \min_f \sum_i \|y_i - \mu - f(z_i)\|^2 + \alpha \|f\|^2

with a free mean predicts :math:`a(z)^T Y`, where :math:`a(z) = 1/m + (K_c + \alpha I)^{-1} J (k(z) - K 1/m)`. These
weights sum to one. The linear kernel gives ordinary ridge regression with a free intercept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    """A kernel of rows: the linear one, or `exp(-|a - b|^2 / (2 width^2))`.

    Examples
    --------
    >>> Kernel(1.0).matrix(np.eye(2), np.eye(2)).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    width: float | None = None

    def matrix(self, A: Array, B: Array) -> Array:
        """Kernel of each row of A (m, d) with each of B (n, d), shape (m, n)."""
        products = np.asarray(A @ B.T)
        if self.width is None:
            return products
        squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)[None] - 2.0 * products
        return np.asarray(np.exp(-np.maximum(squares, 0.0) / (2.0 * self.width**2)))


@dataclass(frozen=True)
class Choice:
    """A kernel and a strength that were tried: the mean squared error where each row is left out in turn."""

    kernel: Kernel
    alpha: float
    error: float


class DualRidge:
    """Ridge regression of Y (m, q) on rows Z (m, d) with kernel and strength chosen by exact leave-one-out.

    Parameters
    ----------
    kernels : sequence of Kernel
    alphas : sequence of float
        Strengths, positive.

    Attributes
    ----------
    choice_ : Choice
    tried_ : list of Choice

    Notes
    -----
    Leaving row i out changes its residual to `r_i / (1 - H_ii)`, H the matrix that maps targets to fitted values.
    Cost: one eigendecomposition O(m^3) a kernel, and O(m^2 q) a strength.
    """

    def __init__(self, kernels: Sequence[Kernel], alphas: Sequence[float]) -> None:
        self.kernels, self.alphas = kernels, alphas

    def fit(self, Z: Array, Y: Array) -> DualRidge:
        """Choose, and keep what new rows need."""
        self.tried_: list[Choice] = []
        best = np.inf
        for kernel in self.kernels:
            centred = _centred(kernel.matrix(Z, Z))
            values, vectors = np.linalg.eigh(centred)
            values = np.maximum(values, 0.0)
            rotated = vectors.T @ (Y - Y.mean(axis=0))
            for alpha in self.alphas:
                error = _left_out_error(values, vectors, rotated, alpha)
                self.tried_.append(Choice(kernel, float(alpha), error))
                if error < best:
                    best, self.choice_ = error, self.tried_[-1]
                    self._spectrum = values, vectors
        values, vectors = self._spectrum
        self._inverse = (vectors / (values + self.choice_.alpha)) @ vectors.T
        self._rows, self._column_means = Z, self.choice_.kernel.matrix(Z, Z).mean(axis=1)
        return self

    def weights(self, Z: Array) -> Array:
        """What each training row weighs in the prediction of each row of Z (n, d), shape (n, m); rows sum to one."""
        K = self.choice_.kernel.matrix(Z, self._rows) - self._column_means
        K -= K.mean(axis=1, keepdims=True)
        return np.asarray(K @ self._inverse + 1.0 / len(self._rows))


def _centred(K: Array) -> Array:
    K = K - K.mean(axis=0)
    return np.asarray(K - K.mean(axis=1, keepdims=True))


def _left_out_error(values: Array, vectors: Array, rotated: Array, alpha: float) -> float:
    """Mean over rows of the squared norm of the left-out residual."""
    shrunk = values / (values + alpha)
    residual = vectors @ ((1.0 - shrunk)[:, None] * rotated)
    leverage = (vectors**2) @ shrunk + 1.0 / len(values)
    return float(((residual**2).sum(axis=1) / (1.0 - leverage) ** 2).mean())
