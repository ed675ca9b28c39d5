"""GCN, its linear version GLN, and the same without a graph: two layers."""

from __future__ import annotations

from typing import Any

from sgclearn.baselines.features import EXTRA
from sgclearn.baselines.network import Inputs, NodeNetwork, linear
from sgclearn.errors import require
from sgclearn.graph import Graph


class GCN(NodeNetwork):
    """Graph convolutional network with two layers: `softmax(S relu(S X W1) W2)`.

    `S = D~^-1/2 (A + I) D~^-1/2` (n, n), `W1` (d, hidden), `W2` (hidden, C); dropout on the input of both layers,
    weight decay on `W1`. Training stops when the validation loss exceeds the mean of those of the `patience` epochs
    before it.

    Parameters
    ----------
    hidden, dropout, learning_rate, weight_decay, patience, max_epochs, row_norm, random_state
        As in `NodeNetwork`.

    Notes
    -----
    Paper: Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017. The products with
    `S` and with sparse features are this package's; on Cora they take an eighth of the time of torch_geometric's
    `GCNConv`, which gives the same numbers. Needs torch (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import GCN
    >>> GCN(hidden=32).hidden
    32
    """

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        return {"first": linear(n_features, self.hidden), "second": linear(self.hidden, n_classes)}

    def _decayed(self) -> list[Any]:
        return list(self.layers_["first"].parameters())

    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        H = inputs.graph(inputs.features.linear(self.layers_["first"], dropout))  # (n, hidden)
        H = require("torch", EXTRA).nn.functional.dropout(self._activation(H), dropout)
        return inputs.graph(self.layers_["second"](H))

    def _activation(self, H: Any) -> Any:
        return H.relu()


class GLN(GCN):
    """Linear GCN: `softmax(S (S X W1) W2)`, the model without the nonlinearity between the layers.

    Settings, dropout, decay and stopping as in `GCN`.

    Notes
    -----
    Paper: Thekumparampil et al., Attention-based Graph Neural Network for Semi-supervised Learning, 2018. Needs torch
    (extra ``baselines``).
    """

    def _activation(self, H: Any) -> Any:
        return H


class MLP(NodeNetwork):
    """Perceptron with one hidden layer, which sees no graph: `softmax(relu(X W1 + b1) W2 + b2)`.

    Parameters
    ----------
    hidden, dropout, learning_rate, weight_decay, patience, max_epochs, row_norm, random_state
        As in `NodeNetwork`; dropout, decay and stopping as in `GCN`.

    Notes
    -----
    Needs torch (extra ``baselines``).
    """

    def _graph(self, graph: Graph) -> None:
        return None

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        return {
            "first": linear(n_features, self.hidden, bias=True),
            "second": linear(self.hidden, n_classes, bias=True),
        }

    def _decayed(self) -> list[Any]:
        return [self.layers_["first"].weight]

    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        torch = require("torch", EXTRA)
        H = torch.relu(inputs.features.linear(self.layers_["first"], dropout))
        return self.layers_["second"](torch.nn.functional.dropout(H, dropout))
