"""The baselines for nodes: every model learns, says the same for the same seed, and reads no test label."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn import Graph, GraphDataset
from sgclearn.baselines import (
    AGNN,
    DGI,
    GAT,
    GCN,
    GIN,
    GLN,
    MLP,
    AdaLNet,
    DeepWalk,
    FastGCN,
    LabelPropagation,
    LNet,
    LogisticRegression,
)
from sgclearn.baselines.features import Rows
from sgclearn.errors import InputError, MissingExtraError
from sgclearn.tasks.dataset import samples_of

N, D, C = 120, 12, 3
SHORT: dict[str, Any] = {"row_norm": None, "max_epochs": 40, "learning_rate": 0.02}
FILTER = (
    128 + 128 + 2 * (128 * 128 + 128) + 128 + 1
)  # LNet's perceptron: one number in, one out; AdaLNet's has 16
# Model, its settings, and its number of parameters on D features and C classes.
NETWORKS = [
    (GCN, SHORT | {"hidden": 8}, D * 8 + 8 * C),
    (GLN, SHORT | {"hidden": 8}, D * 8 + 8 * C),
    (MLP, SHORT | {"hidden": 8}, D * 8 + 8 + 8 * C + C),
    (GIN, SHORT | {"hidden": 8}, D * 8 + 8 + 2 * (8 * 8 + 8) + 8 * C + C),
    (FastGCN, SHORT | {"hidden": 8, "n_sampled": 30, "batch_size": 32}, D * 8 + 8 * C),
    (
        LNet,
        SHORT | {"hidden": 8, "short": [1, 3], "long": [5], "n_ritz": 6},
        3 * (D * 8 + 8 * C) + 8 + C + 2 * FILTER,
    ),
    (
        AdaLNet,
        SHORT | {"hidden": 8, "short": [1, 3], "long": [5], "n_ritz": 4},
        D * 8 + 3 * (D * 8 + 8 * C) + 8 + C + 2 * (FILTER + 2 * 15 * 128 + 15),
    ),
]
# A head has weights, two attention vectors and a bias; AGNN's first number is fixed at zero.
ATTENTION = [
    (GAT, SHORT | {"hidden": 4, "heads": 2, "dropout": 0.2}, D * 8 + 2 * 8 + 8 + 8 * C + 2 * C + C),
    (AGNN, SHORT | {"hidden": 8, "n_layers": 3}, D * 8 + 8 + 8 * C + C + 2),
]
SCORES = 16 * 16  # of torch_geometric's bilinear score
EMBEDDINGS = [
    (DGI, SHORT | {"hidden": 16}, D * 16 + 16 + 1 + SCORES + 16 * C + C),
    (DGI, {"hidden": 16, "max_epochs": 0, "row_norm": None}, 16 * C + C),
]
OTHERS = [
    (
        DeepWalk,
        {"dimension": 8, "walk_length": 10, "n_walks": 6, "row_norm": None},
        2 * N * 8 + (D + 8) * C + C,
    ),
    (LogisticRegression, {"row_norm": None}, D * C + C),
    (LabelPropagation, {}, 0),
]
WITH_PYG = [*ATTENTION, *EMBEDDINGS]
ALL = [*NETWORKS, *WITH_PYG, *OTHERS]


def name_of(value: Any) -> str | None:
    return value.__name__ if isinstance(value, type) else None


def needed(kind: Any) -> None:
    for module, _ in kind.requires:
        pytest.importorskip(module)


@pytest.fixture(scope="module")
def data() -> GraphDataset:
    """Three communities of equal size, mostly linked within, with noisy features; a third is for training."""
    rng = np.random.default_rng(613)
    y = np.arange(N) % C
    low, high = rng.integers(0, N, (2, 2400))
    drawn = (low != high) & ((y[low] == y[high]) | (rng.random(2400) < 0.05))
    graph = Graph.from_edges(np.stack([low[drawn], high[drawn]], axis=1), n_nodes=N)
    X = (rng.normal(size=(N, D)) + 1.2 * rng.normal(size=(C, D))[y]).astype(np.float32)
    parts = (np.sort(part) for part in np.split(rng.permutation(N), [40, 70]))
    return GraphDataset("three", graph, X, y, ("a", "b", "c"), None, *parts)


@pytest.mark.parametrize(("kind", "settings", "n_parameters"), ALL, ids=name_of)
def test_baseline_learns_and_counts_its_parameters(kind, settings, n_parameters, data):
    needed(kind)
    told: list[tuple[int, int]] = []
    model = kind(**settings, random_state=31)
    assert model.fit(samples_of(data), lambda done, of: told.append((done, of))) is model
    codes = model.predict(samples_of(data))
    assert codes.shape == (N,)
    assert (codes[data.test] == data.y[data.test]).mean() > 0.7  # by chance a third
    assert model.n_parameters_ == n_parameters
    assert model.seconds_ > 0
    assert model.cpu_seconds_ > 0
    steps = [done for done, _ in told]
    assert steps == sorted(steps)
    assert told or settings.get("max_epochs") == 0


@pytest.mark.parametrize(("kind", "settings", "n_parameters"), ALL, ids=name_of)
def test_baseline_reads_no_test_label_and_repeats_itself(kind, settings, n_parameters, data):
    needed(kind)
    y = data.y.copy()
    y[data.test] = (y[data.test] + 1) % C
    hidden = replace(data, y=data.train_labels(with_val=True), test=np.zeros(0, int))
    given = (data, data, replace(data, y=y), hidden)
    first, *others = (
        kind(**settings, random_state=31).fit(samples_of(part)).predict(samples_of(data)) for part in given
    )
    for other in others:
        assert np.array_equal(first, other)


@pytest.mark.parametrize(
    ("kind", "settings", "n_parameters"), [*NETWORKS, *ATTENTION, *EMBEDDINGS[:1]], ids=name_of
)
def test_network_weights_follow_the_seed_and_the_global_generator_stays(kind, settings, n_parameters, data):
    needed(kind)
    torch = pytest.importorskip("torch")
    torch.manual_seed(1234)
    expected = torch.rand(3)
    torch.manual_seed(1234)
    few = settings | {"max_epochs": 3}
    first, again, other = (kind(**few, random_state=seed).fit(samples_of(data)) for seed in (7, 7, 8))
    assert torch.equal(torch.rand(3), expected)
    states = [model.layers_.state_dict() for model in (first, again, other)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert any(not torch.equal(states[0][name], states[2][name]) for name in states[0])


@pytest.mark.parametrize(("kind", "settings", "n_parameters"), [*NETWORKS, *ATTENTION], ids=name_of)
def test_network_takes_sparse_features_as_it_takes_dense_ones(kind, settings, n_parameters, data):
    needed(kind)
    sparse = replace(data, X=sp.csr_array(data.X))
    still = settings | {"dropout": 0.0, "max_epochs": 10}  # what is dropped is drawn in another order
    dense, same = (
        kind(**still, random_state=31).fit(samples_of(part)).predict(samples_of(part))
        for part in (data, sparse)
    )
    assert (dense == same).mean() > 0.98


@pytest.mark.parametrize(("kind", "settings", "n_parameters"), [*NETWORKS, *EMBEDDINGS], ids=name_of)
def test_network_predicts_nodes_it_has_not_seen(kind, settings, n_parameters, data):
    """Inductive: fitted on a part of the nodes, asked about the whole graph."""
    needed(kind)
    nodes = np.sort(np.concatenate([data.train, data.val]))
    place = {int(node): k for k, node in enumerate(nodes)}
    part = GraphDataset(
        "part",
        data.graph.subgraph(nodes),
        data.X[nodes],
        data.y[nodes],
        data.class_names,
        None,
        np.array([place[int(node)] for node in data.train]),
        np.array([place[int(node)] for node in data.val]),
        np.zeros(0, int),
    )
    codes = kind(**settings, random_state=31).fit(samples_of(part)).predict(samples_of(data))
    assert (codes[data.test] == data.y[data.test]).mean() > 0.7


@pytest.mark.parametrize("kind", [GAT, AGNN, DGI], ids=name_of)
def test_baseline_without_torch_geometric_names_the_extra(kind, data, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(MissingExtraError, match=r'torch_geometric is needed .* "sgclearn\[baselines\]"\.$'):
        kind().fit(samples_of(data))


@pytest.mark.parametrize("kind", [GCN, FastGCN, DGI, DeepWalk], ids=name_of)
def test_baseline_without_torch_names_the_extra(kind, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r'^torch is needed .* "sgclearn\[baselines\]"\.$'):
        kind().fit(samples_of(data))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: GCN(hidden=0), "hidden and max_epochs must be >= 1"),
        (lambda: GCN(dropout=1.0), r"dropout must be a share in \[0, 1\): got 1"),
        (lambda: GAT(heads=0), "heads and output_heads must be >= 1: got 0 and 1"),
        (lambda: AGNN(n_layers=0), "n_layers must be >= 1: got 0"),
        (lambda: FastGCN(n_sampled=0), "n_sampled and batch_size must be >= 1: got 0 and 256"),
        (lambda: LNet(long=()), r"at least one each, and n_ritz >= 1: got \(1, 2, 3\), \(\) and 20"),
        (lambda: DGI(patience=-1), "max_epochs and patience >= 0"),
        (lambda: DeepWalk(walk_length=1), "walk_length >= 2"),
        (lambda: LabelPropagation(max_iter=0), "max_iter must be >= 1"),
    ],
)
def test_baseline_refuses_settings_out_of_range(build, words):
    with pytest.raises(InputError, match=words):
        build()


@pytest.mark.parametrize("kind", [GCN, DGI, LogisticRegression, LabelPropagation, DeepWalk], ids=name_of)
def test_baseline_refuses_what_it_cannot_take(kind, data):
    needed(kind)
    with pytest.raises(InputError, match=f"{kind.__name__} must be fitted before it predicts"):
        kind().predict(samples_of(data))
    with pytest.raises(InputError, match=f"{kind.__name__} needs training"):
        kind().fit(samples_of(replace(data, train=np.zeros(0, int))))


def test_baseline_refuses_other_features_and_other_graphs(data):
    wider = replace(data, X=np.hstack([data.X, data.X]))
    with pytest.raises(InputError, match="was fitted to 12 features: got 24"):
        LogisticRegression(1e-3, row_norm=None).fit(samples_of(data)).predict(samples_of(wider))
    one = GraphDataset("one", Graph.from_edges([(0, 1)]), np.eye(2), [0, 1], ("a", "b"), None, [0], [1], [])
    with pytest.raises(InputError, match="was fitted to 120 nodes: got 2"):
        LabelPropagation().fit(samples_of(data)).predict(samples_of(one))


def test_lnet_refuses_a_directed_graph(data):
    needed(LNet)
    arcs = Graph.from_edges([(0, 1)], n_nodes=N, directed=True)
    with pytest.raises(InputError, match="LNet takes an undirected graph"):
        LNet(row_norm=None).fit(samples_of(replace(data, graph=arcs)))


def test_network_without_validation_nodes_takes_the_last_epoch(data):
    pytest.importorskip("torch")
    alone = replace(data, val=np.zeros(0, int))
    with pytest.raises(InputError, match=r"training and validation samples: got 40 and 0; .* patience=0"):
        GCN(row_norm=None).fit(samples_of(alone))
    model = GCN(row_norm=None, patience=0, max_epochs=4).fit(samples_of(alone))
    assert (model.details_["epochs"], model.details_["epoch_taken"]) == (4, 4)


def test_label_propagation_is_the_harmonic_function():
    """On a path with labels at both ends the score falls in a straight line, and a lone node gets the shares."""
    path = [(k, k + 1) for k in range(5)]
    graph = Graph.from_edges(path, n_nodes=7)
    y = np.array([0, 0, 0, 1, 1, 1, 0])
    data = GraphDataset("path", graph, np.ones((7, 1)), y, ("a", "b"), None, [0, 5], [], [1, 2, 3, 4])
    model = LabelPropagation(tol=1e-9, class_mass=False).fit(samples_of(data))
    assert model.scores_[:6, 0] == pytest.approx(np.linspace(1.0, 0.0, 6), abs=1e-6)
    assert model.scores_[6] == pytest.approx([0.5, 0.5])
    assert list(model.predict(samples_of(data))[:6]) == list(y[:6])


def test_label_propagation_gives_every_class_its_share_of_the_mass():
    """A star around a label of one class, with the other at the end of a path: every node would be of the first."""
    star, path = [(0, k) for k in range(1, 12)], [(11, 12), (12, 13)]
    graph = Graph.from_edges(star + path, n_nodes=14)
    y = np.array([0] * 12 + [1] * 2)
    data = GraphDataset("star", graph, np.ones((14, 1)), y, ("a", "b"), None, [0, 13], [], [1])
    plain = LabelPropagation(tol=1e-9, class_mass=False).fit(samples_of(data)).scores_
    scaled = LabelPropagation(tol=1e-9).fit(samples_of(data))
    free = np.arange(1, 13)
    assert plain[free].sum(axis=0)[0] > 10
    assert scaled.scores_[free].sum(axis=0) == pytest.approx([0.5, 0.5])
    assert scaled.scores_[data.train] == pytest.approx(plain[data.train])
    assert list(scaled.predict(samples_of(data))[[0, 1, 13]]) == [0, 0, 1]


def read_by(data, P):
    """Samples that a readout makes of the nodes; a sample is of the class and the split of its first node."""
    first = sp.csr_array(P).indices[sp.csr_array(P).indptr[:-1]]
    nodes = samples_of(data)
    return replace(nodes, readout=P, y=nodes.y[first], split=nodes.split[first], ids=first)


@pytest.mark.parametrize(
    ("kind", "settings"), [(kind, settings) for kind, settings, _ in ALL if kind is not DGI], ids=name_of
)
def test_baseline_takes_rows_of_the_identity_as_the_nodes_they_are(kind, settings, data):
    needed(kind)
    order = np.random.default_rng(37).permutation(N)
    rows = read_by(data, sp.eye_array(N, format="csr")[order])
    few = settings | ({"max_epochs": 5} if "max_epochs" in settings else {})
    predicted = kind(**few, random_state=31).fit(rows).predict(rows)
    at_once = kind(**few, random_state=31).fit(samples_of(data)).predict(samples_of(data))
    assert (
        predicted == at_once[order]
    ).mean() > 0.9  # the loss is a sum in another order, batches are others


@pytest.mark.parametrize("kind", [GCN, MLP, GIN, LogisticRegression, DeepWalk], ids=name_of)
def test_baseline_predicts_samples_that_are_means_of_nodes(kind, data):
    """Pairs of nodes of one class, read off as their mean."""
    needed(kind)
    settings = next(settings for other, settings, _ in ALL if other is kind)
    order = np.argsort(data.y, kind="stable")
    pairs = np.stack([order[0::2], order[1::2]], axis=1)
    P = sp.csr_array((np.full(N, 0.5), pairs.ravel(), np.arange(0, N + 1, 2)), shape=(N // 2, N))
    samples = read_by(data, P)
    predicted = kind(**settings, random_state=31).fit(samples).predict(samples)
    test = samples.where("test")
    assert predicted.shape == (N // 2,)
    assert (predicted[test] == samples.y[test]).mean() > 0.8


def test_network_reads_logits_of_samples_off_the_nodes(data):
    torch = pytest.importorskip("torch")
    P = sp.random_array((9, N), density=0.1, rng=np.random.default_rng(38), format="csr")
    H = torch.randn(N, 3)
    read = Rows(read_by(data, P), np.array([7, 2]))
    np.testing.assert_allclose(read.of(H).numpy(), (P @ H.numpy())[[7, 2]], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(read.of(H.numpy()), (P @ H.numpy())[[7, 2]], rtol=1e-5, atol=1e-6)


def test_network_on_batches_refuses_samples_that_mix_nodes(data):
    pytest.importorskip("torch")
    P = sp.csr_array(np.full((6, N), 1 / N))
    with pytest.raises(
        InputError, match="FastGCN takes samples that are nodes: got a readout that mixes some"
    ):
        FastGCN(patience=0, max_epochs=1).fit(
            replace(read_by(data, P), split=np.array(["train"] * 6, object))
        )


def test_baseline_answers_with_labels_of_any_kind(data):
    words = np.array(["low", "middle", "top"], dtype=object)
    named = replace(samples_of(data), y=words[data.y])
    codes = LogisticRegression(1e-3, row_norm=None).fit(samples_of(data)).predict(samples_of(data))
    assert np.array_equal(LogisticRegression(1e-3, row_norm=None).fit(named).predict(named), words[codes])
