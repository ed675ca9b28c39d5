"""Readers of graphs in npz files: the one inside the package and those of the data folder."""

from __future__ import annotations

import io
import json
import lzma
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.datasets.dataset import LabelledGraph
from sgclearn.graph import Graph
from sgclearn.tables.archives import csr_of_parts, load_arrays
from sgclearn.tables.contents import content
from sgclearn.validation.reading import reading


def embedded_arrays(path: str) -> dict[str, NDArray[Any]]:
    """Arrays of a file inside the package, which is an npz compressed as a whole."""
    packed = resources.files("sgclearn.datasets").joinpath(path).read_bytes()
    with np.load(io.BytesIO(lzma.decompress(packed)), allow_pickle=False) as arrays:
        return dict(arrays)


def read_embedded(path: str) -> LabelledGraph:
    """Graph, 0/1 features and labels that `tools/build_debian_graph.py` has packed."""
    arrays = embedded_arrays(path)
    names, words, classes = (_lines(arrays[key]) for key in ("nodes", "words", "classes"))
    upper = _unpacked(arrays["edge_counts"], arrays["edge_deltas"], len(names))
    X = _unpacked(arrays["word_counts"], arrays["word_deltas"], len(words))
    graph = Graph.from_scipy(upper, ids=names)
    return LabelledGraph(graph, X, arrays["y"].astype(np.int64), classes, words, None)


def embedded_provenance(path: str) -> dict[str, Any]:
    """Release, date, checksums of the input and counts, as the build script has recorded them."""
    provenance: dict[str, Any] = json.loads(embedded_arrays(path)["provenance"].tobytes())
    return provenance


def _lines(text: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(text.tobytes().decode().split("\n"))


def _unpacked(counts: NDArray[np.uint16], planes: NDArray[np.uint8], width: int) -> sp.csr_array:
    """0/1 matrix with `counts[i]` ones in row i; columns are the sums of differences modulo 2^16."""
    deltas = np.ascontiguousarray(planes.T).view("<u2").ravel()
    columns = np.cumsum(deltas, dtype=np.uint16).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return sp.csr_array((np.ones(len(columns)), columns, starts), shape=(len(counts), width))


_KEYS = ("x_shape", "x_indptr", "x_indices", "x_data", "edges", "y", "class_names")


def _lines_of(path: Path) -> tuple[str, ...]:
    return tuple(bytes(content(path)).decode("utf-8").splitlines())


def read_npz(path: Path, vocabulary: Path | None = None) -> LabelledGraph:
    """Read CSR features (`x_shape, x_indptr, x_indices, x_data`), `edges` (E, 2), `y` and `class_names`.

    Parameters
    ----------
    path : Path
        An npz file without pickled objects.
    vocabulary : Path, optional
        Names of the features, one a line, xz-compressed.
    """
    with reading(path, "an npz file with features, edges and labels", "get it again", by_hand=False):
        arrays = load_arrays(path, _KEYS)
        parts = [arrays[f"x_{part}"] for part in ("indices", "indptr", "shape")]
        X = csr_of_parts(path, arrays["x_data"].astype(np.float64), *parts)
        graph = Graph.from_edges(arrays["edges"].astype(np.int64), n_nodes=X.shape[0])
        y = arrays["y"].astype(np.int64)
        classes = tuple(arrays["class_names"].tolist())
        words = None if vocabulary is None else _lines_of(vocabulary)
    return LabelledGraph(graph, X, y, classes, words, None)
