"""DeepWalk: embeddings of nodes from random walks, and logistic regression on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.baselines.features import EXTRA, Rows, normalized_features
from sgclearn.baselines.interface import Baseline, Classes, OnStep, check_nodes
from sgclearn.baselines.network import NEEDS_TORCH, load_torch
from sgclearn.baselines.plain import regression
from sgclearn.baselines.training import train
from sgclearn.errors import InputError, require
from sgclearn.graph import Graph
from sgclearn.tasks.protocol import Samples

WALKS_AT_A_TIME = 256
NOISE_A_WALK = 40  # nodes drawn as noise for a walk, shared by all its places


@dataclass(eq=False, repr=False)
class DeepWalk(Baseline):
    """Skip-gram with negative sampling on random walks, then logistic regression on the vectors.

    Every epoch starts a walk of `walk_length` nodes at each node. With input vectors `u` and output vectors `v`, the
    loss of places i and j of a walk, at most `window` apart, is `-log s(u_i v_j) - n_noise E log s(-u_i v_k)`, where
    `s` is the sigmoid and k is drawn in proportion to `degree^(3/4)`. The vectors `u` are the embedding.

    Parameters
    ----------
    dimension : int, default 128
    walk_length : int, default 40
    window : int, default 10
    n_walks : int, default 10
        Walks from each node, an epoch each.
    n_noise : float, default 5
    learning_rate : float, default 0.01
        Of Adam.
    with_features : bool, default True
        Put the features, normalised by `row_norm`, beside the vectors before the regression.
    weight_decay : float or None, default 0.1
        Of the regression; None takes the best of a path on the validation nodes.
    row_norm : {None, "l1", "l2"}, default "l1"
    random_state : int, default 2019

    Notes
    -----
    Paper: Perozzi, Al-Rfou and Skiena, DeepWalk: Online Learning of Social Representations, 2014; "DeepWalk +
    features" is a row of the tables of Velickovic et al. 2019. The noise nodes are drawn once a walk and weighted to
    count as `n_noise` a pair, so that one product of matrices serves a whole walk. Needs torch (extra ``baselines``).

    Examples
    --------
    >>> from sgclearn.baselines import DeepWalk
    >>> DeepWalk(n_walks=5).n_walks
    5
    """

    requires: ClassVar = NEEDS_TORCH

    dimension: int = 128
    _: KW_ONLY
    walk_length: int = 40
    window: int = 10
    n_walks: int = 10
    n_noise: float = 5.0
    learning_rate: float = 0.01
    with_features: bool = True
    weight_decay: float | None = 0.1
    row_norm: str | None = "l1"
    random_state: int = 2019

    def __post_init__(self) -> None:
        if min(self.dimension, self.window, self.n_walks) < 1 or self.walk_length < 2:
            raise InputError(
                "dimension, window and n_walks must be >= 1 and walk_length >= 2",
                f"{self.dimension}, {self.window}, {self.n_walks} and {self.walk_length}",
            )

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Learn vectors of all nodes, then the classes from the training samples; see `Baseline.fit`."""
        torch = load_torch(self.requires)
        Classes.of(self, samples, needs_val=self.weight_decay is None)
        with self.timed(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.random_state)
            self.details_ = self._learn(samples.graph, on_step)
            self.probe_ = regression(self._embeddings(samples), samples, self.weight_decay)
        self.details_ |= {"weight_decay": float(self.probe_.weight_decay)}
        self.n_parameters_ = 2 * self.vectors_.size + int(
            self.probe_.coef_.size + self.probe_.intercept_.size
        )
        return self

    def _embeddings(self, samples: Samples) -> Any:
        """Vectors, and features if they are wanted, of every sample."""
        Z: Any = self.vectors_
        if self.with_features:
            X = normalized_features(samples, self.row_norm)
            Z = sp.csr_array(sp.hstack([X, sp.csr_array(Z)])) if sp.issparse(X) else np.hstack([X, Z])
        return Rows(samples).of(Z)

    def _learn(self, graph: Graph, on_step: OnStep | None) -> dict[str, Any]:
        torch = require("torch", EXTRA)
        rng = np.random.default_rng(self.random_state)
        n_nodes = graph.n_nodes
        tables = torch.nn.ModuleDict(
            {name: torch.nn.Embedding(n_nodes, self.dimension) for name in ("inner", "outer")}
        )
        torch.nn.init.uniform_(tables["inner"].weight, -0.5 / self.dimension, 0.5 / self.dimension)
        torch.nn.init.zeros_(tables["outer"].weight)
        noise = np.maximum(np.diff(graph.indptr), 1) ** 0.75
        places = np.arange(self.walk_length)
        apart = np.abs(places[:, None] - places)
        near = torch.from_numpy(((apart > 0) & (apart <= self.window)).astype(np.float32))  # (L, L)

        def losses() -> Iterator[Any]:
            starts = rng.permutation(n_nodes)
            for begin in range(0, n_nodes, WALKS_AT_A_TIME):
                walks = random_walks(graph, starts[begin : begin + WALKS_AT_A_TIME], self.walk_length, rng)
                drawn = _draw(noise, (len(walks), NOISE_A_WALK), rng)
                yield self._loss(tables, torch.from_numpy(walks), torch.from_numpy(drawn), near)

        optimizer = torch.optim.Adam(tables.parameters(), lr=self.learning_rate)
        details = train(tables, optimizer, losses, None, None, self.n_walks, on_step)
        self.vectors_ = tables["inner"].weight.detach().numpy()
        return details

    def _loss(self, tables: Any, walks: Any, drawn: Any, near: Any) -> Any:
        log_sigmoid = require("torch", EXTRA).nn.functional.logsigmoid
        U = tables["inner"](walks)  # (walks, L, dimension)
        pairs = log_sigmoid(U @ tables["outer"](walks).transpose(1, 2)) * near
        noise = log_sigmoid(-(U @ tables["outer"](drawn).transpose(1, 2)))
        counts = near.sum(dim=1)[:, None] / drawn.shape[1]  # pairs of each place, over the noise it shares
        total = pairs.sum() + self.n_noise * (noise * counts).sum()
        return -total / (near.sum() * len(walks))

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every sample of the graph of the fit; other nodes have no vectors."""
        check_nodes(self, samples)
        return np.asarray(self.probe_.predict(self._embeddings(samples)))


def random_walks(
    graph: Graph, starts: NDArray[np.intp], length: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Walks (m, length) from given nodes, each step to a random neighbour; where there is none, one stays."""
    walks = np.empty((len(starts), length), dtype=np.int64)
    walks[:, 0] = starts
    degrees = np.diff(graph.indptr)
    for step in range(1, length):
        here = walks[:, step - 1]
        chosen = graph.indptr[here] + (rng.random(len(here)) * degrees[here]).astype(np.int64)
        has = degrees[here] > 0
        walks[:, step] = np.where(
            has, graph.indices[np.where(has, chosen, 0)] if len(graph.indices) else here, here
        )
    return walks


def _draw(
    weights: NDArray[np.float64], shape: tuple[int, int], rng: np.random.Generator
) -> NDArray[np.int64]:
    ends = np.cumsum(weights)
    found = np.searchsorted(ends, rng.random(shape) * ends[-1], side="right")
    return np.asarray(np.minimum(found, len(weights) - 1), dtype=np.int64)
