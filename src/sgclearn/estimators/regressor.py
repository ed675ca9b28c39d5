"""SGC for numbers: ridge regression on propagated features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from sgclearn.errors import InputError
from sgclearn.estimators.base import BaseSGC, Problem
from sgclearn.estimators.classifier import DEFAULT_WEIGHT_DECAY
from sgclearn.estimators.cv import DEFAULT_HOPS, SearchCV
from sgclearn.estimators.fitting import PreparedFit, SolverSettings
from sgclearn.estimators.labels import check_sample_weight
from sgclearn.estimators.loss import Link, Squared
from sgclearn.estimators.search import VALUE_SCORES, Fold, LeftOut, make_folds
from sgclearn.filters import Member, PolynomialFilter
from sgclearn.graph import Graph
from sgclearn.propagation.compute import Compute
from sgclearn.propagation.design import Design
from sgclearn.propagation.propagate import DEFAULT_N_HOPS, Filters
from sgclearn.validation.arrays import real_array
from sgclearn.validation.parameters import Choice

Array = NDArray[np.float64]
_FOLDS = 5


class RidgePrediction(RegressorMixin, BaseSGC):  # type: ignore[misc]
    """Prediction of numbers; `SGCRegressor` and `SGCRegressorCV` differ only in how they fit."""

    _plain: ClassVar[str] = "ridge regression"
    _is_quadratic: ClassVar[bool] = True

    def _settings(self) -> SolverSettings:
        return SolverSettings(
            scale=self.scale,
            fit_intercept=self.fit_intercept,
            penalize_intercept=self.penalize_intercept,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _labels(self, y: Any, n_samples: int) -> tuple[NDArray[np.intp], Array]:
        values = _as_values(y, n_samples, type(self).__name__)
        self.single_target_ = values.ndim == 1
        values = values.reshape(len(values), -1)
        known = _known(values)
        if not known.any():
            raise InputError(
                "at least one sample needs a known y",
                f"{n_samples:,} samples, all NaN",
                "give some",
                argument="y",
            )
        return np.flatnonzero(known), values[known]

    def _targets(self, known: Array) -> tuple[type[Link], Array]:
        return Squared, known

    def _decided(self, logits: Array) -> Array:
        return logits[:, 0] if self.single_target_ else logits

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        graph: Graph | None = None,
        *,
        readout: Any = None,
    ) -> float:
        """R2 over the samples with a known y, the mean over targets."""
        from sklearn.metrics import r2_score

        predicted = self.predict(X, graph, readout=readout)
        values = _as_values(y, len(predicted), type(self).__name__)
        known = np.flatnonzero(_known(values.reshape(len(values), -1)))
        weights = check_sample_weight(sample_weight, len(values), known)
        return float(r2_score(values[known], predicted.reshape(values.shape)[known], sample_weight=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class SGCRegressor(RidgePrediction):
    """Simple Graph Convolution for numbers: `P F(S) X Theta + b`, fitted by ridge regression.

    Minimises the mean over known samples of `1/2 |prediction - y|^2` plus `weight_decay / 2 |Theta|^2`.

    Parameters
    ----------
    n_hops, normalization, gamma, filter, row_norm, scale, weight_decay, fit_intercept, max_iter, tol, compute
        As in `SGCClassifier`. `max_iter` and `tol` serve only where the samples are not factorised.
    penalize_intercept : bool, default False
        Whether weight decay acts on the bias too.

    In `fit`, y is (m,) or (m, q) for q numbers per sample; a sample whose row is NaN is not known.

    Attributes
    ----------
    coef_ : ndarray (q, d)
    intercept_ : ndarray (q,)
    transduction_ : ndarray (m,) or (m, q)
        Prediction of every sample of the fit.
    plan_, n_iter_, converged_, gradient_ratio_, loss_
        As in `SGCClassifier`.

    Notes
    -----
    Bridge to scikit-learn's Ridge on propagated features: `alpha = sum(w) * weight_decay`.
    Closed form wherever the samples are formed and have up to 2,048 directions, else conjugate gradients. Exact: yes.

    Examples
    --------
    >>> import numpy as np
    >>> from sgclearn import Graph, SGCRegressor
    >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])
    >>> X = np.arange(5.0)[:, None]
    >>> y = [0.0, np.nan, 2.0, np.nan, 4.0]
    >>> SGCRegressor(0).fit(X, y, graph=graph).predict(X, graph=graph).round(2)
    array([0., 1., 2., 3., 4.])
    """

    def __init__(
        self,
        n_hops: int = DEFAULT_N_HOPS,
        *,
        normalization: str = "sym",
        gamma: float | None = None,
        filter: Filters = None,
        row_norm: str | None = None,
        scale: str | None = None,
        weight_decay: float = DEFAULT_WEIGHT_DECAY,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        max_iter: int | None = None,
        tol: float = 1e-10,
        compute: Compute | None = None,
    ) -> None:
        self.n_hops = n_hops
        self.normalization = normalization
        self.gamma = gamma
        self.filter = filter
        self.row_norm = row_norm
        self.scale = scale
        self.weight_decay = weight_decay
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.compute = compute


class SGCRegressorCV(RidgePrediction, SearchCV):
    """SGC for numbers with hops, weight decay and, if asked, propagation matrix chosen on held-out samples.

    Parameters
    ----------
    n_hops, weight_decay, normalization, gamma, filter, search, n_trials, refit_with_validation
        As in `SGCClassifierCV`.
    cv : int, splitter or list of (train, validation), optional
        Folds over the known samples, used where `fit` gets no validation samples. Without it every sample is left out
        in turn: exactly, for all weight decays from one factorisation, or in five folds where samples are scaled or
        not factorised.
    scoring : {"r2", "mse", "mae"}, default "r2"
        Errors count with their sign turned; of several targets the mean.
    row_norm, scale, fit_intercept, penalize_intercept, max_iter, tol, compute
        As in `SGCRegressor`.
    random_state : int or None, default 2019
        Of the folds and of "tpe".

    Attributes
    ----------
    best_params_, best_score_, cv_results_
        As in `SGCClassifierCV`; `log_loss` is the mean of `1/2 |prediction - y|^2`.
    coef_, intercept_, transduction_, plan_, n_iter_, converged_, gradient_ratio_, loss_
        As in `SGCRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from sgclearn import Graph, SGCRegressorCV
    >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    >>> X = np.arange(6.0)[:, None]
    >>> SGCRegressorCV((0, 1)).fit(X, 2 * X[:, 0], graph=graph).best_params_["n_hops"]
    0
    """

    def __init__(
        self,
        n_hops: int | Sequence[int] = DEFAULT_HOPS,
        *,
        weight_decay: Sequence[float] | None = None,
        normalization: str | Sequence[str] = "sym",
        gamma: float | Sequence[float | None] | None = None,
        filter: PolynomialFilter | Sequence[PolynomialFilter | Sequence[Member] | None] | None = None,
        row_norm: str | None = None,
        scale: str | None = None,
        cv: Any = None,
        search: str = "path",
        n_trials: int = 60,
        scoring: str = "r2",
        refit_with_validation: bool = False,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        max_iter: int | None = None,
        tol: float = 1e-10,
        random_state: int | None = 2019,
        compute: Compute | None = None,
    ) -> None:
        self.n_hops = n_hops
        self.weight_decay = weight_decay
        self.normalization = normalization
        self.gamma = gamma
        self.filter = filter
        self.row_norm = row_norm
        self.scale = scale
        self.cv = cv
        self.search = search
        self.n_trials = n_trials
        self.scoring = scoring
        self.refit_with_validation = refit_with_validation
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.compute = compute

    def _check_search(self) -> None:
        super()._check_search()
        Choice(values=VALUE_SCORES).check("scoring", self.scoring)

    def _folds(self, known: Array) -> list[Fold]:
        cv = _FOLDS if self.cv is None else self.cv
        return make_folds(known, cv, self.random_state, stratified=False)

    def _left_out(
        self,
        design: Design,
        targets: tuple[type[Link], Array],
        problem: Problem,
        folds: list[Fold],
        *how: Any,
    ) -> LeftOut | None:
        validation_was_given = len(folds) == 1
        if self.cv is not None or validation_was_given or self.scale is not None:
            return None
        counted = np.flatnonzero(problem.weights > 0)
        part = design if len(counted) == len(problem.weights) else design.subset(counted)
        prepared = PreparedFit(part, targets[1][counted], problem.weights[counted], targets[0], *how)
        return None if prepared.ridge is None else LeftOut(design, prepared, self.scoring)


def _as_values(y: Any, n_samples: int, name: str) -> Array:
    """Numbers (m,) or (m, q) of every sample, NaN where they are not known."""
    if y is None:
        raise InputError(f"{name} requires y to be passed, but the target y is None", argument="y")
    values = real_array(y, "y").astype(np.float64)
    if values.ndim not in (1, 2) or values.shape[1:] == (0,):
        raise InputError(
            "y must have one number, or one row of numbers, per sample",
            f"shape {values.shape}",
            "reshape it",
            argument="y",
        )
    if len(values) != n_samples:
        raise InputError(
            "y must have one row per row of X",
            f"{len(values):,} and {n_samples:,} rows",
            "align them",
            argument="y",
        )
    if np.isinf(values).any():
        raise InputError(
            "Input y contains infinity", "numbers that cannot be learned", "mark unknown ones with NaN"
        )
    return values


def _known(values: Array) -> NDArray[np.bool_]:
    missing = np.isnan(values)
    partly = int((missing.any(axis=1) & ~missing.all(axis=1)).sum())
    if partly:
        raise InputError(
            "a row of y must be known whole or not at all",
            f"{partly} rows with only some numbers missing",
            "fit these targets one by one",
            argument="y",
        )
    return np.asarray(~missing.any(axis=1))
