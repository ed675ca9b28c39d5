"""The script that makes the embedded graph, on an index of seven packages."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import lzma
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from sgclearn.datasets import npz

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "build_debian_graph.py"
STEM = "mirror_debian_dists_testing"

PACKAGES = """\
Package: python3-fish
Depends: python3 (>= 3.11), fishd | libfish1, python3-pond:any (>= 2)
Suggests: python3-fish, nothing-real
Description: fish for Python
Description-md5: aaa
Section: python

Package: fishd
Recommends: python3-fish
Description: daemon that serves fish
Description-md5: bbb
Section: net

Package: python3-pond
Description: pond for Python
Description-md5: ccc
Section: python

Package: libfish1
Description: fish library
Description-md5: ddd
Section: libs

Package: fishd
Version: 2
Description: a second version that does not count
Section: net

Package: pond-tools
Enhances: python3-pond
Tag: implemented-in::c
Description: pond tools
Section: utils

"""
TRANSLATION = """\
Package: python3-fish
Description-md5: aaa
Description-en: fish for Python
 Fish swim in the pond.
 .
 Fish eat C++ daily.

Package: fishd
Description-md5: stale
Description-en: another fish altogether
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_debian_graph", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_release(lists: Path, stem: str, codename: str, origin: str = "Debian") -> None:
    checksums = "\n".join(
        f" {hashlib.sha256(text.encode()).hexdigest()} {len(text)} {name}"
        for text, name in (
            (PACKAGES, "main/binary-amd64/Packages"),
            (TRANSLATION, "main/i18n/Translation-en"),
        )
    )
    fields = f"Origin: {origin}\nVersion: 99.1\nCodename: {codename}\nDate: Sat, 01 Jan 2000 UTC\nSHA256:\n"
    signed = f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{fields}{checksums}\n"
    (lists / f"{stem}_InRelease").write_text(signed)


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    folder = tmp_path / "lists"
    folder.mkdir()
    write_release(folder, STEM, "sid")
    (folder / f"{STEM}_main_binary-amd64_Packages").write_text(PACKAGES)
    (folder / f"{STEM}_main_i18n_Translation-en").write_text(TRANSLATION)
    return folder


def run(script: ModuleType, lists: Path, output: Path, *more: str) -> dict[str, np.ndarray]:
    script.main(["--lists", str(lists), "--output", str(output), "--min-df", "1", *more])
    with np.load(lzma.open(output), allow_pickle=False) as arrays:
        return dict(arrays)


