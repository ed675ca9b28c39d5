"""Propagated labels: places from the known places of the neighbours, without any parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sgclearn.graph import Graph
from sgclearn.propagation import propagate
from sgclearn.propagation.compute import Compute
from sgclearn.tasks.geo.cells import Cells
from sgclearn.tasks.geo.model import DEFAULT_BUCKET, DEFAULT_N_HOPS
from sgclearn.tasks.geo.users import check_points

Array = NDArray[np.float64]


class PropagatedLabels(BaseEstimator):  # type: ignore[misc]
    """Predict each node's cell by `argmax S^K Y`, with Y (n, C) the one-hot cells of the known places.

    What an honest table shows next to a model: nothing is learned, and no text is read.

    Parameters
    ----------
    n_hops, bucket, normalization, gamma, compute
        As in `GeoSGC`.

    Attributes
    ----------
    cells_ : Cells
    reached_ : bool array (n,)
        Whether there is a known place within K hops; where there is none, the largest cell is predicted.

    Examples
    --------
    >>> graph = Graph.from_edges([("ada", "bob"), ("bob", "cid"), ("dan", "eve")])
    >>> y = [[47.4, 8.5], [np.nan] * 2, [47.4, 8.5], [40.7, -74.0], [np.nan] * 2]
    >>> PropagatedLabels(1, bucket=2).fit(None, y, graph).predict(None, graph, nodes=[1, 4])
    array([[ 47.4,   8.5],
           [ 40.7, -74. ]])
    """

    def __init__(
        self,
        n_hops: int = DEFAULT_N_HOPS,
        *,
        bucket: int = DEFAULT_BUCKET,
        normalization: str = "sym",
        gamma: float | None = None,
        compute: Compute | None = None,
    ) -> None:
        self.n_hops = n_hops
        self.bucket = bucket
        self.normalization = normalization
        self.gamma = gamma
        self.compute = compute

    def fit(self, X: Any, y: ArrayLike, graph: Graph) -> PropagatedLabels:
        """Propagate the known places of y (n, 2); X is not used, as in other estimators without features."""
        points = check_points(y, graph.n_nodes, lambda row: f"node {graph.ids[row]!r}")
        known = np.flatnonzero(~np.isnan(points[:, 0]))
        self.cells_ = Cells.from_points(points[known], self.bucket)
        Y = np.zeros((graph.n_nodes, len(self.cells_)))
        Y[known, self.cells_.of(points[known])] = 1.0
        scores = propagate(
            Y,
            graph,
            self.n_hops,
            normalization=self.normalization,
            gamma=self.gamma,
            output="dense",
            compute=self.compute,
        )
        self.reached_ = np.asarray(scores.max(axis=1) > 0)
        largest = int(self.cells_.sizes.argmax())
        self.codes_ = np.where(self.reached_, scores.argmax(axis=1), largest)
        return self

    def predict(self, X: Any = None, graph: Graph | None = None, nodes: Any = None) -> Array:
        """Latitude and longitude (m, 2) of the nodes of the fit; the arguments but `nodes` are not used."""
        check_is_fitted(self, "codes_")
        codes = self.codes_ if nodes is None else self.codes_[nodes]
        return np.asarray(self.cells_.centres[codes])
