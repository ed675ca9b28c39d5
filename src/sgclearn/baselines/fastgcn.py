"""FastGCN: a GCN whose layers are estimated from nodes drawn by their importance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.features import EXTRA, Features, normalized_features
from sgclearn.baselines.network import Inputs, Labelled, NodeNetwork, linear, normalized_matrix
from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.errors import InputError, require
from sgclearn.graph import Graph
from sgclearn.tasks.protocol import Samples

DENSE_ABOVE = 0.1


@dataclass(frozen=True)
class Sampled:
    """`S` (n, n), `S X` (n, d), and how likely each node is drawn: `q_u ~ |S[:, u]|^2`."""

    S: sp.csr_array
    SX: Any
    q: NDArray[np.float64]
    product: SparseProduct


@dataclass(eq=False, repr=False)
class FastGCN(NodeNetwork):
    r"""GCN with two layers, trained on batches of labelled nodes and a sample of the nodes below them.

    For a batch B, nodes `u_1 ... u_t` are drawn with replacement and probability `q_u ~ |S[:, u]|^2`, and

        logits[B] = 1/t  sum_s  S[B, u_s] / q[u_s]  relu((S X)[u_s] W1) W2,

    an unbiased estimate of the last product. `S X` has no weights and is computed once, exactly. Validation and
    prediction use the whole graph. Weight decay and stopping as in `GCN`.

    Parameters
    ----------
    hidden, learning_rate, weight_decay, patience, max_epochs, row_norm, random_state
        As in `NodeNetwork`.
    n_sampled : int, default 400
        Nodes drawn for a batch (t).
    batch_size : int, default 256
        Labelled nodes in a batch.
    reached : bool, default False
        Draw among the nodes that the batch reaches instead of all. The others add nothing, and with few labels in a
        large graph most draws are of such: the estimate is steadier, and the paper's is not this one.
    dropout : float in [0, 1), default 0
        On the hidden layer.

    Notes
    -----
    Paper: Chen, Ma and Xiao, FastGCN: Fast Learning with Graph Convolutional Networks via Importance Sampling, 2018:
    the proposed distribution, and the precomputed first product. Needs torch (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import FastGCN
    >>> FastGCN(n_sampled=100).n_sampled
    100
    """

    _: KW_ONLY
    n_sampled: int = 400
    batch_size: int = 256
    reached: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_sampled < 1 or self.batch_size < 1:
            raise InputError(
                "n_sampled and batch_size must be >= 1", f"{self.n_sampled} and {self.batch_size}"
            )

    def inputs_of(self, samples: Samples) -> Inputs:
        """See `NodeNetwork.inputs_of`."""
        sampled = self._graph(samples.graph)
        SX = sampled.S @ normalized_features(samples, self.row_norm)
        if sp.issparse(SX):
            # A mean over neighbours fills up: past a share, dense products are the faster ones.
            SX = SX.toarray() if SX.nnz > DENSE_ABOVE * np.prod(SX.shape) else sp.csr_array(SX)
        SX = SX.astype(np.float32, copy=False)
        return Inputs(Features(SX), Sampled(sampled.S, SX, sampled.q, sampled.product))

    def _graph(self, graph: Graph) -> Sampled:
        S = normalized_matrix(graph)
        weights = np.asarray(S.multiply(S).sum(axis=0)).ravel()
        return Sampled(S, None, weights / weights.sum(), SparseProduct(S, is_symmetric=not graph.directed))

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        return {"first": linear(n_features, self.hidden), "second": linear(self.hidden, n_classes)}

    def _decayed(self) -> list[Any]:
        return list(self.layers_["first"].parameters())

    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        H = require("torch", EXTRA).relu(inputs.features.linear(self.layers_["first"]))
        return inputs.graph.product(self.layers_["second"](H))

    def _losses(self, inputs: Inputs, training: Labelled) -> Iterator[Any]:
        torch = require("torch", EXTRA)
        nodes = training.rows.nodes(self)
        for batch in torch.randperm(len(nodes)).split(self.batch_size):
            rows, _, below = self.draw(inputs.graph, nodes[batch.numpy()])
            H = torch.relu(self.layers_["first"](torch.from_numpy(below)))  # (t, hidden)
            H = torch.nn.functional.dropout(H, self.dropout)
            logits = torch.from_numpy(rows) @ self.layers_["second"](H)
            yield torch.nn.functional.cross_entropy(logits, training.y[batch])

    def draw(self, graph: Sampled, batch: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """`S[B, u] / (t q_u)` (B, t), the nodes drawn (t,) and their rows of `S X` (t, d)."""
        torch = require("torch", EXTRA)
        rows = graph.S[batch]
        q = graph.q
        if self.reached:
            q = np.zeros_like(q)
            q[rows.indices] = graph.q[rows.indices]
            q /= q.sum()
        drawn = torch.multinomial(torch.from_numpy(q), self.n_sampled, replacement=True).numpy()
        rows = rows[:, drawn].toarray() / (self.n_sampled * q[drawn])
        below = graph.SX[drawn]
        below = below.toarray() if sp.issparse(below) else np.ascontiguousarray(below)
        return rows.astype(np.float32), drawn, below
