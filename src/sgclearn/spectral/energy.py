"""Energy at frequencies, exact or estimated, and what a filter leaves of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.filters import PolynomialFilter
from sgclearn.operators import Operator
from sgclearn.spectral.density import feature_density, spectral_density
from sgclearn.spectral.fourier import fourier_transform, mean_frequency
from sgclearn.spectral.spectrum import Spectrum
from sgclearn.validation.matrices import as_dense

Array = NDArray[np.float64]

_N_MOMENTS = 120
_N_PROJECTIONS = 64
_AFFORDABLE = 2e8  # multiply-adds a hop up to which every feature is filtered


@dataclass(frozen=True)
class FilterEffect:
    """What a filter leaves of the energy of the features: in all, and of the low and the high half.

    `kept_error` is the standard error of `kept`, 0 where it is exact; `mean_frequency` is that of what varies.
    """

    name: str
    kept: float
    kept_error: float
    kept_low: float
    kept_high: float
    mean_frequency: float


def spectrum_shares(operator: Operator, spectrum: Spectrum | None) -> tuple[Array, Array]:
    """Frequencies (m,) and the share of the spectrum at each."""
    if spectrum is not None:
        return spectrum.frequencies, np.full(operator.n_nodes, 1.0 / operator.n_nodes)
    return spectral_density(operator, _N_MOMENTS).points()


def feature_energy(
    X: Any, operator: Operator, spectrum: Spectrum | None
) -> tuple[Array, Array, float, float]:
    """Frequencies (m,), share of energy at each, and the mean frequency of what varies, with its error."""
    if spectrum is None:
        frequencies, energy = feature_density(X, operator, _N_MOMENTS).points()
        # The mean alone needs no eigenvectors: it is exact however large the graph.
        mean, error = mean_frequency(X, operator), 0.0
    else:
        squares = (fourier_transform(X, spectrum) ** 2).sum(axis=1)
        frequencies, energy = spectrum.frequencies, squares / squares.sum()
        mean, error = float(energy @ frequencies), 0.0
    # What all nodes share has frequency 0: leaving it out changes the total, and not the sum over frequencies.
    varying = 1.0 - _shared_energy(X, operator)
    return (
        (frequencies, energy, mean / varying, error / varying)
        if varying > 1e-9
        else (frequencies, energy, 0.0, 0.0)
    )


def _shared_energy(X: Any, operator: Operator) -> float:
    """Share of energy in the mode of frequency 0 that reaches every node, `sqrt(d~)`."""
    shared = np.sqrt(operator.graph.degrees() + (operator.gamma or 0.0))
    values = X if isinstance(X, np.ndarray) else X.data
    total = float((shared**2).sum()) * float((values**2).sum())
    return float(((X.T @ shared) ** 2).sum()) / total if total > 0 else 0.0


def filter_samples(X: Any, operator: Operator, seed: int = 2019) -> tuple[Array, bool]:
    """Columns (n, m) that a filter is applied to, and whether they stand for others.

    The features themselves where they are few enough, else random sums of them, whose energy is theirs on average;
    random vectors where there are no features.
    """
    generator = np.random.default_rng(seed)
    if X is not None and X.shape[1] * (len(operator.graph.indices) + operator.n_nodes) <= _AFFORDABLE:
        return as_dense(X), False
    width = operator.n_nodes if X is None else X.shape[1]
    if X is None and width <= _N_PROJECTIONS:
        return np.eye(width), False
    signs = generator.choice([-1.0, 1.0], size=(width, _N_PROJECTIONS))
    return (signs if X is None else np.asarray(X @ signs)), True


def effect_of(
    name: str,
    used: PolynomialFilter,
    operator: Operator,
    samples: tuple[Array, bool],
    shares: tuple[Array, Array, NDArray[np.bool_]],
) -> FilterEffect:
    """What a filter leaves of the energy of `filter_samples`.

    In all and on average over frequencies it is measured on the filtered columns; its part in the high half, where a
    filter leaves little, comes from the energy (m,) at frequencies (m,), of which `low` are the low half.
    """
    columns, are_sums = samples
    filtered = used.apply(columns, operator)
    before, after = (np.einsum("ij,ij->j", part, part) for part in (columns, filtered))
    total = float(before.sum())
    kept = float(after.sum()) / total
    spread = after - kept * before
    n_columns = len(before)
    error = float(np.sqrt((spread**2).sum() * n_columns / max(n_columns - 1, 1))) / total if are_sums else 0.0
    frequencies, energy, low = shares
    high = float(energy[~low].sum())
    high_left = float((np.asarray(used.response(frequencies[~low])) ** 2) @ energy[~low])
    low_left = max(kept - high_left, 0.0)
    varying = float(after.sum()) * (1.0 - _shared_energy(filtered, operator))
    # What varies, as for the features themselves: the mode that reaches every node is left out of the mean.
    mean = (
        mean_frequency(filtered, operator) * float(after.sum()) / varying if varying > 1e-12 * total else 0.0
    )
    return FilterEffect(
        name,
        kept,
        error,
        low_left / (1.0 - high) if high < 1 else 0.0,
        high_left / high if high > 0 else 0.0,
        mean,
    )
