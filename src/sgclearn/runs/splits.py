"""Which samples are for training, validation and test, and labels held back to measure with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError

SPLITS = ("train", "val", "test")
DEFAULT_HELD_OUT, DEFAULT_SEED = 0.2, 2019


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


def split_labels(
    y: NDArray[Any], given: NDArray[Any] | None, held_out: float | None, seed: int, path: Path
) -> NDArray[Any]:
    """The split that labels came with, which must leave some to train on, or one that is drawn.

    Parameters
    ----------
    y : array (m,) or (m, q)
    given : object array (m,), or None
        "train", "val", "test", or None for samples without a label.
    held_out : float, optional
        Share to hold back where no split is given, 0.2 if not said.
    seed : int
    path : Path
        File of the labels, for messages.
    """
    if given is None:
        return hold_out(y, DEFAULT_HELD_OUT if held_out is None else held_out, seed)
    if held_out is not None:
        raise InputError(
            "held_out goes with labels without a split",
            f"it with {path}, which has one",
            "leave it out, or drop the split column",
            argument="held_out",
        )
    if not (given == "train").any():
        raise InputError(f"{path} must have labels to train on", "a split without train", "add some")
    return given


def check_classes(y: NDArray[Any], path: Path) -> None:
    """Refuse training labels of one class."""
    known = sorted(set(y[has_label(y)].tolist()))
    if len(known) < 2:
        raise InputError(
            f"{path} must have training labels of at least two classes",
            f"one class, {known[0]!r}",
            "label a sample of another class",
        )
