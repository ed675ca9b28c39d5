from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from sgclearn.errors import DataFileError, InputError, SgclearnWarning
from sgclearn.graph import Graph, NodeIds, read_edges


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str | bytes, name: str = "edges.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_read_edges_strings_by_first_appearance(write: Callable[..., Path]) -> None:
    graph = read_edges(write("source,target\nz,b\nb,a\nz,b\n"))
    assert graph.ids.tolist() == ["z", "b", "a"]
    assert repr(graph) == "Graph(3 nodes, 2 edges, undirected, unweighted)"
    assert Graph.read_edges(write("source,target\nz,b\nb,a\n")) == graph


def test_read_edges_integers_ascending_and_as_ids(write: Callable[..., Path]) -> None:
    graph = read_edges(write("30 1000000000\n7\t30\n"))
    assert graph.ids.tolist() == [7, 30, 10**9]
    assert graph.degrees().tolist() == [1, 2, 1]


def test_read_edges_keeps_the_spelling_of_ids(write: Callable[..., Path]) -> None:
    graph = read_edges(write("u,v\n007,7\n7,8\n"))
    assert graph.ids.tolist() == ["007", "7", "8"]
    mixed = read_edges(write("u,v\n1,a\n2,b\n"))
    assert mixed.ids.tolist() == ["1", "a", "2", "b"]


def test_read_edges_uses_a_column_called_weight(write: Callable[..., Path]) -> None:
    path = write("from,to,weight,year\na,b,0.5,1999\nb,c,2,2001\n")
    assert read_edges(path).degrees().tolist() == [0.5, 2.5, 2.0]
    assert not read_edges(path, weight=False).is_weighted
    assert read_edges(path, weight="year").degrees().tolist() == [1999, 4000, 2001]
    assert read_edges(path, source="to", target=0, directed=True).degrees().tolist() == [0.5, 0, 2]


def test_read_edges_without_header_warns_about_what_it_leaves_out(write: Callable[..., Path]) -> None:
    path = write("a b 0.5\nb c 2\n")
    with pytest.warns(SgclearnWarning, match="without header"):
        assert not read_edges(path).is_weighted
    assert read_edges(path, weight=2).degrees().tolist() == [0.5, 2.5, 2.0]


def test_read_edges_among_given_nodes(write: Callable[..., Path]) -> None:
    path = write("a,b\nb,c\n")
    graph = read_edges(path, nodes=["c", "x", "b", "a"])
    assert graph.degrees().tolist() == [1, 0, 2, 1]
    assert read_edges(path, nodes=NodeIds(["c", "x", "b", "a"])) == graph
    with pytest.raises(DataFileError, match=r"edges\.csv: .* 2 nodes: got 'c' in line 2 \(1 such row\)"):
        read_edges(path, nodes=["b", "a"])
    with pytest.raises(DataFileError, match="got '9' in line 2"):
        read_edges(write("1,2\n9,2\n"), nodes=[1, 2])


def test_read_edges_header_that_cannot_be_told_is_asked_for(write: Callable[..., Path]) -> None:
    path = write("a,b\nb,c\n")
    with pytest.raises(DataFileError, match="header=True"):
        read_edges(path)
    assert read_edges(path, header=False).n_edges == 2


@pytest.mark.parametrize(("text", "line"), [("source,target\na,b\n\nb,\n", 4), ("1\t2\n\t3\n4\t5\n", 2)])
def test_read_edges_missing_endpoint_is_named_by_its_line(
    write: Callable[..., Path], text: str, line: int
) -> None:
    with pytest.raises(DataFileError, match=rf"got nothing in line {line} of column .* \(1 such row\)"):
        read_edges(write(text))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", r"edges\.csv: every row must have a weight: got nothing in line 3"),
        ("heavy", r"numbers: got 'heavy' in line 3 of column 'weight'; mend the cell"),
        ("-2", r"edges\.csv: .*negative.*got -2\.0 for the edge 'b' -> 'c' in line 3 \(1 such edge\)"),
    ],
)
def test_read_edges_weight_that_is_none_is_refused(
    write: Callable[..., Path], cell: str, message: str
) -> None:
    with pytest.raises(DataFileError, match=message) as caught:
        read_edges(write(f"source,target,weight\na,b,1\nb,c,{cell}\n"))
    assert "conver" not in str(caught.value)


def test_read_edges_weights_that_differ_name_the_file(write: Callable[..., Path]) -> None:
    path = write("source,target,weight\na,b,1\nb,a,2\n")
    with pytest.raises(DataFileError, match=r"edges\.csv: an edge must have one weight: got 1 and 2"):
        read_edges(path)


def test_read_edges_dates_as_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges.parquet"
    days = pa.array([datetime.date(2024, 2, 29)])
    pq.write_table(pa.table({"src": ["a"], "dst": ["b"], "weight": days}), path)
    with pytest.raises(DataFileError, match="got '2024-02-29' in row 1"):
        read_edges(path)


def test_read_edges_large_integers_are_weights(write: Callable[..., Path]) -> None:
    graph = read_edges(write(f"source,target,weight\na,b,{2**53 + 1}\n"))
    assert graph.degrees().tolist() == [2.0**53, 2.0**53]


