"""From a design and targets to weights: scaling, row space, solver, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, Setting
from sgclearn.estimators.curvature import Spread, measure_spread
from sgclearn.estimators.loss import Link, Objective, Squared, shares
from sgclearn.estimators.ridge import PrincipalRidge
from sgclearn.estimators.rowspace import RowSpace, principal_columns, row_space
from sgclearn.estimators.scaling import ScaledDesign, Scaling, balance, centred, fit_scaling, unscaled
from sgclearn.estimators.solvers import (
    SolverResult,
    minimize_adam,
    minimize_lbfgs,
    minimize_lbfgs_steps,
    minimize_sgd,
    torch_linear_start,
    xavier_normal_start,
)
from sgclearn.estimators.solvers.lbfgs_steps import MOST_PAIRS
from sgclearn.estimators.solvers.result import OnIteration
from sgclearn.propagation.bounds import is_finite
from sgclearn.propagation.costs import LBFGS_VECTORS
from sgclearn.propagation.design import Design, ExplicitDesign
from sgclearn.validation.parameters import check_parameter

Array = NDArray[np.float64]
_EVALUATIONS = 100.0  # products with the samples that one exact fit is expected to need
_FEW_ENTRIES = 2**18  # samples that may be copied
_MOST_DIRECTIONS, _MOST_ENTRIES = 2048, 2**26  # in which squares are solved at once
_LITTLE_LEFT = 1e-2
_FAR = 10.0  # from zero, in units of the ones of the bias
_CLOSE = 1e-6  # of the gradient at zero, in columns that are balanced
_ROUNDS = 4  # of a solver that is asked for more
_ROUGH = 1e-3  # a tolerance that float32 gradients have no trouble to reach
_DEFAULT_ITERATIONS = {"lbfgs": 1000, "lbfgs-steps": 60, "adam": 100, "sgd": 100}
_DEFAULT_LEARNING_RATE = {"adam": 0.2, "sgd": 1.0}


@dataclass(frozen=True)
class SolverSettings:
    """Everything a fit needs besides data and weight decay; checked once, when it is made."""

    solver: str = "lbfgs"
    scale: str | None = None
    fit_intercept: bool = True
    penalize_intercept: bool = True
    max_iter: int | None = None
    tol: float = 1e-10
    learning_rate: float | None = None
    batch_size: int = 256
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in (
            "solver",
            "scale",
            "max_iter",
            "batch_size",
            "tol",
            "fit_intercept",
            "penalize_intercept",
        ):
            object.__setattr__(self, name, check_parameter(name, getattr(self, name)))
        object.__setattr__(self, "seed", check_parameter("random_state", self.seed))
        if self.learning_rate is not None and not self.has_rate:
            raise InputError(
                (Setting("solver", self.solver), " takes no learning_rate"),
                f"{self.learning_rate!r}",
                "leave it out or choose 'adam'",
                argument="learning_rate",
            )
        object.__setattr__(self, "learning_rate", check_parameter("learning_rate", self.learning_rate))

    @property
    def iterations(self) -> int:
        """Most iterations or epochs."""
        return self.max_iter if self.max_iter is not None else _DEFAULT_ITERATIONS[self.solver]

    @property
    def has_rate(self) -> bool:
        """Whether the solver has a learning rate."""
        return self.solver in _DEFAULT_LEARNING_RATE

    @property
    def step(self) -> float:
        """The learning rate, for the solvers that have one."""
        return self.learning_rate if self.learning_rate is not None else _DEFAULT_LEARNING_RATE[self.solver]

    @property
    def vectors(self) -> float:
        """How many float64 vectors of the size of the weights the solver holds."""
        if self.solver == "lbfgs-steps":  # a pair of float32 for every iteration that it remembers
            return min(self.iterations, MOST_PAIRS) + 6.0
        return LBFGS_VECTORS

    @property
    def precision(self) -> np.dtype[Any]:
        """That of products with rows that are not formed: a recipe of float32 needs no more than that."""
        return np.dtype(np.float32 if self.solver == "lbfgs-steps" else np.float64)


@dataclass(frozen=True)
class LinearFit:
    """Weights for the columns as they are: `logits = Z Theta + b`, whatever was scaled or reduced on the way."""

    Theta: Array  # (d, C)
    b: Array  # (C,)
    result: SolverResult


class PreparedFit:
    """A design made ready once, to be solved at one weight decay or along a path of them.

    Parameters
    ----------
    design : Design
        Z (m, d).
    Y : ndarray (m, C)
    sample_weight : ndarray (m,)
    link : Link
    settings : SolverSettings
    smallest_decay : float
        The smallest weight decay that will be asked for; the row space serves only positive ones.
    solves : int
        How many weight decays will be asked for.
    scaling : Scaling, optional
        Statistics of the samples that `settings.scale` asks for, where they are known already.
    """

    def __init__(
        self,
        design: Design,
        Y: Array,
        sample_weight: Array,
        link: type[Link],
        settings: SolverSettings,
        smallest_decay: float,
        solves: int = 1,
        scaling: Scaling | None = None,
    ) -> None:
        self.Y, self.sample_weight, self.link, self.settings = Y, shares(sample_weight), link, settings
        with _refusing(settings):
            self.scaling = scaling or fit_scaling(design, settings.scale)
            self._prepare(design, smallest_decay, solves)

    def _prepare(self, design: Design, smallest_decay: float, solves: int) -> None:
        settings, sample_weight = self.settings, self.sample_weight
        exact = settings.solver == "lbfgs"
        free_bias = settings.fit_intercept and not settings.penalize_intercept
        if exact and free_bias:
            # The bias makes up for any shift; centred samples leave it nothing to do with the weights.
            self.scaling = centred(self.scaling, design, sample_weight)
        self.factor: Array | None = None
        if exact and settings.scale is None and not isinstance(design, ScaledDesign):
            self.factor = balance(self._scale(design), settings.fit_intercept)
        self.scaled = self._scale(design)
        self.space: RowSpace | None = None
        # Adam is not rotation-invariant and its start lies outside the span: it needs the columns themselves. So do
        # columns that are balanced one by one, as the weight decay of each is another.
        one_decay = self.factor is None or bool((self.factor == self.factor[0]).all())
        if exact and (smallest_decay > 0 or self.link is Squared) and one_decay:
            bordered = settings.fit_intercept and settings.penalize_intercept and self.factor is None
            self.space = self._find_space(bordered, _EVALUATIONS * solves, smallest_decay)
        self.newton_first = smallest_decay > 0
        self.samples: Design = self.scaled if self.space is None else self.space.samples
        if not one_decay and isinstance(unscaled(design), ExplicitDesign) and _is_small(design):
            self.samples = ExplicitDesign(self.scaled.rows(np.arange(design.shape[0])))
        self.has_bias_row = settings.fit_intercept and not (self.space is not None and self.space.bordered)
        self._spread: Spread | None = None
        if self.space is not None:
            squares = self.space.squares
            self._spread = Spread(np.append(squares, 1.0) if self.has_bias_row else squares)

    @cached_property
    def ridge(self) -> PrincipalRidge | None:
        """Squares in principal coordinates, with a bias that is one of them or free; None for everything else."""
        penalized_apart = self.has_bias_row and self.settings.penalize_intercept
        if self.link is not Squared or self.space is None or penalized_apart:
            return None
        Q, squares = self.space.samples.Z, self.space.squares
        return PrincipalRidge(Q, squares, self.Y, self.sample_weight, self.has_bias_row)

    def leave_one_out(self, weight_decay: float) -> Array | None:
        """Predictions (m, C) of every sample by the fit to all others; None where they cannot be told from one fit.

        Exact: yes. Another scaling would belong to every fit.
        """
        if self.ridge is None or self.settings.scale is not None:
            return None
        factor = 1.0 if self.factor is None else float(self.factor[0])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self.ridge.leave_one_out(weight_decay * factor**2)

    def _scale(self, design: Design) -> Design:
        """Samples scaled and balanced as those of the fit."""
        scaled = design if self.scaling is None else ScaledDesign(design, self.scaling)
        if self.factor is None:
            return scaled
        return ScaledDesign(scaled, Scaling(np.zeros(len(self.factor)), self.factor))

    def _find_space(self, bordered: bool, evaluations: float, decay: float) -> RowSpace | None:
        factor = 1.0 if self.factor is None else float(self.factor[0])
        limits: tuple[int, ...] = ()
        if self.link is Squared:  # solved at once in these coordinates, whatever it takes to find them
            evaluations = np.inf if min(self.scaled.shape) <= _MOST_DIRECTIONS else evaluations
            limits = (_MOST_DIRECTIONS, _MOST_ENTRIES)
        parts = (
            self.scaled,
            self.sample_weight,
            bordered,
            self.Y.shape[1],
            evaluations,
            factor * factor * decay,
        )
        space = row_space(*parts)
        if space is None:
            return principal_columns(self.scaled, self.sample_weight, bordered, *limits)
        # Tolerances are relative to the pull of the samples: where theirs cancel, directions have to be the sharper.
        even = self.link.probabilities(np.zeros((1, self.Y.shape[1])))
        left = space.cancellation(self.sample_weight[:, None] * (even - self.Y))
        return space if left >= _LITTLE_LEFT else row_space(*parts, left)

    def reweighted(self, sample_weight: Array) -> PreparedFit:
        """The same samples with other weights, zero for those to leave out; a scaling is not found again."""
        other = copy(self)
        other.sample_weight = shares(sample_weight)
        vars(other)["ridge"] = None  # the directions are principal for the weights as they were
        return other

    def solve(
        self, weight_decay: float, start: Array | None = None, on_iteration: OnIteration | None = None
    ) -> SolverResult:
        """Parameters in the coordinates of `samples`; an error where they, or the loss there, are not finite."""
        with _refusing(self.settings):
            result = self._solve(weight_decay, start, on_iteration)
        if not (isfinite(result.loss) and isfinite(result.gradient_ratio) and is_finite(result.W)):
            raise _overflow(self.settings)
        return result

    def _solve(
        self, weight_decay: float, start: Array | None, on_iteration: OnIteration | None
    ) -> SolverResult:
        settings = self.settings
        objective = Objective(
            self.samples,
            self.Y,
            self.sample_weight,
            self.link,
            weight_decay,
            self.has_bias_row,
            settings.penalize_intercept,
            rough=settings.solver == "lbfgs-steps" or (settings.solver == "lbfgs" and settings.tol >= _ROUGH),
            factor=self._column_factor,
        )
        if self.ridge is not None:
            return self.ridge.solve(objective)
        if settings.solver == "lbfgs":
            return self._exact(objective, start, on_iteration)
        rng = np.random.default_rng(settings.seed)
        if settings.solver == "lbfgs-steps":
            return minimize_lbfgs_steps(
                objective,
                self._start_of_steps(objective, rng),
                max_iter=settings.iterations,
                dtype=settings.precision,
                on_iteration=on_iteration,
            )
        if settings.solver == "adam":
            start = torch_linear_start(objective.shape, objective.n_columns, rng)
            return minimize_adam(
                objective,
                start,
                learning_rate=settings.step,
                max_iter=settings.iterations,
                on_iteration=on_iteration,
            )
        return minimize_sgd(
            objective,
            np.zeros(objective.shape),
            rng,
            learning_rate=settings.step,
            max_iter=settings.iterations,
            batch_size=settings.batch_size,
            on_iteration=on_iteration,
        )

    def _start_of_steps(self, objective: Objective, rng: np.random.Generator) -> Array:
        """With a bias that of torch's linear layer, as for Reddit; without one Xavier's, as for text.

        Columns that are constant over the samples are dropped: they start at zero and stay there.
        """
        if objective.intercept:
            return torch_linear_start(objective.shape, objective.n_columns, rng)
        used = np.ones(objective.n_columns, bool) if self.scaling is None else self.scaling.factor > 0
        start = np.zeros(objective.shape)
        start[used] = xavier_normal_start(int(used.sum()), objective.shape[1], rng)
        return start

    @property
    def _column_factor(self) -> Array | float | None:
        """What the columns of `samples` were multiplied by: one number in a space that mixes them."""
        return self.factor if self.factor is None or self.space is None else float(self.factor[0])

    def _exact(
        self, objective: Objective, start: Array | None, on_iteration: OnIteration | None
    ) -> SolverResult:
        """To the tolerance in the columns as they were, and where they are balanced in these too."""
        settings = self.settings
        if self._spread is None:
            self._spread = measure_spread(objective)

        def minimize(tol: float, start: Array | None) -> SolverResult:
            return minimize_lbfgs(
                objective,
                start,
                tol=tol,
                max_iter=settings.iterations,
                newton_first=self.newton_first,
                spread=self._spread,
                on_iteration=on_iteration,
            )

        result = minimize(settings.tol, start)
        mean = self._far_mean()
        if self._column_factor is None and not mean:
            return result
        factor = np.ones((objective.shape[0], 1))
        if self._column_factor is not None:
            factor[: objective.n_columns, 0] = self._column_factor

        def norm_at(W: Array) -> float:
            gradient = objective.value_and_gradient(W)[1] / factor
            return float(np.linalg.norm(gradient)) + mean * float(np.linalg.norm(gradient[-1]))

        size = float(np.sqrt((self._spread.squares[:, None] / factor**2).sum())) + mean
        at_zero, level = norm_at(np.zeros(objective.shape)), 8 * np.finfo(np.float64).eps * size
        enough, tol = max(settings.tol * at_zero, level), settings.tol
        for _ in range(_ROUNDS):
            norm = norm_at(result.W)
            if norm <= enough or not result.converged:
                break
            tol *= 0.5 * enough / norm
            result = minimize(tol, result.W)
        ratio = norm / at_zero if at_zero > level else 0.0
        is_close = result.converged or result.gradient_ratio <= _CLOSE
        return replace(result, gradient_ratio=ratio, converged=bool(is_close and norm <= enough))

    def _far_mean(self) -> float:
        """The size of the samples' mean where it is large and taken away from them, else zero.

        The gradient in the columns as they were has the mean times that of the bias in it.
        """
        if self.scaling is None or self.settings.scale is not None:
            return 0.0
        mean = float(np.linalg.norm(self.scaling.shift))
        return mean if mean > _FAR else 0.0

    def view(self, other: Design) -> Design:
        """Other samples in the coordinates of `samples`."""
        scaled = self._scale(other)
        with np.errstate(over="ignore", invalid="ignore"):  # `logits` looks whether they are finite
            return scaled if self.space is None else self.space.coordinates(scaled)

    def logits(self, view: Design, W: Array) -> Array:
        """Logits (m', C) of samples that `view` gave, finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            logits = np.asarray(view.matmul(W[:-1]) + W[-1]) if self.has_bias_row else view.matmul(W)
        if not is_finite(logits):
            raise _overflow(self.settings)
        return logits

    def finish(self, result: SolverResult) -> LinearFit:
        """Back to the columns as they were."""
        Phi, b = (result.W[:-1], result.W[-1]) if self.has_bias_row else (result.W, None)
        Theta, column_bias = (Phi, None) if self.space is None else self.space.weights(Phi)
        b = column_bias if b is None else b
        b = np.zeros(Theta.shape[1]) if b is None else b
        with np.errstate(over="ignore", invalid="ignore"):
            if self.factor is not None:
                Theta = self.factor[:, None] * Theta
            if self.scaling is not None:
                Theta, b = self.scaling.unscale(Theta, b)
        if not (is_finite(Theta) and is_finite(b)):
            raise _overflow(self.settings)
        return LinearFit(Theta, b, result)


def _is_small(design: Design) -> bool:
    return design.shape[0] * design.shape[1] <= _FEW_ENTRIES


@contextmanager
def _refusing(settings: SolverSettings) -> Iterator[None]:
    """Numbers that leave their range make no noise on the way, and an error where LAPACK gives up on them."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            yield
    except np.linalg.LinAlgError:
        raise _overflow(settings) from None


def _overflow(settings: SolverSettings) -> InputError:
    rate = f"a learning_rate below {settings.step:g}, " if settings.has_rate else ""
    scaled = () if settings.scale is not None else (Setting("scale", "standard"), ", ")
    return InputError(
        "the weights of a fit must stay finite",
        ("numbers out of range from ", Setting("solver", settings.solver)),
        (
            *("try ", rate, *scaled, "a larger ", Setting("weight_decay")),
            ", or features multiplied by a number that brings them near 1",
        ),
    )
