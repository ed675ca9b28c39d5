"""Reader of the npz files of Shchur et al. (Coauthor and Amazon), as their authors published them.

They hold an adjacency matrix, a feature matrix and labels as plain arrays, and names of nodes and features as
pickled objects, which stay unread.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.datasets.dataset import LabelledGraph
from sgclearn.graph import Graph
from sgclearn.tables.archives import csr_of_parts, load_arrays
from sgclearn.validation.reading import reading

_PARTS = ("data", "indices", "indptr", "shape")
_KEYS = (*(f"adj_{part}" for part in _PARTS), *(f"attr_{part}" for part in _PARTS), "labels")


def read_gnn_benchmark(path: Path, class_names: tuple[str, ...] = ()) -> LabelledGraph:
    """Read `adj_*` and `attr_*` (CSR matrices) and `labels`.

    Parameters
    ----------
    path : Path
        An npz file; none of its pickled objects is loaded.
    class_names : tuple of str
        Names where they are known: those of the file may be pickled.

    Notes
    -----
    An edge counts once whether the file has it in one direction or in both, and loops stay.
    """
    with reading(path, "an npz file of gnn-benchmark", "get it again", by_hand=False):
        arrays = load_arrays(path, _KEYS)
        adjacency, X = (_matrix(path, arrays, name) for name in ("adj", "attr"))
        ends = adjacency.tocoo()
        graph = Graph.from_edges(
            ends.row.astype(np.int64), ends.col.astype(np.int64), n_nodes=adjacency.shape[0]
        )
        y = arrays["labels"].astype(np.int64)
        if (
            X.shape[0] != len(y)
            or adjacency.shape != (len(y), len(y))
            or not 0 <= y.min() <= y.max() < len(y)
        ):
            raise ValueError(f"{len(y)} labels, features {X.shape} and adjacency {adjacency.shape}")

    names = class_names or tuple(f"class {k}" for k in range(int(y.max()) + 1))
    return LabelledGraph(graph, X, y, names, None, None)


def _matrix(path: Path, arrays: dict[str, NDArray[np.generic]], name: str) -> sp.csr_array:
    data, indices, indptr, shape = (arrays[f"{name}_{part}"] for part in _PARTS)
    matrix = csr_of_parts(path, data.astype(np.float64), indices, indptr, shape)
    matrix.eliminate_zeros()
    return matrix
