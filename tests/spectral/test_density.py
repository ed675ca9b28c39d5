"""Densities by the kernel polynomial method, against exact spectra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import chebyshev
from scipy import sparse

from sgclearn import Graph, Operator
from sgclearn.errors import InputError
from sgclearn.spectral import (
    dirichlet_energy,
    exact_spectrum,
    feature_density,
    fourier_transform,
    spectral_density,
)

from zoo import OPERATORS, ZOO, random_features, random_graph

GRAPH = random_graph(300, 700, seed=41)


def exact_moments(operator: Operator, n_moments: int, weights: np.ndarray) -> np.ndarray:
    shift = 1.0 if operator.normalization == "cheby" else 0.0
    x = 1 - exact_spectrum(operator).frequencies - shift
    return weights @ chebyshev.chebvander(x, n_moments) / weights.sum()


@pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
def test_spectral_density_moments_lie_within_their_error_bars(choice: tuple[str, float | None]) -> None:
    operator = Operator(GRAPH, *choice)
    found = spectral_density(operator, 41, 30, seed=43)
    exact = exact_moments(operator, 41, np.ones(300))
    assert (abs(found.moments - exact) <= 4.5 * found.moment_errors + 1e-12).all()
    # Most of them must lie within two standard errors, or the bars would be too short.
    assert np.mean(abs(found.moments - exact) <= 2 * found.moment_errors + 1e-12) > 0.8
    assert found.n_products == 21 * 30


@given(st.integers(2, 60), st.integers(1, 50), st.integers(2, 2**31))
def test_spectral_density_is_a_distribution(n_moments: int, bins: int, seed: int) -> None:
    found = spectral_density(Operator(ZOO["two-components"]), n_moments, 3, seed=seed, bins=bins)
    assert found.mass.shape == found.error.shape == found.centers.shape == (bins,)
    assert found.mass.min() >= -1e-12
    assert float(found.mass.sum()) == pytest.approx(1.0, abs=1e-12)
    assert float(found.density @ np.diff(found.edges)) == pytest.approx(1.0, abs=1e-12)
    assert found.share_below(found.edges[-1]) == pytest.approx(1.0)
    assert found.share_below(found.edges[0] - 1) == 0


def test_spectral_density_follows_the_exact_distribution() -> None:
    for choice in OPERATORS.values():
        operator = Operator(GRAPH, *choice)
        exact = exact_spectrum(operator).frequencies
        found = spectral_density(operator, 200, 40, seed=47, bins=200)
        for frequency in exact[20:-20:40] + 0.013:
            # Between the exact shares a resolution away on either side.
            low, high = (np.mean(exact <= frequency + step) for step in (-0.04, 0.04))
            assert low - 0.02 <= found.share_below(float(frequency)) <= high + 0.02


@pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
def test_spectral_density_points_have_its_moments(choice: tuple[str, float | None]) -> None:
    found = spectral_density(Operator(GRAPH, *choice), 60)
    frequencies, masses = found.points()
    assert masses.min() > 0
    assert float(masses.sum()) == pytest.approx(1.0, abs=1e-12)
    # Jackson's damping takes pi^2 / (2 n_moments^2) off the first moment.
    assert float(masses @ frequencies) == pytest.approx(found.mean_frequency, abs=2e-3)
    assert float(masses[frequencies < 1].sum()) == pytest.approx(found.share_below(1.0), abs=0.02)


def test_spectral_density_is_repeatable_and_its_errors_shrink() -> None:
    operator = Operator(GRAPH)
    assert (spectral_density(operator).mass == spectral_density(operator).mass).all()
    few, many = (spectral_density(operator, 20, n, seed=53).error.mean() for n in (8, 128))
    assert many < few / 2


@pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_feature_density_of_few_features_is_exact(choice: tuple[str, float | None], make: type) -> None:
    operator = Operator(GRAPH, *choice)
    X = random_features(300, 4, seed=59)
    found = feature_density(make(X), operator, 30)
    energy = (fourier_transform(X, exact_spectrum(operator)) ** 2).sum(axis=1)
    np.testing.assert_allclose(found.moments, exact_moments(operator, 30, energy), atol=1e-12)
    assert (found.error == 0).all()
    one = feature_density(X[:, 0], operator, 2)
    assert one.mean_frequency == pytest.approx(dirichlet_energy(X[:, 0], operator)[0], abs=1e-12)


def test_feature_density_of_many_features_lies_within_its_error_bars() -> None:
    operator = Operator(GRAPH)
    X = random_features(300, 80, seed=61)
    found = feature_density(X, operator, 30, 25, seed=67)
    energy = (fourier_transform(X, exact_spectrum(operator)) ** 2).sum(axis=1)
    exact = exact_moments(operator, 30, energy)
    assert (abs(found.moments - exact) <= 4.5 * found.moment_errors + 1e-12).all()
    assert float(found.mass.sum()) == pytest.approx(1.0)


def test_densities_refuse_bad_input() -> None:
    operator = Operator(ZOO["path"])
    for options, name in (
        ({"n_moments": 1}, "n_moments"),
        ({"n_vectors": 1}, "n_vectors"),
        ({"bins": 0}, "bins"),
        ({"bins": True}, "bins"),
    ):
        with pytest.raises(InputError, match=f"{name} must be a whole number >= "):
            spectral_density(operator, **options)
    with pytest.raises(InputError, match=r"got shape \(4, 2\) for 5 nodes"):
        feature_density(np.ones((4, 2)), operator)
    with pytest.raises(InputError, match="X must be finite"):
        feature_density(np.full((5, 1), np.nan), operator)
    for zeros in (np.zeros((5, 2)), sparse.csr_array((5, 2))):
        with pytest.raises(InputError, match="got only zeros"):
            feature_density(zeros, operator)
    with pytest.raises(InputError, match="got a directed one"):
        spectral_density(Operator(ZOO["directed-cycle"]))
    with pytest.raises(InputError, match="without nodes"):
        spectral_density(Operator(Graph.from_edges([], n_nodes=0)))
