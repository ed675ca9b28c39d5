"""Results as JSON lines, one a run: what is written stays, and an interrupted command goes on from there."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sgclearn.errors import DataFileError
from sgclearn.files import as_input_error, locked, make_folders, sync_folder

Line = dict[str, Any]


def fingerprint(settings: Mapping[str, Any]) -> str:
    """Short hash of everything that decides a run's result; equal settings in another order have the same.

    Examples
    --------
    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class ResultFile:
    """A file of JSON lines that only grows.

    A line is added whole or not at all, and is on the disk when `append` returns; several processes may add to one
    file. A line that a killed process has cut off is removed when the file is opened or added to: it never counted.

    Parameters
    ----------
    path : path
        Made with the first line, or its folder before that by `make_folder`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lines = list(self._parsed(self._content()))

    def _content(self) -> bytes:
        """All whole lines."""
        if not self.path.exists():
            return b""
        if not self.path.is_file():
            raise DataFileError(
                f"{self.path} must be a file of results", "a folder, device or pipe", "choose another name"
            )
        try:
            with locked(self.path, os.O_RDWR) as descriptor:
                _mend(descriptor)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT):
                raise
        with suppress(FileNotFoundError):  # another process begins anew
            content = self.path.read_bytes()
            return content[: content.rfind(b"\n") + 1]
        return b""

    def _parsed(self, content: bytes) -> Iterator[Line]:
        for number, text in enumerate(content.split(b"\n")[:-1], start=1):
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                line = None
            if not isinstance(line, dict) or "kind" not in line:
                shown = text[:40].decode(errors="replace")
                raise DataFileError(
                    f"{self.path} must hold a result in every line",
                    f"{shown!r} in line {number}",
                    "mend the line, or choose another folder",
                )
            yield line

    def lines(self, kind: str, **wanted: Any) -> list[Line]:
        """Lines of one kind ("run" or "trial") whose fields have the wanted values, in the order of writing."""
        return [
            line
            for line in self._lines
            if line["kind"] == kind and all(line.get(name) == value for name, value in wanted.items())
        ]

    def make_folder(self) -> None:
        """Make the folder of the file: one that cannot be made is better found before a run than after it."""
        with as_input_error(self.path):
            make_folders(self.path.parent)

    def append(self, line: Line) -> None:
        """Add a line; it is on the disk when this returns."""
        self.make_folder()
        data = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
        with as_input_error(self.path), locked(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT) as descriptor:
            end = _mend(descriptor)
            if end == 0:
                sync_folder(self.path.parent)
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
                os.fsync(descriptor)
            except BaseException:
                with suppress(OSError):  # else it is mended later
                    os.ftruncate(descriptor, end)
                raise
        self._lines.append(line)


def _mend(descriptor: int) -> int:
    """Cut off a last line without an end, and give the size of what is whole; nobody else may be writing."""
    with open(descriptor, "rb", closefd=False) as stream:
        size = stream.seek(0, os.SEEK_END)
        if size == 0:
            return 0
        stream.seek(size - 1)
        if stream.read() == b"\n":
            return size
        stream.seek(0)
        whole = stream.read().rfind(b"\n") + 1
    os.ftruncate(descriptor, whole)
    return whole
