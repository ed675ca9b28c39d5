"""Classes and numbers of whole graphs by one linear model over pooled hops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import InputError
from sgclearn.estimators import SGCClassifierCV
from sgclearn.estimators.base import check_weight_decay
from sgclearn.estimators.labels import as_labels
from sgclearn.estimators.loss import Softmax
from sgclearn.propagation.compute import Compute
from sgclearn.propagation.propagate import check_n_hops
from sgclearn.tasks.graphs.collection import GraphCollection, stack_graphs
from sgclearn.tasks.graphs.node_features import NodeEncoder
from sgclearn.tasks.graphs.pools import check_pools, pool_width, pooled_rows

Array = NDArray[np.float64]
DEFAULT_POOLS = ("sum", "mean", "max", "std")
DEFAULT_DECAYS = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
SEARCH_TOL = 1e-4


class BaseGraphModel(BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share: from graphs to rows, and choosing the hops."""

    n_hops: Any
    pools: Any
    normalization: Any
    gamma: Any
    compute: Compute | None

    def _hops(self) -> list[int]:
        given = self.n_hops
        hops = sorted({check_n_hops(k) for k in (given if isinstance(given, list | tuple) else [given])})
        if not hops:
            raise InputError("n_hops must be at least one number", "none", "give one", argument="n_hops")
        return hops

    def _learn_rows(self, graphs: GraphCollection, n_hops: int) -> Array:
        self.pools_ = check_pools(self.pools)
        self.encoder_ = NodeEncoder.learn(graphs)
        return self._rows(graphs, n_hops)

    def _rows(self, graphs: GraphCollection, n_hops: int) -> Array:
        X = self.encoder_.encode(graphs)
        return pooled_rows(graphs, X, n_hops, self.pools_, self.normalization, self.gamma, self.compute)

    def _width(self, n_hops: int) -> int:
        """Columns of the rows for so many hops."""
        return (n_hops + 1) * pool_width(self.pools_, len(self.encoder_.names))

    def _outputs(self, graphs: Any) -> Array:
        check_is_fitted(self, "coef_")
        rows = self._rows(stack_graphs(graphs), self.n_hops_)
        return np.asarray(rows @ self.coef_.T + self.intercept_)


