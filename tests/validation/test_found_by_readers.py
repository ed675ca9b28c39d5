"""Faults that a reader of the promises found by hand, one each."""

from __future__ import annotations

import resource
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from sgclearn import Graph, Operator, SGCClassifier, propagate, read_edges, read_features
from sgclearn.errors import DataFileError, InputError, MemoryLimitError, SgclearnError
from sgclearn.filters import CustomFilter, HeatFilter
from sgclearn.folders import recover

GRAPH = Graph.from_edges([0], [1])


@pytest.mark.parametrize("part", ["new", "old"])
def test_link_in_a_work_folder_is_never_followed(tmp_path: Path, part: str) -> None:
    run, work, victim = tmp_path / "run", tmp_path / ".run.sgc", tmp_path / "victim"
    for folder in (run, work, victim):
        folder.mkdir()
    (victim / "labels.csv").write_text("a")
    (victim / "x.txt").write_text("b")
    (work / part).symlink_to(victim)
    recover(run, ("labels.csv",))
    assert sorted(path.name for path in victim.iterdir()) == ["labels.csv", "x.txt"]
    assert list(run.iterdir()) == []


def test_lock_that_is_a_link_makes_no_file_elsewhere(tmp_path: Path) -> None:
    run, work = tmp_path / "run", tmp_path / ".run.sgc"
    run.mkdir()
    (work / "new").mkdir(parents=True)
    (work / "lock").symlink_to(tmp_path / "elsewhere")
    recover(run, ("labels.csv",))
    assert not (tmp_path / "elsewhere").exists()


def test_npz_whose_arrays_numpy_did_not_pack_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    header = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 1000), }"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("X.npy", header.ljust(127) + b"\n" + bytes(6 * 10**7))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataFileError, match="packed in another way than numpy packs"):
        read_features(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_parquet_cells_count_as_what_they_become(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": np.zeros(10**7, dtype=bool), "b": np.zeros(10**7, dtype=bool)}), path)
    assert path.stat().st_size < 200_000
    with pytest.raises(DataFileError, match=r"must unpack to at most .* for its cells"):
        read_features(path)


def test_diagonals_of_a_matrix_that_no_memory_holds_are_refused() -> None:
    wide = sparse.dia_array((np.ones((1, 3)), [0]), shape=(2**40, 2**40))
    with pytest.raises(MemoryLimitError, match="row starts alone"):
        Graph.from_scipy(wide)


def test_masks_of_sparse_parts_and_rows_are_refused() -> None:
    matrix = sparse.csr_array(np.eye(2))
    matrix.data = np.ma.array(matrix.data, mask=[1, 0])
    rows = [np.ma.array([1.0, 9.0], mask=[0, 1]), np.ma.array([1.0, 2.0])]
    for X in (matrix, sparse.coo_array(np.eye(2)), rows):
        if isinstance(X, sparse.coo_array):
            X.data = np.ma.array(X.data, mask=[0, 1])
        for call in (
            lambda X=X: propagate(X, GRAPH, 0),
            lambda X=X: SGCClassifier().fit(X, [0, 1], graph=GRAPH),
            lambda X=X: HeatFilter().apply(X, Operator(GRAPH)),
        ):
            with pytest.raises(InputError, match="no masked entries"):
                call()


def test_filters_are_finite_and_hold_something() -> None:
    with pytest.raises(InputError, match="filtered features must be finite"):
        CustomFilter((1e308, 1e308, 1e308)).apply(2 * np.eye(2), Operator(GRAPH))
    with pytest.raises(InputError, match="hold some of the heat kernel: got 800"):
        HeatFilter(t=800.0)


def test_sparse_matrix_without_its_parts_is_one_sentence() -> None:
    def changed(**parts: object) -> sparse.coo_array:
        matrix = sparse.coo_array(np.eye(2))
        for name, value in parts.items():
            setattr(matrix, name, value)
        return matrix

    csr = sparse.csr_array(np.eye(2))
    del csr.indptr
    listed = sparse.csr_array(np.eye(2))
    listed.data = [1.0, 1.0]
    float_shape = sparse.csr_array(np.eye(2))
    float_shape._shape = (2.0, 2.0)
    far = sparse.dia_array(np.eye(2))
    far.offsets = far.offsets.astype(np.int64) + 2**62
    zero = np.zeros(2, dtype=int)
    for X in (
        csr, listed, float_shape, far, changed(coords=(zero,)), changed(coords=(zero, zero, zero)), changed(coords=None)
    ):  # fmt: skip
        for call in (
            lambda X=X: propagate(X, GRAPH, 1),
            lambda X=X: SGCClassifier().fit(X, [0, 1], graph=GRAPH),
            lambda X=X: Graph.from_scipy(X),
        ):
            with pytest.raises(SgclearnError, match="fit together"):
                call()


def test_more_columns_than_memory_are_refused_and_none_are_fine() -> None:
    wide = sparse.csr_array(([1.0], ([0], [2**40 - 1])), shape=(2, 2**40))
    with pytest.raises(InputError, match="at most 10,000,000 columns: got 1,099,511,627,776"):
        propagate(wide, GRAPH, 1)
    assert propagate(sparse.csr_array((2, 0)), GRAPH, 1, row_norm="l2").shape == (2, 0)
    tall = sparse.csr_array((200_000, 9_000_000))
    with pytest.raises(MemoryLimitError, match="as a dense matrix"):
        HeatFilter().apply(tall, Operator(Graph.from_edges([0], [1], n_nodes=200_000)))


def test_long_cell_of_digits_takes_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"a,b\n{'1' * 2_000_000}x,{'7' * 2_000_000}\n")
    assert read_edges(path).n_edges == 1
