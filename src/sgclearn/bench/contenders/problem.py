"""What a contender is given, and what it gives back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True)
class Later:
    """An array that a library holds in a form of its own: made when it is compared, which is not timed."""

    make: Callable[[], Any]
    nbytes: int


@dataclass
class Answer:
    """Result of one run.

    arrays : named results, compared between contenders.
    figures : numbers worth reporting, such as an accuracy or the seconds of a part.
    """

    arrays: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)


Run = Callable[[], Answer]


class Problem:
    """Arrays of a graph problem in a folder, read into memory when first asked for.

    They are read and not mapped: the pages of a file would be gathered from more slowly than those of an array.
    """

    def __init__(self, folder: str | Path, settings: dict[str, Any] | None = None) -> None:
        self.folder = Path(folder)
        self.settings = {**json.loads((self.folder / "problem.json").read_text()), **(settings or {})}

    def array(self, name: str) -> NDArray[Any]:
        """Array of one file."""
        return np.ascontiguousarray(np.load(self.folder / f"{name}.npy"))

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return (self.folder / f"{name}.npy").exists()

    @property
    def n_hops(self) -> int:
        """K."""
        return int(self.settings["n_hops"])

    @cached_property
    def indptr(self) -> NDArray[Any]:
        """Of the adjacency matrix A."""
        return self.array("indptr")

    @cached_property
    def indices(self) -> NDArray[Any]:
        """Of the adjacency matrix A."""
        return self.array("indices")

    @property
    def n_nodes(self) -> int:
        """Rows of A."""
        return len(self.indptr) - 1

    @cached_property
    def X(self) -> Any:
        """Features (n, d): an array, or a csr_array where they are sparse."""
        if self.has("X"):
            return self.array("X")
        parts = tuple(self.array(f"X_{part}") for part in ("data", "indices", "indptr"))
        return sp.csr_array(parts, shape=tuple(self.settings["X_shape"]))

    @cached_property
    def y(self) -> NDArray[np.int64]:
        """Class of each node."""
        return self.array("y")

    def part(self, name: str) -> NDArray[np.intp]:
        """Training, validation or test nodes."""
        return self.array(name)

    def adjacency(self) -> sp.csr_array:
        """A with ones, float32."""
        ones = np.ones(len(self.indices), dtype=np.float32)
        return sp.csr_array((ones, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))


def normalized(A: sp.csr_array) -> sp.csr_array:
    """`S = D~^-1/2 (A + I) D~^-1/2` with sorted 32-bit indices where they fit: what every peer multiplies by."""
    n_nodes = A.shape[0]
    S = sp.csr_array(A + sp.eye_array(n_nodes, dtype=np.float32, format="csr"))
    scale = 1 / np.sqrt(np.asarray(S.sum(axis=1), dtype=np.float64))
    S.data *= np.repeat(scale, np.diff(S.indptr)).astype(np.float32)
    S.data *= scale.astype(np.float32)[S.indices]
    S.sort_indices()
    if max(S.nnz, n_nodes) < 2**31 and S.indices.dtype != np.int32:
        S = sp.csr_array((S.data, S.indices.astype(np.int32), S.indptr.astype(np.int32)), shape=S.shape)
    return S


def row_normalized(X: sp.csr_array) -> sp.csr_array:
    """Rows of X divided by their sums, empty rows left alone; float32."""
    sums = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)
    data = X.data * np.repeat(scale, np.diff(X.indptr))
    return sp.csr_array((data.astype(np.float32), X.indices, X.indptr), shape=X.shape)
