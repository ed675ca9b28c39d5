"""Results as JSON lines, one a run: what is written stays, and an interrupted command goes on from there."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sgclearn.errors import DataFileError

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

    A line is written in one step and flushed to the disk. One that a crash has cut off is removed when the file is
    opened again: it never counted.

    Parameters
    ----------
    path : path
        Made with the first line, or its folder before that by `make_folder`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._mend()
        self._lines = list(self._read())

    def _mend(self) -> None:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)

    def _read(self) -> Iterator[Line]:
        if not self.path.exists():
            return
        for number, text in enumerate(self.path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                line = json.loads(text)
            except json.JSONDecodeError:
                line = None
            if not isinstance(line, dict) or "kind" not in line:
                raise DataFileError(
                    f"{self.path} must hold a result in every line: got {text[:40]!r} in line {number}; "
                    "mend the line, or choose another folder."
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
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def append(self, line: Line) -> None:
        """Add a line; it is on the disk when this returns."""
        self.make_folder()
        text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, text.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._lines.append(line)
