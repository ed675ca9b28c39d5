from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from sgclearn.datasets.folders import cache_folder, search_folders
from sgclearn.datasets.registry import REGISTRY, parse_registry

TEXT = resources.files("sgclearn.datasets").joinpath("registry.toml").read_text(encoding="utf-8")
NEEDED = "title = 'a'\ndescription = ''\nnodes = 1\nedges = 0\nfeatures = 1\nclasses = 1\nlicense = ''\n"
NEEDED += "source = ''\ncitation = ''\n"


def test_registry_has_every_dataset_of_the_paper() -> None:
    assert {"cora", "citeseer", "pubmed", "reddit"} <= set(REGISTRY)
    assert {"coauthor_cs", "coauthor_physics", "amazon_photo", "amazon_computers"} <= set(REGISTRY)
    assert {name for name, info in REGISTRY.items() if info.per_class is None} == {
        *("cora", "citeseer", "pubmed", "reddit")
    }


@pytest.mark.parametrize("name", list(REGISTRY))
def test_entry_is_complete(name: str) -> None:
    info = REGISTRY[name]
    for text in (info.title, info.description, info.license, info.source, info.citation):
        assert text == text.strip() != ""
        assert "  " not in text
    assert not info.class_names or len(info.class_names) == info.classes
    for form in info.forms:
        for file in form.files:
            # Only what nobody here has ever had is without a checksum, and such a thing is never fetched.
            assert (re.fullmatch("[0-9a-f]{64}", file.sha256) and file.bytes > 0) or name == "reddit"
            assert not Path(file.path).is_absolute()
            assert ".." not in file.path
        assert form.address == "" or re.fullmatch("https://.*/", form.address)


def test_registry_names_no_package_index() -> None:
    hosts = set(re.findall(r"//([^/]+)/", TEXT))
    assert hosts == {"github.com"}


def test_what_can_be_fetched() -> None:
    by_hand = {name for name, info in REGISTRY.items() if not info.can_be_fetched}
    assert by_hand == {"debian", "reddit", "wordnet", "cord19_entities", "debian_packages"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("forms = []", "a must have either a public_split or per_class"),
        ("forms = []\npublic_split = true\nper_class = [1, 2]", "either a public_split or per_class"),
        (
            "per_class = [1, 2]\nforms = [{ layout = 'zip', folder = 'f', files = [] }]",
            "layout must be one of embedded, planetoid, .*: got 'zip'",
        ),
        (
            "per_class = [1, 2]\nforms = []\nalternative = { name = 'b', what = 'more' }",
            "alternative of a must be a dataset: got 'b'",
        ),
    ],
)
def test_registry_refuses_a_doubtful_entry(lines: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_registry(f"[datasets.a]\n{NEEDED}{lines}\n")


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "{}/sgclearn"),
        ("darwin", "HOME", "{}/Library/Caches/sgclearn"),
        ("win32", "LOCALAPPDATA", "{}/sgclearn/Cache"),
    ],
)
def test_cache_is_where_the_system_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variable: str, expected: str
) -> None:
    monkeypatch.delenv("SGCLEARN_CACHE")
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == Path(expected.format(tmp_path))


def test_folders_are_searched_in_order(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("SGCLEARN_DATA", "graphs")
    assert search_folders() == [Path("graphs"), cache]
    assert search_folders("mine") == [Path("mine")]
    monkeypatch.delenv("SGCLEARN_DATA")
    assert search_folders() == [cache]
