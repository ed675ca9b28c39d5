"""GraphSAGE, trained with labels: neighbours drawn, then averaged or read by an LSTM."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from sgclearn.baselines.features import EXTRA
from sgclearn.baselines.neighbours import Block
from sgclearn.baselines.network import linear
from sgclearn.baselines.sage_layers import AGGREGATORS, aggregate, sage_layer
from sgclearn.baselines.sage_network import DrawnNetwork
from sgclearn.errors import require
from sgclearn.validation.parameters import Choice


@dataclass(eq=False, repr=False)
class GraphSAGE(DrawnNetwork):
    """Sample and aggregate: two layers over drawn neighbours, then a linear layer, trained with labels.

    With neighbours `j` drawn for node `i`, a layer makes of the numbers `x` below it

        mean    h_i = [W x_i, V mean_j x_j]
        lstm    h_i = [W x_i, V lstm(x_j, x_k, ...)]     neighbours in random order, the last state of the LSTM
        gcn     h_i = W mean over i and its neighbours

    `relu(h)` goes into the second layer, whose `h / |h|` goes into the linear one. `[ , ]` puts side by side: a layer
    has `2 hidden` outputs, the second as the first.

    Parameters
    ----------
    hidden : int, default 128
        Outputs of `W` and of `V`, and numbers in the state of the LSTM.
    aggregator : {"mean", "lstm", "gcn"}, default "mean"
    learning_rate : float, default 0.01
    n_drawn, batch_size, dropout, weight_decay, patience, max_epochs, row_norm, random_state
        As in `DrawnNetwork`.

    Notes
    -----
    Paper: Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, 2017; sizes, side by side
    and the norm after the last layer only as in their public code. Prediction draws neighbours as training does, as
    the authors' does: an LSTM that has read sequences of 25 is not asked about thousands, and all three aggregators
    see the same. A node with no more neighbours than are asked for gets all of them, once each, where the authors draw
    with repetition. torch_geometric's `SAGEConv` adds the two products where this puts them side by side. Needs torch
    (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import GraphSAGE
    >>> GraphSAGE(aggregator="lstm").n_drawn
    (25, 10)
    """

    _: KW_ONLY
    aggregator: str = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_aggregator(self.aggregator)

    def _layers(self, n_features: int, n_classes: int) -> dict[str, Any]:
        width = 2 * self.hidden
        return {
            "first": sage_layer(self.aggregator, n_features, self.hidden),
            "second": sage_layer(self.aggregator, width, self.hidden),
            "classes": linear(width, n_classes, bias=True),
        }

    def _hidden(self, number: int, below: Any, block: Block, dropout: float) -> Any:
        return sage_hidden(self.layers_, number, below, block, dropout)

    def _outputs(self, H: Any, dropout: float) -> Any:
        return self.layers_["classes"](require("torch", EXTRA).nn.functional.dropout(H, dropout))


def sage_hidden(layers: Any, number: int, below: Any, block: Block, dropout: float) -> Any:
    """Numbers of the targets after the first layer (number 0) or the second, activation and norm included."""
    functional = require("torch", EXTRA).nn.functional
    if number == 0:
        return functional.relu(aggregate(layers["first"], below, block))
    return functional.normalize(aggregate(layers["second"], functional.dropout(below, dropout), block), dim=1)


def check_aggregator(aggregator: str) -> None:
    """Raise unless the aggregator is known."""
    Choice(values=AGGREGATORS).check("aggregator", aggregator)
