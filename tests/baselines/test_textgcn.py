"""TextGCN on graphs small enough to check by hand and by dense algebra."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn import Graph, GraphDataset, Operator
from sgclearn.baselines import TextGCN
from sgclearn.errors import InputError, MissingExtraError
from sgclearn.tasks.dataset import samples_of

N_DOCS, N_WORDS = 24, 10


@pytest.fixture
def corpus() -> GraphDataset:
    """Documents of two topics with five words each; every document has three words of its own topic."""
    rng = np.random.default_rng(1906)
    pairs = [
        (d, N_DOCS + 5 * (d % 2) + int(w)) for d in range(N_DOCS) for w in rng.choice(5, 3, replace=False)
    ]
    words = [(N_DOCS + 5 * t + i, N_DOCS + 5 * t + j) for t in (0, 1) for i in range(5) for j in range(i)]
    graph = Graph.from_edges([*pairs, *words], n_nodes=N_DOCS + N_WORDS)
    y = np.full(graph.n_nodes, -1)
    y[:N_DOCS] = np.arange(N_DOCS) % 2
    identity = sp.eye_array(graph.n_nodes, format="csr")
    split = (np.arange(10), np.arange(10, 14), np.arange(14, N_DOCS))
    return GraphDataset("toy", graph, identity, y, ("even", "odd"), None, *split)


def test_textgcn_refuses_settings_out_of_range():
    with pytest.raises(InputError, match=r"dropout must be a share in \[0, 1\): got 1"):
        TextGCN(dropout=1.0)
    with pytest.raises(InputError, match="max_epochs must be >= 1"):
        TextGCN(max_epochs=0)


def test_textgcn_without_torch_names_the_extra(corpus, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r'pip install "sgclearn\[torch\]"'):
        TextGCN().fit(samples_of(corpus))


class TestWithTorch:
    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch")

    def test_textgcn_learns_the_topics(self, corpus):
        model = TextGCN(hidden=8, max_epochs=60, random_state=7).fit(samples_of(corpus))
        codes = model.predict(samples_of(corpus))
        assert codes.shape == (N_DOCS + N_WORDS,)
        assert (codes[corpus.test] == corpus.y[corpus.test]).all()
        assert (codes[N_DOCS : N_DOCS + 5] == 0).all()  # the words of a topic go with it
        assert model.n_parameters_ == (N_DOCS + N_WORDS) * 8 + 8 * 2
        assert model.seconds_ > 0

    def test_textgcn_predicts_by_its_formula_in_dense_algebra(self, corpus):
        model = TextGCN(hidden=6, max_epochs=3, random_state=7).fit(samples_of(corpus))
        S = Operator(corpus.graph).matrix().toarray()
        W1, W2 = (W.detach().numpy() for W in model.layers_)
        logits = S @ (np.maximum(S @ W1, 0.0) @ W2)
        assert np.array_equal(model.predict(samples_of(corpus)), logits.argmax(axis=1))

    def test_textgcn_gradient_is_that_of_dense_torch(self, corpus, torch):
        """One step of Adam from the same start and without dropout moves every weight by the same sign."""
        model = TextGCN(hidden=5, dropout=0.0, max_epochs=1, patience=0, random_state=11).fit(
            samples_of(corpus)
        )
        start = TextGCN(hidden=5, dropout=0.0, max_epochs=1, patience=0, learning_rate=0.0, random_state=11)
        start.fit(samples_of(corpus))
        S = torch.from_numpy(Operator(corpus.graph).matrix().toarray()).float()
        W1, W2 = (W.detach().clone().requires_grad_() for W in start.layers_)
        logits = S @ (torch.relu(S @ W1) @ W2)
        nodes = corpus.train.tolist()
        loss = torch.nn.functional.cross_entropy(logits[nodes], torch.tensor(corpus.y[nodes]))
        loss.backward()
        for before, after in zip((W1, W2), model.layers_, strict=True):
            expected = before.detach() - 0.02 * before.grad / (before.grad.abs() + 1e-8)
            assert torch.allclose(after, expected, atol=2e-4)

    def test_textgcn_same_seed_gives_the_same_weights_and_another_seed_others(self, corpus, torch):
        first, again, other = (
            TextGCN(hidden=4, max_epochs=5, random_state=seed).fit(samples_of(corpus)) for seed in (7, 7, 8)
        )
        assert torch.equal(first.layers_[0], again.layers_[0])
        assert not torch.equal(first.layers_[0], other.layers_[0])

    def test_textgcn_leaves_the_global_generator_alone(self, corpus, torch):
        torch.manual_seed(1234)
        expected = torch.rand(3)
        torch.manual_seed(1234)
        TextGCN(hidden=4, max_epochs=2).fit(samples_of(corpus))
        assert torch.equal(torch.rand(3), expected)

    def test_textgcn_reads_no_test_label(self, corpus):
        y = corpus.y.copy()
        y[corpus.test] = 1 - y[corpus.test]
        codes = [
            TextGCN(hidden=4, max_epochs=8, random_state=7).fit(samples_of(data)).predict(samples_of(data))
            for data in (corpus, replace(corpus, y=y))
        ]
        assert np.array_equal(*codes)

    def test_textgcn_stops_when_the_validation_loss_exceeds_the_mean_of_the_last_ones(self, corpus):
        y = corpus.y.copy()
        y[corpus.val] = 1 - y[corpus.val]  # what is learned is wrong there, so the loss rises
        model = TextGCN(hidden=8, max_epochs=100, patience=3, random_state=7).fit(
            samples_of(replace(corpus, y=y))
        )
        assert model.details_["stopped_early"]
        assert model.details_["epochs"] == 5  # the first epoch that may stop: past patience + 1
        told = []
        model = TextGCN(hidden=8, max_epochs=12, patience=0, random_state=7)
        model.fit(samples_of(replace(corpus, val=np.zeros(0, int))), lambda done, of: told.append((done, of)))
        assert model.details_ | {"seconds_an_epoch": 0} == {
            "epochs": 12,
            "epoch_taken": 12,
            "stopped_early": False,
            "seconds_an_epoch": 0,
            "val_loss": None,
        }
        assert told == [(epoch, 12) for epoch in range(1, 13)]

    def test_textgcn_time_of_few_epochs_is_scaled_and_said_to_be(self, corpus):
        model = TextGCN(hidden=4, max_epochs=4, patience=0, time_for_epochs=40).fit(samples_of(corpus))
        details = model.details_
        assert (details["epochs"], details["scaled_from_epochs"], details["scaled_to_epochs"]) == (4, 4, 40)
        assert model.seconds_ >= 40 * details["seconds_an_epoch"]
        assert model.cpu_seconds_ > 0

    def test_textgcn_refuses_what_it_cannot_take(self, corpus):
        model = TextGCN(hidden=4, max_epochs=1)
        with pytest.raises(InputError, match="must be fitted before it predicts"):
            model.predict(samples_of(corpus))
        with pytest.raises(InputError, match="one-hot features"):
            model.fit(samples_of(replace(corpus, X=2.0 * corpus.X)))
        with pytest.raises(InputError, match=r"one-hot features: got X of shape \(34, 3\)"):
            model.fit(samples_of(replace(corpus, X=np.ones((34, 3)))))
        with pytest.raises(InputError, match="set patience=0"):
            model.fit(samples_of(replace(corpus, val=np.zeros(0, int))))
        arcs = Graph.from_edges([(0, 1)], n_nodes=corpus.graph.n_nodes, directed=True)
        with pytest.raises(InputError, match="undirected graph"):
            model.fit(samples_of(replace(corpus, graph=arcs)))
        model.fit(samples_of(corpus))
        one = GraphDataset(
            "one", Graph.from_edges([(0, 1)]), np.eye(2), [0, 1], ("a", "b"), None, [0], [1], []
        )
        with pytest.raises(InputError, match="was fitted to 34 nodes: got 2"):
            model.predict(samples_of(one))


def test_sparse_product_and_its_gradient_are_those_of_the_dense_matrix():
    torch = pytest.importorskip("torch")
    from sgclearn.baselines.sparse_torch import SparseProduct

    rng = np.random.default_rng(5)
    A = sp.random_array((7, 4), density=0.4, rng=rng, format="csr")
    X = torch.from_numpy(rng.normal(size=(4, 3))).float().requires_grad_()
    G = torch.from_numpy(rng.normal(size=(7, 3))).float()
    result = SparseProduct(A)(X)
    result.backward(G)
    assert np.allclose(result.detach().numpy(), A @ X.detach().numpy(), atol=1e-6)
    assert np.allclose(X.grad.numpy(), A.T @ G.numpy(), atol=1e-6)
