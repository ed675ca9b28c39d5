"""Smallest and largest entries of the columns of a design, without forming it where the graph tells them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sgclearn.propagation.design import Design
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.implicit import ImplicitDesign
from sgclearn.propagation.neighbourhood import is_everyone

Array = NDArray[np.float64]
_MOST_PARTS = 64  # that a pass keeps apart


def column_extremes(
    design: Design, samples: Sequence[NDArray[np.intp]], on_progress: OnProgress | None = None
) -> tuple[Array, Array]:
    """Smallest and largest entry (p, d) of every column over p sets of samples, in one pass.

    Rows of one or two hops over identity features are sums of a few sparse rows: these are added up one by one, at
    a cost of O(nnz(S[rows]) times the mean length of a row) for all columns together.
    """
    low, high = np.empty((2, len(samples), design.shape[1]))
    of_sample, parts_of = _parts(design.shape[0], samples)
    factors = (
        design.factors() if isinstance(design, ImplicitDesign) and len(parts_of) <= _MOST_PARTS else None
    )
    if factors is not None and isinstance(design, ImplicitDesign):
        lows, highs = design.engine.product_extremes(*factors, of_sample, len(parts_of), on_progress)
        for k in range(len(samples)):
            low[k], high[k] = lows[parts_of[:, k]].min(axis=0), highs[parts_of[:, k]].max(axis=0)
        return low, high
    for start, stop, block in design.column_blocks():
        for k, rows in enumerate(samples):
            part = block if is_everyone(rows, len(block)) else block[rows]
            low[k, start:stop], high[k, start:stop] = part.min(axis=0), part.max(axis=0)
        if on_progress is not None:
            on_progress(stop, design.shape[1])
    return low, high


def _parts(n: int, samples: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The part of each of n samples, and which parts make up every set: parts are the samples of the same sets."""
    inside = np.zeros((n, len(samples)), dtype=bool)
    for k, rows in enumerate(samples):
        inside[rows, k] = True
    parts, of_sample = np.unique(inside, axis=0, return_inverse=True)
    return of_sample.ravel().astype(np.int64), parts
