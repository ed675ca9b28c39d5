"""Networks whose nodes weigh their neighbours: GAT and AGNN."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from sgclearn.baselines.features import EXTRA
from sgclearn.baselines.network import NEEDS_PYG, Inputs, NodeNetwork, edge_index, linear
from sgclearn.baselines.training import BestAccuracy, LossAndAccuracy, Rule
from sgclearn.errors import InputError, require
from sgclearn.graph import Graph


@dataclass(eq=False, repr=False)
class GAT(NodeNetwork):
    """Graph attention network with two layers: every node weighs its neighbours and itself by learned attention.

    The first layer has `heads` attentions of `hidden` numbers each, side by side, then ELU; the second averages
    `output_heads` attentions of C numbers. Dropout on the input of both layers and on the attention weights. Training
    stops after `patience` epochs that better neither the loss nor the accuracy on the validation nodes, and takes the
    last epoch that was best in both. Edge weights are not read.

    Parameters
    ----------
    hidden : int, default 8
        Numbers a head.
    heads : int, default 8
    output_heads : int, default 1
    dropout : float in [0, 1), default 0.6
    learning_rate : float, default 0.005
    weight_decay : float, default 5e-4
        Of all weights but the biases.
    patience : int, default 100
    max_epochs : int, default 100,000
    row_norm, random_state
        As in `NodeNetwork`.

    Notes
    -----
    Paper: Velickovic et al., Graph Attention Networks, 2018. The layers are torch_geometric's `GATConv`; the product
    with sparse features is this package's. Needs torch and torch_geometric (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import GAT
    >>> GAT(output_heads=8).output_heads
    8
    """

    requires: ClassVar = NEEDS_PYG

    hidden: int = 8
    _: KW_ONLY
    heads: int = 8
    output_heads: int = 1
    dropout: float = 0.6
    learning_rate: float = 0.005
    patience: int = 100
    max_epochs: int = 100_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heads < 1 or self.output_heads < 1:
            raise InputError("heads and output_heads must be >= 1", f"{self.heads} and {self.output_heads}")

    def _graph(self, graph: Graph) -> Any:
        return edge_index(graph)

    def _rule(self) -> Rule:
        return LossAndAccuracy(self.patience)

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        torch = require("torch", EXTRA)
        conv = require("torch_geometric.nn", EXTRA).GATConv
        width = self.heads * self.hidden
        options = {"dropout": self.dropout, "add_self_loops": False}  # the edges have the loops already
        first = conv(width, self.hidden, heads=self.heads, **options)
        first.lin = torch.nn.Identity()  # its place is taken by the product with the features
        second = conv(width, n_classes, heads=self.output_heads, concat=False, **options)
        return {"features": linear(n_features, width), "first": first, "second": second}

    def _decayed(self) -> list[Any]:
        return [weight for name, weight in self.layers_.named_parameters() if not name.endswith("bias")]

    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        functional = require("torch", EXTRA).nn.functional
        H = inputs.features.linear(self.layers_["features"], dropout)  # (n, heads * hidden)
        H = functional.elu(self.layers_["first"](H, inputs.graph))
        return self.layers_["second"](functional.dropout(H, dropout), inputs.graph)


@dataclass(eq=False, repr=False)
class AGNN(NodeNetwork):
    """Attention-based graph network: `softmax(P relu(X W1) W2)`, P the product of layers with one learned number each.

    `P_l` weighs neighbour j of node i, and i itself, by the softmax over j of `beta_l cos(h_i, h_j)`; `beta_1` is
    zero and stays so where `first_fixed`, so that the first layer is a plain mean. Dropout on the features and on the
    last hidden layer; the epoch with the best validation accuracy is taken. Edge weights are not read.

    Parameters
    ----------
    hidden, dropout, learning_rate, weight_decay, row_norm, random_state
        As in `NodeNetwork`.
    n_layers : int, default 2
        Propagation layers.
    first_fixed : bool, default True
    patience : int, default 0
        Epochs without a better one after which to stop; 0 makes all.
    max_epochs : int, default 200

    Notes
    -----
    Paper: Thekumparampil et al., Attention-based Graph Neural Network for Semi-supervised Learning, 2018. The layers
    are torch_geometric's `AGNNConv`. Needs torch and torch_geometric (extra ``baselines``).
    """

    requires: ClassVar = NEEDS_PYG

    _: KW_ONLY
    n_layers: int = 2
    first_fixed: bool = True
    patience: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_layers < 1:
            raise InputError("n_layers must be >= 1", f"{self.n_layers}", argument="n_layers")

    def _graph(self, graph: Graph) -> Any:
        return edge_index(graph)

    def _rule(self) -> Rule:
        return BestAccuracy(self.patience)

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        torch = require("torch", EXTRA)
        conv = require("torch_geometric.nn", EXTRA).AGNNConv
        layers = [
            conv(requires_grad=k > 0 or not self.first_fixed, add_self_loops=False)
            for k in range(self.n_layers)
        ]
        if self.first_fixed:
            torch.nn.init.zeros_(layers[0].beta)
        return {
            "features": linear(n_features, self.hidden, bias=True),
            "propagation": torch.nn.ModuleList(layers),
            "output": linear(self.hidden, n_classes, bias=True),
        }

    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        torch = require("torch", EXTRA)
        H = torch.relu(inputs.features.linear(self.layers_["features"], dropout))
        for layer in self.layers_["propagation"]:
            H = layer(H, inputs.graph)
        return self.layers_["output"](torch.nn.functional.dropout(H, dropout))
