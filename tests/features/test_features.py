"""Features from matrices and frames, and their rows in node order."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, issparse

from sgclearn.errors import InputError, InputTypeError
from sgclearn.features import Features
from sgclearn.graph import Graph

RAW = {
    "paper": ["p3", "p1", "p2"],
    "year": [2001, 2002, 2003],
    "score": [0.5, 1.5, -2.0],
    "open": [True, False, True],
    "venue": ["ICML", "KDD", "ICML"],
}
MATRIX = [[2001, 0.5, 1, 1, 0], [2002, 1.5, 0, 0, 1], [2003, -2.0, 1, 1, 0]]


def path_graph(*ids: object) -> Graph:
    return Graph.from_edges(list(pairwise(ids)), nodes=list(ids))


class Stream:
    """A frame of no known library that speaks Arrow."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def categorical_pandas() -> pd.DataFrame:
    frame = pd.DataFrame(RAW)
    frame["venue"] = frame["venue"].astype("category")
    return frame


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(RAW),
        pa.RecordBatch.from_pydict(RAW),
        pd.DataFrame(RAW),
        pd.DataFrame(RAW).set_index("paper"),
        categorical_pandas(),
        pl.DataFrame(RAW),
        pl.DataFrame(RAW).with_columns(pl.col("venue").cast(pl.Categorical)),
        Stream(pa.table(RAW)),
    ],
    ids=["arrow", "batch", "pandas", "index", "pandas-cat", "polars", "polars-cat", "stream"],
)
def test_frames_of_every_library_give_the_same_features(frame: object) -> None:
    features = Features.from_frame(frame)
    assert features.ids is not None
    assert features.ids.tolist() == ["p3", "p1", "p2"]
    assert features.names == ("year", "score", "open", "venue=ICML", "venue=KDD")
    np.testing.assert_array_equal(features.matrix, MATRIX)
    assert features.encoding == Features.from_frame(pa.table(RAW)).encoding


def test_frame_missing_values_are_the_same_in_every_library() -> None:
    raw = {"id": [1, 2, 3], "a": [1.0, None, 3.0], "b": ["x", None, "x"]}
    expected = [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
    for frame in (pa.table(raw), pd.DataFrame(raw), pl.DataFrame(raw)):
        np.testing.assert_array_equal(Features.from_frame(frame, impute="mean").matrix, expected)
        with pytest.raises(InputError, match="1 missing value in column 'a'"):
            Features.from_frame(frame)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"x": [1, 2], "ID": [5, 6]}, [5, 6]),
        ({"name": ["u", "v"], "Node_Id": ["a", "b"], "x": [1, 2]}, ["a", "b"]),
        ({"key": ["u", "v"], "x": [1, 2]}, ["u", "v"]),
        ({"doc": ["u", "v"], "x": [1, 2]}, ["u", "v"]),
        ({"doc": [9, 4], "x": [1, 2]}, [9, 4]),
        ({"x": [0.5, 1.5], "doc": ["u", "v"]}, None),
        ({"x": [1, 1, 0, 0], "y": [1, 2, 3, 4]}, None),
        ({"s": ["u", "u"], "y": [1, 2]}, None),
        ({"ok": [True, False], "y": [1, 2]}, None),
    ],
)
def test_id_column_is_found(columns: dict[str, list[object]], expected: list[object] | None) -> None:
    ids = Features.from_frame(pa.table(columns)).ids
    assert (None if ids is None else ids.tolist()) == expected


def test_id_column_can_be_named_or_denied() -> None:
    table = pa.table({"id": [1, 2], "doc": ["u", "v"], "x": [0.5, 1.5]})
    named = Features.from_frame(table, "doc")
    assert named.ids is not None
    assert named.ids.tolist() == ["u", "v"]
    assert named.names == ("id", "x")
    denied = Features.from_frame(table, id_column=False)
    assert denied.ids is None
    assert denied.names == ("id", "doc=u", "doc=v", "x")
    with pytest.raises(InputError, match=r"one of the columns 'id', 'doc', 'x': got 'nope'"):
        Features.from_frame(table, "nope")
    with pytest.raises(InputTypeError, match="id_column must be"):
        Features.from_frame(table, id_column=True)


