"""Exact spectra and Lanczos."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from sgclearn import Graph, Operator
from sgclearn.errors import InputError, MemoryLimitError
from sgclearn.spectral import exact_spectrum, extreme_eigenvalues

from zoo import OPERATORS, UNDIRECTED, ZOO, graphs, operator_choices, random_graph

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data")


@pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("graph", UNDIRECTED.values(), ids=UNDIRECTED)
def test_exact_spectrum_diagonalises_the_operator(graph: Graph, choice: tuple[str, float | None]) -> None:
    operator = Operator(graph, *choice)
    found = exact_spectrum(operator)
    U, t = found.modes, found.scale
    np.testing.assert_allclose(U.T @ U, np.eye(graph.n_nodes), atol=1e-12)
    rebuilt = (U * (1 - found.frequencies)) @ U.T * t / t[:, None]
    np.testing.assert_allclose(rebuilt, operator.matrix().toarray(), atol=1e-12)
    assert (np.diff(found.frequencies) >= 0).all()


@given(graphs(directed=False), operator_choices(with_cheby=False))
def test_exact_spectrum_of_sym_and_rw_is_the_same_and_within_bounds(
    graph: Graph, choice: tuple[str, float | None]
) -> None:
    both = [exact_spectrum(Operator(graph, name, choice[1])).frequencies for name in ("sym", "rw")]
    np.testing.assert_allclose(both[0], both[1], atol=1e-10)
    assert both[0].min() > -1e-10
    assert both[0].max() < 2 + 1e-10


def test_exact_spectrum_counts_components_and_isolated_nodes() -> None:
    disconnected = exact_spectrum(Operator(ZOO["two-components"])).frequencies
    assert np.count_nonzero(disconnected < 1e-9) == 2
    graph = ZOO["isolated-nodes"]  # three of its six nodes have no edge
    assert np.count_nonzero(abs(exact_spectrum(Operator(graph, gamma=1.0)).frequencies) < 1e-9) == 4
    plain = exact_spectrum(Operator(graph, gamma=0.0)).frequencies
    assert np.count_nonzero(abs(plain) < 1e-9) == 1
    assert np.count_nonzero(abs(plain - 1) < 1e-9) == 4  # the three, and the middle mode of the path


def test_exact_spectrum_refuses_a_graph_that_is_too_large_and_offers_the_other_way() -> None:
    operator = Operator(random_graph(20_000, 10, seed=23))
    with pytest.raises(MemoryLimitError, match=r"20,000 nodes, which need 9\.6 GB; use extreme_eigenvalues"):
        exact_spectrum(operator)
    with pytest.raises(MemoryLimitError, match="max_bytes=1e-07 GB"):
        exact_spectrum(Operator(ZOO["path"]), max_bytes=100)


def test_spectrum_refuses_a_directed_graph() -> None:
    operator = Operator(ZOO["directed-cycle"])
    for function in (exact_spectrum, extreme_eigenvalues):
        with pytest.raises(InputError, match="got a directed one, whose eigenvalues need not be real"):
            function(operator)


@pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
def test_extreme_eigenvalues_by_lanczos_equal_the_exact_ones(choice: tuple[str, float | None]) -> None:
    operator = Operator(random_graph(420, 900, seed=29), *choice)  # disconnected, with isolated nodes
    exact = exact_spectrum(operator).frequencies
    found = extreme_eigenvalues(operator, 5)
    np.testing.assert_allclose(found.smallest, exact[:5], atol=1e-8)
    np.testing.assert_allclose(found.largest, exact[-5:], atol=1e-8)
    again = extreme_eigenvalues(operator, 5)
    assert (found.largest == again.largest).all()


def test_extreme_eigenvalues_find_every_copy() -> None:
    ring = [(i, (i + 1) % 7) for i in range(7)]
    copies = [(7 * copy + a, 7 * copy + b) for copy in range(60) for a, b in ring]
    operator = Operator(Graph.from_edges(copies))
    exact = exact_spectrum(operator).frequencies
    found = extreme_eigenvalues(operator, 9)
    np.testing.assert_allclose(found.smallest, np.zeros(9), atol=1e-8)
    np.testing.assert_allclose(found.largest, exact[-9:], atol=1e-8)


def test_extreme_eigenvalues_of_small_graphs_and_of_one_end() -> None:
    operator = Operator(ZOO["complete"], gamma=0.0)
    found = extreme_eigenvalues(operator, 5)
    np.testing.assert_allclose(found.largest, [0, 1.25, 1.25, 1.25, 1.25], atol=1e-12)
    np.testing.assert_allclose(found.smallest, found.largest, atol=1e-12)
    assert extreme_eigenvalues(operator, which="largest").smallest.size == 0
    assert extreme_eigenvalues(operator, which="smallest").largest.size == 0


def test_extreme_eigenvalues_refuse_bad_input() -> None:
    operator = Operator(ZOO["path"])
    for k in (0, 6, 1.5, True):
        with pytest.raises(InputError, match=r"k must be a whole number (>= 1|from 1 to 5): got"):
            extreme_eigenvalues(operator, k)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="which must be one of both"):
        extreme_eigenvalues(operator, which="LA")
    with pytest.raises(InputError, match=r"within max_restarts=1: got \d of them; ask for fewer"):
        extreme_eigenvalues(Operator(random_graph(900, 2000, seed=31)), 3, max_restarts=1)