def test_read_edges_hints_at_ids_that_differ_in_zeros(write: Callable[..., Path]) -> None:
    with pytest.raises(
        DataFileError, match=r"got '032' \(it differs from 32 only.* in line 2 \(1 such row\)"
    ):
        read_edges(write("u,v\n032,7\n"), nodes=[7, 32])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty file"),
        (b"\0\1\2,3\n", "UTF-8"),
        ("a\nb\n", "delimiter="),
        ("1,2\n3,4,5\n6,7\n8,9\n", "line 2"),
    ],
)
def test_read_edges_bad_file_is_one_clear_error(
    write: Callable[..., Path], content: str | bytes, message: str
) -> None:
    with pytest.raises(DataFileError, match=message):
        read_edges(write(content))


def test_read_edges_wrong_delimiter_is_named(write: Callable[..., Path]) -> None:
    with pytest.raises(DataFileError, match="delimiter ';'"):
        read_edges(write("source,target\na,b\n"), delimiter=";")


def test_read_edges_header_only_is_an_empty_graph(write: Callable[..., Path]) -> None:
    assert read_edges(write("source,target\n")).n_nodes == 0
    assert read_edges(write("source,target\n"), nodes=["a", "b"]).n_isolated == 2


@pytest.mark.parametrize(
    ("columns", "ids"),
    [
        ({"src": pa.array(["b", "a"]), "dst": pa.array(["a", "c"])}, ["b", "a", "c"]),
        ({"src": pa.array([9, 4], pa.int32()), "dst": pa.array([4, 5])}, [4, 5, 9]),
        ({"src": pa.array(["x", "y"]).dictionary_encode(), "dst": pa.array(["y", "z"])}, ["x", "y", "z"]),
        ({"src": pa.array([1, 2]), "dst": pa.array(["y", "z"])}, ["1", "y", "2", "z"]),
        ({"src": pa.array([1.0, 2.0]), "dst": pa.array([3.0, 4.0])}, [1, 2, 3, 4]),
    ],
)
def test_read_edges_parquet(tmp_path: Path, columns: dict[str, pa.Array], ids: list[object]) -> None:
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table(columns), path)
    assert read_edges(path).ids.tolist() == ids


def test_read_edges_parquet_names_the_row_of_a_missing_endpoint(tmp_path: Path) -> None:
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"src": ["a", None], "dst": ["b", "c"]}), path)
    with pytest.raises(DataFileError, match="row 2"):
        read_edges(path)


def test_read_edges_npz_of_scipy(tmp_path: Path) -> None:
    matrix = sp.coo_array(([2.0, 2.0], ([0, 1], [1, 0])), shape=(3, 3)).tocsr()
    path = tmp_path / "A.npz"
    sp.save_npz(path, matrix)
    assert read_edges(path).degrees().tolist() == [2, 2, 0]
    assert read_edges(path, nodes=["a", "b", "c"]).ids.tolist() == ["a", "b", "c"]
    assert not read_edges(path, weight=False).is_weighted
    assert read_edges(path, directed=True).directed
    with pytest.raises(DataFileError, match=r"A\.npz: .*got 3 rows and 2 ids from nodes="):
        read_edges(path, nodes=["a", "b"])


def test_read_edges_npz_of_edges(tmp_path: Path) -> None:
    path = tmp_path / "edges.npz"
    edges = np.array([[0, 2], [2, 3]])
    np.savez(path, edges=edges)
    assert repr(read_edges(path)) == "Graph(4 nodes, 2 edges, undirected, unweighted, 1 isolated node)"
    assert read_edges(path, nodes=[3, 2, 0]).degrees().tolist() == [1, 2, 1]
    np.savez(path, edges=edges, weights=[1.0, 4.0], ids=["a", "b", "c", "d", "e"])
    graph = read_edges(path)
    assert graph.ids.tolist() == ["a", "b", "c", "d", "e"]
    assert graph.degrees().tolist() == [1, 0, 5, 4, 0]
    assert not read_edges(path, weight=False).is_weighted
    with pytest.raises(InputError, match="files without ids: got one with ids"):
        read_edges(path, nodes=["a"])


