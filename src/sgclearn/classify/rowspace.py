"""Fewer samples than columns: fit in the space the samples span.

For any bias the L2-penalised optimum `Theta` is a combination of the samples (representer theorem), because a
component orthogonal to all of them costs penalty and changes no logit. With an orthonormal basis `V` (d, r) of that
space, `Theta = V Phi` and `|Theta| = |Phi|`: the problem in `Phi` (r, C) over `Z V` (m, r) is the same problem.
Exact for positive weight decay with any sample weights, free or penalised bias, and scaling after propagation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.classify.scaling import ScaledDesign, used_columns
from sgclearn.propagation.costs import row_space_pays
from sgclearn.propagation.design import Design, ExplicitDesign

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RowSpace:
    """Basis V of the samples' span, and the samples in its coordinates.

    `basis` is (d', r) over the d' columns in `columns` (all columns if None); the others are zero.
    """

    basis: Array
    columns: NDArray[np.intp] | None
    n_columns: int
    samples: ExplicitDesign

    def weights(self, Phi: Array) -> Array:
        """`Theta = V Phi` (d, C)."""
        part = self.basis @ Phi
        if self.columns is None:
            return part
        Theta = np.zeros((self.n_columns, Phi.shape[1]))
        Theta[self.columns] = part
        return Theta

    def coordinates(self, design: Design) -> ExplicitDesign:
        """`Z V` (any samples, r) for other samples."""
        return ExplicitDesign(design.matmul(self.weights(np.eye(self.basis.shape[1]))))


def row_space(design: Design, n_classes: int = 1, evaluations: float = np.inf) -> RowSpace | None:
    """The row space of an explicit design where that makes the solver faster, else None.

    `evaluations` is how many products with the samples the solver is expected to need: many rows are not worth
    factorising for a few. With more rows than used columns there is nothing to gain.

    Rank-revealing: singular values below `max(m, d) eps` times the largest are dropped.
    Cost: O(m^2 d) once.
    """
    base = design.design if isinstance(design, ScaledDesign) else design
    if not isinstance(base, ExplicitDesign):
        return None
    n_samples, n_columns = design.shape
    columns = used_columns(design)
    n_used = n_columns if columns is None else len(columns)
    entries = float(base.Z.nnz if base.is_sparse else base.Z.size)
    if not row_space_pays(n_samples, n_used, entries, base.is_sparse, n_classes, evaluations):
        return None
    Z = _dense(base.Z, columns)
    if isinstance(design, ScaledDesign):
        part = slice(None) if columns is None else columns
        Z = (Z - design.scaling.shift[part]) * design.scaling.factor[part]
    return _factorise(Z, columns, n_columns)


def _factorise(Z: Array, columns: NDArray[np.intp] | None, n_columns: int) -> RowSpace:
    """`Z^T = Q R`, then the singular values of the small R reveal the rank."""
    from scipy import linalg

    Q, R = linalg.qr(Z.T, mode="economic", check_finite=False)  # (d', m), (m, m)
    left, values, right = linalg.svd(R, check_finite=False)
    rank = int((values > max(Z.shape) * np.finfo(np.float64).eps * values.max(initial=0.0)).sum())
    rank = max(rank, 1)
    # Z = (Q U s W^T)^T, so Z V = W s in the basis V = Q U.
    samples = np.ascontiguousarray(right[:rank].T * values[:rank])
    return RowSpace(Q @ left[:, :rank], columns, n_columns, ExplicitDesign(samples))


def _dense(Z: Any, columns: NDArray[np.intp] | None) -> Array:
    if not sparse.issparse(Z):
        return np.asarray(Z, dtype=np.float64)
    return np.asarray((Z if columns is None else Z[:, columns]).toarray(), dtype=np.float64)
