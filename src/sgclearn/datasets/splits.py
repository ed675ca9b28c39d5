"""Which nodes are for training, validation and test.

Three kinds of split:

public
    The one that came with the data; nothing is drawn.
per class (`split_per_class`)
    For data without a public split: of each class so many nodes for training, so many for validation, the
    rest (or so many) for test, all at random.
training redrawn (`redraw_training`)
    The paper's "random splits": validation and test nodes stay those of the public split, and the training
    nodes are drawn anew, so many of each class, from all labelled nodes outside of both.

A draw permutes each class once and cuts the permutation from the front. With one seed, a smaller training set
is therefore part of a larger one, which makes learning curves smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import Alternatives, InputError, Setting
from sgclearn.validation.parameters import check_parameter, is_whole, shown

Positions = NDArray[np.intp]


class Split(NamedTuple):
    """Positions of nodes, ascending; no node is in two of them."""

    train: Positions
    val: Positions
    test: Positions


def split_per_class(
    y: NDArray[Any], n_train: int, n_val: int, n_test: int | None, seed: int, class_names: Sequence[str]
) -> Split:
    """Draw training, validation and test nodes of each class.

    Parameters
    ----------
    y : integer array, shape (n,)
        Class of each node, -1 for no label; nodes without a label are in no part.
    n_train, n_val : int
        Nodes of each class for training (at least 1) and for validation.
    n_test : int or None
        Nodes of each class for test; None takes all that are left.
    seed : int
        The same seed gives the same split.
    class_names : sequence of str
        Name of each class, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 1, 1, 1, -1])
    >>> [len(part) for part in split_per_class(y, 1, 1, None, seed=7, class_names=("a", "b"))]
    [2, 2, 2]
    """
    rng = _generator(seed)
    n_train = _count("n_per_class", n_train, least=1)
    stop_val = n_train + _count("n_val", n_val, least=0)
    stop = None if n_test is None else stop_val + _count("n_test", n_test, least=0)
    parts: list[list[Positions]] = [[], [], []]
    for k, name in enumerate(class_names):
        members = rng.permutation(np.flatnonzero(y == k))
        _check_enough(name, len(members), stop_val if stop is None else stop)
        for part, drawn in zip(parts, np.split(members[:stop], [n_train, stop_val]), strict=True):
            part.append(drawn)
    return Split(*(np.sort(np.concatenate(part)) for part in parts))


def redraw_training(
    y: NDArray[Any], public: Split, n_train: int, seed: int, class_names: Sequence[str]
) -> Split:
    """Keep validation and test, draw the training nodes anew: the paper's random splits.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 1, 1, 1, -1])
    >>> public = Split(np.array([0, 3]), np.array([1]), np.array([4]))
    >>> split = redraw_training(y, public, 1, seed=7, class_names=("a", "b"))
    >>> len(split.train), split.val, split.test
    (2, array([1]), array([4]))
    """
    free = np.array(y)
    free[np.concatenate([public.val, public.test])] = -1
    drawn = split_per_class(free, n_train, 0, 0, seed, class_names)
    return Split(drawn.train, public.val, public.test)


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(check_parameter("seed", seed))


def _count(name: str, value: int, least: int) -> int:
    if not is_whole(value) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}", shown(value), argument=name)
    return int(value)


def _check_enough(name: str, have: int, need: int) -> None:
    if have < need:
        raise InputError(
            f"each class must have {need} labelled nodes to draw from",
            f"{have} in class {name!r}",
            ("lower ", Alternatives(*map(Setting, ("n_per_class", "n_val", "n_test")))),
        )
