"""From a design and targets to weights: scaling, row space, solver, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sgclearn.classify.curvature import Spread, measure_spread
from sgclearn.classify.loss import Link, Objective
from sgclearn.classify.rowspace import RowSpace, principal_columns, row_space
from sgclearn.classify.scaling import ScaledDesign, centred, fit_scaling
from sgclearn.classify.solvers import (
    SolverResult,
    minimize_adam,
    minimize_lbfgs,
    minimize_sgd,
    torch_linear_start,
)
from sgclearn.classify.solvers.result import OnIteration
from sgclearn.errors import InputError
from sgclearn.propagation.design import Design
from sgclearn.validation.parameters import check_parameter

Array = NDArray[np.float64]
_EVALUATIONS = 100.0  # products with the samples that one exact fit is expected to need
_ROUGH = 1e-3  # a tolerance that float32 gradients have no trouble to reach
_DEFAULT_ITERATIONS = {"lbfgs": 1000, "adam": 100, "sgd": 100}
_DEFAULT_LEARNING_RATE = {"lbfgs": 0.0, "adam": 0.2, "sgd": 1.0}


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
        if self.learning_rate is not None and self.solver == "lbfgs":
            raise InputError(
                f"solver='lbfgs' takes no learning_rate: got {self.learning_rate!r}; leave it out or choose 'adam'."
            )
        object.__setattr__(self, "learning_rate", check_parameter("learning_rate", self.learning_rate))

    @property
    def iterations(self) -> int:
        """Most iterations or epochs."""
        return self.max_iter if self.max_iter is not None else _DEFAULT_ITERATIONS[self.solver]

    @property
    def step(self) -> float:
        """The learning rate, for the solvers that have one."""
        return self.learning_rate if self.learning_rate is not None else _DEFAULT_LEARNING_RATE[self.solver]


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
    ) -> None:
        self.Y, self.sample_weight, self.link, self.settings = Y, sample_weight, link, settings
        exact = settings.solver == "lbfgs"
        self.scaling = fit_scaling(design, settings.scale)
        free_bias = settings.fit_intercept and not settings.penalize_intercept
        if exact and free_bias:
            # The bias makes up for any shift; centred samples leave it nothing to do with the weights.
            self.scaling = centred(self.scaling, design, sample_weight)
        self.scaled: Design = design if self.scaling is None else ScaledDesign(design, self.scaling)
        self.space: RowSpace | None = None
        # Adam is not rotation-invariant and its start lies outside the span: it needs the columns themselves.
        if exact and smallest_decay > 0:
            bordered = settings.fit_intercept and settings.penalize_intercept
            evaluations = _EVALUATIONS * solves
            self.space = row_space(self.scaled, sample_weight, bordered, Y.shape[1], evaluations)
            if self.space is None:
                self.space = principal_columns(self.scaled, sample_weight, bordered)
        self.newton_first = smallest_decay > 0
        self.samples: Design = self.scaled if self.space is None else self.space.samples
        self.has_bias_row = settings.fit_intercept and not (self.space is not None and self.space.bordered)
        self._spread: Spread | None = None
        if self.space is not None:
            squares = self.space.squares
            self._spread = Spread(np.append(squares, 1.0) if self.has_bias_row else squares)

    def solve(
        self, weight_decay: float, start: Array | None = None, on_iteration: OnIteration | None = None
    ) -> SolverResult:
        """Parameters in the coordinates of `samples`."""
        settings = self.settings
        objective = Objective(
            self.samples,
            self.Y,
            self.sample_weight,
            self.link,
            weight_decay,
            self.has_bias_row,
            settings.penalize_intercept,
            rough=settings.solver == "lbfgs" and settings.tol >= _ROUGH,
        )
        if settings.solver == "lbfgs":
            if self._spread is None:
                self._spread = measure_spread(objective)
            return minimize_lbfgs(
                objective,
                start,
                tol=settings.tol,
                max_iter=settings.iterations,
                newton_first=self.newton_first,
                spread=self._spread,
                on_iteration=on_iteration,
            )
        rng = np.random.default_rng(settings.seed)
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

    def view(self, other: Design) -> Design:
        """Other samples in the coordinates of `samples`."""
        scaled = other if self.scaling is None else ScaledDesign(other, self.scaling)
        return scaled if self.space is None else self.space.coordinates(scaled)

    def logits(self, view: Design, W: Array) -> Array:
        """Logits (m', C) of samples that `view` gave."""
        return np.asarray(view.matmul(W[:-1]) + W[-1]) if self.has_bias_row else view.matmul(W)

    def finish(self, result: SolverResult) -> LinearFit:
        """Back to the columns as they were."""
        Phi, b = (result.W[:-1], result.W[-1]) if self.has_bias_row else (result.W, None)
        Theta, column_bias = (Phi, None) if self.space is None else self.space.weights(Phi)
        b = column_bias if b is None else b
        b = np.zeros(Theta.shape[1]) if b is None else b
        if self.scaling is not None:
            Theta, b = self.scaling.unscale(Theta, b)
        return LinearFit(Theta, b, result)
