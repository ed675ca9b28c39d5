"""Users (pages, airports, ...) with the places that are known, read from tables and from tweets."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sgclearn.errors import DataFileError, InputError, SgclearnWarning
from sgclearn.graph.ids import NodeIds
from sgclearn.tables.columns import id_array
from sgclearn.tables.contents import content
from sgclearn.tables.messages import counted
from sgclearn.tables.reading import TableFile, open_table
from sgclearn.validation.reading import as_path, check_encoding, reading

ID_NAMES = ("id", "user", "user_id", "node", "name")
LAT_NAMES = ("lat", "latitude")
LON_NAMES = ("lon", "lng", "long", "longitude")
TEXT_NAMES = ("text", "tweets", "description", "content")
SPLIT_NAMES = ("split", "set", "part")
_EVERY_NAME = frozenset((*ID_NAMES, *LAT_NAMES, *LON_NAMES, *TEXT_NAMES, *SPLIT_NAMES))
_WIDTH = 4


@dataclass(frozen=True, eq=False)
class Users:
    """Users in a fixed order.

    Parameters
    ----------
    ids : array (n,)
        Each once.
    points : ndarray (n, 2)
        Latitude in [-90, 90] and longitude in [-180, 180] in degrees; NaN where the place is not known.
    texts : tuple of str, or None
        One text a user, empty for users without.
    columns : pyarrow.Table, or None
        What else is known of each.
    split : tuple of str, or None
        "train", "val", "test" or empty for each user.
    """

    ids: NDArray[Any]
    points: NDArray[np.float64]
    texts: tuple[str, ...] | None = None
    columns: Any = None
    split: tuple[str, ...] | None = None
    name: str = field(default="users", compare=False)

    def __post_init__(self) -> None:
        NodeIds(self.ids)  # each once
        object.__setattr__(self, "points", check_points(self.points, len(self.ids), self._where))

    def _where(self, row: int) -> str:
        return f"user {str(self.ids[row])!r}"

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        known = int(self.is_known.sum())
        text = "no text" if self.texts is None else f"{sum(map(bool, self.texts)):,} with text"
        return f"Users({len(self):,}, {known:,} with a place, {text})"

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether the place of each user is known (n,)."""
        return ~np.isnan(self.points[:, 0])

    def rows(self, rows: NDArray[np.intp]) -> Users:
        """Some of the users."""

        def of(values: tuple[str, ...] | None) -> tuple[str, ...] | None:
            return None if values is None else tuple(values[row] for row in rows)

        columns = None if self.columns is None else self.columns.take(rows)
        return Users(self.ids[rows], self.points[rows], of(self.texts), columns, of(self.split), self.name)

    def joined(self, other: Users) -> Users:
        """These users, then others; a text is empty where only one of the two has texts."""
        texts = None
        if self.texts is not None or other.texts is not None:
            texts = tuple(text for part in (self, other) for text in (part.texts or ("",) * len(part)))
        ids = np.array([*self.ids.tolist(), *other.ids.tolist()], dtype=object)
        return Users(ids, np.concatenate([self.points, other.points]), texts)


def check_points(points: ArrayLike, n: int, where: Any) -> NDArray[np.float64]:
    """Latitudes and longitudes (n, 2), both NaN where one is; an error for what cannot be a place on earth."""
    array = np.array(points, dtype=np.float64)
    if array.shape != (n, 2):
        raise InputError(
            "points must hold latitude and longitude of each user",
            f"shape {array.shape} for {counted(n, 'user')}",
            "use NaN for a place that is not known",
            argument="points",
        )
    half = np.flatnonzero(np.isnan(array).sum(axis=1) == 1)
    if len(half):
        raise InputError(
            "a place must have both latitude and longitude, or neither",
            f"{_pair(array[half[0]])} for {where(half[0])}",
            "fill or empty both",
            argument="points",
        )
    known = array[~np.isnan(array[:, 0])]
    outside = np.flatnonzero((np.abs(array) > (90.0, 180.0)).any(axis=1))
    if len(outside):
        swapped = len(known) and (np.abs(known[:, ::-1]) <= (90.0, 180.0)).all()
        raise InputError(
            "latitude must lie in [-90, 90] and longitude in [-180, 180]",
            f"{_pair(array[outside[0]])} for {where(outside[0])} ({len(outside):,} such)",
            "swap the two: every place is valid the other way round"
            if swapped
            else "mend it, or leave it empty",
            argument="points",
        )
    null = np.flatnonzero((array == 0.0).all(axis=1))
    if len(null):
        warnings.warn(
            f"{counted(len(null), 'user')} at latitude 0, longitude 0, in the ocean (the first: {where(null[0])}): "
            "taken for unknown; such places are what a failed look-up leaves.",
            SgclearnWarning,
            stacklevel=4,
        )
        array[null] = np.nan
    return array


