"""The exact optimum: Newton steps, and L-BFGS where products with the samples are dear or nothing bends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.curvature import Spread, curvature_bound, measure_spread, preconditioner
from sgclearn.estimators.loss import Objective, Softmax
from sgclearn.estimators.solvers.newton import Point, evaluate, first_length, newton, search
from sgclearn.estimators.solvers.result import OnIteration, SolverResult

Array = NDArray[np.float64]
# Ill-conditioned problems leave L-BFGS creeping: Newton steps take over after so many of its iterations.
_MAX_LBFGS_ITERATIONS = 300
_NEAR = 1e-3  # of the gradient at zero: from there on Newton steps need the fewest products
_PAIRS = 20  # what the planner counts on


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

    Newton steps (see `newton`) and preconditioned L-BFGS, in turns. A step of L-BFGS reads the samples once, a Newton
    step as often as its conjugate gradients want: over many samples that bend little a percent of the way is reached
    with a third of the products, and the last digits with Newton steps.

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
    # Samples whose pulls cancel leave nothing but rounding in the gradient: no tolerance may ask for less.
    rounding = 8 * np.finfo(np.float64).eps * float(np.sqrt(curvature_bound(objective, spread)))
    if not np.isfinite(at_zero + rounding):
        return SolverResult(point.W, 1, np.inf, False, point.value)
    if at_zero <= rounding:
        return SolverResult(point.W, 1, 0.0, True, point.value)
    target = max(tol * at_zero, rounding)
    if start is not None:
        if (
            objective.link is Softmax
        ):  # what all classes have in common costs weight decay and changes no probability
            start = start - start.mean(axis=1, keepdims=True)
        point = evaluate(objective, start)
    iterations, turns, stuck, newton_turn = 0, 0, 0, newton_first
    # Over many samples L-BFGS learns more from a product than Newton steps after the first, until the optimum is near.
    alternating = newton_first and not objective.is_small

    def report(done: int) -> None:
        if on_iteration is not None:
            on_iteration(iterations + done, max_iter)

    while point.norm > target and iterations < max_iter:
        left, goal = max_iter - iterations, target
        if newton_turn:
            most = 1 if alternating and turns == 0 else left
            point, steps = newton(objective, point, goal, spread, most, report)
        else:
            if alternating and turns == 1:
                goal = max(target, _NEAR * at_zero)
            point, steps = _lbfgs(objective, point, goal, spread, left, report)
        iterations, turns = iterations + steps, turns + 1
        stuck = stuck + 1 if steps == 0 and point.norm > goal else 0
        if stuck == 2:
            break  # neither finds a way down: rounding is all that is left
        newton_turn = not newton_turn
    converged = bool(point.norm <= target)
    return SolverResult(point.W, max(iterations, 1), point.norm / at_zero, converged, point.value)


def _lbfgs(
    objective: Objective,
    point: Point,
    target: float,
    spread: Spread,
    max_iter: int,
    report: Callable[[int], None],
) -> tuple[Point, int]:
    """Steps until the gradient norm is at most `target`: where they end, and how many they are."""
    memory = _Memory()
    max_iter = min(max_iter, _MAX_LBFGS_ITERATIONS)
    for done in range(max_iter):
        if point.norm <= target:
            return point, done
        step = memory.aim(point.gradient, preconditioner(objective, spread, point.P))
        candidate = search(objective, point, step, first_length(objective, point, step) if done == 0 else 1.0)
        if candidate is None:
            return point, done
        memory.add(candidate.W - point.W, candidate.gradient - point.gradient)
        point = candidate
        report(done + 1)
    return point, max_iter


class _Memory:
    """The last moves and the changes of the gradient that they made.

    The curvature that they show corrects a preconditioner, which may be another one at every step.
    """

    def __init__(self) -> None:
        self.pairs: deque[tuple[Array, Array, float]] = deque(maxlen=_PAIRS)

    def add(self, move: Array, change: Array) -> None:
        """Keep a pair, unless rounding hides that the objective bends upwards along it."""
        curvature = float(np.vdot(move, change))
        if curvature > 0.0:
            self.pairs.append((move, change, curvature))

    def aim(self, gradient: Array, precondition: Callable[[Array], Array]) -> Array:
        """The two loops of L-BFGS, with the preconditioner between them."""
        rest = -gradient
        shares = []
        for move, change, curvature in reversed(self.pairs):
            shares.append(float(np.vdot(move, rest)) / curvature)
            rest -= shares[-1] * change
        step = precondition(rest)
        if self.pairs:  # the preconditioner as steep as the objective is along the last move
            _, change, curvature = self.pairs[-1]
            steepness = float(np.vdot(change, precondition(change)))
            step *= curvature / steepness if steepness > 0.0 else 1.0
        for (move, change, curvature), share in zip(self.pairs, reversed(shares), strict=True):
            step += (share - float(np.vdot(change, step)) / curvature) * move
        return step
