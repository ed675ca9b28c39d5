"""Files of other authors, as small stand-ins written here in their formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn.datasets import load_dataset
from sgclearn.datasets.gnn_benchmark import read_gnn_benchmark
from sgclearn.datasets.loading import read_files
from sgclearn.datasets.reddit import read_reddit
from sgclearn.errors import DataFileError

N, D, C = 90, 4, 3


def write_reddit(folder: Path, adjacency: Any = None, **changes: Any) -> tuple[Path, Path]:
    """`reddit.npz` and `reddit_adj.npz`: 81 posts in three parts, and 9 in none."""
    rng = np.random.default_rng(77)
    order = rng.permutation(N)[:81]
    train, val, test = np.split(order, [48, 60])
    labels = np.arange(N) % C
    if adjacency is None:  # one direction of each edge, as in the file
        adjacency = sp.csr_matrix(sp.triu(sp.random_array((N, N), density=0.1, rng=rng), k=1))
        adjacency.data[:] = 1
    arrays = {
        "feats": rng.normal(size=(N, D)),
        "y_train": labels[train],
        "y_val": labels[val],
        "y_test": labels[test],
        "train_index": train,
        "val_index": val,
        "test_index": test,
    }
    folder.mkdir(exist_ok=True)
    kept = {key: value for key, value in (arrays | changes).items() if value is not None}
    np.savez(folder / "reddit.npz", **kept)
    sp.save_npz(folder / "reddit_adj.npz", adjacency)
    return folder / "reddit.npz", folder / "reddit_adj.npz"


def test_reddit_reader_assembles_graph_labels_and_split(tmp_path: Path) -> None:
    path, adjacency = write_reddit(tmp_path)
    read = read_reddit(path, adjacency)
    A = sp.load_npz(adjacency)
    assert (read.graph.to_scipy() != (A + A.T)).nnz == 0
    assert read.graph.n_edges == A.nnz
    stored = np.load(path)
    assert np.array_equal(read.X, stored["feats"])
    assert read.public is not None
    assert [len(part) for part in read.public] == [48, 12, 21]
    for part, index in zip(read.public, ("train_index", "val_index", "test_index"), strict=True):
        assert np.array_equal(part, np.sort(stored[index]))
    inside = np.concatenate(read.public)
    assert np.array_equal(read.y[inside], inside % C)
    assert (read.y == -1).sum() == N - len(inside)
    assert read.class_names == ("class 0", "class 1", "class 2")


def test_reddit_is_loaded_from_a_folder_with_all_kinds_of_split(tmp_path: Path) -> None:
    write_reddit(tmp_path / "reddit", y_train=None)
    with pytest.raises(
        DataFileError, match=r"reddit\.npz must be a file with the arrays feats, y_train, .*'y_train'"
    ):
        load_dataset("reddit", data_dir=tmp_path)
    write_reddit(tmp_path / "reddit")
    public = load_dataset("reddit", data_dir=tmp_path)
    assert (public.split_sizes, public.X.shape) == ((48, 12, 21), (N, D))
    drawn = load_dataset("reddit", split="random", n_per_class=5, data_dir=tmp_path)
    assert np.array_equal(drawn.test, public.test)
    assert np.bincount(drawn.y[drawn.train]).tolist() == [5, 5, 5]
    free = load_dataset("reddit", split="per_class", n_per_class=5, n_val=2, data_dir=tmp_path)
    assert free.split_sizes == (15, 6, 60)


@pytest.mark.parametrize("kind", ["coo", "csc"])
def test_reddit_reader_takes_any_sparse_format_and_both_directions(tmp_path: Path, kind: str) -> None:
    A = sp.load_npz(write_reddit(tmp_path)[1])
    read = read_reddit(*write_reddit(tmp_path, adjacency=(A + A.T).asformat(kind)))
    assert read.graph.n_edges == A.nnz


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feats": np.zeros((N - 1, D))}, r"features \(89, 4\) of type float64 beside .* \(90, 90\)"),
        ({"feats": np.zeros(N)}, r"features \(90,\)"),
        ({"y_val": np.zeros(3, dtype=int)}, r"\(12,\) positions and \(3,\) labels for val"),
        ({"y_val": np.full(12, 0.5)}, "instead of whole numbers"),
        ({"y_val": np.full(12, -1)}, "labels for val"),
        ({"test_index": np.full(21, N)}, "out of bounds"),
    ],
)
def test_reddit_reader_refuses_what_does_not_fit(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataFileError, match=message):
        read_reddit(*write_reddit(tmp_path, **changes))


def test_reddit_reader_loads_no_pickle(tmp_path: Path) -> None:
    path, adjacency = write_reddit(tmp_path, y_val=np.array([{}] * 12, dtype=object))
    with pytest.raises(DataFileError, match="object arrays need pickle"):
        read_reddit(path, adjacency)


def write_benchmark(path: Path, **changes: Any) -> Path:
    adjacency = sp.csr_matrix(([1.0, 1, 1, 1], ([0, 1, 1, 2], [1, 0, 2, 2])), shape=(4, 4))
    X = sp.csr_matrix(np.array([[0, 2.0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 3]]), dtype=np.float32)
    arrays = {
        f"adj_{part}": np.asarray(getattr(adjacency, part)) for part in ("data", "indices", "indptr", "shape")
    }
    arrays |= {
        f"attr_{part}": np.asarray(getattr(X, part)) for part in ("data", "indices", "indptr", "shape")
    }
    arrays |= {"labels": np.array([0, 1, 1, 0]), "attr_names": np.array(["a", None, "c"], dtype=object)}
    np.savez(path, **(arrays | changes), allow_pickle=True)
    return path


def test_benchmark_reader_counts_edges_once_and_leaves_pickles_alone(tmp_path: Path) -> None:
    read = read_gnn_benchmark(write_benchmark(tmp_path / "a.npz"))
    assert (read.graph.n_nodes, read.graph.n_edges, read.graph.n_self_loops) == (4, 3, 1)
    assert read.X.toarray().tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0], [0, 0, 3]]
    assert (read.y.tolist(), read.class_names) == ([0, 1, 1, 0], ("class 0", "class 1"))
    assert read_files("gnn-benchmark", [tmp_path / "a.npz"], ("x", "y")).class_names == ("x", "y")


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": np.array([0, 1])},
        {"labels": np.array([0, 1, -1, 0])},
        {"adj_shape": np.array([4, 5])},
        {"attr_indices": np.array([0, 1, 9])},
        {"labels": np.array([{}] * 4, dtype=object)},
    ],
)
def test_benchmark_reader_refuses_a_broken_file(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(DataFileError, match=r"a\.npz must be .*could not be read"):
        read_gnn_benchmark(write_benchmark(tmp_path / "a.npz", **changes))
