"""What a solver gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OnIteration = Callable[[int, int], None]


@dataclass(frozen=True)
class SolverResult:
    """Parameters W (d + 1, C) and how good they are.

    `gradient_ratio` is the norm of the gradient at W over its norm at W = 0.
    """

    W: NDArray[np.float64]
    n_iter: int
    gradient_ratio: float
    converged: bool
    loss: float
