"""Raw columns become the same matrix columns, at learning and for new nodes."""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse

from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.features import Encoding
from sgclearn.features.columns import ColumnEncoding

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)
WORDS = st.sampled_from(["red", "green", "blue", "", "a=b", "ä"])


def dense(matrix: np.ndarray | csr_array) -> np.ndarray:
    return matrix.toarray() if issparse(matrix) else matrix


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, bool]:
    """Tables of one to five columns, and whether a cell may be missing."""
    n_rows = draw(st.integers(1, 8))
    missing = draw(st.booleans())
    columns = {}
    for number in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["int", "float", "bool", "word"]))
        cell = {
            "int": st.integers(-(2**40), 2**40),
            "float": FINITE,
            "bool": st.booleans(),
            "word": WORDS,
        }[kind]
        values = draw(st.lists(cell | st.none() if missing else cell, min_size=n_rows, max_size=n_rows))
        held = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "word": pa.string()}[kind]
        columns[f"{kind}{number}"] = pa.array(values, type=held)
    return pa.table(columns), missing


@given(drawn=tables(), data=st.data())
def test_encoding_of_some_rows_equals_some_rows_of_the_encoding(
    drawn: tuple[pa.Table, bool], data: st.DataObject
) -> None:
    table, missing = drawn
    encoding = Encoding.learn(table, impute="zero" if missing else None)
    rows = data.draw(st.lists(st.integers(0, table.num_rows - 1), min_size=1, max_size=10))
    part = encoding.apply(table.take(rows))
    np.testing.assert_array_equal(dense(part), dense(encoding.apply(table))[rows])
    assert part.shape == (len(rows), encoding.n_features)
    assert len(encoding.names) == encoding.n_features


@given(drawn=tables(), impute=st.sampled_from(["mean", "median", "zero"]))
def test_encoding_survives_json(drawn: tuple[pa.Table, bool], impute: str) -> None:
    table, _ = drawn
    try:
        encoding = Encoding.learn(table, impute=impute)
    except InputError as error:
        assert "got none in" in str(error)  # noqa: PT017
        return
    again = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
    assert again == encoding
    assert again.names == encoding.names
    np.testing.assert_array_equal(dense(again.apply(table)), dense(encoding.apply(table)))


@given(drawn=tables(), data=st.data())
def test_encoding_does_not_depend_on_the_order_of_rows_or_columns(
    drawn: tuple[pa.Table, bool], data: st.DataObject
) -> None:
    table, missing = drawn
    impute = "median" if missing else None
    order = data.draw(st.permutations(range(table.num_rows)))
    names = data.draw(st.permutations(table.column_names))
    try:
        encoding = Encoding.learn(table, impute=impute)
    except InputError:
        return
    assert Encoding.learn(table.take(order), impute=impute) == encoding
    np.testing.assert_array_equal(dense(encoding.apply(table.select(names))), dense(encoding.apply(table)))


def test_encoding_kinds_of_columns() -> None:
    table = pa.table(
        {
            "count": pa.array([1, 2, 3], pa.int8()),
            "ok": [True, False, True],
            "city": ["Graz", "Bern", "Graz"],
            "price": pa.array([1, 2, 4]).cast(pa.decimal128(20, 0)),
        }
    )
    encoding = Encoding.learn(table)
    assert encoding.names == ("count", "ok", "city=Bern", "city=Graz", "price")
    np.testing.assert_array_equal(encoding.apply(table), [[1, 1, 0, 1, 1], [2, 0, 1, 0, 2], [3, 1, 0, 1, 4]])


