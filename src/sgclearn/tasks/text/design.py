"""Rows of `S^K` that belong to documents, as something a solver can multiply with.

With identity features `Z = S^K[documents]` is nearly dense: two hops lead from a document to almost every word. It is
never formed; the engine walks over the arrays of the graph and holds nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn.estimators.scaling import Scaling
from sgclearn.operators import Operator
from sgclearn.propagation.design import Design, column_ranges
from sgclearn.propagation.engines import Engine, Walk

Array = NDArray[np.float64]
OnProgress = Callable[[int, int], None]


class Hops:
    """`S^k V` for all nodes of a graph, in float32 or float64. Cost: O(k nnz(A) C)."""

    def __init__(self, operator: Operator, engine: Engine, dtype: DTypeLike = np.float64) -> None:
        self.operator, self.engine, self.dtype = operator, engine, np.dtype(dtype)
        self.everything = np.arange(operator.n_nodes)
        self.walk = self.between([self.everything] * 2)

    def between(self, sets: list[NDArray[np.intp]]) -> Walk:
        """The walk over these sets of nodes, to the first of them."""
        return self.engine.walk(self.operator, sets, sets[0], self.dtype)

    def __call__(self, V: Array, hops: int = 1) -> Array:
        """`S^hops V` (n, C)."""
        for _ in range(hops):
            V = np.asarray(self.walk.forward(V, _power(1)))
        return V


class DocumentDesign:
    """`Z = S^K[documents]` (m, n), a `Design`.

    Parameters
    ----------
    hops : Hops
        Of the whole graph, whose arrays all designs share.
    documents : ndarray of int (m,)
    n_hops : int >= 1
        K.
    """

    def __init__(self, hops: Hops, documents: NDArray[np.intp], n_hops: int) -> None:
        self.hops, self.documents, self.n_hops = hops, documents, n_hops
        self.shape: tuple[int, int] = (len(documents), len(hops.everything))
        # Sets that are all nodes need no copy of the graph, which the exact neighbourhoods would.
        self.walk = hops.between([documents, *[hops.everything] * n_hops])

    def matmul(self, V: Array) -> Array:
        """`Z @ V`."""
        return np.asarray(self.walk.forward(V, _power(self.n_hops)), dtype=np.float64)

    def rmatmul(self, G: Array) -> Array:
        """`Z.T @ G`."""
        return np.asarray(self.walk.backward(G, _power(self.n_hops)), dtype=np.float64)

    def rows(self, batch: NDArray[np.intp]) -> Array:
        """`Z[batch]`, dense."""
        unit = np.zeros((self.shape[0], len(batch)))
        unit[batch, np.arange(len(batch))] = 1.0
        return self.rmatmul(unit).T

    def column_blocks(self) -> Iterator[tuple[int, int, Array]]:
        """Yield dense blocks of columns: those of `S^(K-1)` are rows too, and one hop away from the documents.

        Cost: O(nnz(S[documents]) n) in all, for two hops.
        """
        hops = self.hops
        last = hops.between([self.documents, hops.everything])
        for start, stop in column_ranges(sum(self.shape), self.shape[1]):
            columns = np.arange(start, stop)
            if self.n_hops == 1:
                H: Any = sparse.eye_array(self.shape[1], format="csc")[:, columns].tocsr()
            else:
                H = hops.operator.rows(columns).T.tocsr()
            if self.n_hops > 2:
                H = hops(H.toarray(), self.n_hops - 2)
            yield start, stop, np.asarray(last.forward(H, _power(1)))

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """Some of the documents; the graph is shared."""
        return DocumentDesign(self.hops, self.documents[batch], self.n_hops)

    def squares(self, weights: Array) -> Array | None:
        """None: after min-max scaling the columns are alike, and no other scale makes the solver faster."""
        return None


def _power(hops: int) -> Array:
    return np.append(np.zeros(hops), 1.0)


def extremes(
    design: DocumentDesign,
    parts: NDArray[np.intp],
    keep: bool = False,
    on_progress: OnProgress | None = None,
) -> tuple[Array, Array, Array | None]:
    """Smallest and largest entry of every column over each part of the samples, in one pass.

    Parameters
    ----------
    design : DocumentDesign
        Z (m, n).
    parts : ndarray of int (m,)
        The part of every sample, 0 to p - 1; none is empty.
    keep : bool
        Whether to keep the rows.

    Returns
    -------
    low, high : ndarray (p, n)
    rows : ndarray (m, n) or None
        Z, if it was to be kept.
    """
    m, n = design.shape
    hops = design.hops
    if design.n_hops == 2 and not keep:
        # Most words have few neighbours: the rows of S are short, and a row of the square is a sum of them.
        last, first = (hops.operator.rows(nodes, hops.dtype) for nodes in (design.documents, hops.everything))
        found = hops.engine.product_extremes(last, first, parts, int(parts.max()) + 1, on_progress)
        return found[0].astype(np.float64), found[1].astype(np.float64), None
    order = np.argsort(parts, kind="stable")
    starts = np.searchsorted(parts[order], np.arange(int(parts.max()) + 1))
    low, high = np.empty((len(starts), n)), np.empty((len(starts), n))
    kept = np.empty((m, n)) if keep else None
    one_part = len(starts) == 1
    for start, stop, block in design.column_blocks():
        if kept is not None:
            kept[:, start:stop] = block
        ordered = block if one_part else block[order]
        for part, rows in enumerate(np.split(ordered, starts[1:])):
            low[part, start:stop], high[part, start:stop] = rows.min(axis=0), rows.max(axis=0)
        if on_progress is not None:
            on_progress(stop, n)
    return low, high, kept


def minmax(low: Array, high: Array, precision: np.dtype[Any]) -> Scaling:
    """`(z - low) / (high - low)`; a column that is constant up to rounding gets factor 0."""
    spread = high - low
    constant = spread <= 10 * float(np.finfo(precision).eps) * np.abs(low)
    return Scaling(low, np.divide(1.0, spread, out=np.zeros_like(spread), where=~constant))
