"""Files -> Features (delimited text, Parquet, npz, svmlight) and Labels (delimited text, Parquet)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Any

from scipy.sparse import issparse

from sgclearn.errors import DataFileError, InputError, Place, Setting
from sgclearn.features.columns import Impute
from sgclearn.features.encoding import Encoding
from sgclearn.features.frames import ID_NAMES, named_id
from sgclearn.features.labels import LABEL_NAMES, SPLIT_NAMES, Labels, choose_columns
from sgclearn.features.table import Features
from sgclearn.tables import TableFile, open_table
from sgclearn.tables.archives import csr_of_parts, open_archive
from sgclearn.tables.columns import id_column as usual_ids
from sgclearn.tables.columns import mark_missing
from sgclearn.tables.contents import content
from sgclearn.validation.reading import (
    COLUMNS_PER_ENTRY,
    FEW_COLUMNS,
    as_path,
    naming,
    reading,
)

SVMLIGHT_SUFFIXES = (".svm", ".svmlight", ".libsvm")
CSR_KEYS = ("x_data", "x_indices", "x_indptr", "x_shape")


def read_features(
    path: str | os.PathLike[str],
    *,
    id_column: str | bool | None = None,
    impute: Impute | None = None,
    max_categories: int = 50,
    encoding: Encoding | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Features:
    r"""Read node features from a file; its name says of which kind it is.

    ======================== =====================================================================
    ``.npz``                 a matrix of `scipy.sparse.save_npz`; or ``X`` (or ``features``), dense;
                             or ``x_data, x_indices, x_indptr, x_shape``, the parts of a csr matrix;
                             the last two with ``ids`` and ``names`` if they are there
    ``.svm .svmlight``       svmlight lines; the targets are left out; columns are counted from 1, or
    ``.libsvm``              from 0 if there is an index 0
    ``.parquet``, all others a table with one row a node: see `Features.from_frame`
    ======================== =====================================================================

    In a matrix without ids row i belongs to node i. Ids keep their spelling: 007 is not 7. In text, ids
    that are all integers in their usual spelling are integers, else all are strings.

    Parameters
    ----------
    path : path
        The file; tables and svmlight also packed (``.gz``, ``.bz2``).
    id_column, impute, max_categories, encoding
        As in `Features.from_frame`, for tables only.
    delimiter : str, optional
        Delimiter of a text table; found in the file if not given.
    header : bool, optional
        Whether the first line of a text table names the columns; found in the file if not given.

    Returns
    -------
    Features

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "features.csv"
    >>> _ = path.write_text("id,age,city\n007,30,Bern\n12,40,Graz\n")
    >>> features = read_features(path)
    >>> features.ids
    array(['007', '12'], dtype=object)
    >>> features.matrix
    array([[30.,  1.,  0.],
           [40.,  0.,  1.]])
    """
    path = as_path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".bz2")]
    kind = suffixes[-1] if suffixes else ""
    with reading(path, "a table or matrix of features"):
        if kind == ".npz" or kind in SVMLIGHT_SUFFIXES:
            _refuse_table_options(
                id_column=id_column, impute=impute, encoding=encoding, delimiter=delimiter, header=header
            )
            return _read_npz(path) if kind == ".npz" else _read_svmlight(path)
        words = _header_words(ID_NAMES, id_column)
        file = open_table(path, delimiter=delimiter, header=header, header_words=words)
        with naming(path, file.line):
            table, id_column = _read_columns(file, id_column, encoding)
            _refuse_no_rows(table)
            return Features.from_frame(
                table, id_column, impute=impute, max_categories=max_categories, encoding=encoding
            )


def _header_words(known: Iterable[str], *named: Any) -> frozenset[str]:
    """Words that tell a header; a column that was asked for by name can only be found in one."""
    return frozenset(known) | {name.lower() for name in named if isinstance(name, str)}


def read_labels(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    split_column: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Labels:
    r"""Read a CSV, TSV or Parquet file of id, label and, if it is there, split.

    Ids and labels keep their spelling: if all are integers in their usual spelling they are integers, else
    strings. Only an empty cell (or -1 among integers) is no label; NA is a label like any other.

    Parameters
    ----------
    path : path
        The file.
    id_column, label_column, split_column : str, optional
        Names of the columns, if they cannot be found as in `Labels.from_frame`.
    delimiter : str, optional
        Delimiter of a text file; found in the file if not given.
    header : bool, optional
        Whether the first line of a text file names the columns; found in the file if not given.

    Returns
    -------
    Labels

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("id,label,split\na,cat,train\nb,dog,test\nc,,\n")
    >>> read_labels(path)
    Labels(2 nodes, 2 classes, 1 train, 0 val, 1 test)
    """
    path = as_path(path)
    known = (*ID_NAMES, *LABEL_NAMES, *SPLIT_NAMES)
    words = _header_words(known, id_column, label_column, split_column)
    with reading(path, "a table of labels"):
        file = open_table(path, delimiter=delimiter, header=header, header_words=words)
        with naming(path, file.line):
            return labels_in(file, id_column, label_column, split_column)[0]


def labels_in(
    file: TableFile, id_column: str | None, label_column: str | None, split_column: str | None
) -> tuple[Labels, str]:
    """Read the labels of a table that is open, and the name of their column; see `read_labels`."""
    names = list(file.names)
    id_name = id_column or named_id(names) or names[0]
    rest = [name for name in names if name != id_name]
    if split_column is None and not file.has_header and len(rest) == 2:
        split_column = next(name for name in reversed(rest) if name != label_column)
    label, split, is_split = choose_columns(rest, label_column, split_column)
    wanted = [name for name in (id_name, label, split) if name is not None]
    table = file.read(wanted, text_columns=wanted)
    _refuse_no_rows(table)
    if file.is_text:
        _refuse_fractions(label, table.column(label))
    for name in (id_name, label):
        table = table.set_column(wanted.index(name), name, usual_ids(table.column(name)))
    labels = Labels.from_frame(
        table,
        id_name,
        # A guess stays one: whether the other column is a split is seen only in its cells.
        label_column=label_column if split is not None and not is_split else label,
        split_column=split if is_split else None,
    )
    return labels, label


def _refuse_no_rows(table: Any) -> None:
    if table.num_rows == 0:
        raise InputError("a table must have one row a node", "no rows", "add them, or check the path")


def _refuse_fractions(name: str, column: Any) -> None:
    """Refuse measurements for labels; whoever means them as names of classes writes them as such."""
    values = [cell.as_py() for cell in column]
    try:
        numbers = [None if value is None else float(value) for value in values]
    except ValueError:
        return
    for row, number in enumerate(numbers):
        if number is not None and isfinite(number) and not number.is_integer():
            raise InputError(
                "labels must be classes",
                f"the fraction {values[row]}",
                f"make classes of the numbers, or write text such as 'v{values[row]}'",
                place=Place(row=row, column=name),
            )


def _refuse_table_options(**options: Any) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InputError(
            (Setting(given[0]), " goes with tables of features"),
            "a matrix",
            "leave it out, or give the features as CSV or Parquet",
            argument=given[0],
        )


def _read_columns(
    file: TableFile, id_column: str | bool | None, encoding: Encoding | None
) -> tuple[Any, str | bool | None]:
    """Arrow table whose ids, and columns that were strings at learning, have the spelling of the file."""
    features = frozenset(() if encoding is None else encoding.column_names)
    name = id_column if isinstance(id_column, str) else None
    if id_column is None:
        name = named_id([column for column in file.names if column not in features])
    texts = [name] if name in file.names else []
    table = file.read(text_columns=texts)
    first = file.names[0]
    if id_column is None and name is None and first not in features and _may_be_id(table.column(0)):
        texts = [first]
        table = table.set_column(0, first, file.read([first], text_columns=texts).column(0))
    for column in texts:
        position = table.column_names.index(column)
        table = table.set_column(position, column, usual_ids(table.column(position)))
    return _restore_strings(file, table, encoding), name if name is not None else id_column


def _may_be_id(column: Any) -> bool:
    """Tell a first column that may hold ids; fractions and yes/no cannot."""
    from pyarrow import types

    return not (
        types.is_floating(column.type) or types.is_boolean(column.type) or types.is_nested(column.type)
    )


def _restore_strings(file: TableFile, table: Any, encoding: Encoding | None) -> Any:
    """Read columns of strings as strings again where the few rows at hand look like numbers or dates."""
    from pyarrow import types

    position_of = {name: position for position, name in enumerate(table.column_names)}
    for column in () if encoding is None else encoding.columns:
        if column.kind == "category" and column.name in position_of:
            position = position_of[column.name]
            held = table.column(position).type
            if not (types.is_string(held) or types.is_null(held) or types.is_large_string(held)):
                text = file.read([column.name], text_columns=[column.name]).column(0)
                table = table.set_column(position, column.name, mark_missing(text, only_empty=False))
    return table


def _read_npz(path: Path) -> Features:
    with open_archive(path) as archive:
        keys = archive.names
        is_scipy, is_csr = {"format", "shape"} <= set(keys), set(CSR_KEYS) <= set(keys)
        dense = next((key for key in ("X", "features") if key in keys), None)
        if not is_scipy and not is_csr and dense is None:
            raise DataFileError(
                f"{path} must hold a matrix of scipy.sparse.save_npz, or X, features, or {', '.join(CSR_KEYS)}",
                ", ".join(keys) or "nothing",
                "save it under one of these names",
            )
        parts = () if is_scipy else CSR_KEYS if is_csr else (str(dense),)
        arrays = archive.arrays({*parts, "ids", "names"})
        X = archive.matrix() if is_scipy else None if is_csr else arrays[str(dense)]
    if is_csr and not is_scipy:
        X = csr_of_parts(path, *(arrays[part] for part in CSR_KEYS))
    check_width(path, X)
    names = arrays["names"].ravel().tolist() if "names" in arrays else None
    return Features.from_matrix(X, arrays.get("ids"), names)


def check_width(path: Path, X: Any) -> None:
    """Refuse a sparse matrix with so many more columns than entries that its weights alone would fill the memory."""
    if issparse(X) and X.shape[1] > max(FEW_COLUMNS, COLUMNS_PER_ENTRY * X.nnz):
        raise DataFileError(
            f"{path} must have entries in more of its columns",
            f"{X.nnz:,} in {X.shape[1]:,} columns",
            "check the largest column index, or leave out columns without entries",
        )


def _read_svmlight(path: Path) -> Features:
    from sklearn.datasets import load_svmlight_file

    text = io.BytesIO(content(path))  # unpacked within its budget
    with reading(path, "svmlight text (target column:value ...)", "save it again"):
        X, _ = load_svmlight_file(text)
    check_width(path, X)
    return Features.from_matrix(X)
