"""What every SGC estimator shares: checks, the fit over planned rows, and logits by `S^K (X Theta)`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.estimators.fitting import PreparedFit, SolverSettings
from sgclearn.estimators.loss import Link
from sgclearn.estimators.scaling import fit_scaling
from sgclearn.estimators.solvers.result import OnIteration
from sgclearn.estimators.threads import blas_threads_for
from sgclearn.features import Features
from sgclearn.filters import PolynomialFilter, coefficients_of
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph
from sgclearn.operators import Operator
from sgclearn.propagation.bounds import is_finite
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.propagation.design import ExplicitDesign, build_designs
from sgclearn.propagation.engines import Engine
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.neighbourhood import is_everyone
from sgclearn.propagation.planner import make_plan
from sgclearn.propagation.propagate import check_nodes, check_rows, product_dtype, propagate_product
from sgclearn.propagation.source import NodeFeatures
from sgclearn.validation.matrices import check_not_tiny, validated
from sgclearn.validation.parameters import check_parameter

if TYPE_CHECKING:
    Array = NDArray[np.float64]

# The lowest training loss at which labelled nodes count as separated, where no weight decay bounds the weights.
_SEPARATED_LOSS = 1e-5
_SHORT_ROW = 16


class BaseSGC(BaseEstimator):  # type: ignore[misc]
    """The linear model `Z Theta + b` over propagated features, without its targets."""

    n_hops: Any
    filter: Any
    normalization: Any
    gamma: Any
    row_norm: str | None
    scale: str | None
    solver: str
    fit_intercept: bool
    penalize_intercept: bool
    max_iter: int | None
    tol: float
    learning_rate: float | None
    batch_size: int
    random_state: int | None
    compute: Compute | None
    n_features_in_: int
    uses_identity_: bool

    def _settings(self) -> SolverSettings:
        return SolverSettings(
            self.solver,
            self.scale,
            self.fit_intercept,
            self.penalize_intercept,
            self.max_iter,
            self.tol,
            self.learning_rate,
            self.batch_size,
            self.random_state,
        )

    def _features(self, X: Any, graph: Graph | None, *, reset: bool) -> NodeFeatures:
        """X checked against the graph and, after the fit, against the features of the fit."""
        if graph is not None:
            check_graph(graph)
        if isinstance(X, Features):
            X = X.matrix if graph is None else X.align(graph)
        if X is None:
            if graph is None:
                raise InputError("X may be None only with a graph: got neither; pass graph=.")
            if not reset and not self.uses_identity_:
                raise InputError(
                    f"the model was fitted on {self.n_features_in_:,} features: got X=None; pass them."
                )
            if not reset and graph.n_nodes != self.n_features_in_:
                raise InputError(
                    "a model without features knows only the nodes of its own graph: got "
                    f"{graph.n_nodes:,} nodes, fitted on {self.n_features_in_:,}; "
                    "give the nodes features to predict new ones."
                )
            if reset:
                self.n_features_in_ = graph.n_nodes
                self.uses_identity_ = True
                if hasattr(self, "feature_names_in_"):  # of an earlier fit
                    del self.feature_names_in_
            return NodeFeatures(None, graph.n_nodes, self.row_norm if reset else self.row_norm_)
        row_norm = self.row_norm if reset else self.row_norm_
        features = self._unconverted(X, row_norm, reset)
        if features is None:
            X = validated(self, X, reset=reset)
            features = NodeFeatures(X, row_norm=row_norm)
        if reset:
            if (
                self.scale is None and features.row_scale is None
            ):  # either would bring them to a size of its own
                check_not_tiny(features.largest)
            self.n_features_in_ = features.n_columns
            self.uses_identity_ = False
        if graph is not None:
            check_rows(features, graph)
        return features

    def _unconverted(self, X: Any, row_norm: str | None, reset: bool) -> NodeFeatures | None:
        """The features where X is what `validate_data` would make of it, told in microseconds instead of half a
        millisecond; None where it must be asked.
        """
        is_csr = isinstance(X, sparse.csr_array) and isinstance(X.data, np.ndarray)
        if (not is_csr and type(X) is not np.ndarray) or X.ndim != 2 or 0 in X.shape:
            return None
        if X.dtype not in (np.float64, np.float32) or hasattr(self, "feature_names_in_"):
            return None
        if not reset and X.shape[1] != self.n_features_in_:
            return None
        try:
            return NodeFeatures(X, row_norm=row_norm)
        except InputError:  # values that are not finite: scikit-learn has its own words for them
            return None

    def _engine(self) -> Engine:
        return check_compute(self.compute).load_engine()

    def _operator(self, graph: Graph | None, normalization: Any, gamma: float | None) -> Operator | None:
        return None if graph is None else Operator(graph, normalization, gamma)

    def _fit_linear(
        self,
        features: NodeFeatures,
        operator: Operator | None,
        rows: NDArray[np.intp],
        Y: Array,
        sample_weight: Array,
        link: type[Link],
        wanted: int | PolynomialFilter,
        weight_decay: float,
        on_progress: OnProgress | None = None,
        on_iteration: OnIteration | None = None,
    ) -> Array:
        """Plan, form the labelled rows, solve, keep what was learned, and give the logits of every node (n, C)."""
        compute = check_compute(self.compute)
        engine = compute.load_engine()
        settings = self._settings()
        n_hops = len(coefficients_of(wanted)) - 1
        if operator is None and n_hops > 0:
            warnings.warn(
                f"no graph was given, so {n_hops} hops change nothing and this is plain logistic regression: pass "
                "graph= to fit, or n_hops=0 if that is meant.",
                SgclearnWarning,
                stacklevel=3,
            )
        counted = sample_weight > 0
        if not counted.any():
            raise InputError(
                "class_weight leaves no labelled node: got zero for every class; give one of them a weight."
            )
        if not counted.all():
            rows, Y, sample_weight = rows[counted], Y[counted], sample_weight[counted]
        self.plan_ = make_plan(
            operator,
            features,
            rows,
            n_hops,
            Y.shape[1],
            evaluations=settings.iterations if settings.solver != "lbfgs" else 100,
            predict_all=True,
            plan=compute.plan,
            memory_limit=compute.memory_limit,
            prices=engine.prices,
        )
        parts = (self.plan_.chosen, on_progress, engine, self.plan_.sets, settings.precision)
        design = next(build_designs(operator, features, rows, [wanted], *parts))[1]
        with blas_threads_for(float(len(rows)) * features.n_columns * Y.shape[1]):
            # Rows that are not formed are walked to once, for the extremes of their columns.
            walked = on_progress if self.plan_.chosen == "implicit" else None
            scaling = fit_scaling(design, settings.scale, walked)
            prepared = PreparedFit(design, Y, sample_weight, link, settings, weight_decay, scaling=scaling)
            fit = prepared.finish(prepared.solve(weight_decay, on_iteration=on_iteration))
        self.coef_ = np.ascontiguousarray(fit.Theta.T)
        self.intercept_ = fit.b
        self.n_hops_ = n_hops
        self.row_norm_ = self.row_norm
        self.filter_ = wanted if isinstance(wanted, PolynomialFilter) else None
        self.weight_decay_ = weight_decay
        self.normalization_ = operator.normalization if operator is not None else None
        self.gamma_ = operator.gamma if operator is not None else None
        self.uses_graph_ = operator is not None
        self.n_iter_ = fit.result.n_iter
        self.gradient_ratio_ = fit.result.gradient_ratio
        self.converged_ = fit.result.converged
        self.loss_ = fit.result.loss
        self._warn_about_the_fit(settings, weight_decay)
        if (
            isinstance(design, ExplicitDesign)
            and not design.is_sparse
            and is_everyone(rows, features.n_nodes)
        ):
            # Propagated already, and multiplied in the type of the features as everywhere.
            dtype = product_dtype(design.dtype, fit.Theta)
            with np.errstate(over="ignore", invalid="ignore"):
                logits = np.asarray(design.Z @ fit.Theta.astype(dtype, copy=False), dtype=np.float64)
            return finite_logits(logits, fit.b)
        return self._logits_of(features, operator, engine=engine)

    def _warn_about_the_fit(self, settings: SolverSettings, weight_decay: float) -> None:
        if settings.solver != "lbfgs":
            if not self.converged_:
                rate = f"choose a learning_rate below {settings.step:g}, or " if settings.has_rate else ""
                warnings.warn(
                    f"the steps of solver={settings.solver!r} led away from the optimum to a loss of {self.loss_:.1e}: "
                    f"{rate}scale the features.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
            return
        if weight_decay == 0 and self.loss_ < _SEPARATED_LOSS:
            warnings.warn(
                "the labelled nodes can be separated perfectly, so without weight decay there is no minimiser: stopped "
                f"at a training loss of {self.loss_:.1e}; give a weight_decay > 0.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not self.converged_:
            warnings.warn(
                f"the solver stopped after {self.n_iter_} iterations with a gradient of {self.gradient_ratio_:.1e} of "
                f"the start's, above tol={settings.tol:g}: raise max_iter, tol or weight_decay, or scale the features.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _logits(self, X: Any, graph: Graph | None, nodes: Any) -> Array:
        """`(S^K (X Theta))[nodes] + b` (m, C)."""
        check_is_fitted(self)
        if graph is None and self.uses_graph_:
            raise InputError(
                "predict needs a graph because fit had one: pass graph= with one node per row of X "
                "(the graph of the fit, or another one with new nodes)."
            )
        if graph is not None and not self.uses_graph_:
            raise InputError(
                "the model was fitted without a graph: got one to predict on; fit with graph= first."
            )
        features = self._features(X, graph, reset=False)
        operator = self._operator(graph, self.normalization_, self._gamma_choice())
        return self._logits_of(features, operator, nodes)

    def _logits_of(
        self,
        features: NodeFeatures,
        operator: Operator | None,
        nodes: Any = None,
        engine: Engine | None = None,
    ) -> Array:
        engine = engine or self._engine()
        wanted = self.n_hops_ if self.filter_ is None else self.filter_
        if nodes is None:
            logits = propagate_product(operator, features, wanted, self.coef_.T, None, engine)
            return finite_logits(logits, self.intercept_)
        distinct, inverse = np.unique(check_nodes(nodes, features.n_nodes), return_inverse=True)
        logits = propagate_product(operator, features, wanted, self.coef_.T, distinct, engine)
        return finite_logits(logits[inverse], self.intercept_)

    def _gamma_choice(self) -> float | None:
        return self.gamma_ if self.normalization_ != "cheby" else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def finite_logits(logits: Array, b: Array) -> Array:
    """`logits + b`, in place; an error where they are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        logits = add_to_columns(logits, b)
    if not is_finite(logits):
        raise InputError(
            "logits must be finite: got features and weights whose products are out of range; give features of the "
            "size of those in the fit, as float64, or fit with features that are multiplied by a number that brings "
            "them near 1."
        )
    return logits


def add_to_columns(logits: Array, b: Array) -> Array:
    """`logits + b`, in place; a column at a time where rows are short, since numpy works along them."""
    if len(b) > _SHORT_ROW:
        logits += b
        return logits
    for column, value in enumerate(b):
        logits[:, column] += value
    return logits


def check_weight_decay(weight_decay: Any) -> float:
    """A finite number >= 0."""
    return float(check_parameter("weight_decay", weight_decay))
