from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import DataFileError, InputError
from sgclearn.graph import Graph, read_edges

OLD = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)
NEW = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12)


@given(OLD, NEW, st.booleans(), st.booleans())
def test_extend_equals_building_at_once(
    old: list[tuple[int, int]], new: list[tuple[int, int]], directed: bool, named: bool
) -> None:
    def name(edges: list[tuple[int, int]]) -> list[tuple[object, object]]:
        return [(f"n{u}", f"n{v}") if named else (u, v) for u, v in edges]

    nodes = [f"n{i}" for i in range(8)] if named else list(range(8))
    graph = Graph.from_edges(name(old), nodes=nodes[:5], directed=directed)
    at_once = Graph.from_edges(name(old + new), nodes=nodes, directed=directed)
    larger = graph.extend(name(new), new_ids=nodes[5:])
    assert larger == at_once
    assert larger.ids.tolist() == nodes
    assert Graph(larger.indptr, larger.indices, directed=directed, ids=nodes) == larger


def test_extend_changes_the_degrees_of_old_nodes() -> None:
    graph = Graph.from_edges([("a", "b")])
    larger = graph.extend(["b"], ["c"], [2.5], new_ids=["c"])
    assert larger.degrees().tolist() == [1, 3.5, 2.5]
    assert graph.degrees().tolist() == [1, 1]


def test_extend_keeps_row_numbers() -> None:
    graph = Graph.from_edges([(0, 1)]).extend([1], [2], new_ids=[2, 3])
    assert graph.node_ids.is_range
    assert graph.n_nodes == 4


def test_extend_counts_new_edges_given_both_ways_once() -> None:
    graph = Graph.from_edges([("a", "b")], weights=[2.0])
    larger = graph.extend(["b", "c"], ["c", "b"], [3.0, 3.0], new_ids=["c"], duplicates="sum")
    assert larger.degrees().tolist() == [2, 5, 3]
    summed = graph.extend(["b"], ["a"], [3.0], new_ids=[], duplicates="sum")
    assert summed.degrees().tolist() == [5, 5]


def test_extend_refuses_known_and_unknown_ids() -> None:
    graph = Graph.from_edges([("a", "b")])
    with pytest.raises(InputError, match=r"new_ids must not be in the graph yet: got 'b' \(1 known id\)"):
        graph.extend(["b"], ["c"], new_ids=["b", "c"])
    with pytest.raises(InputError, match=r"got 'x' in edge 0 .*add the node to new_ids=, or remove the edge"):
        graph.extend(["b"], ["x"], new_ids=["c"])
    with pytest.raises(InputError, match="given once"):
        graph.extend([], [], new_ids=["c", "c"])
    with pytest.raises(InputError, match="one weight"):
        graph.extend(["a"], ["b"], [7.0], new_ids=[])


def test_union_joins_by_id_and_by_spelling() -> None:
    old = Graph.from_edges([12, 7], [7, 30], nodes=[7, 12, 30])
    new = Graph.from_edges([("7", "x"), ("x", "y")])
    both = old.union(new)
    assert both.ids.tolist() == ["7", "12", "30", "x", "y"]
    assert both.degrees().tolist() == [3, 1, 1, 2, 1]
    assert both.positions([12, "y"]).tolist() == [1, 4]


def test_union_needs_graphs_of_one_kind() -> None:
    with pytest.raises(InputError, match="got undirected and directed"):
        Graph.from_edges([(0, 1)]).union(Graph.from_edges([(0, 1)], directed=True))


def test_union_drops_self_loops_if_asked() -> None:
    loops = Graph.from_edges([(0, 0), (0, 1)])
    assert loops.union(loops, self_loops="drop").n_self_loops == 0


GRAPHS = [
    Graph.from_edges([(0, 1), (1, 2)], n_nodes=5),
    Graph.from_edges([("ä", "b"), ("b", "")], weights=[0.1, 2], directed=True),
    Graph.from_edges([10**9], [7], nodes=[7, 10**9]),
    Graph.from_edges([], []),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_save_npz_and_load_npz_give_back_the_graph(graph: Graph, tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    graph.save_npz(path)
    assert Graph.load_npz(path) == graph
    assert read_edges(path) == graph
    assert [file.name for file in tmp_path.iterdir()] == ["graph.npz"]


def test_read_edges_applies_policies_to_a_saved_graph(tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    Graph.from_edges([(0, 0), (0, 1)], weights=[2, 3], directed=True).save_npz(path)
    graph = read_edges(path, self_loops="drop", directed=False, weight=False, nodes=["a", "b"])
    assert graph == Graph.from_edges([("a", "b")])


def test_save_npz_refuses_other_ids_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"all integers or all strings: got \(1, 2\)"):
        Graph.from_edges([((1, 2), "x")]).save_npz(tmp_path / "g.npz")
    with pytest.raises(InputError, match="NUL"):
        Graph.from_edges([("a\0", "x")]).save_npz(tmp_path / "g.npz")
    with pytest.raises(InputError, match="folder that exists: got no folder"):
        GRAPHS[0].save_npz(tmp_path / "none" / "g.npz")
    assert list(tmp_path.iterdir()) == []


def test_save_npz_that_fails_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.npz"
    GRAPHS[0].save_npz(path)

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(InputError, match="must be writable: got disk full"):
        GRAPHS[1].save_npz(path)
    assert Graph.load_npz(path) == GRAPHS[0]
    assert [file.name for file in tmp_path.iterdir()] == ["g.npz"]


def test_load_npz_leaves_other_arrays_packed(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    GRAPHS[0].save_npz(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", b"no array at all")
    assert Graph.load_npz(path) == GRAPHS[0]
    assert read_edges(path) == GRAPHS[0]


def test_load_npz_refuses_foreign_later_and_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    np.savez(path, edges=np.zeros((1, 2), dtype=int))
    with pytest.raises(DataFileError, match="read_edges reads other npz"):
        Graph.load_npz(path)
    np.savez(path, sgclearn_graph=np.array(99))
    with pytest.raises(DataFileError, match="got format 99; upgrade"):
        Graph.load_npz(path)
    np.savez(path, sgclearn_graph=np.array(1), indptr=[0, 1], indices=[0])
    with pytest.raises(DataFileError, match="could not be read"):
        Graph.load_npz(path)
    np.savez(path, sgclearn_graph=np.array(1), indptr=[0, 1], indices=[7], directed=np.array(True))
    with pytest.raises(DataFileError, match="could not be read"):
        Graph.load_npz(path)
