"""Blocks of columns side by side multiply as the matrix that they would make."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn.errors import InputError
from sgclearn.estimators.fitting import PreparedFit, SolverSettings
from sgclearn.estimators.loss import Softmax
from sgclearn.propagation.design import ExplicitDesign
from sgclearn.propagation.side_by_side import SideBySideDesign


@pytest.fixture
def parts() -> tuple[SideBySideDesign, np.ndarray]:
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(9, 4))
    counts = sp.random_array((9, 7), density=0.4, rng=rng, format="csr")
    return SideBySideDesign([ExplicitDesign(dense), ExplicitDesign(counts)]), np.hstack(
        [dense, counts.toarray()]
    )


def test_products_equal_those_of_one_matrix(parts: tuple[SideBySideDesign, np.ndarray]) -> None:
    design, Z = parts
    rng = np.random.default_rng(5)
    V, G, weights = rng.normal(size=(11, 3)), rng.normal(size=(9, 3)), rng.random(9)
    assert design.shape == (9, 11)
    np.testing.assert_allclose(design.matmul(V), Z @ V, rtol=1e-12)
    np.testing.assert_allclose(design.rmatmul(G), Z.T @ G, rtol=1e-12)
    np.testing.assert_allclose(design.squares(weights), weights @ Z**2, rtol=1e-12)
    batch = np.array([4, 0, 7])
    np.testing.assert_array_equal(design.rows(batch), Z[batch])
    np.testing.assert_array_equal(design.subset(batch).rows(np.arange(3)), Z[batch])
    blocks = np.zeros_like(Z)
    for start, stop, values in design.column_blocks():
        blocks[:, start:stop] = values
    np.testing.assert_array_equal(blocks, Z)


def test_fit_equals_that_of_one_matrix(parts: tuple[SideBySideDesign, np.ndarray]) -> None:
    design, Z = parts
    Y = np.eye(3)[np.arange(9) % 3]
    fits = [
        PreparedFit(each, Y, np.ones(9), Softmax, SolverSettings(), 1e-2)
        for each in (design, ExplicitDesign(Z))
    ]
    apart, together = (fit.finish(fit.solve(1e-2)) for fit in fits)
    np.testing.assert_allclose(apart.Theta, together.Theta, atol=1e-8)


def test_blocks_with_other_rows_are_refused() -> None:
    with pytest.raises(InputError, match="designs with the same rows"):
        SideBySideDesign([ExplicitDesign(np.eye(2)), ExplicitDesign(np.eye(3))])