@pytest.mark.parametrize(("column", "twice"), [(["a", "b", "b"], "'b'"), ([4, 7, 4], "4")])
def test_first_column_that_looks_like_an_id_with_repetitions_is_refused(
    column: list[object], twice: str
) -> None:
    with pytest.raises(
        InputError, match=rf"the first column, 'doc', .* got {twice} more than once.*id_column=False"
    ):
        Features.from_frame(pa.table({"doc": column, "x": [1.0, 2.0, 3.0]}))


def test_pandas_index_is_the_id_unless_a_filter_left_it() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "node": ["x", "y", "z"]})
    filtered = Features.from_frame(frame[frame["a"] > 1])
    assert filtered.ids is not None
    assert filtered.ids.tolist() == ["y", "z"]
    rows = Features.from_frame(frame[["a"]][frame["a"] > 1])
    assert rows.ids is not None
    assert rows.ids.tolist() == [1, 2]
    indexed = frame.set_index(pd.Index(["q", "r", "s"]))
    strings = Features.from_frame(indexed)
    assert strings.ids is not None
    assert strings.ids.tolist() == ["q", "r", "s"]
    assert strings.names == ("a", "node=x", "node=y", "node=z")
    by_name = Features.from_frame(frame.set_index("node"), id_column="node")
    assert by_name.ids is not None
    assert by_name.ids.tolist() == ["x", "y", "z"]


def test_pandas_columns_with_numbers_for_names() -> None:
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2), index=["a", "b", "c"])
    features = Features.from_frame(frame)
    assert features.names == ("0", "1")
    np.testing.assert_array_equal(features.matrix, frame.to_numpy())


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        (pd.DataFrame({"id": [1, 2], "odd": [1, "x"]}), "odd"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "a"),
        (pa.table([[1], [2]], names=["b", "b"]), "'b' more than once"),
    ],
)
def test_frames_that_arrow_cannot_hold_are_refused(frame: object, named: str) -> None:
    with pytest.raises(InputError, match=named):
        Features.from_frame(frame)


def test_frame_of_another_type_is_refused() -> None:
    with pytest.raises(
        InputTypeError, match=r"pandas, polars or Arrow table: got dict; use Features.from_matrix"
    ):
        Features.from_frame({"a": [1]})


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, None], "1 missing value among 2 rows in column 'id'"),
        ([0.5, 1.0], "0.5"),
        ([True, False], "got bool in column 'id'"),
        ([7, 7], r"features must have one row for each id.*7"),
        (["a", "a"], r"features must have one row for each id.*'a'"),
    ],
)
def test_bad_ids_are_refused(ids: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Features.from_frame(pa.table({"id": ids, "x": [1.0, 2.0]}))


def test_whole_floats_are_integer_ids() -> None:
    ids = Features.from_frame(pa.table({"id": [3.0, 1.0], "x": [1, 2]})).ids
    assert ids is not None
    assert ids.dtype == np.int64


def test_new_nodes_are_encoded_as_the_old_ones() -> None:
    old = Features.from_frame(pa.table(RAW))
    assert old.encoding is not None
    new = Features.from_frame(
        pa.table({"venue": ["KDD"], "who": ["p9"], "open": [True], "score": [9.0], "year": [1]}).select(
            ["who", "venue", "open", "score", "year"]
        ),
        encoding=old.encoding,
    )
    assert new.ids is not None
    assert new.ids.tolist() == ["p9"]
    assert new.names == old.names
    np.testing.assert_array_equal(new.matrix, [[1, 9, 1, 0, 1]])


def test_new_nodes_without_ids_keep_their_first_column() -> None:
    old = Features.from_frame(pa.table({"x": [0.5, 1.0], "y": [1, 2]}))
    new = Features.from_frame(pa.table({"x": [3], "y": [4]}), encoding=old.encoding)
    assert new.ids is None
    np.testing.assert_array_equal(new.matrix, [[3, 4]])


def test_new_nodes_with_a_surplus_column_are_refused() -> None:
    old = Features.from_frame(pa.table({"id": [1, 2], "x": [0.5, 1.0]}))
    with pytest.raises(InputError, match="got 'z', which it does not know"):
        Features.from_frame(pa.table({"id": [3], "x": [3.0], "z": [1.0]}), encoding=old.encoding)


def test_impute_beside_an_encoding_is_refused() -> None:
    old = Features.from_frame(pa.table({"id": [1, 2], "x": [0.5, 1.0]}))
    with pytest.raises(InputError, match=r"impute must be left out .* \(None\): got 'mean'"):
        Features.from_frame(pa.table({"id": [1], "x": [1.0]}), impute="mean", encoding=old.encoding)


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, csc_matrix, coo_array])
def test_sparse_matrices_stay_sparse(kind: type) -> None:
    X = np.array([[0, 2, 0], [1, 0, 3]])
    features = Features.from_matrix(kind(X))
    assert isinstance(features.matrix, csr_array)
    assert features.matrix.dtype == np.float64
    assert features.names == ("x0", "x1", "x2")
    np.testing.assert_array_equal(features.matrix.toarray(), X)


