"""`Z^T middle(Z V)` in one pass over the samples, in their own precision or in float64, without a wide copy of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.classify.scaling import ScaledDesign
from sgclearn.propagation.design import Design, ExplicitDesign

Array = NDArray[np.float64]
# From rows `part` of `Z V` (b, C) to what is pulled back through the same rows (b, C).
Middle = Callable[[slice, NDArray[Any]], NDArray[Any]]
_WHOLE = slice(None)


def normal_product(design: Design, V: Array, middle: Middle, *, exact: bool = True) -> Array:
    """`Z^T middle(Z V)` (d, C), where `middle` works row by row.

    A dense design is read once, a block of rows at a time. Blocks of a float32 design are widened one by one, or with
    `exact=False` multiplied in float32; sums over blocks are float64 either way.
    """
    if isinstance(design, ScaledDesign):
        return _scaled(design, V, middle, exact)
    if not isinstance(design, ExplicitDesign) or not design.is_blocked:
        return design.rmatmul(middle(_WHOLE, design.matmul(V)))
    total = np.zeros((design.shape[1], V.shape[1]))
    narrow = V if exact else V.astype(design.dtype, copy=False)
    for part, block in design.row_blocks(widen=exact):
        total += block.T @ middle(part, block @ narrow)
    return total


def _scaled(design: ScaledDesign, V: Array, middle: Middle, exact: bool) -> Array:
    """`Z' = (Z - 1 t^T) diag(s)`: the shift is a row of logits on the way there, a sum of rows on the way back."""
    shift, factor = design.scaling.shift, design.scaling.factor[:, None]
    raw = factor * V
    offset = shift @ raw
    sums = np.zeros(V.shape[1])

    def shifted(part: slice, Q: NDArray[Any]) -> NDArray[Any]:
        nonlocal sums
        G = middle(part, Q - offset.astype(Q.dtype, copy=False))
        sums = sums + G.sum(axis=0, dtype=np.float64)
        return G

    product = normal_product(design.design, raw, shifted, exact=exact)
    product -= np.outer(shift, sums)
    product *= factor
    return product
