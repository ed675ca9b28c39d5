"""Figures of spectra: the paper's figure 2 for any graph, and the spectrum before and after self-loops.

Each function draws on the `figure` it is given, or on a new one, and returns it; saving is the caller's:
`plot_spectrum(graph).savefig("spectrum.svg")`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sgclearn.errors import InputError, require
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph
from sgclearn.operators import Operator
from sgclearn.spectral.density import check_energy, check_features, feature_density, spectral_density
from sgclearn.spectral.fourier import fourier_transform
from sgclearn.spectral.spectrum import DEFAULT_MAX_BYTES, exact_spectrum, extreme_eigenvalues
from sgclearn.spectral.summary import EXACT_NODES, default_filters
from sgclearn.validation.parameters import MOST_ITERATIONS, Whole, check_parameter, check_type

if TYPE_CHECKING:
    from sgclearn.filters import PolynomialFilter

RED, BLUE, GREY = "#c0392b", "#1f5fa8", "#8a8a8a"


def plot_filters(
    graph: Graph,
    x: Any,
    *,
    n_hops: Sequence[int] = (1, 2, 3, 4, 5, 6),
    gamma: float = 1.0,
    name: str = "feature",
    max_bytes: float = DEFAULT_MAX_BYTES,
    figure: Any = None,
) -> Any:
    r"""Filter coefficients (blue) and the coefficients of a feature (red) for three propagation matrices.

    A column a matrix: `I + D^-1/2 A D^-1/2`, `D^-1/2 A D^-1/2` and `D~^-1/2 (A + gamma I) D~^-1/2`. Above, the
    response of `S^K` up to the largest frequency; below, the size of the feature's Fourier coefficients there.

    Parameters
    ----------
    graph : Graph
        Undirected, and small enough for `exact_spectrum`.
    x : vector (n,) or column (n, 1)
        One feature.
    n_hops : sequence of int, default 1..6
        Powers K.
    gamma : float > 0, default 1.0
    name : str, default "feature"
        What the feature is called in the figure.
    max_bytes : float
        As in `exact_spectrum`.
    figure : matplotlib Figure, optional

    Returns
    -------
    matplotlib Figure

    Notes
    -----
    Paper: figure 2, which is Cora with its third feature. Frequencies are eigenvalues of the normalised
    Laplacian, for the first matrix too: its response is `(2 - f)^K`.

    Examples
    --------
    >>> from sgclearn import Graph
    >>> from sgclearn.spectral import plot_filters
    >>> ring = Graph.from_edges([(i, (i + 1) % 30) for i in range(30)])
    >>> figure = plot_filters(ring, [float(i < 15) for i in range(30)])
    >>> len(figure.axes)
    6
    """
    check_graph(graph)
    x = check_features(x, graph.n_nodes)
    if x.shape[1] != 1:
        raise InputError(
            "x must be one feature", f"{x.shape[1]} columns", "choose one, as X[:, [2]]", argument="x"
        )
    plain = exact_spectrum(Operator(graph, "sym", 0.0), max_bytes=max_bytes)
    augmented = exact_spectrum(Operator(graph, "sym", gamma), max_bytes=max_bytes)
    figure = blank_figure(figure, (10.5, 5.2))
    axes = figure.subplots(2, 3, sharex="col", height_ratios=(3, 2))
    panels = (
        (r"$I + D^{-1/2} A D^{-1/2}$", "first-order Chebyshev", plain, 2.0),
        (r"$D^{-1/2} A D^{-1/2}$", "normalised adjacency", plain, 1.0),
        (
            rf"$\tilde D^{{-1/2}} (A + {'' if gamma == 1 else f'{gamma:g} '}I) \tilde D^{{-1/2}}$",
            "augmented",
            augmented,
            1.0,
        ),
    )
    n_hops = [check_parameter("n_hops", K) for K in ([n_hops] if np.ndim(n_hops) == 0 else n_hops)]
    shades = np.linspace(0.25, 1.0, len(n_hops))
    largest = 0.0
    for column, (formula, title, spectrum, top) in enumerate(panels):
        above, below = axes[:, column]
        frequency = np.linspace(spectrum.frequencies[0], spectrum.frequencies[-1], 300)
        for K, shade in zip(n_hops, shades, strict=True):
            above.plot(frequency, (top - frequency) ** K, color=BLUE, alpha=float(shade), label=f"K = {K}")
        above.axhline(0, color=GREY, linewidth=0.8)
        above.set_title(f"{title}\n{formula}", fontsize=11)
        coefficients = np.abs(fourier_transform(x, spectrum)[:, 0])
        below.vlines(spectrum.frequencies, 0, coefficients, color=RED, linewidth=0.7)
        below.set_xlim(-0.03, 2.03)
        largest = max(largest, float(coefficients.max()))
        plain_spines(above, below)
    for below in axes[1]:
        below.set_ylim(0, 1.05 * largest if largest > 0 else 1)
    axes[0, 0].set_ylabel("filter coefficient")
    axes[1, 0].set_ylabel(f"|coefficient| of\n{name}")
    figure.supxlabel("frequency (eigenvalue of the normalised Laplacian)", fontsize=10)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, title="$S^K$")
    return figure


def plot_spectrum(
    graph: Graph,
    X: Any = None,
    *,
    gamma: float = 1.0,
    filters: Mapping[str, PolynomialFilter] | None = None,
    bins: int = 60,
    figure: Any = None,
) -> Any:
    """Spectrum before and after self-loops; with features, where their energy lies and what filters do there.

    Exact for graphs of up to 1,000 nodes; for larger ones an estimate with error bars, two standard errors.

    Parameters
    ----------
    graph : Graph
        Undirected.
    X : matrix (n, d), optional
        Features, whose energy makes a second panel.
    gamma : float > 0, default 1.0
    filters : mapping of name to PolynomialFilter, optional
        Curves of the second panel; those of `summarize_spectrum` if not given.
    bins : int, default 60
    figure : matplotlib Figure, optional

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from sgclearn import Graph
    >>> from sgclearn.spectral import plot_spectrum
    >>> ring = Graph.from_edges([(i, (i + 1) % 30) for i in range(30)])
    >>> len(plot_spectrum(ring).axes)
    1
    """
    augmented = Operator(graph, "sym", gamma)
    figure = blank_figure(figure, (7.5, 3.8 if X is None else 6.4))
    axes = np.atleast_1d(figure.subplots(1 if X is None else 2, 1, sharex=True))
    for operator, color, label in (
        (Operator(graph, "sym", 0.0), GREY, "without self-loops"),
        (augmented, BLUE, f"with self-loops, gamma = {gamma:g}"),
    ):
        end = float(extreme_eigenvalues(operator, which="largest", tolerance=1e-6).largest[0])
        _steps(axes[0], *_shares(operator, None, bins), color, f"{label}: largest {end:.3f}")
        axes[0].axvline(end, color=color, linestyle="--", linewidth=1)
    axes[0].set(ylabel="share of eigenvalues", xlim=(-0.03, 2.03), title=_title(graph))
    axes[-1].set_xlabel("frequency (eigenvalue of I - S)")
    plain_spines(*axes)
    if X is not None:
        check_graph(graph)
        X = check_energy(check_features(X, graph.n_nodes))
        _steps(axes[1], *_shares(augmented, X, bins), RED, "energy of the features, with self-loops")
        axes[1].set(ylabel="share of energy")
        _responses(axes[1].twinx(), default_filters() if filters is None else filters, end)
    for one in axes:
        one.set_ylim(bottom=0)  # after everything is drawn: it ends the search for the top
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def _responses(axes: Any, filters: Mapping[str, PolynomialFilter], end: float) -> None:
    """Draw the response of filters over the frequencies up to `end`."""
    check_type(filters, Mapping, "filters", "give a dictionary of name: filter")
    frequency = np.linspace(0.0, end, 300)
    styles = ("-", "--", "-.", ":")
    for position, (name, used) in enumerate(filters.items()):
        style = styles[position % len(styles)]
        axes.plot(frequency, used.response(frequency), "black", linestyle=style, linewidth=1, label=name)
    axes.set_ylabel("filter response")
    axes.spines["top"].set_visible(False)


def _shares(operator: Operator, X: Any, bins: int) -> tuple[Any, Any, Any]:
    """Edges of bins, share of the eigenvalues or of the energy in each, and two standard errors."""
    bins = Whole(low=1, high=MOST_ITERATIONS // 1000).check("bins", bins)
    if operator.n_nodes > EXACT_NODES:
        n_moments = 2 * bins
        found = (
            spectral_density(operator, n_moments, bins=bins)
            if X is None
            else feature_density(X, operator, n_moments, bins=bins)
        )
        return found.edges, found.mass, 2 * found.error
    spectrum = exact_spectrum(operator)
    weights = None if X is None else (fourier_transform(X, spectrum) ** 2).sum(axis=1)
    edges = np.linspace(0.0, 2.0, bins + 1)
    inside = np.clip(spectrum.frequencies, 0.0, 2.0)  # rounding may leave the range by 1e-16
    counts, _ = np.histogram(inside, edges, weights=weights)
    return edges, counts / counts.sum(), np.zeros(bins)


def _steps(axes: Any, edges: Any, shares: Any, error: Any, color: str, label: str) -> None:
    axes.stairs(shares, edges, color=color, fill=True, alpha=0.25)
    axes.stairs(shares, edges, color=color, linewidth=1.2, label=label)
    if error.any():
        centers = (edges[:-1] + edges[1:]) / 2
        axes.errorbar(centers, shares, error, color=color, linestyle="none", linewidth=1)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")


def _title(graph: Graph) -> str:
    return f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges"


def plain_spines(*axes: Any) -> None:
    """Leave the spines above and on the right out."""
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)


def blank_figure(figure: Any, size: tuple[float, float]) -> Any:
    """A new figure of some inches where none is given; what is drawn on either makes room for its labels."""
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    if figure is None:
        figure = Figure(figsize=size)
    figure.set_layout_engine("constrained")
    return figure
