"""SGC that chooses its own settings on held-out labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, Setting
from sgclearn.estimators.base import BaseSGC, Problem, check_weight_decay
from sgclearn.estimators.classifier import SoftmaxPrediction
from sgclearn.estimators.fitting import SolverSettings
from sgclearn.estimators.loss import Link
from sgclearn.estimators.search import (
    Candidate,
    Fold,
    FoldProblems,
    LeftOut,
    OnStep,
    Trial,
    make_folds,
    search_path,
    search_tpe,
)
from sgclearn.estimators.temperature import Calibration, calibrate
from sgclearn.estimators.threads import blas_threads_for
from sgclearn.filters import Member, PolynomialFilter, Wanted, hops_of
from sgclearn.graph import Graph
from sgclearn.operators.operator import check_operator_choice
from sgclearn.propagation.compute import Compute
from sgclearn.propagation.design import Design
from sgclearn.propagation.engines import Engine
from sgclearn.propagation.implicit import build_designs
from sgclearn.propagation.propagate import DEFAULT_N_HOPS, check_filter, check_n_hops
from sgclearn.validation.arrays import positions_of
from sgclearn.validation.parameters import check_parameter

DEFAULT_HOPS = tuple(range(11))
DEFAULT_DECAYS = tuple(float(f"{decay:.3g}") for decay in np.logspace(-8, 0, 25))
TPE_BOUNDS = (1e-10, 1e-4)  # the paper's


class SearchCV(BaseSGC):
    """What searches over hops, filters, operators and weight decay share."""

    cv: Any
    search: str
    n_trials: int
    scoring: str
    refit_with_validation: bool
    # How many values in a row may do worse before a path ends; None tries all.
    _patience: int | None = None

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        graph: Graph | None = None,
        validation: Any = None,
        sample_weight: Any = None,
        *,
        readout: Any = None,
        on_step: OnStep | None = None,
        on_progress: OnStep | None = None,
        on_iteration: OnStep | None = None,
    ) -> Self:
        """Choose on held-out labels, then fit.

        Parameters
        ----------
        X, y, graph, sample_weight, readout
            As in `SGCClassifier.fit`; `y` holds the labels of training and validation samples only.
        validation : array of int or bool, optional
            Labelled samples to choose on. Without them, folds over the labelled ones are used.
        on_step : callable, optional
            Called as `on_step(done, of)` after every trial.
        on_progress, on_iteration : callable, optional
            As in `SGCClassifier.fit`, in the final fit.
        """
        settings = self._settings()
        wanted, decays, operators = self._candidates(graph)
        problem = self._problem(X, y, graph, readout, sample_weight)
        engine = self._engine()
        targets = self._targets(problem.known)
        folds, learned_from = self._held_out(problem, validation)
        tried = self._tried(problem, graph, operators, wanted, targets, folds, settings, engine, decays)
        with blas_threads_for(float(len(problem.samples)) * problem.features.n_columns * targets[1].shape[1]):
            step = on_step or _no_step
            if self.search == "path":
                total = len(operators) * len(wanted) * len(decays)
                found = search_path(tried, decays, total, step, self._patience)
            else:
                bounds = (min(decays), max(decays))
                found = search_tpe(tried, bounds, self.n_trials, self.random_state, step)
        best, candidate, held_out = found.best
        self._keep_trials(found.trials, best)
        self._keep(candidate.operator, candidate.wanted)
        learned = problem.part(learned_from)
        weights = self._weighted(learned.weights, learned.known)
        learned, rows = learned.counted(weights), learned_from[weights > 0]
        link, Y = targets
        design = candidate.folds.design
        if len(rows) < len(Y):
            design = design.subset(rows)
        self._solve(
            design, (link, Y[rows]), learned.weights, best.weight_decay, settings, on_progress, on_iteration
        )
        self._predict_training(learned, candidate.operator, design, engine)
        self._use_held_out(*held_out, link)
        return self

    def _use_held_out(self, logits: NDArray[np.float64], Y: NDArray[np.float64], link: type[Link]) -> None:
        """What else is learned from the held-out logits and targets of the best trial."""

    def _held_out(self, problem: Problem, validation: Any) -> tuple[list[Fold], NDArray[np.intp]]:
        """Folds over the known samples, and those that the final model learns from."""
        everything = np.arange(len(problem.samples))
        if validation is None:
            return self._folds(problem.known), everything
        nodes = self._validation_samples(validation, problem)
        held_out = np.isin(problem.samples, nodes)
        folds = [(np.flatnonzero(~held_out), np.flatnonzero(held_out))]
        return folds, everything if self.refit_with_validation else folds[0][0]

    def _folds(self, known: NDArray[Any]) -> list[Fold]:
        return make_folds(known, self.cv, self.random_state)

    def _check_search(self) -> None:
        for name in ("search", "n_trials", "refit_with_validation"):
            check_parameter(name, getattr(self, name))

    def _candidates(
        self, graph: Graph | None
    ) -> tuple[list[Wanted], list[float], list[tuple[str, float | None]]]:
        """Checked candidates; without a graph the hops and operators make no difference, so one of each is tried."""
        self._check_search()
        wanted = self._wanted()
        if self.weight_decay is None:
            decays = list(DEFAULT_DECAYS if self.search == "path" else TPE_BOUNDS)
        else:
            decays = sorted({check_weight_decay(decay) for decay in _as_sequence(self.weight_decay)})
        if self.search == "tpe" and (not decays or decays[0] <= 0 or decays[0] == decays[-1]):
            raise InputError(
                (Setting("search", "tpe"), " needs two positive bounds in ", Setting("weight_decay")),
                repr(self.weight_decay),
            )
        normalizations, gammas = _as_sequence(self.normalization), _as_sequence(self.gamma)
        operators: list[tuple[str, float | None]] = []
        for normalization in normalizations:
            # The first-order Chebyshev matrix has no gamma to vary.
            for gamma in [None] if normalization == "cheby" and len(normalizations) > 1 else gammas:
                check_operator_choice(normalization, gamma)
                operators.append((normalization, gamma))
        if not wanted or not decays or not operators:
            raise InputError(
                "every list of candidates must have at least one",
                "an empty one",
                "leave it out, or name some",
            )
        return (wanted, decays, operators) if graph is not None else (wanted[:1], decays, operators[:1])

    def _wanted(self) -> list[Wanted]:
        """Powers of S and other filters to choose among, the shortest first."""
        filters = _as_sequence(self.filter)
        powers = sorted({check_n_hops(k) for k in _as_sequence(self.n_hops)})
        if None not in filters and tuple(powers) != DEFAULT_HOPS:
            raise InputError(
                "n_hops is for powers of S and filter names none of them",
                Setting("n_hops", self.n_hops),
                ("leave ", Setting("n_hops"), " out, or add None to the filters"),
                argument="n_hops",
            )
        wanted: list[Wanted] = list(powers) if None in filters else []
        wanted += [check_filter(entry, DEFAULT_N_HOPS) for entry in filters if entry is not None]
        return sorted(wanted, key=hops_of)

    def _validation_samples(self, validation: Any, problem: Problem) -> NDArray[np.intp]:
        chosen = positions_of(validation, problem.everything.n_samples)
        unlabelled = np.setdiff1d(chosen, problem.samples)
        if len(chosen) == 0 or len(unlabelled):
            raise InputError(
                "validation nodes must have labels in y",
                f"{len(chosen):,} nodes, {len(unlabelled):,} of them without",
            )
        if len(np.setdiff1d(problem.samples, chosen)) == 0:
            raise InputError(
                "some labelled nodes must be left to train on", "all of them as validation nodes"
            )
        return chosen

    def _tried(
        self,
        problem: Problem,
        graph: Graph | None,
        operators: list[tuple[str, float | None]],
        wanted: list[Wanted],
        targets: tuple[type[Link], NDArray[np.float64]],
        folds: list[Fold],
        settings: SolverSettings,
        engine: Engine,
        decays: list[float],
    ) -> Iterator[Candidate]:
        """Every operator with every filter, by one plan; for one operator all filters come in one pass."""
        a_fold = self.n_trials if self.search == "tpe" else len(decays)
        held = len(folds) * (len(wanted) * len(operators) if self.search == "tpe" else 1)
        weights = [self._weighted(problem.weights[train], problem.known[train]) for train, _ in folds]
        link, Y = targets
        for number, (normalization, gamma) in enumerate(operators):
            operator = self._operator(graph, normalization, gamma)
            if number == 0:
                # Formed once, the samples serve every fold, weight decay and number of hops, and the final fit. All of
                # them must fit, but a solver works with those of one fold's training.
                self.plan_ = self._plan(
                    problem, operator, wanted, targets[1].shape[1], settings, engine,
                    solves=len(wanted) * len(folds) * a_fold,
                    copies=held,
                    share=max(len(train) for train, _ in folds) / len(problem.samples),
                )  # fmt: skip
            parts = (self.plan_.chosen, None, engine, self.plan_.sets, settings.precision)
            designs = build_designs(operator, problem.features, problem.readout, wanted, *parts)
            for entry, design in designs:
                how = (settings, min(decays), a_fold)
                held_out = self._left_out(design, targets, problem, folds, *how) or FoldProblems(
                    design, link, Y, weights, folds, *how, self.scoring
                )
                yield Candidate(normalization, gamma, operator, entry, held_out)

    def _left_out(
        self,
        design: Design,
        targets: tuple[type[Link], NDArray[np.float64]],
        problem: Problem,
        folds: list[Fold],
        *how: Any,
    ) -> LeftOut | None:
        """A problem that needs no folds, where there is one; `how` is for `PreparedFit`."""
        return None

    def _keep_trials(self, trials: list[Trial], best: Trial) -> None:
        self.cv_results_ = [dict(vars(trial)) for trial in trials]
        self.best_score_ = best.score
        self.best_params_ = {
            "n_hops": best.n_hops,
            "filter": best.filter,
            "weight_decay": best.weight_decay,
            "normalization": best.normalization,
            "gamma": best.gamma,
        }


class SGCClassifierCV(SoftmaxPrediction, SearchCV):
    """SGC with hops, weight decay and, if asked, propagation matrix chosen on held-out labels.

    Parameters
    ----------
    n_hops : int or sequence of int, default 0 to 10
        Candidates. All are computed in one pass to the largest.
    weight_decay : sequence of float, optional
        Candidates, solved as a warm-started path from the largest; by default 25 values from 1e-8 to 1.
        With ``search="tpe"`` the lowest and the highest bound the search, by default the paper's 1e-10 and 1e-4.
    normalization : str or sequence of str, default "sym"
    gamma : float, None, or a sequence of them
    filter : PolynomialFilter, or a sequence of them, optional
        Other polynomials of S to choose among; None in the sequence stands for the powers of `n_hops`, a list in it
        for filters side by side.
    cv : int, splitter or list of (train, validation), default 5
        Folds over the labelled nodes, used where `fit` gets no validation nodes. The indices of a list
        count labelled nodes in the order of the rows.
    search : {"path", "tpe"}, default "path"
        "tpe" is the search of the paper (needs the extra ``tune``).
    n_trials : int, default 60
        Of "tpe".
    scoring : {"accuracy", "macro_f1", "log_loss"}, default "accuracy"
        Ties go to the lower log-loss (in hundredths), then to fewer hops and more weight decay.
    refit_with_validation : bool, default False
        Whether the final model also learns from the validation nodes given to `fit`. After folds it always learns
        from every labelled node.
    calibration : {"temperature", "none"}, default "temperature"
        Whether `predict_proba` divides the logits by a temperature, fitted to those of the held-out labels that the
        settings were chosen on; only where it lowers their log-loss when fitted on other folds of them. Predicted
        classes and `decision_function` do not change.
    row_norm, scale, solver, fit_intercept, penalize_intercept, class_weight, max_iter, tol
    learning_rate, batch_size, random_state, unlabeled, compute
        As in `SGCClassifier`. The search itself stops at a gradient of 1e-6 of the start's, the final fit at `tol`.

    Attributes
    ----------
    best_params_ : dict
        n_hops, filter, weight_decay, normalization and gamma.
    best_score_ : float
    cv_results_ : list of dict
        Every trial: settings, score, its standard deviation over folds, log-loss.
    temperature_ : float
    calibration_ : Calibration
        The temperature, whether it is applied, and the log-loss of held-out labels without and with it.
    coef_, intercept_, classes_, transduction_, plan_, n_iter_, converged_, gradient_ratio_, loss_
        As in `SGCClassifier`.

    Notes
    -----
    Selection sees training and validation labels and nothing else: give `y` with the test labels taken out.

    Examples
    --------
    >>> from sgclearn import SGCClassifierCV, load_dataset
    >>> data = load_dataset("debian")
    >>> model = SGCClassifierCV(n_hops=(0, 2), weight_decay=(1e-4, 1e-3), row_norm="l2", cv=3)
    >>> model.fit(data.X, data.train_labels(), graph=data.graph).best_params_["n_hops"]
    2
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
        cv: Any = 5,
        search: str = "path",
        n_trials: int = 60,
        scoring: str = "accuracy",
        refit_with_validation: bool = False,
        calibration: str = "temperature",
        solver: str = "lbfgs",
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        class_weight: Any = None,
        max_iter: int | None = None,
        tol: float = 1e-10,
        learning_rate: float | None = None,
        batch_size: int = 256,
        random_state: int | None = 2019,
        unlabeled: Any = -1,
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
        self.calibration = calibration
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.compute = compute

    def _check_search(self) -> None:
        super()._check_search()
        check_parameter("scoring", self.scoring)
        check_parameter("calibration", self.calibration)

    def _use_held_out(self, logits: NDArray[np.float64], Y: NDArray[np.float64], link: type[Link]) -> None:
        self.calibration_ = Calibration()
        if self.calibration == "temperature":
            self.calibration_ = calibrate(logits, Y, link)
        self.temperature_ = self.calibration_.temperature


def _no_step(done: int, of: int) -> None:
    """No-op `OnStep`."""


def _as_sequence(value: Any) -> list[Any]:
    if isinstance(value, list | tuple | range):
        return list(value)
    if value is None or isinstance(value, str | PolynomialFilter) or np.ndim(value) == 0:
        return [value]
    return list(value)
