from __future__ import annotations

import datetime
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import InputError, InputTypeError
from sgclearn.graph import Graph, NodeIds
from sgclearn.graph.encode import encode_ids
from sgclearn.graph.hints import spelling_hint
from sgclearn.graph.ids import as_ids, usual_integers


def test_integers_are_row_numbers() -> None:
    graph = Graph.from_edges([0, 5], [2, 2])
    assert graph.n_nodes == 6
    assert graph.node_ids.is_range
    assert graph.ids.tolist() == [0, 1, 2, 3, 4, 5]
    assert Graph.from_edges([0, 5], [2, 2], n_nodes=8).n_nodes == 8


def test_integers_are_ids_where_nodes_are_given() -> None:
    graph = Graph.from_edges([101, 7], [7, 35], nodes=[35, 7, 101, 9])
    assert graph.ids.tolist() == [35, 7, 101, 9]
    assert graph.positions([101, 35]).tolist() == [2, 0]
    assert graph.degrees().tolist() == [1, 2, 1, 0]


def test_row_number_beyond_reason_is_refused() -> None:
    with pytest.raises(InputError, match=r"got 1000000000 among 3 edges.*nodes=.*n_nodes=1000000001"):
        Graph.from_edges([0, 1, 2], [1, 2, 10**9])
    assert Graph.from_edges([0], [10**9], nodes=[0, 10**9]).n_nodes == 2
    assert Graph.from_edges([0], [150_000], n_nodes=150_001).n_nodes == 150_001


@pytest.mark.parametrize(
    ("n_nodes", "message"), [(2, "got 2"), (-1, "0 or more"), ("3", "integer"), (2.5, "integer")]
)
def test_n_nodes_that_cannot_be_is_refused(n_nodes: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_edges([0, 1], [1, 2], n_nodes=n_nodes)  # type: ignore[arg-type]


def test_negative_row_number_is_refused() -> None:
    with pytest.raises(InputError, match="got -4"):
        Graph.from_edges([0], [-4])
    with pytest.raises(InputError, match="got -4"):
        Graph.from_edges([0], [-4], n_nodes=3)


def test_n_nodes_goes_with_row_numbers_only() -> None:
    with pytest.raises(InputError, match="name the nodes with nodes="):
        Graph.from_edges(["a"], ["b"], n_nodes=2)
    with pytest.raises(InputError, match="len"):
        Graph.from_edges(["a"], ["b"], nodes=["a", "b"], n_nodes=3)
    assert Graph.from_edges(["a"], ["b"], nodes=["a", "b"], n_nodes=2).n_nodes == 2


def test_strings_become_nodes_by_first_appearance() -> None:
    assert Graph.from_edges(["z", "b"], ["a", "z"]).ids.tolist() == ["z", "a", "b"]


def test_tuples_and_mixed_types_are_ids() -> None:
    graph = Graph.from_edges([((0, 1), (0, 2)), ((0, 2), "x"), (3, (0, 1))])
    assert graph.ids.tolist() == [(0, 1), (0, 2), "x", 3]
    assert graph.positions([3, (0, 2)]).tolist() == [3, 1]
    assert Graph.from_edges([frozenset({1})], [None.__class__]).n_nodes == 2


def test_unknown_endpoint_is_named() -> None:
    with pytest.raises(InputError, match=r"got 'x' in edge 1 \(1 such edge\)"):
        Graph.from_edges(["a", "b"], ["b", "x"], nodes=["a", "b"])
    with pytest.raises(InputError, match="got 12 in edge 0"):
        Graph.from_edges([12, 5], [5, 6], nodes=[5, 6])


def test_unknown_id_is_named() -> None:
    with pytest.raises(InputError, match=r"one of the 2 nodes: got 'c' \(1 of 2 unknown\)"):
        Graph.from_edges(["a"], ["b"]).positions(["a", "c"])
    with pytest.raises(InputError, match="got 7"):
        Graph.from_edges([0], [1]).positions([7])


def test_unknown_id_that_differs_in_zeros_or_type_is_hinted_at() -> None:
    for asked, nodes, hint in [
        ("032", [7, 32], r"\(it differs from 32 only in leading zeros: write ids alike everywhere\)"),
        (32, ["032", "07"], r"\(it differs from '032' only in leading zeros"),
        ("7", ["032", "07"], r"\(it differs from '07' only in leading zeros"),
        ("ann", [7, 32], r"\(it is text, and the known ids are numbers such as 7\)"),
        (5, ["ann", "bob"], r"\(it is a number, and the known ids are text such as 'ann'\)"),
    ]:
        with pytest.raises(InputError, match=hint):
            NodeIds(nodes).positions([asked])
    with pytest.raises(InputError, match=r"got '032' in edge 0 \(1 such edge\) \(it differs from 32"):
        Graph.from_edges(["032"], ["7"], nodes=[7, 32])
    for asked, known in [("x", ["a"]), (9, [7, 32]), ((1, 2), ["a"]), ("x", ["a", 3]), ("x", [])]:
        assert spelling_hint(asked, NodeIds(known)) == ""


@pytest.mark.parametrize("nodes", [["a", "b", "a"], [4, 9, 4], [(1, 2), "x", (1, 2)], [1, True]])
def test_duplicate_node_ids_are_refused(nodes: list[object]) -> None:
    with pytest.raises(InputError, match="given once"):
        Graph.from_edges([], [], nodes=nodes)


def test_floats_are_ids_only_where_they_are_whole() -> None:
    assert Graph.from_edges([0.0, 1.0], [1.0, 2.0]).n_nodes == 3
    assert as_ids([1, 2.0], "ids").dtype == np.int64
    for wrong in ([0.5, 1.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e300, 1.0], ["a", 0.5]):
        with pytest.raises(InputError, match="at position"):
            Graph.from_edges(wrong, [1, 2])


def test_missing_ids_are_refused() -> None:
    with pytest.raises(InputError, match="source must have no missing id: got None at position 1"):
        Graph.from_edges(["a", None], ["b", "c"])
    with pytest.raises(InputError, match="target must have no missing id: got nan at position 0"):
        Graph.from_edges(["a", "b"], [float("nan"), 1])


@pytest.mark.parametrize("wrong", ["abc", 5, b"ab"])
def test_ids_must_be_a_sequence(wrong: object) -> None:
    with pytest.raises(InputTypeError, match="sequence of ids"):
        Graph.from_edges(wrong, ["b"])  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="pairs of ids"):
        Graph.from_edges(wrong)  # type: ignore[arg-type]


