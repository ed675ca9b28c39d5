"""SGC behind the interface of the baselines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn import Graph, GraphDataset, SGCClassifier, load_dataset, propagate
from sgclearn.datasets import make_block_graph
from sgclearn.errors import InputError
from sgclearn.experiments.problems import Problem
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


@pytest.mark.parametrize("weight_decay", [1e-4, "validated"])
def test_sgc_model_reads_samples_off_the_nodes(weight_decay: float | str) -> None:
    """Pairs of nodes of one class, read off as their mean: SGC on the means of propagated rows."""
    nodes = samples_of(make_block_graph(300, 2400, 3, 8, strangers=0.1, signal=1.5, seed=614))
    order = np.argsort(nodes.y, kind="stable")
    pairs = np.stack([order[0::2], order[1::2]], axis=1)
    P = sp.csr_array((np.full(300, 0.5), pairs.ravel(), np.arange(0, 301, 2)), shape=(150, 300))
    split = np.array(["train", "val", "test"], dtype=object)[np.arange(150) % 3]
    samples = replace(nodes, readout=P, y=nodes.y[pairs[:, 0]], split=split, ids=np.arange(150))
    problem = Problem.of(samples)
    model = SGCModel(n_hops=2, weight_decay=weight_decay).fit(problem.seen)
    assert problem.scores(model.predict(problem.asked))["test_accuracy"] > 80.0
    decay = model.model_.weight_decay
    formed = P @ propagate(nodes.X, nodes.graph, 2)
    expected = SGCClassifier(0, weight_decay=decay).fit(formed, problem.seen.labels("train"))
    np.testing.assert_array_equal(model.predict(problem.asked), expected.transduction_)
    some = samples.readout[:9]
    part = replace(samples, readout=some, y=samples.y[:9], split=split[:9], ids=np.arange(9))
    np.testing.assert_array_equal(model.predict(part), model.predict(problem.asked)[:9])
