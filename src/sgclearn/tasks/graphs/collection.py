"""Many graphs as one: a block-diagonal graph whose blocks are the samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import InputError, InputTypeError
from sgclearn.graph import Graph
from sgclearn.graph.build import Rows, index_dtype
from sgclearn.graph.ids import NodeIds
from sgclearn.tables.messages import counted
from sgclearn.validation.matrices import as_dense
from sgclearn.validation.parameters import shown


@dataclass(frozen=True, eq=False, repr=False)
class GraphCollection:
    """G graphs of n nodes in all; the arrays of nodes have one graph after the other.

    Parameters
    ----------
    graph : Graph
        All of them: A is block-diagonal.
    starts : integer array (G + 1,)
        Graph i has the nodes `starts[i]`, ..., `starts[i + 1] - 1`.
    node_labels : object array (n,), or None
        Discrete labels of nodes, such as elements.
    features : ndarray (n, d), or None
        Numbers of nodes.
    ids : object array (G,)
    y : array (G,) or (G, q), or None
        Classes, or numbers to predict.
    folds : integer array (G,), or None
        Fold in which a graph is a test graph; -1 for one that is in training always.

    Examples
    --------
    >>> path, triangle = Graph.from_edges([(0, 1), (1, 2)]), Graph.from_edges([(0, 1), (1, 2), (0, 2)])
    >>> stack_graphs([path, triangle])
    GraphCollection(2 graphs, 6 nodes, 5 edges)
    """

    graph: Graph
    starts: NDArray[np.intp]
    node_labels: NDArray[Any] | None = None
    features: NDArray[np.float64] | None = None
    ids: NDArray[Any] | None = None
    y: NDArray[Any] | None = None
    folds: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        facts = [
            counted(len(self), "graph"),
            counted(self.n_nodes, "node"),
            counted(self.graph.n_edges, "edge"),
        ]
        return f"GraphCollection({', '.join(facts)})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes n of all graphs."""
        return self.graph.n_nodes

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Number of nodes of each graph (G,)."""
        return np.diff(self.starts)

    @cached_property
    def graph_of(self) -> NDArray[np.intp]:
        """Graph of every node (n,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def neighbours(self) -> NDArray[np.intp]:
        """Number of neighbours of every node (n,), whatever the weights; a loop counts once."""
        return np.diff(self.graph.indptr).astype(np.intp)

    def subset(self, which: NDArray[Any]) -> GraphCollection:
        """Some of the graphs, by position or mask."""
        which = np.flatnonzero(which) if np.asarray(which).dtype == bool else np.asarray(which, dtype=np.intp)
        sizes = self.sizes[which]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        nodes = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], sizes)
        A = self.graph.to_scipy()[nodes]
        shift = np.repeat(self.starts[which] - starts[:-1], sizes)
        columns = A.indices - np.repeat(
            shift, np.diff(A.indptr)
        )  # a row has neighbours in its own block only
        weights = A.data if self.graph.is_weighted else None
        graph = _trusted(A.indptr, columns, weights, self.graph.directed)

        def rows(values: Any, chosen: NDArray[np.intp]) -> Any:
            return None if values is None else values[chosen]

        return GraphCollection(
            graph,
            starts,
            rows(self.node_labels, nodes),
            rows(self.features, nodes),
            rows(self.ids, which),
            rows(self.y, which),
            rows(self.folds, which),
        )

    def with_targets(self, y: Any) -> GraphCollection:
        """The same graphs with other targets."""
        y = np.asarray(y)
        if len(y) != len(self):
            raise InputError(
                "y must have one entry a graph", f"{len(y):,} for {len(self):,} graphs", "align it"
            )
        return replace(self, y=y)


def stack_graphs(
    graphs: Iterable[Any],
    *,
    node_labels: Sequence[Any] | None = None,
    features: Sequence[Any] | None = None,
    y: Any = None,
    ids: Sequence[Any] | None = None,
) -> GraphCollection:
    """Stack graphs of any kind into a collection.

    Parameters
    ----------
    graphs : iterable of Graph, networkx.Graph, PyG Data or scipy sparse matrix
        Undirected. The node attribute `label` of networkx graphs becomes their node labels, `x` of PyG data their
        features.
    node_labels : sequence of arrays (n_i,), optional
    features : sequence of arrays (n_i, d), optional
    y : array (G,) or (G, q), optional
    ids : sequence, optional
        Numbers from 0 if not given.
    """
    if isinstance(graphs, GraphCollection):
        return graphs if y is None else graphs.with_targets(y)
    entries = _listed(graphs, "graphs")
    if not entries:
        raise InputError("graphs must be at least one", "none", "check the list", argument="graphs")
    made = [_as_graph(entry, place) for place, entry in enumerate(entries)]
    for place, graph in enumerate(made):
        if graph.n_nodes == 0:
            raise InputError(f"graph {place} must have a node", "none", "leave it out", argument="graphs")
        if graph.directed:
            raise InputError(
                f"graph {place} must be undirected",
                "a directed one",
                "build it with directed=False",
                argument="graphs",
            )
    starts = np.concatenate([[0], np.cumsum([graph.n_nodes for graph in made])]).astype(np.intp)
    node_labels = _labels_of(entries) if node_labels is None else _listed(node_labels, "node_labels")
    features = _features_of(entries) if features is None else _listed(features, "features")
    collection = GraphCollection(
        _stacked(made, starts),
        starts,
        None if node_labels is None else _stacked_labels(node_labels, starts),
        None if features is None else _stacked_features(features, starts),
        np.arange(len(made)).astype(object) if ids is None else np.array([*ids, None], dtype=object)[:-1],
    )
    return collection if y is None else collection.with_targets(y)


