"""Archives that are broken, or that try to write where they should not."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from sgclearn.datasets.unpacking import extract_member
from sgclearn.errors import DataFileError

WANTED = "data/graph.txt"


def write(path: Path, *more: zipfile.ZipInfo | str, content: bytes = b"a b\n" * 500) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(WANTED, content)
        for member in more:
            archive.writestr(member, "../../target")
    return path


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3  # Unix
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_member_is_written_where_the_caller_says(tmp_path: Path) -> None:
    archive = write(tmp_path / "a.zip")
    extract_member(archive, WANTED, tmp_path / "out", size=2000)
    assert (tmp_path / "out").read_bytes() == b"a b\n" * 500
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "out"]


@pytest.mark.parametrize(
    "member",
    ["../evil", "data/../../evil", "/evil", "C:/evil", "C:evil", "..\\evil", "\\\\server\\share\\evil"],
)
def test_archive_with_a_path_that_leads_out_is_refused(tmp_path: Path, member: str) -> None:
    (tmp_path / "in").mkdir()
    archive = write(tmp_path / "in" / "a.zip", member)
    with pytest.raises(DataFileError, match=r"a\.zip must keep its files below one folder: got .*evil"):
        extract_member(archive, WANTED, tmp_path / "in" / "out", size=2000)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.zip"]


@pytest.mark.parametrize("member", ["data/link", WANTED])
def test_archive_with_a_symbolic_link_is_refused(tmp_path: Path, member: str) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link(member), "/etc")
    with pytest.raises(DataFileError, match="must have no symbolic links"):
        extract_member(path, member, tmp_path / "out", size=4)
    assert not (tmp_path / "out").exists()


def test_member_of_another_size_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    archive = write(tmp_path / "a.zip", content=bytes(50_000_000))
    assert archive.stat().st_size < 100_000
    with pytest.raises(DataFileError, match=r"must have 2,000 bytes: got 50,000,000\."):
        extract_member(archive, WANTED, tmp_path / "out", size=2000)
    assert not (tmp_path / "out").exists()


def test_member_that_unpacks_to_more_than_it_says_is_refused(tmp_path: Path) -> None:
    archive = write(tmp_path / "a.zip", content=bytes(50_000))
    told = (50_000).to_bytes(4, "little")
    assert archive.read_bytes().count(told) == 2  # beside the data and in the table of contents
    archive.write_bytes(archive.read_bytes().replace(told, (2000).to_bytes(4, "little")))
    with pytest.raises(DataFileError, match=r"must be a whole zip archive: got a broken one \(Bad CRC"):
        extract_member(archive, WANTED, tmp_path / "out", size=2000)
    assert not (tmp_path / "out").exists()


def test_archive_without_the_member_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"a\.zip must have data/none: got an archive without it"):
        extract_member(write(tmp_path / "a.zip"), "data/none", tmp_path / "out", size=1)


@pytest.mark.parametrize("keep", [0, 30, -30])
def test_truncated_archive_is_refused(tmp_path: Path, keep: int) -> None:
    archive = write(tmp_path / "a.zip")
    archive.write_bytes(archive.read_bytes()[:keep])
    with pytest.raises(DataFileError, match="must be a whole zip archive"):
        extract_member(archive, WANTED, tmp_path / "out", size=2000)


def test_encrypted_member_is_refused(tmp_path: Path) -> None:
    archive = write(tmp_path / "a.zip")
    content = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    archive.write_bytes(bytes(content))
    with pytest.raises(DataFileError, match="is encrypted"):
        extract_member(archive, WANTED, tmp_path / "out", size=2000)
