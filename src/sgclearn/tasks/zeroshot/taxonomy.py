"""A graph of classes: from a table with a parent column, or from edges; and a vector for each class."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import DataFileError, InputError, SgclearnWarning
from sgclearn.features.word_vectors import WordVectors, read_word_vectors
from sgclearn.graph import Graph, read_edges
from sgclearn.tables.archives import load_arrays
from sgclearn.tables.columns import id_array
from sgclearn.tables.messages import counted
from sgclearn.tables.reading import TableFile, open_table
from sgclearn.validation.reading import as_path, reading

Array = NDArray[np.float64]
ID_NAMES, PARENT_NAMES, NAME_NAMES = (
    ("id", "class", "wnid", "code"),
    ("parent", "parent_id"),
    ("name", "names", "label"),
)
_WORDS = re.compile(r"[\s,;_-]+")


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Classes, their names, and who is a kind of what.

    Parameters
    ----------
    graph : Graph
        One node a class.
    names : tuple of str
        For people, and for word vectors; the ids where there are none.
    """

    graph: Graph
    names: tuple[str, ...]

    def __len__(self) -> int:
        return self.graph.n_nodes

    def __repr__(self) -> str:
        return f"Taxonomy({counted(len(self), 'class', 'classes')}, {counted(self.graph.n_edges, 'edge')})"


def read_taxonomy(
    classes: str | os.PathLike[str],
    edges: str | os.PathLike[str] | None = None,
    *,
    id_column: str | None = None,
    parent_column: str | None = None,
    name_column: str | None = None,
    delimiter: str | None = None,
) -> Taxonomy:
    r"""Read a table of classes: id, parent (or edges in a file of their own), and name if there is one.

    Parameters
    ----------
    classes : path
        One row a class. An empty parent is a root; a class with several parents has its edges in `edges`.
    edges : path, optional
        Pairs of classes, instead of parents or next to them.
    id_column, parent_column, name_column : str, optional
        Where they are not called id, parent and name.
    delimiter : str, optional

    Notes
    -----
    A cycle of parents is allowed, since only neighbours count, and a warning names one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "classes.csv"
    >>> _ = path.write_text("id,parent,name\na,,animal\nc,a,cat\nd,a,dog\n")
    >>> read_taxonomy(path)
    Taxonomy(3 classes, 2 edges)
    """
    path = as_path(classes)
    known = frozenset((*ID_NAMES, *PARENT_NAMES, *NAME_NAMES))
    named = {name.lower() for name in (id_column, parent_column, name_column) if name}
    with reading(path, "a table of classes"):
        file = open_table(path, delimiter=delimiter, header_words=known | named)
        identity = _column(file, id_column, ID_NAMES) or file.names[0]
        parent, name = _column(file, parent_column, PARENT_NAMES), _column(file, name_column, NAME_NAMES)
        if parent is None and edges is None:
            raise DataFileError(
                f"{path} must have a column of parents",
                ", ".join(file.names),
                "name it with parent_column=, or give edges=",
                argument="parent_column",
            )
        wanted = list(dict.fromkeys(column for column in (identity, parent, name) if column is not None))
        table = file.read(wanted, text_columns=wanted)
        ids = id_array(table.column(identity))
        _check_ids(file, ids)
        parents = None if parent is None else _parents(file, ids, table.column(parent).to_pylist(), parent)
    graph = Graph.from_edges([], [], nodes=ids)
    if parents is not None:
        child = np.flatnonzero(parents >= 0)
        graph = Graph.from_edges(ids[child], ids[parents[child]], nodes=ids, self_loops="drop")
        _warn_about_cycles(ids, parents)
    if edges is not None:
        graph = graph.union(read_edges(edges, nodes=ids, weight=False, delimiter=delimiter))
    spelled = table.column(name).to_pylist() if name is not None else [None] * len(ids)
    names = tuple(str(given or identifier) for given, identifier in zip(spelled, ids.tolist(), strict=True))
    return Taxonomy(graph, names)


def _column(file: TableFile, given: str | None, known: Sequence[str]) -> str | None:
    if given is not None:
        return file.names[file.position(given, "a column of classes")]
    folded = {name.strip().lower(): name for name in reversed(file.names)}
    return next((folded[name] for name in known if name in folded), None)


def _check_ids(file: TableFile, ids: NDArray[Any]) -> None:
    first: dict[Any, int] = {}
    for row, identifier in enumerate(ids.tolist()):
        if identifier is None or identifier in first:
            got = "none" if identifier is None else f"{identifier!r} in {file.line(first[identifier])} and"
            raise DataFileError(
                f"{file.path} must have an id for every class, each once",
                f"{got} {'in ' if identifier is None else ''}{file.line(row)}",
                "mend it; a class with several parents has its edges in a file of their own",
            )
        first[identifier] = row


