"""How large `g(S) X` can become, and the error where it left the range of its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError

if TYPE_CHECKING:
    from sgclearn.operators import Operator

# Features are at most 1e150, so that this much growth leaves room for the sums on the way.
_HARMLESS = 1e100
_ORDINARY_GAMMA = 1e-6, 1e6
_FEW = 2**17


def growth(operator: Operator | None, coefficients: NDArray[np.float64]) -> float:
    r"""Bound on `max |g(S) X| / max |X|`, for any X. Cost: O(n), or O(1) without weights.

    Rows of `P = D~^-1 A~` sum to at most one, and `S = D~^1/2 P D~^-1/2` for ``sym``: its powers grow by at most the
    root of the ratio of two degrees. The powers of ``cheby``, `D^1/2 (I + P) D^-1/2`, may double with every hop.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.abs(coefficients)
        if operator is None or operator.normalization == "rw":
            return float(sizes.sum())
        if operator.normalization == "cheby":
            hops = np.flatnonzero(sizes)
            sizes = sizes[hops] * np.exp2(hops)
        return float(sizes.sum() * _degree_ratio(operator))


def _degree_ratio(operator: Operator) -> float:
    low, high = _ORDINARY_GAMMA
    if operator.graph.weights is None and (not operator.gamma or low < operator.gamma < high):
        return float(np.sqrt((operator.n_nodes + high) / low))  # degrees are counts
    scales = operator.left[operator.left > 0]
    return float(scales.max() / scales.min()) if len(scales) else 1.0


def may_overflow(operator: Operator | None, coefficients: NDArray[np.float64], dtype: np.dtype[Any]) -> bool:
    """Whether the result has to be looked at; float32 has so little room that it always has."""
    return dtype != np.float64 or not growth(operator, coefficients) < _HARMLESS


def check_finite_rows(Z: Any, n_hops: int) -> None:
    """An error where propagated rows, dense or sparse, are not finite."""
    values = Z.data if sparse.issparse(Z) else Z
    if is_finite(values):
        return
    wider = "" if values.dtype == np.float64 else "as float64, "
    raise InputError(
        "the propagated features must be finite",
        f"numbers beyond {np.finfo(values.dtype).max:.1e} after {n_hops} hops",
        f"give the features {wider}divided by a large number, or take fewer hops",
    )


def is_finite(values: NDArray[Any]) -> bool:
    """Whether all values are finite; many of them by their sum, without a temporary array where they are."""
    if values.size <= _FEW:  # for these, setting numpy's error state takes longer than looking at them
        return bool(np.isfinite(values).all())
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())
