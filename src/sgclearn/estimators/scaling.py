"""Scaling after propagation as a change of coordinates: the features are never centred, copied or densified.

With shift `t` and factor `s` of every column, the scaled design is `Z' = (Z - 1 t^T) diag(s)`. The penalty lives in
the scaled coordinates; `Z' V = Z (s V) - 1 (t s)^T V`, so the fitted weights go back as `Theta = s Theta'` and
`b = b' - (t s)^T Theta'`. Without an intercept the shift is tied to the weights in the same way, not free.

Columns whose sizes differ by many orders of magnitude, from each other or from the ones of the bias, are balanced for
the solver in the same way, by powers of two; the penalty of a row is then `a s^2`, so that the problem is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError, Setting
from sgclearn.propagation.design import Design, ExplicitDesign
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.extremes import column_extremes
from sgclearn.propagation.neighbourhood import is_everyone

Array = NDArray[np.float64]
SCALES = (None, "standard", "minmax", "maxabs")
# Squares of numbers outside are too near the ends of what float64 holds.
_SMALLEST, _LARGEST = 1e-100, 1e100
# Sizes that differ by less are left alone: the tolerance of a solver tells them apart.
_ALIKE = 1e6
_PROBES = 24


@dataclass(frozen=True)
class Scaling:
    """Shift (d,) and factor (d,) of every column; a column that is constant over the samples gets factor 0."""

    shift: Array
    factor: Array

    def unscale(self, Theta: Array, b: Array) -> tuple[Array, Array]:
        """Weights for the unscaled columns, from weights for the scaled ones."""
        raw = self.factor[:, None] * Theta
        return raw, b - self.shift @ raw


def fit_scaling(design: Design, scale: str | None, on_progress: OnProgress | None = None) -> Scaling | None:
    """Statistics of the samples of a design, read a block of columns at a time."""
    return fit_scalings(design, scale, [np.arange(design.shape[0])], on_progress)[0]


def fit_scalings(
    design: Design,
    scale: str | None,
    samples: Sequence[NDArray[np.intp]],
    on_progress: OnProgress | None = None,
) -> list[Scaling | None]:
    """Statistics of several sets of samples of a design, such as those that folds train on, in one pass over it."""
    if scale not in SCALES:
        raise InputError(
            "scale must be None, 'standard', 'minmax' or 'maxabs'", repr(scale), argument="scale"
        )
    if scale is None:
        return [None] * len(samples)
    limits = _limits(design)
    with np.errstate(over="ignore", invalid="ignore"):
        if scale == "standard":
            first, second = _moments(design, samples, on_progress)
        else:
            first, second = column_extremes(design, samples, on_progress)
        return [_scaling(*statistics, scale, limits) for statistics in zip(first, second, strict=True)]


def _scaling(first: Array, second: Array, scale: str, limits: np.finfo[Any]) -> Scaling:
    """From means and deviations, or from smallest and largest values."""
    shift, spread = first, second
    if scale == "minmax":
        spread = second - first
    elif scale == "maxabs":
        shift, spread = np.zeros_like(first), np.maximum(second, -first)
    # Rounding leaves a constant column a spread of about eps times its size: such a column carries nothing.
    constant = spread <= 10 * float(limits.eps) * np.abs(shift)
    factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=~constant & (spread > 0))
    _check_columns(shift, spread, factor, scale, float(limits.tiny))
    return Scaling(shift, factor)


def _limits(design: Design) -> np.finfo[Any]:
    """Rounding and range of the entries as they were computed."""
    return getattr(unscaled(design), "limits", np.finfo(np.float64))


def _moments(
    design: Design, samples: Sequence[NDArray[np.intp]], on_progress: OnProgress | None
) -> tuple[Array, Array]:
    """Means and deviations (p, d) of every column over p sets of samples."""
    means, deviations = np.zeros((2, len(samples), design.shape[1]))
    for start, stop, block in design.column_blocks():
        for part, of_part in enumerate(samples):
            rows = block if is_everyone(of_part, len(block)) else block[of_part]
            means[part, start:stop], deviations[part, start:stop] = _mean_and_deviation(rows)
        if on_progress is not None:
            on_progress(stop, design.shape[1])
    return means, deviations


def _mean_and_deviation(block: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of every column; those whose squares leave the range, relative to their size."""
    size = np.maximum(block.max(axis=0), -block.min(axis=0))
    odd = (size > 0) & ~((size >= _SMALLEST) & (size <= _LARGEST))
    mean, deviation = block.mean(axis=0), block.std(axis=0)
    if odd.any():
        unit = block[:, odd] / size[odd]
        mean[odd], deviation[odd] = size[odd] * unit.mean(axis=0), size[odd] * unit.std(axis=0)
    return mean, deviation


