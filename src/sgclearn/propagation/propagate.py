"""`S^K X` for people, and `S^K (X Theta)` for prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError, InputTypeError
from sgclearn.filters import PolynomialFilter, coefficients_of
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph, positions_of
from sgclearn.operators import Operator
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.propagation.engines import Engine, get_engine
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.neighbourhood import hop_sets
from sgclearn.propagation.planner import plan_rows
from sgclearn.propagation.rows import propagated_rows
from sgclearn.propagation.source import NodeFeatures
from sgclearn.validation.parameters import check_parameter

DEFAULT_N_HOPS = 2
_NARROW_WEIGHTS = 1e-25, 1e15  # what float32 holds with room for features of ordinary size


def propagate(
    X: Any,
    graph: Graph,
    n_hops: int = DEFAULT_N_HOPS,
    *,
    normalization: str = "sym",
    gamma: float | None = None,
    filter: PolynomialFilter | None = None,
    row_norm: str | None = None,
    nodes: Any = None,
    output: str = "auto",
    compute: Compute | None = None,
    on_progress: OnProgress | None = None,
) -> Any:
    """Smooth the features over the graph: `Z = S^K X`.

    The rows of Z are ordinary samples: propagate first, split after.

    Parameters
    ----------
    X : ndarray or sparse array (n, d), or None
        One row a node, in the order of `graph.ids`. None is the identity: the result is then `S^K`.
    graph : Graph
    n_hops : int >= 0, default 2
        K; zero hops give X back.
    normalization : {"sym", "rw", "cheby"}, default "sym"
    gamma : float >= 0, optional
        Weight of the added self-loops, 1 if not given; see `Operator`.
    filter : PolynomialFilter, optional
        Another polynomial of S than the power `S^K`; it has its own number of hops.
    row_norm : {None, "l1", "l2"}
        Divide every row of X by its norm first.
    nodes : array of int or bool, optional
        Return only these rows; only their neighbourhood is computed.
    output : {"auto", "dense", "sparse"}
        "auto" keeps sparse features sparse while that is cheaper.
    compute : Compute, optional
        How it is computed: plan (any but "implicit"), engine, threads, memory limit; the result is the same.
    on_progress : callable, optional
        Called as `on_progress(done, of)` while the work goes on.

    Returns
    -------
    ndarray or csr_array (n or len(nodes), d), float32 if X is, float64 otherwise.
        As in scipy's own products, the columns of a sparse row need not ascend; `Z.sort_indices()` makes them.

    Notes
    -----
    Paper: Eq. (1), (4) and (8). Cost: O(K nnz(S) d) for dense features. Exact: yes.

    Examples
    --------
    >>> import numpy as np
    >>> from sgclearn import Graph, propagate
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> propagate(np.array([[1.0], [0.0], [0.0]]), path, n_hops=1, normalization="rw").ravel()
    array([0.5       , 0.33333333, 0.        ])
    """
    check_parameter("output", output)
    check_graph(graph)
    compute = check_compute(compute)
    engine = compute.load_engine()
    wanted = check_filter(filter, n_hops)
    n_hops = len(coefficients_of(wanted)) - 1
    features = NodeFeatures(X, graph.n_nodes, row_norm)
    check_rows(features, graph)
    operator = Operator(graph, normalization, gamma)
    rows = check_nodes(nodes, graph.n_nodes)
    distinct, inverse = (rows, rows) if nodes is None else np.unique(rows, return_inverse=True)
    chosen = plan_rows(
        operator, features, distinct, n_hops,
        output=output, plan=compute.plan, memory_limit=compute.memory_limit, prices=engine.prices,
    )  # fmt: skip
    Z = next(propagated_rows(operator, features, distinct, [wanted], chosen, on_progress, engine))[1]
    Z = Z if nodes is None or np.array_equal(distinct, rows) else Z[inverse]
    if not sparse.issparse(Z):
        return sparse.csr_array(Z) if output == "sparse" else Z
    if output == "dense":
        return Z.toarray()
    return _narrow(Z)


def _narrow(Z: Any) -> Any:
    """Z with 32-bit indices where they suffice: several scikit-learn models take no others."""
    if max(Z.nnz, *Z.shape) > np.iinfo(np.int32).max or Z.indices.dtype == np.int32:
        return Z
    narrow = (Z.data, Z.indices.astype(np.int32), Z.indptr.astype(np.int32))
    return sparse.csr_array(narrow, shape=Z.shape)


def propagate_product(
    operator: Operator | None,
    features: NodeFeatures,
    wanted: int | PolynomialFilter,
    Theta: NDArray[np.float64],
    nodes: NDArray[np.intp] | None = None,
    engine: Engine | None = None,
) -> NDArray[np.float64]:
    """`(g(S) (X Theta))[nodes]`, with `g(S) = S^K` for a whole number K.

    C columns travel instead of d, and only as far as the nodes can see. Dense float32 features are multiplied in
    float32. Cost: O(nnz(X) C + K nnz(S) C). Exact: yes, by associativity.
    """
    dtype = np.dtype(np.float64) if features.is_sparse else product_dtype(features.dtype, Theta)
    V, coefficients = np.asarray(Theta, dtype=dtype), coefficients_of(wanted)
    with np.errstate(over="ignore", invalid="ignore"):  # whoever uses the product looks whether it is finite
        return _product(operator, features, coefficients, V, nodes, engine)


def _product(
    operator: Operator | None,
    features: NodeFeatures,
    coefficients: NDArray[np.float64],
    V: NDArray[Any],
    nodes: NDArray[np.intp] | None,
    engine: Engine | None,
) -> NDArray[np.float64]:
    n_hops, dtype = len(coefficients) - 1, V.dtype
    if operator is None or n_hops == 0:
        return np.asarray(coefficients.sum() * features.matmul(V, nodes), dtype=np.float64)
    if nodes is None:
        nodes = np.arange(operator.n_nodes)
        sets = [nodes] * (n_hops + 1)
    else:
        sets = hop_sets(operator.graph, nodes, n_hops)
    everything = len(sets[-1]) == operator.n_nodes
    walk = (engine or get_engine()).walk(operator, sets, nodes, dtype)
    if not features.is_sparse or features.is_identity:
        smoothed = walk.forward(features.matmul(V, None if everything else sets[-1]), coefficients)
        return np.asarray(smoothed, dtype=np.float64)
    X, scale = features.part(None if everything else sets[-1])
    return walk.through(X, scale, V, coefficients)


def product_dtype(dtype: np.dtype[Any], Theta: NDArray[np.float64]) -> np.dtype[Any]:
    """The type to multiply features by Theta in: their own, unless float32 has no room for the weights."""
    if dtype == np.float64:
        return dtype
    sizes = np.abs(Theta)
    used = sizes[sizes > 0]
    low, high = _NARROW_WEIGHTS
    fits = len(used) == 0 or (low <= float(used.min()) and float(used.max()) <= high)
    return dtype if fits else np.dtype(np.float64)


def check_n_hops(n_hops: Any) -> int:
    """A whole number >= 0, or an error that says what 0 and 2 mean."""
    return int(check_parameter("n_hops", n_hops))


def check_filter(filter: Any, n_hops: Any) -> int | PolynomialFilter:
    """The filter to use: the power `S^n_hops` if none is given, else the one given, whose hops are its own."""
    if filter is None:
        return check_n_hops(n_hops)
    if not isinstance(filter, PolynomialFilter):
        raise InputTypeError(
            f"filter must be one of sgclearn.filters, such as S2GCFilter(16, 0.05): got {type(filter).__name__}."
        )
    if check_n_hops(n_hops) not in (DEFAULT_N_HOPS, filter.n_hops):
        raise InputError(
            f"a filter has its own number of hops: got n_hops={n_hops!r} beside one of {filter.n_hops}; "
            "leave n_hops out."
        )
    return filter


def check_rows(features: NodeFeatures, graph: Graph) -> None:
    """One row of X a node."""
    if features.n_nodes != graph.n_nodes:
        raise InputError(
            f"graph must have one node per row of X: got {graph.n_nodes} nodes and {features.n_nodes} rows. "
            "Inside cross-validation, propagate first and split after."
        )


def check_nodes(nodes: Any, n_nodes: int) -> NDArray[np.intp]:
    """Positions of the named nodes, from positions or a mask; all if none are named."""
    return np.arange(n_nodes) if nodes is None else positions_of(nodes, n_nodes)
