from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import InputError, InputTypeError
from sgclearn.graph import Graph
from sgclearn.graph.build import MAX_NODES, Policy, build_rows, index_dtype

EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)
WEIGHTED = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), max_size=20)


def dense(graph: Graph) -> list[list[float]]:
    return graph.to_scipy().toarray().tolist()


def test_index_dtype_widens_past_the_limit() -> None:
    assert index_dtype(10, 20) == np.int32
    assert index_dtype(2**31 - 1, 2**31 - 1) == np.int32
    assert index_dtype(2**31, 0) == np.int64
    assert index_dtype(0, 2**31) == np.int64
    assert index_dtype(10, 20, limit=19) == np.int64


def test_rows_are_wide_where_they_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = Graph.from_edges([0, 1], [1, 2])
    assert narrow.indices.dtype == narrow.indptr.dtype == np.int32
    monkeypatch.setattr("sgclearn.graph.build.index_dtype", lambda n, nnz: index_dtype(n, nnz, limit=3))
    wide = Graph.from_edges([0, 1], [1, 2])
    assert wide.indices.dtype == wide.indptr.dtype == np.int64
    assert wide == narrow
    assert dense(wide) == dense(narrow)


def test_build_refuses_more_nodes_than_keys_can_name() -> None:
    none = np.empty(0, dtype=np.int64)
    with pytest.raises(InputError, match="at most"):
        build_rows(none, none, None, MAX_NODES + 1, Policy(False, "once", "keep"))


@given(EDGES, st.data())
def test_undirected_edges_once_or_both_ways_are_the_same_graph(
    edges: list[tuple[int, int]], data: st.DataObject
) -> None:
    once = Graph.from_edges(edges, n_nodes=7)
    both = edges + [(v, u) for u, v in edges]
    assert Graph.from_edges(data.draw(st.permutations(both)), n_nodes=7) == once
    if edges:
        distinct = sorted({(min(edge), max(edge)) for edge in edges})
        mirrored = distinct + [(v, u) for u, v in distinct if u != v]
        weights = [u + 10 * v + 1 for u, v in distinct]
        again = weights + [w for (u, v), w in zip(distinct, weights, strict=True) if u != v]
        for policy in ("once", "sum", "max", "min", "error"):
            one = Graph.from_edges(distinct, weights=weights, n_nodes=7, duplicates=policy)
            assert Graph.from_edges(mirrored, weights=again, n_nodes=7, duplicates=policy) == one


@given(EDGES, st.booleans(), st.data())
def test_order_of_edges_does_not_matter_for_given_nodes(
    edges: list[tuple[int, int]], directed: bool, data: st.DataObject
) -> None:
    names = [f"n{i}" for i in range(7)]
    named = [(names[u], names[v]) for u, v in edges]
    shuffled = data.draw(st.permutations(named))
    one = Graph.from_edges(named, nodes=names, directed=directed)
    assert Graph.from_edges(shuffled, nodes=names, directed=directed) == one


@given(WEIGHTED, st.sampled_from(["sum", "max", "min"]), st.sampled_from(["keep", "drop"]))
def test_policies_match_a_loop_over_directed_edges(
    edges: list[tuple[int, int, int]], duplicates: str, self_loops: str
) -> None:
    expected = np.zeros((6, 6))
    seen: dict[tuple[int, int], list[int]] = {}
    for u, v, w in edges:
        if w and (u != v or self_loops == "keep"):
            seen.setdefault((u, v), []).append(w)
    for edge, weights in seen.items():
        expected[edge] = {"sum": sum, "max": max, "min": min}[duplicates](weights)  # type: ignore[operator]
    graph = Graph.from_edges(
        [edge[:2] for edge in edges],
        weights=[edge[2] for edge in edges],
        n_nodes=6,
        directed=True,
        duplicates=duplicates,  # type: ignore[arg-type]
        self_loops=self_loops,  # type: ignore[arg-type]
    )
    np.testing.assert_array_equal(graph.to_scipy().toarray(), expected)