def test_arrays_of_other_types_are_refused() -> None:
    for wrong in (np.array([True, False]), np.array(["2020-01-01"], dtype="datetime64[D]")):
        with pytest.raises(InputTypeError, match="turn it into strings"):
            Graph.from_edges(wrong, wrong)
    with pytest.raises(InputError, match="one-dimensional"):
        Graph.from_edges(np.zeros((2, 2), dtype=int), [1, 2])


def test_unhashable_ids_are_refused() -> None:
    with pytest.raises(InputTypeError, match="hashable"):
        Graph.from_edges([[1], [2]], [[2], [3]])
    with pytest.raises(InputTypeError, match="hashable"):
        NodeIds([[1], [2]])
    with pytest.raises(InputTypeError, match="hashable"):
        NodeIds(["a", "b"]).lookup([["a"]])


@pytest.mark.parametrize("edges", [[(0, 1, 2)], [(0,)], ["ab"], [3], np.zeros((2, 3)), np.zeros(4)])
def test_edges_that_are_no_pairs_are_refused(edges: object) -> None:
    with pytest.raises(InputError, match="weights go to weights="):
        Graph.from_edges(edges)  # type: ignore[arg-type]


def test_endpoints_must_be_equally_long() -> None:
    with pytest.raises(InputError, match="equally long: got 2 and 1"):
        Graph.from_edges([0, 1], [1])


def test_integers_beyond_64_bits_and_unsigned_are_ids() -> None:
    with pytest.raises(
        InputError, match="are row numbers from 0: got 1180591620717411303424; if they are ids"
    ):
        Graph.from_edges([2**70], [5])
    assert Graph.from_edges([2**70], [5], nodes=[2**70, 5]).ids.tolist() == [2**70, 5]
    assert as_ids(np.array([3], dtype=np.uint64), "ids").dtype == np.int64
    assert as_ids(np.array([2**63 + 1], dtype=np.uint64), "ids").tolist() == [2**63 + 1]
    assert as_ids(np.array([b"x"]), "ids").tolist() == [b"x"]
    assert NodeIds(3).lookup([2**70, 2]).tolist() == [-1, 2]


