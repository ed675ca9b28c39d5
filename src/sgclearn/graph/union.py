"""Two graphs in one: new nodes and edges join an old graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sgclearn.errors import ANY, InputError, Setting
from sgclearn.graph.build import Duplicates, Policy, SelfLoops, build_rows
from sgclearn.graph.converters import endpoints, make_graph
from sgclearn.graph.graph import Graph
from sgclearn.graph.ids import NodeIds
from sgclearn.tables.messages import counted
from sgclearn.validation.parameters import check_type


def union(old: Graph, new: Graph, duplicates: Duplicates, self_loops: SelfLoops) -> Graph:
    """Join two graphs; see `Graph.union`."""
    check_type(new, Graph, "other", "build one with Graph.from_edges")
    if old.directed != new.directed:
        kinds = ["directed" if graph.directed else "undirected" for graph in (old, new)]
        raise InputError(
            "both graphs must be directed or both undirected",
            f"{kinds[0]} and {kinds[1]}",
            ("build the second one with the ", Setting("directed", ANY), " of the first"),
        )
    ids, positions = old.node_ids.join(new.node_ids)
    old_source, old_target, old_weights = _edges(old)
    new_source, new_target, new_weights = _edges(new)
    weights = None
    if old.is_weighted or new.is_weighted:
        weights = np.concatenate([old_weights, new_weights])
    rows = build_rows(
        np.concatenate([old_source, positions[new_source]]),
        np.concatenate([old_target, positions[new_target]]),
        weights,
        len(ids),
        Policy(old.directed, duplicates, self_loops),
        ids.name,
    )
    return Graph._trusted(rows, old.directed, ids)


def _edges(graph: Graph) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """Every edge once, shape (n_edges,) each: of an undirected graph the upper triangle."""
    source, target = graph._sources(), graph.indices
    weights = np.ones(graph.n_stored) if graph.weights is None else graph.weights
    if graph.directed:
        return source, target, weights
    once = source <= target
    return source[once], target[once], weights[once]


def extend(
    graph: Graph,
    source: ArrayLike | Iterable[Any],
    target: ArrayLike | Iterable[Any] | None,
    weights: ArrayLike | None,
    new_ids: ArrayLike | Iterable[Any],
    duplicates: Duplicates,
    self_loops: SelfLoops,
) -> Graph:
    """Attach new nodes; see `Graph.extend`."""
    new = NodeIds(new_ids)
    ids, positions = graph.node_ids.join(new)
    known = positions[positions < graph.n_nodes]
    if len(known):
        raise InputError(
            "new_ids must not be in the graph yet",
            f"{ids.name(int(known[0]))!r} ({counted(len(known), 'known id')})",
            "leave them out, edges to them are allowed anyway",
            argument="new_ids",
        )
    added = make_graph(
        *endpoints(source, target),
        weights,
        ids,
        Policy(graph.directed, duplicates, self_loops),
        remedy="add the node to new_ids=",
    )
    return union(graph, added, duplicates, self_loops)
