"""The labelled rows of `S^K X` as something a solver can multiply with, formed in memory or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn.filters import PolynomialFilter, coefficients_of
from sgclearn.propagation.engines import Engine, get_engine
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.neighbourhood import hop_sets, widened
from sgclearn.propagation.rows import propagated_rows
from sgclearn.propagation.source import NodeFeatures

if TYPE_CHECKING:
    from sgclearn.operators import Operator

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


class ImplicitDesign:
    """`Z = (g(S) X)[rows]` that is never formed; for the power K,

    `Z V = B_0 (B_1 ... (B_{K-1} (X V)))` and `Z^T G = X^T (B_{K-1}^T ... (B_0^T G))` with the blocks of S
    between the hop sets of the rows; for any other filter the weighted sum of its powers.

    Parameters
    ----------
    dtype : {float64, float32}
        Of the products on the way; sums over samples are float64 either way.

    Notes
    -----
    Cost: O((nnz(B) + nnz(X)) C) a product. Exact: yes. A set that holds most edges is widened to all nodes, so that
    the graph's own arrays serve and none is cut out of them.
    """

    def __init__(
        self,
        operator: Operator | None,
        features: NodeFeatures,
        nodes: NDArray[np.intp],
        wanted: int | PolynomialFilter,
        engine: Engine | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.operator, self.features, self.nodes, self.wanted = operator, features, nodes, wanted
        self.engine, self.dtype = engine or get_engine(), np.dtype(dtype)
        self.limits = np.finfo(self.dtype)  # of the entries as they would be computed
        self.coefficients = coefficients_of(wanted)
        # A node may be named twice; an engine wants distinct rows.
        distinct, self._repeats = nodes, None
        if len(nodes) > len(np.unique(nodes)):
            distinct, self._repeats = np.unique(nodes, return_inverse=True)
        sets = [distinct]
        if operator is not None:
            sets = widened(operator.graph, hop_sets(operator.graph, distinct, len(self.coefficients) - 1))
        # Without edges every power of S is the identity.
        self._walk = None
        if operator is not None and len(sets) > 1:
            self._walk = self.engine.walk(operator, sets, distinct, self.dtype)
        everything = len(sets[-1]) == features.n_nodes and (len(sets) > 1 or _is_range(distinct))
        self._reached = None if everything else sets[-1]
        in_place = self._reached is None and features.dtype == np.float64
        if in_place or features.is_identity:
            self._part = features
        else:  # the rows of X that the labelled nodes can see, taken and widened once, not at every product
            self._part = NodeFeatures(features.take(self._reached).astype(np.float64, copy=False))
        self.shape: tuple[int, int] = (len(nodes), features.n_columns)

    def matmul(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z @ V`, C columns through every hop."""
        if self._walk is not None and self._part.is_sparse and not self.features.is_identity:
            return self._repeated(self._walk.through(*self._part.part(None), V, self.coefficients))
        return self._forward(self._part.matmul(V, self._reached if self.features.is_identity else None))

    def rmatmul(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z.T @ G`, back through every hop."""
        if self._repeats is not None:
            added = np.zeros((self._repeats.max() + 1, G.shape[1]))
            np.add.at(added, self._repeats, G)
            G = added
        G = self.coefficients.sum() * G if self._walk is None else self._walk.backward(G, self.coefficients)
        if self.features.is_identity and self._reached is not None:
            spread = np.zeros((self.shape[1], G.shape[1]))
            spread[self._reached] = G
            return spread
        return np.asarray(self._part.rmatmul(G), dtype=np.float64)

    def rows(self, batch: NDArray[np.intp]) -> NDArray[np.float64]:
        """`Z[batch]`, dense: a sparse row block of `S^K`, then times X."""
        one_pass = propagated_rows(
            self.operator, self.features, self.nodes[batch], [self.wanted], "left-first", engine=self.engine
        )
        block = next(one_pass)[1]
        dense = block.toarray() if sparse.issparse(block) else block
        return np.asarray(dense, dtype=np.float64)

    def column_blocks(self) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield dense blocks of columns, each propagated on its own: columns are independent."""
        for start, stop in column_ranges(len(self.nodes) + self.features.n_nodes, self.shape[1]):
            H = self.features.columns(start, stop)
            yield start, stop, self._forward(H if self._reached is None else H[self._reached])

    def factors(self) -> tuple[Any, Any] | None:
        """Two sparse matrices whose product Z is, where both are read off the graph: `S[rows]` and I or S."""
        hops = len(self.coefficients) - 1
        if self.operator is None or not self.features.is_identity or hops not in (1, 2):
            return None
        if self.coefficients[:-1].any() or self.coefficients[-1] != 1:
            return None
        last = self.operator.rows(self.nodes, self.dtype)
        if hops == 2:
            return last, self.operator.matrix(self.dtype)
        return last, sparse.eye_array(self.shape[1], format="csr", dtype=self.dtype)

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """Some of the rows, still implicit."""
        return ImplicitRows(self, batch)

    def squares(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """None: the entries of Z are never formed."""
        return None

    def _forward(self, H: NDArray[Any]) -> NDArray[np.float64]:
        if self._walk is None:
            return self._repeated(np.asarray(self.coefficients.sum() * H, dtype=np.float64))
        return self._repeated(np.asarray(self._walk.forward(H, self.coefficients), dtype=np.float64))

    def _repeated(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows if self._repeats is None else rows[self._repeats]


class ImplicitRows:
    """Some rows of an implicit design, which shares its walk: the hops beyond the rows are most of the work."""

    def __init__(self, design: ImplicitDesign, batch: NDArray[np.intp]) -> None:
        self.design, self.batch, self.limits = design, batch, design.limits
        self.shape: tuple[int, int] = (len(batch), design.shape[1])

    def matmul(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z[batch] @ V`."""
        return self.design.matmul(V)[self.batch]

    def rmatmul(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z[batch].T @ G`."""
        spread = np.zeros((self.design.shape[0], G.shape[1]))
        np.add.at(spread, self.batch, G)
        return self.design.rmatmul(spread)

    def rows(self, batch: NDArray[np.intp]) -> NDArray[np.float64]:
        """Rows of the rows, dense."""
        return self.design.rows(self.batch[batch])

    def column_blocks(self) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield dense blocks of columns."""
        for start, stop, block in self.design.column_blocks():
            yield start, stop, block[self.batch]

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """Rows of the rows."""
        return ImplicitRows(self.design, self.batch[batch])

    def squares(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """None: the entries of Z are never formed."""
        return None


def build_designs(
    operator: Operator | None,
    features: NodeFeatures,
    nodes: NDArray[np.intp],
    wanted: Sequence[int | PolynomialFilter],
    plan: str,
    on_progress: OnProgress | None = None,
    engine: Engine | None = None,
    sets: list[NDArray[np.intp]] | None = None,
    dtype: DTypeLike = np.float64,
) -> Iterator[tuple[Any, Design]]:
    """Yield `(filter, design)` for every wanted filter, all in one pass where the rows are formed.

    `dtype` is that of the products with rows that are not formed; others are of the type of the features.
    """
    if plan == "implicit":
        for entry in wanted:
            yield entry, ImplicitDesign(operator, features, nodes, entry, engine, dtype)
        return
    for entry, Z in propagated_rows(operator, features, nodes, wanted, plan, on_progress, engine, sets):
        yield entry, ExplicitDesign(Z)


def column_ranges(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns whose dense float64 block stays within 64 MiB."""
    width = max(1, min(n_columns, _BLOCK_BYTES // (8 * max(n_rows, 1))))
    for start in range(0, n_columns, width):
        yield start, min(start + width, n_columns)


def _is_range(nodes: NDArray[np.intp]) -> bool:
    return np.array_equal(nodes, np.arange(len(nodes)))
