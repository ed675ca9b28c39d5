"""Labels of some nodes, their splits, and their place in the graph."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import DataFileError, InputError
from sgclearn.features import Labels, read_labels
from sgclearn.graph import Graph

GRAPH = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def write(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_align_integers_with_minus_one() -> None:
    y = Labels(["c", "a"], [4, 0]).align(GRAPH)
    assert y.dtype == np.int64
    assert y.tolist() == [0, -1, 4, -1]


def test_labels_align_strings_with_none() -> None:
    y = Labels(np.array(["c", "a"]), ["dog", "cat"]).align(GRAPH)
    assert y.dtype == object
    assert y.tolist() == ["cat", None, "dog", None]


def test_labels_splits_choose() -> None:
    labels = Labels(["d", "a", "b"], ["x", "y", "x"], ["Validation", "TRAIN", " test "])
    assert labels.splits is not None
    assert labels.splits.tolist() == ["val", "train", "test"]
    assert labels.align(GRAPH, "train").tolist() == ["y", None, None, None]
    assert labels.align(GRAPH, which="val").tolist() == [None, None, None, "x"]
    assert labels.mask(GRAPH, "test").tolist() == [False, True, False, False]


@given(
    classes=st.lists(st.integers(-1, 3), min_size=4, max_size=4).filter(lambda drawn: max(drawn) >= 0),
    order=st.permutations(range(4)),
)
def test_labels_do_not_depend_on_the_order_of_rows(classes: list[int], order: list[int]) -> None:
    ids = np.array(list("abcd"))
    labels = Labels(ids[order], np.array(classes)[order])
    assert labels.align(GRAPH).tolist() == classes
    assert labels.ids.size == sum(label != -1 for label in classes)


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([1, -1, 2], [1, 2]),
        ([1.0, float("nan"), 2.0], [1, 2]),
        (["x", None, "y"], ["x", "y"]),
        (["x", "", "y"], ["x", "y"]),
        ([True, None, False], ["True", "False"]),
        (np.array([7, -1, 9], dtype=np.int8), [7, 9]),
    ],
)
def test_labels_leave_out_unlabelled_rows(values: list[object], kept: list[object]) -> None:
    labels = Labels(["a", "b", "c"], values)
    assert labels.values.tolist() == kept
    assert labels.ids.tolist() == ["a", "c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b", "a"], [1, 2, 3]), r"labels must have one row for each id.*'a'"),
        ((["a", "b"], [1]), "2 ids and 1 value;"),
        ((["a", "b"], [1, 2], ["train"]), "2 ids and 1 split;"),
        ((["a", "b"], [1, 2], ["train", "dev"]), r"got 'dev' in row 1"),
        ((["a", "b"], [1, 2], ["train", None]), r"split: got none in row 1"),
        ((["a", "b"], [1, 2], ["", "test"]), r"split: got none in row 0"),
        ((["a", "b"], [None, ""]), "at least one label: got 2 rows without"),
        ((["a", "b"], [-1, -1]), "at least one label"),
        ((["a", "b"], [0.5, 1.0]), r"all integers or all strings: got values of type float such as 0.5"),
        ((["a", "b"], [1, "x"]), r"of type int, str such as 1"),
        ((["a", "b"], [2**70, 2]), r"of type int such as"),
        ((["a", "b"], [True, 2]), r"of type bool, int"),
        ((["a", "b"], [float("inf"), 2]), r"of type float, int such as inf"),
    ],
)
def test_labels_refuse_bad_input(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Labels(*arguments)  # type: ignore[arg-type]


def test_labels_of_unlabelled_rows_need_no_split() -> None:
    labels = Labels(["a", "b", "c"], ["x", "", ""], ["train", "", "test"])
    assert labels.ids.tolist() == ["a"]


def test_labels_name_an_id_that_the_graph_has_not() -> None:
    labels = Labels(["a", "z", "y"], [1, 2, 3])
    with pytest.raises(InputError, match=r"2 of 3 ids that are not in it, the first is 'z'"):
        labels.align(GRAPH)


def test_labels_take_integers_and_their_spelling_for_the_same_id() -> None:
    assert Labels([7], [1]).align(Graph.from_edges([("12", "7")])).tolist() == [-1, 1]
    assert Labels(["7"], [1]).align(Graph.from_edges([(6, 7)], nodes=[6, 7])).tolist() == [-1, 1]


def test_labels_without_splits_have_none_to_choose() -> None:
    with pytest.raises(InputError, match="must have splits to choose 'train' from"):
        Labels(["a"], [1]).mask(GRAPH, "train")
    with pytest.raises(InputError, match="got 'dev'"):
        Labels(["a"], [1], ["train"]).align(GRAPH, "dev")  # type: ignore[arg-type]


def test_labels_are_frozen() -> None:
    labels = Labels(["a"], [1], ["train"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        labels.values = np.array([2])  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        labels.values[0] = 2


def test_labels_repr_counts() -> None:
    assert repr(Labels(["a", "b"], [1, 1])) == "Labels(2 nodes, 1 class)"
    assert (
        repr(Labels(["a", "b"], [1, 2], ["val", "val"]))
        == "Labels(2 nodes, 2 classes, 0 train, 2 val, 0 test)"
    )


RAW = {"node": ["a", "b", "c"], "class": ["x", "y", None], "split": ["train", "test", None]}


@pytest.mark.parametrize(
    "frame",
    [pa.table(RAW), pl.DataFrame(RAW), pd.DataFrame(RAW), pd.DataFrame(RAW).set_index("node")],
    ids=["arrow", "polars", "pandas", "index"],
)
def test_labels_from_frames_of_every_library(frame: object) -> None:
    labels = Labels.from_frame(frame)
    assert labels.ids.tolist() == ["a", "b"]
    assert labels.values.tolist() == ["x", "y"]
    assert labels.splits is not None
    assert labels.splits.tolist() == ["train", "test"]


def test_labels_from_a_frame_with_more_columns() -> None:
    frame = pa.table({"x": [0.5, 1.5], "kind": ["u", "v"], "key": ["a", "b"], "fold": ["train", "val"]})
    labels = Labels.from_frame(frame, label_column="kind", split_column="fold")
    assert labels.values.tolist() == ["u", "v"]
    assert labels.splits is not None
    assert labels.splits.tolist() == ["train", "val"]
    assert Labels.from_frame(frame, "kind", label_column="key").ids.tolist() == ["u", "v"]


def test_labels_from_a_frame_without_names_go_by_position() -> None:
    labels = Labels.from_frame(pd.DataFrame({"doc": ["a", "b"], "topic": [1, 2], "part": ["train", "val"]}))
    assert labels.values.tolist() == [1, 2]
    assert labels.splits is not None
    assert labels.splits.tolist() == ["train", "val"]


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (pa.table({"id": [1]}), {}, "a column besides the id"),
        (pa.table({"id": [1], "split": ["train"]}), {}, "got split"),
        (pa.table({}), {}, "must have a column of ids"),
        (pa.table({"id": [1], "label": [[1]]}), {}, r"got list.* in column 'label'"),
        (
            pa.table({"id": [1], "label": pa.array([1]).cast(pa.date64())}),
            {},
            r"got date64.* in column 'label'",
        ),
        (
            pa.table({"id": [1], "label": [1]}),
            {"label_column": "y"},
            "label_column must be one of the columns label",
        ),
        (pa.table({"id": [1], "label": [1]}), {"split_column": "s"}, "split_column must be one of"),
        (pa.table({"id": [1], "label": [1]}), {"id_column": "s"}, "id_column must be one of"),
    ],
)
def test_labels_from_bad_frames_are_refused(frame: pa.Table, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Labels.from_frame(frame, **options)


def test_labels_file_with_splits(tmp_path: Path) -> None:
    path = write(tmp_path, "id,label,split\n007,cat,train\n12,dog,Valid\n13,,\n14,NA,test\n")
    labels = read_labels(path)
    assert labels.ids.tolist() == ["007", "12", "14"]
    assert labels.values.tolist() == ["cat", "dog", "NA"]
    assert labels.splits is not None
    assert labels.splits.tolist() == ["train", "val", "test"]


def test_labels_file_of_integers(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "1\t3\n2\t-1\n3\t0\n", "labels.tsv"))
    assert labels.ids.tolist() == [1, 3]
    assert labels.values.tolist() == [3, 0]
    assert labels.splits is None


def test_labels_file_without_header_has_the_split_third(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "1,3,train\n2,4,test\n"))
    assert labels.values.tolist() == [3, 4]
    assert labels.splits is not None
    assert labels.splits.tolist() == ["train", "test"]
    with pytest.raises(DataFileError, match="got 'learn' in line 1"):
        read_labels(write(tmp_path, "1,3,learn\n2,4,check\n"))


def test_labels_file_third_column_is_a_split_only_with_such_words(tmp_path: Path) -> None:
    assert read_labels(write(tmp_path, "id,label,x\na,u,1\nb,v,2\n")).splits is None
    assert read_labels(write(tmp_path, "id,label,x\na,u,train\nb,v,val\n")).splits is not None


def test_labels_file_keeps_the_spelling_of_labels(tmp_path: Path) -> None:
    assert read_labels(write(tmp_path, "id,label\na,01\nb,2\n")).values.tolist() == ["01", "2"]
    assert read_labels(write(tmp_path, "id,label\na,true\nb,false\n")).values.tolist() == ["true", "false"]
    assert read_labels(write(tmp_path, "id,label\na,2020-01-01\nb,\n")).values.tolist() == ["2020-01-01"]


def test_labels_file_with_empty_integer_labels(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "id,label\na,1\nb,\nc,5\n"))
    assert labels.values.tolist() == [1, 5]
    assert labels.ids.tolist() == ["a", "c"]


def test_labels_file_with_one_candidate_needs_no_name(tmp_path: Path) -> None:
    assert read_labels(write(tmp_path, "id,topic\na,x\nb,y\n")).values.tolist() == ["x", "y"]
    both = read_labels(write(tmp_path, "id,topic,part\na,x,train\nb,y,val\n"))
    assert both.values.tolist() == ["x", "y"]
    assert both.splits is not None
    named = read_labels(write(tmp_path, "id,topic,year\na,x,1\nb,y,2\n"), label_column="year")
    assert named.values.tolist() == [1, 2]
    assert named.splits is None


def test_labels_file_may_have_fractions_among_words(tmp_path: Path) -> None:
    assert read_labels(write(tmp_path, "id,label\na,1.5\nb,x\n")).values.tolist() == ["1.5", "x"]
    assert Labels(["a", "b"], ["1.5", "2.5"]).values.tolist() == ["1.5", "2.5"]


def test_labels_frame_with_two_candidates_asks_for_the_column() -> None:
    with pytest.raises(InputError, match="got 'topic', 'year'; name the one with label_column"):
        Labels.from_frame(pa.table({"id": ["a", "b"], "topic": ["x", "y"], "year": [1, 2]}))


def test_labels_say_that_ids_differ_in_zeros() -> None:
    with pytest.raises(
        InputError, match=r"1 of 1 id that is not in it, the first is '07' \(it differs from 7 only"
    ):
        Labels(["07"], [1]).align(Graph.from_edges([(7, 8)], nodes=[7, 8]))


def test_labels_file_columns_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "topic;doc;when;x\nu;a;train;1\nv;b;test;2\n")
    labels = read_labels(path, id_column="doc", label_column="topic", split_column="when", delimiter=";")
    assert labels.ids.tolist() == ["a", "b"]
    assert labels.values.tolist() == ["u", "v"]


def test_labels_file_header_can_be_denied(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "a,u\nb,v\n"), header=False)
    assert labels.ids.tolist() == ["a", "b"]


def test_labels_file_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [3, 4], "label": ["u", "v"], "x": [1.0, 2.0]}), tmp_path / "l.parquet")
    labels = read_labels(tmp_path / "l.parquet", label_column="label")
    assert labels.ids.tolist() == [3, 4]
    assert labels.values.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,label\na,1\n\na,2\n",
            r"labels\.csv: labels must have one row for each id: got 'a' again in line 4 \(1 r",
        ),
        ("id,label\na,1.5\nb,2\n", r"got the fraction 1\.5 in line 2 of column 'label'"),
        ("id,label\n", r"labels\.csv: .* got no rows"),
        ("id,topic,year\na,x,1\nb,y,2\n", r"got 'topic', 'year'; name the one with label_column"),
        ("id,topic,year,split\na,x,1,train\nb,y,2,val\n", r"got 'topic', 'year'; .*label_column"),
        ("id,p,q,r\na,x,1,2\nb,y,2,3\n", r"got 'p', 'q', 'r'; name the one"),
        ("id,label,split\na,1,train\nb,2,dev\n", r"labels\.csv: .*got 'dev' in line 3"),
        (
            "id,label,split\na,1,train\nb,2,\n",
            r"labels\.csv: every label must have a split: got none in line 3",
        ),
        ("id,label\na,\nb,\n", r"at least one label"),
        ("id,label\na,1\n,2\n", r"1 missing value among 2 rows in column 'id'"),
        ("", "empty"),
    ],
)
def test_labels_file_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        read_labels(write(tmp_path, text))


def test_labels_file_with_a_wrong_column_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "id,label\na,1\n")
    for option in ("id_column", "label_column", "split_column"):
        with pytest.raises(DataFileError, match="nope"):
            read_labels(path, **{option: "nope"})  # type: ignore[arg-type]
