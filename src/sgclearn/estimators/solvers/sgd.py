"""Minibatches, for features that do not fit: only `batch_size` rows exist at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.loss import Objective
from sgclearn.estimators.solvers.adam import finished
from sgclearn.estimators.solvers.result import OnIteration, SolverResult

Array = NDArray[np.float64]
_MOMENTUM = 0.9


def minimize_sgd(
    objective: Objective,
    start: Array,
    rng: np.random.Generator,
    *,
    learning_rate: float = 1.0,
    max_iter: int = 100,
    batch_size: int = 256,
    on_iteration: OnIteration | None = None,
) -> SolverResult:
    """Stochastic gradient descent with momentum 0.9 and a step that falls linearly to zero.

    `learning_rate` multiplies steps of `1 / mean |z_i|^2` for the weights and 1 for the bias, the inverse of twice
    the softmax curvature bound of each, so that 1 serves features of any scale.
    """
    n_samples, n_columns = objective.design.shape
    batch_size = min(batch_size, n_samples)
    W, velocity = start.copy(), np.zeros_like(start)
    steps = np.ones((objective.shape[0], 1))
    first = objective.design.rows(np.sort(rng.choice(n_samples, size=batch_size, replace=False)))
    steps[:n_columns] = 1.0 / max(float(np.einsum("ij,ij->", first, first)) / batch_size, 1e-12)
    # A strong decay bends the objective more than the data does.
    steps = steps / (1.0 + steps * objective.decay)
    n_batches = -(-n_samples // batch_size)
    done, total = 0, max_iter * n_batches
    for epoch in range(1, max_iter + 1):
        order = rng.permutation(n_samples)
        for batch in np.array_split(order, n_batches):
            gradient = _batch_gradient(objective, W, np.sort(batch))
            velocity = (
                _MOMENTUM * velocity
                - (1.0 - _MOMENTUM) * learning_rate * (1.0 - done / total) * steps * gradient
            )
            W = W + velocity
            done += 1
        if on_iteration is not None:
            on_iteration(epoch, max_iter)
    return finished(objective, W, max_iter)


def _batch_gradient(objective: Objective, W: Array, batch: NDArray[np.intp]) -> Array:
    """Unbiased estimate of the gradient: batch weights are scaled up to the whole sum."""
    Z = objective.design.rows(batch)  # (b, d)
    L = Z @ W[: objective.n_columns]
    if objective.intercept:
        L = L + W[-1]
    scale = len(objective.Y) / len(batch)
    R = scale * objective.weights[batch] * (objective.link.probabilities(L) - objective.Y[batch])
    gradient = Z.T @ R
    if objective.intercept:
        gradient = np.vstack([gradient, R.sum(axis=0)])
    return np.asarray(gradient + objective.decay * W)
