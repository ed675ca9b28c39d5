"""GraphSAGE: drawn neighbours, layers against dense formulas, and what every baseline must do."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn import Graph, GraphDataset
from sgclearn.baselines import GraphSAGE, UnsupervisedSAGE
from sgclearn.baselines.features import Features
from sgclearn.baselines.neighbours import draw_block, draw_blocks
from sgclearn.baselines.sage import sage_hidden
from sgclearn.baselines.sage_features import RowFeatures
from sgclearn.baselines.unsupervised import walk_pairs
from sgclearn.datasets import make_block_graph
from sgclearn.errors import InputError, MissingExtraError
from sgclearn.experiments.inductive import inductive_problem, standardized
from sgclearn.tasks.dataset import samples_of

N, D, C = 400, 12, 4
SMALL: dict[str, Any] = {"hidden": 8, "n_drawn": (5, 3), "batch_size": 64}
SUPERVISED = SMALL | {"max_epochs": 6}
UNSUPERVISED = SMALL | {"max_epochs": 2, "learning_rate": 0.005, "n_noise": 5}
AGGREGATORS = ("mean", "lstm", "gcn")
MODELS = [
    *((GraphSAGE, SUPERVISED | {"aggregator": aggregator}) for aggregator in AGGREGATORS),
    *((UnsupervisedSAGE, UNSUPERVISED | {"aggregator": aggregator}) for aggregator in AGGREGATORS),
]


def name_of(value: Any) -> str | None:
    return value.__name__ if isinstance(value, type) else value.get("aggregator")


@pytest.fixture(scope="module")
def data() -> GraphDataset:
    """Four communities that features alone tell apart in half of the cases."""
    return make_block_graph(N, 2400, C, D, strangers=0.0, signal=2.0, seed=613)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def rows_of(block, k):
    return block.sources[block.indices[block.indptr[k] : block.indptr[k + 1]]]


def test_drawn_neighbours_are_different_ones_and_all_where_there_are_few(data):
    A = data.graph.to_scipy()
    targets = np.arange(0, N, 3)
    block = draw_block(data.graph, targets, 6, np.random.default_rng(31))
    assert np.array_equal(block.sources[block.own], targets)
    assert np.array_equal(block.sources, np.unique(block.sources))
    for k, node in enumerate(targets):
        neighbours = A.indices[A.indptr[node] : A.indptr[node + 1]]
        drawn = rows_of(block, k)
        assert len(drawn) == min(len(neighbours), 6) == len(set(drawn))
        assert set(drawn) <= set(neighbours)


def test_drawn_neighbours_are_uniform_and_in_random_order():
    star = Graph.from_edges([(0, k) for k in range(1, 9)])
    rng = np.random.default_rng(32)
    drawn = np.array([rows_of(draw_block(star, np.array([0]), 3, rng), 0) for _ in range(4000)])
    shares = np.array([np.bincount(drawn[:, place], minlength=9)[1:] for place in range(3)]) / 4000
    assert shares == pytest.approx(np.full((3, 8), 1 / 8), abs=0.025)  # five standard deviations


def test_drawn_blocks_follow_each_other_and_a_lone_node_has_no_neighbours():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], n_nodes=6)
    first, second = draw_blocks(graph, np.array([1, 5]), (2, 1), np.random.default_rng(33))
    assert list(second.counts) == [1, 0]
    assert np.array_equal(first.sources[first.own], second.sources)
    assert second.mean().sum(axis=1) == pytest.approx([1.0, 0.0])
    assert second.mean(with_own=True).sum(axis=1) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("form", ["dense", "sparse", "standardised counts"])
def test_row_features_give_the_dense_product(form, data, torch):
    rng = np.random.default_rng(34)
    X: Any = rng.normal(size=(N, D)).astype(np.float32)
    if form != "dense":
        X = sp.random_array((N, D), density=0.05, rng=rng, format="csr", dtype=np.float32)
    dense = X if form == "dense" else X.toarray()
    if form == "standardised counts":
        X = dense = standardized(dense)
    features = RowFeatures(X)
    assert sp.issparse(features.X) is (form != "dense")
    layer = torch.nn.Linear(D, 3)
    W, b = layer.weight, layer.bias
    every_node = Features(X).linear(layer)
    assert torch.allclose(every_node, torch.from_numpy(dense) @ W.t() + b, atol=1e-5)
    block = draw_block(data.graph, np.arange(40), 4, rng)
    P = block.mean()
    both = torch.cat([features.linear(block.sources, W, b), features.mean(P, block.sources, W, b)])
    rows = torch.from_numpy(np.concatenate([dense[block.sources], P.toarray() @ dense[block.sources]]))
    expected = rows @ W.t() + b
    assert torch.allclose(both, expected, atol=1e-5)
    weights = torch.randn_like(both)
    (found,) = torch.autograd.grad((both * weights).sum(), W)
    assert torch.allclose(found, weights.t() @ rows, atol=1e-4)


def dense_sage(torch, model, X, A):
    """The formula on all neighbours; an LSTM cannot be written so."""
    P = A / np.maximum(A.sum(axis=1, keepdims=True), 1)
    loops = A + np.eye(len(A))
    loops /= loops.sum(axis=1, keepdims=True)
    P, loops = torch.from_numpy(P).float(), torch.from_numpy(loops).float()
    H = torch.from_numpy(X)
    for name in ("first", "second"):
        layer = model.layers_[name]
        if model.aggregator == "gcn":
            H = loops @ H @ layer["both"].weight.t()
        else:
            H = torch.cat([H @ layer["own"].weight.t(), P @ H @ layer["others"].weight.t()], dim=1)
        H = torch.relu(H) if name == "first" else H / H.norm(dim=1, keepdim=True)
    return model.layers_["classes"](H)


@pytest.mark.parametrize("aggregator", ["mean", "gcn"])
def test_sage_with_all_neighbours_is_the_dense_formula(aggregator, data, torch):
    model = GraphSAGE(hidden=5, n_drawn=(N, N), aggregator=aggregator, max_epochs=1, random_state=35).fit(
        samples_of(data)
    )
    with torch.no_grad():
        expected = dense_sage(torch, model, data.X, data.graph.to_scipy().toarray())
        whole = torch.from_numpy(model.logits(samples_of(data)))
        batch = model.outputs_of(model.inputs_of(samples_of(data)), np.arange(7, 90, 4), 0.0)
    assert torch.allclose(whole, expected, atol=1e-5)
    assert torch.allclose(batch, expected[7:90:4], atol=1e-5)


def test_sage_mean_gives_the_numbers_of_torch_geometric(data, torch):
    nn = pytest.importorskip("torch_geometric.nn")
    model = GraphSAGE(hidden=5, n_drawn=(N, N), max_epochs=1, random_state=36).fit(samples_of(data))
    conv = nn.SAGEConv(D, 10, bias=False)  # it adds where ours puts side by side: zeros for the other half
    own, others = (model.layers_["first"][name].weight.data for name in ("own", "others"))
    conv.lin_r.weight.data = torch.cat([own, torch.zeros_like(own)])
    conv.lin_l.weight.data = torch.cat([torch.zeros_like(others), others])
    A = data.graph.to_scipy().tocoo()
    edges = torch.from_numpy(np.stack([A.col, A.row]).astype(np.int64))
    block = draw_block(data.graph, np.arange(N), None, np.random.default_rng(37))
    found = sage_hidden(model.layers_, 0, RowFeatures(data.X), block, 0.0)
    assert torch.allclose(found, torch.relu(conv(torch.from_numpy(data.X), edges)), atol=1e-5)


def test_sage_lstm_reads_neighbours_as_torch_does(data, torch):
    from sgclearn.baselines.sage_layers import last_state

    torch.manual_seed(38)
    cell = torch.nn.LSTMCell(D, 6)
    lstm = torch.nn.LSTM(D, 6, batch_first=True)
    for name, weight in cell.named_parameters():
        getattr(lstm, f"{name}_l0").data = weight.data
    lone = Graph.from_edges(np.stack(data.graph.to_scipy().nonzero(), axis=1), n_nodes=N + 1)
    block = draw_block(lone, np.arange(N - 60, N + 1), 7, np.random.default_rng(39))
    X = torch.from_numpy(np.vstack([data.X, data.X[:1]]))[torch.from_numpy(block.sources)]
    found = last_state(cell, X, block)
    assert len(set(block.counts)) > 3
    for k, count in enumerate(block.counts):
        sequence = X[torch.from_numpy(block.indices[block.indptr[k] : block.indptr[k + 1]])]
        expected = lstm(sequence[None])[1][0][0, 0] if count else torch.zeros(6)
        assert torch.allclose(found[k], expected, atol=1e-5)


@pytest.mark.parametrize(("kind", "settings"), MODELS, ids=name_of)
def test_sage_learns_repeats_itself_and_reads_no_test_label(kind, settings, data, torch):
    told: list[tuple[int, int]] = []
    hidden = replace(data, y=data.train_labels(with_val=True), test=np.zeros(0, int))
    torch.manual_seed(1234)
    expected = torch.rand(3)
    torch.manual_seed(1234)
    model = kind(**settings, random_state=31).fit(
        samples_of(hidden), lambda done, of: told.append((done, of))
    )
    codes = model.predict(samples_of(data))
    assert torch.equal(torch.rand(3), expected)  # torch's own generator stays as it was
    assert (codes[data.test] == data.y[data.test]).mean() > 0.6  # by chance a third
    assert told[-1] == (settings["max_epochs"],) * 2
    assert model.seconds_ > 0
    assert np.array_equal(
        codes, kind(**settings, random_state=31).fit(samples_of(data)).predict(samples_of(data))
    )
    other = kind(**settings, random_state=32).fit(samples_of(data))
    states = model.layers_.state_dict(), other.layers_.state_dict()
    assert any(not torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.mark.parametrize(("kind", "settings"), MODELS, ids=name_of)
def test_sage_counts_its_parameters(kind, settings, data, torch):
    h = 8
    first = {"mean": 2 * D * h, "gcn": 2 * D * h, "lstm": D * h + h * h + 4 * h * (D + h + 2)}
    second = {
        "mean": 2 * 2 * h * h,
        "gcn": 2 * 2 * h * h,
        "lstm": 2 * h * h + h * h + 4 * h * (2 * h + h + 2),
    }
    expected = first[settings["aggregator"]] + second[settings["aggregator"]] + 2 * h * C + C
    assert kind(**settings | {"max_epochs": 1}).fit(samples_of(data)).n_parameters_ == expected


def test_sage_keeps_the_best_epoch_where_there_are_validation_nodes(data, torch):
    model = GraphSAGE(**SMALL, max_epochs=40, patience=2, random_state=40).fit(samples_of(data))
    assert model.details_["stopped_early"]
    assert model.details_["epoch_taken"] == model.details_["epochs"] - 2
    alone = replace(data, val=np.zeros(0, int))
    model = GraphSAGE(**SMALL, max_epochs=3, random_state=40).fit(samples_of(alone))
    assert (model.details_["epochs"], model.details_["epoch_taken"]) == (3, 3)


def test_unsupervised_sage_learns_its_embedding_without_labels(data, torch):
    settings = UNSUPERVISED | {"max_epochs": 1}
    turned = replace(data, y=(data.y + 1) % C)
    first, second = (
        UnsupervisedSAGE(**settings, random_state=41).fit(samples_of(part)) for part in (data, turned)
    )
    for name, weight in first.layers_.state_dict().items():
        assert torch.equal(weight, second.layers_.state_dict()[name])
    assert np.array_equal((first.predict(samples_of(data)) + 1) % C, second.predict(samples_of(data)))


def test_walk_pairs_join_nodes_of_one_component_and_no_node_with_itself():
    graph = Graph.from_edges([(0, 1), (1, 2), (3, 4)], n_nodes=6)
    pairs = walk_pairs(graph, 5, np.random.default_rng(43))
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert np.array_equal(pairs[:, 0] < 3, pairs[:, 1] < 3)
    assert set(pairs[:, 0]) == {0, 1, 2, 3, 4}
    assert len(pairs) <= 5 * 4


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: GraphSAGE(aggregator="max"), "aggregator must be one of mean, lstm, gcn: got 'max'"),
        (lambda: GraphSAGE(n_drawn=(25,)), r"n_drawn must be two numbers >= 1 .* got \[25\] and 512"),
        (lambda: GraphSAGE(batch_size=0), r"batch_size >= 1: got \[25, 10\] and 0"),
        (lambda: UnsupervisedSAGE(walk_length=1), "walk_length must be >= 2 and n_noise >= 1: got 1 and 20"),
        (lambda: UnsupervisedSAGE(patience=7), "patience must be 0: got 7; without labels"),
    ],
)
def test_sage_refuses_settings_out_of_range(build, words):
    with pytest.raises(InputError, match=words):
        build()


def test_sage_refuses_to_predict_before_it_is_fitted(data, torch):
    for kind in (GraphSAGE, UnsupervisedSAGE):
        with pytest.raises(InputError, match=f"{kind.__name__} must be fitted before it predicts"):
            kind().predict(samples_of(data))


def test_sage_without_edges_learns_from_features_and_the_unsupervised_says_it_cannot(data, torch):
    bare = replace(data, graph=Graph.from_edges(np.zeros((0, 2), int), n_nodes=N))
    codes = GraphSAGE(**SUPERVISED).fit(samples_of(bare)).predict(samples_of(bare))
    assert (codes[data.test] == data.y[data.test]).mean() > 0.4  # by chance a third
    with pytest.raises(
        InputError, match="UnsupervisedSAGE learns from walks along edges: got a graph without any"
    ):
        UnsupervisedSAGE(**UNSUPERVISED).fit(samples_of(bare))


def test_sage_without_torch_names_the_extra(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r'^torch is needed .* "sgclearn\[baselines\]"\.$'):
        GraphSAGE().fit(samples_of(data))


@pytest.mark.parametrize(("kind", "settings"), MODELS, ids=name_of)
def test_model_is_asked_about_a_graph_of_which_it_saw_the_training_nodes(kind, settings, data, torch):
    problem = inductive_problem(samples_of(data))
    model = kind(**settings, random_state=47).fit(problem.seen)
    assert problem.scores(model.predict(problem.asked))["test_micro_f1"] > 60
