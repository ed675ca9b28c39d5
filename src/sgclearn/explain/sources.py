"""Features of the nodes with some entries taken away, without a copy of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError
from sgclearn.propagation.node_features import NodeFeatures

Array = NDArray[np.float64]
Places = NDArray[np.intp]
_MOSTLY = 4  # a product with all rows costs less than one with a copy of a quarter of them


@dataclass(frozen=True, eq=False)
class Sources:
    """Rows `v_j = r_j x_j` of `diag(r) X`, some of them replaced.

    Parameters
    ----------
    features : NodeFeatures
    row_norm : str or None
    projected : list of ndarray (n, C)
        `diag(r) X Theta_b` of every block, formed once for all nodes.
    replaced : mapping
        Position of a node -> its new row (1, d), divided by its new norm.
    """

    features: NodeFeatures
    row_norm: str | None
    projected: list[Array]
    replaced: Mapping[int, Any] = field(default_factory=dict)

    def project(self, block: int, Theta: Array, nodes: Places) -> Array:
        """`v_j Theta` of the nodes (s, C)."""
        found = self.projected[block][nodes]
        for node, row in self.replaced.items():
            found[nodes == node] = row @ Theta
        return found

    def row(self, node: int) -> Any:
        """`v_j` as a sparse row (1, d)."""
        if node in self.replaced:
            return self.replaced[node]
        return sparse.csr_array(self.features.take(np.array([node], dtype=np.intp))).astype(np.float64)

    def rows(self, nodes: Places) -> Any:
        """`v_j` of the nodes, sparse (s, d)."""
        if not self.replaced:
            return sparse.csr_array(self.features.take(nodes)).astype(np.float64)
        return sparse.vstack([self.row(node) for node in nodes.tolist()], format="csr")

    def combine(self, a: Array, nodes: Places) -> Array:
        """`sum_j a_j v_j` over the nodes (d,)."""
        a = a.copy()
        extra = np.zeros(self.features.n_columns)
        for node, row in self.replaced.items():
            at = nodes == node
            if at.any():
                extra += float(a[at].sum()) * row.toarray().ravel()
                a[at] = 0.0
        X, scale = self.features.X, self.features.row_scale
        if X is None:
            extra[nodes] += a
            return extra
        weights = a if scale is None else a * scale[nodes]
        if _MOSTLY * len(nodes) < self.features.n_nodes:
            return np.asarray(extra + X[nodes].T @ weights, dtype=np.float64)
        everyone = np.zeros(self.features.n_nodes)
        everyone[nodes] = weights
        return np.asarray(extra + X.T @ everyone, dtype=np.float64)

    def without(self, entries: Iterable[tuple[int, int]] = (), nodes: Iterable[int] = ()) -> Sources:
        """Rows without these entries (node, column), and empty rows for these nodes.

        A row that is divided by its norm is divided by the norm of what is left.
        """
        removed: dict[int, list[int]] = {}
        for node, column in entries:
            removed.setdefault(node, []).append(column)
        rows = dict(self.replaced)
        empty = sparse.csr_array((1, self.features.n_columns))
        for node, columns in removed.items():
            rows[node] = self._row_without(node, columns)
        rows.update(dict.fromkeys(nodes, empty))
        return replace(self, replaced=rows)

    def _row_without(self, node: int, columns: list[int]) -> Any:
        if self.features.X is None:
            raise InputError(
                "features can be taken away only from a model with features",
                "a model fitted with X=None",
                "take nodes or edges away",
            )
        row = self.row(node)
        present = row.indices[row.data != 0]
        missing = [column for column in columns if column not in present]
        if missing:
            raise InputError(
                "a feature to take away must be one that the node has",
                f"column {missing[0]} of node {node}",
                "name one whose value is not zero",
            )
        keep = ~np.isin(row.indices, columns)
        left = sparse.csr_array((row.data[keep], row.indices[keep], [0, int(keep.sum())]), shape=row.shape)
        norm = self.row_norm
        # The entries that are left keep their ratios, so the row is divided by the norm of what it is now.
        return NodeFeatures(left, row_norm=norm).take() if norm is not None and left.nnz else left
