"""TextGCN: a GCN with two layers on the graph of documents and words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.features import Rows
from sgclearn.baselines.interface import Baseline, Classes, OnStep, check_nodes
from sgclearn.baselines.network import Labelled, check_undirected, n_trained
from sgclearn.baselines.sparse_torch import SparseProduct
from sgclearn.baselines.training import Judgement, MeanLoss, check_schedule, train
from sgclearn.errors import InputError, require
from sgclearn.operators import Operator
from sgclearn.tasks.protocol import Samples


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

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Train on the training labels, stopping by those of the validation; see `Baseline.fit`."""
        torch = require("torch", "torch")
        classes = Classes.of(self, samples, needs_val=self.patience > 0)
        _check(self, samples)
        generator = torch.Generator().manual_seed(self.random_state)
        with self.timed():
            S = sp.csr_array(Operator(samples.graph).matrix())
            self._layer = SparseProduct(S, is_symmetric=True)
            training, validation = (
                # The last product is made for these samples, and for no others.
                Labelled(SparseProduct(Rows(samples, part).of(S)), torch.from_numpy(classes.codes[part]))
                for part in (classes.train, classes.val)
            )
            sizes = (samples.graph.n_nodes, self.hidden, len(classes))
            weights = [_glorot(torch, *size, generator) for size in pairwise(sizes)]
            self.layers_ = torch.nn.ParameterList(weights)
            self._train(torch, training, validation, generator, on_step)
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
        self, torch: Any, training: Labelled, validation: Labelled, generator: Any, on_step: OnStep | None
    ) -> None:
        cross_entropy = torch.nn.functional.cross_entropy

        def losses() -> Iterator[Any]:
            yield cross_entropy(self._forward(torch, training.rows, generator), training.y)

        def judge() -> Judgement:
            with torch.no_grad():
                return float(cross_entropy(self._forward(torch, validation.rows), validation.y)), 0.0

        rule = MeanLoss(self.patience) if self.patience else None
        optimizer = torch.optim.Adam(self.layers_.parameters(), lr=self.learning_rate)
        self.details_ = train(self.layers_, optimizer, losses, judge, rule, self.max_epochs, on_step)
        self.details_["val_loss"] = rule.losses[-1] if rule else None

    def _forward(self, torch: Any, rows: SparseProduct, generator: Any = None) -> Any:
        """Logits of the rows of a product; dropout only where there is a generator to draw it."""
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

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every sample; the graph has to be that of the fit, because every node has weights of its own."""
        torch = require("torch", "torch")
        check_nodes(self, samples)
        with torch.no_grad():
            codes = Rows(samples).of(self._forward(torch, self._layer)).argmax(dim=1)
        return np.asarray(self.classes_[codes.numpy()])


def _check(model: Any, samples: Samples) -> None:
    if samples.X is not None:
        raise InputError("TextGCN takes one-hot features", f"X of shape {samples.X.shape}", "leave X out")
    check_undirected(model, samples.graph)


def _glorot(torch: Any, n_in: int, n_out: int, generator: Any) -> Any:
    bound = (6.0 / (n_in + n_out)) ** 0.5
    return (2.0 * torch.rand((n_in, n_out), generator=generator) - 1.0) * bound