def test_sparse_duplicates_are_summed_without_touching_the_input() -> None:
    X = csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    np.testing.assert_array_equal(Features.from_matrix(X).matrix.toarray(), [[1, 2]])
    assert X.nnz == 3


@pytest.mark.parametrize(
    ("given", "kept"), [("float32", "float32"), ("int8", "float64"), ("bool", "float64")]
)
def test_matrix_dtypes(given: str, kept: str) -> None:
    assert Features.from_matrix(np.ones((2, 2), dtype=given)).matrix.dtype == kept


def test_features_are_frozen_and_leave_the_input_writable() -> None:
    X = np.ones((2, 2))
    ids = np.array([3, 4])
    features = Features.from_matrix(X, ids=ids)
    sparse = Features.from_matrix(csr_array(X))
    with pytest.raises(dataclasses.FrozenInstanceError):
        features.matrix = X  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        features.matrix[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        sparse.matrix.data[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        features.ids[0] = 2  # type: ignore[index]
    X[0, 0] = ids[0] = 5


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_matrix_must_be_finite(wrap: type, bad: float) -> None:
    X = np.ones((3, 3))
    X[1:, 1] = bad
    with pytest.raises(InputError, match=r"2 NaN or infinite values in column 'b'.*impute="):
        Features.from_matrix(wrap(X), names=["a", "b", "c"])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_matrix_whose_squares_overflow_names_the_column(form: Callable[..., object]) -> None:
    X = np.full((2, 2), 1e150)
    assert Features.from_matrix(form(X)).matrix.max() == 1e150
    X[1, 1] = -1e200
    with pytest.raises(InputError, match=r"squares are finite: got -1e\+200 in column 'q'"):
        Features.from_matrix(form(X), names=["p", "q"])
    assert Features.from_matrix(np.float32([[3e38]])).matrix.dtype == np.float32


def test_matrix_names_are_made_when_they_are_asked_for() -> None:
    wide = csr_array(([1.0], ([0], [9_999_999])), shape=(1, 10_000_000))
    features = Features.from_matrix(wide)
    assert "names" not in vars(features)
    small = Features.from_matrix(np.eye(2))
    assert small.names == ("x0", "x1")
    assert small.names is small.names
    assert pickle.loads(pickle.dumps(Features.from_matrix(np.eye(2)))).names == ("x0", "x1")
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        small.nope  # noqa: B018


def test_matrix_of_absurd_width_is_refused() -> None:
    with pytest.raises(InputError, match="at most 10,000,000 columns: got 10,000,001; check the largest"):
        Features.from_matrix(csr_array((1, 10_000_001)))


def test_align_says_that_ids_differ_in_zeros_or_in_type() -> None:
    features = Features.from_matrix(np.eye(2), ids=["07", "x"])
    with pytest.raises(InputError, match=r"first is 7 \(it differs from '07' only in leading zeros"):
        features.align(Graph.from_edges([(7, 7)], nodes=[7]))
    with pytest.raises(
        InputError, match=r"first is 'a' \(it is text, and the known ids are numbers such as 5"
    ):
        Features.from_matrix([[1.0]], ids=[5]).align(Graph.from_edges([("a", "a")]))


@pytest.mark.parametrize("X", [np.ones(3), np.ones((2, 2, 2)), np.ones((0, 2)), np.ones((2, 0))])
def test_matrix_must_have_two_dimensions(X: np.ndarray) -> None:
    with pytest.raises(InputError, match="got shape"):
        Features.from_matrix(X)


def test_matrix_must_hold_numbers() -> None:
    with pytest.raises(InputTypeError, match=r"real numbers: got an array of .*Features.from_frame"):
        Features.from_matrix([["a"]])
    with pytest.raises(InputTypeError, match="complex"):
        Features.from_matrix([[1j]])


def test_matrix_ids_and_names_must_have_its_size() -> None:
    with pytest.raises(InputError, match="2 rows and 3 ids"):
        Features.from_matrix(np.ones((2, 2)), ids=[1, 2, 3])
    with pytest.raises(InputError, match="2 feature columns: got 1 name;"):
        Features.from_matrix(np.ones((2, 2)), names=["a"])


@given(order=st.permutations(list("abcdef")), data=st.data())
def test_align_puts_rows_in_node_order(order: list[str], data: st.DataObject) -> None:
    X = np.random.default_rng(577).normal(size=(6, 3))
    wrap = data.draw(st.sampled_from([np.asarray, csr_array]))
    features = Features.from_matrix(wrap(X), ids=order)
    graph = path_graph("a", "b", "c", "d", "e")
    aligned = features.align(graph)
    expected = X[[order.index(node) for node in "abcde"]]
    np.testing.assert_array_equal(aligned.toarray() if issparse(aligned) else aligned, expected)


def test_align_gives_the_matrix_itself_where_the_order_is_right() -> None:
    features = Features.from_matrix(np.ones((2, 2)), ids=["a", "b"])
    assert features.align(path_graph("a", "b")) is features.matrix
    rows = Features.from_matrix(np.ones((2, 2)))
    assert rows.align(path_graph("a", "b")) is rows.matrix


def test_align_of_integer_and_tuple_ids() -> None:
    X = np.arange(3.0)[:, np.newaxis]
    np.testing.assert_array_equal(
        Features.from_matrix(X, ids=[30, 10, 20]).align(path_graph(10, 20)), [[1], [2]]
    )
    ids = [("a", 1), ("b", 2), ("c", 3)]
    graph = path_graph(("c", 3), ("a", 1))
    np.testing.assert_array_equal(Features.from_matrix(X, ids=ids).align(graph), [[2], [0]])


def test_align_names_the_first_node_without_features() -> None:
    features = Features.from_matrix(np.ones((2, 1)), ids=["a", "z"])
    with pytest.raises(InputError, match=r"2 of 3 nodes without, the first is 'b'"):
        features.align(path_graph("a", "b", "c"))


def test_align_takes_integers_and_their_spelling_for_the_same_id() -> None:
    X = [[1.0], [2.0]]
    strings = Features.from_matrix(X, ids=["12", "7"])
    np.testing.assert_array_equal(strings.align(path_graph(7, 12)), [[2], [1]])
    integers = Features.from_matrix(X, ids=[12, 7])
    np.testing.assert_array_equal(integers.align(path_graph("7", "12")), [[2], [1]])
    unusual = Features.from_matrix(X, ids=["12", "007"])
    with pytest.raises(InputError, match=r"1 of 2 nodes without, the first is 7"):
        unusual.align(path_graph(7, 12))


def test_align_without_ids_needs_a_row_a_node() -> None:
    with pytest.raises(InputError, match="got 2 rows and 3 nodes; give the ids"):
        Features.from_matrix(np.ones((2, 1))).align(path_graph("a", "b", "c"))


def test_features_repr() -> None:
    assert repr(Features.from_matrix(csr_array(np.eye(4)), ids=[4, 5, 6, 7])) == (
        "Features(4 rows, 4 columns, csr float64, ids 4, 5, 6, ...)"
    )
    assert repr(Features.from_matrix(np.eye(2, dtype=np.float32))) == (
        "Features(2 rows, 2 columns, dense float32, row i is node i)"
    )


def test_importing_features_loads_no_heavy_package() -> None:
    code = (
        "import sys, sgclearn.features;"
        "print([m for m in ('pyarrow', 'sklearn', 'pandas', 'polars', 'networkx') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
