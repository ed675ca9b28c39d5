"""Collections of graphs from folders: the text files of the TU collection, or three tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import DataFileError, InputError
from sgclearn.graph import Graph
from sgclearn.tables.columns import id_array
from sgclearn.tables.contents import content
from sgclearn.tables.reading import read_table
from sgclearn.tasks.graphs.collection import GraphCollection
from sgclearn.validation.reading import as_path, reading

_TABLES = ("graphs.csv", "nodes.csv", "edges.csv")


def read_graphs(folder: Any, *, label_columns: Sequence[str] = ()) -> GraphCollection:
    """Read a collection from a folder.

    A TU folder has `NAME_A.txt` (pairs of nodes, from 1), `NAME_graph_indicator.txt` (graph of each node) and
    `NAME_graph_labels.txt`, and may have `NAME_node_labels.txt` and `NAME_node_attributes.txt`. A folder of tables has
    `graphs.csv` (graph, label), `nodes.csv` (graph, node, and perhaps label and numbers) and `edges.csv` (graph,
    source, target).

    Parameters
    ----------
    folder : path
    label_columns : sequence of str
        Columns of graphs.csv with numbers to predict; without them its column label has a class.
    """
    path = as_path(folder)
    if not path.is_dir():
        raise DataFileError(f"{path} must be a folder of graphs", "no folder", "check the path")
    indicators = sorted(path.glob("*_graph_indicator.txt"))
    if len(indicators) == 1 and not label_columns:
        name = indicators[0].name.removesuffix("_graph_indicator.txt")
        with reading(path, "a folder of the TU collection"):
            return _read_tu(path / name)
    if all((path / table).is_file() for table in _TABLES):
        with reading(path, "a folder of graphs, nodes and edges"):
            return _read_tables(path, label_columns)
    raise DataFileError(
        f"{path} must hold one NAME_graph_indicator.txt with its files, or {', '.join(_TABLES)}",
        f"{len(indicators)} indicators", "check the folder",
    )  # fmt: skip


def _lines(stem: Path, suffix: str) -> list[str]:
    path = stem.with_name(f"{stem.name}_{suffix}.txt")
    return bytes(content(path)).decode("utf-8").split("\n")


def _numbers(stem: Path, suffix: str, kind: type = int) -> NDArray[Any]:
    """Numbers of a file, one row a line."""
    rows = [line.replace(",", " ").split() for line in _lines(stem, suffix) if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise DataFileError(
                f"{stem.name}_{suffix}.txt must have {len(rows[0])} numbers in every line",
                f"{len(row)} in row {number}",
                "mend the line",
            )
    try:
        return np.array(rows, dtype=kind).reshape(len(rows), -1)
    except ValueError as error:
        raise DataFileError(
            f"{stem.name}_{suffix}.txt must hold numbers", str(error), "mend the file"
        ) from None


def _read_tu(stem: Path) -> GraphCollection:
    graph_of = _numbers(stem, "graph_indicator")[:, 0] - 1
    y = _numbers(stem, "graph_labels")[:, 0]
    if len(graph_of) == 0 or graph_of.min() < 0 or graph_of.max() >= len(y):
        raise DataFileError(
            f"{stem.name}_graph_indicator.txt must name graphs from 1 to {len(y)}",
            "others",
            "check the files",
        )
    pairs = _numbers(stem, "A") - 1
    labels = _optional(stem, "node_labels", len(graph_of))
    numbers = _optional(stem, "node_attributes", len(graph_of), float)
    return _collection(
        graph_of,
        pairs,
        None if labels is None else labels[:, 0].astype(object),
        numbers,
        np.arange(len(y)),
        y,
        str(stem),
    )


def _optional(stem: Path, suffix: str, n_nodes: int, kind: type = int) -> NDArray[Any] | None:
    if not stem.with_name(f"{stem.name}_{suffix}.txt").is_file():
        return None
    values = _numbers(stem, suffix, kind)
    if len(values) != n_nodes:
        raise DataFileError(
            f"{stem.name}_{suffix}.txt must have one line a node",
            f"{len(values)} for {n_nodes} nodes",
            "check the files",
        )
    return values


def _read_tables(folder: Path, label_columns: Sequence[str]) -> GraphCollection:
    graphs, nodes, edges = (
        read_table(folder / name, header=True, text_columns=columns)
        for name, columns in zip(
            _TABLES, (["graph"], ["graph", "node"], ["graph", "source", "target"]), strict=True
        )
    )
    ids = id_array(graphs["graph"])
    place = {graph: at for at, graph in enumerate(ids.tolist())}
    if len(place) < len(ids):
        raise DataFileError(
            f"{folder / 'graphs.csv'} must name every graph once", "a repeated graph", "merge the rows"
        )
    y = _targets(folder, graphs, label_columns)
    owner = _positions(folder / "nodes.csv", id_array(nodes["graph"]), place, "graph")
    names = list(zip(id_array(nodes["graph"]).tolist(), id_array(nodes["node"]).tolist(), strict=True))
    node = {key: at for at, key in enumerate(names)}
    if len(node) < len(names):
        raise DataFileError(
            f"{folder / 'nodes.csv'} must name every node of a graph once", "a repeated node", "merge them"
        )
    of_edge = id_array(edges["graph"]).tolist()
    ends = [
        _positions(
            folder / "edges.csv",
            list(zip(of_edge, id_array(edges[column]).tolist(), strict=True)),
            node,
            "node",
        )
        for column in ("source", "target")
    ]
    others = [name for name in nodes.column_names if name not in ("graph", "node", "label")]
    numbers = None
    if others:
        numbers = np.column_stack([np.asarray(nodes[name].to_numpy(), dtype=np.float64) for name in others])
    labels = id_array(nodes["label"]).astype(object) if "label" in nodes.column_names else None
    return _collection(owner, np.stack(ends, axis=1), labels, numbers, ids, y, str(folder))


def _targets(folder: Path, graphs: Any, label_columns: Sequence[str]) -> NDArray[Any] | None:
    known = graphs.column_names
    wanted = list(label_columns) or (["label"] if "label" in known else [])
    missing = [name for name in wanted if name not in known]
    if missing:
        raise DataFileError(
            f"label_column must name a column of {folder / 'graphs.csv'}",
            repr(missing[0]),
            f"it has {', '.join(known)}",
            argument="label_column",
        )
    if not wanted:
        return None
    if not label_columns:
        return id_array(graphs["label"])
    return np.column_stack([np.asarray(graphs[name].to_numpy(), dtype=np.float64) for name in wanted])


def _positions(path: Path, keys: Any, place: dict[Any, int], what: str) -> NDArray[np.intp]:
    keys = keys.tolist() if isinstance(keys, np.ndarray) else keys
    unknown = next((row for row, key in enumerate(keys) if key not in place), None)
    if unknown is not None:
        raise DataFileError(
            f"{path} must name known {what}s",
            f"{keys[unknown]!r} in row {unknown + 1}",
            f"add the {what}, or leave it out",
        )
    return np.array([place[key] for key in keys], dtype=np.intp)


def _collection(
    graph_of: NDArray[Any],
    pairs: NDArray[Any],
    labels: NDArray[Any] | None,
    numbers: NDArray[np.float64] | None,
    ids: NDArray[Any],
    y: NDArray[Any] | None,
    where: str,
) -> GraphCollection:
    """Nodes sorted by graph, edges within their graph."""
    order = np.argsort(graph_of, kind="stable")
    sizes = np.bincount(graph_of, minlength=len(ids))
    if (sizes == 0).any():
        empty = int(np.flatnonzero(sizes == 0)[0])
        raise DataFileError(f"graph {ids[empty]} of {where} must have a node", "none", "leave it out")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= len(order)):
        raise DataFileError(
            f"edges of {where} must join nodes 1 to {len(order)}", f"{pairs.max() + 1}", "check the files"
        )
    crossing = np.flatnonzero(graph_of[pairs[:, 0]] != graph_of[pairs[:, 1]])
    if len(crossing):
        raise DataFileError(
            f"edges of {where} must stay within a graph",
            f"edge {int(crossing[0]) + 1} between two",
            "check the files",
        )
    graph = Graph.from_edges(place[pairs[:, 0]], place[pairs[:, 1]], n_nodes=len(order))
    if numbers is not None and not np.isfinite(numbers).all():
        raise InputError(f"node numbers of {where} must be finite", "nan or inf", "fill the cells")
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return GraphCollection(
        graph,
        starts,
        None if labels is None else labels[order],
        None if numbers is None else numbers[order],
        np.asarray(ids, dtype=object),
        y,
    )
