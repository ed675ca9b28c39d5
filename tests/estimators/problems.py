"""Small fits that several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn import Graph

from zoo import random_features, random_graph


def labelled_problem(
    n_nodes: int = 40, n_columns: int = 6, n_classes: int = 3, n_labelled: int = 20, seed: int = 31
) -> tuple[Graph, NDArray[Any], NDArray[Any]]:
    """A random graph with features, and labels for its first nodes; every class has one."""
    graph = random_graph(n_nodes, 2 * n_nodes, seed)
    X = random_features(n_nodes, n_columns, seed + 1)
    y = np.full(n_nodes, -1)
    y[:n_labelled] = np.arange(n_labelled) % n_classes
    return graph, X, y
