"""Feature files of every kind, and what is wrong with the bad ones."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from sgclearn.errors import DataFileError, InputError, SgclearnWarning
from sgclearn.features import Features, read_features, read_labels

CSV = "id,year,venue,open\n007,2001,ICML,true\n12,2002,KDD,false\n"


def write(folder: Path, text: str, name: str = "features.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def ids_of(features: Features) -> list[object] | None:
    return None if features.ids is None else features.ids.tolist()


def test_csv_ids_keep_their_spelling(tmp_path: Path) -> None:
    features = read_features(write(tmp_path, CSV))
    assert ids_of(features) == ["007", "12"]
    assert features.names[:3] == ("year", "venue=ICML", "venue=KDD")
    np.testing.assert_array_equal(features.matrix[:, :3], [[2001, 1, 0], [2002, 0, 1]])


def test_csv_ids_in_usual_spelling_are_integers(tmp_path: Path) -> None:
    features = read_features(write(tmp_path, "node\tx\n12\t1.5\n7\t2\n", "f.tsv"))
    assert ids_of(features) == [12, 7]
    np.testing.assert_array_equal(features.matrix, [[1.5], [2]])


def test_csv_first_column_is_the_id_in_its_spelling(tmp_path: Path) -> None:
    assert ids_of(read_features(write(tmp_path, "doc,x,y\n007,1,2\n08,3,4\n"))) == ["007", "08"]
    assert ids_of(read_features(write(tmp_path, "doc,x,y\nu,1,2\nv,3,4\n"))) == ["u", "v"]


def test_csv_of_fractions_has_no_ids(tmp_path: Path) -> None:
    features = read_features(write(tmp_path, "0.5,1,2\n1.5,3,4\n"))
    assert features.ids is None
    assert features.names == ("column_0", "column_1", "column_2")
    np.testing.assert_array_equal(features.matrix, [[0.5, 1, 2], [1.5, 3, 4]])


def test_csv_header_can_be_denied(tmp_path: Path) -> None:
    features = read_features(write(tmp_path, "a,u\nb,v\n"), header=False)
    assert ids_of(features) == ["a", "b"]
    assert features.names == ("column_1=u", "column_1=v")


def test_csv_id_column_and_delimiter_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "x;doc\n1;007\n2;9\n")
    features = read_features(path, id_column="doc", delimiter=";")
    assert ids_of(features) == ["007", "9"]
    assert read_features(path, id_column=False).names == ("x", "doc")
    with pytest.raises(DataFileError, match="id_column must be one of the columns 'x', 'doc'"):
        read_features(path, id_column="nope")


def test_csv_packed_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "features.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    plain = read_features(write(tmp_path, CSV))
    np.testing.assert_array_equal(read_features(path).matrix, plain.matrix)


def test_csv_missing_values_name_file_column_and_choices(tmp_path: Path) -> None:
    path = write(tmp_path, "id,x,s\na,1,u\nb,,v\nc,NA,\n")
    with pytest.raises(DataFileError, match=r"features\.csv: .*2 missing values in column 'x'.*impute="):
        read_features(path)
    features = read_features(path, impute="median")
    np.testing.assert_array_equal(features.matrix, [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]])


def test_csv_numbers_with_a_text_cell_are_refused(tmp_path: Path) -> None:
    rows = [f"n{i},{i}.5" for i in range(8)]
    path = write(tmp_path, "\n".join(["id,x", *rows, "n8,abc", "n9,", ""]))
    with pytest.raises(
        DataFileError, match=r"features\.csv: .*8 numbers and 'abc' in line 10 of column 'x'; mend"
    ):
        read_features(path)
    whole = read_features(write(tmp_path, "\n".join(["id,x", *rows, ""]), "old.csv"))
    with pytest.raises(
        DataFileError, match=r"must be numbers .*got 'abc' in line 10 of column 'x'; mend the cell"
    ):
        read_features(path, encoding=whole.encoding)


def test_csv_with_a_repeated_id_or_no_rows_says_where(tmp_path: Path) -> None:
    path = write(tmp_path, "id,x\na,1\nb,2\na,3\n")
    with pytest.raises(
        DataFileError, match=r"one row for each id: got 'a' again in line 4 \(1 repeat\); remove it"
    ):
        read_features(path)
    with pytest.raises(DataFileError, match=r"features\.csv: .* got no rows"):
        read_features(write(tmp_path, "id,x\n"))


def test_csv_missing_text_says_what_impute_does(tmp_path: Path) -> None:
    with pytest.raises(
        DataFileError, match=r"impute='zero', which makes a missing text a category of its own"
    ):
        read_features(write(tmp_path, "id,s\na,u\nb,\n"))


def test_csv_of_new_nodes_is_encoded_as_the_old_one(tmp_path: Path) -> None:
    old = read_features(write(tmp_path, "id,code,x\n1,01,5\n2,A,6\n3,2,7\n4,,8\n"), impute="mean")
    assert old.names == ("code=01", "code=2", "code=A", "code=<missing>", "x")
    new = read_features(
        write(tmp_path, "id,code,x\n8,01,1\n9,2,2\n10,NA,\n", "new.csv"), encoding=old.encoding
    )
    assert ids_of(new) == [8, 9, 10]
    np.testing.assert_array_equal(new.matrix, [[1, 0, 0, 0, 1], [0, 1, 0, 0, 2], [0, 0, 0, 1, 6.5]])


def test_csv_of_new_nodes_with_an_unknown_category_warns(tmp_path: Path) -> None:
    old = read_features(write(tmp_path, CSV))
    with pytest.warns(SgclearnWarning, match="'venue' has 1 value "):
        new = read_features(
            write(tmp_path, "id,year,venue,open\n13,1,ACL,true\n", "new.csv"), encoding=old.encoding
        )
    np.testing.assert_array_equal(new.matrix[0, :3], [1, 0, 0])


def test_csv_of_new_nodes_without_ids(tmp_path: Path) -> None:
    old = read_features(write(tmp_path, "x,y\n0.5,1\n0.7,2\n"))
    new = read_features(write(tmp_path, "x,y\n3,1\n4,2\n", "new.csv"), encoding=old.encoding)
    assert new.ids is None


def test_csv_wide_has_every_column(tmp_path: Path) -> None:
    rng = np.random.default_rng(733)
    X = (rng.random((300, 4000)) < 0.01).astype(int)
    lines = ["id," + ",".join(f"w{j}" for j in range(4000))]
    lines += [f"n{i}," + ",".join(map(str, row)) for i, row in enumerate(X)]
    features = read_features(write(tmp_path, "\n".join(lines) + "\n"))
    assert isinstance(features.matrix, sp.csr_array)
    np.testing.assert_array_equal(features.matrix.toarray(), X)


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02binary\x00", b"just one column\n"])
def test_csv_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "features.csv"
    path.write_bytes(content)
    with pytest.raises(DataFileError):
        read_features(path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    for name in ("f.csv", "f.parquet", "f.npz", "f.svm"):
        with pytest.raises(DataFileError, match=name):
            read_features(tmp_path / name)


def test_parquet_reads_as_the_frame(tmp_path: Path) -> None:
    table = pa.table(
        {"id": ["b", "a"], "x": pa.array([1, 2], pa.float32()), "s": pa.array(["u", "v"]).dictionary_encode()}
    )
    pq.write_table(table, tmp_path / "f.parquet")
    features = read_features(tmp_path / "f.parquet")
    assert ids_of(features) == ["b", "a"]
    assert features.matrix.dtype == np.float32
    assert features.encoding == Features.from_frame(table).encoding


def test_parquet_nested_and_dates_name_column_and_type(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"id": [1, 2], "when": pa.array([1, 2]).cast(pa.timestamp("ms"))}), tmp_path / "d.parquet"
    )
    with pytest.raises(DataFileError, match=r"got timestamp.* in column 'when'"):
        read_features(tmp_path / "d.parquet")
    pq.write_table(pa.table({"tags": [["a"], ["b"]], "x": [1, 2]}), tmp_path / "n.parquet")
    with pytest.raises(DataFileError, match=r"got list.* in column 'tags'"):
        read_features(tmp_path / "n.parquet")


def test_npz_of_scipy(tmp_path: Path) -> None:
    X = sp.random_array((20, 30), density=0.1, rng=np.random.default_rng(11), format="csc")
    sp.save_npz(tmp_path / "x.npz", X)
    features = read_features(tmp_path / "x.npz")
    assert features.ids is None
    assert features.encoding is None
    assert isinstance(features.matrix, sp.csr_array)
    np.testing.assert_array_equal(features.matrix.toarray(), X.toarray())


@pytest.mark.parametrize("key", ["X", "features"])
def test_npz_of_arrays(tmp_path: Path, key: str) -> None:
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.savez(tmp_path / "x.npz", **{key: X}, ids=np.array(["007", "b", "c"]), names=np.array(["p", "q"]))
    features = read_features(tmp_path / "x.npz")
    assert ids_of(features) == ["007", "b", "c"]
    assert features.names == ("p", "q")
    assert features.matrix.dtype == np.float32
    np.testing.assert_array_equal(features.matrix, X)


def test_npz_of_scipy_may_have_ids_beside_it(tmp_path: Path) -> None:
    X = sp.csr_array(np.eye(2))
    parts = {"indices": X.indices, "indptr": X.indptr, "data": X.data, "shape": X.shape, "format": b"csr"}
    np.savez(tmp_path / "x.npz", **parts, ids=["b", "a"])
    assert ids_of(read_features(tmp_path / "x.npz")) == ["b", "a"]


def test_npz_of_csr_parts_with_narrow_indices(tmp_path: Path) -> None:
    X = sp.csr_array(np.array([[0, 2, 0], [1, 0, 3]], dtype=np.uint8))
    np.savez(
        tmp_path / "x.npz",
        x_shape=np.array(X.shape),
        x_indptr=X.indptr,
        x_indices=X.indices.astype(np.uint16),
        x_data=X.data,
        y=np.array([0, 1]),
    )
    features = read_features(tmp_path / "x.npz")
    np.testing.assert_array_equal(features.matrix.toarray(), X.toarray())


def test_npz_of_real_data(data_dir: Path) -> None:
    features = read_features(data_dir / "planetoid" / "cora.npz")
    assert features.matrix.shape == (2708, 1433)
    assert features.matrix.nnz == 49216


@pytest.mark.parametrize(
    "arrays",
    [
        {"y": np.array([1])},
        {},
        {"X": np.array([{"a": 1}], dtype=object)},
        {
            "x_shape": [2, 2],
            "x_indptr": np.array([0, 1, 1]),
            "x_indices": np.array([9]),
            "x_data": np.array([1.0]),
        },
        {"format": np.array(b"csr"), "shape": np.array([2, 2])},
        {"X": np.array([["a"]]), "ids": np.array([1])},
        {"X": np.array([[np.nan]])},
        {"X": np.array([[1.0], [2.0]]), "ids": np.array([1, 1])},
    ],
)
def test_npz_with_bad_contents_is_refused(tmp_path: Path, arrays: dict[str, object]) -> None:
    np.savez(tmp_path / "x.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(DataFileError, match=r"x\.npz"):
        read_features(tmp_path / "x.npz")


def test_npz_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, X=np.random.default_rng(17).normal(size=(50, 50)))
    whole = path.read_bytes()
    broken = bytearray(whole)
    broken[200:400] = bytes(200)
    for content in (b"", b"no archive", whole[:-100], bytes(broken), pickle.dumps([1, 2])):
        path.write_bytes(content)
        with pytest.raises(DataFileError, match=r"x\.npz must be a whole npz file of plain arrays"):
            read_features(path)


@pytest.mark.parametrize("suffix", ["svm", "svmlight", "libsvm"])
def test_svmlight_is_sparse(tmp_path: Path, suffix: str) -> None:
    features = read_features(write(tmp_path, "1 1:0.5 3:2\n-1 2:1.5\n", f"f.{suffix}"))
    assert features.ids is None
    np.testing.assert_array_equal(features.matrix.toarray(), [[0.5, 0, 2], [0, 1.5, 0]])


def test_svmlight_packed(tmp_path: Path) -> None:
    path = tmp_path / "f.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:0.5\n"))
    np.testing.assert_array_equal(read_features(path).matrix.toarray(), [[0.5]])


def test_svmlight_with_an_absurd_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataFileError, match=r"f\.svm must have entries in more of its columns: got 2 in 2,000,000,000"
    ):
        read_features(write(tmp_path, "1 1:0.5 2000000000:2\n", "f.svm"))


def test_svmlight_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"f\.svm must be svmlight text"):
        read_features(write(tmp_path, "a,b\nc,d\n", "f.svm"))


@pytest.mark.parametrize(
    "options", [{"impute": "mean"}, {"id_column": "id"}, {"delimiter": ","}, {"header": True}]
)
def test_matrix_files_refuse_options_of_tables(tmp_path: Path, options: dict[str, object]) -> None:
    np.savez(tmp_path / "x.npz", X=np.eye(2))
    with pytest.raises(InputError, match=f"{next(iter(options))} goes with tables"):
        read_features(tmp_path / "x.npz", **options)  # type: ignore[arg-type]


def test_named_columns_are_taken_for_a_header(tmp_path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("paper,topic\na,x\nb,y\n")
    labels = read_labels(path, id_column="paper", label_column="topic")
    assert labels.ids.tolist() == ["a", "b"]
