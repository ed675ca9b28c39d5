"""Edges to rows of neighbours: one place for repeated edges, self-loops and weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from sgclearn._native import load_kernel
from sgclearn.errors import Alternatives, InputError, InputTypeError, MemoryLimitError, Place, Setting
from sgclearn.tables.messages import counted
from sgclearn.validation.arrays import real_array
from sgclearn.validation.memory import format_bytes, memory_limit_bytes
from sgclearn.validation.parameters import MAX_NODES, check_parameter

Duplicates: TypeAlias = Literal["once", "sum", "max", "min", "error"]
SelfLoops: TypeAlias = Literal["keep", "drop", "error"]

INT32_MAX = 2**31 - 1
_NODE_BYTES = 40  # row starts, and the counts they are added up from
_PLAUSIBLE_NODES = 10_000_000  # below, nobody asks how much memory there is


@dataclass(frozen=True)
class Rows:
    """Canonical CSR: row i holds the neighbours of node i, sorted, each once; no weights mean all ones."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[np.float64] | None


def index_dtype(n_nodes: int, n_stored: int, limit: int = INT32_MAX) -> np.dtype[Any]:
    """Width of the index arrays: int32 while nodes and stored entries fit under `limit`, else int64."""
    return np.dtype(np.int32 if max(n_nodes, n_stored) <= limit else np.int64)


@dataclass(frozen=True)
class Policy:
    """What the edges of an input mean; see `Graph.from_edges`."""

    directed: bool
    duplicates: Duplicates
    self_loops: SelfLoops

    def __post_init__(self) -> None:
        for name in ("directed", "duplicates", "self_loops"):
            check_parameter(name, getattr(self, name))


def check_weights(weights: ArrayLike, n_edges: int) -> NDArray[np.float64]:
    """Give weights as float64, shape (E,); their values are checked with the edges they belong to."""
    array = real_array(weights, "weights")
    if array.shape != (n_edges,):
        raise InputError(
            "weights must be one number an edge",
            f"shape {array.shape} for {n_edges:,} edges",
            argument="weights",
        )
    return array.astype(np.float64, copy=False)


def build_rows(
    source: NDArray[Any],
    target: NDArray[Any],
    weights: NDArray[np.float64] | None,
    n_nodes: int,
    policy: Policy,
    name: Callable[[int], object] = int,
) -> Rows:
    """Build canonical rows from edges between positions.

    Parameters
    ----------
    source, target : integer arrays, shape (E,)
        Positions in [0, n_nodes).
    weights : float64 array, shape (E,), optional
    name : callable
        Gives the id of a position, for messages.

    Notes
    -----
    Cost: one sort of E integers; O(E) memory.
    """
    if n_nodes > MAX_NODES:
        raise InputError(f"a graph must have at most {MAX_NODES:,} nodes", f"{n_nodes:,}")
    needed = _NODE_BYTES * float(n_nodes)
    if n_nodes > _PLAUSIBLE_NODES and needed > memory_limit_bytes():
        raise MemoryLimitError(
            f"a graph of {n_nodes:,} nodes must fit the {format_bytes(memory_limit_bytes())} that may be used",
            f"{format_bytes(needed)} for its row starts alone",
            "number the nodes without gaps, or use more memory",
        )
    source, target = source.astype(np.int64, copy=False), target.astype(np.int64, copy=False)
    if weights is not None:
        source, target, weights = _positive(source, target, weights, name)
    if policy.self_loops != "keep":
        source, target, weights = _without_loops(source, target, weights, policy, name)
    keys, weights = _merge(source, target, weights, n_nodes, policy, name)
    if weights is not None and bool((weights == 1).all()):
        weights = None
    return _rows(keys, weights, n_nodes, policy.directed)


