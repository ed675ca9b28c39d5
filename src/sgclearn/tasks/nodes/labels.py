"""Labels of a file: which column they are in, and whether it can be the right one."""

from __future__ import annotations

from pathlib import Path

from sgclearn.errors import InputError
from sgclearn.features import Labels
from sgclearn.features.frames import ID_NAMES
from sgclearn.features.labels import LABEL_NAMES, SPLIT_NAMES
from sgclearn.features.readers import labels_in
from sgclearn.tables import open_table
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


def _refuse_names(path: Path, column: str, labels: Labels) -> None:
    """Refuse labels that nearly every node has for itself: names, or another id."""
    n_labels, n_classes = len(labels.values), len(set(labels.values.tolist()))
    if n_classes > MOST_CLASSES and 2 * n_classes > n_labels:
        raise InputError(
            f"{path} must have classes that several nodes share: got {n_classes:,} classes for {n_labels:,} "
            f"labelled nodes in column {column!r}; if it is not the right column, name that with --label-column."
        )
