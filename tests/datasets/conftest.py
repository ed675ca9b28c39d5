"""No test of this folder reaches another machine, or the caches of this one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loopback import Site, World, keep_away, serving


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache") / "sgclearn"
    keep_away(monkeypatch, folder)
    return folder


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as running:
        yield running


@pytest.fixture
def world(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World.make(site, tmp_path / "index", monkeypatch)
