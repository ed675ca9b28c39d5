"""The propagation matrix of a graph, kept as three diagonals around the bare adjacency matrix."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn.errors import InputError, Setting, SgclearnWarning, Words
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph
from sgclearn.validation.arrays import positions_of
from sgclearn.validation.parameters import check_dtype, check_parameter, shown

Array = NDArray[np.float64]


class Operator:
    r"""Propagation matrix `S = L A R + diag(c)` of a graph.

    With `D` the diagonal of row sums of `A` and `D~ = D + gamma I`:

    ========== ================================ ============ ============ =============
    name       S                                L            R            c
    ========== ================================ ============ ============ =============
    ``sym``    `D~^-1/2 (A + gamma I) D~^-1/2`  `D~^-1/2`    `D~^-1/2`    `gamma / d~`
    ``rw``     `D~^-1 (A + gamma I)`            `D~^-1`      `I`          `gamma / d~`
    ``cheby``  `I + D^-1/2 A D^-1/2`            `D^-1/2`     `D^-1/2`     `1`
    ========== ================================ ============ ============ =============

    The paper's five matrices are ``sym`` and ``rw`` with gamma 0 (plain) or 1 (augmented), and ``cheby``.

    Parameters
    ----------
    graph : Graph
        Loops in the data are kept and `gamma I` is added on top of them, as in the paper's own code;
        a warning names them. In a directed graph an edge i -> j is `a_ij`: node i averages over the nodes
        that it points to and its degree is its row sum (`graph.reversed()` turns that round).
    normalization : {"sym", "rw", "cheby"}, default "sym"
    gamma : float >= 0, optional
        Weight of the added self-loops; 1 if not given. ``cheby`` has its own and takes none.

    Attributes
    ----------
    left, right, diagonal : ndarray of float64 (n,)
        `L`, `R` and `c`. An isolated node keeps its own features when gamma > 0 or with ``cheby``; its row is
        zero when gamma = 0.

    Notes
    -----
    Paper: Eq. (3) and (11), Section 3 and the supplement's comparison of propagation matrices.

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> Operator(Graph.from_edges([(0, 1)]), "rw").matrix().toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(self, graph: Graph, normalization: str = "sym", gamma: float | None = None) -> None:
        check_graph(graph)
        self.graph = graph
        self.normalization, self.gamma = check_operator_choice(normalization, gamma)
        degrees = _degrees(graph, self.gamma or 0.0)
        if self.gamma is not None:
            _warn_about_loops(graph, self.gamma)
        self.left, self.right, self.diagonal = _scales(degrees, self.normalization, self.gamma)

    def __repr__(self) -> str:
        loops = "" if self.gamma is None else f", gamma={self.gamma:g}"
        return f"Operator({self.graph!r}, {self.normalization!r}{loops})"

    @property
    def n_nodes(self) -> int:
        """Number of rows and columns of S."""
        return self.graph.n_nodes

    def row_lengths(self) -> NDArray[np.int64]:
        """Stored entries in every row of S, a little over where the data has loops. Cost: O(n)."""
        lengths = np.diff(self.graph.indptr).astype(np.int64)
        return lengths if self.gamma == 0 else lengths + 1

    def matrix(self, dtype: DTypeLike = np.float64) -> Any:
        """S as a `csr_array` (n, n). Cost: O(nnz) time and memory."""
        return self.rows(np.arange(self.n_nodes), dtype)

    def rows(self, nodes: NDArray[np.intp], dtype: DTypeLike = np.float64) -> Any:
        """The rows of S that belong to `nodes`, as a `csr_array` (len(nodes), n).

        Degrees are those of the whole graph, so that a neighbourhood gives what the whole would give.
        """
        nodes = positions_of(nodes, self.n_nodes)
        everything = len(nodes) == self.n_nodes and np.array_equal(nodes, np.arange(self.n_nodes))
        block = self.graph.to_scipy() if everything else self.graph.rows(nodes)
        values = np.repeat(self.left[nodes], np.diff(block.indptr))
        values *= block.data
        values *= self.right[block.indices]
        scaled = sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)
        if self.gamma != 0:
            loops = (self.diagonal[nodes], (np.arange(len(nodes)), nodes))
            scaled = scaled + sparse.csr_array(loops, shape=block.shape)
        return scaled.astype(check_dtype(dtype), copy=False)


