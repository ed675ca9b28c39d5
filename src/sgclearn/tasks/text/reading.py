"""Files and folders of documents: texts, and where there are any labels, ids and splits."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import DataFileError, InputError, Place, Setting
from sgclearn.features import Labels
from sgclearn.features.frames import ID_NAMES
from sgclearn.features.labels import LABEL_NAMES, SPLIT_NAMES
from sgclearn.tables.columns import id_array
from sgclearn.tables.messages import counted
from sgclearn.tasks.text.folders import read_folder
from sgclearn.tasks.text.sources import Source, open_source
from sgclearn.validation.parameters import check_type
from sgclearn.validation.reading import as_path, naming, reading

TEXT_NAMES = ("text", "body", "content", "document", "doc", "message", "review", "abstract", "sentence")
_LABEL_NAMES = (*LABEL_NAMES, "topic", "category")
_ID_NAMES = (*ID_NAMES, "doc_id", "document_id")


@dataclass(frozen=True, eq=False, repr=False)
class Documents:
    """Texts with what is known about each.

    Parameters
    ----------
    texts : tuple of str, length D
        An empty string where there is no text.
    labels : array, shape (D,), or None
        Classes: integers with -1, or strings with None, for documents without one. None if nothing has a label.
    ids : array, shape (D,)
        From a column, the path inside a folder, or 0, ..., D - 1.
    splits : object array, shape (D,), or None
        "train", "val" or "test", None for documents without a label.

    Examples
    --------
    >>> Documents(("oil", "corn"), np.array(["energy", None], dtype=object), np.arange(2), None)
    Documents(2 documents, 1 labelled)
    """

    texts: tuple[str, ...]
    labels: NDArray[Any] | None
    ids: NDArray[Any]
    splits: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        facts = [counted(len(self), "document")]
        if self.labels is not None:
            facts.append(f"{sum(label not in (None, -1) for label in self.labels.tolist()):,} labelled")
        if self.splits is not None:
            facts += [
                f"{np.count_nonzero(self.splits == split):,} {split}" for split in ("train", "val", "test")
            ]
        return f"Documents({', '.join(facts)})"


def read_documents(
    path: str | os.PathLike[str],
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    split_column: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Documents:
    r"""Read documents from a file or a folder; its name says of which kind it is.

    ======================= =========================================================================
    CSV, TSV (``.gz`` too)  one row a document
    ``.parquet``            one row a document
    ``.jsonl``, ``.ndjson`` one JSON object a line
    ``.txt``                one document a line, unless a column is named
    a folder                one file a document: ``a.txt``, or ``class/a.txt``, ``train/class/a.txt``
    ======================= =========================================================================

    Parameters
    ----------
    path : path
    text_column : str, optional
        Column with the text; by default one called text, body, content, document, doc, message, review,
        abstract or sentence (in any case), else the only column that is left.
    label_column : str, optional
        Column with the class; by default one called label, labels, class, target, y, topic or category, if there
        is one. An empty cell (or -1 among integers) is no label.
    id_column : str, optional
        Column with an id for each document; by default one called id, node, node_id, name, key, doc_id or
        document_id, else the documents are numbered from 0.
    split_column : str, optional
        Column with train, val or test; by default one called split, set or subset, if there is one.
    encoding : str, optional
        Of text files, UTF-8 if not given. "mixed" takes each line (each file of a folder) that is no UTF-8 as
        latin-1.
    delimiter : str, optional
        One character or "tab"; found in the file if not given.
    header : bool, optional
        Whether the first line names the columns; found in the file if not given.

    Returns
    -------
    Documents

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "docs.csv"
    >>> _ = path.write_text('body,topic\n"Oil, gas and coal",energy\nCorn,farms\nWheat,\n')
    >>> documents = read_documents(path)
    >>> documents
    Documents(3 documents, 2 labelled)
    >>> documents.texts[0], documents.labels[0]
    ('Oil, gas and coal', 'energy')
    """
    path = as_path(path)
    given = {"text_column": text_column, "label_column": label_column, "id_column": id_column,
             "split_column": split_column}  # fmt: skip
    for role, name in {**given, "encoding": encoding, "delimiter": delimiter}.items():
        if name is not None:
            check_type(name, str, role, "give a text, or leave it out")
    with reading(path, "a file or folder of documents"):
        if path.is_dir():
            _refuse("a folder, which has no columns", **given, delimiter=delimiter, header=header)
            texts, classes, ids, splits = read_folder(path, encoding)
            return _documents(path, None, texts, classes, np.array(ids, dtype=object), splits)
        words = {*TEXT_NAMES, *_LABEL_NAMES, *_ID_NAMES, *SPLIT_NAMES, *filter(None, given.values())}
        source = open_source(
            path,
            encoding=encoding,
            delimiter=delimiter,
            header=header,
            header_words=frozenset(word.lower() for word in words),
            one_a_line=not any(given.values()),
            text_names=(*TEXT_NAMES, *filter(None, (text_column,))),
        )
        return _from_columns(path, source, given)


def _from_columns(path: Path, source: Source, given: dict[str, str | None]) -> Documents:
    for role, name in given.items():
        if name is not None and name not in source.names:
            raise DataFileError(
                f"{role} must name a column of {path}",
                repr(name),
                f"its columns are {', '.join(map(repr, source.names))}",
                argument=role,
            )
    taken = {name for name in given.values() if name is not None}
    if len(taken) < sum(name is not None for name in given.values()):
        raise InputError(f"every column of {path} must have one role", "one named twice", "name another")

    def choose(role: str, known: Iterable[str]) -> str | None:
        folded = {name.strip().lower(): name for name in reversed(source.names) if name not in taken}
        name = given[role] or next((folded[word] for word in known if word in folded), None)
        taken.update(filter(None, [name]))
        return name

    text = choose("text_column", TEXT_NAMES)
    label, split = choose("label_column", _LABEL_NAMES), choose("split_column", SPLIT_NAMES)
    key = choose("id_column", _ID_NAMES)
    rest = [name for name in source.names if name not in taken]
    if text is None and len(rest) != 1:
        raise DataFileError(
            f"{path} must show which column is the text",
            ", ".join(map(repr, source.names)),
            ("name it with ", Setting("text_column")),
        )
    columns = source.read([text or rest[0], *filter(None, [label, split, key])])
    texts = _texts(path, text or rest[0], columns[text or rest[0]])
    if not texts:
        raise DataFileError(f"{path} must hold at least one document", "none below the header")
    return _documents(
        path,
        source,
        texts,
        None if label is None else _cells(path, label, columns[label]),
        np.arange(len(texts)) if key is None else _checked_ids(path, key, id_array(columns[key])),
        None if split is None else columns[split].to_pylist(),
    )


def _texts(path: Path, name: str, column: Any) -> list[str]:
    from pyarrow import types

    held = column.type.value_type if types.is_dictionary(column.type) else column.type
    if not (types.is_string(held) or types.is_large_string(held) or types.is_null(held)):
        raise DataFileError(
            f"{path} must have texts in its text column",
            str(held),
            ("name another with ", Setting("text_column")),
            place=Place(column=name),
        )
    return ["" if cell is None else cell for cell in column.to_pylist()]


def _cells(path: Path, name: str, column: Any) -> list[Any]:
    from pyarrow import types

    if types.is_nested(column.type) or types.is_temporal(column.type):
        raise DataFileError(
            f"{path} must have integers or strings as labels",
            str(column.type),
            ("name another with ", Setting("label_column")),
            place=Place(column=name),
        )
    return id_array(column).tolist()  # type: ignore[no-any-return]


def _checked_ids(path: Path, name: str, ids: NDArray[Any]) -> NDArray[Any]:
    if ids.dtype == object and None in ids.tolist():
        row = ids.tolist().index(None)
        raise DataFileError(
            f"every document of {path} must have an id",
            f"an empty cell in column {name!r} for document {row + 1}",
            ("fill it, or name another column with ", Setting("id_column")),
        )
    return ids


def _documents(
    path: Path,
    source: Source | None,
    texts: list[str],
    classes: list[Any] | None,
    ids: NDArray[Any],
    splits: list[Any] | None,
) -> Documents:
    """Put the parts together; `Labels` knows what is a class, what is a split and what is nothing."""
    if classes is None or not any(_is_label(value) for value in classes):
        return Documents(tuple(texts), None, ids, None)
    with naming(path, (lambda row: f"document {row + 1}") if source is None else source.place):
        held = Labels(np.arange(len(texts)), np.array(classes, dtype=object), splits)  # type: ignore[arg-type]
    rows = held.ids.astype(np.intp)
    if held.values.dtype.kind == "i":
        labels: NDArray[Any] = np.full(len(texts), -1, dtype=np.int64)
    else:
        labels = np.full(len(texts), None, dtype=object)
    labels[rows] = held.values
    parts = None
    if held.splits is not None:
        parts = np.full(len(texts), None, dtype=object)
        parts[rows] = held.splits
    return Documents(tuple(texts), labels, ids, parts)


def _is_label(value: Any) -> bool:
    return value is not None and value == value and value not in ("", -1)


def _refuse(reason: str, **options: Any) -> None:
    given = next((name for name, value in options.items() if value is not None), None)
    if given is not None:
        raise InputError(f"{given} goes with tables", reason, "leave it out", argument=given)
