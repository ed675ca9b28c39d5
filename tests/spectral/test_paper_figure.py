"""Figure 2 of the paper, on the graph it was drawn for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sgclearn import Operator, load_dataset
from sgclearn.spectral import extreme_eigenvalues, plot_filters


def test_figure_2_on_cora_shows_three_matrices_and_six_powers(data_dir: Path, tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    data = load_dataset("cora", data_dir=data_dir)
    figure = plot_filters(data.graph, data.X[:, [2]].toarray().ravel(), name="third feature")
    try:
        for kind in ("png", "svg"):
            figure.savefig(tmp_path / f"figure2.{kind}")
            assert (tmp_path / f"figure2.{kind}").stat().st_size > 10_000
        curves = [axes for axes in figure.axes if len(axes.lines) >= 6]
        assert len(curves) == 3
    finally:
        plt.close(figure)
    # What the paper reads off it: without loops odd powers reach -1, with loops the spectrum ends near 1.5.
    plain, augmented = (extreme_eigenvalues(Operator(data.graph, gamma=g)).largest for g in (0.0, 1.0))
    assert (1 - plain[-1]) ** 3 == pytest.approx(-1.0, abs=1e-6)
    assert augmented[-1] == pytest.approx(1.48, abs=0.01)
    assert np.abs(1 - augmented[-1]) ** 6 < 0.02
