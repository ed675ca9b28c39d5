"""Density of a spectrum by the kernel polynomial method: how many frequencies, or how much energy, lies where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError
from sgclearn.operators import Operator
from sgclearn.spectral.laplacian import symmetric_matrix
from sgclearn.validation.arrays import plain_array
from sgclearn.validation.matrices import as_dense, as_matrix, check_values
from sgclearn.validation.parameters import MOST_ITERATIONS, Whole, check_parameter

Array = NDArray[np.float64]

DEFAULT_SEED = 2019


@dataclass(frozen=True, eq=False)
class SpectralDensity:
    r"""Share of a spectrum in bins of frequency, from Chebyshev moments.

    With `x` in [-1, 1] the eigenvalue of `S` moved to the middle, `mu_m = E[T_m(x)]` and Jackson's damping
    `g_m`, the share below frequency `f = offset + 1 - cos(theta)` is
    `(theta + 2 sum_m g_m mu_m sin(m theta) / m) / pi`.

    Attributes
    ----------
    edges : ndarray (bins + 1,)
        Frequencies, eigenvalues of `I - S`, at which bins begin and end.
    mass, error : ndarray (bins,)
        Share of the spectrum in each bin, adding up to 1, and its standard error.
    moments, moment_errors : ndarray (n_moments + 1,)
        `mu_0 = 1, mu_1, ...`, and their standard errors; zero where nothing was drawn at random.
    n_products : int
        Products of `S` with a vector that it took.
    """

    edges: Array
    mass: Array
    error: Array
    moments: Array
    moment_errors: Array
    n_products: int

    @property
    def centers(self) -> Array:
        """Middle of every bin, shape (bins,)."""
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2)

    @property
    def density(self) -> Array:
        """Mass over width, shape (bins,): its integral over the frequencies is 1."""
        return np.asarray(self.mass / np.diff(self.edges))

    @property
    def mean_frequency(self) -> float:
        """Mean of the frequencies, `E[f]`: of features it is their Dirichlet energy."""
        return float(self.edges[0] + 1.0 - self.moments[1])

    def points(self) -> tuple[Array, Array]:
        """Frequencies (m,) and masses (m,) that stand for the spectrum, dense towards both ends of its range.

        Sums over them are what `mass` would give with ever finer bins.
        """
        orders = np.arange(1, len(self.moments))
        theta = (np.arange(2 * len(self.moments)) + 0.5) * np.pi / (2 * len(self.moments))
        damped = (_jackson(len(orders)) * self.moments)[1:]
        masses = (1.0 + 2.0 * np.cos(np.outer(theta, orders)) @ damped) / len(theta)
        return self.edges[0] + 1.0 - np.cos(theta), masses

    def share_below(self, frequency: float) -> float:
        """Share of the spectrum below a frequency, linear within a bin."""
        return float(np.interp(frequency, self.edges, np.append(0.0, np.cumsum(self.mass))))


def spectral_density(
    operator: Operator, n_moments: int = 80, n_vectors: int = 10, *, seed: int = DEFAULT_SEED, bins: int = 100
) -> SpectralDensity:
    """Density of the eigenvalues of `I - S` without computing one of them.

    Parameters
    ----------
    operator : Operator
        Of an undirected graph.
    n_moments : int, default 80
        Resolution: a single eigenvalue is smeared over about `pi / n_moments`.
    n_vectors : int >= 2, default 10
        Random vectors of signs, which estimate the moments and give the error bars.
    seed : int, default 2019
    bins : int, default 100

    Notes
    -----
    Cost: `n_moments / 2 * n_vectors` products with `S` (400 by default). Exact: no, see `error`.

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import spectral_density
    >>> ring = Operator(Graph.from_edges([(i, (i + 1) % 400) for i in range(400)]))
    >>> density = spectral_density(ring)
    >>> density.n_products, round(float(density.mass.sum()), 12)
    (400, 1.0)
    >>> abs(density.share_below(1.0) - 2 / 3) < 0.02
    True
    """
    _check_count("n_vectors", n_vectors, 2)
    matrix, _ = symmetric_matrix(operator)
    signs = np.random.default_rng(check_parameter("seed", seed)).choice(
        [-1.0, 1.0], size=(operator.n_nodes, n_vectors)
    )
    return _density(operator, matrix, signs, n_moments, bins, is_random=True)


def feature_density(
    X: Any,
    operator: Operator,
    n_moments: int = 80,
    n_vectors: int = 10,
    *,
    seed: int = DEFAULT_SEED,
    bins: int = 100,
) -> SpectralDensity:
    """Density of the energy of features over the frequencies, all features together, without eigenvectors.

    Parameters
    ----------
    X : matrix (n, d)
        Features; sparse ones stay sparse.
    operator : Operator
        Of an undirected graph. For `rw` energy is `sum_i d~_i x_i^2`.
    n_moments, bins : int
        As in `spectral_density`.
    n_vectors : int >= 2, default 10
        Up to this many features are taken as they are, and the moments are exact; more are represented by
        this many random sums of features.
    seed : int, default 2019

    Examples
    --------
    >>> import numpy as np
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import feature_density
    >>> ring = Operator(Graph.from_edges([(i, (i + 1) % 400) for i in range(400)]), gamma=0)
    >>> alternating = np.tile([[1.0], [-1.0]], (200, 1))
    >>> round(feature_density(alternating, ring).mean_frequency, 12)
    2.0
    """
    _check_count("n_vectors", n_vectors, 2)
    matrix, scale = symmetric_matrix(operator)
    X = check_energy(check_features(X, operator.n_nodes))
    is_random = X.shape[1] > n_vectors
    if is_random:
        X = X @ np.random.default_rng(check_parameter("seed", seed)).choice(
            [-1.0, 1.0], size=(X.shape[1], n_vectors)
        )
    vectors = scale[:, None] * as_dense(X)
    return _density(operator, matrix, vectors, n_moments, bins, is_random)


def check_features(X: Any, n_nodes: int) -> Any:
    """Features (n, d) in float64, sparse or dense; a single feature (n,) becomes a column."""
    if not sparse.issparse(X):
        X = plain_array(X, "X")
        X = X[:, None] if X.ndim == 1 else X
    X = as_matrix(X)
    if X.shape[0] != n_nodes or X.shape[1] == 0:
        raise InputError(
            "X must have one row a node and one column or more",
            f"shape {X.shape} for {n_nodes:,} nodes",
            argument="X",
        )
    check_values(X)
    return X.astype(np.float64, copy=False)


def check_energy(X: Any) -> Any:
    """Refuse features that are zero everywhere."""
    values = X.data if sparse.issparse(X) else X
    if not float(np.vdot(values, values)) > 0:
        raise InputError(
            "X must have an entry other than 0",
            "only zeros, or numbers that vanish when they are squared",
            "leave X out to see the graph alone, or scale it",
            argument="X",
        )
    return X


def _density(
    operator: Operator, matrix: Any, vectors: Array, n_moments: int, bins: int, is_random: bool
) -> SpectralDensity:
    _check_count("n_moments", n_moments, 2)
    _check_count("bins", bins, 1)
    shift = 1.0 if operator.normalization == "cheby" else 0.0
    raw = _chebyshev_moments(matrix, shift, vectors, n_moments)
    damped = _jackson(n_moments)[:, None] * raw
    edges = np.linspace(0.0, 2.0, bins + 1)
    theta = np.arccos(1.0 - edges)
    orders = np.arange(1, n_moments + 1)
    waves = np.hstack([theta[:, None], 2 * np.sin(np.outer(theta, orders)) / orders]) / np.pi
    raw_mass = np.diff(waves @ damped, axis=0)
    moments, moment_errors = _ratio(raw, raw[0], is_random)
    mass, error = _ratio(raw_mass, raw[0], is_random)
    n_products = (n_moments + 1) // 2 * vectors.shape[1]
    return SpectralDensity(edges - shift, mass, error, moments, moment_errors, n_products)


def _chebyshev_moments(matrix: Any, shift: float, vectors: Array, n_moments: int) -> Array:
    """`v^T T_m(M - shift) v` for m = 0..n_moments and every vector, shape (n_moments + 1, n_vectors)."""
    raw = np.zeros((n_moments + 2, vectors.shape[1]))

    def inner(left: Array, right: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->j", left, right))

    before, now = vectors, matrix @ vectors - shift * vectors
    raw[0], raw[1] = inner(vectors, vectors), inner(vectors, now)
    # One product gives two moments: 2 T_a T_b = T_(a+b) + T_(a-b).
    for order in range(1, (n_moments + 1) // 2 + 1):
        raw[2 * order] = 2 * inner(now, now) - raw[0]
        raw[2 * order - 1] = 2 * inner(now, before) - raw[1] if order > 1 else raw[1]
        if 2 * order < n_moments:
            before, now = now, 2 * (matrix @ now - shift * now) - before
    return raw[: n_moments + 1]


def _jackson(n_moments: int) -> Array:
    """Damping of moments 0..n_moments that keeps the density from going below zero."""
    m, size = np.arange(n_moments + 1), n_moments + 2
    angle = np.pi / size
    return np.asarray(((size - m) * np.cos(angle * m) + np.sin(angle * m) / np.tan(angle)) / size)


def _ratio(values: Array, norms: Array, is_random: bool) -> tuple[Array, Array]:
    """`sum(values) / sum(norms)` over vectors (the last axis) and the standard error of that ratio."""
    estimate = values.sum(axis=1) / norms.sum()
    if not is_random:
        return estimate, np.zeros_like(estimate)
    count = len(norms)
    residuals = values - estimate[:, None] * norms
    return estimate, np.sqrt(count / (count - 1) * (residuals**2).sum(axis=1)) / norms.sum()


def _check_count(name: str, value: int, least: int) -> None:
    Whole(low=least, high=MOST_ITERATIONS).check(name, value)
