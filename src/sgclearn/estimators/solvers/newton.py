"""Newton steps, solved by preconditioned conjugate gradients as far as it pays, or at once where that is cheap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.curvature import Spread, preconditioner
from sgclearn.estimators.loss import Objective, Softmax, Squared

Array = NDArray[np.float64]
_MAX_NEWTON_STEPS = 50
_MAX_CG_STEPS = 500
# Hessian products in float32 cannot carry a step further than this.
_NARROW_RESIDUAL = 1e-3
# The share of the slope that a step must keep; an exact step over a parabola keeps a half. Less would let the first
# step over many columns land where every class is certain and nothing bends any more.
_ENOUGH = 0.25
_ROUNDING = 1e-12  # of the objective, relative
_SHORTEST = 1e-6
# Weight decay below this share of the samples' own curvature leaves a Hessian that is singular but for rounding.
_FLAT = 1e-14


@dataclass(frozen=True)
class Point:
    """Parameters, and the objective there."""

    W: Array
    value: float
    gradient: Array
    P: NDArray[Any]
    norm: float  # of the gradient


def evaluate(objective: Objective, W: Array) -> Point:
    """The objective at W."""
    value, gradient, P = objective.value_and_gradient(W)
    return Point(W, value, gradient, P, _norm(gradient))


def newton(
    objective: Objective,
    point: Point,
    target: float,
    spread: Spread,
    max_iter: int,
    report: Callable[[int], None],
) -> tuple[Point, int]:
    """Steps until the gradient norm is at most `target`: where they end, and how many they are.

    A step is solved the more exactly the nearer the optimum, but never further than the target asks for.
    """
    start_norm = point.norm
    max_iter = min(max_iter, _MAX_NEWTON_STEPS)
    is_bent = float(objective.decay.min()) >= _FLAT * float(spread.squares.max())
    for step_number in range(max_iter):
        if point.norm <= target:
            return point, step_number
        enough = _residual(objective, point, start_norm, target)
        step: Array | None = None
        if objective.native is not None and spread.basis is None and is_bent:
            arguments = (point.P, spread.squares, point.gradient, objective.link is Softmax)
            step = objective.native.newton_step(*arguments, enough, _MAX_CG_STEPS)
        elif objective.is_tiny and is_bent:
            step = _elimination(objective, point)
        if step is None:
            step = _conjugate_gradients(objective, spread, point, enough)
        length = first_length(objective, point, step) if step_number == 0 else 1.0
        candidate = search(objective, point, step, length)
        if candidate is None:
            return point, step_number
        point = candidate
        report(step_number + 1)
    return point, max_iter


def search(objective: Objective, point: Point, step: Array, length: float = 1.0) -> Point | None:
    """The first point along the step that is low enough, or None where rounding hides any descent."""
    slope = float(np.vdot(point.gradient, step))
    while length > _SHORTEST:
        candidate = evaluate(objective, point.W + length * step)
        rise = candidate.value - point.value
        if rise <= _ENOUGH * length * slope:
            return candidate
        # Near the optimum values agree to rounding: the gradient decides then.
        if abs(rise) <= _ROUNDING * abs(point.value) and candidate.norm < point.norm:
            return candidate
        # The lowest point of the parabola through what is known, within reason.
        parabola = -0.5 * slope * length / max(rise - slope * length, -slope * length * 1e-3)
        length *= min(max(parabola, 0.1), 0.5)
    return None


def first_length(objective: Objective, point: Point, step: Array) -> float:
    """How far to try the first step, which may be too long by far: as far as is right for a few of many samples."""
    few = objective.sampled
    if few is None:
        return 1.0
    here = evaluate(few, point.W)
    # Few samples may see no way down where all of them do: they have no say then.
    found = search(few, here, step) if float(np.vdot(here.gradient, step)) < 0.0 else None
    return 1.0 if found is None else float(np.vdot(found.W - point.W, step) / np.vdot(step, step))


def _elimination(objective: Objective, point: Point) -> Array | None:
    """Solve `H step = -gradient` at once: for a few parameters that takes no longer than two or three products.

    None where rounding leaves a matrix that is singular.
    """
    try:
        step = np.linalg.solve(objective.small_hessian_matrix(point.P), point.gradient.T.ravel())
    except np.linalg.LinAlgError:
        return None
    return np.asarray(-step.reshape(point.gradient.shape[::-1]).T)


def _residual(objective: Objective, point: Point, start_norm: float, target: float) -> float:
    """Where the conjugate gradients of a step may stop, as a norm."""
    share = 0.5 * target / point.norm
    if objective.link is not Squared:  # a parabola is the same everywhere: its lowest point is one step away
        share = max(min(0.1, np.sqrt(point.norm / start_norm)), share)
    return float(max(share, _NARROW_RESIDUAL) if objective.is_narrow else share) * point.norm


def _conjugate_gradients(objective: Objective, spread: Spread, point: Point, enough: float) -> Array:
    """Solve `H step = -gradient` until the norm of the residual is at most `enough`."""
    hessian, precondition = objective.hessian(point.P), preconditioner(objective, spread, point.P)
    step = np.zeros_like(point.gradient)
    residual = -point.gradient
    direction = first = precondition(residual)
    product = float(np.vdot(residual, direction))
    for _ in range(_MAX_CG_STEPS):
        curved = hessian(direction)
        curvature = float(np.vdot(direction, curved))
        if curvature <= 0.0:  # a flat direction: possible only without weight decay
            break
        rate = product / curvature
        step += rate * direction
        curved *= rate
        residual -= curved
        if _norm(residual) <= enough:
            break
        preconditioned = precondition(residual)
        previous, product = product, float(np.vdot(residual, preconditioned))
        if not previous > 0.0:  # what is left has no curvature that the preconditioner knows of
            break
        direction = preconditioned + (product / previous) * direction
    return step if np.any(step) else first


def _norm(matrix: Array) -> float:
    return float(np.sqrt(np.vdot(matrix, matrix)))
