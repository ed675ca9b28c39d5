"""Files that are written whole or not at all, whoever else writes them."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from sgclearn import files
from sgclearn.errors import InputError, InputTypeError
from sgclearn.files import holding, locked, make_folders, put_in_place, replacing

STALE = ".kept.txt.0123456789abcdef.tmp"
needs_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="needs POSIX: locks, modes and pipes are its own"
)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_replacing_leaves_the_old_file_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def fail_half_way() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["kept.txt"]


def test_replacing_puts_the_new_file_in_place_readable_like_any_other(tmp_path: Path) -> None:
    path, other = tmp_path / "new.txt", tmp_path / "other.txt"
    other.write_text("")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


@needs_posix
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_replacing_keeps_the_permissions_of_the_old_file(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")
    path.chmod(mode)
    write(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


def test_replacing_refuses_folders_and_missing_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got a folder"), replacing(tmp_path):
        pass
    with pytest.raises(InputError, match="got no folder"), replacing(tmp_path / "none" / "file"):
        pass


def test_replacing_refuses_what_is_no_name(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="must be a string or a path: got 5"), replacing(5):  # type: ignore[arg-type]
        pass
    for name, why in (("a\0b", "got a NUL in it"), ("a" * 300, "got File name too long")):
        with pytest.raises(InputError, match=why), replacing(tmp_path / name):
            pass


@needs_posix
def test_replacing_refuses_pipes_and_devices(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="got a device or a pipe"), replacing(tmp_path / "pipe"):
        pass
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_replacing_gives_every_writer_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    with replacing(path) as first:
        first.write_text("first")
        write(path, "second")
        assert (path.read_text(), first.read_text()) == ("second", "first")
    assert path.read_text() == "first"
    assert names(tmp_path) == ["kept.txt"]


@needs_posix
def test_replacing_removes_what_a_killed_writer_left_and_nothing_else(tmp_path: Path) -> None:
    others = [".kept.txt.bak.tmp", ".other.txt.0123456789abcdef.tmp", "kept.txt.0123456789abcdef.tmp"]
    for name in (STALE, *others):
        (tmp_path / name).write_text("half")
    write(tmp_path / "kept.txt", "new")
    assert names(tmp_path) == sorted([*others, "kept.txt"])
    (tmp_path / STALE).write_text("half")
    with locked(tmp_path / STALE, os.O_RDWR):  # its writer lives
        write(tmp_path / "kept.txt", "new")
    assert (tmp_path / STALE).read_text() == "half"


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_replacing_says_in_a_sentence_what_the_disk_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(InputError, match=r"kept.txt must be writable: got No space left on device; choose"):
        write(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["kept.txt"]


@needs_posix
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_file_system_without_locks_is_written_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    import fcntl

    def none(*given: object) -> None:
        raise OSError(code, os.strerror(code))

    (tmp_path / STALE).write_text("of a writer that may live")
    monkeypatch.setattr(fcntl, "flock", none)
    write(tmp_path / "kept.txt", "new")
    assert names(tmp_path) == [STALE, "kept.txt"]
    with pytest.raises(OSError, match=os.strerror(code)), locked(tmp_path / STALE, os.O_RDWR, wait=False):
        pass


@needs_posix
@pytest.mark.parametrize("code", [errno.EINVAL, errno.EIO])
def test_folder_that_cannot_be_synced_is_an_error_only_where_the_disk_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (tmp_path / "finished").write_text("new")
    real = os.fsync

    def fail_for_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fail_for_folders)
    if code == errno.EINVAL:
        put_in_place(tmp_path / "finished", tmp_path / "kept.txt")
    else:
        with pytest.raises(OSError, match=os.strerror(code)):
            put_in_place(tmp_path / "finished", tmp_path / "kept.txt")
    assert (tmp_path / "kept.txt").read_text() == "new"


@needs_posix
def test_locked_notices_a_file_that_was_replaced_before_it_was_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real, seen = tmp_path / "lock", files._lock, []

    def lock(descriptor: int, wait: bool) -> None:
        seen.append(descriptor)
        if len(seen) < 3:
            path.unlink()
        real(descriptor, wait)

    monkeypatch.setattr(files, "_lock", lock)
    with locked(path, os.O_RDWR | os.O_CREAT) as descriptor:
        assert os.path.samestat(os.fstat(descriptor), path.stat())
    assert len(seen) == 3


@needs_posix
def test_holding_excludes_others_and_leaves_nothing(tmp_path: Path) -> None:
    lock = tmp_path / "new" / "folder" / "lock"
    with holding(lock):
        with pytest.raises(BlockingIOError), holding(lock, wait=False):
            pass
        assert lock.exists()
    assert names(tmp_path) == []
    with holding(lock):
        (lock.parent / "kept").touch()
    assert names(lock.parent) == ["kept"]


def test_folders_that_cannot_all_be_made_are_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [path.name for path in make_folders(tmp_path / "a" / "b")] == ["a", "b"]
    assert make_folders(tmp_path / "a" / "b") == []
    real = os.mkdir

    def refuse_last(path: Path, *given: object) -> None:
        if Path(path).name == "z":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        real(path)

    monkeypatch.setattr(os, "mkdir", refuse_last)
    with pytest.raises(OSError, match="Permission denied"):
        make_folders(tmp_path / "x" / "y" / "z")
    assert names(tmp_path) == ["a"]
