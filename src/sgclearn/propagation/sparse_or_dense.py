"""Sparse times sparse or dense, whichever is cheaper, and what each is expected to cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sgclearn.propagation.engines.contract import Prices
    from sgclearn.propagation.neighbourhood import HopBlock

# Nanoseconds a multiply-add costs on one ordinary core, beside the prices of the engines. Only their
# ratios matter, for choosing a plan.
SPARSE_DENSE_NS = 1.5  # by scipy
DENSE_DENSE_NS = 0.2  # a thin right side: bound by memory
FACTORISE_NS = 0.05  # square dense blocks: bound by arithmetic
DENSIFY_NS = 1.5  # a cell


def sparse_is_cheaper(sparse_madds: float, dense_madds: float, cells: float, prices: Prices) -> bool:
    """Whether a product should stay sparse, from its two counts of multiply-adds and its cells."""
    return sparse_madds * prices.sparse_sparse < dense_madds * prices.sparse_dense + cells * DENSIFY_NS


def by_scipy(prices: Prices) -> Prices:
    """The prices where a dense product is left to scipy."""
    return replace(prices, sparse_dense=SPARSE_DENSE_NS)


def stays_sparse(block: HopBlock, row_lengths: NDArray[np.integer], n_columns: int, prices: Prices) -> bool:
    """Whether the block times a sparse matrix with rows of those lengths is better kept sparse."""
    sparse_madds = float(row_lengths[block.indices].sum(dtype=np.float64))
    if block.keep is not None:
        own = slice(None) if block.own is None else block.own
        sparse_madds += float(row_lengths[own].sum(dtype=np.float64))
    dense_madds = float(block.n_stored + (block.shape[0] if block.keep is not None else 0)) * n_columns
    return sparse_is_cheaper(sparse_madds, dense_madds, float(block.shape[0]) * n_columns, prices)
