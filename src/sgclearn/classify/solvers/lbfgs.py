"""The exact optimum: preconditioned L-BFGS, finished by truncated Newton steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sgclearn.classify.loss import Objective
from sgclearn.classify.solvers.result import OnIteration, SolverResult

Array = NDArray[np.float64]
# Ill-conditioned problems leave L-BFGS creeping: Newton steps take over after so many of its iterations.
_MAX_LBFGS_ITERATIONS = 300
_MAX_NEWTON_STEPS = 50
_MAX_CG_STEPS = 500


def minimize_lbfgs(
    objective: Objective,
    start: Array | None = None,
    *,
    tol: float = 1e-10,
    max_iter: int = 1000,
    newton_first: bool = False,
    on_iteration: OnIteration | None = None,
) -> SolverResult:
    """Minimise until the gradient norm is `tol` times its norm at zero.

    L-BFGS in coordinates scaled by a bound on the Hessian's diagonal, and Newton steps (each solved by conjugate
    gradients with the same bound as preconditioner) where it creeps or rounding in its line search stops it.

    Parameters
    ----------
    objective : Objective
    start : ndarray (d + 1, C), optional
        Zeros if not given; the optimum does not depend on it when weight decay is positive.
    tol : float
        On `|g(W)| / |g(0)|`, Euclidean norms.
    max_iter : int
        L-BFGS iterations and Newton steps together.
    newton_first : bool
        Begin with Newton steps: three to four times faster where products with the design are
        so small that the bookkeeping of L-BFGS costs more than they do, as in the row space of a few labels.
    on_iteration : callable, optional
        Called as `on_iteration(done, at_most)`.

    Notes
    -----
    Deterministic: the same input gives the same bits on the same machine and number of BLAS threads.
    """
    zero = np.zeros(objective.shape)
    value, gradient, _ = objective.value_and_gradient(zero)
    at_zero = float(np.linalg.norm(gradient))
    bound = objective.hessian_diagonal_bound()
    # Samples whose pulls cancel leave nothing but rounding in the gradient: no tolerance may ask for less.
    rounding = 8 * np.finfo(np.float64).eps * float(np.linalg.norm(np.sqrt(bound)))
    if at_zero <= rounding:
        return SolverResult(zero, 1, 0.0, True, value)
    target = max(tol * at_zero, rounding)
    W, iterations, norm = zero if start is None else start, 0, np.inf
    newton_turn = newton_first

    def report(done: int) -> None:
        if on_iteration is not None:
            on_iteration(iterations + done, max_iter)

    while norm > target and iterations < max_iter:
        before = norm
        phase = _newton if newton_turn else _lbfgs
        W, steps, norm = phase(objective, W, target, bound, max_iter - iterations, report)
        iterations += steps
        if newton_turn and steps == 0 and norm >= before:
            break  # rounding is all that is left
        newton_turn = not newton_turn
    value = objective.value_and_gradient(W)[0]
    return SolverResult(W, max(iterations, 1), norm / at_zero, norm <= target, value)


def _lbfgs(
    objective: Objective,
    start: Array,
    target: float,
    bound: Array,
    max_iter: int,
    report: Callable[[int], None],
) -> tuple[Array, int, float]:
    from scipy.optimize import minimize  # heavy, and only needed to fit

    state = _State(objective, np.sqrt(bound))
    first = (start * state.root).ravel()
    state(first)
    iterations, max_iter = 0, min(max_iter, _MAX_LBFGS_ITERATIONS)

    def stop_when_small(_: Array) -> None:
        nonlocal iterations
        iterations += 1
        report(iterations)
        if state.best_norm <= target:
            raise StopIteration

    if state.best_norm > target:
        options = {"maxiter": max_iter, "maxfun": 3 * max_iter + 100, "ftol": 0.0, "gtol": 0.0, "maxcor": 20}
        minimize(state, first, jac=True, method="L-BFGS-B", callback=stop_when_small, options=options)
    return state.best, iterations, state.best_norm


class _State:
    """The objective over `U = root * W`, in which its curvature is even; remembers the smallest gradient."""

    def __init__(self, objective: Objective, root: Array) -> None:
        self.objective, self.root = objective, root
        self.best_norm = np.inf
        self.best: Array = np.zeros(objective.shape)

    def __call__(self, flat: Array) -> tuple[float, Array]:
        W = flat.reshape(self.objective.shape) / self.root
        value, gradient, _ = self.objective.value_and_gradient(W)
        norm = float(np.linalg.norm(gradient))
        if norm < self.best_norm:
            self.best_norm, self.best = norm, W
        return value, (gradient / self.root).ravel()


def _newton(
    objective: Objective,
    W: Array,
    target: float,
    bound: Array,
    max_iter: int,
    report: Callable[[int], None],
) -> tuple[Array, int, float]:
    """Newton steps, each solved by conjugate gradients, the more exactly the nearer the optimum."""
    value, gradient, P = objective.value_and_gradient(W)
    norm = start_norm = float(np.linalg.norm(gradient))
    max_iter = min(max_iter, _MAX_NEWTON_STEPS)
    for step_number in range(max_iter):
        if norm <= target:
            return W, step_number, norm
        step = _conjugate_gradients(
            objective, P, gradient, bound, relative=min(0.1, np.sqrt(norm / start_norm))
        )
        length = 1.0
        while True:
            candidate = W + length * step
            new_value, new_gradient, new_P = objective.value_and_gradient(candidate)
            new_norm = float(np.linalg.norm(new_gradient))
            # Near the optimum values agree to rounding: the gradient decides then.
            if new_value < value or new_norm < norm:
                break
            length *= 0.5
            if length < 1e-6:
                return W, step_number, norm
        W, value, gradient, P, norm = candidate, new_value, new_gradient, new_P, new_norm
        report(step_number + 1)
    return W, max_iter, norm


def _conjugate_gradients(
    objective: Objective, P: Array, gradient: Array, bound: Array, relative: float
) -> Array:
    """Solve `H step = -gradient` until the residual is `relative` times the gradient; preconditioned by the bound."""
    step = np.zeros_like(gradient)
    residual = -gradient
    enough = relative * float(np.linalg.norm(gradient))
    direction = residual / bound
    product = float(np.vdot(residual, direction))
    for _ in range(_MAX_CG_STEPS):
        if float(np.linalg.norm(residual)) <= enough:
            break
        curved = objective.hessian_product(P, direction)
        curvature = float(np.vdot(direction, curved))
        if curvature <= 0.0:  # a flat direction: possible only without weight decay
            break
        rate = product / curvature
        step += rate * direction
        residual -= rate * curved
        preconditioned = residual / bound
        previous, product = product, float(np.vdot(residual, preconditioned))
        direction = preconditioned + (product / previous) * direction
    return step if np.any(step) else -gradient / bound
