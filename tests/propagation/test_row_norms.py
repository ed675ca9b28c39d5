"""Row norms at the ends of the range of numbers: right, or an error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sgclearn.errors import InputError
from sgclearn.propagation.node_features import NodeFeatures


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-170, 1e-100, 1.0, 1e100, 1e149])
@pytest.mark.parametrize("row_norm", ["l1", "l2"])
def test_rows_of_any_size_are_divided_by_their_norm(form, size, row_norm):
    X = np.array([[3.0, -4.0], [0.0, 2.0], [0.0, 0.0], [1.0, 1e-30]])
    X[0] *= size
    expected = X / np.array([[7.0 * size], [2.0], [1.0], [1.0]])
    if row_norm == "l2":
        expected = X / np.array([[5.0 * size], [2.0], [1.0], [1.0]])
    rows = NodeFeatures(form(X), row_norm=row_norm).take()
    found = rows.toarray() if sparse.issparse(rows) else rows
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("value", "dtype"), [(5e-324, np.float64), (1e-310, np.float64), (1e-39, np.float32), (3e38, np.float32)]
)
def test_rows_whose_norm_has_no_inverse_are_refused(form, value, dtype):
    with pytest.raises(InputError, match="rows whose norms can be inverted as float"):
        NodeFeatures(form(np.full((3, 1), value, dtype=dtype)), row_norm="l1")
