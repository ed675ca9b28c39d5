"""Which samples are for training, validation and test, and labels held back to measure with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError

SPLITS = ("train", "val", "test")
DEFAULT_HELD_OUT = 0.2


def has_label(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Which samples have a target: integers other than -1, objects other than None, numbers that are not NaN.

    Of several targets a sample, (m, q), one is enough.
    """
    if y.dtype.kind == "f":
        known = ~np.isnan(y)
    else:
        known = np.asarray(y != (-1 if y.dtype.kind == "i" else None))
    return np.asarray(known if known.ndim == 1 else known.any(axis=1))


def without_labels(y: NDArray[Any], hidden: NDArray[Any]) -> NDArray[Any]:
    """A copy of y without the targets of some samples."""
    kept = y.copy()
    kept[hidden] = {"i": -1, "f": np.nan}.get(y.dtype.kind)
    return kept


def hold_out(y: NDArray[Any], share: float, seed: int) -> NDArray[Any]:
    """Split labels into "train" and "test": of every class the same share is for test; of numbers a share of all.

    Parameters
    ----------
    y : array (m,) or (m, q)
        Integers with -1, objects with None, or numbers with NaN, where there is no label.
    share : float in [0, 1)
        Rounded for each class; every class keeps at least one label to train on.
    seed : int

    Returns
    -------
    object array (m,)
        "train", "test" or None.

    Examples
    --------
    >>> hold_out(np.array([3, 3, -1, 5, 5]), 0.5, seed=7).tolist()
    ['test', 'train', None, 'test', 'train']
    """
    if not 0 <= share < 1:
        raise InputError(
            "held_out must be a share of at least 0 and below 1",
            f"{share}",
            "the usual is 0.2",
            argument="held_out",
        )
    known = np.flatnonzero(has_label(y))
    split = np.full(len(y), None, dtype=object)
    split[known] = "train"
    rng = np.random.default_rng(seed)
    if y.dtype.kind == "f":
        groups = [known]
    else:
        groups = [known[y[known] == label] for label in sorted(set(y[known].tolist()))]
    for samples in groups:
        count = min(round(share * len(samples)), len(samples) - 1)
        split[rng.permutation(samples)[:count]] = "test"
    return split
