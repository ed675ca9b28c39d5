"""`P [F_1(S) X, ...]` for people, and `P sum_b F_b(S) (X Theta_b)` for prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError, InputTypeError, Setting
from sgclearn.filters import Member, PolynomialFilter, Wanted, hops_of
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph
from sgclearn.operators import Operator
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.propagation.engines import Engine
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.implicit import ImplicitDesign
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.planner import plan_rows
from sgclearn.propagation.readout import Readout
from sgclearn.propagation.rows import propagated_rows
from sgclearn.validation.parameters import check_parameter, is_whole

DEFAULT_N_HOPS = 2
Filters = PolynomialFilter | Sequence[Member] | None
_NARROW_WEIGHTS = 1e-25, 1e15  # what float32 holds with room for features of ordinary size


def propagate(
    X: Any,
    graph: Graph,
    n_hops: int = DEFAULT_N_HOPS,
    *,
    normalization: str = "sym",
    gamma: float | None = None,
    filter: Filters = None,
    row_norm: str | None = None,
    nodes: Any = None,
    readout: Any = None,
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
    filter : PolynomialFilter, or a list of them, optional
        Another polynomial of S than the power `S^K`; it has its own number of hops. With a list the columns of all
        filters stand side by side; a whole number k in it is the power `S^k`.
    row_norm : {None, "l1", "l2"}
        Divide every row of X by its norm first.
    nodes : array of int or bool, optional
        Return only these rows; only their neighbourhood is computed.
    readout : sparse array (m, n), optional
        P: return `P Z`, such as a mean over the nodes of every graph, instead of the rows of nodes.
    output : {"auto", "dense", "sparse"}
        "auto" keeps sparse features sparse while that is cheaper.
    compute : Compute, optional
        How it is computed: plan (any but "implicit"), engine, threads, memory limit; the result is the same.
    on_progress : callable, optional
        Called as `on_progress(done, of)` while the work goes on.

    Returns
    -------
    ndarray or csr_array (samples, d for every filter), float32 if X is, float64 otherwise.
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
    features = NodeFeatures(X, graph.n_nodes, row_norm)
    check_rows(features, graph)
    operator = Operator(graph, normalization, gamma)
    samples = Readout.given(readout, nodes, graph.n_nodes)
    chosen = plan_rows(
        operator, features, samples, wanted,
        output=output, plan=compute.plan, memory_limit=compute.memory_limit, prices=engine.prices,
    )  # fmt: skip
    Z = next(propagated_rows(operator, features, samples, [wanted], chosen, on_progress, engine))[1]
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
    wanted: Wanted,
    Theta: NDArray[np.float64],
    samples: Readout | NDArray[np.intp] | None = None,
    engine: Engine | None = None,
) -> NDArray[np.float64]:
    """`P sum_b F_b(S) (X Theta_b)`; the samples are all nodes if none are named.

    C columns travel instead of d where they are fewer, and only as far as the samples can see. Dense float32 features
    are multiplied in float32. Cost: O(nnz(X) C + K nnz(S) C) for one filter. Exact: yes, by associativity.
    """
    dtype = np.dtype(np.float64) if features.is_sparse else product_dtype(features.dtype, Theta)
    samples = Readout(np.arange(features.n_nodes)) if samples is None else samples
    with np.errstate(over="ignore", invalid="ignore"):  # whoever uses the product looks whether it is finite
        Theta = np.asarray(Theta, dtype=dtype)
        if (
            not features.is_sparse and len(Theta) < Theta.shape[1]
        ):  # fewer columns than outputs: these travel first
            Z = next(propagated_rows(operator, features, samples, [wanted], "frontier", None, engine))[1]
            return np.asarray(Z @ Theta, dtype=np.float64)
        return ImplicitDesign(operator, features, samples, wanted, engine, dtype, once=True).matmul(Theta)


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


def check_filter(filter: Any, n_hops: Any) -> Wanted:
    """The filters to use: the power `S^n_hops` if none is given, else those given, whose hops are their own."""
    if filter is None:
        return check_n_hops(n_hops)
    wanted: Wanted = tuple(map(_check_member, filter)) if isinstance(filter, list | tuple) else filter
    if not isinstance(wanted, tuple):
        _check_member(wanted, can_be_power=False)
    elif not wanted:
        raise InputError("filter must name at least one", "an empty list", "list some", argument="filter")
    if check_n_hops(n_hops) not in (DEFAULT_N_HOPS, hops_of(wanted)):
        raise InputError(
            "a filter has its own number of hops",
            (Setting("n_hops", n_hops), f" beside one of {hops_of(wanted)}"),
            ("leave ", Setting("n_hops"), " out"),
        )
    return wanted


def _check_member(entry: Any, can_be_power: bool = True) -> Member:
    if isinstance(entry, PolynomialFilter):
        return entry
    if can_be_power and is_whole(entry):
        return check_n_hops(entry)
    raise InputTypeError(
        "filter must be one of sgclearn.filters, such as S2GCFilter(16, 0.05)",
        type(entry).__name__,
        argument="filter",
    )


def check_rows(features: NodeFeatures, graph: Graph) -> None:
    """One row of X a node."""
    if features.n_nodes != graph.n_nodes:
        raise InputError(
            "graph must have one node per row of X",
            f"{graph.n_nodes} nodes and {features.n_nodes} rows. Inside cross-validation, propagate first and "
            "split after",
            argument="graph",
        )
