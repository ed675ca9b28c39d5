"""The inductive protocol of the paper's table on Reddit: fitted on the training nodes alone, asked about all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.datasets import GraphDataset, load_dataset, make_block_graph
from sgclearn.errors import InputError
from sgclearn.experiments.problems import Problem, RunData, accuracy, showing
from sgclearn.tasks.dataset import samples_of
from sgclearn.tasks.protocol import Samples
from sgclearn.validation.parameters import Choice

DRAWN = "block"  # name of the graph that is drawn and not loaded
STATISTICS = ("all", "train")


def inductive_problem(samples: Samples) -> Problem:
    """Cut the training nodes out: `seen` is their subgraph, `asked` the whole graph without any label.

    There are no validation nodes in `seen`: their edges are no part of the training graph. A model is therefore fitted
    for as many epochs or steps as its settings say, and validation nodes, scored on the whole graph as test nodes are,
    serve to choose settings only.
    """
    train = samples.where("train")
    parts: dict[str, Any] = {"y": samples.y[train], "split": samples.split[train], "ids": samples.ids[train]}
    seen = replace(samples, graph=samples.graph.subgraph(train), X=samples.X[train], **parts)
    return Problem(seen, showing(samples), samples, accuracy_and_f1)


def accuracy_and_f1(y: NDArray[Any], predicted: NDArray[Any]) -> dict[str, float]:
    """Accuracy in percent; with one label a node it is the micro-F1 too."""
    scores = accuracy(y, predicted)
    return scores | {"micro_f1": scores["accuracy"]}


def load_inductive(
    name: str,
    data_dir: Path | None,
    statistics: str = "all",
    shares: Sequence[float] | None = None,
    split_seed: int = 2019,
    **options: Any,
) -> RunData:
    """Load a graph, standardise its features and cut out its training nodes, once for all runs.

    Parameters
    ----------
    name : str
        Of `load_dataset`, or "block" for the graph that `make_block_graph` draws.
    data_dir : path or None
    statistics : {"all", "train"}
        Features get mean 0 and variance 1 over all nodes, as the authors of the paper did for Reddit, which lets the
        test nodes be seen a little; or over the training nodes, which does not.
    shares : two float, optional
        Shares of the labelled nodes for training and validation, the others being for test, drawn with `split_seed`;
        the dataset's own split if not given.
    split_seed : int, default 2019
    options
        Further ones of `load_dataset` or `make_block_graph`.
    """
    Choice(values=STATISTICS).check("statistics", statistics)
    data = make_block_graph(**options) if name == DRAWN else load_dataset(name, data_dir=data_dir, **options)
    if shares is not None:
        data = _with_split(data, shares, split_seed)
    whole = replace(data, X=standardized(data.X, data.train if statistics == "train" else None))
    problem = inductive_problem(samples_of(whole))
    return lambda seed: problem


def _with_split(data: GraphDataset, shares: Sequence[float], seed: int) -> GraphDataset:
    if len(shares) != 2 or min(shares) <= 0.0 or sum(shares) >= 1.0:
        raise InputError(
            "shares must be two parts above 0 that leave something for test",
            f"{list(shares)}",
            argument="shares",
        )
    labelled = np.random.default_rng(seed).permutation(np.flatnonzero(data.y >= 0))
    stops = [round(stop * len(labelled)) for stop in np.cumsum(shares)]
    train, val, test = (np.sort(part) for part in np.split(labelled, stops))
    return replace(data, train=train, val=val, test=test)


def standardized(X: Any, nodes: NDArray[np.intp] | None = None) -> NDArray[np.float32]:
    """Features with mean 0 and variance 1 over some nodes, or all; a column that is constant there is only centred.

    Examples
    --------
    >>> import numpy as np
    >>> standardized(np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 8.0]]), nodes=np.array([0, 1]))
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 3.,  1.]], dtype=float32)
    """
    from sklearn.preprocessing import StandardScaler

    # Without the mean it leaves sparse features sparse, and knows the mean nevertheless.
    scaler = StandardScaler(with_mean=False).fit(X if nodes is None else X[nodes])
    dense = np.array(X.toarray() if sp.issparse(X) else X, dtype=np.float32)
    dense -= scaler.mean_.astype(np.float32)
    dense /= scaler.scale_.astype(np.float32)
    return dense
