"""AdaLNet: a Lanczos network that learns how alike two neighbours are, and differentiates through Lanczos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sgclearn.baselines.features import EXTRA
from sgclearn.baselines.lanczos import LanczosNetwork, Ritz
from sgclearn.baselines.network import Inputs, check_undirected, edge_index, linear
from sgclearn.errors import require
from sgclearn.graph import Graph

_LEAST_STEP = 1e-6  # of Lanczos, below which a vector has no direction


@dataclass(frozen=True)
class Edges:
    """Both ends of every edge (m,), loops included, and the vector (n,) that Lanczos starts from."""

    readers: Any
    read: Any
    start: Any


class AdaLNet(LanczosNetwork):
    r"""Lanczos network whose matrix is learned: `S = D^-1/2 K D^-1/2`, `K_ij = exp(-|m_i - m_j|^2)` on the edges.

    `M = X W_m` (n, hidden) are learned positions of the nodes. Lanczos is run at every epoch, so that the gradient
    goes through it, and stops at `S ~ Q T Q^T` with T (k, k) tridiagonal: the filters `F_b` are what a perceptron
    makes of the powers `T^b`, made symmetric. All else as in `LNet`. Edge weights are not read.

    Parameters
    ----------
    hidden, short, long, n_ritz, dropout, learning_rate, weight_decay, patience, max_epochs, row_norm, random_state
        As in `LNet`.

    Notes
    -----
    Paper: Liao et al., LanczosNet: Multi-Scale Deep Graph Convolutional Networks, 2019. Needs torch (extra
    ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import AdaLNet
    >>> AdaLNet(hidden=32).n_ritz
    20
    """

    def _filter_width(self) -> int:
        return len(self.long) * self.n_ritz**2

    def _graph(self, graph: Graph) -> Edges:
        torch = require("torch", EXTRA)
        check_undirected(self, graph)
        read, readers = edge_index(graph)
        start = np.random.default_rng(self.random_state).normal(size=graph.n_nodes)
        return Edges(readers, read, torch.from_numpy(start.astype(np.float32)))

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        return {"metric": linear(n_features, self.hidden), **super()._layers(n_features, n_classes)}

    def _ritz(self, inputs: Inputs) -> Ritz:
        torch = require("torch", EXTRA)
        edges: Edges = inputs.graph
        n_nodes = len(edges.start)
        M = inputs.features.linear(self.layers_["metric"])
        K = torch.exp(-((M[edges.readers] - M[edges.read]) ** 2).sum(dim=1))  # (m,)
        degrees = torch.zeros(n_nodes).index_add(0, edges.readers, K)
        S = K * torch.rsqrt(degrees[edges.readers] * degrees[edges.read])

        def product(H: Any) -> Any:
            return torch.zeros_like(H).index_add(0, edges.readers, S[:, None] * H[edges.read])

        return Ritz(product, *lanczos(product, edges.start, self.n_ritz))

    def _long_filters(self, perceptron: Any, T: Any) -> Any:
        torch = require("torch", EXTRA)
        powers = torch.stack([torch.linalg.matrix_power(T, length) for length in self.long])
        F = perceptron(powers.flatten()).reshape(powers.shape)  # (long, k, k)
        return (F + F.transpose(1, 2)) / 2.0


def lanczos(product: Any, start: Any, n_steps: int) -> tuple[Any, Any]:
    """Vectors Q (n, k) and tridiagonal T (k, k) of a symmetric product, differentiable in what the product uses.

    Notes
    -----
    With full reorthogonalisation. Where the vectors span an invariant space early, the vectors after it are zero.
    """
    torch = require("torch", EXTRA)
    columns: list[Any] = []
    diagonal: list[Any] = []
    beside: list[Any] = []
    q = start / start.norm()
    for _ in range(n_steps):
        columns.append(q)
        Q = torch.stack(columns, dim=1)
        w = product(q[:, None])[:, 0]
        diagonal.append(q @ w)
        for _ in range(2):  # once is not enough in floating point
            w = w - Q @ (Q.T @ w)
        length = w.norm()
        is_left = bool(length > _LEAST_STEP)
        q = w / length if is_left else torch.zeros_like(w)
        beside.append(length if is_left else torch.zeros(()))
    off = torch.stack(beside[:-1]) if n_steps > 1 else torch.zeros(0)
    T = torch.diag(torch.stack(diagonal)) + torch.diag(off, 1) + torch.diag(off, -1)
    return Q, T
