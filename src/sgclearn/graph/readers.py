"""Read a graph from a file: delimited text, Parquet, npz, GraphML."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sgclearn.errors import ANY, Alternatives, InputError, Place, Setting
from sgclearn.graph.build import Duplicates, Policy, SelfLoops
from sgclearn.graph.columns import WEIGHT, WORDS, choose_columns
from sgclearn.graph.converters import ADD_NODE, make_graph
from sgclearn.graph.encode import encode_ids, encode_strings
from sgclearn.graph.graph import Graph
from sgclearn.graph.graphml import parse_graphml
from sgclearn.graph.hints import spelling_hint
from sgclearn.graph.ids import Ids, NodeIds, as_ids, usual_integers
from sgclearn.graph.npz import read_npz
from sgclearn.tables.archives import Archive, open_archive
from sgclearn.tables.messages import counted
from sgclearn.validation.reading import as_path, naming, reading

if TYPE_CHECKING:
    import pyarrow as pa


def read_edges(
    path: str | os.PathLike[str],
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
    nodes: ArrayLike | Iterable[Any] | NodeIds | None = None,
    directed: bool | None = None,
    duplicates: Duplicates = "once",
    self_loops: SelfLoops = "keep",
    delimiter: str | None = None,
    header: bool | None = None,
) -> Graph:
    r"""Read a graph from a file with one edge a row, or from npz or GraphML.

    Parameters
    ----------
    path : path
        `.npz`, `.graphml`, `.parquet`; any other name is delimited text (CSV, TSV, also as `.gz`). An npz file may be
        open already, see `tables.archives.open_archive`.
    source, target : str or int, optional
        Columns of the endpoints, by name or position. If not given: a pair of known words (source/target,
        src/dst, from/to, u/v, citing/cited, ...), or the only two columns, or without header the first two.
    weight : str, int or False, optional
        Column of the weights; if not given, a column called "weight" is used; False: no weights.
    nodes : array-like of hashables, optional
        The ids of all nodes, in node order; an endpoint that is not among them is an error. If not given, the
        endpoints are the nodes: integers ascending, other ids in order of first appearance.
    directed : bool, optional
        If not given, what the file says (GraphML, saved graphs), else undirected.
    duplicates, self_loops : str
        As in `Graph.from_edges`.
    delimiter, header : optional
        Found in the file if not given; for delimited text only.

    Returns
    -------
    Graph

    Notes
    -----
    Ids in text keep their spelling: `007` is not `7`. Where all ids are usually spelled integers they become
    integers. An npz file holds a scipy sparse adjacency matrix, or `edges` (E, 2) of row numbers with, if
    wanted, `weights` (E,) and `ids` (n,), or a graph of `Graph.save_npz`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("source,target\nann,bob\nbob,cas\n")
    >>> read_edges(path)
    Graph(3 nodes, 2 edges, undirected, unweighted)
    """
    file, path = path, as_path(path)
    policy = Policy(False if directed is None else directed, duplicates, self_loops)
    ids = nodes if nodes is None or isinstance(nodes, NodeIds) else NodeIds(nodes)
    with reading(path, "a graph in one of the known formats"):
        return _read(file, path, source, target, weight, ids, directed, policy, delimiter, header)


def _read(
    file: str | os.PathLike[str],
    path: Path,
    source: str | int | None,
    target: str | int | None,
    weight: str | int | Literal[False] | None,
    ids: NodeIds | None,
    directed: bool | None,
    policy: Policy,
    delimiter: str | None,
    header: bool | None,
) -> Graph:
    if path.suffix.lower() not in {".npz", ".graphml"}:
        return _read_table(path, source, target, weight, ids, policy, delimiter, header)
    given = {"source": source, "target": target, "delimiter": delimiter, "header": header}
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"{name} goes with tables", "another kind of file", "leave it out", argument=name
            )
    if path.suffix.lower() == ".graphml":
        return _read_graphml(path, weight, ids, directed, policy)
    if weight is not None and weight is not False:
        raise InputError("weight must be left out or False for an npz file", repr(weight), argument="weight")
    with open_archive(file if isinstance(file, Archive) else path) as archive:
        return read_npz(archive, weight is None, ids, directed, policy)


def _read_table(
    path: Path,
    source: str | int | None,
    target: str | int | None,
    weight: str | int | Literal[False] | None,
    ids: NodeIds | None,
    policy: Policy,
    delimiter: str | None,
    header: bool | None,
) -> Graph:
    from sgclearn.tables import open_table

    known = None if ids is None else partial(_is_known, ids)
    # A column that was asked for by name can only be found in a header.
    named = {column.lower() for column in (source, target, weight) if isinstance(column, str)}
    file = open_table(path, delimiter=delimiter, header=header, header_words=WORDS | named, is_id=known)
    with naming(path, file.line):
        columns = choose_columns(file.names, source, target, weight, has_header=file.has_header)
        ends = [columns.source, columns.target]
        wanted = ends if columns.weight is None else [*ends, columns.weight]
        table = file.read(list(dict.fromkeys(wanted)), text_columns=ends if file.is_text else ())
        for name in ends:
            _refuse_missing(table[name], name, "an id")
        weights = None if columns.weight is None else _weights(table[columns.weight], columns.weight)
        left, right, names = _encode(table[columns.source], table[columns.target])
        if ids is None:
            ids = NodeIds(names)
        else:
            left, right = _among(ids, left, right, names)
        return make_graph(left, right, weights, ids, policy, are_positions=True)


def _is_known(ids: NodeIds, cell: str) -> bool:
    return bool(ids.lookup([cell])[0] >= 0)


def _refuse_missing(column: pa.ChunkedArray, name: str, what: str) -> None:
    if column.null_count:
        import pyarrow.compute as pc

        row = pc.index(pc.is_null(column), True).as_py()
        place = Place(row=row, column=name, others=counted(column.null_count, "such row"))
        raise InputError(
            f"every row must have {what}", "nothing", "fill the cell or remove the row", place=place
        )


def _weights(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    import pyarrow as pa

    _refuse_missing(column, name, "a weight")
    try:
        return column.cast(pa.float64(), safe=False).to_numpy()  # type: ignore[no-any-return]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        cells = column.to_pylist()
        row = next((row for row, cell in enumerate(cells) if not _is_number(cell)), 0)
        choose = ("choose another column with ", Setting("weight", ANY))
        raise InputError(
            "weights must be numbers",
            repr(str(cells[row])),
            Alternatives("mend the cell", choose, ("say ", Setting("weight", False))),
            place=Place(row=row, column=name),
        ) from None


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _encode(left: pa.ChunkedArray, right: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[Any], Ids]:
    """Number the ids of two columns, both as integers or both as text."""
    import pyarrow as pa
    import pyarrow.types as pt

    from sgclearn.tables.columns import id_column

    columns = [id_column(left), id_column(right)]
    kinds = {column.type for column in columns if len(column)}
    if kinds == {pa.int64()}:
        return encode_ids(columns[0].to_numpy(), columns[1].to_numpy())
    if all(pt.is_string(kind) or pt.is_large_string(kind) or kind == pa.int64() for kind in kinds):
        common = left.type if left.type == right.type else pa.large_string()
        return encode_strings(left.cast(common), right.cast(common))
    return encode_ids(as_ids(columns[0].to_pylist(), "source"), as_ids(columns[1].to_pylist(), "target"))


def _among(
    ids: NodeIds, left: NDArray[Any], right: NDArray[Any], names: Ids
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    found = ids.lookup(names)
    source, target = found[left], found[right]
    unknown = np.flatnonzero((source < 0) | (target < 0))
    if len(unknown):
        row = int(unknown[0])
        name = names[left[row] if source[row] < 0 else right[row]]
        raise InputError(
            f"every endpoint must be one of the {counted(len(ids), 'node')}",
            repr(str(name)) + spelling_hint(name, ids),
            "add the node, or remove the row",
            place=Place(row=row, others=counted(len(unknown), "such row")),
        )
    return source, target


def _read_graphml(
    path: Path,
    weight: str | int | Literal[False] | None,
    nodes: NodeIds | None,
    directed: bool | None,
    policy: Policy,
) -> Graph:
    if isinstance(weight, int) and weight is not False:
        raise InputError("weight must name an edge attribute", repr(weight), argument="weight")
    document = parse_graphml(path, WEIGHT if weight is None else str(weight))
    if isinstance(weight, str) and document.weights is None:
        raise InputError(f"edges must have the attribute {weight!r}", "none of that name")
    ids = NodeIds(usual_integers(document.nodes)) if nodes is None else nodes
    return make_graph(
        as_ids(document.source, "source"),
        as_ids(document.target, "target"),
        None if weight is False else document.weights,
        ids,
        replace(policy, directed=document.directed if directed is None else directed),
        remedy="add it as a node to the file" if nodes is None else ADD_NODE,
    )
