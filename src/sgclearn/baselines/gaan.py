"""GaAN: attention over drawn neighbours, with a gate that says how much each head counts at a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from sgclearn.baselines.features import EXTRA
from sgclearn.baselines.neighbours import Block
from sgclearn.baselines.network import NEEDS_PYG, linear
from sgclearn.baselines.sage_features import RowFeatures
from sgclearn.baselines.sage_network import DrawnNetwork
from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.errors import InputError, require

SLOPE = 0.1  # of the leaky ReLU below zero


@dataclass(eq=False, repr=False)
class GaAN(DrawnNetwork):
    """Gated attention network: two layers of gated heads over drawn neighbours, trained with labels.

    With neighbours `j` drawn for node `i`, and K heads k, a layer makes of the numbers `x` below it

        a_ijk = softmax over j of  (Q_k x_i) (R_k x_j)               attention
        v_ik  = sum_j a_ijk f(V_k x_j)                               what a head says
        g_i   = sigmoid(G [x_i, max_j M x_j, mean_j x_j])            gates, one a head
        y_i   = f(O [x_i, g_i1 v_i1, ..., g_iK v_iK])

    where f is the leaky ReLU with slope 0.1 and `[ , ]` puts side by side. Before the first layer the features are
    mapped to `embedded` numbers, after the last a linear layer gives the classes.

    Parameters
    ----------
    hidden : int, default 128
        Numbers of a node after a layer.
    heads : two int, default (1, 4)
        K in the first and in the second layer.
    embedded : int, default 64
    attention, value, gate : int, default 32, 512 and 64
        Outputs of `Q_k` and `R_k`, of all `V_k` together, and of M.
    dropout : float in [0, 1), default 0.1
        On what a layer reads.
    attention_dropout : float in [0, 1), default 0.5
        Share of the attention weights that is left out.
    learning_rate : float, default 0.001
    n_drawn, batch_size, weight_decay, patience, max_epochs, row_norm, random_state
        As in `DrawnNetwork`.

    Notes
    -----
    Paper: Zhang et al., GaAN: Gated Attention Networks for Learning on Large and Spatiotemporal Graphs, 2018; the
    sizes are those of the authors' public settings for Reddit. Their learning rate falls by halves and their gradients
    are cut at length 1; here neither. Prediction draws neighbours as training does, as the authors' does: the work
    then does not grow with the edges. Softmax and sums over neighbours are torch_geometric's. Needs torch and
    torch_geometric (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import GaAN
    >>> GaAN(heads=(8, 8)).value
    512
    """

    requires: ClassVar = NEEDS_PYG

    _: KW_ONLY
    heads: Sequence[int] = (1, 4)
    embedded: int = 64
    attention: int = 32
    value: int = 512
    gate: int = 64
    dropout: float = 0.1
    attention_dropout: float = 0.5
    learning_rate: float = 0.001
    max_epochs: int = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = (self.embedded, self.attention, self.value, self.gate)
        if len(self.heads) != 2 or min(*self.heads, *sizes) < 1 or any(self.value % k for k in self.heads):
            raise InputError(
                "heads must be two numbers >= 1 that divide value, and embedded, attention and gate >= 1",
                f"heads {list(self.heads)}, value {self.value}, and {self.embedded}, {self.attention}, {self.gate}",
                argument="heads",
            )
        if not 0.0 <= self.attention_dropout < 1.0:
            raise InputError(
                "attention_dropout must be a share in [0, 1)",
                f"{self.attention_dropout}",
                argument="attention_dropout",
            )

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        return {
            "features": linear(n_features, self.embedded, bias=True),
            "first": self._gated(self.embedded, self.heads[0]),
            "second": self._gated(self.hidden, self.heads[1]),
            "classes": linear(self.hidden, n_classes, bias=True),
        }

    def _gated(self, n_in: int, heads: int) -> Any:
        sizes = {
            "query": (n_in, heads * self.attention),
            "key": (n_in, heads * self.attention),
            "value": (n_in, self.value),
            "most": (n_in, self.gate),
            "gates": (2 * n_in + self.gate, heads),
            "output": (n_in + self.value, self.hidden),
        }
        layers = {name: linear(*size, bias=True) for name, size in sizes.items()}
        return require("torch", EXTRA).nn.ModuleDict(layers)

    def _hidden(self, number: int, below: Any, block: Block, dropout: float) -> Any:
        functional = require("torch", EXTRA).nn.functional
        if isinstance(below, RowFeatures):
            embed = self.layers_["features"]
            below = functional.leaky_relu(below.linear(block.sources, embed.weight, embed.bias), SLOPE)
        X = functional.dropout(below, dropout)
        drop = self.attention_dropout if self.layers_.training else 0.0
        return gated_attention(
            self.layers_["second" if number else "first"], X, block, self.heads[number], drop
        )

    def _outputs(self, H: Any, dropout: float) -> Any:
        return self.layers_["classes"](require("torch", EXTRA).nn.functional.dropout(H, dropout))


def gated_attention(layer: Any, X: Any, block: Block, heads: int, attention_dropout: float = 0.0) -> Any:
    """Numbers of the targets (t, hidden) from those of the sources X (s, n_in); see `GaAN` for the formula."""
    torch = require("torch", EXTRA)
    utils = require("torch_geometric.utils", EXTRA)
    functional = torch.nn.functional
    n_targets, sources = len(block.own), torch.from_numpy(block.indices)
    owners = torch.from_numpy(np.repeat(np.arange(n_targets), block.counts))
    own = X.index_select(0, torch.from_numpy(block.own))  # (t, n_in)

    def over_neighbours(values: Any, reduce: str) -> Any:
        return utils.scatter(values, owners, dim=0, dim_size=n_targets, reduce=reduce)

    def by_head(values: Any, rows: Any) -> Any:
        return values.index_select(0, rows).unflatten(1, (heads, -1))  # (m, K, ...)

    products = by_head(layer["query"](own), owners) * by_head(layer["key"](X), sources)
    a = utils.softmax(products.sum(dim=2), owners, num_nodes=n_targets)  # (m, K)
    a = functional.dropout(a, attention_dropout)
    value = by_head(functional.leaky_relu(layer["value"](X), SLOPE), sources)
    said = over_neighbours(a[:, :, None] * value, "sum")  # (t, K, value / K)
    most = over_neighbours(layer["most"](X).index_select(0, sources), "max")
    mean = SparseProduct(block.mean())(X)
    gates = layer["gates"](torch.cat([own, most, mean], dim=1)).sigmoid()
    said = (gates[:, :, None] * said).flatten(1)
    return functional.leaky_relu(layer["output"](torch.cat([own, said], dim=1)), SLOPE)
