"""Array-likes of people as plain arrays."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, InputTypeError
from sgclearn.validation.parameters import shown

_FLOATS = (float, np.floating)


def plain_array(values: Any, name: str) -> NDArray[Any]:
    """Values as an array, without a copy where they are one.

    Parameters
    ----------
    values : array-like
    name : str
        What a message calls them.

    Raises
    ------
    InputError
        For masked entries, which numpy's own conversion would turn back into numbers, and for lists whose rows
        have different lengths.

    Examples
    --------
    >>> plain_array([[1, 2], [3]], "X")
    Traceback (most recent call last):
    ...
    sgclearn.errors.InputError: X must be an array, with rows of one length: got [[1, 2], [3]]; give every row as ...
    """
    refuse_masks(values, name)
    try:
        return np.asarray(values)
    except (ValueError, OverflowError):
        raise InputError(
            f"{name} must be an array, with rows of one length",
            shown(values),
            "give every row as many entries",
            argument=name,
        ) from None
    except (TypeError, RuntimeError, AttributeError, NotImplementedError) as error:
        # what an object of another library answers that promises to be an array
        raise InputTypeError(
            f"{name} must be an array",
            f"{type(values).__name__} ({error})",
            "convert it to a numpy array",
            argument=name,
        ) from None


def refuse_masks(values: Any, name: str) -> None:
    """Refuse a masked array with something masked: its mask would be ignored."""
    if isinstance(values, list | tuple):  # of rows, each of which may have a mask
        values = next(
            (row for row in values if isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row)), values
        )
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        count = int(np.count_nonzero(np.ma.getmaskarray(values)))
        raise InputError(
            f"{name} must have no masked entries",
            f"{count:,} of {values.size:,} masked",
            "fill them with the array's filled(...), or leave their rows out",
            argument=name,
        )


def is_missing(value: Any) -> bool:
    """Whether a single value stands for none: None, NaN, or the NA of pandas, which is found without importing it."""
    return (
        value is None or type(value).__name__ == "NAType" or (isinstance(value, _FLOATS) and value != value)
    )


def real_array(values: Any, name: str) -> NDArray[Any]:
    """Values as an array of real numbers: bool, integer or float of any width."""
    array = plain_array(values, name)
    if not array.size:
        return np.zeros(array.shape)
    if array.dtype.kind == "O":
        with suppress(TypeError, ValueError, OverflowError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "biuf":
        raise InputTypeError(
            f"{name} must be real numbers",
            f"an array of {array.dtype}",
            "convert it to float64",
            argument=name,
        )
    if array.dtype.kind == "f" and (array.dtype.itemsize not in (4, 8) or not array.dtype.isnative):
        with np.errstate(over="ignore"):  # what is too large becomes infinity, which its use refuses
            return array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def positions_of(nodes: Any, n_nodes: int) -> NDArray[np.intp]:
    """Positions of the named nodes (m,), from positions in any order or a mask (n,)."""
    array = plain_array(nodes, "nodes")
    if array.dtype == bool:
        if array.shape != (n_nodes,):
            raise InputError(
                "a mask of nodes must have one entry a node", f"shape {array.shape}, not ({n_nodes},)"
            )
        return np.flatnonzero(array)
    if array.size == 0 and array.ndim == 1:
        return np.zeros(0, dtype=np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            "nodes must be row numbers or a mask",
            f"dtype {array.dtype} and shape {array.shape}",
            "graph.positions(ids) turns ids into row numbers",
            argument="nodes",
        )
    if array.min() < 0 or array.max() >= n_nodes:
        raise InputError(
            f"nodes must lie between 0 and {n_nodes - 1}", f"{array.min()} to {array.max()}", argument="nodes"
        )
    return array.astype(np.intp, copy=False)
