"""What the spectrum of a graph says to somebody who is about to classify its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.filters import HeatFilter, PageRankFilter, PolynomialFilter, PowerFilter, S2GCFilter
from sgclearn.graph import Graph
from sgclearn.operators import Operator
from sgclearn.spectral.advice import Advice, advise
from sgclearn.spectral.density import check_energy, check_features
from sgclearn.spectral.energy import FilterEffect, effect_of, feature_energy, filter_samples, spectrum_shares
from sgclearn.spectral.laplacian import symmetric_matrix
from sgclearn.spectral.spectrum import exact_spectrum, top_of
from sgclearn.validation.parameters import Flag, check_parameter, check_type

# A dense decomposition of this many nodes takes about as long as the estimate of a large graph.
EXACT_NODES = 1000


@dataclass(frozen=True)
class SpectrumSummary:
    """The spectrum of a graph in a few numbers.

    Attributes
    ----------
    n_nodes, n_edges, n_components, n_largest_component, n_isolated : int
    n_parts : int
        Components of two nodes or more.
    gamma : float
        Weight of the added self-loops.
    lambda_n, lambda_n_augmented : float
        Largest eigenvalue of `I - S` without and with them.
    lambda_n_component : float
        Largest eigenvalue without loops of the largest component alone.
    cut_share : float
        Share of the weight between different nodes of that component that joins the two sides which the
        signs of its last mode make; 1 is bipartite.
    n_features : int or None
        None: there were none, and what is said of features is said of random ones.
    is_exact : bool
        Whether the shares below come from all eigenvectors, not from an estimate of the density.
    middle : float
        Frequency at which the low half ends, `lambda_n_augmented / 2`.
    low_half, low_half_random : float
        Share of energy in the low half: of the features, and of random ones.
    mean_frequency, mean_frequency_random : float
        Dirichlet energy, likewise; what all nodes share is left out of the features first.
    mean_frequency_error : float
        Standard error of the first, 0 if it is exact.
    filters : tuple of FilterEffect
    advice : tuple of Advice
    """

    n_nodes: int
    n_edges: int
    n_components: int
    n_parts: int
    n_largest_component: int
    n_isolated: int
    gamma: float
    lambda_n: float
    lambda_n_augmented: float
    lambda_n_component: float
    cut_share: float
    n_features: int | None
    is_exact: bool
    middle: float
    low_half: float
    low_half_random: float
    mean_frequency: float
    mean_frequency_random: float
    mean_frequency_error: float
    filters: tuple[FilterEffect, ...]
    advice: tuple[Advice, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return asdict(self)


def default_filters(n_hops: int = 2) -> dict[str, PolynomialFilter]:
    """Filters that a summary compares, by name."""
    return {
        f"SGC, {n_hops} hop{'' if n_hops == 1 else 's'}": PowerFilter(n_hops),
        "S2GC, 16 hops, alpha 0.05": S2GCFilter(16, 0.05),
        "PageRank, 10 hops, alpha 0.1": PageRankFilter(10, 0.1),
        "heat, 10 hops, t 3": HeatFilter(10, 3.0),
    }


def summarize_spectrum(
    graph: Graph,
    X: Any = None,
    *,
    gamma: float = 1.0,
    filters: Mapping[str, PolynomialFilter] | None = None,
    exact: bool | None = None,
) -> SpectrumSummary:
    """Summarise the spectrum of a graph, where its features lie, what filters keep, and what to do.

    Parameters
    ----------
    graph : Graph
        Undirected.
    X : matrix (n, d), optional
        Features, of which all columns are taken together.
    gamma : float >= 0, default 1.0
        Weight of the added self-loops.
    filters : mapping of name to PolynomialFilter, optional
        SGC with 2 hops, S2GC, personalised PageRank and heat if not given.
    exact : bool, optional
        Use all eigenvectors; if not given, for graphs of up to 1,000 nodes.

    Notes
    -----
    Cost: three extreme eigenvalues by Lanczos, and 600 products with `S` for each density.

    Examples
    --------
    >>> from sgclearn import Graph
    >>> from sgclearn.spectral import summarize_spectrum
    >>> summary = summarize_spectrum(Graph.from_edges([(0, 2), (0, 3), (1, 2), (1, 3), (4, 2)]))
    >>> round(summary.lambda_n, 6), round(summary.lambda_n_augmented, 6), summary.cut_share
    (2.0, 1.354072, 1.0)
    >>> [advice.topic for advice in summary.advice]
    ['bipartite']
    """
    operator = Operator(graph, "sym", check_parameter("gamma", gamma))
    matrix, _ = symmetric_matrix(operator)
    lambda_n_augmented, _ = _last_mode(matrix)
    component, n_components, n_parts = _largest_component(graph)
    lambda_n_component, cut_share = _near_bipartite(component)
    lambda_n = lambda_n_component
    if n_components > 1:
        lambda_n, _ = _last_mode(symmetric_matrix(Operator(graph, "sym", 0.0))[0])
    middle = lambda_n_augmented / 2
    is_exact = graph.n_nodes <= EXACT_NODES if exact is None else Flag().check("exact", exact)
    spectrum = exact_spectrum(operator) if is_exact else None
    frequencies, white = spectrum_shares(operator, spectrum)
    random_mean = 1.0 - float(matrix.diagonal().mean())
    energy, mean, error = white, random_mean, 0.0
    if X is not None:
        X = check_energy(check_features(X, graph.n_nodes))
        frequencies, energy, mean, error = feature_energy(X, operator, spectrum)
    low = frequencies <= middle + 1e-9
    chosen = default_filters() if filters is None else filters
    check_type(chosen, Mapping, "filters", "give a dictionary of name: filter")
    for name, used in chosen.items():
        check_type(used, PolynomialFilter, f"filters[{name!r}]", "use one of sgclearn.filters")
    samples, shares = filter_samples(X, operator), (frequencies, energy, low)
    numbers: dict[str, Any] = {
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "n_components": n_components,
        "n_parts": n_parts,
        "n_largest_component": component.n_nodes,
        "n_isolated": graph.n_isolated,
        "gamma": float(gamma),
        "lambda_n": lambda_n,
        "lambda_n_augmented": lambda_n_augmented,
        "lambda_n_component": lambda_n_component,
        "cut_share": cut_share,
        "n_features": None if X is None else X.shape[1],
        "is_exact": is_exact,
        "middle": middle,
        "low_half": float(energy[low].sum()),
        "low_half_random": float(white[low].sum()),
        "mean_frequency": mean,
        "mean_frequency_random": random_mean,
        "mean_frequency_error": error,
        "filters": tuple(effect_of(name, used, operator, samples, shares) for name, used in chosen.items()),
    }
    return SpectrumSummary(**numbers, advice=advise(**{name: numbers[name] for name in _ADVICE_READS}))


_ADVICE_READS = (
    *("n_nodes", "n_components", "n_parts", "n_largest_component", "n_isolated", "gamma", "cut_share"),
    *("n_features", "mean_frequency", "mean_frequency_random"),
)


def _largest_component(graph: Graph) -> tuple[Graph, int, int]:
    """The largest component, how many there are, and how many of two nodes or more."""
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(graph.to_scipy(), directed=False)
    sizes = np.bincount(labels)
    return graph.subgraph(labels == sizes.argmax()), int(count), int(np.count_nonzero(sizes > 1))


def _near_bipartite(component: Graph) -> tuple[float, float]:
    """Largest eigenvalue without loops, and the share of weight between the two sides that its mode makes."""
    largest, mode = _last_mode(symmetric_matrix(Operator(component, "sym", 0.0))[0])
    side = mode >= 0
    between = component.to_scipy().tocoo()
    distinct = between.row != between.col
    total = between.data[distinct].sum()
    cut = between.data[side[between.row] != side[between.col]].sum()
    return largest, float(cut / total) if total > 0 else 0.0


def _last_mode(matrix: Any) -> tuple[float, NDArray[np.float64]]:
    """Largest eigenvalue of `I - M` and its eigenvector (n,)."""
    # The error of the eigenvalue is of the order of the square: good to all the digits that are shown.
    values, modes = top_of(-matrix, tolerance=1e-6)
    return 1.0 + float(values[0]), modes[:, 0]
