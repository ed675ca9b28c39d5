"""What the networks of the baselines share: one fit on all nodes at once, one prediction, one way to be checked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.features import EXTRA, Features, Rows, normalized_features
from sgclearn.baselines.interface import Baseline, Classes, OnStep, check_features, n_features
from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.baselines.training import Judgement, MeanLoss, Rule, check_schedule, train
from sgclearn.errors import InputError, require
from sgclearn.graph import Graph
from sgclearn.operators import Operator, keeping_loops
from sgclearn.tasks.protocol import Samples

NEEDS_TORCH: tuple[tuple[str, str], ...] = (("torch", EXTRA),)
NEEDS_PYG: tuple[tuple[str, str], ...] = (("torch", EXTRA), ("torch_geometric", EXTRA))


@dataclass(frozen=True)
class Inputs:
    """Features of all nodes, and the graph as the layers of a model take it."""

    features: Features
    graph: Any


@dataclass(frozen=True)
class Labelled:
    """Samples with labels, as a loss takes them: what reads them off the nodes, and their classes (k,)."""

    rows: Any
    y: Any


@dataclass(eq=False, repr=False)
class NodeNetwork(Baseline):
    """A network on nodes, trained by Adam on the mean cross-entropy over the training samples, all nodes at once.

    The logits of a sample are those of its node, or what the readout of the samples makes of all nodes.

    A model says what its layers are (`_layers`), what they make of features and graph (`_logits`), how it takes the
    graph (`_graph`), which weights decay (`_decayed`) and by which rule an epoch is chosen (`_rule`).

    Parameters
    ----------
    hidden : int, default 16
        Numbers a node has in the hidden layer.
    dropout : float in [0, 1), default 0.5
    learning_rate : float, default 0.01
    weight_decay : float, default 5e-4
        Adam adds so many times a weight to its gradient, which is the gradient of `weight_decay / 2 |W|^2`.
    patience : int, default 10
        Epochs that the rule waits for; 0 never stops early.
    max_epochs : int, default 200
    row_norm : {None, "l1", "l2"}, default "l1"
        Norm by which each node's features are divided first.
    random_state : int, default 2019
        Of the weights at the start and of dropout; torch's own generator is left as it was.

    Attributes
    ----------
    layers_ : torch.nn.ModuleDict
        The trained weights.
    seconds_, cpu_seconds_, n_parameters_, details_
        As in `Baseline`; the details are those of `train`.
    """

    requires: ClassVar = NEEDS_TORCH

    hidden: int = 16
    _: KW_ONLY
    dropout: float = 0.5
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    patience: int = 10
    max_epochs: int = 200
    row_norm: str | None = "l1"
    random_state: int = 2019

    def __post_init__(self) -> None:
        check_schedule(self.hidden, self.dropout, self.patience, self.max_epochs)

    @abstractmethod
    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        """Layers with their weights at the start, by name."""

    @abstractmethod
    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        """Logits (n, C) of all nodes; `dropout` is 0 outside of training."""

    def _graph(self, graph: Graph) -> Any:
        """The graph as the layers take it: here a product with `S = D~^-1/2 (A + I) D~^-1/2`."""
        return normalized_product(graph)

    def _decayed(self) -> list[Any]:
        """The weights that weight decay is for: all."""
        return list(self.layers_.parameters())

    def _rule(self) -> Rule:
        return MeanLoss(self.patience)

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Train on the training labels, choosing by those of the validation; see `Baseline.fit`."""
        torch = load_torch(self.requires)
        classes = Classes.of(self, samples, needs_val=self.patience > 0)
        with self.timed(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.random_state)
            inputs = self.inputs_of(samples)
            self.layers_ = torch.nn.ModuleDict(self._layers(n_features(samples), len(classes)))
            self.details_ = self._train(inputs, samples, classes, on_step)
        self.n_parameters_ = n_trained(self.layers_)
        return self

    def inputs_of(self, samples: Samples) -> Inputs:
        """Features and graph as the layers take them."""
        return Inputs(Features(normalized_features(samples, self.row_norm)), self._graph(samples.graph))

    def _train(
        self, inputs: Inputs, samples: Samples, classes: Classes, on_step: OnStep | None
    ) -> dict[str, Any]:
        torch = require("torch", EXTRA)
        training, validation = (
            Labelled(Rows(samples, part), torch.tensor(classes.codes[part]))
            for part in (classes.train, classes.val)
        )

        def judge() -> Judgement:
            with torch.no_grad():
                return judgement(validation.rows.of(self._logits(inputs, 0.0)), validation.y)

        optimizer = adam(self.layers_, self._decayed(), self.learning_rate, self.weight_decay)
        rule = (
            self._rule() if len(classes.val) else None
        )  # without validation samples the last epoch is taken
        losses = partial(self._losses, inputs, training)
        return train(self.layers_, optimizer, losses, judge, rule, self.max_epochs, on_step)

    def _losses(self, inputs: Inputs, training: Labelled) -> Iterator[Any]:
        """Loss of every batch of an epoch: here of one, the whole graph."""
        logits = training.rows.of(self._logits(inputs, self.dropout))
        yield require("torch", EXTRA).nn.functional.cross_entropy(logits, training.y)

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every sample, of the graph of the fit or of another with the same features."""
        codes = self.logits(samples).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def logits(self, samples: Samples) -> NDArray[np.float32]:
        """Logits (m, C) of every sample, of the graph of the fit or of another with the same features."""
        check_features(self, samples)
        self.layers_.eval()
        with require("torch", EXTRA).no_grad():
            found = Rows(samples).of(self._logits(self.inputs_of(samples), 0.0))
        return np.asarray(found.numpy())


def load_torch(requires: tuple[tuple[str, str], ...]) -> Any:
    """Torch, after importing all that a fit needs, so that no import falls into the time of a training."""
    for module, extra in requires:
        require(module, extra)
    if requires == NEEDS_PYG:
        require("torch_geometric.nn", EXTRA)
    torch = require("torch", EXTRA)
    # The first optimizer of a process imports torch's compiler, which takes seconds.
    torch.optim.Adam([torch.zeros(1, requires_grad=True)]).zero_grad()
    return torch


def check_undirected(model: Any, graph: Graph) -> None:
    """Raise for a directed graph, whose matrix is not symmetric."""
    if graph.directed:
        raise InputError(
            f"{type(model).__name__} takes an undirected graph",
            "a directed one",
            "build it with directed=False",
        )


def normalized_matrix(graph: Graph) -> sp.csr_array:
    """`S = D~^-1/2 (A + I) D~^-1/2`; loops in the data stay and I is added on top, as the papers' codes do."""
    with keeping_loops():
        return sp.csr_array(Operator(graph).matrix())


