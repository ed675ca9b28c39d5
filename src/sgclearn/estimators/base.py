"""What every SGC estimator shares: checks, the fit over planned samples, and logits by `P F(S) (X Theta)`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import ANY, InputError, Setting, SgclearnWarning
from sgclearn.estimators.convergence import FitWarning, not_converged
from sgclearn.estimators.fitting import PreparedFit, SolverSettings
from sgclearn.estimators.labels import check_sample_weight
from sgclearn.estimators.loss import Link
from sgclearn.estimators.scaling import fit_scaling
from sgclearn.estimators.solvers.result import OnIteration
from sgclearn.estimators.threads import blas_threads_for
from sgclearn.features import Features
from sgclearn.filters import Wanted, hops_of
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph
from sgclearn.operators import Operator
from sgclearn.propagation.bounds import is_finite
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.propagation.design import Design, ExplicitDesign
from sgclearn.propagation.engines import Engine
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.implicit import build_designs
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.planner import Plan, make_plan
from sgclearn.propagation.propagate import check_filter, check_rows, product_dtype, propagate_product
from sgclearn.propagation.readout import Readout
from sgclearn.validation.matrices import check_not_tiny, validated
from sgclearn.validation.parameters import check_parameter

Array = NDArray[np.float64]

# The lowest training loss at which labelled nodes count as separated, where no weight decay bounds the weights.
_SEPARATED_LOSS = 1e-5
_SHORT_ROW = 16
GRAPH = Setting("graph", ANY)


@dataclass(frozen=True, eq=False)
class Problem:
    """Checked data of a fit: m samples, of which some are known."""

    features: NodeFeatures
    everything: Readout  # all m samples
    samples: NDArray[np.intp]  # numbers of those that are known
    known: NDArray[Any]  # what is known of each
    weights: Array

    @property
    def readout(self) -> Readout:
        """The readout of the known samples."""
        if len(self.samples) == self.everything.n_samples:
            return self.everything
        return self.everything.part(self.samples)

    def part(self, chosen: NDArray[Any]) -> Problem:
        """Some of the known samples only."""
        return replace(
            self, samples=self.samples[chosen], known=self.known[chosen], weights=self.weights[chosen]
        )

    def counted(self, weights: Array) -> Problem:
        """With these weights, and without the samples whose weight is zero."""
        counted = weights > 0
        if not counted.any():
            raise InputError(
                "class_weight leaves no labelled node",
                "zero for every class",
                "give one of them a weight",
                argument="class_weight",
            )
        weighted = replace(self, weights=weights)
        return weighted if counted.all() else weighted.part(counted)


class BaseSGC(BaseEstimator):  # type: ignore[misc]
    """The linear model `Z Theta + b` over propagated features, without its targets."""

    _plain: ClassVar[str] = "logistic regression"  # what is left without a graph
    _is_quadratic: ClassVar[bool] = False  # whether the loss is, so that it is solved at once
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
    weight_decay: Any
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
                raise InputError("X may be None only with a graph", "neither", ("pass ", GRAPH), argument="X")
            if not reset and not self.uses_identity_:
                raise InputError(
                    f"the model was fitted on {self.n_features_in_:,} features", "X=None", "pass them"
                )
            if not reset and graph.n_nodes != self.n_features_in_:
                raise InputError(
                    "a model without features knows only the nodes of its own graph",
                    f"{graph.n_nodes:,} nodes, fitted on {self.n_features_in_:,}",
                    "give the nodes features to predict new ones",
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

    def fit(
        self,
        X: Any,
        y: Any,
        graph: Graph | None = None,
        sample_weight: Any = None,
        *,
        readout: Any = None,
        on_progress: OnProgress | None = None,
        on_iteration: OnIteration | None = None,
    ) -> Self:
        """Fit to the samples whose y is known.

        Parameters
        ----------
        X : ndarray or sparse array (n, d), or None
            One row per node, in the order of `graph.ids`. None: the graph has no features (X = I, never built).
        y : array (m,) or (m, q)
            What is known of every sample; see the class for what stands for an unknown one.
        graph : Graph, optional
            None is the graph without edges: S = I, a plain linear model.
        sample_weight : array (m,), optional
        readout : sparse array (m, n), optional
            P: row i says which nodes make up sample i, and with what weight. Nodes are the samples if not given.
        on_progress, on_iteration : callable, optional
            Called as `f(done, of)` after every hop and every solver iteration, for progress.
        """
        wanted, weight_decay = check_filter(self.filter, self.n_hops), check_weight_decay(self.weight_decay)
        problem = self._problem(X, y, graph, readout, sample_weight)
        operator = self._operator(graph, self.normalization, self.gamma)
        settings, engine = self._settings(), self._engine()
        problem = problem.counted(self._weighted(problem.weights, problem.known))
        targets = self._targets(problem.known)
        self.plan_ = self._plan(problem, operator, wanted, targets[1].shape[1], settings, engine)
        parts = (self.plan_.chosen, on_progress, engine, self.plan_.sets, settings.precision)
        design = next(build_designs(operator, problem.features, problem.readout, [wanted], *parts))[1]
        self._keep(operator, wanted)
        self._solve(design, targets, problem.weights, weight_decay, settings, on_progress, on_iteration)
        self._predict_training(problem, operator, design, engine)
        return self

    def predict(
        self, X: Any, graph: Graph | None = None, nodes: Any = None, *, readout: Any = None
    ) -> NDArray[Any]:
        """Predict every node, some of them, or the samples of a readout.

        Parameters
        ----------
        X : ndarray or sparse array (n, d), or None
            Features of all nodes of the graph, new ones included.
        graph : Graph, optional
            The graph of the fit or any other: new nodes are predicted by passing the graph that has them.
        nodes : array of int or bool, optional
            Predict only these nodes, in this order; only their neighbourhood is computed.
        readout : sparse array (m, n), optional
            Predict these samples instead: row i says which nodes make up sample i.

        Notes
        -----
        Cost: O(nnz(X) C + K nnz(S) C), because `(S^K X) Theta = S^K (X Theta)`.
        """
        return self._decided(self._logits(X, graph, nodes, readout))

    def _labels(self, y: Any, n_samples: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Samples whose y is known, and what is known of them."""
        raise NotImplementedError

    def _targets(self, known: NDArray[Any]) -> tuple[type[Link], Array]:
        """The loss, and the targets (m, C) that it takes."""
        raise NotImplementedError

    def _weighted(self, weights: Array, known: NDArray[Any]) -> Array:
        """Weights of samples to learn from, from those that were given."""
        return weights

    def _decided(self, logits: Array) -> NDArray[Any]:
        """What is predicted where the logits are these."""
        raise NotImplementedError

    def _problem(self, X: Any, y: Any, graph: Graph | None, readout: Any, sample_weight: Any) -> Problem:
        """The checked data of a fit."""
        features = self._features(X, graph, reset=True)
        everything = Readout.given(readout, None, features.n_nodes)
        samples, known = self._labels(y, everything.n_samples)
        weights = check_sample_weight(sample_weight, everything.n_samples, samples)
        return Problem(features, everything, samples, known, weights)

    def _plan(
        self,
        problem: Problem,
        operator: Operator | None,
        wanted: Wanted | list[Wanted],
        n_outputs: int,
        settings: SolverSettings,
        engine: Engine,
        solves: int = 1,
        **search: Any,
    ) -> Plan:
        """How the samples are computed, in a fit and in the search before it; `search` is for `make_plan`."""
        compute = check_compute(self.compute)
        return make_plan(
            operator,
            problem.features,
            problem.readout,
            wanted,
            n_outputs,
            evaluations=solves * (100 if settings.solver == "lbfgs" else settings.iterations),
            predict_all=True,
            plan=compute.plan,
            memory_limit=compute.memory_limit,
            prices=engine.prices,
            vectors=settings.vectors,
            is_scaled=settings.scale is not None,
            itemsize=settings.precision.itemsize,
            quadratic=self._is_quadratic,
            **search,
        )

    def _keep(self, operator: Operator | None, wanted: Wanted) -> None:
        """Remember what prediction needs besides the weights."""
        self.n_hops_ = hops_of(wanted)
        if operator is None and self.n_hops_ > 0:
            warnings.warn(
                SgclearnWarning(
                    f"no graph was given, so {self.n_hops_} hops change nothing and this is plain {self._plain}: pass ",
                    *(GRAPH, " to fit, or ", Setting("n_hops", 0), " if that is meant."),
                ),
                stacklevel=3,
            )
        self.row_norm_ = self.row_norm
        self.filter_ = None if isinstance(wanted, int) else wanted
        self.normalization_ = operator.normalization if operator is not None else None
        self.gamma_ = operator.gamma if operator is not None else None
        self.uses_graph_ = operator is not None
        if hasattr(self, "predict_proba"):
            self.temperature_ = 1.0

    def _solve(
        self,
        design: Design,
        targets: tuple[type[Link], Array],
        weights: Array,
        weight_decay: float,
        settings: SolverSettings,
        on_progress: OnProgress | None,
        on_iteration: OnIteration | None,
    ) -> None:
        """Weights and bias, and how the solver ended."""
        link, Y = targets
        with blas_threads_for(float(design.shape[0]) * design.shape[1] * Y.shape[1]):
            # Samples that are not formed are walked to once, for the extremes of their columns.
            walked = None if isinstance(design, ExplicitDesign) else on_progress
            scaling = fit_scaling(design, settings.scale, walked)
            prepared = PreparedFit(design, Y, weights, link, settings, weight_decay, scaling=scaling)
            fit = prepared.finish(prepared.solve(weight_decay, on_iteration=on_iteration))
        self.coef_ = np.ascontiguousarray(fit.Theta.T)
        self.intercept_ = fit.b
        self.weight_decay_ = weight_decay
        self.n_iter_ = fit.result.n_iter
        self.gradient_ratio_ = fit.result.gradient_ratio
        self.converged_ = fit.result.converged
        self.loss_ = fit.result.loss
        self._warn_about_the_fit(settings, weight_decay)

    def _predict_training(
        self, problem: Problem, operator: Operator | None, design: Design, engine: Engine
    ) -> None:
        """Predict every sample of the fit, once."""
        if (
            isinstance(design, ExplicitDesign)
            and not design.is_sparse
            and len(problem.samples) == problem.everything.n_samples
        ):
            # Propagated already, and multiplied in the type of the features as everywhere.
            Theta = self.coef_.T
            dtype = product_dtype(design.dtype, Theta)
            with np.errstate(over="ignore", invalid="ignore"):
                logits = np.asarray(design.Z @ Theta.astype(dtype, copy=False), dtype=np.float64)
            logits = finite_logits(logits, self.intercept_)
        else:
            logits = self._logits_of(problem.features, operator, problem.everything, engine)
        self.transduction_logits_ = logits
        self.transduction_ = self._decided(logits)

    def _warn_about_the_fit(self, settings: SolverSettings, weight_decay: float) -> None:
        if settings.solver != "lbfgs":
            if not self.converged_:
                rate = f"choose a learning_rate below {settings.step:g}, or " if settings.has_rate else ""
                warnings.warn(
                    FitWarning(
                        *(
                            "the steps of ",
                            Setting("solver", settings.solver),
                            " led away from the optimum to ",
                        ),
                        f"a loss of {self.loss_:.1e}: {rate}scale the features.",
                    ),
                    stacklevel=4,
                )
            return
        if weight_decay == 0 and self.loss_ < _SEPARATED_LOSS and not self._is_quadratic:
            warnings.warn(
                FitWarning(
                    "the labelled nodes can be separated perfectly, so without weight decay there is no minimiser: "
                    f"stopped at a training loss of {self.loss_:.1e}; give a ",
                    *(Setting("weight_decay"), " > 0."),
                ),
                stacklevel=4,
            )
        elif not self.converged_:
            warning = not_converged(
                self.n_iter_, self.gradient_ratio_, settings.tol, ", or scale the features"
            )
            warnings.warn(warning, stacklevel=4)

    def _logits(self, X: Any, graph: Graph | None, nodes: Any, readout: Any = None) -> Array:
        """`P F(S) (X Theta) + b` (m, C)."""
        check_is_fitted(self)
        if graph is None and self.uses_graph_:
            raise InputError(
                "predict needs a graph because fit had one",
                "none",
                (
                    "pass ",
                    GRAPH,
                    " with one node per row of X (the graph of the fit, or another with new nodes)",
                ),
                argument="graph",
            )
        if graph is not None and not self.uses_graph_:
            raise InputError(
                "the model was fitted without a graph", "one to predict on", ("fit with ", GRAPH, " first")
            )
        features = self._features(X, graph, reset=False)
        operator = self._operator(graph, self.normalization_, self._gamma_choice())
        samples = Readout.given(readout, nodes, features.n_nodes)
        return self._logits_of(features, operator, samples, self._engine())

    def _logits_of(
        self, features: NodeFeatures, operator: Operator | None, samples: Readout, engine: Engine
    ) -> Array:
        wanted = self.n_hops_ if self.filter_ is None else self.filter_
        logits = propagate_product(operator, features, wanted, self.coef_.T, samples, engine)
        return finite_logits(logits, self.intercept_)

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
            "logits must be finite",
            "features and weights whose products are out of range",
            "give features of the size of those in the fit, as float64, or fit with features that are "
            "multiplied by a number that brings them near 1",
            argument="logits",
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