def test_script_makes_the_graph_the_words_and_the_labels(
    script: ModuleType, lists: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = run(script, lists, tmp_path / "out.npz.xz")
    monkeypatch.setattr(npz, "embedded_arrays", lambda path: arrays)
    read = npz.read_embedded("ignored")
    assert read.graph.ids.tolist() == ["fishd", "pond-tools", "python3-fish", "python3-pond"]
    A = read.graph.to_scipy().toarray()
    assert np.argwhere(np.triu(A)).tolist() == [[0, 2], [1, 3], [2, 3]]
    assert (A.T == A).all()
    assert [read.class_names[k] for k in read.y] == ["net", "utils", "python", "python"]
    words = [
        {read.feature_names[j] for j in read.X[[i]].indices}  # type: ignore[index]
        for i in range(4)
    ]
    assert words == [
        {"daemon", "serves", "fish"},
        {"pond", "tools"},
        {"fish", "python", "swim", "pond", "eat", "c++", "daily"},
        {"pond", "python"},
    ]
    assert set(read.X.data) == {1.0}
    assert read.feature_names is not None
    assert read.feature_names[:3] == ("pond", "fish", "python")  # the commonest first, then by name


def test_script_leaves_out_rare_words(script: ModuleType, lists: Path, tmp_path: Path) -> None:
    arrays = run(script, lists, tmp_path / "out.npz.xz", "--min-df", "2")
    assert arrays["words"].tobytes() == b"pond\nfish\npython"


def test_script_gives_the_same_bytes_for_every_compression(
    script: ModuleType, lists: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(script, lists, tmp_path / "plain")
    for suffix, compress in ((".xz", lzma.compress), (".gz", gzip.compress)):
        other = tmp_path / f"lists{suffix}"
        shutil.copytree(lists, other)
        for name in (f"{STEM}_main_binary-amd64_Packages", f"{STEM}_main_i18n_Translation-en"):
            (other / f"{name}{suffix}").write_bytes(compress((other / name).read_bytes()))
            (other / name).unlink()
        run(script, other, tmp_path / suffix)
        assert (tmp_path / suffix).read_bytes() == (tmp_path / "plain").read_bytes()
    assert not list(tmp_path.glob("*.part"))
    assert "nodes: 4\nedges: 3\nfeatures: 10\n" in capsys.readouterr().out


def test_script_lets_apt_open_lz4(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = tmp_path / "apt-helper"
    helper.write_text('#!/bin/sh\ntest "$1" = cat-file && cat "$2"\n')
    helper.chmod(0o755)
    monkeypatch.setattr(script, "APT_HELPER", str(helper))
    (tmp_path / "Packages.lz4").write_text("opened")
    assert script.read_index(tmp_path / "Packages.lz4") == b"opened"


def test_script_records_where_the_data_came_from(script: ModuleType, lists: Path, tmp_path: Path) -> None:
    arrays = run(script, lists, tmp_path / "out.npz.xz")
    provenance = json.loads(arrays["provenance"].tobytes())
    assert provenance["release"] == "Debian 99.1 (sid), main, amd64"
    assert provenance["date"] == "Sat, 01 Jan 2000 UTC"
    assert provenance["packages_sha256"] == hashlib.sha256(PACKAGES.encode()).hexdigest()
    assert provenance["translation_sha256"] == hashlib.sha256(TRANSLATION.encode()).hexdigest()
    assert (provenance["nodes"], provenance["edges"], provenance["features"]) == (4, 3, 10)


def test_script_takes_the_release_and_not_its_updates(
    script: ModuleType, lists: Path, tmp_path: Path
) -> None:
    for stem, codename, origin in (
        ("mirror_updates", "sid-updates", "Debian"),
        ("vendor_main", "sid", "A vendor"),
    ):
        write_release(lists, stem, codename, origin)
        (lists / f"{stem}_main_binary-amd64_Packages").write_text("Package: wrong\nSection: net\n")
    arrays = run(script, lists, tmp_path / "out.npz.xz")
    assert b"wrong" not in arrays["nodes"].tobytes()


def test_script_asks_for_a_choice_between_two_releases(
    script: ModuleType, lists: Path, tmp_path: Path
) -> None:
    write_release(lists, "mirror_old", "old")
    (lists / "mirror_old_main_binary-amd64_Packages").write_text(PACKAGES)
    (lists / "mirror_old_main_i18n_Translation-en").write_text(TRANSLATION)
    with pytest.raises(SystemExit, match=r"got \['old', 'sid'\].*--codename"):
        run(script, lists, tmp_path / "out.npz.xz")
    arrays = run(script, lists, tmp_path / "out.npz.xz", "--codename", "old")
    assert json.loads(arrays["provenance"].tobytes())["release"].startswith("Debian 99.1 (old)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--codename", "nowhere"), "Debian release nowhere for amd64, got none"),
        (("--architecture", "m68k"), "Debian release for m68k, got none"),
    ],
)
def test_script_says_what_is_missing(
    script: ModuleType, lists: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit, match=message):
        run(script, lists, tmp_path / "out.npz.xz", *arguments)


def test_script_asks_for_the_long_descriptions(script: ModuleType, lists: Path, tmp_path: Path) -> None:
    (lists / f"{STEM}_main_i18n_Translation-en").unlink()
    with pytest.raises(SystemExit, match="no Translation-en of sid: run apt-get"):
        run(script, lists, tmp_path / "out.npz.xz")


def test_script_refuses_an_index_that_the_release_does_not_list(
    script: ModuleType, lists: Path, tmp_path: Path
) -> None:
    (lists / f"{STEM}_main_binary-amd64_Packages").write_text(PACKAGES + "\n")
    with pytest.raises(SystemExit, match="must have the sha256 listed"):
        run(script, lists, tmp_path / "out.npz.xz")
    assert not (tmp_path / "out.npz.xz").exists()


def test_packed_rows_come_back(script: ModuleType) -> None:
    rows = [[], [3, 700, 65535], [0], [], [1, 2]]
    counts, planes = script.packed(rows)
    matrix = npz._unpacked(counts, planes, 65536)
    assert [row.tolist() for row in np.split(matrix.indices, matrix.indptr[1:-1])] == rows