def read_users(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    lat_column: str | None = None,
    lon_column: str | None = None,
    text_column: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    needs_places: bool = True,
) -> Users:
    r"""Read a table with one row a user: id, latitude, longitude, and if they are there text, split and features.

    Columns are found by their names: `id`, `user` or `user_id` (else the first), `lat` or `latitude`, `lon`, `lng`
    or `longitude`, `text`, `split`; all others are features. Empty latitude and longitude mean an unknown place.

    Parameters
    ----------
    path : path
        CSV, TSV (also packed) or Parquet, UTF-8. For tweets without quoting see `read_user_info`.
    id_column, lat_column, lon_column, text_column : str, optional
        Names of columns that are called otherwise.
    delimiter, header
        Found in the file if not given.
    needs_places : bool, default True
        Whether there must be columns of latitude and longitude.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "users.csv"
    >>> _ = path.write_text("id,lat,lon,text\nada,47.4,8.5,rainy\nbob,,,at @ada\n")
    >>> read_users(path)
    Users(2, 1 with a place, 2 with text)
    """
    path = as_path(path)
    named = {name.lower() for name in (id_column, lat_column, lon_column, text_column) if name}
    with reading(path, "a table of users"):
        file = open_table(path, delimiter=delimiter, header=header, header_words=_EVERY_NAME | named)
        names = list(file.names)
        identity = _column(file, id_column, ID_NAMES) or names[0]
        lat, lon = (
            _column(file, given, known) for given, known in ((lat_column, LAT_NAMES), (lon_column, LON_NAMES))
        )
        if (lat is None or lon is None) and (needs_places or lat != lon):
            raise DataFileError(
                f"{path} must have columns of latitude and longitude",
                ", ".join(names),
                "name them with lat_column= and lon_column=",
                argument="lat_column" if lat is None else "lon_column",
            )
        text, split = _column(file, text_column, TEXT_NAMES), _column(file, None, SPLIT_NAMES)
        texts = [name for name in (identity, text, split) if name is not None]
        table = file.read(text_columns=texts)
        ids = id_array(table.column(identity))
        _check_ids(file, ids)
        points = np.full((len(ids), 2), np.nan)
        for axis, name in enumerate((lat, lon)):
            if name is not None:
                points[:, axis] = _degrees(file, table.column(name), name)
        points = check_points(points, len(ids), lambda row: f"{str(ids[row])!r} in {file.line(int(row))}")
        rest = [name for name in names if name not in {identity, lat, lon, text, split}]
        return Users(
            ids,
            points,
            None if text is None else _texts(table.column(text)),
            table.select(rest) if rest else None,
            None if split is None else _texts(table.column(split)),
            path.stem,
        )


