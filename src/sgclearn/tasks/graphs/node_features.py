"""Numbers for the nodes of graphs that may have none: labels, label and degree together, degrees.

Constant features stay constant under a row-normalised S, so a graph without labels needs degrees.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.tables.messages import counted
from sgclearn.tasks.graphs.collection import GraphCollection

Array = NDArray[np.float64]
_BINS = 20  # of degrees, by quantiles of the training nodes
_MOST_DEGREE = 10  # beyond, label and degree together say no more than "many"


@dataclass(frozen=True, eq=False)
class NodeEncoder:
    """Columns of node features, learned from the training graphs.

    Parameters
    ----------
    labels : tuple
        Node labels, a column each; empty without labels.
    pairs : tuple of (label, degree)
        A column each; degrees above 10 are 10.
    bins : ndarray (b,)
        Upper ends of bins of degrees, for graphs without labels.
    n_numbers : int
        Columns of the graphs' own features.
    """

    labels: tuple[Any, ...]
    pairs: tuple[tuple[Any, int], ...]
    bins: Array
    n_numbers: int

    @classmethod
    def learn(cls, graphs: GraphCollection) -> NodeEncoder:
        """The columns that training graphs show."""
        n_numbers = 0 if graphs.features is None else graphs.features.shape[1]
        if graphs.node_labels is None:
            ends = np.unique(
                np.quantile(graphs.neighbours, np.linspace(0, 1, _BINS + 1)[1:], method="higher")
            )
            return cls((), (), ends.astype(np.float64), n_numbers)
        labels = _sorted(set(graphs.node_labels.tolist()))
        place = {label: at for at, label in enumerate(labels)}
        pairs = sorted(set(_pairs(graphs)), key=lambda pair: (place[pair[0]], pair[1]))
        return cls(tuple(labels), tuple(pairs), np.zeros(0), n_numbers)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        found = [f"label {label}" for label in self.labels]
        found += [f"label {label}, degree {degree}" for label, degree in self.pairs]
        found += [f"degree up to {end:g}" for end in self.bins] + (["log degree"] if len(self.bins) else [])
        return (*found, *(f"feature {column}" for column in range(self.n_numbers)))

    def encode(self, graphs: GraphCollection) -> Array:
        """X (n, d); a label that training never showed has no column, and a warning says so."""
        n_numbers = 0 if graphs.features is None else graphs.features.shape[1]
        if n_numbers != self.n_numbers:
            raise InputError(
                f"graphs must have the {self.n_numbers} features of the fit", f"{n_numbers}", "give the same",
                argument="features",
            )  # fmt: skip
        if self.labels and graphs.node_labels is None:
            raise InputError("graphs must have node labels as in the fit", "none", "give node_labels=")
        blocks: list[Array] = []
        if self.labels and graphs.node_labels is not None:
            labels = graphs.node_labels.tolist()
            blocks += [_one_hot(labels, self.labels), _one_hot(_pairs(graphs), self.pairs)]
            self._tell_unseen(labels)
        if len(self.bins):
            bins = np.minimum(np.searchsorted(self.bins, graphs.neighbours), len(self.bins) - 1)
            blocks += [np.eye(len(self.bins))[bins], np.log1p(graphs.neighbours)[:, None].astype(np.float64)]
        if graphs.features is not None:
            blocks.append(graphs.features)
        return np.concatenate(blocks, axis=1)

    def _tell_unseen(self, labels: list[Any]) -> None:
        unseen = _sorted(set(labels) - set(self.labels))
        if unseen:
            count = sum(label in set(unseen) for label in labels)
            warnings.warn(
                f"{counted(count, 'node')} with a label that no training graph has, such as {unseen[0]!r}, counted "
                "as unlabelled: add such graphs to the training.",
                SgclearnWarning,
                stacklevel=4,
            )


def _pairs(graphs: GraphCollection) -> list[tuple[Any, int]]:
    degrees = np.minimum(graphs.neighbours, _MOST_DEGREE).tolist()
    labels = [] if graphs.node_labels is None else graphs.node_labels.tolist()
    return list(zip(labels, degrees, strict=True))


def _one_hot(values: list[Any], columns: tuple[Any, ...]) -> Array:
    place = {value: at for at, value in enumerate(columns)}
    at = np.array([place.get(value, -1) for value in values], dtype=np.intp)
    X = np.zeros((len(values), len(columns)))
    known = np.flatnonzero(at >= 0)
    X[known, at[known]] = 1.0
    return X


def _sorted(values: set[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (type(value).__name__, value))
