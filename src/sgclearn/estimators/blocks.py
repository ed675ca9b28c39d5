"""`Z^T middle(Z V)` in one pass over the samples, in their own precision or in float64, without a wide copy of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.scaling import ScaledDesign
from sgclearn.estimators.threads import mapping
from sgclearn.propagation.design import Design, ExplicitDesign

Array = NDArray[np.float64]
# From rows `part` of `Z V` (b, C) to what is pulled back through the same rows (b, C).
Middle = Callable[[slice, NDArray[Any]], NDArray[Any]]
_WHOLE = slice(None)
_SHARE = 8  # blocks that a thread takes at a time


def normal_product(design: Design, V: Array, middle: Middle, *, exact: bool = True) -> tuple[Array, Array]:
    """`Z^T G` (d, C) and `1^T G` (C,) for `G = middle(Z V)`, where `middle` works row by row.

    A dense design is read once, a block of rows at a time, and several threads share the blocks: `middle` must not
    care. Blocks of a float32 design are widened one by one, or with `exact=False` multiplied in float32. Sums over
    blocks are float64 and in order, so that they do not depend on the number of threads.
    """
    if isinstance(design, ScaledDesign):
        return _scaled(design, V, middle, exact)
    if not isinstance(design, ExplicitDesign) or not design.is_blocked:
        G = middle(_WHOLE, design.matmul(V))
        return design.rmatmul(G), G.sum(axis=0)
    narrow = V if exact else V.astype(design.dtype, copy=False)
    is_zero = not V.any()  # as at the start: half of the work is known

    def product(parts: list[slice]) -> tuple[Array, Array]:
        # The transpose of what is wanted: with few classes BLAS makes it a third faster.
        pulled, sums = np.zeros((V.shape[1], design.shape[1])), np.zeros(V.shape[1])
        for part in parts:
            block = design.Z[part].astype(narrow.dtype, copy=False)
            Q = np.zeros((len(block), V.shape[1]), narrow.dtype) if is_zero else block @ narrow
            G = middle(part, Q)
            pulled += G.T @ block
            sums += np.ones(len(G), G.dtype) @ G
        return pulled, sums

    parts = design.row_parts()
    shares = [parts[k : k + _SHARE] for k in range(0, len(parts), _SHARE)]
    with mapping(float(design.Z.size) * V.shape[1]) as map_shares:
        found = list(map_shares(product, shares))
    (pulled, sums), others = found[0], found[1:]
    for of_share, sum_of_share in others:
        pulled += of_share
        sums += sum_of_share
    return np.ascontiguousarray(pulled.T), sums


def _scaled(design: ScaledDesign, V: Array, middle: Middle, exact: bool) -> tuple[Array, Array]:
    """`Z' = (Z - 1 t^T) diag(s)`: the shift is a row of logits on the way there, a sum of rows on the way back."""
    shift, factor = design.scaling.shift, design.scaling.factor[:, None]
    raw = factor * V
    offset = shift @ raw

    def shifted(part: slice, Q: NDArray[Any]) -> NDArray[Any]:
        return middle(part, Q - offset.astype(Q.dtype, copy=False))

    pulled, sums = normal_product(design.design, raw, shifted, exact=exact)
    pulled -= np.outer(shift, sums)
    pulled *= factor
    return pulled, sums
