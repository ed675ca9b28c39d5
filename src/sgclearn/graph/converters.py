"""The ways to get a graph from what other libraries hold."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from sgclearn.errors import ANY, Alternatives, InputError, InputTypeError, Setting, Words
from sgclearn.graph.build import Duplicates, Policy, SelfLoops, build_rows, check_weights
from sgclearn.graph.encode import encode_ids, find_endpoints
from sgclearn.graph.ids import Ids, NodeIds, as_ids
from sgclearn.tables.messages import counted
from sgclearn.validation.arrays import plain_array, real_array
from sgclearn.validation.parameters import check_type, shown
from sgclearn.validation.sparse import check_rows_fit, check_sparse

if TYPE_CHECKING:
    from sgclearn.graph.graph import Graph

_NAME_THEM = ("name the nodes with ", Setting("nodes", ANY))
ADD_NODE = ("add the node to ", Setting("nodes", ANY))
_WEIGHTS_GO = ("weights go to ", Setting("weights", ANY))
# Row numbers this sparse are ids that were taken for row numbers.
_PLAUSIBLE_NODES = 100_000
_NODES_PER_ENDPOINT = 10


class Converters:
    """Constructors of `Graph` from edges, matrices and the graphs and tables of other libraries.

    They share three policies.

    directed : an edge source -> target is `A[source, target]`. An undirected graph given once or in both
        directions is the same graph.
    duplicates : what a repeated edge weighs. "once": repeated rows count once, and two different weights for
        the same edge are an error; "sum", "max", "min" of its weights; "error": no edge may be repeated.
        Undirected with "sum": a list with every edge in both directions and equal weights lists each edge
        once, in any other list both directions add up.
    self_loops : "keep", "drop" or "error".

    A weight of 0 is no edge; negative, infinite and missing weights are refused.
    """

    __slots__ = ()

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike | Iterable[Any],
        target: ArrayLike | Iterable[Any] | None = None,
        weights: ArrayLike | None = None,
        *,
        nodes: ArrayLike | Iterable[Any] | NodeIds | None = None,
        n_nodes: int | None = None,
        directed: bool = False,
        duplicates: Duplicates = "once",
        self_loops: SelfLoops = "keep",
    ) -> Graph:
        """Build a graph from the endpoints of its edges.

        Parameters
        ----------
        source, target : array-like of hashables, shape (E,)
            Endpoints; or all pairs in `source`, shape (E, 2), without `target`.
            Integers are row numbers 0..n-1 unless `nodes` is given; n is `n_nodes`, or the largest plus one.
            Other ids without `nodes` become nodes in order of first appearance.
        weights : array-like, shape (E,), optional
            Positive numbers; 1 if not given.
        nodes : array-like of hashables, optional
            The ids of all nodes, in node order; an endpoint that is not among them is an error.
        n_nodes : int, optional
            Number of nodes, where ids are row numbers.
        directed : bool
            Whether source -> target is another edge than target -> source.
        duplicates : {"once", "sum", "max", "min", "error"}
            What a repeated edge weighs.
        self_loops : {"keep", "drop", "error"}
            What to do with edges from a node to itself.

        Examples
        --------
        >>> from sgclearn.graph import Graph
        >>> Graph.from_edges([0, 1, 2], [1, 2, 2], n_nodes=4)
        Graph(4 nodes, 3 edges, undirected, unweighted, 1 self-loop, 1 isolated node)
        >>> Graph.from_edges([("a", "b"), ("b", "a")], weights=[2, 3], duplicates="max").to_scipy().toarray()
        array([[0., 3.],
               [3., 0.]])
        """
        left, right = endpoints(source, target)
        if nodes is not None:
            ids = nodes if isinstance(nodes, NodeIds) else NodeIds(nodes)
            if n_nodes is not None and n_nodes != len(ids):
                raise InputError(
                    f"n_nodes must be left out or equal len(nodes), {len(ids):,}",
                    repr(n_nodes),
                    argument="n_nodes",
                )
        elif left.dtype != object and right.dtype != object:
            ids = _row_numbers(left, right, n_nodes)
        elif (beyond := next(filter(None, map(_beyond_int64, (left, right))), None)) is not None:
            raise InputError(
                "integer endpoints are row numbers from 0",
                shown(beyond),
                ("if they are ids, ", _NAME_THEM),
            )
        elif n_nodes is not None:
            raise InputError(
                "n_nodes goes with row numbers", "edges with other ids", _NAME_THEM, argument="n_nodes"
            )
        else:
            ids = None
        return make_graph(left, right, weights, ids, Policy(directed, duplicates, self_loops))

    @classmethod
    def from_scipy(
        cls,
        A: Any,
        *,
        ids: ArrayLike | Iterable[Any] | None = None,
        directed: bool = False,
        duplicates: Duplicates = "once",
        self_loops: SelfLoops = "keep",
    ) -> Graph:
        """Build a graph from an adjacency matrix, scipy sparse or dense, shape (n, n).

        Stored entries are edges, `ids` name the rows. An undirected graph may be given by one triangle of A.

        Examples
        --------
        >>> import numpy as np
        >>> from sgclearn.graph import Graph
        >>> Graph.from_scipy(np.array([[0, 2.5], [2.5, 0]]), ids=["x", "y"])
        Graph(2 nodes, 1 edge, undirected, weighted)
        """
        A = check_sparse(A, "A") if sp.issparse(A) else real_array(A, "A")
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise InputError(
                "A must be a square matrix, one row and one column a node",
                f"shape {A.shape}",
                "a table of pairs goes to Graph.from_edges",
                argument="A",
            )
        check_rows_fit(A.shape[0], "A")
        matrix = sp.coo_array(A)
        names = NodeIds(A.shape[0] if ids is None else ids)
        if len(names) != A.shape[0]:
            raise InputError(
                f"ids must name each of the {counted(A.shape[0], 'row')} of A",
                counted(len(names), "id"),
                "give one a row, or leave them out",
                argument="ids",
            )
        row, col = matrix.row.astype(np.int64), matrix.col.astype(np.int64)
        return make_graph(
            row, col, matrix.data, names, Policy(directed, duplicates, self_loops), are_positions=True
        )

    @classmethod
    def from_networkx(
        cls,
        G: Any,
        *,
        weight: str | None = None,
        directed: bool | None = None,
        duplicates: Duplicates = "once",
        self_loops: SelfLoops = "keep",
    ) -> Graph:
        """Build a graph from a networkx graph: same nodes in the same order, same ids.

        `weight` names the edge attribute to use; as in networkx, an edge without it weighs 1. The graph is
        directed if G is, unless `directed` says otherwise. Parallel edges of a multigraph are repeated edges.

        Examples
        --------
        >>> import networkx as nx
        >>> from sgclearn.graph import Graph
        >>> Graph.from_networkx(nx.karate_club_graph())
        Graph(34 nodes, 78 edges, undirected, unweighted)
        """
        if not (hasattr(G, "edges") and hasattr(G, "nodes") and hasattr(G, "is_directed")):
            raise InputTypeError("G must be a networkx graph", type(G).__name__, argument="G")
        if weight is not None:
            check_type(weight, str, "weight", "name an edge attribute, or leave it out")
        edges = list(G.edges(data=weight, default=1)) if weight else list(G.edges())
        left, right = (
            as_ids([edge[0] for edge in edges], "edges"),
            as_ids([edge[1] for edge in edges], "edges"),
        )
        weights = [edge[2] for edge in edges] if weight else None
        chosen = G.is_directed() if directed is None else directed
        return make_graph(
            left, right, weights, NodeIds(list(G.nodes())), Policy(chosen, duplicates, self_loops)
        )

    @classmethod
    def from_igraph(
        cls,
        G: Any,
        *,
        weight: str | None = None,
        directed: bool | None = None,
        duplicates: Duplicates = "once",
        self_loops: SelfLoops = "keep",
    ) -> Graph:
        """Build a graph from an igraph graph; ids are the names of its vertices, if it has any."""
        if not (hasattr(G, "get_edgelist") and hasattr(G, "vs")):
            raise InputTypeError("G must be an igraph graph", type(G).__name__, argument="G")
        pairs = np.array(G.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        ids = NodeIds(G.vs["name"] if "name" in G.vs.attributes() else G.vcount())
        weights = list(G.es[weight]) if weight else None
        chosen = G.is_directed() if directed is None else directed
        return make_graph(
            pairs[:, 0], pairs[:, 1], weights, ids, Policy(chosen, duplicates, self_loops), are_positions=True
        )

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        source: str | None = None,
        target: str | None = None,
        weight: str | Literal[False] | None = None,
        *,
        nodes: ArrayLike | Iterable[Any] | NodeIds | None = None,
        directed: bool = False,
        duplicates: Duplicates = "once",
        self_loops: SelfLoops = "keep",
    ) -> Graph:
        """Build a graph from a pandas or polars frame with one row an edge.

        Columns are found by name as in `read_edges`, and as there ids are ids: integers are not row numbers.

        Examples
        --------
        >>> import pandas as pd
        >>> from sgclearn.graph import Graph
        >>> Graph.from_pandas(pd.DataFrame({"source": [101, 7], "target": [7, 35]})).ids
        array([  7,  35, 101])
        """
        from sgclearn.graph.columns import choose_columns

        if not (hasattr(frame, "columns") and hasattr(frame, "to_numpy")):
            raise InputTypeError(
                "frame must be a pandas or polars frame", type(frame).__name__, argument="frame"
            )
        chosen = choose_columns(tuple(frame.columns), source, target, weight)
        left = as_ids(frame[chosen.source].to_numpy(), f"column {chosen.source!r}")
        right = as_ids(frame[chosen.target].to_numpy(), f"column {chosen.target!r}")
        weights = None if chosen.weight is None else frame[chosen.weight].to_numpy()
        ids = nodes if nodes is None or isinstance(nodes, NodeIds) else NodeIds(nodes)
        return make_graph(left, right, weights, ids, Policy(directed, duplicates, self_loops))

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        *,
        directed: bool = False,
        duplicates: Duplicates = "once",
        self_loops: SelfLoops = "keep",
    ) -> Graph:
        """Build a graph from PyTorch Geometric data: `edge_index` (2, E), `num_nodes`, `edge_weight` if any.

        With `directed=True` an edge stays source -> target; PyG sends messages that way, and here a node
        averages over the nodes it points to, so `.reversed()` gives PyG's direction.
        """
        if getattr(data, "edge_index", None) is None:
            raise InputTypeError(
                "data must have an edge_index of shape (2, E)", type(data).__name__, argument="data"
            )
        pairs = _tensor(data.edge_index)
        if pairs.ndim != 2 or pairs.shape[0] != 2:
            raise InputError("edge_index must have shape (2, E)", f"{pairs.shape}")
        edge_weight = getattr(data, "edge_weight", None)
        left, right = as_ids(pairs[0], "edge_index"), as_ids(pairs[1], "edge_index")
        weights = None if edge_weight is None else _tensor(edge_weight)
        ids = _row_numbers(left, right, getattr(data, "num_nodes", None))
        return make_graph(left, right, weights, ids, Policy(directed, duplicates, self_loops))

    @classmethod
    def read_edges(cls, path: str | os.PathLike[str], **options: Any) -> Graph:
        """Read a graph from a file; see `sgclearn.read_edges` for the options."""
        from sgclearn.graph.readers import read_edges

        return read_edges(path, **options)

    @classmethod
    def load_npz(cls, path: str | os.PathLike[str]) -> Graph:
        """Read a graph that `save_npz` wrote."""
        from sgclearn.graph.storage import load_npz

        return load_npz(path)


def make_graph(
    left: Ids,
    right: Ids,
    weights: ArrayLike | None,
    ids: NodeIds | None,
    policy: Policy,
    *,
    are_positions: bool = False,
    remedy: Words = ADD_NODE,
) -> Graph:
    """Build the graph from checked endpoints; without `ids` the endpoints name the nodes.

    `remedy` says what to do about an endpoint that is not among the `ids`.
    """
    from sgclearn.graph.graph import Graph

    if len(left) != len(right):
        raise InputError("source and target must be equally long", f"{len(left):,} and {len(right):,}")
    values = None if weights is None else check_weights(weights, len(left))
    if ids is None:
        left, right, names = encode_ids(left, right)
        ids = NodeIds(names)
    elif not are_positions:
        left, right = find_endpoints(left, right, ids, remedy)
    rows = build_rows(
        left,
        right,
        values,
        len(ids),
        policy,
        ids.name,
    )
    return Graph._trusted(rows, policy.directed, ids)


def endpoints(source: Any, target: Any) -> tuple[Ids, Ids]:
    """Endpoints as arrays of ids, from two sequences or from pairs."""
    if target is not None:
        return as_ids(source, "source"), as_ids(target, "target")
    if hasattr(source, "__array__"):
        pairs = plain_array(source, "edges")
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(
                "edges must have shape (E, 2), or be given as source and target",
                f"shape {pairs.shape}",
                _WEIGHTS_GO,
            )
        return as_ids(pairs[:, 0], "source"), as_ids(pairs[:, 1], "target")
    if isinstance(source, (str, bytes)) or not isinstance(source, Iterable):
        raise InputTypeError("edges must be pairs of ids", f"{type(source).__name__} {source!r}")
    edges = list(source)
    for row, edge in enumerate(edges):
        if isinstance(edge, (str, bytes)) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise InputError("edges must be pairs of ids", f"{edge!r} as edge {row}", _WEIGHTS_GO)
    return as_ids([edge[0] for edge in edges], "source"), as_ids([edge[1] for edge in edges], "target")


def _row_numbers(left: NDArray[np.int64], right: NDArray[np.int64], n_nodes: Any) -> NodeIds:
    """Ids 0..n-1 for endpoints that are row numbers."""
    low = min((int(array.min()) for array in (left, right) if len(array)), default=0)
    high = max((int(array.max()) for array in (left, right) if len(array)), default=-1)
    if n_nodes is not None:
        if not isinstance(n_nodes, (int, np.integer)) or n_nodes < 0:
            raise InputError("n_nodes must be an integer, 0 or more", repr(n_nodes), argument="n_nodes")
        if low < 0 or high >= n_nodes:
            raise InputError(
                f"integer endpoints are row numbers in [0, n_nodes={n_nodes})",
                f"{low if low < 0 else high}",
                Alternatives(("raise ", Setting("n_nodes")), _NAME_THEM),
            )
        return NodeIds(int(n_nodes))
    if low < 0:
        raise InputError("integer endpoints are row numbers from 0", f"{low}", _NAME_THEM)
    if high >= _PLAUSIBLE_NODES and high > _NODES_PER_ENDPOINT * (len(left) + len(right)):
        raise InputError(
            "integer endpoints are row numbers from 0 to n - 1",
            f"{high} among {len(left):,} edges, which would make {high + 1:,} nodes",
            Alternatives(("if they are ids, ", _NAME_THEM), ("if not, say ", Setting("n_nodes", high + 1))),
        )
    return NodeIds(high + 1)


def _beyond_int64(ids: Ids) -> int | None:
    """An integer that no int64 holds; `as_ids` leaves those as they are."""
    if ids.dtype != object:
        return None
    return next(
        (item for item in ids.tolist() if isinstance(item, int) and not -(2**63) <= item < 2**63), None
    )


def _tensor(value: Any) -> NDArray[Any]:
    """A tensor as an array, from any device, without importing its library."""
    return plain_array(value.detach().cpu() if hasattr(value, "detach") else value, "edge_index")
