"""DGI: node embeddings learned without labels, and logistic regression on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sgclearn.baselines.features import EXTRA, Features, Rows, normalized_features
from sgclearn.baselines.interface import Baseline, Classes, OnStep, check_features, n_features
from sgclearn.baselines.network import NEEDS_PYG, Inputs, linear, load_torch, n_trained, normalized_product
from sgclearn.baselines.training import LowestLoss, train
from sgclearn.errors import InputError, require
from sgclearn.tasks.protocol import Samples

PROBE_EPOCHS, PROBE_LEARNING_RATE = 100, 0.01


@dataclass(eq=False, repr=False)
class DGI(Baseline):
    """Deep graph infomax: `Z = prelu(S X W + b)`, trained to tell the graph from one whose features are shuffled.

    A bilinear score compares each row of `Z` with the mean of all (through a sigmoid); training lowers the
    cross-entropy between the rows of the graph and those of the shuffled one, until the loss has not fallen for
    `patience` epochs, and takes the epoch of the lowest. Logistic regression (Adam, 100 steps, no decay) on the
    training rows of `Z` gives the classes.

    Parameters
    ----------
    hidden : int, default 512
        Columns of `Z`.
    learning_rate : float, default 0.001
    patience : int, default 20
    max_epochs : int, default 10,000
        0 leaves `W` as it was drawn: random-init DGI.
    row_norm : {None, "l1", "l2"}, default "l1"
    random_state : int, default 2019

    Notes
    -----
    Paper: Velickovic et al., Deep Graph Infomax, 2019. Loss and scores are torch_geometric's `DeepGraphInfomax`. The
    features meet `W` once an epoch: shuffled rows of X give shuffled rows of `X W`. Needs torch and torch_geometric
    (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import DGI
    >>> DGI(max_epochs=0).hidden
    512
    """

    requires: ClassVar = NEEDS_PYG

    hidden: int = 512
    _: KW_ONLY
    learning_rate: float = 0.001
    patience: int = 20
    max_epochs: int = 10_000
    row_norm: str | None = "l1"
    random_state: int = 2019

    def __post_init__(self) -> None:
        if self.hidden < 1 or self.max_epochs < 0 or self.patience < 0:
            raise InputError(
                "hidden must be >= 1, max_epochs and patience >= 0",
                f"{self.hidden}, {self.max_epochs} and {self.patience}",
                argument="hidden",
            )

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Learn embeddings of all nodes, then the classes from the training samples; see `Baseline.fit`."""
        torch = load_torch(self.requires)
        classes = Classes.of(self, samples, needs_val=False)
        with self.timed(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.random_state)
            inputs = self._inputs(samples)
            self._build(n_features(samples))
            self.details_ = self._train(inputs, on_step)
            self.layers_.eval()
            with torch.no_grad():
                Z = Rows(samples, classes.train).of(self._embeddings(inputs))
            self.probe_ = fit_probe(Z, classes.codes[classes.train], len(classes))
        self.n_parameters_ = (n_trained(self.layers_) if self.max_epochs else 0) + n_trained(self.probe_)
        return self

    def _inputs(self, samples: Samples) -> Inputs:
        X = normalized_features(samples, self.row_norm)
        return Inputs(Features(X), normalized_product(samples.graph))

    def _build(self, n_features: int) -> None:
        torch = require("torch", EXTRA)
        infomax = require("torch_geometric.nn", EXTRA).DeepGraphInfomax
        scores = infomax(self.hidden, self._encode, _summary, _shuffled)
        # Glorot's bound for a bilinear form, as the authors draw it; torch_geometric's own is nine times as wide.
        bound = (6.0 / (self.hidden * (self.hidden + 1))) ** 0.5
        torch.nn.init.uniform_(scores.weight, -bound, bound)
        self.layers_ = torch.nn.ModuleDict(
            {
                "features": linear(n_features, self.hidden),
                "bias": torch.nn.ParameterDict({"b": torch.nn.Parameter(torch.zeros(self.hidden))}),
                "prelu": torch.nn.PReLU(),
                "scores": scores,
            }
        )

    def _encode(self, XW: Any, graph: Any) -> Any:
        return self.layers_["prelu"](graph(XW) + self.layers_["bias"]["b"])

    def _embeddings(self, inputs: Inputs) -> Any:
        return self._encode(inputs.features.linear(self.layers_["features"]), inputs.graph)  # (n, hidden)

    def _train(self, inputs: Inputs, on_step: OnStep | None) -> dict[str, Any]:
        if self.max_epochs == 0:
            return {"epochs": 0}
        scores = self.layers_["scores"]

        def losses() -> Iterator[Any]:
            yield scores.loss(*scores(inputs.features.linear(self.layers_["features"]), inputs.graph))

        optimizer = require("torch", EXTRA).optim.Adam(self.layers_.parameters(), lr=self.learning_rate)
        rule = LowestLoss(self.patience)
        return train(self.layers_, optimizer, losses, None, rule, self.max_epochs, on_step)

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every sample, of the graph of the fit or of another with the same features."""
        torch = require("torch", EXTRA)
        check_features(self, samples)
        with torch.no_grad():
            Z = Rows(samples).of(self._embeddings(self._inputs(samples)))
            codes = self.probe_(Z).argmax(dim=1)
        return np.asarray(self.classes_[codes.numpy()])


def fit_probe(Z: Any, y: NDArray[np.int64], n_classes: int) -> Any:
    """Logistic regression on embeddings as the paper of DGI trains it: Adam, 100 steps, no decay."""
    torch = require("torch", EXTRA)
    layer = linear(Z.shape[1], n_classes, bias=True)
    optimizer = torch.optim.Adam(layer.parameters(), lr=PROBE_LEARNING_RATE)
    codes = torch.tensor(y)

    def losses() -> Iterator[Any]:
        yield torch.nn.functional.cross_entropy(layer(Z), codes)

    train(layer, optimizer, losses, None, None, PROBE_EPOCHS)
    return layer


def _summary(Z: Any, *inputs: Any) -> Any:
    return Z.mean(dim=0).sigmoid()


def _shuffled(XW: Any, graph: Any) -> tuple[Any, Any]:
    return XW[require("torch", EXTRA).randperm(len(XW))], graph
