"""A graph in an npz file of its own, without pickle.

Keys: `sgclearn_graph` (version of this format, 1), `indptr`, `indices`, `directed`, and where there are any
`weights` and `ids` (an integer or a unicode array; no `ids` mean 0..n-1).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import DataFileError, InputError
from sgclearn.files import replacing
from sgclearn.graph.graph import Graph
from sgclearn.graph.ids import NodeIds
from sgclearn.tables.archives import open_archive
from sgclearn.validation.reading import as_path, reading

FORMAT_KEY = "sgclearn_graph"
GRAPH_KEYS = (FORMAT_KEY, "indptr", "indices", "directed", "weights", "ids")
_VERSION = 1


def save_npz(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph; a reader sees the whole file or none of it."""
    path = as_path(path)
    arrays: dict[str, NDArray[Any]] = {
        FORMAT_KEY: np.array(_VERSION),
        "indptr": graph.indptr,
        "indices": graph.indices,
        "directed": np.array(graph.directed),
    }
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    if not graph.node_ids.is_range:
        arrays["ids"] = _plain_ids(graph.node_ids)
    # No object array is among them, so nothing is pickled.
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def _plain_ids(ids: NodeIds) -> NDArray[Any]:
    if ids.kind == "int":
        return ids.values
    if ids.kind == "str":
        plain = np.array(ids.values.tolist(), dtype=np.str_)
        # A fixed-width array loses a NUL at the end of a string.
        if plain.tolist() == ids.values.tolist():
            return plain
    odd = next(
        (value for value in ids.values.tolist() if not isinstance(value, str)), "an id that ends in NUL"
    )
    raise InputError(
        "a graph is saved with ids that are all integers or all strings",
        repr(odd),
        "build the graph with str(id) for each id",
    )


def load_npz(path: str | os.PathLike[str]) -> Graph:
    """Read a graph that `save_npz` wrote, and check it."""
    with open_archive(as_path(path)) as archive:
        if FORMAT_KEY not in archive.names:
            raise DataFileError(
                f"{path} must be a graph written by Graph.save_npz",
                f"the arrays {', '.join(archive.names) or 'none'}",
                "read_edges reads other npz files",
            )
        return graph_from_arrays(path, archive.arrays(GRAPH_KEYS))


def graph_from_arrays(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]]) -> Graph:
    """Make the graph from the arrays of its file."""
    with reading(path, "a whole graph file", by_hand=False):
        version = int(arrays[FORMAT_KEY])
        if version > _VERSION:
            raise DataFileError(
                f"{path} must be a graph file of format {_VERSION} or earlier",
                f"format {version}",
                "upgrade sgclearn",
            )
        parts = arrays["indptr"], arrays["indices"], arrays.get("weights")
        return Graph(*parts, directed=bool(arrays["directed"]), ids=arrays.get("ids"))
