"""Samples Z as something a solver can multiply with; here those that are formed in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_BLOCK_BYTES = 64 * 2**20
_BLOCK_ENTRIES = (
    2**20
)  # of a block of rows: 8 MiB as float64, so that it is still in cache when it is used again


class Design(Protocol):
    """A matrix Z (m, d) in float64 that is multiplied from both sides."""

    shape: tuple[int, int]

    def matmul(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z @ V` for V (d, C)."""
        ...

    def rmatmul(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z.T @ G` for G (m, C)."""
        ...

    def rows(self, batch: NDArray[np.intp]) -> NDArray[np.float64]:
        """`Z[batch]`, dense."""
        ...

    def column_blocks(self) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield `(start, stop, Z[:, start:stop])`, dense, a bounded number of columns at a time."""
        ...

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """`Z[batch]` as a design of its own."""
        ...

    def squares(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """`sum_i w_i z_ij^2` of every column (d,), or None where the entries are never formed."""
        ...


class ExplicitDesign:
    """Z in memory, dense or sparse.

    Dense float32 rows stay float32: products widen a block of them at a time, so that they are those of float64
    without a wide copy of Z.
    """

    def __init__(self, Z: Any) -> None:
        self.is_sparse = sparse.issparse(Z)
        self.is_narrow = not self.is_sparse and Z.dtype == np.float32
        self.limits = np.finfo(Z.dtype)  # of the numbers as they were computed
        # scipy makes a new matrix around the same values even where there is nothing to convert.
        self.Z = Z if self.is_narrow or Z.dtype == np.float64 else Z.astype(np.float64)
        self.shape: tuple[int, int] = self.Z.shape
        self.dtype: np.dtype[Any] = self.Z.dtype
        self._block_rows = max(1, _BLOCK_ENTRIES // max(self.shape[1], 1))

    @property
    def is_blocked(self) -> bool:
        """Whether rows are worth reading, or have to be, a block at a time."""
        return self.is_narrow or (not self.is_sparse and self.shape[0] > self._block_rows)

    def row_parts(self) -> list[slice]:
        """The blocks of rows that a dense Z is read in."""
        starts = range(0, self.shape[0], self._block_rows)
        return [slice(start, min(start + self._block_rows, self.shape[0])) for start in starts]

    def row_blocks(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield `(part, Z[part])` of a dense Z in float64; a block is overwritten by the next."""
        buffer = np.empty((min(self._block_rows, self.shape[0]), self.shape[1])) if self.is_narrow else None
        for part in self.row_parts():
            block = self.Z[part]
            if buffer is not None:
                np.copyto(buffer[: len(block)], block)
                block = buffer[: len(block)]
            yield part, block

    def matmul(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z @ V`."""
        if not self.is_narrow:
            return np.asarray(self.Z @ V)
        product = np.empty((self.shape[0], V.shape[1]))
        for part, block in self.row_blocks():
            np.matmul(block, V, out=product[part])
        return product

    def rmatmul(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z.T @ G`."""
        if not self.is_narrow:
            return np.asarray(self.Z.T @ G)
        product = np.zeros((self.shape[1], G.shape[1]))
        for part, block in self.row_blocks():
            product += block.T @ G[part]
        return product

    def rows(self, batch: NDArray[np.intp]) -> NDArray[np.float64]:
        """`Z[batch]`, dense."""
        block = self.Z[batch]
        return np.asarray(block.toarray() if self.is_sparse else block, dtype=np.float64)

    def column_blocks(self) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield dense blocks of columns."""
        ranges = list(column_ranges(*self.shape))
        Z = self.Z.tocsc() if self.is_sparse and len(ranges) > 1 else self.Z
        for start, stop in ranges:
            block = Z[:, start:stop] if len(ranges) > 1 else Z
            yield start, stop, np.asarray(block.toarray() if self.is_sparse else block, dtype=np.float64)

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """`Z[batch]`."""
        return ExplicitDesign(self.Z[batch])

    def squares(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """`sum_i w_i z_ij^2` (d,)."""
        if self.is_sparse:
            return np.asarray(self.Z.multiply(self.Z).T @ weights)
        total = np.zeros(self.shape[1])
        for part, block in self.row_blocks():
            total += np.einsum("ij,ij,i->j", block, block, weights[part])
        return total


def column_ranges(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns whose dense float64 block stays within 64 MiB."""
    width = max(1, min(n_columns, _BLOCK_BYTES // (8 * max(n_rows, 1))))
    for start in range(0, n_columns, width):
        yield start, min(start + width, n_columns)
