"""A graph with features, labels and a split, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.datasets.splits import Positions, Split
from sgclearn.errors import InputError
from sgclearn.features.table import as_names
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph
from sgclearn.validation.arrays import plain_array
from sgclearn.validation.matrices import as_matrix
from sgclearn.validation.parameters import Flag

Matrix: TypeAlias = NDArray[Any] | sp.csr_array


class LabelledGraph(NamedTuple):
    """What a reader of files returns: everything but the choice of a split."""

    graph: Graph
    X: Matrix
    y: NDArray[np.int64]
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    public: Split | None


@dataclass(frozen=True, eq=False, repr=False)
class GraphDataset:
    """A graph whose nodes have features and labels, with a split into training, validation and test nodes.

    Parameters
    ----------
    name : str
    graph : Graph
        n nodes.
    X : array or csr_array, shape (n, d)
        Raw features: nothing is normalised.
    y : integer array, shape (n,)
        Class of each node as a position in `class_names`, -1 for no label.
    class_names : tuple of str
    feature_names : tuple of str, or None where the data does not name its columns
    train, val, test : integer arrays
        Positions of labelled nodes, ascending, no node in two of them.
    description, license, source : str

    Notes
    -----
    The parts are checked against each other at construction; `y` and the split are copied and made read-only.

    Examples
    --------
    >>> from sgclearn import load_dataset
    >>> data = load_dataset("debian")
    >>> data
    GraphDataset('debian': 29,582 nodes, 72,841 edges, 4,751 features, 12 classes;
                 train 240, val 360, test 28,982)
    >>> data.class_names[:3]
    ('admin', 'devel', 'golang')
    """

    name: str
    graph: Graph
    X: Matrix
    y: NDArray[np.int64]
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    train: Positions
    val: Positions
    test: Positions
    description: str = ""
    license: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        check_graph(self.graph)
        n_nodes = self.graph.n_nodes
        object.__setattr__(self, "X", as_matrix(self.X))
        if self.X.shape[0] != n_nodes:
            raise InputError(
                f"X must have one row for each of the {n_nodes} nodes",
                f"shape {np.shape(self.X)}",
                argument="X",
            )
        for name in ("feature_names", "class_names"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, as_names(getattr(self, name)))
        if self.feature_names is not None and len(self.feature_names) != self.X.shape[1]:
            raise InputError(
                f"feature_names must name each of the {self.X.shape[1]} columns of X",
                f"{len(self.feature_names)} names",
                argument="feature_names",
            )
        y = _integers("y", self.y, np.int64)
        if y.shape != (n_nodes,):
            raise InputError(
                f"y must have one label for each of the {n_nodes} nodes", f"shape {y.shape}", argument="y"
            )
        if n_nodes and (y.min() < -1 or y.max() >= len(self.class_names)):
            raise InputError(
                f"y must lie between -1 (no label) and {len(self.class_names) - 1}, the last of class_names",
                f"{y.min()} to {y.max()}",
                argument="y",
            )
        object.__setattr__(self, "y", y)
        for part in ("train", "val", "test"):
            object.__setattr__(self, part, self._checked(part, y))
        if len(np.unique(np.concatenate([self.train, self.val, self.test]))) < sum(self.split_sizes):
            raise InputError("train, val and test must be disjoint", "a node in two of them")

    def _checked(self, part: str, y: NDArray[np.int64]) -> Positions:
        nodes = _integers(part, getattr(self, part), np.intp)
        if nodes.ndim != 1 or (np.diff(nodes) <= 0).any():
            raise InputError(
                f"{part} must be positions in ascending order, each once", "others", "use numpy.unique"
            )
        if len(nodes) and (nodes[0] < 0 or nodes[-1] >= len(y)):
            raise InputError(f"{part} must lie in [0, {len(y)})", f"{nodes[0]} to {nodes[-1]}")
        if (y[nodes] < 0).any():
            node = nodes[y[nodes] < 0][0]
            raise InputError(f"{part} must have labelled nodes only", f"node {node}, which has y = -1")
        return nodes

    def __repr__(self) -> str:
        train, val, test = self.split_sizes
        return (
            f"GraphDataset({self.name!r}: {self.graph.n_nodes:,} nodes, {self.graph.n_edges:,} edges, "
            f"{self.X.shape[1]:,} features, {len(self.class_names):,} classes; "
            f"train {train:,}, val {val:,}, test {test:,})"
        )

    @property
    def split_sizes(self) -> tuple[int, int, int]:
        """Number of training, validation and test nodes."""
        return len(self.train), len(self.val), len(self.test)

    def train_labels(self, *, with_val: bool = False) -> NDArray[np.int64]:
        """Labels of the training nodes and -1 everywhere else, shape (n,): all that a fit may see.

        Parameters
        ----------
        with_val : bool, default False
            Also the labels of the validation nodes, for a search that is given `validation=data.val`.

        Examples
        --------
        >>> from sgclearn import load_dataset
        >>> data = load_dataset("debian", n_per_class=5)
        >>> int((data.train_labels() >= 0).sum())
        60
        """
        with_val = Flag().check("with_val", with_val)
        labels = np.full_like(self.y, -1)
        labels[self.train] = self.y[self.train]
        if with_val:
            labels[self.val] = self.y[self.val]
        return labels


def _integers(name: str, values: Any, dtype: type[np.signedinteger[Any]]) -> NDArray[Any]:
    given = plain_array(values, name)
    if given.dtype.kind not in "iu" and given.size:
        raise InputError(f"{name} must be integers", f"{given.dtype}", argument=name)
    copy = given.astype(dtype) if given.size else np.zeros(given.shape, dtype=dtype)
    copy.flags.writeable = False
    return copy
