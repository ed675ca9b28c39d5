"""The border for sparse matrices: what fits together passes unchanged, anything else is one sentence."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sgclearn.errors import InputError, InputTypeError, MemoryLimitError
from sgclearn.validation import sparse as border
from sgclearn.validation.sparse import as_csr, check_sparse

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def example(n_rows: int = 5, n_columns: int = 4, seed: int = 7) -> Any:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.5)
    return sparse.csr_array(dense)


@pytest.fixture(params=["kernel", "numpy"])
def looker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "numpy":
        monkeypatch.setattr(border, "load_kernel", lambda: None)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_matrix_of_every_format_passes_with_its_entries(form: str, kind: str) -> None:
    matrix = getattr(sparse, f"{form}_{kind}")(example())
    rows = as_csr(matrix, "X")
    assert isinstance(rows, sparse.csr_array)
    assert rows.has_canonical_format
    np.testing.assert_array_equal(rows.toarray(), example().toarray())


def test_matrix_that_is_canonical_is_not_copied(looker: None) -> None:
    matrix = example()
    assert as_csr(matrix, "X") is matrix


def test_repeated_entries_are_added_up_in_a_copy(looker: None) -> None:
    matrix = sparse.csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    matrix.has_canonical_format = True  # a flag that lies
    assert as_csr(matrix, "X").toarray().tolist() == [[1.0, 2.0]]
    assert matrix.indices.tolist() == [1, 1, 0]
    old = sparse.csr_matrix((np.ones(2), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    assert as_csr(old, "X").toarray().tolist() == [[0.0, 2.0]]
    assert old.data.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("part", "values", "message"),
    [
        ("indptr", [0, 3, 2, 4], "do not rise from 0"),
        ("indptr", [1, 2, 3, 4], "do not rise from 0"),
        ("indptr", [0, 2, 3, 9], "do not rise from 0"),
        ("indptr", [0, 2, 3, 3], "do not rise from 0"),
        ("indptr", [0, 2, 4], "3 row starts for 3 rows"),
        ("indices", [0, 1, -1, 2], r"indices from -1 to 2, not in \[0, 3\)"),
        ("indices", [0, 1, 2, 3], r"indices from 0 to 3, not in \[0, 3\)"),
        ("indices", [0, 1, 2], "3 indices and 4 entries"),
    ],
)
def test_compressed_rows_that_do_not_fit_are_refused(
    looker: None, index: Any, part: str, values: list[int], message: str
) -> None:
    for form in (sparse.csr_array, sparse.csc_array):
        matrix = form((np.ones(4), np.array([0, 1, 0, 2]), np.array([0, 2, 3, 4])), shape=(3, 3))
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        setattr(matrix, part, np.array(values, dtype=index))
        with pytest.raises(
            InputError, match=f"^X must be a sparse matrix whose parts fit together: got .*{message}"
        ):
            check_sparse(matrix, "X")


def test_indices_of_other_types_are_used_or_refused() -> None:
    matrix = example()
    matrix.indptr, matrix.indices = matrix.indptr.astype(np.uint64), matrix.indices.astype(np.uint8)
    np.testing.assert_array_equal(as_csr(matrix, "X").toarray(), example().toarray())
    matrix.indices = matrix.indices.astype(np.float64)
    with pytest.raises(InputError, match="indices in float64"):
        check_sparse(matrix, "X")
    matrix.indices = matrix.indices.astype(int).tolist()
    with pytest.raises(InputError, match="indices in list"):
        check_sparse(matrix, "X")


def test_other_formats_that_do_not_fit_are_refused() -> None:
    coo = sparse.coo_array(example())
    coo.coords = (coo.coords[0], coo.coords[1] + 4)
    with pytest.raises(InputError, match=r"column indices from 4 to 7, not in \[0, 4\)"):
        check_sparse(coo, "X")
    coo.coords = (coo.coords[0][:-1], coo.coords[1] - 4)
    with pytest.raises(InputError, match="row indices and"):
        check_sparse(coo, "X")
    lil = sparse.lil_array(example())
    lil.rows[0] = [0, 99]
    lil.data[0] = [1.0, 2.0]
    with pytest.raises(InputError, match="fit together"):
        check_sparse(lil, "X")
    lil.data[0] = [1.0]
    with pytest.raises(InputError, match="different lengths"):
        check_sparse(lil, "X")
    dia = sparse.dia_array((np.ones((2, 3)), [0, 1]), shape=(3, 3))
    dia.offsets = np.array([0])
    with pytest.raises(InputError, match="1 offsets and diagonals of shape"):
        check_sparse(dia, "X")
    dia.offsets = np.array([1, 1])
    with pytest.raises(InputError, match="an offset twice"):
        check_sparse(dia, "X")
    bsr = sparse.bsr_array(np.ones((4, 4)), blocksize=(2, 2))
    bsr.indices = bsr.indices + 1
    with pytest.raises(InputError, match=r"not in \[0, 2\)"):
        check_sparse(bsr, "X")
    dok = sparse.dok_array((2, 2))
    dok._dict[(5, 5)] = 1.0
    with pytest.raises(InputError, match="fit together"):
        check_sparse(dok, "X")


def test_entries_that_are_no_real_numbers_are_refused() -> None:
    with pytest.raises(InputTypeError, match="X must hold real numbers: got a sparse matrix of complex128"):
        check_sparse(example().astype(complex), "X")
    with pytest.raises(InputError, match="two dimensions: got a sparse array of shape"):
        check_sparse(sparse.coo_array(np.ones(3)), "X")


@pytest.mark.parametrize("dtype", [">f8", np.longdouble, ">i4"])
def test_values_of_other_types_become_plain(dtype: Any) -> None:
    matrix = example()
    matrix.data = np.round(matrix.data * 8).astype(dtype)
    expected = np.round(example().toarray() * 8)
    np.testing.assert_array_equal(as_csr(matrix, "X").toarray(), expected)
    assert matrix.data.dtype == dtype


def test_rows_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGCLEARN_MEMORY_LIMIT", "1MB")
    with pytest.raises(
        MemoryLimitError, match=r"1,000,000,000 rows must fit the 1.0 MB .* got 24.0 GB for its row starts"
    ):
        as_csr(sparse.coo_array((10**9, 3)), "X")


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.int32, np.int64]))
def test_kernel_and_numpy_agree_on_the_structure(seed: int, index: Any) -> None:
    from sgclearn._native import load_kernel

    kernel = load_kernel()
    if kernel is None:
        pytest.skip("the kernel was not built")
    rng = np.random.default_rng(seed)
    n_rows, n_columns = (int(size) for size in rng.integers(0, 6, 2))
    lengths = rng.integers(0, 4, n_rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    indices = rng.integers(-1 if rng.random() < 0.1 else 0, n_columns + 1, int(indptr[-1])).astype(index)
    if rng.random() < 0.5:
        for start, end in pairwise(indptr):
            indices[start:end].sort()
    if rng.random() < 0.2:
        indptr[rng.integers(len(indptr))] += int(rng.integers(-2, 3))
    look = kernel.structure_i32 if index is np.int32 else kernel.structure_i64
    assert look(indptr, indices, n_columns) == border._structure(indptr, indices, n_columns)
