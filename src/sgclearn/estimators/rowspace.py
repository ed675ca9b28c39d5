r"""Coordinates in which small problems are solved: the space the samples span, its directions the principal ones.

Fewer samples than columns: for any bias the L2-penalised optimum `Theta` is a combination of the samples
(representer theorem), because a component orthogonal to all of them costs penalty and changes no logit. With an
orthonormal basis `V` (d, r) of that space, `Theta = V Phi` and `|Theta| = |Phi|`: the problem in `Phi` (r, C) over
`Z V` (m, r) is the same problem.
Exact for positive weight decay with any sample weights, free or penalised bias, and scaling after propagation.
A bias that is penalised like the weights is one more column of ones.

The basis comes from the small Gram matrix: with `diag(w)^1/2 Z = U diag(s) V^T`, `V = Z^T C` for the combinations
`C = diag(w)^1/2 U / s`, so that V itself is never formed. In these coordinates `Z^T diag(w) Z` is diagonal, which is
what the preconditioner wants. A Gram matrix blurs directions with small s: those are found again from the samples.

Few columns: the same coordinates from the eigenvectors of `[Z 1]^T diag(w) [Z 1]`, for the same reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sgclearn._native import load_kernel
from sgclearn.estimators.scaling import unscaled, used_columns
from sgclearn.propagation.costs import row_space_pays
from sgclearn.propagation.design import Design, ExplicitDesign

Array = NDArray[np.float64]
# Rounding in the Gram matrix lets a direction lean towards the largest by eps / (s / s_max), and the gradient with it:
# 2e-11 here. Where weight decay a leaves it logits as large as any, they are off by the square of that ratio, and so is
# the pull on the largest: 2e-10. A logit is at most s^2 / a: that needs an eps s_max^2 / a above the third number.
_BLURRED, _BLURRED_WITHOUT_DECAY, _LITTLE_DECAY = 1e-5, 1e-3, 1e-10
_FEW_COLUMNS, _FEW_ENTRIES = 256, 2**18  # samples that may be copied into other coordinates
_FEW_SAMPLES = 1024  # whose Gram matrix may be held twice


@dataclass(frozen=True)
class RowSpace:
    """Basis `V = [Z 1]^T C` of the samples' span (with `rest`, the directions that C cannot express), and the
    samples in its coordinates.
    """

    design: Design
    bordered: bool  # whether the bias is a column
    combinations: Array  # C (m, r - k)
    rest: Array  # (d or d + 1, k)
    samples: ExplicitDesign  # (m, r)
    squares: Array  # (r,), the diagonal of `V^T Z^T diag(w) Z V`

    @property
    def basis(self) -> Array:
        """V (d or d + 1, r)."""
        return np.concatenate([_pull_back(self.design, self.combinations, self.bordered), self.rest], axis=1)

    def weights(self, Phi: Array) -> tuple[Array, Array | None]:
        """`Theta = V Phi` (d, C), and the bias (C,) if it is a column."""
        k = self.combinations.shape[1]
        W = self.rest @ Phi[k:]
        if k:
            W += _pull_back(self.design, self.combinations @ Phi[:k], self.bordered)
        return (W[:-1], W[-1]) if self.bordered else (W, None)

    def cancellation(self, residuals: Array) -> float:
        """How much smaller the pull of the samples is than they are: `|Z^T R| / s_max` for residuals R (m, C)."""
        largest = float(np.sqrt(self.squares.max(initial=0.0)))
        return float(np.linalg.norm(self.samples.rmatmul(residuals))) / largest if largest > 0 else 1.0

    def coordinates(self, design: Design) -> ExplicitDesign:
        """`Z V` (any samples, r) for other samples."""
        return ExplicitDesign(_forward(design, self.basis, self.bordered))


def row_space(
    design: Design,
    weights: Array,
    bordered: bool = False,
    n_classes: int = 1,
    evaluations: float = np.inf,
    decay: float = np.inf,
    left: float = 1.0,
) -> RowSpace | None:
    """The row space of an explicit design where that makes the solver faster, else None.

    Parameters
    ----------
    design : Design
        Z (m, d).
    weights : ndarray (m,)
        Positive.
    bordered : bool
        Whether a column of ones is added.
    n_classes : int
    evaluations : float
        How many products with the samples the solver is expected to need: many rows are not worth factorising
        for a few. With more rows than used columns there is nothing to gain.
    decay : float
        The smallest weight decay: the less there is, the sharper directions have to be.
    left : float
        What `cancellation` has left of the pull of the samples, for the same reason.

    Notes
    -----
    Rank-revealing: singular values below `max(m, d) eps` times the largest are dropped. Cost: O(m^2 d) once.
    """
    base = unscaled(design)
    if not isinstance(base, ExplicitDesign):
        return None
    n_samples, n_columns = design.shape
    columns = used_columns(design)
    n_used = n_columns if columns is None else len(columns)
    entries = float(base.Z.nnz if base.is_sparse else base.Z.size)
    if not row_space_pays(n_samples, n_used, entries, base.is_sparse, n_classes, evaluations):
        return None
    root = np.sqrt(weights / weights.sum())[:, None]
    values, U = np.linalg.eigh(root * _gram(design, bordered) * root.T)
    s = np.sqrt(np.maximum(values, 0.0))
    little_decay = np.finfo(np.float64).eps * float(values[-1]) > _LITTLE_DECAY * decay
    blurred = min((_BLURRED_WITHOUT_DECAY if little_decay else _BLURRED) / max(left, _BLURRED), 0.5)
    k = int(np.searchsorted(s, blurred * s[-1], side="right"))  # they ascend: from here on they are sharp
    combinations = root * U[:, k:] / s[k:]
    samples, squares = U[:, k:] * s[k:] / root, values[k:]
    rest = _blurred_directions(design, bordered, root * U[:, :k], combinations, float(s[-1]))
    if rest.shape[1]:
        more = _forward(design, rest, bordered)
        samples, squares = np.concatenate([samples, more], axis=1), np.append(squares, weights @ more**2)
    return RowSpace(design, bordered, combinations, rest, ExplicitDesign(samples), squares)


def principal_columns(
    design: Design,
    weights: Array,
    bordered: bool,
    most_columns: int = _FEW_COLUMNS,
    most_entries: int = _FEW_ENTRIES,
) -> RowSpace | None:
    """The space of all columns of an explicit design, turned into principal directions, where they are few."""
    n_samples, n_columns = design.shape
    if not isinstance(unscaled(design), ExplicitDesign):
        return None
    if n_columns > most_columns or n_samples * n_columns > most_entries or n_samples < n_columns:
        return None
    Z = design.rows(np.arange(n_samples))
    if bordered:
        Z = np.concatenate([Z, np.ones((n_samples, 1))], axis=1)
    values, V = np.linalg.eigh((Z.T * (weights / weights.sum())) @ Z)
    none = np.zeros((n_samples, 0))
    return RowSpace(design, bordered, none, V, ExplicitDesign(Z @ V), np.maximum(values, 0.0))


def _gram(design: Design, bordered: bool) -> Array:
    """`Z Z^T` (m, m), one more everywhere with a column of ones; sparse samples in dense blocks of columns."""
    n_samples = design.shape[0]
    kernel = load_kernel()
    if (
        kernel is not None
        and n_samples <= _FEW_SAMPLES
        and isinstance(design, ExplicitDesign)
        and design.is_sparse
    ):
        Z = design.Z if design.Z.has_sorted_indices else design.Z.sorted_indices()
        gram = np.empty((n_samples, n_samples))
        multiply = kernel.gram_f64_i32 if Z.indices.dtype == np.int32 else kernel.gram_f64_i64
        multiply(Z.indptr, Z.indices, Z.data, Z.shape[1], gram)
        gram += bordered
        return gram
    gram = np.full((n_samples, n_samples), float(bordered))
    for _, _, block in design.column_blocks():
        gram += block @ block.T
    return gram


def _blurred_directions(
    design: Design, bordered: bool, combinations: Array, sharp: Array, largest: float
) -> Array:
    """An orthonormal basis (d, k) of what the samples span beside the sharp directions."""
    if not combinations.shape[1] or not largest:
        return np.zeros((design.shape[1] + bordered, 0))
    directions = _pull_back(design, combinations, bordered)
    eps = max(design.shape) * np.finfo(np.float64).eps
    if np.linalg.norm(directions) <= eps * largest:  # samples that are equal, or combinations of others
        return np.zeros((len(directions), 0))
    for _ in range(2):  # twice is enough
        inside = sharp.T @ _forward(design, directions, bordered)
        directions = directions - _pull_back(design, sharp @ inside, bordered)
    left, values, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(left[:, values > eps * largest])


def _forward(design: Design, V: Array, bordered: bool) -> Array:
    """`[Z 1] V`, or `Z V`."""
    return design.matmul(V[:-1]) + V[-1] if bordered else design.matmul(V)


def _pull_back(design: Design, G: Array, bordered: bool) -> Array:
    """`[Z 1]^T G`, or `Z^T G`."""
    pulled = design.rmatmul(G)
    return np.concatenate([pulled, G.sum(axis=0)[None, :]]) if bordered else pulled
