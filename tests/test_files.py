from __future__ import annotations

import stat
from pathlib import Path

import pytest

from sgclearn.errors import InputError
from sgclearn.files import replacing


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
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.txt"]


def test_replacing_puts_the_new_file_in_place_readable_like_any_other(tmp_path: Path) -> None:
    path, other = tmp_path / "new.txt", tmp_path / "other.txt"
    other.write_text("")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_replacing_refuses_folders_and_missing_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got a folder"), replacing(tmp_path):
        pass
    with pytest.raises(InputError, match="got no folder"), replacing(tmp_path / "none" / "file"):
        pass