def _check_columns(shift: Array, spread: Array, factor: Array, scale: str, tiny: float) -> None:
    """Below `tiny` the entries have lost digits, and scaling would make noise of the rest as large as anything."""
    finite = np.isfinite(shift) & np.isfinite(spread) & np.isfinite(factor)
    wrong = np.flatnonzero(~finite | ((factor > 0) & (spread < tiny)))
    if len(wrong):
        raise InputError(
            (Setting("scale", scale), " needs columns whose spread can be inverted"),
            f"{spread[wrong[0]]:.3g} for column {wrong[0]} after propagation ({len(wrong):,} such)",
            "multiply it by a number that brings it near 1",
        )


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
        shift, factor = self.scaling.shift, self.scaling.factor
        if not np.all((factor == 0) | ((factor >= _SMALLEST) & (factor <= _LARGEST))):
            # The sums of the unscaled squares would leave the range of the numbers.
            total = np.zeros(self.shape[1])
            for start, stop, block in self.column_blocks():
                total[start:stop] = np.einsum("ij,ij,i->j", block, block, weights)
            return total
        raw = self.design.squares(weights)
        if raw is None:
            return None
        first = self.design.rmatmul(weights[:, None])[:, 0]
        centred = np.maximum(raw - 2 * shift * first + shift**2 * weights.sum(), 0.0)
        return np.asarray(factor**2 * centred)


def balance(design: Design, has_bias: bool) -> Array | None:
    """Factors (d,), powers of two, that make the columns of a design alike, and like the ones of a bias.

    One number for all columns where only that is wanted; None where they are alike already, or scaled on purpose.
    """
    sizes = _column_sizes(design)
    used = sizes[sizes > 0]
    if not len(used):
        return None
    largest, smallest = float(used.max()), float(used.min())
    if largest <= _ALIKE * smallest:
        far = max(largest, 1.0 / largest) if np.isfinite(largest) else np.inf
        if far <= (_ALIKE if has_bias else _LARGEST**0.5):
            return None
        sizes = np.full(len(sizes), largest)
    return np.ldexp(1.0, -np.frexp(np.where(sizes > 0, sizes, 1.0))[1])


def _column_sizes(design: Design) -> Array:
    """Largest absolute value of every column (d,), or a number near it."""
    scaling = design.scaling if isinstance(design, ScaledDesign) else None
    base = unscaled(design)
    if not isinstance(base, ExplicitDesign):
        return _estimated_sizes(design)
    if base.is_sparse:
        high = _sparse_sizes(base.Z)
        low = -high
    else:
        high = base.Z.max(axis=0, initial=0.0).astype(np.float64, copy=False)
        low = base.Z.min(axis=0, initial=0.0).astype(np.float64, copy=False)
    if scaling is None:
        return np.maximum(high, -low)
    return np.asarray(scaling.factor * np.maximum(high - scaling.shift, scaling.shift - low))


def _sparse_sizes(Z: Any) -> Array:
    """Means of absolute values; one number for all columns where those of the stored entries say that it will do."""
    sizes = np.abs(Z.data)
    largest, smallest = float(sizes.max(initial=0.0)), float(sizes.min(initial=np.inf))
    if smallest == 0.0:
        smallest = float(sizes[sizes > 0].min(initial=np.inf))
    if largest <= _ALIKE * smallest:
        return np.full(Z.shape[1], largest)
    absolute = sparse.csr_array((sizes, Z.indices, Z.indptr), shape=Z.shape)
    return np.asarray(absolute.T @ np.full(Z.shape[0], 1.0 / Z.shape[0]))


def _estimated_sizes(design: Design) -> Array:
    """Root mean squares of columns that are never formed, from random signs."""
    signs = np.random.default_rng(2019).choice([-1.0, 1.0], size=(design.shape[0], _PROBES))
    sums = np.abs(design.rmatmul(signs))
    largest = sums.max(axis=1)
    unit = np.divide(sums, largest[:, None], out=np.zeros_like(sums), where=largest[:, None] > 0)
    return np.asarray(largest * np.sqrt(np.square(unit).mean(axis=1) / max(design.shape[0], 1)))


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
