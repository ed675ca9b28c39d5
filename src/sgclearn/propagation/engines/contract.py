"""What an engine must be able to do. Every one gives the same numbers, up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

if TYPE_CHECKING:
    from sgclearn.operators import Operator
    from sgclearn.propagation.neighbourhood import HopBlock

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Prices:
    """Nanoseconds that a multiply-add costs on the machine as a whole; only their ratios matter to a plan."""

    sparse_sparse: float
    sparse_dense: float
    builds_values: bool  # whether the values of S are put together in memory
    packs_columns: bool  # whether a few columns at a time go all the way, so that no hop is formed as a whole
    walks_rows: bool = False  # whether rows of sparse features are formed without any block of S


class Walk(Protocol):
    """Products with the powers of S between nested node sets `F_0, ..., F_K`, seen from some rows.

    `rows` are nodes that are in every set; results are theirs, in their order.
    """

    blocks: list[HopBlock]

    def forward(
        self,
        H: Any,
        coefficients: NDArray[np.float64],
        *,
        scale: NDArray[Any] | None = None,
        nodes: NDArray[np.intp] | None = None,
        on_progress: OnProgress | None = None,
    ) -> NDArray[Any]:
        """`sum_k c_k (S^k diag(scale) H[nodes])[rows]` (m, C), for k up to K' <= K hops.

        H is dense or sparse; its rows belong to `F_K'`, or are picked by `nodes`.
        """
        ...

    def step(self, k: int, H: Any) -> Any:
        """One hop for all nodes of `F_k`: `S[F_k, F_{k+1}] H`, sparse if H is."""
        ...

    def through(
        self, X: Any, scale: NDArray[Any] | None, V: NDArray[np.float64], coefficients: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """`sum_k c_k (S^k diag(scale) (X V))[rows]` (m, C): X over `F_K` is multiplied by the thin V first."""
        ...

    def backward(self, G: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """The transpose of `forward` times G (m, C), over `F_K`."""
        ...


class Engine(Protocol):
    """A way to compute the products."""

    name: str
    prices: Prices

    def walk(
        self, operator: Operator, sets: list[NDArray[np.intp]], rows: NDArray[np.intp], dtype: DTypeLike
    ) -> Walk:
        """Ready to walk between the sets."""
        ...

    def sparse_product(self, A: Any, B: Any) -> Any:
        """`A @ B` for two `csr_array`s, columns in any order."""
        ...

    def sparse_rows(
        self,
        operator: Operator,
        X: Any,
        scale: NDArray[Any] | None,
        rows: NDArray[np.intp],
        coefficients: NDArray[np.float64],
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Some rows of `sum_k c_k S^k diag(scale) X` for a sparse X, as a `csr_array`, without building S.

        None if that must be put together from sparse products.
        """
        ...

    def product_extremes(
        self, A: Any, B: Any, parts: NDArray[np.int64], n_parts: int, on_progress: OnProgress | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Smallest and largest entry of every column of `A @ B` over each part of its rows, (p, n) each.

        A (m, k) and B (k, n) are `csr_array`s of one type; `parts` (m,) has no empty part. The product is never
        held as a whole, dense or sparse.
        """
        ...