def read_user_info(path: str | os.PathLike[str], *, encoding: str = "latin-1") -> Users:
    r"""Read `user_info` files: user, latitude, longitude and tweets joined by " ||| ", divided by tabs.

    There is no header, no quoting (a quote is a character like any other), and a tab in a tweet belongs to it. The
    text may be missing. Of a user listed twice the last line counts, as in the public code. The form of the files of
    GEOTEXT, TWITTER-US and TWITTER-WORLD. Every user gets an id in lower case.

    Parameters
    ----------
    path : path
        Also packed (`.gz`, `.bz2`, `.xz`).
    encoding : str, default "latin-1"
    """
    path, encoding = as_path(path), check_encoding(encoding)
    rows: dict[str, tuple[float, float, str]] = {}
    with reading(path, "a file of users and tweets"):
        for number, line in enumerate(bytes(content(path)).split(b"\n"), start=1):
            cells = line.rstrip(b"\r").decode(encoding).split("\t", _WIDTH - 1)
            if cells == [""]:
                continue
            if len(cells) < _WIDTH - 1:
                raise _bad_user(path, number, f"{counted(len(cells), 'cell')}")
            try:
                lat, lon = float(cells[1]), float(cells[2])
            except ValueError:
                raise _bad_user(path, number, f"{cells[1]!r} and {cells[2]!r}") from None
            user = cells[0].strip().lower()
            rows.pop(user, None)
            rows[user] = (lat, lon, cells[3] if len(cells) == _WIDTH else "")
        if not rows:
            raise DataFileError(f"{path} must hold users", "an empty file", "check the path")
    ids = np.array(list(rows), dtype=object)
    points = np.array([row[:2] for row in rows.values()])
    texts = tuple(row[2] for row in rows.values())
    return Users(ids, points, texts if any(texts) else None, name=path.name.split(".")[0])


def read_user_folder(folder: str | os.PathLike[str]) -> Users:
    """Read `user_info.train`, `user_info.dev` and `user_info.test` of a folder, each with any ending such as `.gz`.

    Of a user in two of them the first counts.
    """
    folder = as_path(folder)
    parts: list[tuple[str, Users]] = []
    for name in ("train", "dev", "test"):
        files = sorted(folder.glob(f"user_info.{name}*"))
        if len(files) != 1:
            raise DataFileError(
                f"{folder} must have one file user_info.{name}",
                ", ".join(file.name for file in files) or "none",
                "give the folder of user_info.train.gz, user_info.dev.gz and user_info.test.gz",
                argument="users",
            )
        parts.append((name, read_user_info(files[0])))
    users, split = parts[0][1], [parts[0][0]] * len(parts[0][1])
    for name, part in parts[1:]:
        seen = set(users.ids.tolist())
        new = np.array([user not in seen for user in part.ids.tolist()])
        users = users.joined(part.rows(np.flatnonzero(new)))
        split += [name] * int(new.sum())
    return replace(users, split=tuple(split), name=folder.name)


def _bad_user(path: Path, number: int, got: str) -> DataFileError:
    return DataFileError(
        f"{path} must have user, latitude, longitude and text in every line, divided by tabs",
        f"{got} in line {number}",
        "mend the line, or read a table with a header with read_users",
    )


def _column(file: TableFile, given: str | None, known: Sequence[str]) -> str | None:
    if given is not None:
        return file.names[file.position(given, "a column of users")]
    folded = {name.strip().lower(): name for name in reversed(file.names)}
    return next((folded[name] for name in known if name in folded), None)


def _check_ids(file: TableFile, ids: NDArray[Any]) -> None:
    first: dict[Any, int] = {}
    for row, user in enumerate(ids.tolist()):
        if user is None:
            raise DataFileError(
                f"{file.path} must have an id for every user", f"none in {file.line(row)}", "fill it in"
            )
        if user in first:
            raise DataFileError(
                f"{file.path} must list every user once",
                f"{user!r} in {file.line(first[user])} and {file.line(row)}",
                "keep one of them",
            )
        first[user] = row


def _degrees(file: TableFile, column: Any, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return np.asarray(pc.cast(column, pa.float64()).to_numpy(), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        cells = column.to_pylist()
        row = next(row for row, cell in enumerate(cells) if not _is_number(cell))
        raise DataFileError(
            f"{file.path} must have degrees in its column {name!r}",
            f"{cells[row]!r} in {file.line(row)}",
            "write them as decimal numbers, such as 47.38",
        ) from None


def _is_number(cell: Any) -> bool:
    try:
        float("nan" if cell is None else cell)
    except (TypeError, ValueError):
        return False
    return True


def _texts(column: Any) -> tuple[str, ...]:
    return tuple("" if cell is None else str(cell) for cell in column.to_pylist())


def _pair(point: NDArray[np.float64]) -> str:
    return f"latitude {point[0]:g}, longitude {point[1]:g}"
