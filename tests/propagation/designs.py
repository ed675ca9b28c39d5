"""Features in every form, and what every design must do, for several tests."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sgclearn.propagation.design import ExplicitDesign
from sgclearn.propagation.node_features import NodeFeatures

from zoo import random_features

EXPLICIT = ["full", "frontier", "left-first"]
KINDS = ["dense", "sparse", "float32", "identity", "l2"]


def features_of(n_nodes: int, kind: str) -> tuple[NodeFeatures, np.ndarray]:
    """Features in some form, and the dense matrix that they stand for."""
    if kind == "identity":
        return NodeFeatures(None, n_nodes), np.eye(n_nodes)
    X = random_features(n_nodes, 5, seed=61, density=0.4)
    if kind == "l2":
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        return NodeFeatures(sparse.csr_array(X), row_norm="l2"), X / np.where(norms > 0, norms, 1.0)
    form = {"dense": X, "sparse": sparse.csr_array(X), "float32": X.astype(np.float32)}[kind]
    return NodeFeatures(form), X


def tolerance(kind: str) -> dict[str, float]:
    return {"rtol": 1e-5, "atol": 1e-5} if kind == "float32" else {"rtol": 1e-10, "atol": 1e-12}


def check_design(Z, expected, close):
    """Everything that a design can do, against the dense rows."""
    m, d = expected.shape
    assert Z.shape == (m, d)
    V, G = random_features(d, 3, seed=71, density=1.0), random_features(m, 3, seed=73, density=1.0)
    np.testing.assert_allclose(Z.matmul(V), expected @ V, **close)
    np.testing.assert_allclose(Z.rmatmul(G), expected.T @ G, **close)
    batch = np.arange(m)[::-2]
    np.testing.assert_allclose(Z.rows(batch), expected[batch], **close)
    part = Z.subset(batch)
    assert part.shape == (len(batch), d)
    np.testing.assert_allclose(part.matmul(V), expected[batch] @ V, **close)
    np.testing.assert_allclose(part.rmatmul(G[batch]), expected[batch].T @ G[batch], **close)
    assert part.squares(np.ones(len(batch))) is None or isinstance(Z, ExplicitDesign)
    np.testing.assert_allclose(part.rows(np.array([0])), expected[batch[:1]], **close)
    np.testing.assert_allclose(part.subset(np.array([0])).matmul(V), expected[batch[:1]] @ V, **close)
    np.testing.assert_allclose(
        np.hstack([block for _, _, block in part.column_blocks()]), expected[batch], **close
    )
    blocks = list(Z.column_blocks())
    assert [start for start, _, _ in blocks] == [0, *(stop for _, stop, _ in blocks[:-1])]
    np.testing.assert_allclose(np.hstack([block for _, _, block in blocks]), expected, **close)
    for result in (Z.matmul(V), Z.rmatmul(G), Z.rows(batch), blocks[0][2]):
        assert isinstance(result, np.ndarray)
        assert result.dtype == np.float64