def test_encoding_of_more_columns_than_a_block() -> None:
    rng = np.random.default_rng(271)
    values = rng.normal(size=(5, 100))
    table = pa.table({f"c{j}": values[:, j] for j in range(100)} | {"word": list("abcab")})
    encoded = Encoding.learn(table).apply(table)
    np.testing.assert_array_equal(encoded[:, :100], values)
    np.testing.assert_array_equal(encoded[:, 100:], np.eye(3)[[0, 1, 2, 0, 1]])
    assert encoded.flags.c_contiguous


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"a": np.float32([1, 2])}, "float32"),
        ({"a": np.float32([1, 2]), "b": np.float16([1, 2]), "c": ["x", "y"], "d": [True, False]}, "float32"),
        ({"a": np.float32([1, 2]), "b": [1, 2]}, "float64"),
        ({"a": np.float32([1, 2]), "b": [1.5, 2]}, "float64"),
        ({"c": ["x", "y"]}, "float64"),
    ],
)
def test_encoding_dtype(columns: dict[str, object], expected: str) -> None:
    table = pa.table(columns)
    encoding = Encoding.learn(table)
    assert encoding.dtype == expected
    assert encoding.apply(table).dtype == expected


@pytest.mark.parametrize(("impute", "fill"), [("mean", 3.0), ("median", 2.0), ("zero", 0.0)])
def test_impute_fills_numbers_and_keeps_the_value_for_new_nodes(impute: str, fill: float) -> None:
    table = pa.table({"a": [1.0, None, 2.0, 6.0, float("nan")], "b": [1, 2, 3, 4, 5]})
    encoding = Encoding.learn(table, impute=impute)
    np.testing.assert_array_equal(encoding.apply(table)[:, 0], [1, fill, 2, 6, fill])
    new = pa.table({"a": pa.array([None], pa.float64()), "b": pa.array([None], pa.int64())})
    expected_b = 0.0 if impute == "zero" else 3.0
    np.testing.assert_array_equal(encoding.apply(new), [[fill, expected_b]])


def test_impute_of_a_column_of_nulls() -> None:
    table = pa.table({"a": pa.nulls(3)})
    np.testing.assert_array_equal(Encoding.learn(table, impute="zero").apply(table), np.zeros((3, 1)))
    with pytest.raises(InputError, match=r"got none in 3 rows in column 'a'"):
        Encoding.learn(table, impute="mean")


def test_impute_makes_a_missing_string_a_category() -> None:
    table = pa.table({"city": ["Bern", None, "Bern"]})
    encoding = Encoding.learn(table, impute="mean")
    assert encoding.names == ("city=Bern", "city=<missing>")
    np.testing.assert_array_equal(encoding.apply(table), [[1, 0], [0, 1], [1, 0]])
    np.testing.assert_array_equal(encoding.apply(pa.table({"city": pa.nulls(1)})), [[0, 1]])


def test_impute_missing_string_unseen_at_learning_gives_zeros_and_a_warning() -> None:
    encoding = Encoding.learn(pa.table({"city": ["Bern", "Graz"]}), impute="zero")
    with pytest.warns(SgclearnWarning, match=r"'city' has 1 value .* None"):
        np.testing.assert_array_equal(encoding.apply(pa.table({"city": ["Graz", None]})), [[0, 1], [0, 0]])


@pytest.mark.parametrize("column", [[1.0, None, None], [1.0, float("nan"), None], ["a", None, None]])
def test_missing_values_name_column_count_and_choices(column: list[object]) -> None:
    table = pa.table({"good": [1, 2, 3], "bad": column})
    with pytest.raises(InputError, match=r"2 missing values in column 'bad'.*'mean'.*'median'.*'zero'"):
        Encoding.learn(table).apply(table)


def test_missing_values_of_new_nodes_are_refused_without_impute() -> None:
    encoding = Encoding.learn(pa.table({"a": ["x", "y"], "b": [1, 2]}))
    with pytest.raises(InputError, match=r"1 missing value in column 'a'"):
        encoding.apply(pa.table({"a": ["x", None], "b": [1, 2]}))
    with pytest.raises(InputError, match=r"1 missing value in column 'b'"):
        encoding.apply(pa.table({"a": ["x", "y"], "b": [1, None]}))


def test_infinite_values_name_the_column() -> None:
    with pytest.raises(InputError, match=r"2 infinite values in column 'b'"):
        Encoding.learn(pa.table({"a": [1.0, 2.0], "b": [np.inf, -np.inf]}), impute="mean")


