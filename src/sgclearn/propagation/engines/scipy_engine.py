"""The engine that is always there: scipy's sparse products, one hop after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn.propagation.engines.contract import OnProgress, Prices
from sgclearn.propagation.engines.row_positions import places_in
from sgclearn.propagation.neighbourhood import hop_blocks

if TYPE_CHECKING:
    from sgclearn.operators import Operator

_BLOCK_BYTES = 64 * 2**20  # of dense rows that are looked at together


class ScipyEngine:
    """`S` as a `csr_array`, one thread."""

    name = "scipy"
    # Measured on graphs of 2,700 to 100,000 nodes.
    prices = Prices(sparse_sparse=12.0, sparse_dense=1.5, builds_values=True, packs_columns=False)

    def walk(
        self, operator: Operator, sets: list[NDArray[np.intp]], rows: NDArray[np.intp], dtype: DTypeLike
    ) -> ScipyWalk:
        """Ready to walk between the sets."""
        return ScipyWalk(operator, sets, rows, dtype)

    def sparse_product(self, A: Any, B: Any) -> Any:
        """`A @ B`, with unsorted rows: sorting would more than double the cost."""
        return A @ B

    def sparse_rows(
        self,
        operator: Operator,
        X: Any,
        scale: NDArray[Any] | None,
        rows: NDArray[np.intp],
        coefficients: NDArray[np.float64],
        on_progress: OnProgress | None = None,
    ) -> Any:
        """See `Engine`; it has no way of its own."""
        return None

    def product_extremes(
        self, A: Any, B: Any, parts: NDArray[np.int64], n_parts: int, on_progress: OnProgress | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """See `Engine`; a few rows at a time are formed, dense."""
        low = np.full((n_parts, B.shape[1]), np.inf, dtype=A.dtype)
        high = -low
        step = max(1, _BLOCK_BYTES // (A.dtype.itemsize * max(B.shape[1], 1)))
        for start in range(0, A.shape[0], step):
            rows, part_of = (A[start : start + step] @ B).toarray(), parts[start : start + step]
            for part in np.unique(part_of):
                mine = rows[part_of == part]
                np.minimum(low[part], mine.min(axis=0), out=low[part])
                np.maximum(high[part], mine.max(axis=0), out=high[part])
            if on_progress is not None:
                on_progress(start + len(rows), A.shape[0])
        return low, high


class ScipyWalk:
    """Products block by block; the terms of a polynomial are weighed as they come."""

    def __init__(
        self, operator: Operator, sets: list[NDArray[np.intp]], rows: NDArray[np.intp], dtype: DTypeLike
    ) -> None:
        self.blocks, self.places, self.dtype = hop_blocks(operator, sets), places_in(sets, rows), dtype
        self.n_rows, self.n_inputs = len(rows), len(sets[-1])

    def forward(
        self,
        H: Any,
        coefficients: NDArray[np.float64],
        *,
        scale: NDArray[Any] | None = None,
        nodes: NDArray[np.intp] | None = None,
        on_progress: OnProgress | None = None,
    ) -> NDArray[Any]:
        """See `Walk`."""
        H = H if nodes is None else H[nodes]
        H = H.toarray() if sparse.issparse(H) else H
        H = H.astype(self.dtype, copy=False)
        H = H if scale is None else H * scale[:, None]
        hops, total = len(coefficients) - 1, None
        for k in range(hops + 1):
            if k:
                H = self.step(hops - k, H)
                if on_progress:
                    on_progress(k, hops)
            if coefficients[k] != 0:
                place = self.places[hops - k]
                # A python float leaves float32 what it is.
                term = float(coefficients[k]) * (H if place is None else H[place])
                total = term if total is None else total + term
        return np.zeros((self.n_rows, H.shape[1]), dtype=self.dtype) if total is None else total

    def step(self, k: int, H: Any) -> Any:
        """See `Walk`."""
        product = self.blocks[k].matrix(self.dtype) @ H
        return product if sparse.issparse(product) else np.asarray(product)

    def through(
        self, X: Any, scale: NDArray[Any] | None, V: NDArray[np.float64], coefficients: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """See `Walk`."""
        return self.forward(np.asarray(X @ V), coefficients, scale=scale)

    def backward(self, G: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Walk`; by Horner's rule."""
        hops = len(coefficients) - 1
        H: NDArray[Any] = coefficients[hops] * self._spread(G)
        for k in range(hops):
            H = np.asarray(self.blocks[k].matrix(self.dtype).T @ H)
            coefficient = coefficients[hops - k - 1]
            if coefficient != 0:
                place = self.places[k + 1]
                H[slice(None) if place is None else place] += coefficient * G
        return H

    def _spread(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        """G over `F_0`, where the rows need not be all of it."""
        if self.places[0] is None:
            return G
        spread = np.zeros((self.blocks[0].shape[0], G.shape[1]))
        spread[self.places[0]] = G
        return spread
