"""LNet, and what it shares with AdaLNet: short hops along the edges, long ones through a few Lanczos vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.features import EXTRA
from sgclearn.baselines.network import Inputs, NodeNetwork, check_undirected, linear, normalized_matrix
from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.baselines.training import BestAccuracy, Rule
from sgclearn.errors import InputError, require
from sgclearn.graph import Graph

FILTER_WIDTH = 128  # of the perceptron that makes a filter of Ritz values
_NOTHING_LEFT = 1e-6  # a Lanczos step shorter than this has found an invariant space


@dataclass(frozen=True)
class Ritz:
    """A product with S, and its approximation `S ~ V T V^T` by orthonormal vectors V (n, k) and T (k, k)."""

    product: Any
    V: Any
    T: Any


@dataclass(eq=False, repr=False)
class LanczosNetwork(NodeNetwork):
    """What LNet and AdaLNet share: two layers, each a sum of short and long filters.

    `H <- act(sum_a S^a H W_a + sum_b V F_b V^T H W_b + c)`, where a runs over the `short` lengths, b over the `long`
    ones, `S ~ V T V^T` after `n_ritz` steps of Lanczos, and `F_b` is what a perceptron makes of the powers of T.
    """

    _: KW_ONLY
    short: Sequence[int] = (1, 2, 3)
    long: Sequence[int] = (5, 10, 20)
    n_ritz: int = 20
    weight_decay: float = 5e-3
    patience: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.short or not self.long or min(*self.short, *self.long, self.n_ritz) < 1:
            raise InputError(
                "short and long must be lengths >= 1, at least one each, and n_ritz >= 1",
                f"{tuple(self.short)}, {tuple(self.long)} and {self.n_ritz}",
            )
        self.short, self.long = tuple(sorted(self.short)), tuple(self.long)

    @abstractmethod
    def _filter_width(self) -> int:
        """Numbers that the perceptron of a layer takes, and gives."""

    @abstractmethod
    def _ritz(self, inputs: Inputs) -> Ritz:
        """S and its approximation for the present weights."""

    @abstractmethod
    def _long_filters(self, perceptron: Any, T: Any) -> Any:
        """The middle factors `F_b` (long, k, k)."""

    def _rule(self) -> Rule:
        return BestAccuracy(self.patience)

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        torch = require("torch", EXTRA)
        width, blocks = self._filter_width(), len(self.short) + len(self.long)
        sizes = {"first": (n_features, self.hidden), "second": (self.hidden, n_classes)}
        return {
            name: torch.nn.ModuleDict(
                {
                    "blocks": linear(n_in, blocks * n_out),
                    "bias": torch.nn.ParameterDict({"c": torch.nn.Parameter(torch.zeros(n_out))}),
                    "filter": perceptron([width, *[FILTER_WIDTH] * 3, width]),
                }
            )
            for name, (n_in, n_out) in sizes.items()
        }

    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        torch = require("torch", EXTRA)
        ritz = self._ritz(inputs)
        first, second = self.layers_["first"], self.layers_["second"]
        H = torch.relu(self._filtered(first, inputs.features.linear(first["blocks"], dropout), ritz))
        H = torch.nn.functional.dropout(H, dropout)
        return self._filtered(second, second["blocks"](H), ritz)

    def _filtered(self, layer: Any, HW: Any, ritz: Ritz) -> Any:
        """Sum of all filters, from the products (n, blocks * c) of the input with the matrix of each."""
        blocks = HW.chunk(len(self.short) + len(self.long), dim=1)
        by_length = dict(zip(self.short, blocks, strict=False))
        total = None
        for length in range(self.short[-1], 0, -1):  # Horner: from the longest hop to the shortest
            if length in by_length:
                total = by_length[length] if total is None else total + by_length[length]
            total = ritz.product(total)
        filters = self._long_filters(layer["filter"], ritz.T)
        for F, block in zip(filters, blocks[len(self.short) :], strict=True):
            total = total + ritz.V @ (F @ (ritz.V.T @ block))
        return total + layer["bias"]["c"]


class LNet(LanczosNetwork):
    r"""Lanczos network with two layers; a layer adds filters of several lengths.

    `H <- act(sum_a S^a H W_a + sum_b V diag(f_b) V^T H W_b + c)`, where a runs over the `short` lengths, b over the
    `long` ones, `S ~ V diag(r) V^T` is the Lanczos approximation with `n_ritz` steps, and the filters `f` (k, long)
    are what a perceptron makes of the powers `r^b`. ReLU and dropout between the layers, dropout on the features; the
    epoch with the best validation accuracy is taken.

    Parameters
    ----------
    hidden : int, default 16
    short, long : sequences of int, default (1, 2, 3) and (5, 10, 20)
    n_ritz : int, default 20
        Lanczos steps.
    dropout, learning_rate, max_epochs, row_norm, random_state
        As in `NodeNetwork`.
    weight_decay : float, default 5e-3
    patience : int, default 50
        Epochs without a better one after which to stop; 0 makes all.

    Notes
    -----
    Paper: Liao et al., LanczosNet: Multi-Scale Deep Graph Convolutional Networks, 2019. The matrices meet the
    features before the filters do, which gives the same numbers. Needs torch (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import LNet
    >>> LNet(n_ritz=10).long
    (5, 10, 20)
    """

    def _filter_width(self) -> int:
        return len(self.long)

    def _graph(self, graph: Graph) -> Ritz:
        torch = require("torch", EXTRA)
        check_undirected(self, graph)
        S = normalized_matrix(graph)
        values, V = ritz_pairs(S, self.n_ritz, np.random.default_rng(self.random_state))
        as_torch = (torch.from_numpy(part.astype(np.float32)) for part in (V, values))
        return Ritz(SparseProduct(S, is_symmetric=True), *as_torch)

    def _ritz(self, inputs: Inputs) -> Ritz:
        ritz: Ritz = inputs.graph
        return ritz

    def _long_filters(self, perceptron: Any, T: Any) -> Any:
        # T is diagonal in the basis of Ritz vectors, so its diagonal (k,) is all there is of it.
        torch = require("torch", EXTRA)
        powers = torch.stack([T**length for length in self.long], dim=1)  # (k, long)
        return torch.diag_embed(perceptron(powers).T)


def perceptron(widths: Sequence[int]) -> Any:
    """Linear layers with ReLU between them."""
    torch = require("torch", EXTRA)
    parts: list[Any] = []
    for n_in, n_out in pairwise(widths):
        parts += [linear(n_in, n_out, bias=True), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def ritz_pairs(
    S: sp.csr_array, n_steps: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ritz values (k,) and vectors (n, k) of a symmetric matrix after `n_steps` of Lanczos, k at most that.

    Notes
    -----
    With full reorthogonalisation. Where the vectors span an invariant space before the last step there are fewer.
    """
    n_steps = min(n_steps, S.shape[0])
    Q = np.zeros((S.shape[0], n_steps))
    diagonal, beside = np.zeros(n_steps), np.zeros(n_steps)
    q = rng.normal(size=S.shape[0])
    for step in range(n_steps):
        Q[:, step] = q / np.linalg.norm(q)
        q = S @ Q[:, step]
        diagonal[step] = Q[:, step] @ q
        for _ in range(2):  # once is not enough in floating point
            q = q - Q[:, : step + 1] @ (Q[:, : step + 1].T @ q)
        beside[step] = np.linalg.norm(q)
        if beside[step] < _NOTHING_LEFT:
            break
    k = step + 1
    T = np.diag(diagonal[:k]) + np.diag(beside[: k - 1], 1) + np.diag(beside[: k - 1], -1)
    values, B = np.linalg.eigh(T)
    return values, Q[:, :k] @ B
