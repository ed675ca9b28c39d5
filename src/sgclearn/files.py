"""Files that are there whole or not at all, whoever else writes them and whenever a process is killed.

`replacing` writes to a temporary name beside the file, has the disk take it, and renames it: a reader sees the old
contents or the new ones. The temporary name is drawn, so that no two writers share one, and locked while its writer
lives. The kernel releases a lock when a process ends, however it ends: a temporary file that can be locked belongs to
a process that was killed, and the next writer of the same path removes it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from sgclearn.errors import InputError, InputTypeError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp", re.DOTALL)
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}  # of a file system without them
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}  # of one that cannot sync a folder
_ATTEMPTS = 100  # at a file that others remove, or a file system that never tells the same twice
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # a lock file is a file, never a link to one
_FAR = 1 << 30  # where Windows locks a byte: its locks forbid reading as well


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file in the same folder, and rename it to `path` once the block has ended well.

    Parameters
    ----------
    path : path
        What the file will be called; one that is there already is replaced in a single step, and its permissions
        are kept.

    Yields
    ------
    Path
        Where to write: an empty file. If the block fails, it is removed and `path` is as it was.
    """
    try:
        path = Path(path)
    except TypeError as error:
        raise InputTypeError("a path must be a string or a path", repr(path), "name a file") from error
    with as_input_error(path):
        _check_name(path)
        remove_stale(path)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        # Windows cannot rename an open file: there is no lock there, and nothing that is taken for stale.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        with nullcontext() if sys.platform == "win32" else locked(temporary, flags):
            try:
                yield temporary
                put_in_place(temporary, path)
            except BaseException:
                remove_file(temporary)
                raise


def _check_name(path: Path) -> None:
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} must be the name of a file", "a NUL in it", "leave it out")
    if path.is_dir():
        raise InputError(f"{path} must be the name of a file", "a folder", "add a file name")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} must be the name of a file", "a device or a pipe", "choose another name")
    if not path.parent.is_dir():
        raise InputError(
            f"{path} must be in a folder that exists", f"no folder {path.parent}", "make it first"
        )


@contextmanager
def as_input_error(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say in a sentence why a path cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} must be writable", f"{error.strerror or error}", "choose another place"
        ) from error
    except UnicodeEncodeError as error:
        raise InputError(
            f"{str(path)!r} must be a name that the file system can hold",
            f"{error.reason}",
            "choose another name",
        ) from error


def put_in_place(finished: Path, path: Path) -> None:
    """Rename a file that nobody writes any more: on the disk before it has its name, and then for good."""
    with _opened(finished) as descriptor:
        with suppress(FileNotFoundError):
            mode = stat.S_IMODE(path.stat().st_mode) & 0o777
            if mode != stat.S_IMODE(finished.stat().st_mode):
                finished.chmod(mode)  # once it is open, as the mode may forbid it
        os.fsync(descriptor)
    os.replace(finished, path)
    sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Return once the disk has the contents of a file."""
    with _opened(path) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    # Windows syncs what is open for writing only.
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Return once the disk has the names in a folder, where the system can say so."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens no folder, and others none that may be written but not read
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(descriptor)


def make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it, for good; gives those that were missing, the uppermost first."""
    folder = folder.absolute()
    missing = [path for path in (folder, *folder.parents) if not path.exists()][::-1]
    with ExitStack() as stack:
        for path in missing:
            path.mkdir(exist_ok=True)
            stack.callback(remove_empty, path)
            sync_folder(path.parent)
        stack.pop_all()
    return missing


def remove_empty(folder: Path) -> None:
    """Remove a folder that has nothing in it and may be removed; leave any other."""
    with suppress(OSError):
        folder.rmdir()


def remove_file(path: Path) -> None:
    """Remove a file that may be removed."""
    with suppress(OSError):
        path.unlink()


def remove_stale(path: Path) -> None:
    """Remove temporary files for `path` whose writers were killed; those of living ones are left alone."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            is_ours = sys.platform != "win32" and is_temporary(entry.name, path.name)
            if is_ours and entry.is_file(follow_symlinks=False):
                with suppress(OSError), locked(Path(entry.path), os.O_RDWR, wait=False):
                    os.unlink(entry.path)


def is_temporary(name: str, of: str) -> bool:
    """Whether a name is that of a temporary file for the file called `of`.

    Examples
    --------
    >>> is_temporary(".model.npz.0123456789abcdef.tmp", "model.npz")
    True
    >>> is_temporary(".model.npz.bak.tmp", "model.npz")
    False
    """
    match = _TEMPORARY.fullmatch(name)
    return match is not None and match["name"] == of


@contextmanager
def locked(path: Path, flags: int, *, wait: bool = True) -> Iterator[int]:
    """Open a file, and keep other processes and threads from locking it while the block runs.

    Parameters
    ----------
    path : Path
    flags : int
        Of `os.open`.
    wait : bool
        Whether to wait for whoever has the lock, and to go on without one where the file system has no locks.

    Yields
    ------
    int
        The descriptor.

    Raises
    ------
    BlockingIOError
        Another has the lock, and `wait` is False.
    """
    descriptor = _open_locked(path, flags, wait)
    try:
        yield descriptor
    finally:
        if sys.platform != "win32":
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child process may have inherited the descriptor
        os.close(descriptor)


@contextmanager
def holding(lock: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock file, which is made and removed again; so is its folder, unless something else is in it then."""
    with ExitStack() as stack:
        for attempt in range(_ATTEMPTS):
            try:
                for made in make_folders(lock.parent):
                    stack.callback(remove_empty, made)
                stack.callback(remove_empty, lock.parent)
                stack.enter_context(locked(lock, os.O_RDWR | os.O_CREAT | _NO_LINK, wait=wait))
                break
            except FileNotFoundError:  # the last holder has just removed the folder
                if attempt == _ATTEMPTS - 1:
                    raise
        # Before it is unlocked, so that nobody locks a file that is about to go.
        stack.callback(remove_file, lock)
        yield


def _open_locked(path: Path, flags: int, wait: bool) -> int:
    for _ in range(_ATTEMPTS):
        with ExitStack() as stack:
            descriptor = os.open(path, flags, 0o666)
            stack.callback(os.close, descriptor)
            _lock(descriptor, wait)
            if _is_at(descriptor, path):  # else it was removed or replaced before it was locked
                stack.pop_all()
                return descriptor
    raise OSError(errno.EBUSY, "it is replaced all the time", str(path))


def _lock(descriptor: int, wait: bool) -> None:
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if not wait and error.errno == errno.EACCES:  # as Windows says it
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error
        if not wait or error.errno not in _NO_LOCKS:
            raise


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
