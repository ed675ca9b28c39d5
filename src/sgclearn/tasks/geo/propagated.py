"""Propagated labels: places from the known places of the neighbours, without any parameter."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sgclearn.graph import Graph
from sgclearn.propagation import propagate
from sgclearn.propagation.compute import Compute
from sgclearn.tasks.geo.cells import Cells
from sgclearn.tasks.geo.model import DEFAULT_BUCKET, DEFAULT_N_HOPS
from sgclearn.tasks.geo.users import check_points

Array = NDArray[np.float64]


def propagated_labels(
    y: ArrayLike,
    graph: Graph,
    *,
    n_hops: int = DEFAULT_N_HOPS,
    bucket: int = DEFAULT_BUCKET,
    normalization: str = "sym",
    gamma: float | None = None,
    compute: Compute | None = None,
) -> tuple[Array, NDArray[np.bool_]]:
    """Predict each node's cell by `argmax S^K Y`, with Y (n, C) the one-hot cells of the known places.

    What an honest table shows next to a model: nothing is learned.

    Returns
    -------
    points : ndarray (n, 2)
        Median of the cell; of the largest cell for nodes without a known place within K hops.
    reached : bool array (n,)
        Whether there is a known place within K hops.
    """
    places = check_points(y, graph.n_nodes, lambda row: f"node {graph.ids[row]!r}")
    known = np.flatnonzero(~np.isnan(places[:, 0]))
    cells = Cells.from_points(places[known], bucket)
    Y = np.zeros((graph.n_nodes, len(cells)))
    Y[known, cells.of(places[known])] = 1.0
    scores = propagate(
        Y, graph, n_hops, normalization=normalization, gamma=gamma, output="dense", compute=compute
    )
    reached = scores.max(axis=1) > 0
    chosen = np.where(reached, scores.argmax(axis=1), int(cells.sizes.argmax()))
    return np.asarray(cells.centres[chosen]), reached
