"""The paper's recipe for text and Reddit: a few steps of L-BFGS without a line search, as torch takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sgclearn.estimators.loss import Objective
from sgclearn.estimators.solvers.adam import finished
from sgclearn.estimators.solvers.result import OnIteration, SolverResult

Array = NDArray[np.float64]
# The defaults of torch.optim.LBFGS.
_MAX_EVALUATIONS, _SMALL_GRADIENT, _SMALL_CHANGE, _LEAST_CURVATURE = 25, 1e-7, 1e-9, 1e-10
MOST_PAIRS = 100


def xavier_normal_start(n_columns: int, n_classes: int, rng: np.random.Generator) -> Array:
    """Normal with variance `2 / (d + C)` (d, C), the Xavier start of a linear layer."""
    return rng.normal(0.0, np.sqrt(2.0 / (n_columns + n_classes)), size=(n_columns, n_classes))


def minimize_lbfgs_steps(
    objective: Objective,
    start: Array,
    *,
    max_iter: int = 60,
    step: int = 20,
    dtype: DTypeLike = np.float64,
    on_iteration: OnIteration | None = None,
) -> SolverResult:
    """Run steps of at most `step` iterations, `max_iter` in all; every iteration has length one but the first.

    A step ends early where the gradient, the move or the change of the value is small, or after 25 evaluations; the
    memory of earlier iterations goes on into the next step. It is of the precision `dtype`. The result counts as
    converged unless its loss is far above that of zero weights.
    """
    search = _Search(objective, start, dtype, max_iter)
    for done in range(0, max_iter, step):
        search.step(min(step, max_iter - done))
        if on_iteration is not None:
            on_iteration(min(done + step, max_iter), max_iter)
    return finished(objective, search.W, search.n_iter)


class _Search:
    """Where the search is, and what it remembers."""

    def __init__(self, objective: Objective, start: Array, dtype: DTypeLike, remembered: int) -> None:
        self.objective, self.W = objective, start.copy()
        self.memory = _Memory(start.size, min(MOST_PAIRS, remembered), np.dtype(dtype))
        self.n_iter, self.length = 0, 1.0
        self.direction = self.before = np.zeros_like(start)

    def step(self, max_iter: int) -> None:
        value, gradient, _ = self.objective.value_and_gradient(self.W)
        if np.abs(gradient).max() <= _SMALL_GRADIENT:
            return
        for iteration in range(1, max_iter + 1):
            self.n_iter += 1
            if self.n_iter == 1:
                self.direction = -gradient
                self.length = min(1.0, 1.0 / float(np.abs(gradient).sum()))
            else:
                self.memory.add(gradient - self.before, self.length * self.direction)
                self.direction = self.memory.aim(gradient)
                self.length = 1.0
            self.before = gradient
            if float(np.vdot(gradient, self.direction)) > -_SMALL_CHANGE:
                return
            self.W += self.length * self.direction
            if iteration == max_iter:
                return
            last = value
            value, gradient, _ = self.objective.value_and_gradient(self.W)
            small = np.abs(gradient).max() <= _SMALL_GRADIENT
            small |= self.length * np.abs(self.direction).max() <= _SMALL_CHANGE
            if small or abs(value - last) < _SMALL_CHANGE or iteration + 1 >= _MAX_EVALUATIONS:
                return


class _Memory:
    """Changes of the gradient and the moves that made them, and directions from them.

    The two loops of L-BFGS are run on inner products. A direction then reads the vectors twice, once for their inner
    products with the gradient and once for the sum; those with a change are differences of the former.
    """

    def __init__(self, size: int, most: int, dtype: np.dtype[Any]) -> None:
        self.changes, self.moves = np.empty((most, size), dtype), np.empty((most, size), dtype)
        self.moves_changes = np.zeros((most, most))  # of a move and the changes from its own on
        self.changes_changes = np.zeros((most, most))
        self.along_moves = self.along_changes = np.zeros(0)  # with the gradient
        self.count, self.fresh = 0, False

    def add(self, change: Array, move: Array) -> None:
        """Keep a pair, unless the function does not bend upwards along it; the oldest goes if there is no room."""
        curvature = float(np.vdot(change, move))
        self.fresh = curvature > _LEAST_CURVATURE
        if not self.fresh:
            return
        if self.count == len(self.changes):
            self._forget_oldest()
        k = self.count
        self.changes[k], self.moves[k] = change.ravel(), move.ravel()
        self.moves_changes[k, k], self.changes_changes[k, k] = curvature, float(np.vdot(change, change))
        self.count = k + 1

    def _forget_oldest(self) -> None:
        for vectors in (self.changes, self.moves):
            vectors[:-1] = vectors[1:]
        for products in (self.moves_changes, self.changes_changes):
            products[:-1, :-1] = products[1:, 1:]
        self.along_moves, self.along_changes = self.along_moves[1:], self.along_changes[1:]
        self.count -= 1

    def aim(self, gradient: Array) -> Array:
        """The direction at the gradient that the last change has led to, of its shape."""
        k = self.count
        flat = gradient.ravel().astype(self.changes.dtype)
        along_moves, along_changes = self.moves[:k] @ flat, self.changes[:k] @ flat
        if self.fresh:
            new = k - 1
            self.moves_changes[:new, new] = along_moves[:new] - self.along_moves
            self.changes_changes[:new, new] = along_changes[:new] - self.along_changes
            self.changes_changes[new, :new] = self.changes_changes[:new, new]
        self.along_moves, self.along_changes = along_moves, along_changes
        scale, of_moves, of_changes = self._two_loops(k)
        direction = of_moves.astype(flat.dtype) @ self.moves[:k]
        direction -= (scale * of_changes).astype(flat.dtype) @ self.changes[:k]
        direction -= scale * flat
        return np.asarray(direction, dtype=np.float64).reshape(gradient.shape)

    def _two_loops(self, k: int) -> tuple[float, Array, Array]:
        """Shares of the gradient and the changes, to be subtracted after scaling, and of the moves."""
        moves_changes, changes_changes = self.moves_changes[:k, :k], self.changes_changes[:k, :k]
        scale = float(moves_changes[-1, -1] / changes_changes[-1, -1]) if k else 1.0
        of_changes, of_moves = np.zeros(k), np.zeros(k)
        for i in reversed(range(k)):
            product = -self.along_moves[i] - moves_changes[i, i + 1 :] @ of_changes[i + 1 :]
            of_changes[i] = product / moves_changes[i, i]
        for i in range(k):
            product = scale * (-self.along_changes[i] - changes_changes[i] @ of_changes)
            product += moves_changes[:i, i] @ of_moves[:i]
            of_moves[i] = of_changes[i] - product / moves_changes[i, i]
        return scale, of_moves, of_changes
