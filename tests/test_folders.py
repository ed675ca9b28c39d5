"""Folders that are replaced as a whole; what a killed process left is put in order."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from sgclearn import folders
from sgclearn.errors import InputError
from sgclearn.files import replacing
from sgclearn.folders import Claim, FolderTakenError, recover, work_folder

OWN = ("a.txt", "b.txt")
OLD = {"a.txt": "old a", "b.txt": "old b"}
NEW = {"a.txt": "new a"}

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="needs POSIX: folders are exchanged otherwise there"
)


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def held(folder: Path) -> dict[str, str]:
    """All files below a folder, without following links."""
    return {
        str(Path(above, name).relative_to(folder)): Path(above, name).read_text()
        for above, _, names in os.walk(folder)
        for name in names
    }


def replace(folder: Path, files: dict[str, str] = NEW, *, force: bool = True) -> None:
    with Claim(folder, OWN) as claim, claim.writing(replace=force) as staging:
        fill(staging, files)


@pytest.fixture(params=["exchange", "two renames"])
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with old contents, on a system that can exchange two folders, and on one that cannot."""
    if request.param == "two renames":
        monkeypatch.setattr(folders, "_rename", lambda *given: False)
    fill(tmp_path / "run", OLD)
    return tmp_path / "run"


def test_folder_is_replaced_as_a_whole(run: Path) -> None:
    replace(run)
    assert held(run) == NEW
    assert [path.name for path in run.parent.iterdir()] == ["run"]


def test_folder_that_is_not_there_or_empty_appears(tmp_path: Path) -> None:
    replace(tmp_path / "deep" / "run", force=False)
    (tmp_path / "empty").mkdir()
    replace(tmp_path / "empty", force=False)
    assert held(tmp_path) == {"deep/run/a.txt": "new a", "empty/a.txt": "new a"}


def test_block_that_fails_leaves_the_old_folder_and_nothing_else(run: Path) -> None:
    def fail(folder: Path) -> None:
        with Claim(folder, OWN) as claim, claim.writing(replace=True) as staging:
            fill(staging, NEW)
            raise RuntimeError

    for folder in (run, run.parent / "deep" / "er"):
        with pytest.raises(RuntimeError):
            fail(folder)
    assert held(run.parent) == {f"run/{name}": text for name, text in OLD.items()}
    assert [path.name for path in run.parent.iterdir()] == ["run"]


