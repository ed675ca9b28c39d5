"""The features of all nodes as the first layer of a network takes them: `X W`, with entries of X dropped."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.errors import InputError, require
from sgclearn.tasks.protocol import Samples, chosen_nodes

EXTRA = "baselines"  # brings torch and torch_geometric
SPARSE_BELOW = 0.1  # share of entries that are stored


def normalized_features(samples: Samples, row_norm: str | None) -> Any:
    """Features (n, d) in float32, with rows of length one in the norm "l1" or "l2" if that is asked for."""
    if samples.X is None:
        return sp.eye_array(samples.graph.n_nodes, format="csr", dtype=np.float32)
    X: Any = samples.X
    if row_norm is not None:
        from sklearn.preprocessing import normalize

        X = normalize(X, norm=row_norm)
    if sp.issparse(X):
        return sp.csr_array(X).astype(np.float32)
    return np.ascontiguousarray(X, dtype=np.float32)


def sparse_and_row(X: Any) -> tuple[Any, NDArray[np.float32] | None]:
    """X (n, d) as sparse rows plus one row that is added to each, if it is that; else X itself and None.

    Counts of words that were standardised fill a dense matrix, but most entries of a column are the same number, that
    of a zero: a product with the two parts takes a hundredth of the time.
    """
    if sp.issparse(X):
        return X, None
    row = X.min(axis=0)
    others = np.not_equal(X, row)
    if np.count_nonzero(others) > SPARSE_BELOW * X.size:
        return X, None
    rows, columns = np.nonzero(others)
    values = X[rows, columns] - row[columns]
    return sp.csr_array((values, (rows, columns)), shape=X.shape), row


class Features:
    """`X W + b` for fixed features X (n, d), dense or sparse.

    Parameters
    ----------
    X : array or csr_array (n, d)

    Notes
    -----
    Words of a document are few: a product over the stored entries, and dropout of those alone (a zero that is dropped
    stays zero), takes a tenth of the time of the dense one on Cora. Standardised counts are kept as `sparse_and_row`
    says for products without dropout, which would drop entries of the row one by one.
    """

    def __init__(self, X: Any) -> None:
        torch = require("torch", EXTRA)
        self.shape = X.shape
        self._dense = None if sp.issparse(X) else torch.from_numpy(X)
        stored, row = sparse_and_row(X)
        self._product = SparseProduct(stored) if sp.issparse(stored) else None
        self._row = None if row is None else torch.from_numpy(row)

    def linear(self, layer: Any, dropout: float = 0.0) -> Any:
        """Output (n, c) of a `torch.nn.Linear`; a share `dropout` of the entries of X is left out at random."""
        functional = require("torch", EXTRA).nn.functional
        if self._product is None or (dropout and self._row is not None):
            return functional.linear(functional.dropout(self._dense, dropout), layer.weight, layer.bias)
        product = self._product.dropped(dropout) if dropout else self._product
        result = product(layer.weight.t())
        if self._row is not None:
            result = result + layer.weight @ self._row
        return result if layer.bias is None else result + layer.bias


class Rows:
    """Samples read off the nodes of a graph: `P H` for the rows P of a readout, or rows of H themselves.

    Parameters
    ----------
    samples : Samples
    chosen : integer array (k,), optional
        The samples that are read, in this order; all if not given.
    """

    def __init__(self, samples: Samples, chosen: NDArray[np.intp] | None = None) -> None:
        chosen = np.arange(samples.n_samples) if chosen is None else chosen
        P = None if samples.readout is None else sp.csr_array(samples.readout[chosen])
        self._nodes = chosen if P is None else chosen_nodes(P)
        self._P = P

    def of(self, H: Any) -> Any:
        """Rows (k, c) of the samples from those of the nodes (n, c): a tensor, an array or a sparse matrix."""
        if self._nodes is not None:
            return H[self._nodes]
        if isinstance(H, np.ndarray) or sp.issparse(H):
            return self._P @ H
        return self._product(H)

    @cached_property
    def _product(self) -> SparseProduct:
        return SparseProduct(self._P)

    def nodes(self, model: Any) -> NDArray[np.intp]:
        """The nodes that the samples are, for a model that takes no others."""
        if self._nodes is None:
            name = type(model).__name__
            raise InputError(
                f"{name} takes samples that are nodes", "a readout that mixes some", "choose another model"
            )
        return self._nodes
