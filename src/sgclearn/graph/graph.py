"""The graph: rows of neighbours, ids, and nothing that can change."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sgclearn.errors import InputError, InputTypeError
from sgclearn.graph.build import Duplicates, Rows, SelfLoops, check_rows
from sgclearn.graph.converters import Converters
from sgclearn.graph.ids import Ids, NodeIds
from sgclearn.tables.messages import counted
from sgclearn.validation.arrays import plain_array, real_array
from sgclearn.validation.parameters import check_dtype, check_parameter


class Graph(Converters):
    """A graph with n nodes, as the canonical CSR rows of its adjacency matrix A.

    An edge source -> target is `A[source, target] = weight > 0`, so row i lists the nodes that node i points
    to, and the degree of i is the sum of row i. An undirected graph has A symmetric.

    Use one of the `from_...` constructors or `read_edges`; this one takes rows that are canonical already.

    Parameters
    ----------
    indptr : integer array, shape (n + 1,)
        Row i occupies entries `indptr[i]:indptr[i + 1]`.
    indices : integer array, shape (nnz,)
        Neighbours, ascending within each row, each once.
    weights : array, shape (nnz,), optional
        Positive and finite; None means that every edge weighs 1.
    directed : bool
        False promises that A is symmetric, which is checked.
    ids : array-like of hashables, optional
        Ids in node order; 0..n-1 if not given.

    Notes
    -----
    A graph cannot be changed, its arrays are read-only, and copying it costs nothing. It has no `shape` and
    no length, so that scikit-learn passes it on whole and never cuts it into rows.

    Examples
    --------
    >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "cas"), ("bob", "ann")])
    >>> graph
    Graph(3 nodes, 2 edges, undirected, unweighted)
    >>> graph.degrees()
    array([1., 2., 1.])
    >>> graph.ids
    array(['ann', 'bob', 'cas'], dtype=object)
    """

    __slots__ = ("__weakref__", "_looped", "directed", "indices", "indptr", "node_ids", "weights")

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[np.float64] | None
    directed: bool
    node_ids: NodeIds
    _looped: NDArray[np.intp] | None

    def __init__(
        self,
        indptr: ArrayLike,
        indices: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        directed: bool = False,
        ids: ArrayLike | Iterable[Any] | None = None,
    ) -> None:
        values = None if weights is None else real_array(weights, "weights")
        parts = plain_array(indptr, "indptr"), plain_array(indices, "indices")
        check_parameter("directed", directed)
        rows, looped = check_rows(Rows(*parts, values), directed)
        n_nodes = len(rows.indptr) - 1
        node_ids = NodeIds(n_nodes if ids is None else ids)
        if len(node_ids) != n_nodes:
            raise _not_one_a_node(n_nodes, len(node_ids))
        self._store(rows, directed, node_ids, looped)

    def _store(
        self, rows: Rows, directed: bool, node_ids: NodeIds, looped: NDArray[np.intp] | None = None
    ) -> None:
        for array in (rows.indptr, rows.indices, rows.weights):
            if array is not None:
                array.flags.writeable = False
        for name, value in (
            ("indptr", rows.indptr),
            ("indices", rows.indices),
            ("weights", rows.weights),
            ("directed", bool(directed)),
            ("node_ids", node_ids),
            ("_looped", looped),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def _trusted(cls, rows: Rows, directed: bool, node_ids: NodeIds) -> Graph:
        """Wrap rows that `build_rows` or a graph made, without checking them again."""
        graph = cls.__new__(cls)
        graph._store(rows, directed, node_ids)
        return graph

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Graph is frozen: {name} cannot be set; make a new graph instead.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Graph is frozen: {name} cannot be deleted.")

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: object) -> Graph:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.indptr, self.indices, self.weights, self.directed, self.node_ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        if self is other:
            return True
        if (self.directed, self.is_weighted) != (other.directed, other.is_weighted):
            return False
        pairs = [(self.indptr, other.indptr), (self.indices, other.indices)]
        if self.weights is not None and other.weights is not None:
            pairs.append((self.weights, other.weights))
        return all(np.array_equal(a, b) for a, b in pairs) and self.node_ids == other.node_ids

    def __hash__(self) -> int:
        return hash((self.n_nodes, self.n_stored, self.directed))

    def __repr__(self) -> str:
        facts = [
            counted(self.n_nodes, "node"),
            counted(self.n_edges, "edge"),
            "directed" if self.directed else "undirected",
            "weighted" if self.is_weighted else "unweighted",
        ]
        if self.n_self_loops:
            facts.append(counted(self.n_self_loops, "self-loop"))
        if self.n_isolated:
            facts.append(counted(self.n_isolated, "isolated node"))
        return f"Graph({', '.join(facts)})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes n."""
        return len(self.indptr) - 1

    @property
    def n_stored(self) -> int:
        """Number of stored entries of A: undirected edges between two nodes count twice."""
        return len(self.indices)

    @property
    def n_edges(self) -> int:
        """Number of edges: undirected edges count once, and so do loops."""
        return self.n_stored if self.directed else (self.n_stored + self.n_self_loops) // 2

    @property
    def n_self_loops(self) -> int:
        """Number of nodes with an edge to themselves."""
        return len(self.looped_nodes)

    @property
    def looped_nodes(self) -> NDArray[np.intp]:
        """Positions of the nodes with an edge to themselves; looked for once."""
        looped = self._looped
        if looped is None:
            sources = self._sources()
            looped = sources[sources == self.indices].astype(np.intp)
            object.__setattr__(self, "_looped", looped)
        return looped

    @property
    def n_isolated(self) -> int:
        """Number of nodes without any edge, in either direction."""
        touched = np.diff(self.indptr) > 0
        touched[self.indices] = True
        return int(self.n_nodes - np.count_nonzero(touched))

    @property
    def is_weighted(self) -> bool:
        """Whether some weight differs from 1."""
        return self.weights is not None

    @property
    def ids(self) -> Ids:
        """Ids in node order, shape (n,): int64, or object."""
        return self.node_ids.values

    def positions(self, ids: ArrayLike | Iterable[Any]) -> NDArray[np.intp]:
        """Positions of ids, shape (m,); an unknown id is an error that names it."""
        return self.node_ids.positions(ids)

    def degrees(self) -> NDArray[np.float64]:
        """Row sums of A, shape (n,); a loop counts its weight once."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        sums = np.bincount(self._sources(), weights=self.weights, minlength=self.n_nodes)
        return self._finite(sums.astype(np.float64, copy=False), None)  # without edges it counts in integers

    def _finite(self, degrees: NDArray[np.float64], nodes: NDArray[np.intp] | None) -> NDArray[np.float64]:
        if np.isfinite(degrees).all():
            return degrees
        wrong = np.flatnonzero(~np.isfinite(degrees))
        first = int(wrong[0] if nodes is None else nodes[wrong[0]])
        raise InputError(
            "every degree must be a finite sum of weights",
            f"inf for node {str(self.ids[first])!r} ({len(wrong):,} such)",
            "multiply all weights of the graph by one number that brings them near 1",
        )

    def _sources(self) -> NDArray[Any]:
        return np.repeat(np.arange(self.n_nodes, dtype=self.indptr.dtype), np.diff(self.indptr))

    def to_scipy(self, dtype: DTypeLike = np.float64) -> sp.csr_array:
        """Adjacency matrix A, shape (n, n); shares the index arrays, which are read-only.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 2)]).to_scipy().toarray()
        array([[0., 1., 0.],
               [1., 0., 1.],
               [0., 1., 0.]])
        """
        dtype = check_dtype(dtype)
        values = (
            np.ones(self.n_stored, dtype=dtype)
            if self.weights is None
            else self.weights.astype(dtype, copy=False)
        )
        matrix = sp.csr_array((values, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))
        matrix.has_canonical_format = True
        return matrix

    def rows(self, nodes: ArrayLike) -> sp.csr_array:
        """Rows of A of the nodes at these positions, shape (len(nodes), n). Cost: O(edges at the nodes).

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 2)]).rows(np.array([1])).toarray()
        array([[1., 0., 1.]])
        """
        nodes = self._positions(nodes)
        starts, indptr = self.indptr[nodes], np.zeros(len(nodes) + 1, dtype=self.indptr.dtype)
        lengths = self.indptr[nodes + 1] - starts
        np.cumsum(lengths, out=indptr[1:])
        entries = np.repeat(starts - indptr[:-1], lengths)
        entries += np.arange(len(entries), dtype=entries.dtype)
        values = np.ones(len(entries)) if self.weights is None else self.weights[entries]
        return sp.csr_array((values, self.indices[entries], indptr), shape=(len(nodes), self.n_nodes))

    def row_sums(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """Degrees of the nodes at these positions, added up in the order of `degrees`."""
        nodes = self._positions(nodes)
        lengths = np.diff(self.indptr)[nodes].astype(np.float64)
        if self.weights is None:
            return lengths
        owner = np.repeat(np.arange(len(nodes)), lengths.astype(np.int64))
        sums = np.bincount(owner, weights=self.rows(nodes).data, minlength=len(nodes))
        return self._finite(sums.astype(np.float64), nodes)

    def subgraph(self, nodes: ArrayLike) -> Graph:
        """Graph of some nodes and the edges between them: `A[nodes][:, nodes]`, ids kept.

        Parameters
        ----------
        nodes : integer array of positions, each once, in the order wanted; or boolean mask, shape (n,)

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 2), (2, 3)]).subgraph([2, 1]).ids
        array([2, 1])
        """
        chosen = self._chosen(nodes)
        matrix = self.to_scipy(bool if self.weights is None else np.float64)[chosen][:, chosen]
        matrix.sort_indices()
        dtype = self.indptr.dtype
        weights = None if self.weights is None else matrix.data
        if weights is not None and bool((weights == 1).all()):
            weights = None
        rows = Rows(matrix.indptr.astype(dtype), matrix.indices.astype(dtype), weights)
        return Graph._trusted(rows, self.directed, NodeIds(self.ids[chosen]))

    def _chosen(self, nodes: ArrayLike) -> NDArray[np.intp]:
        chosen = self._positions(nodes)
        if len(np.unique(chosen)) < len(chosen):
            raise InputError("positions must be given once each", "some again", "use numpy.unique")
        return chosen

    def _positions(self, nodes: ArrayLike) -> NDArray[np.intp]:
        chosen = plain_array(nodes, "nodes")
        if chosen.dtype == bool:
            if chosen.shape != (self.n_nodes,):
                raise InputError(
                    f"a mask of nodes must have shape ({self.n_nodes},)",
                    f"{chosen.shape}",
                    "for ids use graph.positions(ids)",
                )
            return np.flatnonzero(chosen)
        if chosen.size == 0:
            return np.empty(0, dtype=np.intp)
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
            raise InputTypeError(
                "nodes must be positions or a boolean mask",
                f"{chosen.dtype} of shape {chosen.shape}",
                "for ids use graph.positions(ids)",
                argument="nodes",
            )
        if chosen.min() < 0 or chosen.max() >= self.n_nodes:
            raise InputError(
                f"positions must lie in [0, {self.n_nodes})",
                f"{chosen.min()}..{chosen.max()}",
                "for ids use graph.positions(ids)",
            )
        return chosen.astype(np.intp, copy=False)

    def reversed(self) -> Graph:
        """Graph with every edge turned round, A transposed; an undirected graph is its own reverse."""
        if not self.directed:
            return self
        matrix = self.to_scipy().T.tocsr()
        dtype = self.indptr.dtype
        weights = None if self.weights is None else matrix.data
        rows = Rows(matrix.indptr.astype(dtype), matrix.indices.astype(dtype), weights)
        return Graph._trusted(rows, self.directed, self.node_ids)

    def with_ids(self, ids: ArrayLike | Iterable[Any] | NodeIds) -> Graph:
        """The same graph with other ids, one a node, in node order."""
        node_ids = ids if isinstance(ids, NodeIds) else NodeIds(ids)
        if len(node_ids) != self.n_nodes:
            raise _not_one_a_node(self.n_nodes, len(node_ids))
        return Graph._trusted(Rows(self.indptr, self.indices, self.weights), self.directed, node_ids)

    def union(
        self, other: Graph, *, duplicates: Duplicates = "once", self_loops: SelfLoops = "keep"
    ) -> Graph:
        """Graph with the nodes and edges of both; nodes with the same id are the same node.

        The nodes of this graph come first, in their order, then those that only `other` has. An edge that
        both have is a repeated edge, and `duplicates` says what it weighs.

        Examples
        --------
        >>> old = Graph.from_edges([("a", "b")])
        >>> old.union(Graph.from_edges([("b", "c")])).ids
        array(['a', 'b', 'c'], dtype=object)
        """
        from sgclearn.graph.union import union

        return union(self, other, duplicates, self_loops)

    def extend(
        self,
        source: ArrayLike | Iterable[Any],
        target: ArrayLike | Iterable[Any] | None = None,
        weights: ArrayLike | None = None,
        *,
        new_ids: ArrayLike | Iterable[Any],
        duplicates: Duplicates = "once",
        self_loops: SelfLoops = "keep",
    ) -> Graph:
        """Attach new nodes: the old nodes keep their positions and edges, the new ones follow.

        The degree of an old node grows with each new edge at it, so what is propagated at old nodes changes
        too: the result is the graph that building from all edges at once would give.

        Parameters
        ----------
        source, target : array-like of ids
            Endpoints of the new edges, old ids or new ones; or pairs of them in `source` alone.
        weights : array-like, optional
            Weights of the new edges; 1 if not given.
        new_ids : array-like of hashables
            Ids of the new nodes, none of which is in the graph.
        duplicates, self_loops : str
            As in `from_edges`.

        Examples
        --------
        >>> graph = Graph.from_edges([("a", "b")])
        >>> larger = graph.extend(["b", "c"], ["c", "d"], new_ids=["c", "d"])
        >>> larger.degrees()
        array([1., 2., 2., 1.])
        """
        from sgclearn.graph.union import extend

        return extend(self, source, target, weights, new_ids, duplicates, self_loops)

    def save_npz(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file that `Graph.load_npz` reads; ids must be integers or strings."""
        from sgclearn.graph.storage import save_npz

        save_npz(self, path)


def _restore(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[np.float64] | None,
    directed: bool,
    node_ids: NodeIds,
) -> Graph:
    """Make a graph again in another process."""
    return Graph._trusted(Rows(indptr, indices, weights), directed, node_ids)


def _not_one_a_node(n_nodes: int, n_ids: int) -> InputError:
    return InputError(
        f"ids must name each of the {counted(n_nodes, 'node')}",
        counted(n_ids, "id"),
        "give one a node",
        argument="ids",
    )
