"""Laplacians of an undirected graph, and the symmetric matrix that shares its spectrum with an operator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from sgclearn.errors import InputError, Setting
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph
from sgclearn.operators import Operator
from sgclearn.validation.parameters import Choice, check_type

KINDS = ("combinatorial", "normalized", "augmented")


def laplacian(
    graph: Graph, kind: str = "augmented", *, gamma: float | None = None, as_operator: bool = False
) -> Any:
    r"""Laplacian of an undirected graph.

    ================ ======================================= =========================
    kind             matrix (n, n)                           eigenvalues
    ================ ======================================= =========================
    `combinatorial`  `D - A`                                 `[0, 2 max_i d_i]`
    `normalized`     `I - D^-1/2 A D^-1/2`                   `[0, 2]`
    `augmented`      `I - D~^-1/2 (A + gamma I) D~^-1/2`     `[0, 2)` for gamma > 0
    ================ ======================================= =========================

    `D` is the diagonal of row sums of `A`, `D~ = D + gamma I`.

    Parameters
    ----------
    graph : Graph
        Undirected. A loop in the data cancels out of `D - A` and counts in the degrees.
    kind : {"combinatorial", "normalized", "augmented"}, default "augmented"
    gamma : float >= 0, optional
        Weight of the added self-loops, for `augmented` only; 1 if not given.
    as_operator : bool, default False
        Give a `scipy.sparse.linalg.LinearOperator` that multiplies without storing the matrix.

    Returns
    -------
    csr_array or LinearOperator, shape (n, n)

    Notes
    -----
    Paper: Section 3. The last two are `I - S` for the operator `S`; a node without edges, whose row of `S` is
    zero when gamma = 0, therefore has a 1 on the diagonal of `normalized`.

    Examples
    --------
    >>> from sgclearn import Graph
    >>> from sgclearn.spectral import laplacian
    >>> laplacian(Graph.from_edges([(0, 1), (1, 2)]), "combinatorial").toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    check_undirected(graph)
    kind = Choice(values=KINDS).check("kind", kind)
    if kind != "augmented" and gamma is not None:
        raise InputError(
            "gamma goes with kind='augmented'",
            (Setting("gamma", gamma), f" with {kind!r}"),
            "leave one out",
            argument="gamma",
        )
    if kind == "combinatorial":
        ones = np.ones(graph.n_nodes)
        left, right, diagonal = ones, ones, graph.degrees()
    else:
        operator = Operator(graph, "sym", 0.0 if kind == "normalized" else gamma)
        left, right, diagonal = operator.left, operator.right, 1.0 - operator.diagonal
    if as_operator:
        return _product(graph, left, right, diagonal)
    adjacency = scaled(graph.to_scipy(), left, right)
    return sparse.csr_array(sparse.diags_array(diagonal, format="csr") - adjacency)


def symmetric_matrix(operator: Operator) -> tuple[Any, NDArray[np.float64]]:
    """Symmetric `M` (n, n) and `t` (n,) with `S = diag(1/t) M diag(t)`.

    `M` is `S` itself for `sym` and `cheby`, with `t = 1`. For `rw` it is the matrix of `sym` with the same
    gamma, and `t = sqrt(d~)`: both have the same eigenvalues.
    """
    check_operator(operator)
    check_undirected(operator.graph)
    if operator.graph.n_nodes == 0:
        raise InputError("a spectrum must be that of one node or more", "a graph without nodes")
    if operator.normalization != "rw":
        return operator.matrix(), np.ones(operator.n_nodes)
    root = np.sqrt(operator.left)
    # The row of a node without degree is zero in both matrices, so that any scale will do for it.
    scale = np.divide(1.0, root, out=np.ones_like(root), where=root > 0)
    adjacency = scaled(operator.graph.to_scipy(), root, root)
    return adjacency + sparse.diags_array(operator.diagonal, format="csr"), scale


def check_operator(operator: Any) -> None:
    """Refuse anything but the propagation matrix of a graph."""
    check_type(operator, Operator, "operator", "make one with Operator(graph)")


def scaled(adjacency: Any, left: NDArray[np.float64], right: NDArray[np.float64]) -> Any:
    """`diag(left) A diag(right)` as a `csr_array`."""
    values = np.repeat(left, np.diff(adjacency.indptr)) * adjacency.data * right[adjacency.indices]
    return sparse.csr_array((values, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def check_undirected(graph: Graph) -> None:
    """Refuse a directed graph, and say how it is made undirected."""
    check_graph(graph)
    if graph.directed:
        raise InputError(
            "a spectrum must be that of an undirected graph",
            "a directed one, whose eigenvalues need not be real",
            "make it undirected with Graph.from_scipy(graph.to_scipy(), ids=graph.ids, duplicates='max')",
        )


def _product(
    graph: Graph, left: NDArray[np.float64], right: NDArray[np.float64], diagonal: NDArray[np.float64]
) -> LinearOperator:
    adjacency = graph.to_scipy()

    def multiply(X: NDArray[Any]) -> NDArray[np.float64]:
        columns = X.reshape(graph.n_nodes, -1)
        product = diagonal[:, None] * columns - left[:, None] * (adjacency @ (right[:, None] * columns))
        return np.asarray(product).reshape(X.shape)

    shape = (graph.n_nodes, graph.n_nodes)
    return LinearOperator(
        shape, matvec=multiply, rmatvec=multiply, matmat=multiply, rmatmat=multiply, dtype=np.float64
    )