def _positive(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weights: NDArray[np.float64],
    name: Callable[[int], object],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(wrong):
        row = wrong[0]
        value = float(weights[row])
        reason = "degrees would not be positive" if value < 0 else "sums over neighbours would not be finite"
        raise InputError(
            f"weights must be finite and not negative, because {reason}",
            f"{value!r} for the edge {name(source[row])!r} -> {name(target[row])!r}",
            "remove or repair such edges",
            argument="weights",
            place=Place(row=int(row), line="", others=counted(len(wrong), "such edge")),
        )
    if bool((weights > 0).all()):
        return source, target, weights
    real = weights > 0  # a weight of 0 is no edge
    return source[real], target[real], weights[real]


def _without_loops(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    policy: Policy,
    name: Callable[[int], object],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
    loop = source == target
    if not loop.any():
        return source, target, weights
    if policy.self_loops == "error":
        raise InputError(
            "edges must join two different nodes",
            f"{counted(int(loop.sum()), 'self-loop')}, the first at {name(source[loop][0])!r}",
            (
                Setting("self_loops", "keep"),
                " or ",
                Setting("self_loops", "drop"),
                " says what to do with them",
            ),
        )
    return source[~loop], target[~loop], None if weights is None else weights[~loop]


def _merge(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    n_nodes: int,
    policy: Policy,
    name: Callable[[int], object],
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Keys `source * n + target` of the distinct edges, ascending (undirected: source <= target)."""
    if policy.duplicates == "sum":
        with np.errstate(over="ignore"):
            keys, totals = _summed(source, target, weights, n_nodes, policy.directed)
        _refuse_infinite(keys, totals, n_nodes, name)
        return keys, totals
    if policy.duplicates == "error":
        _refuse_repeats(source * n_nodes + target, n_nodes, name)
    if not policy.directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    keys = source * n_nodes + target
    if weights is None:
        return _distinct(keys), None
    keys, starts, weights = _grouped(keys, weights, stable=False)
    if len(keys) == 0:
        return keys, weights
    high = np.maximum.reduceat(weights, starts)
    low = np.minimum.reduceat(weights, starts)
    if policy.duplicates in {"once", "error"}:
        differs = np.flatnonzero(high != low)
        if len(differs):
            u, v = divmod(int(keys[differs[0]]), n_nodes)
            direct = () if policy.directed else (Setting("directed", True),)
            raise InputError(
                "an edge must have one weight",
                f"{low[differs[0]]:g} and {high[differs[0]]:g} for the edge {name(u)!r}, {name(v)!r}",
                ("choose ", Alternatives(*direct, *_merging("sum", "max", "min"))),
                place=Place(others=counted(len(differs), "such edge")),
            )
    return keys, low if policy.duplicates == "min" else high


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    # numpy.unique hashes integers first, which takes many times as long as sorting tens of millions of them.
    keys = np.sort(keys)
    return keys[_first_of_group(keys)]


def _first_of_group(ascending: NDArray[np.int64]) -> NDArray[np.intp]:
    first = np.ones(len(ascending), dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return np.flatnonzero(first)


def _grouped(
    keys: NDArray[np.int64], weights: NDArray[np.float64], *, stable: bool
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.float64]]:
    """Distinct keys, where each one's weights start, and the weights in that order."""
    # Sums depend on their order in the last bit, so they get the slower sort that is the same everywhere.
    order = np.argsort(keys, kind="stable" if stable else None)
    keys = keys[order]
    starts = _first_of_group(keys)
    return keys[starts], starts, weights[order]


def _summed(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    n_nodes: int,
    directed: bool,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The distinct edges and their summed weights; a sum that overflows is infinite."""
    weights = np.ones(len(source)) if weights is None else weights
    keys, starts, weights = _grouped(source * n_nodes + target, weights, stable=True)
    totals = np.add.reduceat(weights, starts) if len(keys) else weights
    if directed or len(keys) == 0:
        return keys, totals
    u, v = np.divmod(keys, n_nodes)
    back = np.searchsorted(keys, v * n_nodes + u)
    back[back == len(keys)] = 0
    # Half of a weight cannot overflow where the tolerance is added to it.
    close = np.isclose(0.5 * totals[back], 0.5 * totals, rtol=1e-12, atol=0)
    mirrored = (keys[back] == v * n_nodes + u) & close
    if mirrored.all():
        # A list that has every edge both ways, such as a symmetric matrix, lists each edge once.
        return keys[u <= v], totals[u <= v]
    keys, starts, totals = _grouped(np.minimum(u, v) * n_nodes + np.maximum(u, v), totals, stable=True)
    return keys, np.add.reduceat(totals, starts)


def _refuse_infinite(
    keys: NDArray[np.int64], totals: NDArray[np.float64], n_nodes: int, name: Callable[[int], object]
) -> None:
    infinite = np.flatnonzero(np.isinf(totals))
    if len(infinite):
        u, v = divmod(int(keys[infinite[0]]), n_nodes)
        raise InputError(
            "the weights of an edge must have a finite sum",
            f"infinity for the edge {name(u)!r}, {name(v)!r}",
            "divide all weights by one large number",
            place=Place(others=counted(len(infinite), "such edge")),
        )


def _refuse_repeats(keys: NDArray[np.int64], n_nodes: int, name: Callable[[int], object]) -> None:
    ascending = np.sort(keys)
    repeats = ascending[1:][ascending[1:] == ascending[:-1]]
    if len(repeats):
        u, v = divmod(int(repeats[0]), n_nodes)
        raise InputError(
            "every edge must be listed once",
            f"{name(u)!r} -> {name(v)!r} again",
            ("remove every repeat, or choose ", Alternatives(*_merging("once", "sum", "max", "min"))),
            place=Place(others=counted(len(repeats), "repeat")),
        )


def _merging(*ways: str) -> list[Setting]:
    return [Setting("duplicates", way) for way in ways]


def _rows(keys: NDArray[np.int64], weights: NDArray[np.float64] | None, n_nodes: int, directed: bool) -> Rows:
    source, target = np.divmod(keys, max(n_nodes, 1))
    dtype = index_dtype(n_nodes, len(keys))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n_nodes))]).astype(dtype)
    values = np.ones(len(keys), dtype=bool) if weights is None else weights
    upper = sp.csr_array((values, target.astype(dtype), indptr), shape=(n_nodes, n_nodes))
    if not directed and n_nodes:
        strict = source != target
        lower = sp.csr_array((values[strict], (target[strict], source[strict])), shape=upper.shape)
        lower.has_canonical_format = True  # keys ascend, and scattering them by row keeps that order
        upper.has_canonical_format = True
        upper = upper + lower
    dtype = index_dtype(n_nodes, upper.nnz)
    indptr, indices = upper.indptr.astype(dtype, copy=False), upper.indices.astype(dtype, copy=False)
    return Rows(indptr, indices, None if weights is None else upper.data)


def check_rows(rows: Rows, directed: bool) -> tuple[Rows, NDArray[np.intp] | None]:
    """Check rows that come from outside, entry by entry, and give them in their canonical types.

    Also the nodes with an edge to themselves, where the check comes by them.
    """
    indptr, indices = rows.indptr, rows.indices
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise InputTypeError(
                f"{name} must be a list of integers",
                f"{array.dtype} of shape {array.shape}",
                "use Graph.from_scipy",
                argument=name,
            )
    n_nodes, n_stored = len(indptr) - 1, len(indices)
    if n_nodes < 0 or indptr[0] != 0 or indptr[-1] != n_stored or (indptr[1:] < indptr[:-1]).any():
        raise InputError(
            f"indptr must rise from 0 to the number of entries, {n_stored:,}", remedy="use Graph.from_scipy"
        )
    looped = _canonical_loops(indptr, indices, rows.weights, directed)
    if looped is not None:
        dtype = index_dtype(n_nodes, n_stored)
        return Rows(indptr.astype(dtype), indices.astype(dtype), None), looped
    if n_stored and (indices.min() < 0 or indices.max() >= n_nodes):
        raise InputError(f"indices must lie in [0, {n_nodes})", f"{indices.min()}..{indices.max()}")
    source = np.repeat(np.arange(n_nodes, dtype=np.int64), np.diff(indptr))
    keys = source * n_nodes + indices
    if (np.diff(keys) <= 0).any():
        raise InputError(
            "indices must ascend within each row, each once", remedy="use Graph.from_scipy, which sorts them"
        )
    weights = None if rows.weights is None else check_weights(rows.weights, n_stored)
    if weights is not None and not ((weights > 0) & (weights < np.inf)).all():
        raise InputError(
            "weights of stored entries must be positive and finite", remedy="use Graph.from_scipy"
        )
    if not directed:
        mirror = np.argsort(indices.astype(np.int64) * n_nodes + source)
        same = np.array_equal((indices.astype(np.int64) * n_nodes + source)[mirror], keys)
        if not same or (weights is not None and not np.array_equal(weights[mirror], weights)):
            remedy = ("use Graph.from_scipy, or ", Setting("directed", True))
            raise InputError("an undirected graph must be symmetric", "another one", remedy)
    dtype = index_dtype(n_nodes, n_stored)
    return Rows(
        indptr.astype(dtype), indices.astype(dtype), None if weights is None else weights.copy()
    ), None


def _canonical_loops(
    indptr: NDArray[Any], indices: NDArray[Any], weights: Any, directed: bool
) -> NDArray[np.intp] | None:
    """The nodes with an edge to themselves, where a native pass finds unweighted rows canonical; else None."""
    kernel = load_kernel()
    if (
        kernel is None
        or weights is not None
        or indptr.dtype != indices.dtype
        or indptr.ndim + indices.ndim != 2
    ):
        return None
    check = {"int32": "check_rows_i32", "int64": "check_rows_i64"}.get(indptr.dtype.name)
    if check is None:
        return None
    loops = np.empty(len(indptr) - 1, dtype=np.int64)
    arrays = (np.ascontiguousarray(indptr), np.ascontiguousarray(indices), None)
    count = getattr(kernel, check)(*arrays, not directed, loops)
    return None if count < 0 else loops[:count].astype(np.intp)