class SGCGraphClassifier(ClassifierMixin, BaseGraphModel):  # type: ignore[misc]
    """Classes of whole graphs: `softmax([pool(S^k X)] Theta + b)`, hops and pools side by side.

    Parameters
    ----------
    n_hops : int or sequence of int, default (2, 5)
        K: the rows have all hops from 0 to K. Several are tried in folds over the graphs of `fit`.
    pools : sequence of {"sum", "mean", "max", "std", "quantiles"}
        Sum and mean are linear in the nodes and explained exactly; the others as pooled values.
    normalization, gamma
        Of S; see `Operator`. `normalization="rw", gamma=0.0`, the default, takes the mean over neighbours alone, and
        so keeps what is an even number of steps away apart from the rest.
    weight_decay : float or sequence of float
        Of the standardised columns; several are tried in the same folds.
    cv : int or list of (train, validation), default 3
    class_weight : None, "balanced" or dict
    random_state : int, default 2019
        Of the folds.
    compute : Compute, optional

    Attributes
    ----------
    classes_ : ndarray (C,)
    coef_ : ndarray (C, (K + 1) w)
    intercept_ : ndarray (C,)
    n_hops_, weight_decay_, best_score_
        What was chosen, and its accuracy in the folds.
    constant_ : object
        The most frequent class, which the constant predictor says of every graph.
    encoder_ : NodeEncoder

    Examples
    --------
    >>> from sgclearn import Graph
    >>> from sgclearn.tasks.graphs import SGCGraphClassifier
    >>> rings = [Graph.from_edges([(i, (i + 1) % n) for i in range(n)]) for n in range(4, 12)]
    >>> stars = [Graph.from_edges([(0, i) for i in range(1, n)]) for n in range(4, 12)]
    >>> model = SGCGraphClassifier(cv=2).fit(rings + stars, ["ring"] * 8 + ["star"] * 8)
    >>> model.predict([Graph.from_edges([(i, (i + 1) % 15) for i in range(15)])]).tolist()
    ['ring']
    """

    def __init__(
        self,
        n_hops: int | Sequence[int] = (2, 5),
        *,
        pools: Sequence[str] = DEFAULT_POOLS,
        normalization: str = "rw",
        gamma: float | None = 0.0,
        weight_decay: float | Sequence[float] = DEFAULT_DECAYS,
        cv: Any = 3,
        class_weight: Any = None,
        random_state: int | None = 2019,
        compute: Compute | None = None,
    ) -> None:
        self.n_hops = n_hops
        self.pools = pools
        self.normalization = normalization
        self.gamma = gamma
        self.weight_decay = weight_decay
        self.cv = cv
        self.class_weight = class_weight
        self.random_state = random_state
        self.compute = compute

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """Choose hops and weight decay in folds, then learn from all graphs.

        Parameters
        ----------
        graphs : GraphCollection, or list of graphs that `stack_graphs` takes
        y : array (G,), optional
            Class of each graph; those of the collection if not given.
        """
        hops = self._hops()
        collection = stack_graphs(graphs)
        labels = check_classes(collection, collection.y if y is None else y)
        # As numbers from 0: among classes of its own -1 may be one, and is no missing label.
        self.classes_, codes = np.unique(labels, return_inverse=True)
        rows = self._learn_rows(collection, hops[-1])
        best: SGCClassifierCV | None = None
        for n_hops in hops:
            model = self._search().fit(rows[:, : self._width(n_hops)], codes)
            if best is None or model.best_score_ > best.best_score_:
                best, self.n_hops_ = model, n_hops
        if best is None:
            raise InputError("n_hops must be at least one number", "none", "give one", argument="n_hops")
        self.coef_, self.intercept_ = best.coef_, best.intercept_
        self.weight_decay_, self.best_score_ = best.weight_decay_, float(best.best_score_)
        self.n_iter_, self.converged_ = best.n_iter_, best.converged_
        self.constant_ = self.classes_[int(np.bincount(codes).argmax())]
        return self

    def _search(self) -> SGCClassifierCV:
        given = self.weight_decay
        decays = [check_weight_decay(a) for a in (given if isinstance(given, list | tuple) else [given])]
        return SGCClassifierCV(
            0,
            weight_decay=decays,
            scale="standard",
            cv=self.cv,
            calibration="none",
            penalize_intercept=False,
            class_weight=self.class_weight,
            tol=SEARCH_TOL,
            random_state=self.random_state,
            compute=self.compute,
        )

    def decision_function(self, graphs: Any) -> Array:
        """Logits (G, C)."""
        logits = self._outputs(graphs)
        return logits if logits.shape[1] > 1 else np.hstack([np.zeros_like(logits), logits])

    def predict_proba(self, graphs: Any) -> Array:
        """Probability of every class (G, C)."""
        return Softmax.probabilities(self.decision_function(graphs))

    def predict(self, graphs: Any) -> NDArray[Any]:
        """The most probable class of every graph (G,)."""
        return np.asarray(self.classes_[self.decision_function(graphs).argmax(axis=1)])

    def score(self, graphs: Any, y: Any = None) -> float:
        """Share of the graphs that are predicted right."""
        collection = stack_graphs(graphs)
        labels = check_classes(collection, collection.y if y is None else y, least=1)
        return float(np.mean(self.predict(collection) == labels))


def check_classes(graphs: GraphCollection, y: Any, least: int = 2) -> NDArray[Any]:
    """One class a graph, of two different ones or more."""
    if y is None:
        raise InputError("y must have a class for every graph", "none", "pass y=", argument="y")
    labels = as_labels(y)
    if labels.ndim != 1 or len(labels) != len(graphs):
        raise InputError(
            "y must have one class a graph", f"shape {labels.shape} for {len(graphs):,} graphs", "align it",
            argument="y",
        )  # fmt: skip
    if len(set(labels.tolist())) < least:
        raise InputError(
            "y must have two classes or more", "one", "add graphs of another class", argument="y"
        )
    return labels
