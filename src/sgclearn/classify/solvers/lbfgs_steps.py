"""The paper's recipe for text and Reddit: a few steps of L-BFGS without a line search, as torch takes them."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from sgclearn.classify.loss import Objective
from sgclearn.classify.solvers.adam import finished
from sgclearn.classify.solvers.result import OnIteration, SolverResult

Array = NDArray[np.float64]
# The defaults of torch.optim.LBFGS.
_MAX_EVALUATIONS, _SMALL_GRADIENT, _SMALL_CHANGE, _LEAST_CURVATURE, _HISTORY = 25, 1e-7, 1e-9, 1e-10, 100


def xavier_normal_start(n_columns: int, n_classes: int, rng: np.random.Generator) -> Array:
    """Normal with variance `2 / (d + C)` (d, C), the Xavier start of a linear layer."""
    return rng.normal(0.0, np.sqrt(2.0 / (n_columns + n_classes)), size=(n_columns, n_classes))


def minimize_lbfgs_steps(
    objective: Objective,
    start: Array,
    *,
    steps: int = 3,
    max_iter: int = 20,
    on_iteration: OnIteration | None = None,
) -> SolverResult:
    """Run `steps` steps of at most `max_iter` iterations each; every iteration has length one but the first.

    A step ends early where the gradient, the move or the change of the value is small, or after 25 evaluations; the
    memory of earlier iterations goes on into the next step. The result counts as converged whatever its gradient.
    """
    search = _Search(objective, start)
    for step in range(steps):
        search.step(max_iter)
        if on_iteration is not None:
            on_iteration(step + 1, steps)
    return finished(objective, search.W, search.n_iter)


class _Search:
    """Where the search is, and the pairs of changes of gradient and place that it remembers."""

    def __init__(self, objective: Objective, start: Array) -> None:
        self.objective, self.W = objective, start.copy()
        self.pairs: deque[tuple[Array, Array, float]] = deque(maxlen=_HISTORY)  # and their product
        self.scale, self.n_iter, self.length = 1.0, 0, 1.0
        self.direction = self.before = np.zeros_like(start)

    def step(self, max_iter: int) -> None:
        value, gradient, _ = self.objective.value_and_gradient(self.W)
        if np.abs(gradient).max() <= _SMALL_GRADIENT:
            return
        for iteration in range(1, max_iter + 1):
            self.n_iter += 1
            self._aim(gradient)
            self.before = gradient
            self.length = 1.0 if self.n_iter > 1 else min(1.0, 1.0 / float(np.abs(gradient).sum()))
            if float(np.vdot(gradient, self.direction)) > -_SMALL_CHANGE:
                return
            self.W = self.W + self.length * self.direction
            if iteration == max_iter:
                return
            last = value
            value, gradient, _ = self.objective.value_and_gradient(self.W)
            small = np.abs(gradient).max() <= _SMALL_GRADIENT
            small |= np.abs(self.length * self.direction).max() <= _SMALL_CHANGE
            if small or abs(value - last) < _SMALL_CHANGE or iteration + 1 >= _MAX_EVALUATIONS:
                return

    def _aim(self, gradient: Array) -> None:
        """The next direction, by the two-loop recursion."""
        if self.n_iter == 1:
            self.direction = -gradient
            return
        change, move = gradient - self.before, self.length * self.direction
        curvature = float(np.vdot(change, move))
        if curvature > _LEAST_CURVATURE:
            self.pairs.append((change, move, curvature))
            self.scale = curvature / float(np.vdot(change, change))
        from scipy.linalg.blas import daxpy

        direction = -gradient
        flat = direction.ravel()  # a view, which daxpy adds to in place
        shares = []
        for change, move, product in reversed(self.pairs):
            shares.append(float(np.vdot(move, direction)) / product)
            daxpy(change.ravel(), flat, a=-shares[-1])
        direction *= self.scale
        for (change, move, product), share in zip(self.pairs, reversed(shares), strict=True):
            share -= float(np.vdot(change, direction)) / product
            daxpy(move.ravel(), flat, a=share)
        self.direction = direction
