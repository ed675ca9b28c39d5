"""Graph Fourier transform, energy of features by frequency, and smoothness with or without eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.operators import Operator
from sgclearn.spectral.density import check_features
from sgclearn.spectral.laplacian import symmetric_matrix
from sgclearn.spectral.spectrum import Spectrum
from sgclearn.validation.parameters import check_parameter, check_type

Array = NDArray[np.float64]

# Columns that are made dense at the same time hold about this many numbers.
_BLOCK_ENTRIES = 2**23


def fourier_transform(X: Any, spectrum: Spectrum) -> Array:
    """Coefficients of features in the modes of a graph, `X^ = U^T diag(t) X`.

    Parameters
    ----------
    X : matrix (n, d), or one feature (n,)
    spectrum : Spectrum
        With modes `U` (n, n) and scale `t` (n,), which is 1 for `sym` and `cheby`.

    Returns
    -------
    ndarray (n, d), or (n,)
        Row i belongs to `spectrum.frequencies[i]`.

    Notes
    -----
    Paper: Section 3. A filter multiplies row i by its response there:
    `inverse_fourier_transform(g[:, None] * X^)`.

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import exact_spectrum, fourier_transform
    >>> pair = exact_spectrum(Operator(Graph.from_edges([(0, 1)])))
    >>> abs(fourier_transform([3.0, 3.0], pair)).round(6)
    array([4.242641, 0.      ])
    """
    check_type(spectrum, Spectrum, "spectrum", "make one with exact_spectrum(operator)")
    columns = check_features(X, len(spectrum.scale))
    is_vector = not sparse.issparse(X) and np.ndim(X) == 1
    if sparse.issparse(columns):
        coefficients = (columns.T @ (spectrum.scale[:, None] * spectrum.modes)).T
    else:
        coefficients = spectrum.modes.T @ (spectrum.scale[:, None] * columns)
    return np.asarray(coefficients[:, 0] if is_vector else coefficients)


def inverse_fourier_transform(coefficients: Any, spectrum: Spectrum) -> Array:
    """Features that have these coefficients: `X = diag(1/t) U X^`, shape (n, d) or (n,).

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import exact_spectrum, fourier_transform, inverse_fourier_transform
    >>> path = exact_spectrum(Operator(Graph.from_edges([(0, 1), (1, 2)]), "rw"))
    >>> inverse_fourier_transform(fourier_transform([1.0, 2.0, 4.0], path), path).round(12)
    array([1., 2., 4.])
    """
    check_type(spectrum, Spectrum, "spectrum", "make one with exact_spectrum(operator)")
    X = (spectrum.modes @ check_features(coefficients, len(spectrum.scale))) / spectrum.scale[:, None]
    is_vector = not sparse.issparse(coefficients) and np.ndim(coefficients) == 1
    return np.asarray(X[:, 0] if is_vector else X)


def energy_by_frequency(X: Any, spectrum: Spectrum) -> Array:
    """Share of the energy of each feature at each frequency, `x^_i^2 / |x^|^2`.

    Returns
    -------
    ndarray (n, d)
        Each column adds up to 1; that of a feature without energy is zero.

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import energy_by_frequency, exact_spectrum
    >>> pair = exact_spectrum(Operator(Graph.from_edges([(0, 1)])))
    >>> energy_by_frequency([[3.0, 1.0], [3.0, 0.0]], pair).round(12)
    array([[1. , 0.5],
           [0. , 0.5]])
    """
    check_type(spectrum, Spectrum, "spectrum", "make one with exact_spectrum(operator)")
    energy = fourier_transform(check_features(X, len(spectrum.scale)), spectrum) ** 2
    total = energy.sum(axis=0)
    return np.asarray(np.divide(energy, total, out=np.zeros_like(energy), where=total > 0))


def low_half_share(X: Any, spectrum: Spectrum) -> Array:
    """Share of the energy of each feature in the low half of the range of frequencies, shape (d,).

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import exact_spectrum, low_half_share
    >>> pair = exact_spectrum(Operator(Graph.from_edges([(0, 1)])))
    >>> low_half_share([[3.0, 1.0], [3.0, 0.0]], pair).round(12)
    array([1. , 0.5])
    """
    return np.asarray(energy_by_frequency(X, spectrum)[spectrum.is_low].sum(axis=0))


def dirichlet_energy(X: Any, operator: Operator, n_hops: int = 0) -> Array:
    """Smoothness of each feature, `z^T (I - S) z / z^T z` with `z = S^K x`: the mean of its frequencies.

    0 is the same (up to the degree) at neighbours; the larger, the more neighbours differ. For `rw` the inner
    product is weighted by `d~`, which makes it the same number as for `sym` with features `sqrt(d~) x`.

    Parameters
    ----------
    X : matrix (n, d), or one feature (n,)
    operator : Operator
        Of an undirected graph.
    n_hops : int, default 0
        Hops K before the energy is measured.

    Returns
    -------
    ndarray (d,)
        0 for a feature that is zero.

    Notes
    -----
    Cost: `K + 1` products with `S` a feature, a block of features at a time; no eigenvectors. Exact: yes.

    Examples
    --------
    >>> from sgclearn import Graph, Operator
    >>> from sgclearn.spectral import dirichlet_energy
    >>> path = Operator(Graph.from_edges([(0, 1), (1, 2), (2, 3)]))
    >>> before, after = (dirichlet_energy([1.0, 0.0, 1.0, 0.0], path, n_hops) for n_hops in (0, 2))
    >>> bool(after[0] < before[0])
    True
    """
    total, quadratic = _energies(X, operator, check_parameter("n_hops", n_hops))
    return np.divide(quadratic, total, out=np.zeros_like(total), where=total > 0)


def mean_frequency(X: Any, operator: Operator) -> float:
    """Mean frequency of all features together, each by its energy; exact, without eigenvectors."""
    total, quadratic = _energies(X, operator, 0)
    return float(quadratic.sum() / total.sum()) if total.any() else 0.0


def _energies(X: Any, operator: Operator, n_hops: int) -> tuple[Array, Array]:
    """`z^T z` and `z^T (I - S) z` (d,) of every feature after some hops, a block of features at a time."""
    matrix, scale = symmetric_matrix(operator)
    X = check_features(X, operator.n_nodes)
    if sparse.issparse(X) and n_hops == 0:  # only neighbours that share a feature meet: it stays sparse
        scaled = sparse.csr_array(sparse.diags_array(scale) @ X)
        total = np.asarray(scaled.multiply(scaled).sum(axis=0)).ravel()
        return total, total - np.asarray(scaled.multiply(matrix @ scaled).sum(axis=0)).ravel()
    columns = sparse.csc_array(X) if sparse.issparse(X) else X
    width = max(1, _BLOCK_ENTRIES // operator.n_nodes)
    totals, quadratics = [], []
    for start in range(0, X.shape[1], width):
        block = columns[:, start : start + width]
        block = scale[:, None] * (block.toarray() if sparse.issparse(block) else block)
        for _ in range(n_hops):
            block = matrix @ block
        total = np.einsum("ij,ij->j", block, block)
        quadratic = total - np.einsum("ij,ij->j", block, matrix @ block)
        totals.append(total)
        quadratics.append(quadratic)
    return np.concatenate(totals), np.concatenate(quadratics)
