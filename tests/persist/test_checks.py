"""Files that fit together and describe a model that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgclearn import Graph, SGCClassifier, load_model, save_model
from sgclearn.errors import InputError, ModelFileError
from sgclearn.persist.checks import MOST_HOPS
from sgclearn.persist.container import read_container, write_container

RING = Graph.from_edges([(i, (i + 1) % 12) for i in range(12)])
X = np.random.default_rng(20190616).normal(size=(12, 5))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    y = np.full(12, None, dtype=object)
    y[[0, 5, 9]] = ["x", "y", "z"]
    save_model(SGCClassifier().fit(X, y, graph=RING), tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n_hops_", -1),
        ("n_hops_", 10**9),
        ("n_hops_", 2.5),
        ("n_hops_", True),
        ("filter_", 3),
        ("filter_", {"polynomial": {"filter": "S2GCFilter", "hops": 16, "alpha": 0.05}}),
        ("filter_", {"polynomial": {"filter": "PowerFilter", "hops": 10**12}}),
        ("filter_", {"polynomial": {"filter": "OtherFilter"}}),
        ("row_norm_", "l3"),
        ("normalization_", "left"),
        ("normalization_", None),
        ("gamma_", -1.0),
        ("gamma_", {"float": "nan"}),
        ("gamma_", None),
        ("weight_decay_", {"float": "inf"}),
        ("uses_graph_", 1),
        ("uses_graph_", False),
        ("uses_identity_", "no"),
        ("converged_", None),
        ("n_iter_", -3),
        ("loss_", "small"),
        ("n_features_in_", 5.0),
        ("feature_names_in_", ["a", "b"]),
    ],
)
def test_fitted_values_that_no_fit_gives_are_refused(saved: Path, field: str, value: Any) -> None:
    header, tensors = read_container(saved)
    header["fitted"] = {**header["fitted"], field: value}
    write_container(saved, header, tensors)
    with pytest.raises(ModelFileError, match="do not fit together"):
        load_model(saved)


@pytest.mark.parametrize("name", ["coef", "intercept"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(saved: Path, name: str, value: float) -> None:
    header, tensors = read_container(saved)
    tensors[name] = np.full_like(tensors[name], value)
    write_container(saved, header, tensors)
    with pytest.raises(ModelFileError, match=f"{name} must be finite numbers"):
        load_model(saved)


def test_classes_that_are_the_same_twice_are_refused(saved: Path) -> None:
    header, tensors = read_container(saved)
    header["classes"] = {"dtype": "str", "values": ["x", "y", "x"]}
    write_container(saved, header, tensors)
    with pytest.raises(ModelFileError, match="3 classes, not 2 or more different ones"):
        load_model(saved)


def test_model_that_could_not_be_loaded_is_not_saved(saved: Path, tmp_path: Path) -> None:
    model = load_model(saved)
    model.n_hops_ = MOST_HOPS + 1
    with pytest.raises(InputError, match=r"hops: got 10001"):
        save_model(model, tmp_path / "other.safetensors")
    assert not (tmp_path / "other.safetensors").exists()
