"""GIN: sums over neighbours, each followed by a perceptron."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import scipy.sparse as sp

from sgclearn.baselines.features import EXTRA
from sgclearn.baselines.network import Inputs, NodeNetwork, linear
from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.baselines.training import BestAccuracy, Rule
from sgclearn.errors import require
from sgclearn.graph import Graph


@dataclass(eq=False, repr=False)
class GIN(NodeNetwork):
    """Graph isomorphism network with two layers: `h_i <- MLP(h_i + sum of h_j over the neighbours j)`.

    Each perceptron has one hidden layer of `hidden` numbers with ReLU; between the layers there is ReLU and dropout.
    The epoch with the best validation accuracy is taken.

    Parameters
    ----------
    hidden : int, default 64
    dropout, learning_rate, weight_decay, max_epochs, row_norm, random_state
        As in `NodeNetwork`.
    patience : int, default 0
        Epochs without a better one after which to stop; 0 makes all.

    Notes
    -----
    Paper: Xu et al., How Powerful are Graph Neural Networks?, 2019, with epsilon 0. A sum and a matrix commute, so the
    first matrix meets the features before the sum does: the same numbers as torch_geometric's `GINConv` in a fraction
    of the time. Needs torch (extra ``baselines``).
    """

    hidden: int = 64
    _: KW_ONLY
    patience: int = 0

    def _graph(self, graph: Graph) -> SparseProduct:
        A = graph.to_scipy()
        return SparseProduct(
            sp.csr_array(A + sp.eye_array(graph.n_nodes, format="csr")), is_symmetric=not graph.directed
        )

    def _rule(self) -> Rule:
        return BestAccuracy(self.patience)

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        return {
            # The bias of the first matrix comes after the sum, so it is a parameter of its own.
            "first": linear(n_features, self.hidden),
            "bias": _bias(self.hidden),
            "second": linear(self.hidden, self.hidden, bias=True),
            "third": linear(self.hidden, self.hidden, bias=True),
            "fourth": linear(self.hidden, n_classes, bias=True),
        }

    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        torch = require("torch", EXTRA)
        layers = self.layers_
        H = inputs.graph(inputs.features.linear(layers["first"], dropout)) + layers["bias"]["b"]
        H = torch.relu(layers["second"](torch.relu(H)))
        H = torch.nn.functional.dropout(H, dropout)
        H = torch.relu(layers["third"](inputs.graph(H)))
        return layers["fourth"](H)


def _bias(n_out: int) -> Any:
    torch = require("torch", EXTRA)
    return torch.nn.ParameterDict({"b": torch.nn.Parameter(torch.zeros(n_out))})
