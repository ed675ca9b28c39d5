"""Blocks of columns side by side as one design: dense word vectors next to sparse counts, each kept as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.propagation.design import Design

Array = NDArray[np.float64]


class SideBySideDesign:
    """`Z = [Z_1, Z_2, ...]` (m, d_1 + d_2 + ...), never copied into one matrix.

    Cost: that of the blocks. Exact: yes.

    Examples
    --------
    >>> from sgclearn.propagation.design import ExplicitDesign
    >>> pair = SideBySideDesign([ExplicitDesign(np.eye(2)), ExplicitDesign(np.array([[3.0], [4.0]]))])
    >>> pair.matmul(np.array([[1.0], [2.0], [10.0]])).ravel()
    array([31., 42.])
    """

    def __init__(self, blocks: Sequence[Design]) -> None:
        rows = sorted({block.shape[0] for block in blocks})
        if len(rows) != 1:
            raise InputError(
                "blocks must be designs with the same rows", f"{rows}", "align them", argument="blocks"
            )
        self.blocks = list(blocks)
        ends = np.cumsum([block.shape[1] for block in blocks])
        self.columns = [
            slice(int(end) - block.shape[1], int(end)) for end, block in zip(ends, blocks, strict=True)
        ]
        self.shape: tuple[int, int] = (rows[0], int(ends[-1]))

    def _parts(self) -> Iterator[tuple[Design, slice]]:
        return zip(self.blocks, self.columns, strict=True)

    def matmul(self, V: Array) -> Array:
        """`sum_b Z_b V_b`."""
        product = np.zeros((self.shape[0], V.shape[1]))
        for block, part in self._parts():
            product += block.matmul(V[part])
        return product

    def rmatmul(self, G: Array) -> Array:
        """`Z_b^T G` below each other."""
        return np.concatenate([block.rmatmul(G) for block in self.blocks])

    def rows(self, batch: NDArray[np.intp]) -> Array:
        """`Z[batch]`, dense."""
        return np.concatenate([block.rows(batch) for block in self.blocks], axis=1)

    def column_blocks(self) -> Iterator[tuple[int, int, Array]]:
        """Dense blocks of columns of one design after the other."""
        for block, part in self._parts():
            for start, stop, values in block.column_blocks():
                yield part.start + start, part.start + stop, values

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """The same rows of every block."""
        return SideBySideDesign([block.subset(batch) for block in self.blocks])

    def squares(self, weights: Array) -> Array | None:
        """Those of the blocks; None where one of them never forms its entries."""
        found = [block.squares(weights) for block in self.blocks]
        known = [squares for squares in found if squares is not None]
        return np.concatenate(known) if len(known) == len(found) else None
