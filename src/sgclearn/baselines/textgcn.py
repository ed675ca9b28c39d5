"""TextGCN: a GCN with two layers on the graph of documents and words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.interface import Baseline, OnStep
from sgclearn.baselines.network import check_same_nodes, check_split, n_trained
from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.baselines.training import Judgement, MeanLoss, check_schedule, train
from sgclearn.datasets import GraphDataset
from sgclearn.errors import InputError, require
from sgclearn.operators import Operator


@dataclass(eq=False, repr=False)
class TextGCN(Baseline):
    r"""GCN with two layers, one-hot features and no bias: `softmax(S relu(S W1) W2)`.

    `S = D~^-1/2 (A + I) D~^-1/2` (n, n), `W1` (n, hidden), `W2` (hidden, C). With one-hot features the first layer
    is `S W1` itself, and dropping a node's feature drops its row of `W1`. Adam minimises the mean cross-entropy over
    the training nodes; training stops when the validation loss exceeds the mean of those of the `patience` epochs
    before it, and the weights of that epoch are kept.

    Parameters
    ----------
    hidden : int, default 200
    dropout : float in [0, 1), default 0.5
        On the features and on the hidden layer.
    learning_rate : float, default 0.02
    patience : int, default 10
        Epochs whose validation losses are averaged; 0 never stops early.
    max_epochs : int, default 200
    time_for_epochs : int, optional
        Scale the measured time of the epochs to so many, for graphs where all of them take too long; the details
        then say from how many (`scaled_from_epochs`) and to how many (`scaled_to_epochs`).
    random_state : int, default 2019
        Of the weights at the start (Glorot, uniform) and of dropout.

    Attributes
    ----------
    seconds_, n_parameters_, details_
        As in `Baseline`; the details are epochs, seconds an epoch, whether training stopped early, and the validation
        loss of the last epoch.

    Notes
    -----
    Paper: Yao, Mao and Luo, Graph Convolutional Networks for Text Classification, 2019. The output is computed for
    the nodes that a loss is taken over and for no others. Needs torch (extra ``torch``).

    Examples
    --------
    >>> from sgclearn.baselines import TextGCN
    >>> TextGCN(max_epochs=50).max_epochs
    50
    """

    requires: ClassVar = (("torch", "torch"),)

    hidden: int = 200
    _: KW_ONLY
    dropout: float = 0.5
    learning_rate: float = 0.02
    patience: int = 10
    max_epochs: int = 200
    time_for_epochs: int | None = None
    random_state: int = 2019

    def __post_init__(self) -> None:
        check_schedule(self.hidden, self.dropout, self.patience, self.max_epochs)

    def fit(self, data: GraphDataset, on_step: OnStep | None = None) -> Self:
        """Train on the labels of `data.train`, stopping by those of `data.val`; see `Baseline.fit`."""
        torch = require("torch", "torch")
        check_split(self, data, needs_val=self.patience > 0)
        _check(data)
        generator = torch.Generator().manual_seed(self.random_state)
        with self.timed():
            S = sp.csr_array(Operator(data.graph).matrix())
            self._layer = SparseProduct(S, is_symmetric=True)
            self._train(torch, S, data, generator, on_step)
        self._scale_time()
        self.n_parameters_ = n_trained(self.layers_)
        return self

    def _scale_time(self) -> None:
        if self.time_for_epochs is None:
            return
        epochs = self.details_["epochs"]
        missing = (self.time_for_epochs - epochs) * self.details_["seconds_an_epoch"]
        share = missing / self.seconds_
        self.seconds_, self.cpu_seconds_ = self.seconds_ + missing, self.cpu_seconds_ * (1.0 + share)
        self.details_ |= {"scaled_from_epochs": epochs, "scaled_to_epochs": self.time_for_epochs}

    def _train(
        self, torch: Any, S: sp.csr_array, data: GraphDataset, generator: Any, on_step: OnStep | None
    ) -> None:
        weights = (
            _glorot(torch, data.graph.n_nodes, self.hidden, generator),
            _glorot(torch, self.hidden, len(data.class_names), generator),
        )
        self.layers_ = torch.nn.ParameterList(weights)
        cross_entropy = torch.nn.functional.cross_entropy
        (rows, y), (val_rows, val_y) = (_output(torch, S, data, nodes) for nodes in (data.train, data.val))

        def losses() -> Iterator[Any]:
            yield cross_entropy(self._forward(torch, rows, generator), y)

        def judge() -> Judgement:
            with torch.no_grad():
                return float(cross_entropy(self._forward(torch, val_rows), val_y)), 0.0

        rule = MeanLoss(self.patience) if self.patience else None
        optimizer = torch.optim.Adam(self.layers_.parameters(), lr=self.learning_rate)
        self.details_ = train(self.layers_, optimizer, losses, judge, rule, self.max_epochs, on_step)
        self.details_["val_loss"] = rule.losses[-1] if rule else None

    def _forward(self, torch: Any, rows: SparseProduct, generator: Any = None) -> Any:
        """Logits of the nodes that `rows` averages for; dropout only where there is a generator to draw it."""
        W1, W2 = self.layers_
        if generator is not None:
            W1 = W1 * self._kept(torch, (len(W1), 1), generator)
        H = torch.relu(self._layer(W1))  # (n, hidden)
        if generator is not None:
            H = H * self._kept(torch, H.shape, generator)
        return rows(H @ W2)

    def _kept(self, torch: Any, shape: Any, generator: Any) -> Any:
        """Zero for what is dropped, and for what is kept the factor that leaves the mean as it was."""
        kept = torch.rand(shape, generator=generator) >= self.dropout
        return kept.float() / (1.0 - self.dropout)

    def predict(self, data: GraphDataset) -> NDArray[np.intp]:
        """Class of every node; the graph has to be that of the fit, because every node has weights of its own."""
        torch = require("torch", "torch")
        check_same_nodes(self, data)
        with torch.no_grad():
            codes = self._forward(torch, self._layer).argmax(dim=1)
        return np.asarray(codes.numpy(), dtype=np.intp)


def _check(data: GraphDataset) -> None:
    n_nodes = data.graph.n_nodes
    X: Any = data.X
    is_identity = sp.issparse(X) and X.shape == (n_nodes, n_nodes) and X.nnz == n_nodes
    if not is_identity or (X.diagonal() != 1.0).any():
        raise InputError(
            f"TextGCN takes one-hot features: got X of shape {X.shape}, which is not the identity; "
            "build the dataset with scipy.sparse.eye_array(n, format='csr')."
        )
    if data.graph.directed:
        raise InputError(
            "TextGCN takes an undirected graph: got a directed one; build it with directed=False."
        )


def _glorot(torch: Any, n_in: int, n_out: int, generator: Any) -> Any:
    bound = (6.0 / (n_in + n_out)) ** 0.5
    return (2.0 * torch.rand((n_in, n_out), generator=generator) - 1.0) * bound


def _output(torch: Any, S: sp.csr_array, data: GraphDataset, nodes: NDArray[np.intp]) -> tuple[Any, Any]:
    """The last product for some nodes, and their classes."""
    return SparseProduct(sp.csr_array(S[nodes])), torch.from_numpy(data.y[nodes])