def test_values_whose_squares_overflow_name_the_column() -> None:
    with pytest.raises(InputError, match=r"got -1e\+151 in column 'b'; give the column in another unit"):
        Encoding.learn(pa.table({"a": [1e150], "b": [-1e151]}))


def test_text_among_numbers_is_refused_and_text_alone_is_not() -> None:
    with pytest.raises(InputError, match=r"2 numbers and 'x' in row 1 \(counted from 0\) of column 'a'"):
        Encoding.learn(pa.table({"a": ["1", "x", "-2.5e3", None]}), impute="mean")
    assert Encoding.learn(pa.table({"a": ["1", "x", "y"]})).n_features == 3
    assert Encoding.learn(pa.table({"a": ["1", "2"]})).names == ("a=1", "a=2")
    assert Encoding.learn(pa.table({"a": ["01", "02", "x"]})).n_features == 3
    assert Encoding.learn(pa.table({"a": pa.array(["1", "2", "x"]).dictionary_encode()})).n_features == 3


def test_values_beyond_float32_are_infinite_in_a_float32_encoding() -> None:
    encoding = Encoding.learn(pa.table({"a": np.float32([1, 2])}))
    with pytest.raises(InputError, match=r"1 infinite value in column 'a'"):
        encoding.apply(pa.table({"a": [1e300]}))


@pytest.mark.parametrize(
    ("column", "named"),
    [
        (pa.array([[1], [2]]), "list<"),
        (pa.array([{"x": 1}, {"x": 2}]), "struct<"),
        (pa.array([1, 2]).cast(pa.date64()), "date64"),
        (pa.array([1, 2]).cast(pa.timestamp("s")), "timestamp"),
        (pa.array([b"x", b"y"]), "binary"),
    ],
)
def test_other_types_name_column_and_type(column: pa.Array, named: str) -> None:
    with pytest.raises(InputError, match=rf"got {re.escape(named)}.* in column 'odd'"):
        Encoding.learn(pa.table({"odd": column}))


def test_categories_beyond_the_limit_name_column_count_and_remedies() -> None:
    table = pa.table({"word": [f"w{j}" for j in range(51)]})
    with pytest.raises(
        InputError, match=r"at most 50 .*got 51 in column 'word'; drop it.*id_column.*max_categories"
    ):
        Encoding.learn(table)
    assert Encoding.learn(table, max_categories=51).n_features == 51
    assert Encoding.learn(table.slice(1)).n_features == 50


def test_unknown_category_gives_zeros_and_a_warning() -> None:
    encoding = Encoding.learn(pa.table({"city": ["Bern", "Graz"], "n": [1, 2]}))
    with pytest.warns(SgclearnWarning, match=r"'city' has 2 values .*'Rome'"):
        matrix = encoding.apply(pa.table({"city": ["Rome", "Graz", "Oslo"], "n": [7, 8, 9]}))
    np.testing.assert_array_equal(matrix, [[0, 0, 7], [0, 1, 8], [0, 0, 9]])


def test_new_columns_must_be_the_learned_ones() -> None:
    encoding = Encoding.learn(pa.table({"a": [1], "b": [2]}))
    with pytest.raises(InputError, match=r"the 2 columns .*: got none called 'b' and 'c', 'd', which"):
        encoding.apply(pa.table({"a": [1], "c": [2], "d": [2]}))
    with pytest.raises(InputError, match=r"learned from: got none called 'a', 'b'; give"):
        encoding.apply(pa.table({}))
    many = {"a": [1], "b": [1]} | {f"z{j}": [1] for j in range(14)}
    with pytest.raises(InputError, match=r"'z9' and 4 more, which it does not know"):
        encoding.apply(pa.table(many))


