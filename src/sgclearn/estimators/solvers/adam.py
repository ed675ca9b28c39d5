"""The paper's recipe: full-batch Adam from torch's start of a linear layer, a fixed number of epochs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.loss import Objective
from sgclearn.estimators.solvers.result import OnIteration, SolverResult

Array = NDArray[np.float64]
_DIVERGED = 10.0  # times the loss of zero weights


def torch_linear_start(shape: tuple[int, int], n_columns: int, rng: np.random.Generator) -> Array:
    """Uniform on `[-1/sqrt(d), 1/sqrt(d)]` for weights and bias, the default start of `torch.nn.Linear`."""
    bound = 1.0 / np.sqrt(max(n_columns, 1))
    return rng.uniform(-bound, bound, size=shape)


def minimize_adam(
    objective: Objective,
    start: Array,
    *,
    learning_rate: float = 0.2,
    max_iter: int = 100,
    on_iteration: OnIteration | None = None,
) -> SolverResult:
    """Adam (beta 0.9 and 0.999, epsilon 1e-8) with weight decay inside the gradient, as torch does it."""
    W = start.copy()
    mean, square = np.zeros_like(W), np.zeros_like(W)
    for epoch in range(1, max_iter + 1):
        gradient = objective.value_and_gradient(W)[1]
        mean += 0.1 * (gradient - mean)
        square += 0.001 * (gradient**2 - square)
        step = learning_rate / (1.0 - 0.9**epoch)
        W -= step * mean / (np.sqrt(square / (1.0 - 0.999**epoch)) + 1e-8)
        if on_iteration is not None:
            on_iteration(epoch, max_iter)
    return finished(objective, W, max_iter)


def finished(objective: Objective, W: Array, n_iter: int) -> SolverResult:
    """The result of a recipe that stops after its epochs: done when they are, whatever the gradient.

    It has not converged where its steps led away: to a loss far above that of zero weights, or out of all numbers.
    """
    value, gradient, _ = objective.value_and_gradient(W)
    value_at_zero, gradient_at_zero, _ = objective.value_and_gradient(np.zeros_like(W))
    at_zero = float(np.linalg.norm(gradient_at_zero))
    ratio = float(np.linalg.norm(gradient)) / at_zero if at_zero > 0 else 0.0
    is_finite = np.isfinite([value, ratio]).all() and np.isfinite(W).all()
    return SolverResult(W, n_iter, ratio, bool(is_finite and value <= _DIVERGED * value_at_zero), value)
