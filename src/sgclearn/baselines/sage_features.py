"""What a first layer reads of drawn nodes: products of some rows of the features, or of means of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.features import EXTRA, sparse_and_row
from sgclearn.baselines.sparse_torch import SparseProduct, fixed_product
from sgclearn.errors import require


class RowFeatures:
    """Features X (n, d) of all nodes, of which every batch reads some rows: `P X W^T` for a sparse `P` (t, n).

    Parameters
    ----------
    X : array or csr_array (n, d), float32

    Notes
    -----
    Standardised counts are kept as `sparse_and_row` says.
    """

    def __init__(self, X: Any) -> None:
        self.X, self.row = sparse_and_row(X)

    def linear(self, nodes: NDArray[np.intp], weight: Any, bias: Any = None) -> Any:
        """`X[nodes] W^T + b` (t, c)."""
        return self._product(self.X[nodes], np.ones(len(nodes), np.float32), weight, bias)

    def mean(self, P: sp.csr_array, nodes: NDArray[np.intp], weight: Any, bias: Any = None) -> Any:
        """`P X[nodes] W^T + b` (t, c), for `P` (t, s)."""
        n_targets = P.shape[0]
        # Columns of all nodes: the rows of X are then read where they are, and not copied first.
        wide = sp.csr_array((P.data, nodes[P.indices], P.indptr), shape=(n_targets, self.X.shape[0]))
        means = wide @ self.X if sp.issparse(self.X) else fixed_product(wide, self.X)
        return self._product(means, np.asarray(P.sum(axis=1), np.float32), weight, bias)

    def _product(self, rows: Any, sums: NDArray[np.float32], weight: Any, bias: Any) -> Any:
        torch = require("torch", EXTRA)
        if not sp.issparse(rows):
            return torch.nn.functional.linear(torch.from_numpy(rows), weight, bias)
        result = SparseProduct(sp.csr_array(rows))(weight.t())
        if self.row is not None:
            result = result + torch.from_numpy(sums)[:, None] * (weight @ torch.from_numpy(self.row))
        return result if bias is None else result + bias
