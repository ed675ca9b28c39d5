"""GraphSAGE, trained without labels: nodes that a short walk joins get alike, and a regression finds the classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sgclearn.baselines.deepwalk import random_walks
from sgclearn.baselines.features import EXTRA, Rows
from sgclearn.baselines.interface import Classes, OnStep, check_features
from sgclearn.baselines.network import Inputs, adam
from sgclearn.baselines.plain import regression
from sgclearn.baselines.sage import GraphSAGE
from sgclearn.baselines.training import train
from sgclearn.errors import InputError, require
from sgclearn.graph import Graph
from sgclearn.tasks.protocol import Samples


@dataclass(eq=False, repr=False)
class UnsupervisedSAGE(GraphSAGE):
    """The layers of `GraphSAGE`, trained to give a high product to nodes that a random walk joins.

    With the outputs `z` of the second layer, which have length one, the loss of a pair (u, v) is

        -log s(z_u z_v)  -  sum_k log s(-z_u z_k)

    where s is the sigmoid and the `n_noise` nodes k, the same for a whole batch, are drawn in proportion to
    `degree^(3/4)`. Pairs are a node and those that a walk from it meets. Logistic regression on the `z` of the training
    nodes then gives the classes; no label is read before.

    Parameters
    ----------
    hidden, aggregator, n_drawn, learning_rate, random_state
        As in `GraphSAGE`.
    max_epochs : int, default 50
        Walks from each node, an epoch each.
    walk_length : int, default 5
        Nodes of a walk, the one where it starts included.
    n_noise : int, default 20
    batch_size : int, default 512
        Pairs in a batch.
    weight_decay : float or None, default 1e-6
        Of the regression; None takes the best of a path on the validation nodes.

    Notes
    -----
    Paper: Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, 2017. Their regression is
    trained by stochastic gradient descent; this one is at its optimum. Needs torch (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import UnsupervisedSAGE
    >>> UnsupervisedSAGE(aggregator="gcn").n_noise
    20
    """

    _: KW_ONLY
    walk_length: int = 5
    n_noise: int = 20
    max_epochs: int = 50
    weight_decay: float | None = 1e-6  # type: ignore[assignment]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patience:
            raise InputError(
                "patience must be 0",
                f"{self.patience}",
                "without labels there is nothing to stop by",
                argument="patience",
            )
        if self.walk_length < 2 or self.n_noise < 1:
            raise InputError(
                "walk_length must be >= 2 and n_noise >= 1",
                f"{self.walk_length} and {self.n_noise}",
                argument="walk_length",
            )

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        layers = super()._layers(n_features, n_classes)
        del layers["classes"]
        return layers

    def _outputs(self, H: Any, dropout: float) -> Any:
        return H

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Learn embeddings of all nodes, then the classes from the training samples; see `Baseline.fit`."""
        super().fit(samples, on_step)
        self.n_parameters_ += int(self.probe_.coef_.size + self.probe_.intercept_.size)
        return self

    def _train(
        self, inputs: Inputs, samples: Samples, classes: Classes, on_step: OnStep | None
    ) -> dict[str, Any]:
        optimizer = adam(self.layers_, list(self.layers_.parameters()), self.learning_rate, 0.0)
        details = train(
            self.layers_, optimizer, lambda: self._pair_losses(inputs), None, None, self.max_epochs, on_step
        )
        self.probe_ = regression(self._embeddings(inputs, samples), samples, self.weight_decay)
        return details | {"weight_decay": float(self.probe_.weight_decay)}

    def _pair_losses(self, inputs: Inputs) -> Iterator[Any]:
        torch = require("torch", EXTRA)
        graph, rng = inputs.graph.graph, inputs.graph.rng
        noise = np.maximum(np.diff(graph.indptr), 1) ** 0.75
        noise /= noise.sum()
        pairs = walk_pairs(graph, self.walk_length, rng)
        if len(pairs) == 0:
            raise InputError(
                "UnsupervisedSAGE learns from walks along edges",
                "a graph without any",
                "give it one that has some",
            )
        for batch in np.array_split(pairs, max(1, -(-len(pairs) // self.batch_size))):
            drawn = rng.choice(graph.n_nodes, self.n_noise, p=noise)
            nodes, places = np.unique(np.concatenate([batch.ravel(), drawn]), return_inverse=True)
            Z = self.outputs_of(inputs, nodes, self.dropout)
            ends = Z.index_select(0, torch.from_numpy(places))
            u, v = ends[: batch.size].unflatten(0, (-1, 2)).unbind(1)
            products = u @ ends[batch.size :].t()  # (pairs, n_noise)
            softplus = torch.nn.functional.softplus  # -log of the sigmoid of the opposite
            yield softplus(-(u * v).sum(dim=1)).mean() + softplus(products).sum(dim=1).mean()

    def _embeddings(self, inputs: Inputs, samples: Samples) -> NDArray[np.float64]:
        """Of every sample (m, 2 hidden)."""
        self.layers_.eval()
        with require("torch", EXTRA).no_grad():
            Z = Rows(samples).of(self._logits(inputs, 0.0)).numpy()
        return np.asarray(Z, dtype=np.float64)

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every sample, of the graph of the fit or of another with the same features."""
        check_features(self, samples)
        return np.asarray(self.probe_.predict(self._embeddings(self.inputs_of(samples), samples)))


def walk_pairs(graph: Graph, length: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs (m, 2) of a node and another that a walk from it meets, one walk a node, in random order."""
    walks = random_walks(graph, np.arange(graph.n_nodes), length, rng)
    pairs = np.stack([np.repeat(walks[:, 0], length - 1), walks[:, 1:].ravel()], axis=1)
    return rng.permutation(pairs[pairs[:, 0] != pairs[:, 1]])
