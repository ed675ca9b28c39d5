"""Reader of Reddit as the authors of the paper had it: `reddit.npz` and `reddit_adj.npz`.

`reddit.npz` holds `feats` (n, d), and for each part of the split the positions of its posts (`train_index`,
`val_index`, `test_index`) and their classes (`y_train`, `y_val`, `y_test`). `reddit_adj.npz` is the adjacency
matrix A as `scipy.sparse.save_npz` writes it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sgclearn.datasets.dataset import LabelledGraph
from sgclearn.datasets.splits import Split
from sgclearn.graph import Graph
from sgclearn.tables.archives import load_arrays, load_matrix
from sgclearn.validation.reading import reading

_SPLIT = ("train", "val", "test")
_KEYS = ("feats", *(f"y_{part}" for part in _SPLIT), *(f"{part}_index" for part in _SPLIT))


def read_reddit(path: Path, adjacency: Path) -> LabelledGraph:
    """Assemble graph, features, labels and public split.

    The graph has the edges of `A + A^T`, each once and without weight. Posts that are in no part have the label
    -1; the features are those of the file, not standardised.

    Parameters
    ----------
    path : Path
        `reddit.npz`.
    adjacency : Path
        `reddit_adj.npz`.
    """
    arrays = load_arrays(path, _KEYS)
    ends = load_matrix(adjacency).tocoo()
    expected = f"a file with the arrays {', '.join(_KEYS)} for the nodes of {adjacency.name}"
    with reading(path, expected, "get both files again", by_hand=False):
        X = arrays["feats"]
        n_nodes = len(X)
        if X.ndim != 2 or X.dtype.kind not in "fiu" or ends.shape != (n_nodes, n_nodes):
            raise ValueError(
                f"features {X.shape} of type {X.dtype} beside an adjacency matrix of shape {ends.shape}"
            )
        graph = Graph.from_edges(ends.row.astype(np.int64), ends.col.astype(np.int64), n_nodes=n_nodes)
        y = np.full(n_nodes, -1, dtype=np.int64)
        places = []
        for part in _SPLIT:
            index, labels = (_integers(arrays[name]) for name in (f"{part}_index", f"y_{part}"))
            if (
                index.shape != labels.shape
                or index.min() < 0
                or not 0 <= labels.min() <= labels.max() < n_nodes
            ):
                raise ValueError(f"{index.shape} positions and {labels.shape} labels for {part}")
            y[index] = labels
            places.append(np.sort(index).astype(np.intp))

    names = tuple(f"class {k}" for k in range(int(y.max()) + 1))
    return LabelledGraph(graph, X, y, names, None, Split(*places))


def _integers(values: NDArray[np.generic]) -> NDArray[np.int64]:
    whole = values.astype(np.int64)
    if values.ndim != 1 or (whole != values).any():
        raise ValueError(f"an array of shape {values.shape} and type {values.dtype} instead of whole numbers")
    return whole
