from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn.datasets import GraphDataset
from sgclearn.errors import InputError
from sgclearn.graph import Graph


def small(**changes: Any) -> GraphDataset:
    parts: dict[str, Any] = {
        "name": "path",
        "graph": Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)]),
        "X": np.eye(5),
        "y": np.array([0, 1, 0, 1, -1]),
        "class_names": ("a", "b"),
        "feature_names": None,
        "train": np.array([0, 1]),
        "val": np.array([2]),
        "test": np.array([3]),
    }
    return GraphDataset(**{**parts, **changes})


def test_dataset_shows_its_sizes() -> None:
    assert repr(small()) == (
        "GraphDataset('path': 5 nodes, 4 edges, 5 features, 2 classes; train 2, val 1, test 1)"
    )


def test_train_labels_hide_all_other_labels() -> None:
    data = small()
    assert data.train_labels().tolist() == [0, 1, -1, -1, -1]
    assert data.train_labels(with_val=True).tolist() == [0, 1, 0, -1, -1]
    data.train_labels()[:] = 7
    assert data.y.tolist() == [0, 1, 0, 1, -1]


def test_dataset_is_frozen_and_keeps_its_own_arrays() -> None:
    y = np.array([0, 1, 0, 1, -1])
    data = small(y=y)
    y[0] = 1
    assert data.y[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        data.train[0] = 4
    with pytest.raises(AttributeError):
        data.name = "other"  # type: ignore[misc]


def test_dataset_takes_sparse_features_and_empty_parts() -> None:
    data = small(X=sp.csr_array(np.eye(5)), val=[], test=np.array([], dtype=int))
    assert data.split_sizes == (2, 0, 0)
    assert data.val.dtype == np.intp


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.eye(4)}, r"X must have one row for each of the 5 nodes: got shape \(4, 4\)"),
        ({"X": np.ones(5)}, r"X must have two dimensions \(nodes, features\): got shape \(5,\)"),
        ({"feature_names": ("one",)}, "feature_names must name each of the 5 columns of X: got 1 names"),
        ({"y": np.array([0, 1])}, r"y must have one label for each of the 5 nodes: got shape \(2,\)"),
        ({"y": np.array([0, 1, 0, 2, -1])}, "y must lie between -1 .* and 1, .*: got -1 to 2"),
        ({"y": np.array([0, 1, 0, 1, -2])}, "got -2 to 1"),
        ({"y": np.array([0.0, 1, 0, 1, -1])}, "y must be integers: got float64"),
        ({"train": np.array([1, 0])}, "train must be positions in ascending order, each once"),
        ({"train": np.array([1, 1])}, "train must be positions in ascending order, each once"),
        ({"train": np.array([[0, 1]])}, "train must be positions in ascending order"),
        ({"test": np.array([5])}, r"test must lie in \[0, 5\): got 5 to 5"),
        ({"test": np.array([-1])}, r"test must lie in \[0, 5\): got -1 to -1"),
        ({"test": np.array([3, 4])}, "test must have labelled nodes only: got node 4"),
        ({"val": np.array([1])}, "train, val and test must be disjoint"),
        ({"val": np.array([True])}, "val must be integers: got bool"),
    ],
)
def test_dataset_refuses_parts_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(**changes)
