"""Graphs in npz files that others wrote: a scipy sparse matrix, or an array of edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from sgclearn.errors import ANY, DataFileError, InputError, Setting
from sgclearn.graph.build import Policy
from sgclearn.graph.graph import Graph
from sgclearn.graph.ids import NodeIds
from sgclearn.graph.storage import FORMAT_KEY, GRAPH_KEYS, graph_from_arrays
from sgclearn.tables.archives import Archive
from sgclearn.tables.messages import counted


def read_npz(
    archive: Archive, use_weights: bool, nodes: NodeIds | None, directed: bool | None, policy: Policy
) -> Graph:
    """Read a graph from any npz file that holds one; `directed` None leaves it to the file."""
    names = archive.names
    if "ids" in names and nodes is not None:
        raise InputError(
            "nodes goes with files without ids", "one with ids", "leave it out", argument="nodes"
        )
    if FORMAT_KEY in names:
        stored = graph_from_arrays(archive.path, archive.arrays(GRAPH_KEYS))
        _check_count(stored.n_nodes, nodes)
        policy = replace(policy, directed=stored.directed if directed is None else directed)
        ids = stored.node_ids if nodes is None else nodes
        return _from_matrix(stored.to_scipy(), ids, use_weights, policy)
    if {"format", "shape", "data"} <= set(names):
        matrix = archive.matrix()
        _check_count(matrix.shape[0], nodes)
        return _from_matrix(matrix, nodes, use_weights, policy)
    if "edges" in names:
        return _from_edges(archive.arrays(("edges", "weights", "ids")), use_weights, nodes, policy)
    raise DataFileError(
        f"{archive.path} must hold a scipy sparse matrix or an array called edges",
        ", ".join(names) or "no array",
        "rename the array, or use Graph.from_edges",
    )


def _check_count(n_rows: int, nodes: NodeIds | None) -> None:
    if nodes is not None and len(nodes) != n_rows:
        raise InputError(
            "the matrix must have one row a node",
            (f"{counted(n_rows, 'row')} and {counted(len(nodes), 'id')} from ", Setting("nodes", ANY)),
            "give the id of each row in the order of the rows",
        )


def _from_matrix(matrix: Any, ids: NodeIds | None, use_weights: bool, policy: Policy) -> Graph:
    return Graph.from_scipy(
        matrix if use_weights else matrix.astype(bool),
        ids=None if ids is None else ids.values,
        directed=policy.directed,
        duplicates=policy.duplicates,
        self_loops=policy.self_loops,
    )


def _from_edges(
    arrays: dict[str, NDArray[Any]], use_weights: bool, nodes: NodeIds | None, policy: Policy
) -> Graph:
    """Edges are row numbers; of `ids` if the file has them, else of the graph, unless `nodes` names ids."""
    ids = NodeIds(arrays["ids"]) if "ids" in arrays else None
    graph = Graph.from_edges(
        arrays["edges"],
        weights=arrays.get("weights") if use_weights else None,
        nodes=nodes,
        n_nodes=None if ids is None else len(ids),
        directed=policy.directed,
        duplicates=policy.duplicates,
        self_loops=policy.self_loops,
    )
    return graph if ids is None else graph.with_ids(ids)
