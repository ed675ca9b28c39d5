"""A dataset of labelled nodes as samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sgclearn.datasets import GraphDataset
from sgclearn.runs.splits import SPLITS
from sgclearn.tasks.protocol import Samples


def samples_of(data: GraphDataset) -> Samples:
    """The nodes of a dataset as samples, their labels as positions in `class_names`; one-hot features are None.

    Examples
    --------
    >>> from sgclearn import load_dataset
    >>> print(samples_of(load_dataset("debian")))
    debian: 29,582 nodes, 72,841 edges, 4,751 features, 12 classes
    """
    n_nodes = data.graph.n_nodes
    split = np.full(n_nodes, None, dtype=object)
    for part in SPLITS:
        split[getattr(data, part)] = part
    X = None if is_identity(data.X, n_nodes) else data.X
    ids = np.asarray(data.graph.ids)
    return Samples(data.name, data.graph, X, data.y, split, ids, feature_names=data.feature_names)


def is_identity(X: Any, n_nodes: int) -> bool:
    """Whether features are one-hot: such are never multiplied with."""
    is_square = sp.issparse(X) and X.shape == (n_nodes, n_nodes) and X.nnz == n_nodes
    return is_square and bool((X.diagonal() == 1.0).all())
