"""Where files of datasets lie, and whether they are what they should be.

A data folder and the cache are laid out alike: the files of a form lie in a sub-folder, such as
`planetoid-raw/ind.cora.allx`. Nothing is read before its sha256 has been compared with the registry's.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sgclearn.datasets.registry import DataFile, DatasetInfo, Form
from sgclearn.errors import DataFileError
from sgclearn.validation.reading import as_path

DATA_VARIABLE = "SGCLEARN_DATA"
CACHE_VARIABLE = "SGCLEARN_CACHE"

Folder = str | os.PathLike[str]


class Found(NamedTuple):
    """Files of a form, in its order, and the folder they are in."""

    form: Form
    paths: list[Path]
    folder: Path


def cache_folder() -> Path:
    """Folder that files are fetched to: the one named by SGCLEARN_CACHE, else where the system keeps caches."""
    named = os.environ.get(CACHE_VARIABLE, "")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "sgclearn" / "Cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sgclearn"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sgclearn"


def search_folders(data_dir: Folder | None = None) -> list[Path]:
    """Folders to look in: `data_dir` alone if given, else that of SGCLEARN_DATA and then the cache."""
    if data_dir is not None:
        return [as_path(data_dir).expanduser()]
    named = os.environ.get(DATA_VARIABLE, "")
    return [*([Path(named).expanduser()] if named else []), cache_folder()]


def find_files(info: DatasetInfo, folders: Sequence[Path]) -> Found | None:
    """Look for a form all of whose files are in one folder; contents are not looked at."""
    for folder in folders:
        for form in info.forms:
            paths = [path for file in form.files if (path := _locate(folder, file)) is not None]
            if len(paths) == len(form.files):
                return Found(form, paths, folder)
    return None


def missing_file(info: DatasetInfo, folder: Path) -> str:
    """Path of the first file of the first form that a folder lacks."""
    return next((file.path for file in info.forms[0].files if _locate(folder, file) is None), "")


def check_files(found: Found) -> None:
    """Compare the sha256 of every file with the registry's; an error if one differs."""
    for file, path in zip(found.form.files, found.paths, strict=True):
        if file.sha256 and (got := sha256_of(path)) != file.sha256:
            raise DataFileError(
                f"{path} must have sha256 {_short(file.sha256)}",
                f"{_short(got)}, of a damaged or another file",
                "remove it and get it again",
            )


def sha256_of(path: Path) -> str:
    """Checksum of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _short(digest: str) -> str:
    return f"{digest[:12]}..."


def _locate(folder: Path, file: DataFile) -> Path | None:
    """Path in the sub-folder, or in the folder itself for people who have but one dataset."""
    return next((path for path in (folder / file.path, folder / file.name) if path.is_file()), None)
