"""GaAN: the gated layer against its formula node by node, and what every baseline must do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sgclearn import Graph, GraphDataset
from sgclearn.baselines import GaAN
from sgclearn.baselines.gaan import gated_attention
from sgclearn.baselines.neighbours import draw_block
from sgclearn.datasets import make_block_graph
from sgclearn.errors import InputError
from sgclearn.experiments.inductive import inductive_problem
from sgclearn.tasks.dataset import samples_of

N, D, C = 400, 12, 4
SMALL: dict[str, Any] = {
    "hidden": 8,
    "heads": (2, 4),
    "embedded": 10,
    "attention": 3,
    "value": 16,
    "gate": 5,
    "n_drawn": (5, 3),
    "batch_size": 64,
    "learning_rate": 0.01,
    "max_epochs": 6,
}


@pytest.fixture(scope="module")
def torch():
    pytest.importorskip("torch_geometric")
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def data() -> GraphDataset:
    return make_block_graph(N, 2400, C, D, strangers=0.0, signal=2.0, seed=613)


def by_hand(torch, layer, X, i, neighbours, heads):
    """The numbers of one target, as the formula of the paper has them."""
    leaky = torch.nn.functional.leaky_relu
    Z = X[neighbours.tolist()]
    queries = layer["query"](X[i]).view(heads, -1)
    keys = layer["key"](Z).view(len(Z), heads, 3)
    values = leaky(layer["value"](Z), 0.1).view(len(Z), heads, 8 // heads)
    most = layer["most"](Z).max(dim=0).values if len(Z) else torch.zeros(layer["most"].out_features)
    mean = Z.mean(dim=0) if len(Z) else torch.zeros_like(X[i])
    gates = torch.sigmoid(layer["gates"](torch.cat([X[i], most, mean])))
    said = []
    for k in range(heads):
        a = torch.softmax(keys[:, k] @ queries[k], dim=0)
        said.append(gates[k] * (a[:, None] * values[:, k]).sum(dim=0))
    return leaky(layer["output"](torch.cat([X[i], *said])), 0.1)


@pytest.mark.parametrize("heads", [1, 4])
def test_gated_attention_is_the_formula(heads, data, torch):
    graph = Graph.from_edges([(0, 1), (0, 2), (0, 3), (1, 2), (3, 4)], n_nodes=6)  # node 5 is alone
    torch.manual_seed(51)
    sizes = {"hidden": 4, "value": 8, "attention": 3, "gate": 5, "embedded": 7}
    model = GaAN(**sizes, heads=(heads, 1), max_epochs=1).fit(samples_of(data))
    layer = model.layers_["first"]
    X = torch.randn(6, 7)
    block = draw_block(graph, np.arange(6), None, np.random.default_rng(52))
    found = gated_attention(layer, X, block, heads)
    A = graph.to_scipy()
    for i in range(6):
        expected = by_hand(torch, layer, X, i, A.indices[A.indptr[i] : A.indptr[i + 1]], heads)
        assert torch.allclose(found[i], expected, atol=1e-5)


def test_gaan_learns_repeats_itself_and_reads_no_test_label(data, torch):
    hidden = replace(data, y=data.train_labels(with_val=True), test=np.zeros(0, int))
    model = GaAN(**SMALL, random_state=31).fit(samples_of(hidden))
    codes = model.predict(samples_of(data))
    assert (codes[data.test] == data.y[data.test]).mean() > 0.6  # by chance a third
    assert np.array_equal(codes, model.predict(samples_of(data)))
    assert np.array_equal(
        codes, GaAN(**SMALL, random_state=31).fit(samples_of(data)).predict(samples_of(data))
    )
    other = GaAN(**SMALL, random_state=32).fit(samples_of(data))
    assert not torch.equal(model.layers_["features"].weight, other.layers_["features"].weight)


def test_gaan_counts_its_parameters(data, torch):
    def gated(n_in, heads):
        attention = 2 * (n_in + 1) * heads * 3
        gates = (n_in + 1) * 5 + (2 * n_in + 5 + 1) * heads
        return attention + (n_in + 1) * 16 + gates + (n_in + 16 + 1) * 8

    expected = (D + 1) * 10 + gated(10, 2) + gated(8, 4) + (8 + 1) * C
    assert GaAN(**SMALL | {"max_epochs": 1}).fit(samples_of(data)).n_parameters_ == expected


def test_gaan_attention_is_dropped_in_training_only(data, torch):
    settings = SMALL | {"max_epochs": 1, "dropout": 0.0, "n_drawn": (N, N)}
    dropped, whole = (
        GaAN(**settings, attention_dropout=share, random_state=7).fit(samples_of(data))
        for share in (0.9, 0.0)
    )
    first, again, other = (model.logits(samples_of(data)) for model in (dropped, dropped, whole))
    assert np.allclose(first, again, atol=1e-5)
    assert not np.allclose(first, other, atol=1e-2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"heads": (3, 4)},
            r"heads must be two numbers >= 1 that divide value.* got heads \[3, 4\], value 512",
        ),
        ({"heads": (4,)}, r"got heads \[4\]"),
        ({"gate": 0}, "and 64, 32, 0"),
        ({"attention_dropout": 1.0}, r"attention_dropout must be a share in \[0, 1\): got 1.0"),
    ],
)
def test_gaan_refuses_settings_out_of_range(settings, words):
    with pytest.raises(InputError, match=words):
        GaAN(**settings)


def test_gaan_is_asked_about_a_graph_of_which_it_saw_the_training_nodes(data, torch):
    problem = inductive_problem(samples_of(data))
    model = GaAN(**SMALL, random_state=47).fit(problem.seen)
    assert problem.scores(model.predict(problem.asked))["test_micro_f1"] > 60