def test_duplicates_once_counts_repeats_once() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 1, 0], [2.0, 2.0, 2.0])
    assert dense(graph) == [[0, 2], [2, 0]]


def test_duplicates_once_refuses_two_weights() -> None:
    with pytest.raises(
        InputError, match=r"got 2 and 3 for the edge 'a', 'b' .*'sum', .* or duplicates='min'"
    ):
        Graph.from_edges(["a", "b"], ["b", "a"], [2.0, 3.0])
    assert Graph.from_edges(["a", "b"], ["b", "a"], [2.0, 3.0], directed=True).n_edges == 2


def test_duplicates_sum_adds_up_unless_all_is_listed_both_ways() -> None:
    assert dense(Graph.from_edges([0, 0], [1, 1], duplicates="sum")) == [[0, 2], [2, 0]]
    assert dense(Graph.from_edges([0, 1], [1, 0], duplicates="sum")) == [[0, 1], [1, 0]]
    assert dense(Graph.from_edges([0, 1], [1, 0], [2, 3], duplicates="sum")) == [[0, 5], [5, 0]]
    mixed = Graph.from_edges([0, 1, 1], [1, 0, 2], duplicates="sum")
    assert dense(mixed) == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert dense(Graph.from_edges([0, 0], [0, 0], [1.5, 2], duplicates="sum")) == [[3.5]]


def test_duplicates_error_names_the_repeated_edge() -> None:
    with pytest.raises(InputError, match="'a' -> 'b' again"):
        Graph.from_edges(["a", "a"], ["b", "b"], duplicates="error")
    assert Graph.from_edges(["a", "b"], ["b", "a"], duplicates="error").n_edges == 1
    with pytest.raises(InputError, match="one weight"):
        Graph.from_edges(["a", "b"], ["b", "a"], [1, 2], duplicates="error")


def test_self_loops_are_kept_dropped_or_refused() -> None:
    edges = [("a", "a"), ("a", "b")]
    assert Graph.from_edges(edges).n_self_loops == 1
    dropped = Graph.from_edges(edges, weights=[2, 3], self_loops="drop")
    assert dense(dropped) == [[0, 3], [3, 0]]
    with pytest.raises(InputError, match="1 self-loop, the first at 'a'"):
        Graph.from_edges(edges, self_loops="error")
    assert Graph.from_edges([("a", "b")], self_loops="error").n_edges == 1


@pytest.mark.parametrize(("policy", "value"), [("duplicates", "twice"), ("self_loops", "maybe")])
def test_unknown_policy_is_refused(policy: str, value: str) -> None:
    with pytest.raises(InputError, match=f"{policy} must be one of .*got '{value}'"):
        Graph.from_edges([0], [1], **{policy: value})  # type: ignore[arg-type]


def test_weight_zero_is_no_edge() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [0.0, 2.0])
    assert (graph.n_edges, graph.n_nodes) == (1, 3)


def test_weights_of_one_are_no_weights() -> None:
    assert not Graph.from_edges([0], [1], [1.0]).is_weighted
    assert not Graph.from_edges([0], [1], [True]).is_weighted


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf, -math.inf])
def test_weight_that_is_not_finite_and_positive_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match=r"finite and not negative.* for the edge 'b' -> 'c' \(1 such"):
        Graph.from_edges(["a", "b"], ["b", "c"], [1.0, weight])


@pytest.mark.parametrize(
    ("weights", "kind"),
    [
        ([1.0], InputError),
        ([[1.0, 2.0]], InputError),
        (["x", "y"], InputTypeError),
        ([1j, 2j], InputTypeError),
    ],
)
def test_weights_that_are_no_numbers_are_refused(weights: object, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="weights must be"):
        Graph.from_edges([0, 1], [1, 2], weights)  # type: ignore[arg-type]


def test_weights_may_be_objects_that_are_numbers() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], np.array([1, 2.5], dtype=object))
    assert graph.degrees().tolist() == [1.0, 3.5, 2.5]
    with pytest.raises(InputTypeError, match="real numbers"):
        Graph.from_edges([0], [1], np.array(["x"], dtype=object))
