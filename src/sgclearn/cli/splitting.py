"""Labels held back to measure the accuracy on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError

DEFAULT_HELD_OUT = 0.2


def hold_out(y: NDArray[Any], share: float, seed: int) -> NDArray[Any]:
    """Split labels into "train" and "test": of every class the same share is for test.

    Parameters
    ----------
    y : array (n,)
        Integers with -1, or objects with None, where there is no label.
    share : float in [0, 1)
        Rounded for each class; every class keeps at least one label to train on.
    seed : int

    Returns
    -------
    object array (n,)
        "train", "test" or None.

    Examples
    --------
    >>> hold_out(np.array([3, 3, -1, 5, 5]), 0.5, seed=7).tolist()
    ['test', 'train', None, 'test', 'train']
    """
    if not 0 <= share < 1:
        raise InputError(
            f"--held-out must be a share of at least 0 and below 1: got {share}; the usual is 0.2."
        )
    known = np.flatnonzero(y != (-1 if y.dtype.kind == "i" else None))
    split = np.full(len(y), None, dtype=object)
    split[known] = "train"
    rng = np.random.default_rng(seed)
    for label in sorted(set(y[known].tolist())):
        nodes = known[y[known] == label]
        count = min(round(share * len(nodes)), len(nodes) - 1)
        split[rng.permutation(nodes)[:count]] = "test"
    return split
