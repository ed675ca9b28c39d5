"""Reader of the original Planetoid files of Cora, Citeseer and Pubmed.

They are pickles of Python 2, read by `inert_pickle`, which runs nothing of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.datasets.dataset import LabelledGraph
from sgclearn.datasets.inert_pickle import read_pickle
from sgclearn.datasets.splits import Split
from sgclearn.errors import DataFileError
from sgclearn.graph import Graph
from sgclearn.tables.archives import csr_of_parts
from sgclearn.validation.reading import reading

N_VAL = 500  # of the public split: the nodes that follow the training nodes


def read_planetoid(files: Mapping[str, Path], class_names: tuple[str, ...] = ()) -> LabelledGraph:
    """Assemble graph, features, labels and public split.

    Rows of `allx` come first; row i of `tx` belongs to node `test.index[i]`. Nodes that neither covers (15 in
    Citeseer) have no features and no label. Duplicates in the adjacency lists count once, self-loops stay.

    Parameters
    ----------
    files : mapping of str to Path
        Keys are the parts of `registry.PLANETOID_PARTS`.
    class_names : tuple of str
        Names where they are known: the files have none.
    """
    allx, tx = (_matrix(files[part]) for part in ("allx", "tx"))
    ally, ty, train = (_one_hot(files[part]) for part in ("ally", "ty", "y"))
    test = _test_index(files["test.index"])
    n_nodes = int(test.max()) + 1
    position = np.concatenate([np.arange(len(ally)), test])
    fits = (
        allx.shape[0] == len(ally) >= len(train) + N_VAL
        and tx.shape[0] == len(ty) == len(test)
        and len(np.unique(test)) == len(test)
        and test.min() >= len(ally)
        and n_nodes <= 2 * len(position)  # a few nodes may be missing (Citeseer: 15), never most
        and allx.shape[1] == tx.shape[1]
        and ally.shape[1] == ty.shape[1]
    )
    if not fits:
        raise DataFileError(
            "Planetoid files must fit together",
            f"{allx.shape[0]}, {len(ally)}, {tx.shape[0]}, {len(ty)} and {len(test)} rows in allx, ally, tx, ty "
            f"and test.index of {files['allx'].parent}",
            "get them again",
        )
    rows = sp.vstack([allx, tx], format="coo")
    X = sp.csr_array((rows.data, (position[rows.row], rows.col)), shape=(n_nodes, allx.shape[1]))
    labels = np.zeros((n_nodes, ally.shape[1]))
    labels[position] = np.concatenate([ally, ty])
    y = np.where(labels.any(axis=1), labels.argmax(axis=1), -1)
    public = Split(np.arange(len(train)), np.arange(len(train), len(train) + N_VAL), np.sort(test))
    names = class_names or tuple(f"class {k}" for k in range(ally.shape[1]))
    return LabelledGraph(_graph(files["graph"], n_nodes), X, y, names, None, public)


def _matrix(path: Path) -> sp.csr_array:
    stored = read_pickle(path)
    with reading(path, "a Planetoid file with a sparse matrix", "get it again", by_hand=False):
        return csr_of_parts(
            path, stored.data.astype(np.float64), stored.indices, stored.indptr, stored._shape
        )


def _one_hot(path: Path) -> NDArray[Any]:
    rows = read_pickle(path)
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "iuf":
        got = f"{type(rows).__name__} of shape {getattr(rows, 'shape', '?')}"
        raise DataFileError(f"{path} must have one row of 0 and 1 for each node", got, "get it again")
    return rows


def _test_index(path: Path) -> NDArray[np.int64]:
    with reading(path, "a file of one integer a line", "get it again", by_hand=False):
        test = np.array(path.read_text(encoding="ascii").split(), dtype=np.int64)
        if len(test) == 0:
            raise ValueError("it is empty")
        return test


def _graph(path: Path, n_nodes: int) -> Graph:
    adjacency = read_pickle(path)
    with reading(path, f"a file with the neighbours of {n_nodes} nodes", "get it again", by_hand=False):
        lengths = [len(neighbours) for neighbours in adjacency.values()]
        source = np.repeat(np.array(list(adjacency), dtype=np.int64), lengths)
        target = np.array([node for neighbours in adjacency.values() for node in neighbours], dtype=np.int64)
        return Graph.from_edges(source, target, n_nodes=n_nodes)
