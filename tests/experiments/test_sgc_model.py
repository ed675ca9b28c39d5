"""SGC behind the interface of the baselines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sgclearn import Graph, GraphDataset, load_dataset
from sgclearn.errors import InputError
from sgclearn.experiments.sgc import SGCModel
from sgclearn.experiments.text import TextSGCModel
from sgclearn.tasks.dataset import samples_of


@pytest.fixture
def data() -> GraphDataset:
    return load_dataset("debian")


def test_sgc_model_answers_for_the_data_it_is_asked_about(data: GraphDataset) -> None:
    model = SGCModel(n_hops=2, weight_decay=1e-4).fit(samples_of(data))
    known = model.predict(samples_of(data))
    np.testing.assert_array_equal(known, model.model_.transduction_)
    features: Any = data.X
    turned = features[np.random.default_rng(31).permutation(data.graph.n_nodes)]
    lone = Graph.from_edges([(0, 1)], nodes=data.graph.n_nodes)
    for other in (replace(data, X=turned), replace(data, graph=lone)):
        expected = model.model_.predict(other.X, graph=other.graph)
        np.testing.assert_array_equal(model.predict(samples_of(other)), expected)
        assert (expected != known).any()


def test_sgc_model_does_not_compute_again_what_it_knows(
    data: GraphDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = SGCModel(n_hops=2, weight_decay=1e-4).fit(samples_of(data))
    monkeypatch.setattr(model.model_, "predict", None)
    other_split = samples_of(replace(data, train=data.train[1:]))
    assert model.predict(other_split).shape == (data.graph.n_nodes,)


@pytest.mark.parametrize("kind", [SGCModel, TextSGCModel])
def test_sgc_model_refuses_a_misspelt_decay(kind: type[SGCModel] | type[TextSGCModel]) -> None:
    with pytest.raises(InputError, match="a number or 'validated': got 'validatd'"):
        kind(weight_decay="validatd")
