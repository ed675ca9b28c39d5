from __future__ import annotations

import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgclearn.datasets import list_datasets, load_dataset
from sgclearn.datasets.npz import embedded_arrays, embedded_provenance, read_npz
from sgclearn.datasets.registry import REGISTRY
from sgclearn.errors import DataFileError, InputError

EMBEDDED = REGISTRY["debian"].files[0]
TWELVE = "admin devel golang haskell java javascript net perl python rust science utils"  # alphabetical


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SGCLEARN_DATA", raising=False)


def test_embedded_file_is_small_and_has_no_pickle() -> None:
    content = resources.files("sgclearn.datasets").joinpath(EMBEDDED).read_bytes()
    assert len(content) < 1_500_000
    assert {array.dtype.kind for array in embedded_arrays(EMBEDDED).values()} == {"u"}


def test_embedded_file_says_where_it_came_from() -> None:
    provenance, info = embedded_provenance(EMBEDDED), REGISTRY["debian"]
    assert info.source.startswith(provenance["release"])
    assert len(provenance["packages_sha256"]) == len(provenance["translation_sha256"]) == 64
    counts = (info.nodes, info.edges, info.features, info.classes)
    assert tuple(provenance[key] for key in ("nodes", "edges", "features", "classes")) == counts


@pytest.mark.usefixtures("no_data")
def test_debian_needs_no_environment_and_loads_the_same_twice() -> None:
    data, again = load_dataset("debian"), load_dataset("debian")
    assert data.graph == again.graph
    assert (data.X != again.X).nnz == 0
    assert data.class_names == tuple(TWELVE.split())
    for part in ("y", "train", "val", "test"):
        assert np.array_equal(getattr(data, part), getattr(again, part))


def test_debian_is_what_it_says() -> None:
    data = load_dataset("debian")
    info = REGISTRY["debian"]
    assert (data.graph.n_nodes, data.graph.n_edges) == (info.nodes, info.edges)
    assert data.X.shape == (info.nodes, info.features)
    assert len(set(data.graph.ids)) == data.graph.n_nodes
    assert data.graph.n_self_loops == 0
    assert data.graph.n_isolated == 4573
    i, j = data.graph.positions(["python3-scipy", "python3-numpy"])
    assert data.graph.to_scipy()[i, j] == 1
    assert data.class_names[data.y[i]] == "python"
    assert data.feature_names is not None
    words = {data.feature_names[k] for k in data.X[[i]].indices}
    assert {"scientific", "python"} <= words
    assert set(np.unique(data.X.data)) == {1.0}
    assert data.X.has_sorted_indices
    same = data.y[data.graph.indices] == np.repeat(data.y, np.diff(data.graph.indptr))
    assert same.mean() == pytest.approx(0.807, abs=0.001)


def test_debian_split_is_seeded_and_stratified() -> None:
    data, other = load_dataset("debian"), load_dataset("debian", seed=77)
    assert np.bincount(data.y[data.train]).tolist() == [20] * 12
    assert np.bincount(data.y[data.val]).tolist() == [30] * 12
    assert sum(data.split_sizes) == data.graph.n_nodes
    assert not np.array_equal(data.train, other.train)
    small = load_dataset("debian", n_per_class=3, n_val=0, n_test=7, split="random")
    assert small.split_sizes == (36, 0, 84)
    assert set(small.train) < set(data.train)


@pytest.mark.parametrize("name", list(REGISTRY))
def test_registry_statistics_are_those_of_the_data(data_dir: Path, name: str) -> None:
    info = next(entry for entry in list_datasets(data_dir) if entry.name == name)
    if not info.available:
        pytest.skip(f"{name} is not in the folder of real data")
    folder = {} if info.layout == "embedded" else {"data_dir": data_dir}
    data = load_dataset(name, **folder)
    assert (data.graph.n_nodes, data.graph.n_edges) == (info.nodes, info.edges)
    assert (data.X.shape[1], len(data.class_names)) == (info.features, info.classes)
    assert (data.description, data.license, data.source) == (info.description, info.license, info.source)
    labelled = data.y[data.y >= 0]
    assert len(np.unique(labelled)) == info.classes
    if info.per_class:
        assert np.bincount(data.y[data.train]).tolist() == [info.per_class[0]] * info.classes
        assert np.bincount(data.y[data.val]).tolist() == [info.per_class[1]] * info.classes
        assert len(np.unique(data.y[data.test])) == info.classes


def test_random_split_of_planetoid_redraws_training_alone(data_dir: Path) -> None:
    public = load_dataset("citeseer", data_dir=data_dir)
    drawn, other = (
        load_dataset("citeseer", split="random", seed=s, n_per_class=7, data_dir=data_dir) for s in (5, 6)
    )
    assert np.array_equal(drawn.val, public.val)
    assert np.array_equal(drawn.test, public.test)
    assert np.bincount(drawn.y[drawn.train]).tolist() == [7] * 6
    assert not np.array_equal(drawn.train, other.train)
    default = load_dataset("citeseer", split="random", data_dir=data_dir)
    assert np.bincount(default.y[default.train]).tolist() == [20] * 6


