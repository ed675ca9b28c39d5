"""One's own data for a comparison: the split of every run, and features that are the same for all models."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sgclearn.datasets import GraphDataset
from sgclearn.errors import InputError
from sgclearn.experiments.problems import Problem
from sgclearn.experiments.sgc import features_of

Draw = Callable[[int], GraphDataset]
PREPARATIONS = {
    "none": "as they are",
    "l1": "every row divided by the sum of its absolute values",
    "l2": "every row divided by its length",
    "standard": "every column divided by its standard deviation, dense ones centred",
}


class OwnData:
    """From the seed of a run to its problem, for the runner.

    Parameters
    ----------
    data : GraphDataset or callable
        A dataset, whose split all runs share, or a function from the seed of a run to its dataset.
    seed : int
        Of the first run.
    prepare : str
        A name of `PREPARATIONS`, or "auto": "l1" for sparse features without negative numbers (words of documents),
        else "standard".

    Attributes
    ----------
    first : GraphDataset
        Of the first run, prepared.
    prepare : str
        What was done to the features.
    """

    def __init__(self, data: GraphDataset | Draw, seed: int, prepare: str = "auto") -> None:
        if prepare not in (*PREPARATIONS, "auto"):
            raise InputError(f"prepare must be one of auto, {', '.join(PREPARATIONS)}: got {prepare!r}.")
        self._draw: Draw = (lambda _: data) if isinstance(data, GraphDataset) else data
        self._fixed = isinstance(data, GraphDataset)
        drawn = self._draw(seed)
        self.has_features = features_of(drawn) is not None
        self.prepare = suitable_preparation(drawn) if prepare == "auto" else prepare
        if not self.has_features:
            self.prepare = "none"
        self.first = self._prepared(drawn)
        self._last = (seed, Problem.of(self.first))

    def __call__(self, seed: int) -> Problem:
        """Problem of a run; models take turns on it, so that it is kept until the next is asked for."""
        if not self._fixed and self._last[0] != seed:
            self._last = (seed, Problem.of(self._prepared(self._draw(seed))))
        return self._last[1]

    def _prepared(self, data: GraphDataset) -> GraphDataset:
        for part in ("train", "val", "test"):
            if len(getattr(data, part)) == 0:
                raise InputError(
                    "a comparison needs training, validation and test nodes: got {}, {} and {} of them; give the "
                    "data a split that has all three.".format(*data.split_sizes)
                )
        return data if self.prepare == "none" else replace(data, X=prepared_features(data.X, self.prepare))

    def fingerprint(self) -> str:
        """Hash of graph, features, labels and the first split: equal for equal data, whatever its name."""
        data = self.first
        A: Any = data.graph.to_scipy()
        X: Any = sp.csr_array(data.X) if sp.issparse(data.X) else data.X
        parts = [A.indptr, A.indices, A.data, *((X.indptr, X.indices, X.data) if sp.issparse(X) else (X,))]
        digest = hashlib.sha256(f"{data.graph.directed} {data.class_names} {X.shape} {self._fixed}".encode())
        for part in (*parts, data.y, data.train, data.val, data.test):
            array: Any = np.ascontiguousarray(part)
            # The width of indices depends on how the graph came here, not on what it is.
            digest.update(array.astype(np.int64) if array.dtype.kind in "iu" else array)
        return digest.hexdigest()[:16]


def suitable_preparation(data: GraphDataset) -> str:
    """What "auto" means for these features.

    Examples
    --------
    >>> from sgclearn import load_dataset
    >>> suitable_preparation(load_dataset("debian"))
    'l1'
    """
    X: Any = data.X
    is_counts = sp.issparse(X) and (X.nnz == 0 or X.min() >= 0)
    return "l1" if is_counts else "standard"


def prepared_features(X: Any, how: str) -> Any:
    """Features scaled; see `PREPARATIONS`. A sparse matrix stays sparse: its columns are not centred.

    Examples
    --------
    >>> prepared_features(np.array([[1.0, 3.0], [0.0, 2.0]]), "l1").tolist()
    [[0.25, 0.75], [0.0, 1.0]]
    """
    from sklearn.preprocessing import StandardScaler, normalize

    if how == "standard":
        return StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X)
    return normalize(X, norm=how)
