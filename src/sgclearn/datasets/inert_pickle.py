"""Pickles read without running anything: every name that a file may use is a holder of this module.

A pickle is a program. This reader knows six names, none of which is the real thing: an array is only made, from plain
numbers and the bytes of the file, after its shape and type have been checked, and no object array ever is.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.validation.reading import reading


class StoredDtype:
    """A numeric type by its code, such as "f4"; the byte order comes with the state."""

    def __init__(self, code: str, *_: Any) -> None:
        if not isinstance(code, str) or len(code) > 3 or code[:1] not in "fiub":
            raise ValueError(f"an array of type {code!r}")
        self.code, self.order = code, "<"

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or state[1] not in ("<", ">", "|"):
            raise ValueError("a type with a strange byte order")
        self.order = state[1]


class StoredArray:
    """An array of numbers; `value` is there once its state has been read and found consistent."""

    value: NDArray[Any]

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, raw = state
        if not isinstance(dtype, StoredDtype) or not isinstance(raw, str | bytes):
            raise ValueError("an array of objects")
        content = raw.encode("latin1") if isinstance(raw, str) else raw
        kind = np.dtype(dtype.order + dtype.code)
        if len(shape) > 2 or math.prod(shape) * kind.itemsize != len(content):
            raise ValueError(f"an array of shape {shape} in {len(content)} bytes")
        array = np.frombuffer(content, dtype=kind).reshape(shape, order="F" if fortran else "C")
        self.value = array.astype(kind.newbyteorder("="))


class StoredMatrix:
    """A sparse matrix as the attributes that scipy gave it."""

    def __setstate__(self, state: Any) -> None:
        for name in ("data", "indices", "indptr", "_shape"):
            held = state[name]
            setattr(self, name, held.value if isinstance(held, StoredArray) else held)


class _Function:
    """Something a pickle may call; nothing can be set on it."""

    __slots__ = ("_result",)

    def __init__(self, result: Any) -> None:
        self._result = result

    def __call__(self, *arguments: Any) -> Any:
        return self._result(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise ValueError("a change to a function")


_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _Function(lambda *_: StoredArray()),
    ("numpy._core.multiarray", "_reconstruct"): _Function(lambda *_: StoredArray()),
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): _Function(StoredDtype),
    ("scipy.sparse.csr", "csr_matrix"): StoredMatrix,
    ("collections", "defaultdict"): _Function(lambda *_: defaultdict(list)),
    ("__builtin__", "list"): "list",
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise InputError(
                "a Planetoid file must need numpy arrays only",
                f"{module}.{name}",
                "do not trust this file, get the original again",
            ) from None


def _check_opcodes(content: bytes) -> None:
    """Refuse a number that would size a table, or a text, beyond what the file itself can fill."""
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > len(content):
            raise ValueError(f"memo entry {argument} in a file of {len(content):,} bytes")
        if opcode.name.startswith(("PROTO", "FRAME")) and int(argument or 0) > max(len(content), 5):
            raise ValueError(f"a frame of {argument} bytes in a file of {len(content):,}")


def read_pickle(path: Path) -> Any:
    """Object of a Planetoid file: numbers, texts, lists, dictionaries, `ndarray` or `StoredMatrix`."""
    with reading(path, "an original Planetoid file", "get it again"):
        content = path.read_bytes()
        _check_opcodes(content)
        held = _Unpickler(io.BytesIO(content), encoding="latin1").load()
    return held.value if isinstance(held, StoredArray) else held
