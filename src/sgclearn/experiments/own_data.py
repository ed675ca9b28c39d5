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
from sgclearn.runs.splits import SPLITS
from sgclearn.tasks.dataset import samples_of
from sgclearn.tasks.protocol import Samples
from sgclearn.validation.parameters import Choice

Data = GraphDataset | Samples
Draw = Callable[[int], Data]
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
    data : Samples, GraphDataset or callable
        Data, whose split all runs share, or a function from the seed of a run to its data.
    seed : int
        Of the first run.
    prepare : str
        A name of `PREPARATIONS`, or "auto": "l1" for sparse features without negative numbers (words of documents),
        else "standard".

    Attributes
    ----------
    first : Samples
        Of the first run, prepared.
    prepare : str
        What was done to the features.
    """

    def __init__(self, data: Data | Draw, seed: int, prepare: str = "auto") -> None:
        Choice(values=("auto", *PREPARATIONS)).check("prepare", prepare)
        self._draw: Draw = (lambda _: data) if isinstance(data, Data) else data
        self._fixed = isinstance(data, Data)
        drawn = self._drawn(seed)
        self.has_features = drawn.X is not None
        self.prepare = suitable_preparation(drawn.X) if prepare == "auto" else prepare
        if not self.has_features:
            self.prepare = "none"
        self.first = self._prepared(drawn)
        self._last = (seed, Problem.of(self.first))

    def __call__(self, seed: int) -> Problem:
        """Problem of a run; models take turns on it, so that it is kept until the next is asked for."""
        if not self._fixed and self._last[0] != seed:
            self._last = (seed, Problem.of(self._prepared(self._drawn(seed))))
        return self._last[1]

    def _drawn(self, seed: int) -> Samples:
        data = self._draw(seed)
        return samples_of(data) if isinstance(data, GraphDataset) else data

    def _prepared(self, samples: Samples) -> Samples:
        sizes = [len(samples.where(part)) for part in SPLITS]
        if 0 in sizes:
            raise InputError(
                f"a comparison needs training, validation and test {samples.unit}s",
                f"{sizes[0]}, {sizes[1]} and {sizes[2]} of them",
                "give the data a split that has all three",
            )
        return (
            samples
            if self.prepare == "none"
            else replace(samples, X=prepared_features(samples.X, self.prepare))
        )

    def fingerprint(self) -> str:
        """Hash of graph, features, labels and the first split: equal for equal data, whatever its name."""
        data = self.first
        parts: list[Any] = [data.y[data.where(*SPLITS)], *map(data.where, SPLITS)]
        names: list[str] = []
        if not data.is_numeric:
            found, parts[0] = np.unique(parts[0], return_inverse=True)
            names = list(map(str, found))
        for matrix in (data.graph.to_scipy(), data.X, data.readout):
            M: Any = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
            parts += [M.indptr, M.indices, M.data] if sp.issparse(M) else [] if M is None else [M]
        shape = None if data.X is None else data.X.shape
        digest = hashlib.sha256(f"{data.graph.directed} {names} {shape} {self._fixed}".encode())
        for part in parts:
            array: Any = np.ascontiguousarray(part)
            # The width of indices depends on how the graph came here, not on what it is.
            digest.update(array.astype(np.int64) if array.dtype.kind in "iu" else array)
        return digest.hexdigest()[:16]


def suitable_preparation(X: Any) -> str:
    """What "auto" means for these features.

    Examples
    --------
    >>> suitable_preparation(sp.csr_array([[1.0, 0.0]])), suitable_preparation(np.array([[1.0, 0.0]]))
    ('l1', 'standard')
    """
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
