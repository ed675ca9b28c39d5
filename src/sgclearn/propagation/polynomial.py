"""A polynomial of S times something thin, over nested sets of nodes: forward, and back through the transpose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Terms:
    """`sum_k c_k (S^k H)[rows]` with the blocks `B_k = S[F_k, F_{k+1}]` of `hop_blocks`.

    Parameters
    ----------
    coefficients : ndarray (K + 1,)
    sets : list of ndarray of int
        `F_0 = rows, ..., F_K`; only `F_0` for a graph without edges, where S = I.
    rows : ndarray of int (m,)
    """

    def __init__(
        self, coefficients: NDArray[np.float64], sets: list[NDArray[np.intp]], rows: NDArray[np.intp]
    ) -> None:
        hops = len(sets) - 1
        # Without edges every power of S is the identity.
        self.coefficients = coefficients if hops == len(coefficients) - 1 else np.array([coefficients.sum()])
        self.sizes = [len(nodes) for nodes in sets]
        # Where the rows stand in F_1, ..., F_K; not needed for a plain power.
        self.is_power = not self.coefficients[:-1].any()
        places = [] if self.is_power else [np.searchsorted(nodes, rows) for nodes in sets[1:]]
        self.places: list[Any] = [slice(None), *places]

    def forward(self, blocks: list[Any], H: NDArray[Any]) -> NDArray[Any]:
        """From H over `F_K` (|F_K|, C) to the rows (m, C): `H, SH, SSH, ...` weighed as they come."""
        hops = len(blocks)
        total: Any = None
        for k in range(hops + 1):
            if k:
                H = blocks[hops - k] @ H
            if self.coefficients[k] != 0:
                term = self.coefficients[k] * (H if k == hops else H[self.places[hops - k]])
                total = term if total is None else total + term
        return np.zeros((self.sizes[0], H.shape[1])) if total is None else np.asarray(total)

    def backward(self, blocks: list[Any], G: NDArray[Any]) -> NDArray[Any]:
        """From G over the rows (m, C) to `F_K`, the transpose of `forward`, by Horner's rule."""
        hops = len(blocks)
        H: NDArray[Any] = self.coefficients[hops] * G
        for k in range(hops):
            H = np.asarray(blocks[k].T @ H)
            coefficient = self.coefficients[hops - k - 1]
            if coefficient != 0:
                np.add.at(H, self.places[k + 1], coefficient * G)
        return H
