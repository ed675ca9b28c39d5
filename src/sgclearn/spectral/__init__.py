"""What frequencies a graph has, where features lie among them, and what self-loops do to both."""

from sgclearn.spectral.density import SpectralDensity, feature_density, spectral_density
from sgclearn.spectral.figures import plot_filters, plot_spectrum
from sgclearn.spectral.fourier import (
    dirichlet_energy,
    energy_by_frequency,
    fourier_transform,
    inverse_fourier_transform,
    low_half_share,
)
from sgclearn.spectral.laplacian import laplacian
from sgclearn.spectral.spectrum import ExtremeEigenvalues, Spectrum, exact_spectrum, extreme_eigenvalues
from sgclearn.spectral.summary import SpectrumSummary, summarize_spectrum
from sgclearn.spectral.theorem import Theorem1, check_theorem1

__all__ = [
    "ExtremeEigenvalues",
    "SpectralDensity",
    "Spectrum",
    "SpectrumSummary",
    "Theorem1",
    "check_theorem1",
    "dirichlet_energy",
    "energy_by_frequency",
    "exact_spectrum",
    "extreme_eigenvalues",
    "feature_density",
    "fourier_transform",
    "inverse_fourier_transform",
    "laplacian",
    "low_half_share",
    "plot_filters",
    "plot_spectrum",
    "spectral_density",
    "summarize_spectrum",
]