def test_node_ids_answer_to_integers_and_to_their_spelling() -> None:
    assert NodeIds([12, 7]).lookup(["7", "12", "012", "x", 7.0, (7,), "-7"]).tolist() == [
        1,
        0,
        -1,
        -1,
        1,
        -1,
        -1,
    ]
    assert NodeIds(["7", "x", "012"]).lookup([7, 12]).tolist() == [0, -1]
    assert NodeIds(4).lookup(["3", "", "-", "4"]).tolist() == [3, -1, -1, -1]
    assert NodeIds(["a", 3]).lookup([3]).tolist() == [1]


def test_node_ids_repr_equality_and_pickle() -> None:
    assert repr(NodeIds(0)) == "NodeIds(none)"
    assert repr(NodeIds([5, 6, 7, 9])) == "NodeIds(5, 6, 7, ...; 4 ids)"
    for ids in (NodeIds(3), NodeIds([4, 2]), NodeIds(["b", "a"]), NodeIds([(1, 2), "a"])):
        assert pickle.loads(pickle.dumps(ids)) == ids
        assert hash(pickle.loads(pickle.dumps(ids))) == hash(ids)
    assert NodeIds([0, 1, 2]) == NodeIds(3)
    assert NodeIds([4, 2]) != NodeIds([2, 4])
    assert NodeIds(2) != NodeIds(3)
    assert NodeIds(2) != [0, 1]
    with pytest.raises(InputError, match="whole number >= 0"):
        NodeIds(-1)
    with pytest.raises(ValueError, match="read-only"):
        NodeIds([4, 2]).values[0] = 3


def test_node_ids_name_gives_plain_values() -> None:
    assert type(NodeIds([4, 2]).name(1)) is int
    assert NodeIds([(1, 2), "a"]).name(0) == (1, 2)
    assert NodeIds(3).name(2) == 2


def test_join_appends_what_is_new() -> None:
    ids, positions = NodeIds(3).join(NodeIds([2, 3]))
    assert ids.is_range
    assert positions.tolist() == [2, 3]
    assert len(ids) == 4
    mixed, positions = NodeIds([12, 7]).join(NodeIds(["7", "x"]))
    assert mixed.values.tolist() == ["12", "7", "x"]
    assert positions.tolist() == [1, 2]
    same, _ = NodeIds(["a", "b"]).join(NodeIds(["b"]))
    assert same.values.tolist() == ["a", "b"]


def test_usual_integers_are_all_or_none() -> None:
    assert usual_integers(["7", "-12", "0"]).tolist() == [7, -12, 0]
    assert usual_integers(["7", "07"]).tolist() == ["7", "07"]
    assert usual_integers(["9" * 30]).tolist() == ["9" * 30]


def test_dates_are_ids() -> None:
    day = datetime.date(2024, 2, 29)
    assert Graph.from_edges([day], ["x"]).ids.tolist() == [day, "x"]


PAIRS = st.lists(st.tuples(st.text(max_size=2), st.text(max_size=2)), min_size=1, max_size=30)


@given(PAIRS, st.booleans())
def test_encoding_of_strings_is_the_same_with_and_without_arrow(
    pairs: list[tuple[str, str]], few: bool
) -> None:
    source = np.fromiter((u for u, _ in pairs), dtype=object)
    target = np.fromiter((v for _, v in pairs), dtype=object)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sgclearn.graph.encode._MANY", 0 if few else 10**9)
        left, right, ids = encode_ids(source, target)
    assert ids[left].tolist() == source.tolist()
    assert ids[right].tolist() == target.tolist()
    assert ids.tolist() == list(dict.fromkeys(end for pair in pairs for end in pair))


@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.integers(-5, 5)), min_size=1), st.booleans())
def test_encoding_of_integers_ascends(pairs: list[tuple[int, int]], few: bool) -> None:
    source, target = np.array(pairs, dtype=np.int64).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sgclearn.graph.encode._MANY", 0 if few else 10**9)
        left, right, ids = encode_ids(source, target)
    assert ids.tolist() == sorted({end for pair in pairs for end in pair})
    assert ids[left].tolist() == source.tolist()
    assert ids[right].tolist() == target.tolist()
