"""The exact optimum: Newton steps, with L-BFGS where they have nothing to hold on to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sgclearn.classify.curvature import Spread, diagonal_bound, measure_spread
from sgclearn.classify.loss import Objective
from sgclearn.classify.solvers.newton import Point, evaluate, newton
from sgclearn.classify.solvers.result import OnIteration, SolverResult

Array = NDArray[np.float64]
# Ill-conditioned problems leave L-BFGS creeping: Newton steps take over after so many of its iterations.
_MAX_LBFGS_ITERATIONS = 300


def minimize_lbfgs(
    objective: Objective,
    start: Array | None = None,
    *,
    tol: float = 1e-10,
    max_iter: int = 1000,
    newton_first: bool = False,
    spread: Spread | None = None,
    on_iteration: OnIteration | None = None,
) -> SolverResult:
    """Minimise until the gradient norm is `tol` times its norm at zero.

    L-BFGS in coordinates in which a bound on the curvature is even, and Newton steps (see `newton`), in turns.

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
        Begin with Newton steps: several times faster wherever weight decay bends every direction.
    spread : Spread, optional
        Of the objective's samples, where it is known already.
    on_iteration : callable, optional
        Called as `on_iteration(done, at_most)`.

    Notes
    -----
    Deterministic: the same input gives the same bits on the same machine and number of BLAS threads.
    """
    point = evaluate(objective, np.zeros(objective.shape))
    at_zero = point.norm
    spread = measure_spread(objective) if spread is None else spread
    bound = diagonal_bound(objective, spread)
    # Samples whose pulls cancel leave nothing but rounding in the gradient: no tolerance may ask for less.
    rounding = 8 * np.finfo(np.float64).eps * float(np.sqrt(bound.sum()))
    if at_zero <= rounding:
        return SolverResult(point.W, 1, 0.0, True, point.value)
    target = max(tol * at_zero, rounding)
    if start is not None:
        point = evaluate(objective, start)
    iterations, turns, newton_turn = 0, 0, newton_first

    def report(done: int) -> None:
        if on_iteration is not None:
            on_iteration(iterations + done, max_iter)

    while point.norm > target and iterations < max_iter:
        left = max_iter - iterations
        if newton_turn:
            point, steps = newton(objective, point, target, spread, left, report)
        else:
            point, steps = _lbfgs(objective, point, target, spread, np.sqrt(bound), left, report)
        iterations, turns = iterations + steps, turns + 1
        if newton_turn and steps == 0 and turns > 1:
            break  # rounding is all that is left
        newton_turn = not newton_turn
    return SolverResult(point.W, max(iterations, 1), point.norm / at_zero, point.norm <= target, point.value)


def _lbfgs(
    objective: Objective,
    start: Point,
    target: float,
    spread: Spread,
    root: Array,
    max_iter: int,
    report: Callable[[int], None],
) -> tuple[Point, int]:
    from scipy.optimize import minimize  # heavy, and rarely needed

    state = _State(objective, start, spread, root)
    iterations, max_iter = 0, min(max_iter, _MAX_LBFGS_ITERATIONS)

    def stop_when_small(_: Array) -> None:
        nonlocal iterations
        iterations += 1
        report(iterations)
        if state.best.norm <= target:
            raise StopIteration

    options = {"maxiter": max_iter, "maxfun": 3 * max_iter + 100, "ftol": 0.0, "gtol": 0.0, "maxcor": 20}
    first = (spread.rotate(start.W) * root).ravel()
    minimize(state, first, jac=True, method="L-BFGS-B", callback=stop_when_small, options=options)
    return state.best, iterations


class _State:
    """The objective over `U = root * (V^T W)`, in which its curvature is even; remembers the smallest gradient."""

    def __init__(self, objective: Objective, start: Point, spread: Spread, root: Array) -> None:
        self.objective, self.best, self.spread, self.root = objective, start, spread, root

    def __call__(self, flat: Array) -> tuple[float, Array]:
        W = self.spread.rotate_back(flat.reshape(self.objective.shape) / self.root)
        point = evaluate(self.objective, W)
        if point.norm < self.best.norm:
            self.best = point
        return point.value, (self.spread.rotate(point.gradient) / self.root).ravel()
