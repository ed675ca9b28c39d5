"""Folders of graphs: TU text files and tables, and what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sgclearn.errors import DataFileError
from sgclearn.tasks.graphs import GraphCollection
from sgclearn.tasks.graphs.readers import read_graphs

TU = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "-1\n1\n",
    "node_labels": "0\n1\n0\n2\n2\n",
    "node_attributes": "0.5, 1\n1, 1\n0, 2\n3, 3\n4, 4\n",
}
TABLES = {
    "graphs.csv": "graph,label,energy\nm1,toxic,0.5\nm2,safe,1.5\n",
    "nodes.csv": "graph,node,label,charge\nm2,1,C,0\nm1,1,C,0.5\nm1,2,N,1\nm1,3,C,0\nm2,2,O,2\n",
    "edges.csv": "graph,source,target\nm1,1,2\nm1,2,3\nm2,1,2\n",
}


def tu(folder: Path, **changes: str | None) -> Path:
    for suffix, text in {**TU, **changes}.items():
        if text is not None:
            (folder / f"SET_{suffix}.txt").write_text(text)
    return folder


def tables(folder: Path, **changes: str) -> Path:
    for name, text in TABLES.items():
        (folder / name).write_text(changes.get(name.removesuffix(".csv"), text))
    return folder


def check(found: GraphCollection) -> None:
    assert found.sizes.tolist() == [3, 2]
    expected = np.zeros((5, 5))
    for a, b in ((0, 1), (1, 2), (3, 4)):
        expected[a, b] = expected[b, a] = 1
    np.testing.assert_array_equal(found.graph.to_scipy().toarray(), expected)


def test_tu_folder_has_graphs_labels_and_numbers(tmp_path: Path) -> None:
    found = read_graphs(tu(tmp_path))
    check(found)
    assert found.y is not None
    assert found.y.tolist() == [-1, 1]
    assert found.node_labels is not None
    assert found.node_labels.tolist() == [0, 1, 0, 2, 2]
    assert found.features is not None
    np.testing.assert_array_equal(found.features[3:], [[3, 3], [4, 4]])


def test_tu_folder_may_have_edges_alone(tmp_path: Path) -> None:
    found = read_graphs(tu(tmp_path, node_labels=None, node_attributes=None))
    check(found)
    assert found.node_labels is None
    assert found.features is None


def test_tables_have_ids_classes_and_columns_of_nodes(tmp_path: Path) -> None:
    found = read_graphs(tables(tmp_path))
    check(found)
    assert found.ids is not None
    assert found.ids.tolist() == ["m1", "m2"]
    assert found.y is not None
    assert found.y.tolist() == ["toxic", "safe"]
    assert found.node_labels is not None
    assert found.node_labels.tolist() == ["C", "N", "C", "C", "O"]
    assert found.features is not None
    assert found.features.ravel().tolist() == [0.5, 1, 0, 0, 2]


def test_columns_of_numbers_are_targets(tmp_path: Path) -> None:
    found = read_graphs(tables(tmp_path), label_columns=["energy"])
    assert found.y is not None
    np.testing.assert_array_equal(found.y, [[0.5], [1.5]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph_indicator": "1\n1\n1\n3\n3\n"}, "must name graphs from 1 to 2"),
        ({"graph_labels": "-1\n1\n1\n"}, r"graph 2 of .* must have a node: got none"),
        ({"A": "1, 9\n"}, "must join nodes 1 to 5: got 9"),
        ({"A": "1, 2\n1, 4\n"}, "must stay within a graph: got edge 2 between two"),
        ({"A": "1, 2\n3\n"}, "2 numbers in every line: got 1 in row 2"),
        ({"A": "1, x\n"}, "must hold numbers"),
        ({"node_labels": "0\n"}, "one line a node: got 1 for 5 nodes"),
        ({"node_attributes": "0\n1\n2\nnan\n4\n"}, "must be finite"),
    ],
)
def test_bad_tu_folder_is_an_error(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises((DataFileError, ValueError), match=message):
        read_graphs(tu(tmp_path, **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edges": "graph,source,target\nm1,1,7\n"}, r"must name known nodes: got \('m1', 7\) in row 1"),
        ({"nodes": "graph,node\nm9,1\n"}, "must name known graphs: got 'm9' in row 1"),
        ({"graphs": "graph,label\nm1,a\nm1,b\n"}, "must name every graph once"),
    ],
)
def test_bad_tables_are_errors(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        read_graphs(tables(tmp_path, **changes))


def test_other_folders_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"must hold one NAME_graph_indicator\.txt"):
        read_graphs(tmp_path)
    with pytest.raises(DataFileError, match="must be a folder of graphs"):
        read_graphs(tmp_path / "absent")
    with pytest.raises(DataFileError, match=r"label_column must name a column of .* got 'mass'"):
        read_graphs(tables(tmp_path), label_columns=["mass"])
