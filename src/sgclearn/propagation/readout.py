"""Which nodes make up every sample: a sparse readout P, whose rows are the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError
from sgclearn.validation.arrays import positions_of
from sgclearn.validation.matrices import as_matrix, check_values


class Readout:
    """`P` (m, n): sample i is `sum_j p_ij` times node j. Rows of the identity are single nodes.

    Parameters
    ----------
    nodes : ndarray of int (q,)
        Distinct nodes that the samples are made of.
    weights : csr_array (m, q), optional
        `P[:, nodes]`; without it sample i is node `nodes[i]`, and nothing is multiplied.
    """

    def __init__(self, nodes: NDArray[np.intp], weights: Any = None) -> None:
        self.nodes, self.weights = nodes, weights

    @classmethod
    def of(cls, samples: Any) -> Readout:
        """A readout as it is, or that of some nodes in any order, where one may be named several times."""
        if isinstance(samples, Readout):
            return samples
        nodes = np.asarray(samples, dtype=np.intp)
        if len(nodes) < 2 or (nodes[1:] > nodes[:-1]).all():
            return cls(nodes)
        distinct, place = np.unique(nodes, return_inverse=True)
        return cls(nodes) if len(distinct) == len(nodes) else cls(distinct, _selection(place, len(distinct)))

    @classmethod
    def given(cls, readout: Any, nodes: Any, n_nodes: int) -> Readout:
        """From what a caller gave: a matrix P, or nodes as positions or a mask, or neither for all nodes."""
        if readout is None:
            return cls(np.arange(n_nodes)) if nodes is None else cls.of(positions_of(nodes, n_nodes))
        if nodes is not None:
            raise InputError(
                "readout and nodes both name the samples", "both", "give one of them", argument="readout"
            )
        return cls.of_matrix(readout, n_nodes)

    @classmethod
    def of_matrix(cls, P: Any, n_nodes: int) -> Readout:
        """A matrix P (m, n) from outside, checked; rows of the identity are single nodes, as if these were named."""
        matrix = sparse.csr_array(as_matrix(P, "readout"))
        if matrix.shape[1] != n_nodes:
            raise InputError(
                "readout must have one column per node of the graph",
                f"{matrix.shape[1]:,} columns for {n_nodes:,} nodes",
                "give P with shape (samples, nodes)",
                argument="readout",
            )
        check_values(matrix, "readout")
        if (
            matrix.nnz == matrix.shape[0]
            and (np.diff(matrix.indptr) == 1).all()
            and (matrix.data == 1.0).all()
        ):
            return cls.of(matrix.indices)
        nodes, place = np.unique(matrix.indices, return_inverse=True)
        narrowed = (matrix.data.astype(np.float64), place.astype(np.int64), matrix.indptr)
        return cls(nodes.astype(np.intp), sparse.csr_array(narrowed, shape=(matrix.shape[0], len(nodes))))

    @property
    def n_samples(self) -> int:
        """M."""
        return len(self.nodes) if self.weights is None else int(self.weights.shape[0])

    def part(self, samples: NDArray[np.intp]) -> Readout:
        """The readout of some of the samples."""
        if self.weights is None:
            return Readout.of(self.nodes[samples])
        rows = self.weights[samples]
        used, place = np.unique(rows.indices, return_inverse=True)
        return Readout(
            self.nodes[used],
            sparse.csr_array(
                (rows.data, place.astype(np.int64), rows.indptr), shape=(len(samples), len(used))
            ),
        )

    def among(self, samples: NDArray[np.intp]) -> Readout:
        """The same, over all nodes of this readout."""
        if self.weights is None:
            return Readout(self.nodes, _selection(samples, len(self.nodes)))
        return Readout(self.nodes, self.weights[samples])

    def collect(self, H: Any) -> Any:
        """`P[:, nodes] H`: from rows of the nodes (q, d), dense or sparse, to rows of the samples (m, d)."""
        return H if self.weights is None else self.weights.astype(H.dtype, copy=False) @ H

    def spread(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        """`P[:, nodes]^T G`: the transpose of `collect`, from samples (m, C) to nodes (q, C)."""
        return G if self.weights is None else np.asarray(self.weights.T @ G)


def _selection(place: NDArray[np.intp], n_nodes: int) -> Any:
    """One node per sample, some of them several times."""
    parts = (np.ones(len(place)), place.astype(np.int64).ravel(), np.arange(len(place) + 1))
    return sparse.csr_array(parts, shape=(len(place), n_nodes))