def test_error_while_writing_names_the_folder_that_was_asked_for(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write() -> None:
        with Claim(run, OWN) as claim, claim.writing(replace=True) as staging, replacing(staging / "a.txt"):
            monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(InputError, match=f"^{re.escape(str(run))} must be writable: got No space left"):
        write()
    assert held(run) == OLD


def test_files_of_others_stay(run: Path) -> None:
    others = {"notes.txt": "mine", ".hidden": "mine", "sub/deep/x": "mine", "sub/a.txt": "mine"}
    fill(run, others)
    (run / "link").symlink_to("notes.txt")
    (run / "nowhere").symlink_to("none")
    (run / "sub").chmod(0o750)
    replace(run)
    assert os.readlink(run / "nowhere") == "none"
    (run / "nowhere").unlink()
    assert held(run) == {**NEW, **others, "link": "mine"}
    assert (run / "link").is_symlink()
    assert stat.S_IMODE((run / "sub").stat().st_mode) == 0o750
    assert not work_folder(run).exists()


def test_files_of_others_stay_where_they_cannot_be_linked(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **more: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    fill(run, {"notes.txt": "mine", "sub/x": "mine"})
    replace(run)
    assert held(run) == {**NEW, "notes.txt": "mine", "sub/x": "mine"}


def test_file_that_appears_while_the_folder_is_written_stays(run: Path) -> None:
    with Claim(run, OWN) as claim, claim.writing(replace=True) as staging:
        fill(staging, NEW)
        fill(run, {"late.txt": "mine"})
    assert held(run) == {**NEW, "late.txt": "mine"}


def test_folder_that_gets_files_meanwhile_is_not_replaced_unasked(tmp_path: Path) -> None:
    def write() -> None:
        with Claim(tmp_path / "run", OWN) as claim, claim.writing(replace=False) as staging:
            fill(staging, NEW)
            fill(tmp_path / "run", {"late.txt": "mine"})

    with pytest.raises(InputError, match="must be writable: got Directory not empty"):
        write()
    assert held(tmp_path) == {"run/late.txt": "mine"}


def test_nothing_is_overwritten_when_two_files_have_one_name(run: Path) -> None:
    fill(work_folder(run) / "new", {"notes.txt": "older"})  # of a process that was killed after the exchange
    fill(run, {"notes.txt": "newer", "notes.txt.2": "another"})
    recover(run, OWN)
    assert held(run) == {**OLD, "notes.txt": "newer", "notes.txt.2": "another", "notes.txt.3": "older"}


def test_claim_is_for_one_at_a_time(run: Path) -> None:
    with Claim(run, OWN):
        with pytest.raises(FolderTakenError, match="must be a folder that no other process is writing"):
            Claim(run, OWN, patience=0)
        with pytest.raises(FolderTakenError):
            Claim(run.parent / "x" / ".." / "run", OWN, patience=0)
        Claim(run.parent / "other", OWN, patience=0).release()
    Claim(run, OWN, patience=0).release()
    assert [path.name for path in run.parent.iterdir()] == ["run"]


def test_claim_waits_for_one_who_only_recovers(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Claim(run, OWN)
    monkeypatch.setattr("time.sleep", lambda seconds: other.release())
    Claim(run, OWN, patience=30).release()


def test_symbolic_link_to_a_folder_stays(run: Path) -> None:
    link = run.parent / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(run, target_is_directory=True)
    replace(link)
    assert link.is_symlink()
    assert held(run) == NEW
    assert [path.name for path in link.parent.iterdir()] == ["link"]


def test_mode_of_the_folder_stays(run: Path) -> None:
    run.chmod(0o750)
    replace(run)
    assert stat.S_IMODE(run.stat().st_mode) == 0o750


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # killed while the new folder was written
        ({"run": OLD, "new": {"a.txt": "ne", ".b.txt.0123456789abcdef.tmp": "x"}}, OLD),
        ({"new": NEW}, {}),
        # killed between two renames, and after the second
        ({"old": {**OLD, "notes.txt": "mine"}, "new": NEW}, {**OLD, "notes.txt": "mine"}),
        ({"run": NEW, "old": {**OLD, "notes.txt": "mine"}}, {**NEW, "notes.txt": "mine"}),
        # killed after the exchange
        ({"run": NEW, "new": {"b.txt": "old b", "notes.txt": "mine", "sub/x": "mine"}}, None),
    ],
)
def test_what_a_killed_process_left_is_put_in_order(
    tmp_path: Path, before: dict[str, dict[str, str]], after: dict[str, str] | None
) -> None:
    run = tmp_path / "run"
    for name, files in before.items():
        fill(run if name == "run" else work_folder(run) / name, files)
    (work_folder(run) / "lock").touch()
    recover(run, OWN)
    expected = {**NEW, "notes.txt": "mine", "sub/x": "mine"} if after is None else after
    assert (held(run) if run.exists() else {}) == expected
    assert not work_folder(run).exists()


def test_recovery_waits_for_nobody_and_makes_nothing(run: Path) -> None:
    fill(work_folder(run) / "new", NEW)
    with folders.holding(work_folder(run) / "lock"):
        recover(run, OWN)
        assert held(work_folder(run) / "new") == NEW  # of a process that lives
    recover(run, OWN)
    assert [path.name for path in run.parent.iterdir()] == ["run"]
    before = run.parent.stat().st_mtime_ns
    recover(run, OWN)
    assert run.parent.stat().st_mtime_ns == before


def test_folder_that_took_the_name_of_the_old_one_is_left_alone(tmp_path: Path) -> None:
    run = tmp_path / "run"
    fill(work_folder(run) / "old", OLD)
    fill(work_folder(run) / "new", NEW)
    fill(run, {"a.txt": "of somebody else"})
    recover(run, OWN)
    with pytest.raises(OSError, match=r"what was in it before is in .*old"):
        Claim(run, OWN)
    assert held(run) == {"a.txt": "of somebody else"}
    assert held(work_folder(run) / "old") == OLD


def test_work_folder_that_is_a_link_is_refused(run: Path) -> None:
    elsewhere = run.parent / "elsewhere"
    fill(elsewhere / "new", {"a.txt": "of somebody else"})
    work_folder(run).symlink_to(elsewhere, target_is_directory=True)
    recover(run, OWN)
    with pytest.raises(NotADirectoryError):
        Claim(run, OWN)
    assert held(elsewhere) == {"new/a.txt": "of somebody else"}


def test_error_of_the_system_call_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none.*->.*run"):
        folders._rename(tmp_path / "none", tmp_path / "run", folders._EXCHANGE)
