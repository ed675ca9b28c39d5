"""Samples so few that calling a library takes longer than the products: there the native kernels serve.

They follow the same formulas as `Objective` and `newton`, which remain the way of everything larger.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn._native import load_kernel

Array = NDArray[np.float64]
_FEW_ENTRIES = 2**18  # of the samples: they stay in the cache of one core


class SmallSamples:
    """Samples Z (m, d) with their targets and weights, for the native kernels."""

    def __init__(self, Z: Array, Y: Array, weights: Array, decay: Array) -> None:
        self._kernel: Any = load_kernel()
        self.Z, self.Y = np.ascontiguousarray(Z), np.ascontiguousarray(Y, dtype=np.float64)
        self.weights, self.decay = np.ascontiguousarray(weights[:, 0]), np.ascontiguousarray(decay[:, 0])

    @staticmethod
    def suits(Z: Array, n_classes: int) -> bool:
        """Whether the samples are few enough, and the kernels there."""
        kernel = load_kernel()
        return kernel is not None and Z.size <= _FEW_ENTRIES and n_classes <= kernel.MOST_CLASSES

    def softmax(self, W: Array) -> tuple[float, Array, Array]:
        """Value, gradient (d, C) and probabilities (m, C) of softmax regression at W."""
        gradient, P = np.empty(W.shape), np.empty(self.Y.shape)
        value = self._kernel.evaluate(
            self.Z, self.Y, self.weights, self.decay, np.ascontiguousarray(W), gradient, P
        )
        return float(value), gradient, P

    def newton_step(
        self, P: Array, squares: Array, gradient: Array, is_softmax: bool, enough: float, max_steps: int
    ) -> Array:
        """Solve `H step = -gradient` where the probabilities are P, until the norm of the residual is at most `enough`.

        `squares` is the spread of the samples without a basis; the link is softmax, or else one sigmoid a class.
        """
        step = np.empty(gradient.shape)
        arrays = (
            self.Z,
            P,
            self.weights,
            self.decay,
            np.ascontiguousarray(squares),
            np.ascontiguousarray(gradient),
        )
        self._kernel.newton_step(*arrays, is_softmax, enough, max_steps, step)
        return step