def _parents(file: TableFile, ids: NDArray[Any], cells: list[Any], column: str) -> NDArray[np.intp]:
    """Position of each class's parent, -1 for a root."""
    position = {str(identifier): at for at, identifier in enumerate(ids.tolist())}
    parents = np.array([-1 if cell is None else position.get(cell, -2) for cell in cells], dtype=np.intp)
    unknown = np.flatnonzero(parents == -2)
    if len(unknown):
        row = int(unknown[0])
        raise DataFileError(
            f"{file.path} must have classes in its column {column!r}",
            f"{cells[row]!r} in {file.line(row)} ({len(unknown):,} such)",
            "add a row for it, or leave the cell empty",
        )
    return parents


def _warn_about_cycles(ids: NDArray[Any], parents: NDArray[np.intp]) -> None:
    """Name a class that is its own ancestor: follow all parents at once, twice as far in every round."""
    ancestor = np.append(parents, -1)  # a root's parent is a place of its own
    for _ in range(len(parents).bit_length() + 1):
        ancestor = ancestor[ancestor]
    caught = np.flatnonzero(ancestor[:-1] >= 0)
    if len(caught):
        warnings.warn(
            f"{counted(len(caught), 'class', 'classes')} in or below a cycle of parents, such as that of "
            f"{str(ids[ancestor[caught[0]]])!r}: taken as edges like any others.",
            SgclearnWarning,
            stacklevel=4,
        )


def name_vectors(names: Sequence[str], words: WordVectors) -> tuple[Array, NDArray[np.bool_]]:
    """Mean of the vectors of the words of each name (n, d), and whether any is known (n,).

    Words end at spaces, commas, semicolons, underscores and hyphens, so that "sea snake, Hydrophis" has three.
    """
    parts = [[part for part in _WORDS.split(name) if part] for name in names]
    positions = words.positions([part for listed in parts for part in listed])
    owner = np.repeat(np.arange(len(names)), [len(listed) for listed in parts])[positions >= 0]
    positions = positions[positions >= 0]
    sums = np.zeros((len(names), words.n_dimensions))
    np.add.at(sums, owner, words.matrix[positions].astype(np.float64))
    counts = np.bincount(owner, minlength=len(names))
    return sums / np.maximum(counts, 1)[:, None], counts > 0


def read_vectors(path: str | os.PathLike[str], taxonomy: Taxonomy, *, from_words: bool = False) -> Array:
    """A vector for each class (n, d), zero where the file has none.

    Parameters
    ----------
    path : path
        `from_words`: word vectors (see `read_word_vectors`), averaged over the words of each name. Else an npz file
        with `vector` (m, d) and `ids` (m,), or without `ids` one row a class; or an npy file with one row a class.
    """
    path = as_path(path)
    if from_words:
        wanted = {part for name in taxonomy.names for part in _WORDS.split(name) if part}
        vectors, known = name_vectors(taxonomy.names, read_word_vectors(path, wanted))
        if not known.any():
            raise InputError(
                "names of classes must have words with a vector",
                "none that has",
                "check the file",
                argument="words",
            )
        return vectors
    arrays = _arrays(path, ("vector", "vectors", "X", "ids"))
    matrix = next((arrays[name] for name in ("vector", "vectors", "X") if name in arrays), None)
    if matrix is None or matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise DataFileError(
            f"{path} must hold a table called vector, one row a class", "none", "write it again"
        )
    matrix = matrix.astype(np.float64)
    if not np.isfinite(matrix).all():
        raise DataFileError(f"{path} must hold finite numbers", "nan or infinity", "use zeros for no vector")
    if "ids" not in arrays:
        if len(matrix) != len(taxonomy):
            raise DataFileError(
                f"{path} must have one row a class, or an array ids",
                f"{counted(len(matrix), 'row')} for {counted(len(taxonomy), 'class', 'classes')}",
                "add ids",
            )
        return matrix
    rows = taxonomy.graph.positions(arrays["ids"])
    vectors = np.zeros((len(taxonomy), matrix.shape[1]))
    vectors[rows] = matrix
    return vectors


def _arrays(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Arrays of an npz file by name; that of an npy file is called X."""
    if path.suffix.lower() == ".npy":
        return {"X": read_npy(path)}
    return load_arrays(path, names)


def read_npy(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The array of an npy file; nothing is unpickled."""
    path = as_path(path)
    with reading(path, "an npy file of numbers"):
        return np.asarray(np.load(path, allow_pickle=False))
