"""Propagation as a step of a scikit-learn pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import ANY, InputError, Setting
from sgclearn.filters import PolynomialFilter
from sgclearn.operators.operator import check_operator_choice
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.propagation.node_features import NodeFeatures, check_row_norm
from sgclearn.propagation.propagate import check_filter, propagate
from sgclearn.validation.matrices import validated

if TYPE_CHECKING:
    from sgclearn.graph import Graph


class SGCTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn features X into `S^K X`, for pipelines.

    Parameters
    ----------
    graph : Graph, optional
        The graph whose nodes are the rows of X. It may also be given to `fit` and `transform`, which is how
        another graph is transformed. Without one S = I: rows pass through.
    n_hops : int >= 0, default 2
    normalization : {"sym", "rw", "cheby"}, default "sym"
    gamma : float >= 0, optional
    filter : PolynomialFilter, optional
    row_norm : {None, "l1", "l2"}
    compute : Compute, optional
        As in `propagate`.

    Notes
    -----
    Cross-validation slices the rows of X, and a graph cannot be sliced without changing it: propagate all
    nodes first, split after.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sgclearn import Graph, SGCTransformer
    >>> graph = Graph.from_edges([(0, 1), (2, 3)])
    >>> X = np.array([[1.0], [0.0], [-1.0], [0.0]])
    >>> model = make_pipeline(SGCTransformer(graph), LogisticRegression()).fit(X, [1, 1, 0, 0])
    >>> model.predict(X)
    array([1, 1, 0, 0])
    """

    def __init__(
        self,
        graph: Graph | None = None,
        n_hops: int = 2,
        *,
        normalization: str = "sym",
        gamma: float | None = None,
        filter: PolynomialFilter | None = None,
        row_norm: str | None = None,
        compute: Compute | None = None,
    ) -> None:
        self.graph = graph
        self.n_hops = n_hops
        self.normalization = normalization
        self.gamma = gamma
        self.filter = filter
        self.row_norm = row_norm
        self.compute = compute

    def fit(self, X: Any, y: Any = None, graph: Graph | None = None) -> SGCTransformer:
        """Check the settings and remember the number of features; there is nothing to learn."""
        check_filter(self.filter, self.n_hops)
        check_operator_choice(self.normalization, self.gamma)
        check_compute(self.compute).load_engine()
        check_row_norm(self.row_norm)
        validated(self, X, reset=True)
        self.uses_graph_ = graph is not None or self.graph is not None
        return self

    def fit_transform(self, X: Any, y: Any = None, graph: Graph | None = None) -> Any:
        """Fit, then `S^K X` on the same graph."""
        return self.fit(X, y, graph).transform(X, graph)

    def transform(self, X: Any, graph: Graph | None = None) -> Any:
        """`S^K X` on the graph given here, or on the transformer's own."""
        check_is_fitted(self)
        X = validated(self, X, reset=False)
        graph = self.graph if graph is None else graph
        if graph is None:
            if self.uses_graph_:
                remedy = ("pass ", Setting("graph", ANY), " with one node per row of X")
                raise InputError(
                    "transform needs a graph because fit had one", "none", remedy, argument="graph"
                )
            return NodeFeatures(X, row_norm=self.row_norm).take()
        return propagate(
            X,
            graph,
            self.n_hops,
            normalization=self.normalization,
            gamma=self.gamma,
            filter=self.filter,
            row_norm=self.row_norm,
            compute=self.compute,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.requires_fit = True
        return tags
