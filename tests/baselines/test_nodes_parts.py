"""Parts of the baselines against what they must equal: torch_geometric's layers, dense algebra, words of the rules."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn import Graph, GraphDataset, load_dataset
from sgclearn.baselines import GCN, GIN, FastGCN, LNet
from sgclearn.baselines.deepwalk import random_walks
from sgclearn.baselines.lanczos import ritz_pairs
from sgclearn.baselines.network import normalized_matrix
from sgclearn.baselines.training import BestAccuracy, LossAndAccuracy, LowestLoss, MeanLoss
from sgclearn.tasks.dataset import samples_of


@pytest.fixture
def data() -> GraphDataset:
    rng = np.random.default_rng(2207)
    edges = rng.integers(0, 30, (70, 2))
    graph = Graph.from_edges(edges[edges[:, 0] != edges[:, 1]], n_nodes=30)
    X = sp.random_array((30, 9), density=0.3, rng=rng, format="csr")
    split = (np.arange(10), np.arange(10, 20), np.arange(20, 30))
    return GraphDataset("toy", graph, X, np.arange(30) % 3, ("a", "b", "c"), None, *split)


def edges_of(torch, graph):
    A = graph.to_scipy().tocoo()
    return torch.from_numpy(np.stack([A.col, A.row]).astype(np.int64))


@pytest.fixture
def pyg():
    pytest.importorskip("torch_geometric")
    return pytest.importorskip("torch_geometric.nn")


def test_gcn_gives_the_numbers_of_torch_geometric(data, pyg):
    torch = pytest.importorskip("torch")
    model = GCN(hidden=5, max_epochs=3, row_norm=None).fit(samples_of(data))
    first, second = pyg.GCNConv(9, 5, bias=False), pyg.GCNConv(5, 3, bias=False)
    first.lin.weight.data = model.layers_["first"].weight.data
    second.lin.weight.data = model.layers_["second"].weight.data
    edges, X = edges_of(torch, data.graph), torch.from_numpy(data.X.toarray()).float()
    expected = second(torch.relu(first(X, edges)), edges)
    assert np.allclose(model.logits(samples_of(data)), expected.detach().numpy(), atol=1e-5)


def test_gin_gives_the_numbers_of_torch_geometric(data, pyg):
    torch = pytest.importorskip("torch")
    model = GIN(hidden=5, max_epochs=3, row_norm=None).fit(samples_of(data))
    layers = model.layers_
    start = torch.nn.Linear(9, 5)
    start.weight.data, start.bias.data = layers["first"].weight.data, layers["bias"]["b"].data
    relu = torch.nn.ReLU()
    first = pyg.GINConv(torch.nn.Sequential(start, relu, layers["second"]))
    second = pyg.GINConv(torch.nn.Sequential(layers["third"], relu, layers["fourth"]))
    edges, X = edges_of(torch, data.graph), torch.from_numpy(data.X.toarray()).float()
    expected = second(torch.relu(first(X, edges)), edges)
    assert np.allclose(model.logits(samples_of(data)), expected.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("reached", [False, True])
def test_fastgcn_estimate_has_the_exact_product_as_its_mean(data, reached):
    torch = pytest.importorskip("torch")
    model = FastGCN(hidden=5, max_epochs=3, n_sampled=50, reached=reached, row_norm=None, random_state=3)
    model.fit(samples_of(data))
    graph = model.inputs_of(samples_of(data)).graph
    batch = np.arange(4)
    torch.manual_seed(91)
    H = np.random.default_rng(5).normal(size=(30, 2))
    draws = [model.draw(graph, batch) for _ in range(2000)]
    estimates = np.array([rows @ H[drawn] for rows, drawn, _ in draws])
    exact = graph.S[batch] @ H
    error = estimates.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(estimates.mean(axis=0) - exact) < 5.0 * error + 1e-6).all()
    assert estimates.std(axis=0).min() > 0
    outside = np.setdiff1d(np.arange(30), graph.S[batch].indices)
    assert any(np.isin(drawn, outside).any() for _, drawn, _ in draws) is not reached
    _, drawn, below = draws[0]
    assert np.allclose(below, (graph.S @ data.X.toarray())[drawn], atol=1e-6)


def test_lnet_gives_the_sum_of_its_filters_in_dense_algebra(data):
    torch = pytest.importorskip("torch")
    model = LNet(hidden=4, short=[1, 3], long=[2, 5], n_ritz=7, max_epochs=2, row_norm=None).fit(
        samples_of(data)
    )
    S = normalized_matrix(data.graph).toarray()
    r, V = ritz_pairs(normalized_matrix(data.graph), 7, np.random.default_rng(model.random_state))
    r = torch.from_numpy(r.astype(np.float32))

    def layer(name, H):
        weights = model.layers_[name]
        blocks = np.split(weights["blocks"].weight.detach().numpy().T, 4, axis=1)
        f = weights["filter"](torch.stack([r**2, r**5], dim=1)).detach().numpy()
        powers = [S, S @ S @ S, V @ np.diag(f[:, 0]) @ V.T, V @ np.diag(f[:, 1]) @ V.T]
        total = sum(P @ H @ W for P, W in zip(powers, blocks, strict=True))
        return total + weights["bias"]["c"].detach().numpy()

    expected = layer("second", np.maximum(layer("first", data.X.toarray()), 0.0))
    assert np.allclose(model.logits(samples_of(data)), expected, atol=1e-4)


def test_lanczos_in_torch_is_that_of_numpy_and_has_a_gradient(data):
    torch = pytest.importorskip("torch")
    from sgclearn.baselines.adalnet import lanczos

    S = normalized_matrix(data.graph).toarray()
    values, _ = ritz_pairs(sp.csr_array(S), 6, np.random.default_rng(12))
    start = torch.from_numpy(np.random.default_rng(12).normal(size=30))
    matrix = torch.from_numpy(S).requires_grad_()
    Q, T = lanczos(lambda H: matrix @ H, start, 6)
    assert np.allclose(Q.detach().T @ Q.detach(), np.eye(6), atol=1e-9)
    assert np.allclose(np.linalg.eigvalsh(T.detach().numpy()), values, atol=1e-9)
    # The trace of T^2, by a difference quotient along a symmetric change of the matrix.
    (T @ T).trace().backward()
    change = torch.from_numpy(np.random.default_rng(4).normal(size=(30, 30)))
    change = change + change.T
    ends = [lanczos(lambda H, s=s: (matrix.detach() + s * change) @ H, start, 6)[1] for s in (1e-6, -1e-6)]
    slope = ((ends[0] @ ends[0]).trace() - (ends[1] @ ends[1]).trace()) / 2e-6
    assert float((matrix.grad * change).sum()) == pytest.approx(float(slope), rel=1e-4)


def test_lanczos_in_torch_goes_on_past_an_invariant_space():
    torch = pytest.importorskip("torch")
    from sgclearn.baselines.adalnet import lanczos

    Q, T = lanczos(lambda H: H, torch.ones(5), 3)  # of the identity: one step spans it
    assert np.allclose(T, np.diag([1.0, 0.0, 0.0]))
    assert not Q[:, 1:].any()


def test_ritz_pairs_of_all_steps_are_the_eigenpairs(data):
    S = normalized_matrix(data.graph)
    values, V = ritz_pairs(S, 30, np.random.default_rng(12))
    assert np.allclose(V.T @ V, np.eye(len(values)), atol=1e-9)
    assert np.allclose(S @ V, V * values, atol=1e-5)
    few, _ = ritz_pairs(S, 8, np.random.default_rng(12))
    assert few.max() == pytest.approx(np.linalg.eigvalsh(S.toarray()).max(), abs=0.02)
    identity = sp.csr_array(sp.eye_array(6, format="csr"))
    assert len(ritz_pairs(identity, 4, np.random.default_rng(12))[0]) == 1  # one step spans it


def test_sparse_product_drops_entries_and_its_gradient_drops_the_same():
    torch = pytest.importorskip("torch")
    from sgclearn.baselines.sparse_torch import SparseProduct

    rng = np.random.default_rng(5)
    A = sp.random_array((40, 30), density=0.4, rng=rng, format="csr")
    torch.manual_seed(17)
    product = SparseProduct(A).dropped(0.5)
    kept = product.forward.to_dense()
    share = float((kept != 0).sum()) / A.nnz
    assert 0.4 < share < 0.6
    assert np.allclose(kept[kept != 0], 2.0 * torch.from_numpy(A.toarray()).float()[kept != 0])
    X = torch.from_numpy(rng.normal(size=(30, 3))).float().requires_grad_()
    G = torch.from_numpy(rng.normal(size=(40, 3))).float()
    result = product(X)
    result.backward(G)
    assert torch.allclose(result, kept @ X, atol=1e-5)
    assert torch.allclose(X.grad, kept.T @ G, atol=1e-5)


def hear(rule, losses, accuracies=None):
    """What a rule answers to epochs, until it stops: which it keeps, and after how many it stops."""
    kept, epoch = [], 0
    for epoch, loss in enumerate(losses):
        keep, stop = rule.hear(loss, 0.0 if accuracies is None else accuracies[epoch])
        if keep:
            kept.append(epoch)
        if stop:
            return kept, epoch
    return kept, None


def test_rule_mean_loss_compares_with_the_mean_of_the_epochs_before():
    assert hear(MeanLoss(3), [9, 9, 9, 9, 1, 5, 7]) == ([], 6)  # 7 > (9 + 1 + 5) / 3 = 5
    assert hear(MeanLoss(3), [1, 2, 3, 4, 5]) == ([], 4)  # not before there are more than patience + 1
    assert hear(MeanLoss(0), [1, 2, 3, 4, 5]) == ([], None)


def test_rule_loss_and_accuracy_waits_for_either_and_keeps_for_both():
    losses, accuracies = [5, 4, 6, 3, 7, 7, 7], [0.5, 0.6, 0.7, 0.6, 0.1, 0.1, 0.1]
    assert hear(LossAndAccuracy(2), losses, accuracies) == ([0, 1], 5)
    assert hear(LossAndAccuracy(0), losses, accuracies) == ([0, 1], None)


def test_rule_best_accuracy_settles_equal_ones_by_loss():
    assert hear(BestAccuracy(), [3, 2, 1, 4], [0.5, 0.7, 0.7, 0.7]) == ([0, 1, 2], None)
    assert hear(BestAccuracy(2), [3, 2, 2, 2], [0.5, 0.4, 0.4, 0.9]) == ([0], 2)


def test_rule_lowest_loss_stops_after_its_patience():
    assert hear(LowestLoss(2), [3, 2, 4, 1, 5, 5, 0]) == ([0, 1, 3], 5)


def test_random_walks_go_along_edges_and_stay_where_there_are_none():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], n_nodes=5)
    walks = random_walks(graph, np.array([0, 2, 4]), 30, np.random.default_rng(8))
    steps = np.abs(np.diff(walks[:2], axis=1))
    assert (steps == 1).all()
    assert (walks[2] == 4).all()
    assert set(walks[0]) == {0, 1, 2, 3}
    alone = Graph.from_edges(np.zeros((0, 2), int), n_nodes=3)
    assert (random_walks(alone, np.arange(3), 4, np.random.default_rng(8)) == np.arange(3)[:, None]).all()


@pytest.mark.slow
def test_gcn_reaches_the_published_accuracy_on_cora(data_dir):
    pytest.importorskip("torch")
    cora = load_dataset("cora", data_dir=data_dir)
    right = []
    for seed in (1100, 1101, 1102):
        model = GCN(random_state=seed).fit(samples_of(cora))
        right.append(100.0 * (model.predict(samples_of(cora))[cora.test] == cora.y[cora.test]).mean())
    assert np.mean(right) == pytest.approx(81.5, abs=1.5)


def test_features_with_loops_in_the_graph_give_no_warning():
    pytest.importorskip("torch")
    graph = Graph.from_edges([(0, 0), (0, 1), (1, 2)], self_loops="keep")
    data = GraphDataset("loops", graph, np.eye(3), [0, 1, 0], ("a", "b"), None, [0, 1], [2], [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GCN(max_epochs=2).fit(samples_of(data)).predict(samples_of(data))
