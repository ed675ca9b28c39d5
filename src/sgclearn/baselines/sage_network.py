"""What networks on drawn neighbours share: batches of nodes to train on, and layer after layer to predict."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from sgclearn.baselines.features import EXTRA, normalized_features
from sgclearn.baselines.neighbours import Block, check_drawn, draw_block, draw_blocks
from sgclearn.baselines.network import Inputs, Labelled, NodeNetwork
from sgclearn.baselines.sage_features import RowFeatures
from sgclearn.baselines.training import BestAccuracy, Rule
from sgclearn.errors import require
from sgclearn.graph import Graph
from sgclearn.tasks.protocol import Samples

CHUNK = 4096  # nodes that a layer makes at a time in prediction


@dataclass(frozen=True)
class Drawing:
    """A graph, and the generator that draws neighbours in it."""

    graph: Graph
    rng: np.random.Generator


@dataclass(eq=False, repr=False)
class DrawnNetwork(NodeNetwork):
    """A network with two layers, each of which reads a node and neighbours drawn for it, trained on batches.

    A model says how a layer works (`_hidden`) and what follows the last (`_outputs`).

    Parameters
    ----------
    hidden, dropout, learning_rate, weight_decay, max_epochs, row_norm, random_state
        As in `NodeNetwork`; the defaults are the model's.
    n_drawn : two int, default (25, 10)
        Neighbours that a node draws in the first and in the second layer, at most.
    batch_size : int, default 512
        Labelled nodes in a batch.
    patience : int, default 0
        Epochs without a better validation accuracy after which training stops; 0 never stops. The best epoch is taken,
        without validation nodes the last.
    """

    hidden: int = 128
    _: KW_ONLY
    n_drawn: Sequence[int] = (25, 10)
    batch_size: int = 512
    dropout: float = 0.0
    weight_decay: float = 0.0
    patience: int = 0
    max_epochs: int = 10
    row_norm: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_drawn(self.n_drawn, self.batch_size)

    @abstractmethod
    def _hidden(self, number: int, below: Any, block: Block, dropout: float) -> Any:
        """Numbers of the targets after layer 0 or 1; `below` are features, or numbers of the sources."""

    @abstractmethod
    def _outputs(self, H: Any, dropout: float) -> Any:
        """Outputs from the numbers after the last layer."""

    def _rule(self) -> Rule:
        return BestAccuracy(self.patience)

    def inputs_of(self, samples: Samples) -> Inputs:
        """See `NodeNetwork.inputs_of`."""
        rng = np.random.default_rng(self.random_state)
        features: Any = RowFeatures(normalized_features(samples, self.row_norm))
        return Inputs(features, Drawing(samples.graph, rng))

    def _losses(self, inputs: Inputs, training: Labelled) -> Iterator[Any]:
        torch = require("torch", EXTRA)
        nodes = training.rows.nodes(self)
        for batch in torch.randperm(len(nodes)).split(self.batch_size):
            logits = self.outputs_of(inputs, nodes[batch.numpy()], self.dropout)
            yield torch.nn.functional.cross_entropy(logits, training.y[batch])

    def outputs_of(self, inputs: Inputs, nodes: Any, dropout: float) -> Any:
        """Outputs (m, ...) of some nodes, from neighbours drawn for them."""
        H: Any = inputs.features
        for number, block in enumerate(
            draw_blocks(inputs.graph.graph, nodes, self.n_drawn, inputs.graph.rng)
        ):
            H = self._hidden(number, H, block, dropout)
        return self._outputs(H, dropout)

    def _logits(self, inputs: Inputs, dropout: float) -> Any:
        """Outputs (n, ...) of all nodes: a layer for all of them, then the next, some nodes at a time.

        Every node draws neighbours once a layer, so that the work grows with the nodes and not with the edges.
        """
        torch = require("torch", EXTRA)
        drawing = inputs.graph
        H: Any = inputs.features
        for number, n in enumerate(self.n_drawn):
            parts = []
            for targets in np.array_split(np.arange(drawing.graph.n_nodes), _n_chunks(drawing.graph)):
                block = draw_block(drawing.graph, targets, n, drawing.rng)
                below = H if number == 0 else H[block.sources]
                parts.append(self._hidden(number, below, block, dropout))
            H = torch.cat(parts)
        return self._outputs(H, dropout)


def _n_chunks(graph: Graph) -> int:
    return max(1, -(-graph.n_nodes // CHUNK))
