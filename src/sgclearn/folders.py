"""Folders that are replaced as a whole, by one process at a time.

While the folder `run` is written there is a work folder `.run.sgc` beside it, with

- `lock`, locked by the process that writes: the kernel releases it when the process ends, however it ends;
- `new`, the new contents. When they are complete and on the disk, `new` and `run` change places in a single step, so
  that `run` is the old folder or the new one at every moment. From then on `new` holds the old contents, which are
  removed;
- `old`, the old contents, where the system cannot exchange two folders: then `run` is missing between two renames.

Files of others in `run` get a second name in `new` before the exchange, so that they never leave `run`. What a process
that was killed left in the work folder is put in order by the next `Claim` on the folder, or by `recover`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

from sgclearn.errors import InputError
from sgclearn.files import (
    as_input_error,
    holding,
    is_temporary,
    remove_empty,
    remove_file,
    sync_file,
    sync_folder,
)

LOCK, NEW, OLD = "lock", "new", "old"
_PATIENCE, _PAUSE = 0.5, 0.02  # seconds
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}  # of a rename with a flag


class FolderTakenError(InputError):
    """A folder that another process is writing, or that has something in it."""


def work_folder(folder: Path) -> Path:
    """Where a folder is prepared: beside it, so that both are on one file system."""
    return folder.with_name(f".{folder.name}.sgc")


def recover(folder: Path, own: Collection[str]) -> None:
    """Put in order what a killed process left, unless another is at work or nothing can be written there."""
    work = work_folder(_resolved(folder))
    # An empty work folder may be that of a process which is about to write, and must not be kept from it.
    if _is_folder(work) and (_is_folder(work / NEW) or _is_folder(work / OLD)):
        with suppress(OSError, FolderTakenError):
            Claim(folder, own, patience=0).release()


class Claim:
    """The right to write a folder, which one process has at a time; released at the end of a `with` block.

    Parameters
    ----------
    folder : Path
        Need not be there; folders above it are made, and removed again if they stay empty.
    own : collection of str
        Names of the files in it that are replaced together; everything else in the folder is kept.
    patience : float
        Seconds to wait for another process: one that only recovers the folder has it for milliseconds.

    Raises
    ------
    FolderTakenError
        Another process has the claim.
    OSError
        Nothing can be written beside the folder.
    """

    def __init__(self, folder: Path, own: Collection[str], *, patience: float = _PATIENCE) -> None:
        self.folder = folder
        self._target = _resolved(folder)
        self._work = work_folder(self._target)
        self._own = frozenset(own)
        if self._work.is_symlink():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self._work))
        with ExitStack() as stack:
            self._lock(stack, patience)
            self._recover()
            self._undo = stack.pop_all()

    def _lock(self, stack: ExitStack, patience: float) -> None:
        end = time.monotonic() + patience
        while True:
            try:
                stack.enter_context(holding(self._work / LOCK, wait=False))
                return
            except BlockingIOError as error:
                if time.monotonic() >= end:
                    raise FolderTakenError(
                        f"{self.folder} must be a folder that no other process is writing",
                        "one that another is writing now",
                        "wait until it has ended, or choose another folder",
                    ) from error
                time.sleep(_PAUSE)

    def __enter__(self) -> Claim:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Let others have the folder; what was not finished is removed."""
        with suppress(OSError):
            self._recover()
        self._undo.close()

    @contextmanager
    def writing(self, *, replace: bool) -> Iterator[Path]:
        """Give an empty folder to write to, which takes the place of the claimed one if the block ends well.

        Parameters
        ----------
        replace : bool
            Whether the claimed folder may have something in it by then. If not, one that has is left as it is,
            and there is an error.
        """
        new = self._work / NEW
        with as_input_error(self.folder):
            new.mkdir()
            if self._target.is_dir():
                shutil.copymode(self._target, new)
            try:
                yield new
            except InputError as error:
                if isinstance(error.__cause__, OSError):  # of a file in `new`, a name that nobody else knows
                    raise error.__cause__ from error
                raise
            _sync_tree(new)
            self._put_in_place(new, replace)

    def _recover(self) -> None:
        """Bring back the old folder where there is none, then empty the work folder: all of it can be repeated."""
        old, new = self._work / OLD, self._work / NEW
        if _is_folder(old) and not os.path.lexists(self._target):
            os.rename(old, self._target)
            sync_folder(self._target.parent)
        elif _is_folder(old) and _is_folder(new):  # what has its name now is neither of them
            raise FileExistsError(errno.EEXIST, f"what was in it before is in {old}", str(self._target))
        for left in (old, new):
            if _is_folder(left):
                _settle(left, self._target, self._own)

    def _put_in_place(self, new: Path, replace: bool) -> None:
        if replace and self._target.is_dir():
            _link(self._target, new, self._own)
            if not _rename(new, self._target, _EXCHANGE):
                os.rename(self._target, self._work / OLD)
                os.rename(new, self._target)
        else:
            if sys.platform == "win32":  # elsewhere an empty folder is replaced, and no other
                with suppress(FileNotFoundError):
                    self._target.rmdir()
            os.rename(new, self._target)
        sync_folder(self._target.parent)
        self._recover()


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder itself: a link, which somebody else may have put there, leads anywhere."""
    return path.is_dir() and not path.is_symlink()


def _resolved(folder: Path) -> Path:
    """The folder itself where a symbolic link is named, which stays."""
    return Path(os.path.realpath(folder))


def _is_own(name: str, own: Collection[str]) -> bool:
    return name in own or any(is_temporary(name, of) for of in own)


def _link(source: Path, target: Path, own: Collection[str] = ()) -> None:
    """Give all files below a folder, but its own, a second name below another; what cannot have one is left out."""
    for entry in _entries(source):
        there = target / entry.name
        if _is_own(entry.name, own):
            continue
        with suppress(OSError, NotImplementedError):
            if entry.is_dir(follow_symlinks=False):
                there.mkdir()
                _link(Path(entry.path), there)
                shutil.copystat(entry.path, there)
            else:
                os.link(entry.path, there, follow_symlinks=False)
    sync_folder(target)


def _settle(source: Path, target: Path, own: Collection[str] = ()) -> None:
    """Remove a folder and its own files; what else is in it and not in `target` is moved there."""
    has_moved = False
    for entry in _entries(source):
        there = target / entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and there.is_dir() and not there.is_symlink():
            _settle(Path(entry.path), there)
        elif not is_folder and (_is_own(entry.name, own) or _is_same(entry, there)):
            remove_file(Path(entry.path))
        else:
            target.mkdir(exist_ok=True)
            _move(Path(entry.path), there)
            has_moved = True
    if has_moved:
        sync_folder(target)
    remove_empty(source)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def _is_same(entry: os.DirEntry[str], there: Path) -> bool:
    return os.path.lexists(there) and os.path.samestat(entry.stat(follow_symlinks=False), there.lstat())


def _move(source: Path, target: Path) -> None:
    """Rename to `target`, or to a name like it that is free: nothing is ever overwritten."""
    free, count = target, 1
    while True:
        try:
            if not os.path.lexists(free):
                if not _rename(source, free, _KEEP):
                    os.rename(source, free)
                return
        except FileExistsError:
            pass
        count += 1
        free = target.with_name(f"{target.name}.{count}")


def _sync_tree(folder: Path) -> None:
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            _sync_tree(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            sync_file(Path(entry.path))
    sync_folder(folder)


# Flags of a rename: refuse to overwrite, and exchange two names.
_KEEP, _EXCHANGE = (4, 2) if sys.platform == "darwin" else (1, 2)
_HERE = -100  # AT_FDCWD of Linux


def _rename(source: Path, target: Path, flag: int) -> bool:
    """Rename with a flag; False where the system or the file system does not know it."""
    name = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform)
    call = name and getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if not call:
        return False
    names = os.fsencode(source), os.fsencode(target)
    if name == "renameat2":
        failed = call(_HERE, names[0], _HERE, names[1], ctypes.c_uint(flag))
    else:
        failed = call(*names, ctypes.c_uint(flag))
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _UNKNOWN:
        return False
    raise OSError(code, os.strerror(code), str(source), None, str(target))
