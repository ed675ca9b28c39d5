"""Figures: what they show, and that nothing is cut off."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgclearn.errors import InputError, MemoryLimitError, MissingExtraError
from sgclearn.filters import PowerFilter
from sgclearn.spectral import plot_filters, plot_spectrum

from zoo import ZOO, random_features, random_graph

pytest.importorskip("matplotlib")

GRAPH = random_graph(60, 150, seed=163)


def assert_nothing_cut_off(figure: Any) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    inside = figure.get_tightbbox(canvas.get_renderer())
    width, height = figure.get_size_inches()
    assert inside.x0 >= 0
    assert inside.y0 >= 0
    assert inside.x1 <= width
    assert inside.y1 <= height


def test_plot_filters_shows_three_matrices_and_every_power(tmp_path: Path) -> None:
    x = random_features(60, 1, seed=167)
    figure = plot_filters(GRAPH, x, n_hops=(1, 2, 5), name="height")
    axes = np.array(figure.axes).reshape(2, 3)
    assert "Chebyshev" in axes[0, 0].get_title()
    tops = [axis.lines[2].get_ydata()[0] for axis in axes[0]]
    np.testing.assert_allclose(tops, [2.0**5, 1.0, 1.0])
    assert axes[0, 1].lines[2].get_ydata()[-1] < -0.1  # odd powers are negative at high frequencies
    assert axes[0, 2].lines[0].get_xdata()[-1] < axes[0, 1].lines[0].get_xdata()[-1]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["K = 1", "K = 2", "K = 5"]
    assert "height" in axes[1, 0].get_ylabel()
    assert_nothing_cut_off(figure)
    figure.savefig(tmp_path / "filters.svg")
    assert (tmp_path / "filters.svg").read_text().count("<svg") == 1


@pytest.mark.parametrize("n_nodes", [60, 1200])
def test_plot_spectrum_shows_both_spectra_and_the_energy(n_nodes: int, tmp_path: Path) -> None:
    graph = random_graph(n_nodes, 3 * n_nodes, seed=173)
    figure = plot_spectrum(graph, random_features(n_nodes, 3, seed=179), bins=20)
    assert len(figure.axes) == 3
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert any("without self-loops: largest 1." in label for label in labels)
    assert any("SGC, 2 hops" in label for label in labels)
    for axes, patches in ((figure.axes[0], (1, 3)), (figure.axes[1], (1,))):
        for patch in patches:
            assert axes.patches[patch].get_data().values.sum() == pytest.approx(1.0)
    assert_nothing_cut_off(figure)
    figure.savefig(tmp_path / "spectrum.png")
    assert (tmp_path / "spectrum.png").stat().st_size > 5000


def test_plot_spectrum_draws_on_a_given_figure_with_given_filters() -> None:
    from matplotlib.figure import Figure

    mine = Figure(figsize=(6, 6))
    assert plot_spectrum(GRAPH, np.ones(60), gamma=2.0, filters={"one": PowerFilter(1)}, figure=mine) is mine
    assert "one" in [text.get_text() for text in mine.legends[0].get_texts()]
    assert len(plot_spectrum(ZOO["isolated-nodes"]).axes) == 1


def test_figures_refuse_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="x must be one feature: got 2 columns"):
        plot_filters(GRAPH, np.ones((60, 2)))
    with pytest.raises(MemoryLimitError, match="an exact spectrum must fit"):
        plot_filters(GRAPH, np.ones(60), max_bytes=1000)
    with pytest.raises(InputError, match="got a directed one"):
        plot_spectrum(ZOO["directed-cycle"])
    imported = builtins.__import__

    def without_matplotlib(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr("importlib.import_module", without_matplotlib)
    with pytest.raises(MissingExtraError, match=r'pip install "sgclearn\[plot\]"'):
        plot_spectrum(GRAPH)