def test_read_edges_npz_that_holds_no_graph_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, other=np.zeros(3))
    with pytest.raises(DataFileError, match="array called edges: got other"):
        read_edges(path)
    np.savez(path, edges=np.zeros((3, 3)))
    with pytest.raises(DataFileError, match=r"x\.npz: edges must have shape"):
        read_edges(path)
    np.savez(path, edges=np.array([[0, 1]], dtype=object), allow_pickle=True)
    with pytest.raises(DataFileError, match="plain arrays"):
        read_edges(path)
    np.savez(path, format=np.array("csr"), shape=np.array([2, 2]), data=np.ones(1))
    with pytest.raises(DataFileError, match="scipy"):
        read_edges(path)
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(DataFileError, match="single array"):
        read_edges(path)
    path.write_bytes(b"PK\3\4 cut")
    with pytest.raises(DataFileError, match="whole npz"):
        read_edges(path)
    with pytest.raises(DataFileError, match="nothing there"):
        read_edges(tmp_path / "none.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(DataFileError, match="a folder"):
        read_edges(tmp_path / "folder.npz")


@pytest.mark.parametrize("option", ["source", "target", "delimiter", "header"])
def test_read_edges_options_of_tables_are_refused_elsewhere(tmp_path: Path, option: str) -> None:
    for name in ("g.npz", "g.graphml"):
        with pytest.raises(InputError, match=f"{option} goes with tables"):
            read_edges(tmp_path / name, **{option: "x"})  # type: ignore[arg-type]


def test_read_edges_weight_by_name_is_refused_for_npz(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="weight must be left out"):
        read_edges(tmp_path / "g.npz", weight="w")


@pytest.mark.parametrize("directed", [False, True])
def test_read_edges_graphml_reads_what_networkx_writes(tmp_path: Path, directed: bool) -> None:
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_node("lone")
    G.add_edge("a", "b", weight=2.5, label="x")
    G.add_edge("b", "c", weight=1.0)
    path = tmp_path / "g.graphml"
    nx.write_graphml(G, path)
    graph = read_edges(path)
    assert graph == Graph.from_networkx(G, weight="weight")
    assert not read_edges(path, weight=False).is_weighted
    assert read_edges(path, directed=not directed).directed is not directed
    assert read_edges(path, nodes=["c", "b", "a"]).ids.tolist() == ["c", "b", "a"]


GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>{before}
<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns">
  <g:key id="k" for="edge" attr.name="cost" attr.type="double"><g:default>4</g:default></g:key>
  <g:key id="n" for="node" attr.name="cost"><g:default>what</g:default></g:key>
  <g:graph edgedefault="undirected">
    <g:node id="12"><g:data key="n">x</g:data></g:node><g:node id="7"/><g:node id="9"/>
    <g:edge source="12" target="7"/>
    <g:edge source="7" target="9" {attribute}><g:data key="k">{value}</g:data></g:edge>
    {inside}
  </g:graph>
</g:graphml>
"""


def graphml(before: str = "", attribute: str = "", value: str = "2", inside: str = "") -> str:
    return GRAPHML.format(before=before, attribute=attribute, value=value, inside=inside)


def test_read_edges_graphml_defaults_prefixes_and_integers(write: Callable[..., Path]) -> None:
    graph = read_edges(write(graphml(), "g.graphml"), weight="cost")
    assert graph.ids.tolist() == [12, 7, 9]
    assert graph.degrees().tolist() == [4, 6, 2]
    assert not read_edges(write(graphml(), "g.graphml")).is_weighted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (graphml(before='<!DOCTYPE x [<!ENTITY a "b">]>'), "DOCTYPE or ENTITY .* got one in line 1"),
        (graphml(attribute='directed="true"'), "all edges must be directed"),
        (graphml(value="much"), r"'cost' must be numbers: got 'much' in line 8"),
        (graphml(inside="<g:hyperedge/>"), "hyperedge"),
        (
            graphml(inside='<g:edge source="7"/>'),
            "edge must have the attribute target: got one without in line 9",
        ),
        (
            graphml(inside='<g:edge source="7" target="99"/>'),
            "got '99' in edge 2 .*add it as a node to the file, or",
        ),
        (graphml(inside='<g:node id="7"/>'), "given once"),
        (graphml()[:-30], "could not be read"),
        ("", "could not be read"),
        (graphml().replace("UTF-8", "no-such-code"), "could not be read"),
        (graphml().replace("UTF-8", "shift_jis"), "could not be read"),
        (graphml(value="-2"), r"g\.graphml: weights must be finite and not negative"),
    ],
)
def test_read_edges_graphml_that_is_wrong_is_refused(
    write: Callable[..., Path], text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_edges(write(text, "g.graphml"), weight="cost")


def test_read_edges_graphml_refuses_what_is_not_there(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(graphml(), "g.graphml")
    with pytest.raises(DataFileError, match="the attribute 'price': got none"):
        read_edges(path, weight="price")
    with pytest.raises(InputError, match="name an edge attribute"):
        read_edges(path, weight=3)
    with pytest.raises(DataFileError, match="nothing there"):
        read_edges(tmp_path / "none.graphml")
    (tmp_path / "d.graphml").mkdir()
    with pytest.raises(DataFileError, match="a folder"):
        read_edges(tmp_path / "d.graphml")


def test_read_edges_agrees_with_the_published_size_of_cora(data_dir: Path) -> None:
    graph = read_edges(data_dir / "planetoid" / "cora.npz")
    assert repr(graph) == "Graph(2,708 nodes, 5,278 edges, undirected, unweighted)"


def test_read_edges_keeps_the_loops_and_lone_nodes_of_citeseer(data_dir: Path) -> None:
    with np.load(data_dir / "planetoid" / "citeseer.npz") as arrays:
        graph = Graph.from_edges(arrays["edges"], n_nodes=len(arrays["y"]))
    assert (graph.n_nodes, graph.n_self_loops) == (3327, 124)
