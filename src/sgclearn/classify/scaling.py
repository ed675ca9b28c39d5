"""Scaling after propagation as a change of coordinates: the features are never centred, copied or densified.

With shift `t` and factor `s` of every column, the scaled design is `Z' = (Z - 1 t^T) diag(s)`. The penalty lives in
the scaled coordinates; `Z' V = Z (s V) - 1 (t s)^T V`, so the fitted weights go back as `Theta = s Theta'` and
`b = b' - (t s)^T Theta'`. Without an intercept the shift is tied to the weights in the same way, not free.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.propagation.design import Design, ExplicitDesign

Array = NDArray[np.float64]
SCALES = (None, "standard", "minmax", "maxabs")


@dataclass(frozen=True)
class Scaling:
    """Shift (d,) and factor (d,) of every column; a column that is constant over the samples gets factor 0."""

    shift: Array
    factor: Array

    def unscale(self, Theta: Array, b: Array) -> tuple[Array, Array]:
        """Weights for the unscaled columns, from weights for the scaled ones."""
        raw = self.factor[:, None] * Theta
        return raw, b - self.shift @ raw


def fit_scaling(design: Design, scale: str | None) -> Scaling | None:
    """Statistics of the samples of a design, read a block of columns at a time."""
    if scale not in SCALES:
        raise InputError(f"scale must be None, 'standard', 'minmax' or 'maxabs': got {scale!r}.")
    if scale is None:
        return None
    shift, spread = np.zeros(design.shape[1]), np.zeros(design.shape[1])
    for start, stop, block in design.column_blocks():
        if scale == "standard":
            shift[start:stop] = block.mean(axis=0)
            spread[start:stop] = block.std(axis=0)
        elif scale == "minmax":
            shift[start:stop] = block.min(axis=0)
            spread[start:stop] = block.max(axis=0) - shift[start:stop]
        else:
            spread[start:stop] = np.abs(block).max(axis=0)
    # Rounding leaves a constant column a spread of about eps times its size: such a column carries nothing.
    constant = spread <= 10 * np.finfo(np.float64).eps * np.abs(shift)
    factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=~constant & (spread > 0))
    return Scaling(shift, factor)


def centred(scaling: Scaling | None, design: Design, weights: Array) -> Scaling:
    """The scaling with the weighted mean of every column as its shift."""
    mean = design.rmatmul((weights / weights.sum())[:, None])[:, 0]
    return Scaling(mean, np.ones(len(mean)) if scaling is None else scaling.factor)


class ScaledDesign:
    """`(Z - 1 t^T) diag(s)` as a design."""

    def __init__(self, design: Design, scaling: Scaling) -> None:
        self.design, self.scaling, self.shape = design, scaling, design.shape

    def matmul(self, V: Array) -> Array:
        """`Z (s V) - 1 (t s)^T V`."""
        raw = self.scaling.factor[:, None] * V
        return np.asarray(self.design.matmul(raw) - self.scaling.shift @ raw)

    def rmatmul(self, G: Array) -> Array:
        """`s (Z^T G - t (1^T G))`."""
        centred = self.design.rmatmul(G) - self.scaling.shift[:, None] * G.sum(axis=0)
        return np.asarray(self.scaling.factor[:, None] * centred)

    def rows(self, batch: NDArray[np.intp]) -> Array:
        """Scaled rows, dense."""
        return (self.design.rows(batch) - self.scaling.shift) * self.scaling.factor

    def column_blocks(self) -> Iterator[tuple[int, int, Array]]:
        """Scaled blocks of columns, dense."""
        for start, stop, block in self.design.column_blocks():
            part = slice(start, stop)
            yield start, stop, (block - self.scaling.shift[part]) * self.scaling.factor[part]

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """Some of the rows, scaled alike."""
        return ScaledDesign(self.design.subset(batch), self.scaling)

    def squares(self, weights: Array) -> Array | None:
        """`s^2 (sum w z^2 - 2 t sum w z + t^2 sum w)`, from the unscaled sums."""
        raw = self.design.squares(weights)
        if raw is None:
            return None
        shift = self.scaling.shift
        first = self.design.rmatmul(weights[:, None])[:, 0]
        centred = np.maximum(raw - 2 * shift * first + shift**2 * weights.sum(), 0.0)
        return np.asarray(self.scaling.factor**2 * centred)


def unscaled(design: Design) -> Design:
    """The design under any scaling of it."""
    while isinstance(design, ScaledDesign):
        design = design.design
    return design


def used_columns(design: Design) -> NDArray[np.intp] | None:
    """Columns of an explicit design that are not zero for every sample; None where that is not known cheaply."""
    base = unscaled(design)
    if not isinstance(base, ExplicitDesign) or not base.is_sparse:
        return None
    used = np.zeros(base.shape[1], dtype=bool)
    used[base.Z.indices] = True
    return np.flatnonzero(used)
