"""Downloads from a server on this machine, with everything that can go wrong."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import numpy as np
import pytest

from loopback import Site, sha256
from sgclearn.datasets.download import SourceError, download
from sgclearn.errors import InputError

CONTENT = np.random.default_rng(611).bytes(300_000)


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "graph.npz.part"


def get(site: Site, part: Path, **more: object) -> None:
    site.files.setdefault("graph.npz", CONTENT)
    expected = {"size": len(CONTENT), "sha256": sha256(CONTENT), **more}
    download(site.address + "graph.npz", part, **expected)  # type: ignore[arg-type]


def test_download_gives_the_file_and_tells_its_progress(site: Site, part: Path) -> None:
    told: list[tuple[str, int, int]] = []
    get(site, part, progress=lambda *given: told.append(given))
    assert part.read_bytes() == CONTENT
    assert {(what, total) for what, _, total in told} == {("graph.npz", len(CONTENT))}
    done = [step for _, step, _ in told]
    assert done == sorted(done)
    assert len(done) > 2
    assert done[-1] == len(CONTENT)


def test_broken_download_goes_on_where_it_ended(site: Site, part: Path) -> None:
    site.break_after = [100_000, 50_000]
    get(site, part)
    assert part.read_bytes() == CONTENT
    assert [asked for _, asked in site.requests] == [None, "bytes=100000-", "bytes=150000-"]


def test_download_that_keeps_breaking_is_kept_for_the_next_time(site: Site, part: Path) -> None:
    site.break_after = [70_000, 1, 2]
    with pytest.raises(SourceError, match="broke off after 70,003 of 300,000 bytes, which are kept"):
        get(site, part)
    assert part.read_bytes() == CONTENT[:70_003]
    get(site, part)
    assert part.read_bytes() == CONTENT
    assert site.requests[-1] == ("graph.npz", "bytes=70003-")


def test_download_starts_anew_where_the_server_cannot_resume(site: Site, part: Path) -> None:
    site.break_after, site.ignores_range = [100_000], True
    get(site, part)
    assert part.read_bytes() == CONTENT


@pytest.mark.parametrize("length", [1000, len(CONTENT), len(CONTENT) + 5])
def test_remains_of_another_file_are_thrown_away(site: Site, part: Path, length: int) -> None:
    part.write_bytes(b"x" * length)
    get(site, part)
    assert part.read_bytes() == CONTENT


@pytest.mark.parametrize("hides_length", [False, True])
def test_truncated_file_is_refused(site: Site, part: Path, hides_length: bool) -> None:
    site.files["graph.npz"], site.hides_length = CONTENT[:-1000], hides_length
    expected = "after|416" if hides_length else "a file of 299,000 bytes instead of 300,000"
    with pytest.raises(SourceError, match=expected):
        get(site, part)


def test_endless_file_is_refused(site: Site, part: Path) -> None:
    site.files["graph.npz"], site.hides_length = CONTENT * 3, True
    with pytest.raises(SourceError, match="a file of more than 300,000 bytes"):
        get(site, part)
    assert part.stat().st_size <= len(CONTENT)


def test_file_with_another_sha256_is_removed(site: Site, part: Path) -> None:
    site.files["graph.npz"] = CONTENT[::-1]
    with pytest.raises(SourceError, match=rf"sha256 {sha256(CONTENT[::-1])[:12]}\.\.\. instead of"):
        get(site, part)
    assert not part.exists()


def test_file_that_is_not_there_is_asked_for_once(site: Site, part: Path) -> None:
    with pytest.raises(SourceError, match="HTTP 404 Not Found"):
        download(site.address + "none.npz", part, size=3, sha256="0" * 64)
    assert len(site.requests) == 1


def test_server_that_is_busy_is_asked_again(site: Site, part: Path) -> None:
    site.statuses = [503, 200]
    get(site, part)
    assert part.read_bytes() == CONTENT
    site.statuses = [503, 503, 503]
    part.unlink()
    with pytest.raises(SourceError, match=r"HTTP 503 Service Unavailable after 0 of 300,000 bytes$"):
        get(site, part)


def test_server_that_hangs_up_or_falls_silent_is_asked_again(
    site: Site, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sgclearn.datasets.download.TIMEOUT", 1.5)
    site.stall = threading.Event()
    site.statuses, site.break_after = [0, 200, 200], [100_000]
    try:
        get(site, part)
    finally:
        site.stall.set()
    assert part.read_bytes() == CONTENT
    assert [asked for _, asked in site.requests] == [None, None, "bytes=100000-"]


def test_no_connection_is_said_at_once(part: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(SourceError, match=r"no connection \(Connection refused\)"):
        download(f"http://127.0.0.1:{port}/graph.npz", part, size=3, sha256="0" * 64)
    with pytest.raises(SourceError, match=r"no connection \(no network in tests\)"):
        download("https://example.org/graph.npz", part, size=3, sha256="0" * 64)


def test_only_the_web_is_an_address(part: Path) -> None:
    with pytest.raises(InputError, match="must begin with http:// or https://: got 'file:"):
        download("file:///etc/hostname", part, size=3, sha256="0" * 64)
