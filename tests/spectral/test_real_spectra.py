"""What the paper says of Cora, and large real graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sgclearn import Operator, load_dataset
from sgclearn.errors import MemoryLimitError
from sgclearn.spectral import (
    check_theorem1,
    dirichlet_energy,
    exact_spectrum,
    extreme_eigenvalues,
    feature_density,
    low_half_share,
    spectral_density,
    summarize_spectrum,
)


@pytest.mark.parametrize(("gamma", "near"), [(0.0, 2.0), (1.0, 1.5)])
def test_cora_largest_eigenvalue_exact_and_by_lanczos(data_dir: Path, gamma: float, near: float) -> None:
    data = load_dataset("cora", data_dir=data_dir)
    operator = Operator(data.graph, gamma=gamma)
    exact = exact_spectrum(operator)
    assert exact.frequencies[-1] == pytest.approx(near, abs=0.02)
    found = extreme_eigenvalues(operator, 6)
    np.testing.assert_allclose(found.largest, exact.frequencies[-6:], atol=1e-8)
    np.testing.assert_allclose(found.smallest, exact.frequencies[:6], atol=1e-8)
    if gamma:
        density = feature_density(data.X, operator, 120)
        energy = np.asarray(data.X.power(2).sum(axis=0)).ravel()
        share = low_half_share(data.X, exact) @ energy / energy.sum()
        assert density.share_below(exact.middle) == pytest.approx(share, abs=0.03)
        before, after = (dirichlet_energy(data.X[:, :50], operator, n_hops) for n_hops in (0, 2))
        assert (after < before).mean() > 0.98


def test_theorem_on_the_citation_graphs(data_dir: Path) -> None:
    found = {
        name: check_theorem1(load_dataset(name, data_dir=data_dir).graph) for name in ("cora", "citeseer")
    }
    assert all(check.holds for check in found.values())
    assert found["cora"].assumptions_hold
    assert found["cora"].lambda_tilde_n == pytest.approx(1.4826, abs=1e-4)
    # The loops of Citeseer break the assumptions, and not the inequality.
    assert not found["citeseer"].assumptions_hold
    assert found["citeseer"].n_self_loops == 124


def test_wordnet_density_for_a_few_hundred_products(data_dir: Path) -> None:
    data = load_dataset("wordnet", data_dir=data_dir)
    assert data.graph.n_nodes == 117_659
    operator = Operator(data.graph)
    density = spectral_density(operator)
    assert density.n_products == 400
    assert float(density.density @ np.diff(density.edges)) == pytest.approx(1.0, abs=1e-12)
    # The trace is known exactly.
    exact = 1.0 - operator.matrix().diagonal().mean()
    assert abs(density.mean_frequency - exact) < 4.5 * density.moment_errors[1]
    # Twins with one shared neighbour make the peak at 1/2.
    assert density.centers[density.mass[3:].argmax() + 3] == pytest.approx(0.5, abs=0.03)
    with pytest.raises(MemoryLimitError, match=r"117,659 nodes, which need 332 GB; use extreme_eigenvalues"):
        exact_spectrum(operator)


def test_real_features_are_smoother_than_random_ones(data_dir: Path) -> None:
    data = load_dataset("cora", data_dir=data_dir)
    summary = summarize_spectrum(data.graph, data.X)
    assert summary.low_half > summary.low_half_random + 0.05
    assert summary.mean_frequency < 0.95 * summary.mean_frequency_random
    assert [advice.topic for advice in summary.advice] == ["disconnected"]
    assert summary.n_components == 78