def _listed(values: Any, name: str) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise InputTypeError(
            f"{name} must be a list with an entry a graph", shown(values), "give a list"
        ) from None


def _as_graph(entry: Any, place: int) -> Graph:
    if isinstance(entry, Graph):
        return entry
    if sp.issparse(entry) or isinstance(entry, np.ndarray):
        return Graph.from_scipy(sp.csr_array(entry), directed=False)
    if hasattr(entry, "edge_index"):
        return Graph.from_pyg(entry, directed=False)
    if hasattr(entry, "adj") and hasattr(entry, "nodes"):
        return Graph.from_networkx(entry, directed=False)
    raise InputTypeError(
        f"graph {place} must be a Graph, a networkx graph, PyG data or a scipy matrix", type(entry).__name__,
        "convert it first", argument="graphs",
    )  # fmt: skip


def _trusted(indptr: Any, indices: Any, weights: Any, directed: bool = False) -> Graph:
    dtype = index_dtype(len(indptr) - 1, len(indices))
    return Graph._trusted(
        Rows(indptr.astype(dtype), indices.astype(dtype), weights), directed, NodeIds(len(indptr) - 1)
    )


def _stacked(made: list[Graph], starts: NDArray[np.intp]) -> Graph:
    """One graph of all; blocks keep the order of their rows, so that the rows stay sorted."""
    offsets = np.concatenate([[0], np.cumsum([graph.n_stored for graph in made])])
    indptr = np.concatenate(
        [[0], *(graph.indptr[1:] + offset for graph, offset in zip(made, offsets, strict=False))]
    )
    indices = np.concatenate([graph.indices + start for graph, start in zip(made, starts, strict=False)])
    weights = None
    if any(graph.is_weighted for graph in made):
        weights = np.concatenate(
            [np.ones(graph.n_stored) if graph.weights is None else graph.weights for graph in made]
        )
    return _trusted(indptr, indices, weights)


def _labels_of(entries: list[Any]) -> list[Any] | None:
    """Node labels that networkx graphs carry, where all of them do."""
    found = []
    for entry in entries:
        if not hasattr(entry, "adj"):
            return None
        labels = [attributes.get("label") for _, attributes in entry.nodes(data=True)]
        if None in labels:
            return None
        found.append(labels)
    return found


def _features_of(entries: list[Any]) -> list[Any] | None:
    """Node features that PyG data carry, where all of them do."""
    if not all(hasattr(entry, "edge_index") and getattr(entry, "x", None) is not None for entry in entries):
        return None
    return [np.asarray(entry.x) for entry in entries]


def _stacked_labels(labels: list[Any], starts: NDArray[np.intp]) -> NDArray[Any]:
    sizes = np.diff(starts)
    for place, (entry, size) in enumerate(zip(labels, sizes, strict=False)):
        if len(entry) != size:
            raise InputError(
                f"graph {place} must have one label a node", f"{len(entry)} for {size} nodes", "align them",
                argument="node_labels",
            )  # fmt: skip
    if len(labels) != len(sizes):
        raise InputError(
            "node_labels must have one entry a graph", f"{len(labels)} for {len(sizes)} graphs", "align them",
            argument="node_labels",
        )  # fmt: skip
    flat = [value.item() if isinstance(value, np.generic) else value for entry in labels for value in entry]
    return np.array([*flat, None], dtype=object)[:-1]


def _stacked_features(features: list[Any], starts: NDArray[np.intp]) -> NDArray[np.float64]:
    sizes = np.diff(starts)
    if len(features) != len(sizes):
        raise InputError(
            "features must have one entry a graph", f"{len(features)} for {len(sizes)} graphs", "align them",
            argument="features",
        )  # fmt: skip
    matrices = [as_dense(entry, f"features of graph {place}") for place, entry in enumerate(features)]
    width = matrices[0].shape[1]
    for place, (matrix, size) in enumerate(zip(matrices, sizes, strict=True)):
        if len(matrix) != size:
            raise InputError(
                f"features of graph {place} must have one row a node", f"{len(matrix)} for {size} nodes", "align them",
                argument="features",
            )  # fmt: skip
        if matrix.shape[1] != width:
            raise InputError(
                f"features of graph {place} must have as many columns as those of graph 0, {width}",
                f"{matrix.shape[1]}", "give every graph the same features", argument="features",
            )  # fmt: skip
    return np.concatenate(matrices)
