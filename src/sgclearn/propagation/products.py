"""Sparse times sparse or dense, whichever is cheaper, and what each is expected to cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

# Nanoseconds a multiply-add costs on one ordinary core. Only their ratios matter, for choosing a plan:
# measured with scipy on graphs of 2,700 to 100,000 nodes.
SPARSE_SPARSE_NS = 12.0
SPARSE_DENSE_NS = 1.5
DENSE_DENSE_NS = 0.2  # a thin right side: bound by memory
FACTORISE_NS = 0.05  # square dense blocks: bound by arithmetic
DENSIFY_NS = 1.5  # a cell


def sparse_is_cheaper(sparse_madds: float, dense_madds: float, cells: float) -> bool:
    """Whether a product should stay sparse, from its two counts of multiply-adds and its cells."""
    return sparse_madds * SPARSE_SPARSE_NS < dense_madds * SPARSE_DENSE_NS + cells * DENSIFY_NS


def multiply(block: Any, H: Any) -> Any:
    """`block @ H` for a sparse block; a sparse H stays sparse while that is cheaper. Exact: yes."""
    if not sparse.issparse(H):
        return np.asarray(block @ H)
    row_lengths = np.diff(H.indptr)
    sparse_madds = float(row_lengths[block.indices].sum(dtype=np.float64))
    dense_madds = float(block.nnz) * H.shape[1]
    if sparse_is_cheaper(sparse_madds, dense_madds, float(H.shape[0]) * H.shape[1]):
        return block @ H  # with unsorted rows: sorting would more than double the cost
    return np.asarray(block @ H.toarray())
