"""Any number of labels a node: one sigmoid a label over the same propagated features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from sgclearn.errors import InputError
from sgclearn.estimators.base import BaseSGC
from sgclearn.estimators.classifier import DEFAULT_WEIGHT_DECAY
from sgclearn.estimators.loss import Link, Sigmoid
from sgclearn.graph import Graph
from sgclearn.propagation.compute import Compute
from sgclearn.propagation.propagate import DEFAULT_N_HOPS, Filters
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

    In `fit`, y (m, L) is 1 where a sample has a label and 0 where it has not; a row of -1 or NaN is a sample without
    known labels.

    Attributes
    ----------
    classes_ : ndarray (L,)
        Numbers of the labels, 0 to L - 1.
    transduction_ : ndarray (m, L)
        Predicted labels of every sample of the fit.
    transduction_proba_, transduction_logits_, coef_, intercept_, plan_, n_iter_, converged_, gradient_ratio_, loss_
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
        filter: Filters = None,
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

    def _labels(self, y: Any, n_samples: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        samples, targets = _labelled_rows(y, n_samples)
        self.classes_ = np.arange(targets.shape[1])
        return samples, targets

    def _targets(self, known: NDArray[np.float64]) -> tuple[type[Link], NDArray[np.float64]]:
        return Sigmoid, known

    def _decided(self, logits: NDArray[np.float64]) -> NDArray[np.int64]:
        return (logits > 0).astype(np.int64)

    @property
    def transduction_proba_(self) -> NDArray[np.float64]:
        """Probability of every label (m, L) for every sample of the fit."""
        return Sigmoid.probabilities(self.transduction_logits_ / self.temperature_)

    def decision_function(
        self, X: Any, graph: Graph | None = None, nodes: Any = None, *, readout: Any = None
    ) -> NDArray[np.float64]:
        """Logit of every label (m, L)."""
        return self._logits(X, graph, nodes, readout)

    def predict_proba(
        self, X: Any, graph: Graph | None = None, nodes: Any = None, *, readout: Any = None
    ) -> NDArray[np.float64]:
        """Probability of every label (m, L); rows do not sum to one."""
        return Sigmoid.probabilities(self._logits(X, graph, nodes, readout) / self.temperature_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags


def _labelled_rows(y: Any, n_samples: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    if y is None:
        raise InputError(
            "SGCMultilabelClassifier requires y to be passed, but the target y is None", argument="y"
        )
    targets = real_array(y, "y").astype(np.float64)
    if targets.ndim != 2:
        raise InputError(
            "y must have one row a node and one column a label",
            f"shape {targets.shape}",
            "for one label a node use SGCClassifier",
            argument="y",
        )
    if len(targets) != n_samples:
        raise InputError(
            "y must have one row per row of X", f"{len(targets):,} and {n_samples:,} rows", argument="y"
        )
    missing = np.isnan(targets) | (targets == -1)
    known = ~missing.any(axis=1)
    partly = int((missing.any(axis=1) & ~missing.all(axis=1)).sum())
    if partly:
        raise InputError(
            "a row of y must be known whole or not at all", f"{partly} rows with only some labels missing"
        )
    if not known.any():
        raise InputError("at least one node needs labels", f"{n_samples:,} nodes, none of them labelled")
    if not np.isin(targets[known], (0.0, 1.0)).all():
        raise InputError(
            "y must hold 0 and 1 (or -1, NaN for a whole row without labels)", "other values", argument="y"
        )
    return np.flatnonzero(known), targets[known]
