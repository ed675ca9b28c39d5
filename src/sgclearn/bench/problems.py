"""Problems as folders of arrays, so that every contender reads the same numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sgclearn.datasets.dataset import GraphDataset
from sgclearn.datasets.generators import make_block_graph
from sgclearn.graph import Graph

PARTS = ("train", "val", "test")


def small_dataset() -> GraphDataset:
    """A drawn graph with sparse features, for runs that only see whether everything works."""
    data = make_block_graph(600, 6000, 4, 60)
    return replace(data, name="drawn", X=sparse.csr_array((data.X > 1).astype(np.float32)))


def write_problem(
    folder: Path, graph: Graph | None, X: Any, data: Any = None, **settings: Any
) -> dict[str, Any]:
    """Write graph, features, labels and split; gives the sizes for the report.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    graph : Graph, optional
        None where only rows of features matter.
    X : ndarray or sparse array (n, d)
        Kept in float32, as every contender computes.
    data : GraphDataset or mapping, optional
        Gives y and, where there is one, the split.
    settings : JSON values
        Seen by every contender as `problem.settings`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sizes: dict[str, Any] = {"n_nodes": X.shape[0], "n_features": X.shape[1]}
    if graph is not None:
        np.save(folder / "indptr.npy", graph.indptr)
        np.save(folder / "indices.npy", graph.indices)
        sizes |= {"n_edges": graph.n_edges, "n_stored": graph.n_stored}
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        X.sort_indices()
        sizes["n_stored_features"] = int(X.nnz)
        np.save(folder / "X_data.npy", X.data.astype(np.float32))
        for part in ("indices", "indptr"):
            np.save(folder / f"X_{part}.npy", getattr(X, part).astype(np.int32))
        settings["X_shape"] = list(X.shape)
    else:
        np.save(folder / "X.npy", np.asarray(X, dtype=np.float32))
    for name in ("y", *PARTS) if data is not None else ():
        value = data.get(name) if isinstance(data, dict) else getattr(data, name)
        if value is not None:
            np.save(folder / f"{name}.npy", value)
            sizes[f"n_{name}"] = len(value)
    sizes.pop("n_y", None)
    (folder / "problem.json").write_text(json.dumps(settings))
    return sizes
