"""The kernel's own checks: called past the border, it refuses what it would follow out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from sgclearn._native import load_kernel

kernel = load_kernel()
pytestmark = pytest.mark.skipif(kernel is None, reason="the kernel was not built")

INDPTR, INDICES = np.array([0, 1, 3, 4], dtype=np.int32), np.array([1, 0, 2, 1], dtype=np.int32)
ONES = np.ones(3)
BAD_ROWS = {
    "not monotone": (np.array([0, 3, 1, 4], dtype=np.int32), INDICES),
    "too long": (np.array([0, 1, 3, 2**30], dtype=np.int32), INDICES),
    "not from 0": (np.array([1, 1, 3, 4], dtype=np.int32), INDICES),
    "too short": (np.array([0, 1, 2, 3], dtype=np.int32), INDICES),
    "negative": (INDPTR, np.array([1, 0, -1, 1], dtype=np.int32)),
    "too large": (INDPTR, np.array([1, 0, 3, 1], dtype=np.int32)),
    "far away": (INDPTR, np.array([1, 0, 2**31 - 1, 1], dtype=np.int32)),
}


def hop(indptr: Any = INDPTR, indices: Any = INDICES, own: Any = None, mix: Any = ONES) -> tuple[Any, ...]:
    return (indptr, indices, None, own, mix, ONES)


def dense(
    hops: Any, places: Any = (None, None), rows: Any = None, X: Any = None, coefficients: Any = (0.0, 1.0)
) -> Any:
    X = np.ones((3, 2)) if X is None else X
    out = np.empty((3, 2))
    kernel.propagate_dense_f64_i32(
        hops, list(places), ONES, ONES, X, rows, out, np.array(coefficients), 1, 1, None
    )
    return out


def sparse(indptr: Any, indices: Any) -> Any:
    kernel.propagate_sparse_f64_i32(
        [hop()], [None, None], ONES, ONES, indptr, indices, np.ones(4), 3, None, np.empty((3, 3)),
        np.array([0.0, 1.0]), 1, 1, None,
    )  # fmt: skip


def count(first: Any, second: Any) -> Any:
    kernel.product_count_f64_i32(
        *first, None, None, None, None, None, *second, np.ones(4), 3, np.empty(3, np.int64), 1
    )


def walked(first: Any, second: Any, nodes: Any = (0, 1)) -> Any:
    kernel.walked_rows_f64_i32(
        *first, None, ONES, ONES, ONES, np.array([0.0, 1.0]), *second, np.ones(4), None, 3,
        np.array(nodes, dtype=np.int64), 1, None,
    )  # fmt: skip


GOOD = (INDPTR, INDICES)
CALLS = {
    "propagate_dense": lambda rows: dense([hop(*rows)]),
    "propagate_sparse": lambda rows: sparse(*rows),
    "product, left": lambda rows: count(rows, GOOD),
    "product, right": lambda rows: count(GOOD, rows),
    "walked, graph": lambda rows: walked(rows, GOOD),
    "walked, features": lambda rows: walked(GOOD, rows),
    "thin_product": lambda rows: kernel.thin_product_f64_i32(
        *rows, np.ones(4), np.ones((3, 2)), None, np.empty((3, 2)), 1
    ),
    "gram": lambda rows: kernel.gram_f64_i32(*rows, np.ones(4), 3, np.empty((3, 3))),
    "sum_neighbours": lambda rows: kernel.sum_neighbours_i32(*rows, ONES, None, np.empty(3)),
    "mark_neighbours": lambda rows: kernel.mark_neighbours_i32(
        *rows, np.array([0, 1], dtype=np.int64), np.zeros(3, dtype=np.uint8)
    ),
    "gather_probe": lambda rows: kernel.gather_probe_i32(*rows, np.ones((3, 16), dtype=np.float32), 1),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_kernel_takes_rows_that_fit(call: Any) -> None:
    call(GOOD)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("rows", BAD_ROWS.values(), ids=BAD_ROWS)
def test_kernel_refuses_rows_that_do_not_fit(call: Any, rows: Any) -> None:
    with pytest.raises(ValueError, match="the kernel was given"):
        call(rows)


def test_kernel_refuses_places_and_shapes_that_do_not_fit() -> None:
    far = np.array([0, 1, 7], dtype=np.int64)
    wrong = [
        lambda: dense([hop()], places=(None, far)),
        lambda: dense([hop()], places=(None, far[:2])),
        lambda: dense([hop()], rows=far),
        lambda: dense([hop()], X=np.ones((2, 2))),
        lambda: dense([hop(own=np.array([0, 1, 3], dtype=np.int32))]),
        lambda: dense([hop(own=np.array([0, 1, -2], dtype=np.int32))]),
        lambda: dense([hop(mix=np.ones(2))]),
        lambda: dense([hop()], coefficients=(1.0,)),
        lambda: walked(GOOD, GOOD, nodes=(0, 3)),
        lambda: kernel.scan_rows_f64_i32(INDPTR, np.ones(3), False, None),
        lambda: kernel.check_rows_i32(INDPTR, INDICES[:3], None, True, np.empty(3, np.int64)),
        lambda: kernel.evaluate(
            np.ones((4, 2)),
            np.ones((3, 2)),
            np.ones(4),
            np.ones(2),
            np.ones((2, 2)),
            np.ones((2, 2)),
            np.ones((4, 2)),
        ),
    ]
    for call in wrong:
        with pytest.raises(ValueError, match="the kernel was given"):
            call()


@pytest.mark.parametrize("n_columns", [2, 9])
@pytest.mark.parametrize("lengths", [[10_000], [3, 9_000, 5, 0], [7] * 1_500])
def test_thin_product_refuses_a_column_out_of_range_wherever_it_stands(
    lengths: list[int], n_columns: int
) -> None:
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    rng = np.random.default_rng(31)
    good, values = rng.integers(0, 3, indptr[-1]).astype(np.int32), rng.normal(size=indptr[-1])
    V, out = rng.normal(size=(3, n_columns)), np.empty((len(lengths), n_columns))

    def multiply(indices: Any) -> None:
        kernel.thin_product_f64_i32(indptr, indices, values, V, None, out, 1)

    multiply(good)
    expected = csr_array((values, good, indptr), shape=(len(lengths), 3)) @ V
    np.testing.assert_allclose(out, expected, atol=1e-10)
    for place in (0, 4095, 4096, int(indptr[-1]) - 1):
        for column in (-1, 3, 2**31 - 1):
            bad = good.copy()
            bad[place] = column
            with pytest.raises(ValueError, match="the kernel was given a column index out of range"):
                multiply(bad)
