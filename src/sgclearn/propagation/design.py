"""The labelled rows of `S^K X` as something a solver can multiply with, formed in memory or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.filters import PolynomialFilter, coefficients_of
from sgclearn.propagation.neighbourhood import hop_blocks, hop_sets
from sgclearn.propagation.polynomial import Terms
from sgclearn.propagation.rows import OnHop, propagated_rows
from sgclearn.propagation.source import NodeFeatures

if TYPE_CHECKING:
    from sgclearn.operators import Operator

_BLOCK_BYTES = 64 * 2**20


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
    """Z in memory, dense or sparse."""

    def __init__(self, Z: Any) -> None:
        self.Z = Z.astype(np.float64, copy=False)
        self.shape: tuple[int, int] = self.Z.shape
        self.is_sparse = sparse.issparse(self.Z)

    def matmul(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z @ V`."""
        return np.asarray(self.Z @ V)

    def rmatmul(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z.T @ G`."""
        return np.asarray(self.Z.T @ G)

    def rows(self, batch: NDArray[np.intp]) -> NDArray[np.float64]:
        """`Z[batch]`, dense."""
        block = self.Z[batch]
        return np.asarray(block.toarray() if self.is_sparse else block)

    def column_blocks(self) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield dense blocks of columns."""
        Z = self.Z.tocsc() if self.is_sparse else self.Z
        for start, stop in column_ranges(*self.shape):
            block = Z[:, start:stop]
            yield start, stop, np.asarray(block.toarray() if self.is_sparse else block)

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """`Z[batch]`."""
        return ExplicitDesign(self.Z[batch])

    def squares(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """`sum_i w_i z_ij^2` (d,)."""
        if self.is_sparse:
            return np.asarray(self.Z.multiply(self.Z).T @ weights)
        return np.asarray(np.einsum("ij,ij,i->j", self.Z, self.Z, weights))


class ImplicitDesign:
    """`Z = (g(S) X)[rows]` that is never formed; for the power K,

    `Z V = B_0 (B_1 ... (B_{K-1} (X V)))` and `Z^T G = X^T (B_{K-1}^T ... (B_0^T G))` with the blocks of S
    between the hop sets of the rows; for any other filter the weighted sum of its powers.

    Cost: O((nnz(B) + nnz(X)) C) a product. Exact: yes.
    """

    def __init__(
        self,
        operator: Operator | None,
        features: NodeFeatures,
        nodes: NDArray[np.intp],
        wanted: int | PolynomialFilter,
    ) -> None:
        self.operator, self.features, self.nodes, self.wanted = operator, features, nodes, wanted
        coefficients = coefficients_of(wanted)
        sets = [nodes] if operator is None else hop_sets(operator.graph, nodes, len(coefficients) - 1)
        self._terms = Terms(coefficients, sets, nodes)
        self._blocks = [] if operator is None else hop_blocks(operator, sets, np.float64)
        everything = len(sets[-1]) == features.n_nodes and (len(sets) > 1 or _is_range(nodes))
        self._reached = None if everything else sets[-1]
        in_place = self._reached is None and features.dtype == np.float64
        if in_place or features.is_identity:
            self._part = features
        else:  # the rows of X that the labelled nodes can see, taken and widened once, not at every product
            self._part = NodeFeatures(features.take(self._reached).astype(np.float64, copy=False))
        self.shape: tuple[int, int] = (len(nodes), features.n_columns)

    def matmul(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z @ V`, C columns through every hop."""
        H = self._part.matmul(V, self._reached if self.features.is_identity else None)
        return np.asarray(self._terms.forward(self._blocks, H), dtype=np.float64)

    def rmatmul(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        """`Z.T @ G`, back through every hop."""
        G = self._terms.backward(self._blocks, G)
        if self.features.is_identity and self._reached is not None:
            spread = np.zeros((self.shape[1], G.shape[1]))
            np.add.at(spread, self._reached, G)  # zero hops may name a node twice
            return spread
        return np.asarray(self._part.rmatmul(G), dtype=np.float64)

    def rows(self, batch: NDArray[np.intp]) -> NDArray[np.float64]:
        """`Z[batch]`, dense: a sparse row block of `S^K`, then times X."""
        one_pass = propagated_rows(
            self.operator, self.features, self.nodes[batch], [self.wanted], "left-first"
        )
        block = next(one_pass)[1]
        dense = block.toarray() if sparse.issparse(block) else block
        return np.asarray(dense, dtype=np.float64)

    def column_blocks(self) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield dense blocks of columns, each propagated on its own: columns are independent."""
        for start, stop in column_ranges(len(self.nodes) + self.features.n_nodes, self.shape[1]):
            H = self.features.columns(start, stop)
            H = H if self._reached is None else H[self._reached]
            yield start, stop, np.asarray(self._terms.forward(self._blocks, H), dtype=np.float64)

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """The rows of some of the nodes, still implicit, with a smaller neighbourhood."""
        return ImplicitDesign(self.operator, self.features, self.nodes[batch], self.wanted)

    def squares(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """None: the entries of Z are never formed."""
        return None


def build_designs(
    operator: Operator | None,
    features: NodeFeatures,
    nodes: NDArray[np.intp],
    wanted: Sequence[int | PolynomialFilter],
    plan: str,
    on_hop: OnHop | None = None,
) -> Iterator[tuple[Any, Design]]:
    """Yield `(filter, design)` for every wanted filter, all in one pass where the rows are formed."""
    if plan == "implicit":
        for entry in wanted:
            yield entry, ImplicitDesign(operator, features, nodes, entry)
        return
    for entry, Z in propagated_rows(operator, features, nodes, wanted, plan, on_hop):
        yield entry, ExplicitDesign(Z)


def column_ranges(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns whose dense float64 block stays within 64 MiB."""
    width = max(1, min(n_columns, _BLOCK_BYTES // (8 * max(n_rows, 1))))
    for start in range(0, n_columns, width):
        yield start, min(start + width, n_columns)


def _is_range(nodes: NDArray[np.intp]) -> bool:
    return np.array_equal(nodes, np.arange(len(nodes)))
