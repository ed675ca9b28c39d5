"""Any number of labels a node: one sigmoid a label over the same propagated features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from sgclearn.errors import InputError
from sgclearn.estimators.base import BaseSGC, check_weight_decay
from sgclearn.estimators.classifier import DEFAULT_WEIGHT_DECAY
from sgclearn.estimators.labels import check_sample_weight
from sgclearn.estimators.loss import Sigmoid
from sgclearn.filters import PolynomialFilter
from sgclearn.graph import Graph
from sgclearn.propagation.compute import Compute
from sgclearn.propagation.propagate import DEFAULT_N_HOPS, check_filter
from sgclearn.validation.arrays import real_array


class SGCMultilabelClassifier(ClassifierMixin, BaseSGC):  # type: ignore[misc]
    """Simple Graph Convolution for nodes with several labels: `sigmoid(S^K X Theta + b)`.

    Minimises the mean over labelled nodes of the summed binary cross-entropies, plus
    `weight_decay / 2 (|Theta|^2 + |b|^2)`.

    Parameters
    ----------
    n_hops, normalization, gamma, filter, row_norm, scale, weight_decay, solver, fit_intercept, penalize_intercept
    max_iter, tol, learning_rate, batch_size, random_state, compute
        As in `SGCClassifier`.

    Attributes
    ----------
    classes_ : ndarray (L,)
        Numbers of the labels, 0 to L - 1.
    transduction_ : ndarray (n, L)
        Predicted labels of every node of the training graph.
    coef_, intercept_, plan_, n_iter_, converged_, gradient_ratio_, loss_
        As in `SGCClassifier`, one row of `coef_` a label.

    Examples
    --------
    >>> import numpy as np
    >>> from sgclearn import Graph, SGCMultilabelClassifier
    >>> graph = Graph.from_edges([(0, 1), (2, 3)])
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> Y = np.array([[1, 1, 0], [-1, -1, -1], [0, 1, 1], [-1, -1, -1]])  # a row of -1: not labelled
    >>> SGCMultilabelClassifier().fit(X, Y, graph=graph).predict(X, graph=graph)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 1, 1],
           [0, 1, 1]])
    """

    def __init__(
        self,
        n_hops: int = DEFAULT_N_HOPS,
        *,
        normalization: str = "sym",
        gamma: float | None = None,
        filter: PolynomialFilter | None = None,
        row_norm: str | None = None,
        scale: str | None = None,
        weight_decay: float = DEFAULT_WEIGHT_DECAY,
        solver: str = "lbfgs",
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-10,
        learning_rate: float | None = None,
        batch_size: int = 256,
        random_state: int | None = 2019,
        compute: Compute | None = None,
    ) -> None:
        self.n_hops = n_hops
        self.normalization = normalization
        self.gamma = gamma
        self.filter = filter
        self.row_norm = row_norm
        self.scale = scale
        self.weight_decay = weight_decay
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.random_state = random_state
        self.compute = compute

    def fit(
        self, X: Any, y: Any, graph: Graph | None = None, sample_weight: Any = None
    ) -> SGCMultilabelClassifier:
        """Fit to the labelled nodes.

        Parameters
        ----------
        X : ndarray or sparse array (n, d), or None
        y : array (n, L)
            1 where a node has a label, 0 where it has not; a row of -1 or NaN is a node without known labels.
        graph : Graph, optional
        sample_weight : array (n,), optional
        """
        wanted, weight_decay = check_filter(self.filter, self.n_hops), check_weight_decay(self.weight_decay)
        features = self._features(X, graph, reset=True)
        rows, targets = _labelled_rows(y, features.n_nodes)
        operator = self._operator(graph, self.normalization, self.gamma)
        weights = check_sample_weight(sample_weight, features.n_nodes, rows)
        self.classes_ = np.arange(targets.shape[1])
        logits = self._fit_linear(features, operator, rows, targets, weights, Sigmoid, wanted, weight_decay)
        self.transduction_ = (logits > 0).astype(np.int64)
        self.temperature_ = 1.0
        return self

    def decision_function(self, X: Any, graph: Graph | None = None, nodes: Any = None) -> NDArray[np.float64]:
        """Logit of every label (n, L)."""
        return self._logits(X, graph, nodes)

    def predict_proba(self, X: Any, graph: Graph | None = None, nodes: Any = None) -> NDArray[np.float64]:
        """Probability of every label (n, L); rows do not sum to one."""
        return Sigmoid.probabilities(self._logits(X, graph, nodes) / self.temperature_)

    def predict(self, X: Any, graph: Graph | None = None, nodes: Any = None) -> NDArray[np.int64]:
        """1 for every label more probable than not (n, L)."""
        return (self._logits(X, graph, nodes) > 0).astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags


def _labelled_rows(y: Any, n_nodes: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    if y is None:
        raise InputError("SGCMultilabelClassifier requires y to be passed, but the target y is None.")
    targets = real_array(y, "y").astype(np.float64)
    if targets.ndim != 2:
        raise InputError(
            f"y must have one row a node and one column a label: got shape {targets.shape}; "
            "for one label a node use SGCClassifier."
        )
    if len(targets) != n_nodes:
        raise InputError(f"y must have one row per row of X: got {len(targets):,} and {n_nodes:,} rows.")
    missing = np.isnan(targets) | (targets == -1)
    known = ~missing.any(axis=1)
    partly = int((missing.any(axis=1) & ~missing.all(axis=1)).sum())
    if partly:
        raise InputError(
            f"a row of y must be known whole or not at all: got {partly} rows with only some labels missing."
        )
    if not known.any():
        raise InputError(f"at least one node needs labels: got {n_nodes:,} nodes, none of them labelled.")
    if not np.isin(targets[known], (0.0, 1.0)).all():
        raise InputError("y must hold 0 and 1 (or -1, NaN for a whole row without labels): got other values.")
    return np.flatnonzero(known), targets[known]
