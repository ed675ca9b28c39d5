"""Labels of a file: which column they are in, and whether it can be the right one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, Place, Setting
from sgclearn.features import Labels
from sgclearn.features.frames import ID_NAMES, named_id
from sgclearn.features.labels import LABEL_NAMES, SPLIT_NAMES, choose_columns
from sgclearn.features.readers import labels_in
from sgclearn.graph import Graph
from sgclearn.tables import id_array, open_table
from sgclearn.tables.columns import id_column
from sgclearn.tasks.nodes.options import NodeData, delimiter_of
from sgclearn.validation.reading import naming, reading

MOST_CLASSES = 20  # that are never too many, however few labels there are


def labels_of(data: NodeData, path: Path) -> tuple[Labels, str | None]:
    """Labels, and the name of their column where nothing but its place said that it holds them."""
    delimiter, id_column = delimiter_of(data), data.id_column
    given = (id_column, data.label_column, data.split_column)
    known = (*ID_NAMES, *LABEL_NAMES, *SPLIT_NAMES)
    words = frozenset(known) | {name.lower() for name in given if name is not None}
    with reading(path, "a table of labels"):
        table = open_table(path, delimiter=delimiter, header=data.header, header_words=words)
        if id_column not in table.names:
            id_column = None  # the option is about the features, and the labels call their id something else
        with naming(path, table.line):
            labels, column = labels_in(table, id_column, data.label_column, data.split_column)
    is_named = data.label_column is not None or column.strip().lower() in LABEL_NAMES
    _refuse_names(path, column, labels)
    return labels, None if is_named or not table.has_header else column


def classes_of(
    data: NodeData, path: Path, graph: Graph
) -> tuple[NDArray[Any], NDArray[Any] | None, str | None]:
    """Classes of the nodes (n,), their splits, and the name of their column where only its place told it."""
    labels, column = labels_of(data, path)
    if labels.splits is None:
        return labels.align(graph), None, column
    parts = np.full(graph.n_nodes, None, dtype=object)
    parts[graph.positions(labels.ids)] = labels.splits
    return labels.align(graph), parts, column


def values_of(data: NodeData, path: Path, graph: Graph) -> tuple[NDArray[Any], NDArray[Any] | None, str]:
    """Numbers of the nodes (n,), NaN where there is none, their splits, and the name of their column."""
    given = (data.id_column, data.label_column, data.split_column)
    known = (*ID_NAMES, *LABEL_NAMES, *SPLIT_NAMES)
    words = frozenset(known) | {name.lower() for name in given if name is not None}
    with reading(path, "a table of numbers"):
        file = open_table(path, delimiter=delimiter_of(data), header=data.header, header_words=words)
        names = list(file.names)
        id_name = data.id_column if data.id_column in names else named_id(names) or names[0]
        rest = [name for name in names if name != id_name]
        column, split, _ = choose_columns(rest, data.label_column, data.split_column)
        wanted = [name for name in (id_name, column, split) if name is not None]
        with naming(path, file.line):
            table = file.read(wanted, text_columns=[name for name in (id_name, split) if name is not None])
            values = _numbers(column, table.column(column))
            splits = None if split is None else table.column(split).to_pylist()
            # `Labels` checks ids and splits; which rows have a number is all that it has to know of them.
            is_known = np.where(np.isnan(values), -1, 0)
            labels = Labels(id_array(id_column(table.column(id_name))), is_known, splits)
    positions, y = graph.positions(labels.ids), np.full(graph.n_nodes, np.nan)
    y[positions] = values[~np.isnan(values)]
    if labels.splits is None:
        return y, None, column
    parts = np.full(graph.n_nodes, None, dtype=object)
    parts[positions] = labels.splits
    return y, parts, column


def _numbers(name: str, column: Any) -> NDArray[np.float64]:
    """Cells as float64, NaN for an empty one."""
    from pyarrow import types

    held = column.type
    if not (types.is_integer(held) or types.is_floating(held) or types.is_null(held)):
        raise InputError(
            "labels of a regression must be numbers",
            f"{held} in column {name!r}",
            (
                "mend it, name another with ",
                Setting("label_column"),
                ", or leave out ",
                Setting("regression"),
            ),
        )
    values = np.asarray(column.cast("float64").to_numpy(), dtype=np.float64)
    if np.isinf(values).any():
        raise InputError(
            "labels of a regression must be finite",
            f"an infinite number in column {name!r}",
            "leave its cell empty",
            place=Place(row=int(np.flatnonzero(np.isinf(values))[0])),
        )
    return values


def _refuse_names(path: Path, column: str, labels: Labels) -> None:
    """Refuse labels that nearly every node has for itself: names, or another id."""
    n_labels, n_classes = len(labels.values), len(set(labels.values.tolist()))
    if n_classes > MOST_CLASSES and 2 * n_classes > n_labels:
        raise InputError(
            f"{path} must have classes that several nodes share",
            f"{n_classes:,} classes for {n_labels:,} labelled nodes in column {column!r}",
            "if it is not the right column, name that with --label-column",
        )
