"""Weights of a linear classifier of seen classes, as networks keep them in their last layer."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import DataFileError, SgclearnWarning
from sgclearn.tables.archives import load_arrays
from sgclearn.tables.contents import content
from sgclearn.tables.messages import counted
from sgclearn.validation.reading import as_path, reading, regular_file

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SeenClassifiers:
    """One linear classifier a class.

    Parameters
    ----------
    ids : object array (m,)
        The classes, in the order of the rows.
    matrix : ndarray (m, D) or (m, D + 1)
        Weights, and the bias as the last column.
    has_bias : bool
    """

    ids: NDArray[Any]
    matrix: Array
    has_bias: bool

    @property
    def n_features(self) -> int:
        """Numbers D an image has."""
        return int(self.matrix.shape[1]) - self.has_bias


def read_classifiers(
    path: str | os.PathLike[str], ids: str | os.PathLike[str] | None = None
) -> SeenClassifiers:
    """Read `weight` (m, D), `bias` (m,) and the ids of the classes.

    Parameters
    ----------
    path : path
        An npz file with `weight`, `bias` and `ids` (or `classes`); or a safetensors file with one tensor that is
        called weight, or ends in `.weight`, and its bias.
    ids : path, optional
        A text file with the id of one class a line, in the order of the rows, where the file has none.
    """
    path = as_path(path)
    arrays = _of_safetensors(path) if path.suffix.lower() == ".safetensors" else _of_npz(path)
    if "weight" not in arrays or arrays["weight"].ndim != 2:
        raise DataFileError(
            f"{path} must hold a table called weight, one row a class", ", ".join(arrays) or "nothing", "rename it",
            argument="weights",
        )  # fmt: skip
    weight = arrays["weight"].astype(np.float64)
    names = arrays.get("ids") if ids is None else np.array(read_lines(ids), dtype=object)
    if names is None:
        raise DataFileError(
            f"{path} must say which class each row is of",
            "no array called ids",
            "add one, or give a text file with one id a line",
            argument="seen",
        )
    bias = arrays.get("bias")
    if bias is None:
        warnings.warn(
            f"{path.name} has no bias: the classifiers are taken to have none.", SgclearnWarning, stacklevel=2
        )
    for what, array in (("ids", names), ("bias", bias)):
        if array is not None and array.shape != (len(weight),):
            raise DataFileError(
                f"{path}: {what} must have one entry for each of the {counted(len(weight), 'row')} of weight",
                f"shape {array.shape}",
                "write it again",
            )
    listed = [str(name) for name in names.tolist()]
    if len(set(listed)) < len(listed):
        twice = next(name for name in listed if listed.count(name) > 1)
        raise DataFileError(
            f"{path} must have every class once", f"{twice!r} more than once", "keep one of them"
        )
    matrix = weight if bias is None else np.column_stack([weight, bias])
    if not np.isfinite(matrix).all():
        raise DataFileError(f"{path} must hold finite numbers", "nan or infinity", "leave such classes out")
    return SeenClassifiers(np.array(listed, dtype=object), matrix, bias is not None)


def _of_npz(path: Path) -> dict[str, NDArray[Any]]:
    arrays = load_arrays(path, ("weight", "bias", "ids", "classes"))
    if "classes" in arrays:
        arrays.setdefault("ids", arrays.pop("classes"))
    return arrays


def _of_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    from safetensors import safe_open

    regular_file(path)
    with reading(path, "a safetensors file"), safe_open(path, framework="np") as file:
        names = list(file.keys())
        found = [name for name in names if name == "weight" or name.endswith(".weight")]
        if len(found) != 1:
            raise DataFileError(
                f"{path} must hold one tensor whose name ends in weight",
                ", ".join(found) or "none",
                "save the last layer alone",
                argument="weights",
            )
        arrays = {"weight": file.get_tensor(found[0])}
        bias = found[0].removesuffix("weight") + "bias"
        return arrays | ({"bias": file.get_tensor(bias)} if bias in names else {})


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a text file, without empty ones."""
    path = as_path(path)
    with reading(path, "text with one id a line"):
        return [line.strip() for line in bytes(content(path)).decode("utf-8").splitlines() if line.strip()]