class LoopsWarning(SgclearnWarning):
    """Loops in the data get the loops of gamma on top of them."""


def propagation_scales(degrees: Array, normalization: str, gamma: float | None) -> tuple[Array, Array, Array]:
    """`L`, `R` and `c` of `S = L A R + diag(c)`, from the row sums of A (n,); see `Operator`."""
    return _scales(degrees + (gamma or 0.0), normalization, gamma)


def _scales(degrees: Array, normalization: str, gamma: float | None) -> tuple[Array, Array, Array]:
    if gamma is None:
        root = _inverse(np.sqrt(degrees))
        return root, root, np.ones_like(degrees)
    inverse = _inverse(degrees)
    diagonal = gamma * inverse
    if normalization == "sym":
        root = np.sqrt(inverse)
        return root, root, diagonal
    return inverse, np.ones_like(inverse), diagonal


def check_operator_choice(normalization: str, gamma: float | None) -> tuple[str, float | None]:
    """Validated normalization and gamma; gamma is None for cheby only."""
    normalization = check_parameter("normalization", normalization)
    if normalization == "cheby":
        if gamma is not None:
            raise InputError(
                (Setting("normalization", "cheby"), " has its own self-loops"),
                (Setting("gamma"), f" {shown(gamma)}"),
                ("leave ", Setting("gamma"), " out or choose sym or rw"),
                argument="gamma",
            )
        return normalization, None
    return normalization, 1.0 if gamma is None else check_parameter("gamma", gamma)


def _degrees(graph: Graph, gamma: float) -> NDArray[np.float64]:
    """`d + gamma`, every one of them zero or a number that has an inverse."""
    if graph.weights is None and (gamma == 0 or 1e-300 < gamma < 1e300):
        return graph.degrees() + gamma  # counts
    with np.errstate(over="ignore"):
        degrees = graph.degrees() + gamma
    small, large = (degrees > 0) & (degrees < np.finfo(np.float64).tiny), ~np.isfinite(degrees)
    wrong = np.flatnonzero(small | large)
    if len(wrong):
        loops: Words = (" with ", Setting("gamma", gamma)) if gamma else ""
        also: Words = (" and ", Setting("gamma")) if gamma else ""
        raise InputError(
            "every degree must be a number that can be inverted",
            (
                f"{degrees[wrong[0]]:g}",
                loops,
                f" for node {str(graph.ids[wrong[0]])!r} ({len(wrong):,} such)",
            ),
            ("multiply all weights of the graph", also, " by one number that brings them near 1"),
        )
    return degrees


def _inverse(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / v with 0 for 0, so that a node without degree gets a zero row and never NaN."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _warn_about_loops(graph: Graph, gamma: float) -> None:
    looped = graph.looped_nodes
    if gamma == 0 or len(looped) == 0:
        return
    names = ", ".join(str(graph.ids[node]) for node in looped[:3]) + (", ..." if len(looped) > 3 else "")
    warnings.warn(
        LoopsWarning(
            f"self-loops in the data at {len(looped):,} of {graph.n_nodes:,} nodes ({names}) stay and ",
            *(Setting("gamma", gamma), " adds another to each: build the graph with "),
            *(Setting("self_loops", "drop"), " if that is not meant."),
        ),
        stacklevel=3,
    )


@contextmanager
def keeping_loops() -> Iterator[None]:
    """No warning about loops in the data, where adding I on top of them is what the paper's runs do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoopsWarning)
        yield
