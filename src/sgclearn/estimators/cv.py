"""SGC that chooses its own settings on held-out labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.estimators.base import check_weight_decay
from sgclearn.estimators.classifier import SoftmaxPrediction
from sgclearn.estimators.fitting import SolverSettings
from sgclearn.estimators.labels import check_sample_weight, class_codes
from sgclearn.estimators.loss import Link
from sgclearn.estimators.search import (
    Fold,
    FoldProblems,
    OnStep,
    Trial,
    Wanted,
    make_folds,
    search_path,
    search_tpe,
)
from sgclearn.estimators.temperature import Calibration, calibrate
from sgclearn.estimators.threads import blas_threads_for
from sgclearn.filters import PolynomialFilter, coefficients_of
from sgclearn.graph import Graph
from sgclearn.operators.operator import Operator, check_operator_choice
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.propagation.design import build_designs
from sgclearn.propagation.planner import Plan, make_plan
from sgclearn.propagation.propagate import check_filter, check_n_hops, check_nodes
from sgclearn.propagation.source import NodeFeatures
from sgclearn.validation.parameters import check_parameter

DEFAULT_HOPS = tuple(range(11))
DEFAULT_DECAYS = tuple(float(f"{decay:.3g}") for decay in np.logspace(-8, 0, 25))
TPE_BOUNDS = (1e-10, 1e-4)  # the paper's


class SGCClassifierCV(SoftmaxPrediction):
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
        Other polynomials of S to choose among; None in the sequence stands for the powers of `n_hops`.
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

    # How many values in a row may do worse before a path ends; None tries all.
    _patience: ClassVar[int | None] = None

    def __init__(
        self,
        n_hops: int | Sequence[int] = DEFAULT_HOPS,
        *,
        weight_decay: Sequence[float] | None = None,
        normalization: str | Sequence[str] = "sym",
        gamma: float | Sequence[float | None] | None = None,
        filter: PolynomialFilter | Sequence[PolynomialFilter | None] | None = None,
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

    def fit(
        self,
        X: Any,
        y: Any,
        graph: Graph | None = None,
        validation: Any = None,
        sample_weight: Any = None,
        *,
        on_step: OnStep | None = None,
        on_progress: OnStep | None = None,
        on_iteration: OnStep | None = None,
    ) -> SGCClassifierCV:
        """Choose on held-out labels, then fit.

        Parameters
        ----------
        X, y, graph, sample_weight
            As in `SGCClassifier.fit`; `y` holds the labels of training and validation nodes only.
        validation : array of int or bool, optional
            Labelled nodes to choose on. Without them, folds over the labelled nodes are used.
        on_step : callable, optional
            Called as `on_step(done, of)` after every trial.
        on_progress, on_iteration : callable, optional
            As in `SGCClassifier.fit`, in the final fit.
        """
        settings = self._settings()
        wanted, decays, operators = self._candidates(graph)
        features = self._features(X, graph, reset=True)
        rows, codes = self._labels(y, features)
        weights = check_sample_weight(sample_weight, features.n_nodes, rows)
        link, Y = self._targets(codes)
        if validation is None:
            folds = make_folds(codes, self.cv, self.random_state)
            learned_from = np.arange(len(rows))
        else:
            held_out = np.isin(rows, self._validation_nodes(validation, rows, features.n_nodes))
            folds = [(np.flatnonzero(~held_out), np.flatnonzero(held_out))]
            learned_from = np.arange(len(rows)) if self.refit_with_validation else folds[0][0]
        train_weights = [self._class_weighted(weights[train], codes[train]) for train, _ in folds]
        problems = self._problems(
            features,
            graph,
            operators,
            wanted,
            rows,
            link,
            Y,
            train_weights,
            folds,
            settings,
            min(decays),
            len(decays),
        )
        total = len(operators) * len(wanted) * len(decays)
        step = on_step or (lambda done, of: None)
        with blas_threads_for(float(len(rows)) * features.n_columns * Y.shape[1]):
            if self.search == "path":
                trials = search_path(problems, decays, total, step, self._patience)
            else:
                bounds = (min(decays), max(decays))
                trials = search_tpe(problems, bounds, self.n_trials, self.random_state, step)
        best = min(trials, key=Trial.rank)
        self._keep_trials(trials, best)
        operator = self._operator(graph, best.normalization, best.gamma)
        logits = self._fit_linear(
            features,
            operator,
            rows[learned_from],
            Y[learned_from],
            self._class_weighted(weights[learned_from], codes[learned_from]),
            link,
            best.n_hops if best.filter is None else best.filter,
            best.weight_decay,
            on_progress,
            on_iteration,
        )
        self.transduction_ = self.classes_[class_codes(logits)]
        self.calibration_ = Calibration()
        if self.calibration == "temperature" and best.held_out is not None:
            self.calibration_ = calibrate(*best.held_out, link)
        self.temperature_ = self.calibration_.temperature
        return self

    def _candidates(
        self, graph: Graph | None
    ) -> tuple[list[Wanted], list[float], list[tuple[str, float | None]]]:
        """Checked candidates; without a graph the hops and operators make no difference, so one of each is tried."""
        for name in ("search", "scoring", "n_trials", "refit_with_validation", "calibration"):
            check_parameter(name, getattr(self, name))
        wanted = self._wanted()
        if self.weight_decay is None:
            decays = list(DEFAULT_DECAYS if self.search == "path" else TPE_BOUNDS)
        else:
            decays = sorted({check_weight_decay(decay) for decay in _as_sequence(self.weight_decay)})
        if self.search == "tpe" and (not decays or decays[0] <= 0 or decays[0] == decays[-1]):
            raise InputError(
                f"search='tpe' needs two positive bounds in weight_decay: got {self.weight_decay!r}."
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
                "n_hops, weight_decay, normalization and gamma each need at least one candidate: got an empty one."
            )
        return (wanted, decays, operators) if graph is not None else (wanted[:1], decays, operators[:1])

    def _wanted(self) -> list[Wanted]:
        """Powers of S and other filters to choose among, the shortest first."""
        filters = _as_sequence(self.filter)
        powers = sorted({check_n_hops(k) for k in _as_sequence(self.n_hops)})
        if None not in filters and tuple(powers) != DEFAULT_HOPS:
            raise InputError(
                f"n_hops is for powers of S and filter names none of them: got n_hops={self.n_hops!r}; "
                "leave n_hops out, or add None to the filters."
            )
        wanted: list[Wanted] = list(powers) if None in filters else []
        for entry in filters:
            if entry is not None:
                check_filter(entry, entry.n_hops if isinstance(entry, PolynomialFilter) else None)
                wanted.append(entry)
        return sorted(wanted, key=lambda entry: len(coefficients_of(entry)))

    def _validation_nodes(self, validation: Any, rows: NDArray[np.intp], n_nodes: int) -> NDArray[np.intp]:
        nodes = check_nodes(validation, n_nodes)
        unlabelled = np.setdiff1d(nodes, rows)
        if len(nodes) == 0 or len(unlabelled):
            raise InputError(
                f"validation nodes must have labels in y: got {len(nodes):,} nodes, "
                f"{len(unlabelled):,} of them without."
            )
        if len(np.setdiff1d(rows, nodes)) == 0:
            raise InputError(
                "some labelled nodes must be left to train on: got all of them as validation nodes."
            )
        return nodes

    def _problems(
        self,
        features: NodeFeatures,
        graph: Graph | None,
        operators: list[tuple[str, float | None]],
        wanted: list[Wanted],
        rows: NDArray[np.intp],
        link: type[Link],
        Y: NDArray[np.float64],
        train_weights: list[NDArray[np.float64]],
        folds: list[Fold],
        settings: SolverSettings,
        smallest_decay: float,
        n_decays: int,
    ) -> Iterator[tuple[str, float | None, Wanted, FoldProblems]]:
        """The problems of every operator and filter; for one operator all filters come in one pass."""
        # Formed once, the rows serve every fold, weight decay and number of hops.
        a_fold = self.n_trials if self.search == "tpe" else n_decays
        solves = len(wanted) * len(folds) * a_fold
        held = len(folds) * (len(wanted) * len(operators) if self.search == "tpe" else 1)
        evaluations = solves * (settings.iterations if settings.solver != "lbfgs" else 100)
        for normalization, gamma in operators:
            operator = None if graph is None else Operator(graph, normalization, gamma)
            plan = self._plan(operator, features, rows, wanted, Y.shape[1], folds, evaluations, held)
            parts = (plan, None, self._engine(), None, settings.precision)
            for entry, design in build_designs(operator, features, rows, wanted, *parts):
                problems = FoldProblems(
                    design, link, Y, train_weights, folds, settings, smallest_decay, a_fold, self.scoring
                )
                yield normalization, gamma, entry, problems

    def _plan(
        self,
        operator: Operator | None,
        features: NodeFeatures,
        rows: NDArray[np.intp],
        wanted: list[Wanted],
        n_classes: int,
        folds: list[Fold],
        evaluations: int,
        copies: int,
    ) -> str:
        """How the rows are computed. All of them must fit, but a solver works with those of one fold's training."""
        n_hops = len(coefficients_of(wanted[-1])) - 1
        compute = check_compute(self.compute)
        prices = compute.load_engine().prices

        def make(nodes: NDArray[np.intp]) -> Plan:
            return make_plan(
                operator,
                features,
                nodes,
                n_hops,
                n_classes,
                evaluations=evaluations,
                copies=copies,
                plan=compute.plan,
                memory_limit=compute.memory_limit,
                prices=prices,
                one_filter=len(wanted) == 1,
            )

        everything = make(rows)
        solved = make(rows[max((train for train, _ in folds), key=len)]).chosen
        fits = {cost.name for cost in everything.costs if cost.fits}
        return solved if solved in fits else everything.chosen

    def _keep_trials(self, trials: list[Trial], best: Trial) -> None:
        self.cv_results_ = [
            {name: value for name, value in vars(trial).items() if name != "held_out"} for trial in trials
        ]
        self.best_score_ = best.score
        self.best_params_ = {
            "n_hops": best.n_hops,
            "filter": best.filter,
            "weight_decay": best.weight_decay,
            "normalization": best.normalization,
            "gamma": best.gamma,
        }


def _as_sequence(value: Any) -> list[Any]:
    if value is None or isinstance(value, str | PolynomialFilter) or np.ndim(value) == 0:
        return [value]
    return list(value)
