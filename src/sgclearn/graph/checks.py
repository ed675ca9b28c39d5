"""Arguments that are graphs, or nodes of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.graph.graph import Graph
from sgclearn.validation.arrays import plain_array
from sgclearn.validation.parameters import check_type


def check_graph(graph: Any, name: str = "graph") -> None:
    """A `Graph`, or an error that says how to make one."""
    check_type(graph, Graph, name, "build one with Graph.from_scipy, Graph.from_networkx or Graph.from_edges")


def positions_of(nodes: Any, n_nodes: int) -> NDArray[np.intp]:
    """Positions of the named nodes, from positions or a mask."""
    array = plain_array(nodes, "nodes")
    if array.dtype == bool:
        if array.shape != (n_nodes,):
            raise InputError(
                "a mask of nodes must have one entry a node", f"shape {array.shape}, not ({n_nodes},)"
            )
        return np.flatnonzero(array)
    if array.size == 0 and array.ndim == 1:
        return np.zeros(0, dtype=np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            "nodes must be row numbers or a mask",
            f"dtype {array.dtype} and shape {array.shape}",
            "graph.positions(ids) turns ids into row numbers",
            argument="nodes",
        )
    if array.min() < 0 or array.max() >= n_nodes:
        raise InputError(
            f"nodes must lie between 0 and {n_nodes - 1}", f"{array.min()} to {array.max()}", argument="nodes"
        )
    return array.astype(np.intp, copy=False)