def test_new_columns_must_have_the_learned_kind() -> None:
    encoding = Encoding.learn(pa.table({"n": [1], "s": ["x"]}))
    with pytest.raises(InputError, match=r"must be numbers .* got string in column 'n'"):
        encoding.apply(pa.table({"n": ["1"], "s": ["x"]}))
    with pytest.raises(InputError, match=r"must be strings .* got int64 in column 's'"):
        encoding.apply(pa.table({"n": [1], "s": [1]}))


def test_encoding_of_dictionaries_is_that_of_their_values() -> None:
    words = pa.array(["b", "a", "b"])
    encoding = Encoding.learn(pa.table({"s": words.dictionary_encode()}))
    assert encoding == Encoding.learn(pa.table({"s": words}))
    whole = pa.table({"s": pa.array([3, 1, 3]).dictionary_encode()})
    assert Encoding.learn(whole).names == ("s=1", "s=3")


@pytest.mark.parametrize(
    ("n_rows", "table", "expected"),
    [
        (100, lambda n: {f"c{j}": np.eye(n, 50)[:, j] for j in range(50)}, False),
        (30_000, lambda n: {f"c{j}": np.eye(n, 50)[:, j] for j in range(50)}, True),
        (30_000, lambda n: {f"c{j}": np.ones(n) for j in range(50)}, False),
        (40, lambda n: {"word": [f"w{j}" for j in range(n)], "x": np.ones(n)}, True),
        (5, lambda n: {"word": [f"w{j}" for j in range(n)], "x": np.ones(n)}, False),
    ],
)
def test_very_sparse_results_are_csr(n_rows: int, table: object, expected: bool) -> None:
    arrow = pa.table(table(n_rows))  # type: ignore[operator]
    encoding = Encoding.learn(arrow)
    assert encoding.sparse is expected
    matrix = encoding.apply(arrow)
    assert issparse(matrix) is expected
    as_other = Encoding(encoding.columns, encoding.dtype, not expected, encoding.impute).apply(arrow)
    np.testing.assert_array_equal(dense(matrix), dense(as_other))


def test_sparse_result_of_new_rows_is_sparse_and_warns() -> None:
    table = pa.table({"word": [f"w{j:02}" for j in range(40)]})
    encoding = Encoding.learn(table)
    with pytest.warns(SgclearnWarning, match="'word' has 1 value "):
        matrix = encoding.apply(pa.table({"word": ["w07", "new"]}))
    assert isinstance(matrix, csr_array)
    np.testing.assert_array_equal(matrix.toarray(), [np.eye(40)[7], np.zeros(40)])


def test_encoding_learn_refuses_bad_arguments() -> None:
    table = pa.table({"a": [1]})
    with pytest.raises(InputError, match=r"impute must be .* got 'mode'"):
        Encoding.learn(table, impute="mode")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_categories must be a whole number >= 1: got 0"):
        Encoding.learn(table, max_categories=0)
    with pytest.raises(InputError, match="at least one column besides the id"):
        Encoding.learn(pa.table({}))


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("columns"),
        lambda state: state.update(columns=3),
        lambda state: state.update(columns=["a"]),
        lambda state: state["columns"][0].pop("kind"),
        lambda state: state["columns"][0].update(kind="blob"),
        lambda state: state["columns"][0].update(name=7),
        lambda state: state["columns"][0].update(fill=float("nan")),
        lambda state: state["columns"][0].update(fill="0"),
        lambda state: state["columns"][1].update(categories=[1, 2]),
        lambda state: state["columns"].append(state["columns"][0]),
        lambda state: state.update(dtype="int8"),
        lambda state: state.update(sparse="yes"),
        lambda state: state.update(impute="mode"),
    ],
)
def test_encoding_from_dict_refuses_what_to_dict_never_gives(change: object) -> None:
    state = Encoding.learn(pa.table({"a": [1.0], "b": ["x"]}), impute="mean").to_dict()
    change(state)  # type: ignore[operator]
    with pytest.raises(InputError):
        Encoding.from_dict(state)


def test_column_encoding_width_and_names() -> None:
    column = ColumnEncoding("c", "category", ("x", None))
    assert column.width == 2
    assert column.names == ("c=x", "c=<missing>")
