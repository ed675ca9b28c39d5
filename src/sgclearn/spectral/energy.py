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

Array = NDArray[np.float64]

_N_MOMENTS = 120


@dataclass(frozen=True)
class FilterEffect:
    """What a filter leaves of the energy of the features: in all, and of the low and the high half."""

    name: str
    kept: float
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


def effect_of(
    name: str, used: PolynomialFilter, frequencies: Array, energy: Array, low: NDArray[np.bool_]
) -> FilterEffect:
    """What a filter leaves of energy (m,) at frequencies (m,), of which `low` are the low half."""
    after = np.asarray(used.response(frequencies)) ** 2 * energy

    def share(part: NDArray[np.bool_]) -> float:
        return float(after[part].sum() / energy[part].sum()) if energy[part].sum() > 0 else 0.0

    total = after.sum()
    mean = float(after @ frequencies / total) if total > 0 else 0.0
    return FilterEffect(name, share(np.ones_like(low)), share(low), share(~low), mean)
