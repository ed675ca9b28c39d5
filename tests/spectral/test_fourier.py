"""The graph Fourier transform, energy by frequency, and smoothness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from scipy import sparse

from sgclearn import Graph, Operator, propagate
from sgclearn.errors import InputError
from sgclearn.filters import CustomFilter, HeatFilter, PageRankFilter, PowerFilter, S2GCFilter
from sgclearn.spectral import (
    dirichlet_energy,
    energy_by_frequency,
    exact_spectrum,
    fourier,
    fourier_transform,
    inverse_fourier_transform,
    low_half_share,
)

from zoo import ZOO, graphs_with_features, operator_choices, random_features, random_graph

Problem = tuple[Graph, NDArray[np.float64]]
FILTERS = {
    "power": PowerFilter(3),
    "s2gc": S2GCFilter(8, 0.05),
    "pagerank": PageRankFilter(6, 0.1),
    "heat": HeatFilter(9, 2.0),
    "custom": CustomFilter([0.3, -1.2, 0.0, 0.7]),
}


@given(graphs_with_features(directed=False), operator_choices())
def test_fourier_transform_and_its_inverse_cancel(problem: Problem, choice: tuple[str, float | None]) -> None:
    graph, X = problem
    found = exact_spectrum(Operator(graph, *choice))
    coefficients = fourier_transform(X, found)
    np.testing.assert_allclose(inverse_fourier_transform(coefficients, found), X, atol=1e-10)
    np.testing.assert_allclose(fourier_transform(sparse.csr_array(X), found), coefficients, atol=1e-10)
    energy = ((found.scale[:, None] * X) ** 2).sum()
    assert (coefficients**2).sum() == pytest.approx(energy, rel=1e-10)
    vector = fourier_transform(X[:, 0], found)
    assert vector.shape == inverse_fourier_transform(vector, found).shape == (graph.n_nodes,)


@pytest.mark.parametrize("name", FILTERS)
@given(problem=graphs_with_features(directed=False), choice=operator_choices())
def test_filter_multiplies_the_coefficients_by_its_response(
    name: str, problem: Problem, choice: tuple[str, float | None]
) -> None:
    graph, X = problem
    operator = Operator(graph, *choice)
    found = exact_spectrum(operator)
    g = np.asarray(FILTERS[name].response(found.frequencies))
    by_modes = inverse_fourier_transform(g[:, None] * fourier_transform(X, found), found)
    applied = FILTERS[name].apply(X, operator)
    np.testing.assert_allclose(applied, by_modes, atol=1e-10 * (1 + abs(by_modes).max()))


@given(graphs_with_features(directed=False), operator_choices(with_cheby=False))
def test_energy_by_frequency_and_dirichlet_energy_agree(
    problem: Problem, choice: tuple[str, float | None]
) -> None:
    graph, X = problem
    X = X.round(6)  # squares of smaller numbers may vanish
    operator = Operator(graph, *choice)
    found = exact_spectrum(operator)
    shares = energy_by_frequency(X, found)
    has_energy = (X != 0).any(axis=0)
    np.testing.assert_allclose(shares.sum(axis=0), has_energy.astype(float), atol=1e-10)
    np.testing.assert_allclose(dirichlet_energy(X, operator), found.frequencies @ shares, atol=1e-9)
    low = low_half_share(X, found)
    assert ((low > -1e-12) & (low < 1 + 1e-12)).all()


def test_low_half_share_of_a_single_mode_is_all_or_nothing() -> None:
    found = exact_spectrum(Operator(random_graph(50, 120, seed=73)))
    share = low_half_share(found.modes, found)
    np.testing.assert_allclose(share, found.frequencies <= found.frequencies[-1] / 2, atol=1e-10)


@given(graphs_with_features(directed=False))
def test_dirichlet_energy_falls_with_pairs_of_hops_where_all_responses_are_positive(problem: Problem) -> None:
    graph, X = problem
    X = X.round(6)
    # With gamma at least the largest degree S has no negative eigenvalue, and each hop damps the high ones most.
    operator = Operator(graph, gamma=float(max(graph.degrees().max(), 1.0)))
    energies = [dirichlet_energy(X, operator, n_hops) for n_hops in (0, 1, 3)]
    assert (energies[1] <= energies[0] + 1e-8).all()
    assert (energies[2] <= energies[1] + 1e-8).all()


def test_dirichlet_energy_after_hops_is_that_of_propagated_features(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(60, 150, seed=79)
    X = random_features(60, 7, seed=83)
    for choice in (("sym", 1.0), ("rw", 0.35)):
        operator = Operator(graph, *choice)
        Z = propagate(X, graph, 2, normalization=choice[0], gamma=choice[1])
        expected = dirichlet_energy(Z, operator)
        np.testing.assert_allclose(dirichlet_energy(X, operator, 2), expected, atol=1e-10)
        monkeypatch.setattr(fourier, "_BLOCK_ENTRIES", 120)  # two columns at a time
        np.testing.assert_allclose(dirichlet_energy(sparse.csr_array(X), operator, 2), expected, atol=1e-10)
    rw = Operator(graph, "rw", 1.0)
    weighted = np.sqrt(graph.degrees() + 1)[:, None] * X
    np.testing.assert_allclose(
        dirichlet_energy(X, rw), dirichlet_energy(weighted, Operator(graph)), atol=1e-12
    )


def test_fourier_refuses_bad_input() -> None:
    operator = Operator(ZOO["path"])
    with pytest.raises(InputError, match=r"one row a node .* got shape \(4, 1\) for 5 nodes"):
        fourier_transform(np.ones(4), exact_spectrum(operator))
    for n_hops in (-1, 1.5, True):
        with pytest.raises(InputError, match="n_hops must be a whole number >= 0"):
            dirichlet_energy(np.ones(5), operator, n_hops)  # type: ignore[arg-type]
