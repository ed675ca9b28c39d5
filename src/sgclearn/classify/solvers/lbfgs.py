"""The exact optimum: L-BFGS, finished by truncated Newton steps where it stalls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgclearn.classify.loss import Objective
from sgclearn.classify.solvers.result import OnIteration, SolverResult

Array = NDArray[np.float64]
_MAX_NEWTON_STEPS = 50
_MAX_CG_STEPS = 500


def minimize_lbfgs(
    objective: Objective,
    start: Array | None = None,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
    on_iteration: OnIteration | None = None,
) -> SolverResult:
    """Minimise until the gradient norm is `tol` times its norm at zero.

    Parameters
    ----------
    objective : Objective
    start : ndarray (d + 1, C), optional
        Zeros if not given; the optimum does not depend on it when weight decay is positive.
    tol : float
        On `|g(W)| / |g(0)|`, Euclidean norms.
    max_iter : int
        Of L-BFGS; at most 50 Newton steps follow where rounding in its line search stops it early.
    on_iteration : callable, optional
        Called as `on_iteration(done, at_most)`.

    Notes
    -----
    Deterministic: the same input gives the same bits on the same machine and number of BLAS threads.
    """
    from scipy.optimize import minimize  # heavy, and only needed to fit

    zero = np.zeros(objective.shape)
    at_zero = float(np.linalg.norm(objective.value_and_gradient(zero)[1]))
    if at_zero == 0.0:
        return SolverResult(zero, 1, 0.0, True, objective.value_and_gradient(zero)[0])
    target = tol * at_zero
    state = _State(objective)
    iterations = 0

    def stop_when_small(_: Array) -> None:
        nonlocal iterations
        iterations += 1
        if on_iteration is not None:
            on_iteration(iterations, max_iter)
        if state.best_norm <= target:
            raise StopIteration

    first = zero if start is None else start
    state(first.ravel())
    if state.best_norm > target and max_iter > 0:
        minimize(
            state,
            first.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=stop_when_small,
            options={"maxiter": max_iter, "maxfun": 3 * max_iter + 100, "ftol": 0.0, "gtol": 0.0, "maxcor": 10},
        )
    W = state.best
    if state.best_norm > target and iterations < max_iter:
        W, steps = _newton(objective, W, target)
        iterations += steps
    value, gradient, _ = objective.value_and_gradient(W)
    norm = float(np.linalg.norm(gradient))
    return SolverResult(W, max(iterations, 1), norm / at_zero, norm <= target, value)


class _State:
    """The objective over flat parameters, remembering the point with the smallest gradient."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.best_norm = np.inf
        self.best: Array = np.zeros(objective.shape)

    def __call__(self, flat: Array) -> tuple[float, Array]:
        W = flat.reshape(self.objective.shape)
        value, gradient, _ = self.objective.value_and_gradient(W)
        norm = float(np.linalg.norm(gradient))
        if norm < self.best_norm:
            self.best_norm, self.best = norm, W.copy()
        return value, gradient.ravel()


def _newton(objective: Objective, W: Array, target: float) -> tuple[Array, int]:
    """Newton steps from a good start, each solved by conjugate gradients."""
    value, gradient, P = objective.value_and_gradient(W)
    for step_number in range(_MAX_NEWTON_STEPS):
        norm = float(np.linalg.norm(gradient))
        if norm <= target:
            return W, step_number
        step = _conjugate_gradients(objective, P, gradient, relative=min(0.1, np.sqrt(norm)))
        length = 1.0
        while True:
            candidate = W + length * step
            new_value, new_gradient, new_P = objective.value_and_gradient(candidate)
            # Near the optimum values agree to rounding: the gradient decides then.
            if new_value < value or float(np.linalg.norm(new_gradient)) < norm:
                break
            length *= 0.5
            if length < 1e-6:
                return W, step_number
        W, value, gradient, P = candidate, new_value, new_gradient, new_P
    return W, _MAX_NEWTON_STEPS


def _conjugate_gradients(objective: Objective, P: Array, gradient: Array, relative: float) -> Array:
    """Solve `H step = -gradient` until the residual is `relative` times the gradient."""
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = residual.copy()
    squared = float(np.vdot(residual, residual))
    enough = relative**2 * squared
    for _ in range(_MAX_CG_STEPS):
        if squared <= enough:
            break
        curved = objective.hessian_product(P, direction)
        curvature = float(np.vdot(direction, curved))
        if curvature <= 0.0:  # flat direction: possible only without weight decay
            break
        rate = squared / curvature
        step += rate * direction
        residual -= rate * curved
        previous, squared = squared, float(np.vdot(residual, residual))
        direction = residual + (squared / previous) * direction
    return step if np.any(step) else -gradient