def normalized_product(graph: Graph) -> SparseProduct:
    """`H -> S H`, differentiable in H."""
    return SparseProduct(normalized_matrix(graph), is_symmetric=not graph.directed)


def edge_index(graph: Graph) -> Any:
    """PyG's list of edges (2, m), from the node that is read to the node that reads it, with one loop at each node."""
    torch = require("torch", EXTRA)
    A = graph.to_scipy()
    readers = np.repeat(np.arange(graph.n_nodes), np.diff(A.indptr))
    others = A.indices != readers
    loops = np.arange(graph.n_nodes)
    ends = (np.concatenate([A.indices[others], loops]), np.concatenate([readers[others], loops]))
    return torch.from_numpy(np.stack(ends).astype(np.int64))


def linear(n_in: int, n_out: int, bias: bool = False) -> Any:
    """A `torch.nn.Linear` with weights drawn as Glorot and Bengio do (uniform) and a bias of zero."""
    torch = require("torch", EXTRA)
    layer = torch.nn.Linear(n_in, n_out, bias=bias)
    torch.nn.init.xavier_uniform_(layer.weight)
    if bias:
        torch.nn.init.zeros_(layer.bias)
    return layer


def adam(layers: Any, decayed: list[Any], learning_rate: float, weight_decay: float) -> Any:
    """Adam that decays some of the weights."""
    torch = require("torch", EXTRA)
    marked = {id(weight) for weight in decayed}
    others = [weight for weight in layers.parameters() if id(weight) not in marked]
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": weight_decay}, {"params": others}]
    return torch.optim.Adam([group for group in groups if group["params"]], lr=learning_rate)


def judgement(logits: Any, y: Any) -> Judgement:
    """Mean cross-entropy, and share of right answers."""
    loss = require("torch", EXTRA).nn.functional.cross_entropy(logits, y)
    return float(loss), float((logits.argmax(dim=1) == y).float().mean())


def n_trained(layers: Any) -> int:
    """Number of weights that a gradient is taken for."""
    return sum(weight.numel() for weight in layers.parameters() if weight.requires_grad)