def test_per_class_split_of_planetoid_draws_all_parts(data_dir: Path) -> None:
    public = load_dataset("citeseer", data_dir=data_dir)
    drawn = load_dataset("citeseer", split="per_class", seed=5, data_dir=data_dir)
    assert drawn.split_sizes == (6 * 20, 6 * 30, 3312 - 300)  # all that have a label
    assert not np.array_equal(drawn.val, public.val)
    few = load_dataset("citeseer", split="per_class", seed=5, n_per_class=3, n_test=9, data_dir=data_dir)
    assert few.split_sizes == (18, 180, 54)
    assert set(few.train) < set(drawn.train)


def test_files_are_found_in_the_folder_itself_too(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGCLEARN_DATA", str(data_dir / "planetoid-raw"))
    assert load_dataset("cora").graph.n_nodes == 2708


def test_data_dir_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGCLEARN_DATA", "/from/the/environment")
    with pytest.raises(DataFileError, match=f"got {tmp_path} without planetoid-raw/ind.cora.allx"):
        load_dataset("cora", data_dir=tmp_path)
    with pytest.raises(DataFileError, match="got /from/the/environment without"):
        load_dataset("cora")


@pytest.mark.usefixtures("no_data")
def test_missing_data_folder_says_what_to_set() -> None:
    with pytest.raises(DataFileError, match="pass data_dir or set SGCLEARN_DATA"):
        load_dataset("pubmed")


@pytest.mark.usefixtures("no_data")
def test_list_datasets_tells_what_is_available(tmp_path: Path) -> None:
    assert [info.name for info in list_datasets() if info.available] == ["debian"]
    (tmp_path / "shchur").mkdir()
    (tmp_path / "shchur" / "amazon_photo.npz").touch()
    found = [info.name for info in list_datasets(tmp_path) if info.available]
    assert found == ["debian", "amazon_photo"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "core"}, "name must be one of debian, cora, .*: got 'core'"),
        (
            {"name": "cora", "split": "mine"},
            "split must be 'public', 'random', 'per_class' or None: got 'mine'",
        ),
        ({"name": "debian", "split": "public"}, "debian: got 'public', and it has no public split"),
        ({"name": "debian", "data_dir": "x"}, "debian is inside the package: got data_dir='x'"),
        (
            {"name": "cora", "seed": 5},
            "seed goes with splits .* the public split of cora, .*; use split='random'",
        ),
        (
            {"name": "cora", "n_per_class": 5},
            "n_per_class goes with splits that are drawn: got the public split",
        ),
        (
            {"name": "cora", "split": "random", "n_val": 5},
            "n_val goes with splits .* the random split of cora, .*; use split='per_class'",
        ),
        (
            {"name": "debian", "n_per_class": 5000},
            "5030 labelled nodes to draw from: got 1479 in class 'admin'",
        ),
    ],
)
def test_load_dataset_refuses_what_it_would_not_use(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_dataset(**options)


def write_npz(path: Path, **changes: Any) -> Path:
    arrays = {
        "x_shape": np.array([3, 2]),
        "x_indptr": np.array([0, 1, 1, 2], dtype=np.int16),
        "x_indices": np.array([0, 1], dtype=np.uint16),
        "x_data": np.array([3, 4], dtype=np.uint8),
        "edges": np.array([[0, 1], [1, 1]], dtype=np.uint16),
        "y": np.array([0, 1, 0], dtype=np.uint8),
        "class_names": np.array(["a", "b"]),
    }
    np.savez(path, **{key: value for key, value in {**arrays, **changes}.items() if value is not None})
    return path


def test_npz_reader_reads_small_types(tmp_path: Path) -> None:
    read = read_npz(write_npz(tmp_path / "tiny.npz"))
    assert read.X.toarray().tolist() == [[3, 0], [0, 0], [0, 4]]
    assert (read.graph.n_edges, read.graph.n_self_loops, read.class_names) == (2, 1, ("a", "b"))
    assert read.feature_names is None


@pytest.mark.parametrize(
    "changes",
    [
        {"y": None},
        {"x_indices": np.array([0, 9])},
        {"edges": np.array([[0, 7]])},
        {"class_names": np.array([{}], dtype=object)},
    ],
)
def test_npz_reader_refuses_a_broken_file(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(DataFileError, match=r"tiny\.npz must be .*could not be read"):
        read_npz(write_npz(tmp_path / "tiny.npz", **changes))


def test_npz_reader_refuses_a_truncated_file(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "tiny.npz")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataFileError, match="could not be read"):
        read_npz(path)


def test_importing_datasets_loads_no_heavy_package() -> None:
    program = (
        "import sys, sgclearn.datasets; print(sorted({'pyarrow', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
