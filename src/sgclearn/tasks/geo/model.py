"""SGC that predicts places: a classifier of cells, and the median of the most probable one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import InputError
from sgclearn.estimators import SGCClassifier
from sgclearn.graph import Graph
from sgclearn.propagation.compute import Compute
from sgclearn.tables.messages import counted
from sgclearn.tasks.geo.cells import Cells
from sgclearn.tasks.geo.sphere import haversine
from sgclearn.tasks.geo.two_maps import fit_classifier_of_two_maps
from sgclearn.tasks.geo.users import check_points
from sgclearn.validation.parameters import COUNT

Array = NDArray[np.float64]
DEFAULT_N_HOPS, DEFAULT_BUCKET, DEFAULT_WEIGHT_DECAY = 3, 50, 1e-5


class GeoSGC(BaseEstimator):  # type: ignore[misc]
    """Place the nodes of a graph on the globe: `softmax(S^K X Theta + b)` over cells.

    The known places are cut into cells of at most `bucket` each (see `Cells`), SGC classifies the nodes, and the
    predicted place is the median of the known places in the most probable cell.

    Parameters
    ----------
    n_hops : int >= 0, default 3
        K; zero is text alone.
    bucket : int >= 1, default 50
        Most known places in a cell: small cells are precise, large ones have more to learn from.
    weight_decay : float >= 0, default 1e-5
    hidden : int, optional
        The paper's form with two linear maps, `S^K X W1 W2 + b` with so many columns between them, and weight decay
        on both; one map if not given. See `sgclearn.tasks.geo.two_maps`; about 4e-4 is a good weight decay.
    normalization : {"sym", "rw", "cheby"}, default "sym"
    gamma : float >= 0, optional
    row_norm, scale, max_iter, tol
        As in `SGCClassifier`; two maps take no scale.
    random_state : int or None, default 2019
        Of the start of two maps.
    compute : Compute, optional

    Attributes
    ----------
    cells_ : Cells
    classifier_ : SGCClassifier
        Its classes are the cells.
    cell_errors_ : ndarray (C, C)
        Row k: mean distance in km from the known places of cell k to the centre of each cell.

    Notes
    -----
    Paper: Section 5 (user geolocation), Table 5, after Rahimi et al. 2018.

    Examples
    --------
    >>> from sgclearn import Graph
    >>> graph = Graph.from_edges([("ada", "bob"), ("bob", "cid"), ("dan", "eve"), ("eve", "fay")])
    >>> y = np.array([[47.4, 8.5], [np.nan] * 2, [47.3, 8.6], [40.7, -74.0], [np.nan] * 2, [40.8, -73.9]])
    >>> model = GeoSGC(bucket=2).fit(None, y, graph)
    >>> model.predict(None, graph, nodes=[1, 4]).round(2)
    array([[ 47.35,   8.55],
           [ 40.75, -73.95]])
    """

    def __init__(
        self,
        n_hops: int = DEFAULT_N_HOPS,
        *,
        bucket: int = DEFAULT_BUCKET,
        weight_decay: float = DEFAULT_WEIGHT_DECAY,
        hidden: int | None = None,
        normalization: str = "sym",
        gamma: float | None = None,
        row_norm: str | None = None,
        scale: str | None = None,
        max_iter: int | None = None,
        tol: float = 1e-6,
        random_state: int | None = 2019,
        compute: Compute | None = None,
    ) -> None:
        self.n_hops = n_hops
        self.bucket = bucket
        self.weight_decay = weight_decay
        self.hidden = hidden
        self.normalization = normalization
        self.gamma = gamma
        self.row_norm = row_norm
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.compute = compute

    def fit(self, X: Any, y: ArrayLike, graph: Graph | None = None, **progress: Any) -> GeoSGC:
        """Cut the known places into cells and learn to tell them apart.

        Parameters
        ----------
        X : matrix (n, d), or None
            None: the graph alone, see `SGCClassifier.fit`.
        y : array (n, 2)
            Latitude and longitude in degrees, NaN where the place is not known.
        graph : Graph, optional
        **progress
            `on_progress` and `on_iteration` of `SGCClassifier.fit`.
        """
        points = check_points(y, len(np.asarray(y)), lambda row: f"row {row}")
        known = ~np.isnan(points[:, 0])
        cells = Cells.from_points(points[known], self.bucket)
        if len(cells) < 2:
            raise InputError(
                "known places must fill at least two cells",
                f"{counted(int(known.sum()), 'place')} in one",
                f"give places that differ, or a bucket below {max(int(known.sum()), 2)}",
                argument="bucket",
            )
        codes = np.full(len(points), -1)
        codes[known] = cells.of(points[known])
        names = (
            "n_hops", "weight_decay", "normalization", "gamma", "row_norm", "scale", "max_iter", "tol", "compute"
        )  # fmt: skip
        classifier = SGCClassifier(**{name: getattr(self, name) for name in names})
        if self.hidden is None:
            classifier.fit(X, codes, graph, **progress)
        else:
            COUNT.check("hidden", self.hidden)
            fit_classifier_of_two_maps(
                classifier, X, codes, graph, self.hidden, self.random_state, **progress
            )
        self._keep(cells, classifier, mean_distances(points[known], codes[known], cells.centres))
        return self

    def _keep(self, cells: Cells, classifier: SGCClassifier, cell_errors: Array) -> None:
        self.cells_, self.classifier_, self.cell_errors_ = cells, classifier, cell_errors
        self.n_features_in_ = classifier.n_features_in_

    @property
    def weight_decay_(self) -> float:
        """The weight decay of the fit."""
        return float(self.classifier_.weight_decay_)

    def predict(self, X: Any, graph: Graph | None = None, nodes: Any = None) -> Array:
        """Latitude and longitude (m, 2) of all nodes, or of some."""
        return np.asarray(self.cells_.centres[self.predict_proba(X, graph, nodes).argmax(axis=1)])

    def predict_proba(self, X: Any, graph: Graph | None = None, nodes: Any = None) -> Array:
        """Probability of every cell (m, C)."""
        check_is_fitted(self, "classifier_")
        return np.asarray(self.classifier_.predict_proba(X, graph, nodes))

    def expected_errors(self, probabilities: Array) -> Array:
        """Kilometres that the predicted places are off on average, if the probabilities are right (m,).

        `sum_k p_k E_kc` for the predicted cell c, with E of `cell_errors_`.
        """
        chosen = probabilities.argmax(axis=1)
        return np.asarray((probabilities * self.cell_errors_[:, chosen].T).sum(axis=1))


def mean_distances(points: Array, codes: NDArray[np.intp], centres: Array) -> Array:
    """Mean distance from the points (m, 2) of each of the C codes to each centre, (C, C) in km."""
    sums = np.empty((len(centres), len(centres)))
    for cell, centre in enumerate(centres):
        sums[:, cell] = np.bincount(
            codes, haversine(points, np.broadcast_to(centre, points.shape)), len(centres)
        )
    return sums / np.bincount(codes, minlength=len(centres))[:, None]
