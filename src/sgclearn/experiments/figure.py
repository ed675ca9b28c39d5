"""The figure of a comparison: measured and published accuracy, and the seconds of every model."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from sgclearn.errors import require
from sgclearn.experiments.comparison import Comparison, Row
from sgclearn.experiments.experiment import METRICS

COLOURS = ("#1f5fa8", "#c0392b", "#3a8a4d", "#8e5ea2", "#c77f1e", "#4a9aa8", "#6b6b6b", "#a8486b")
MARKERS = "osD^vPX<>ph"  # as many as are no multiple of the colours: the pairs repeat late
WIDTH = 0.7  # of the group of models around a dataset's place
TITLE_WIDTH = 14  # letters of a dataset's name on a line


def plot_comparison(comparison: Comparison, figure: Any = None) -> Any:
    """Draw what was measured beside what was published.

    On the left the mean of every model on every dataset with its standard deviation, and as an open circle the
    published figure; on the right the training time.

    Parameters
    ----------
    comparison : Comparison
    figure : matplotlib Figure, optional
        Drawn on; a new one if not given.

    Returns
    -------
    matplotlib Figure
    """
    require("matplotlib", "plot")
    from matplotlib.figure import Figure

    if figure is None:
        figure = Figure(figsize=(11, 4.2), layout="constrained")
    experiment = comparison.experiment
    scores, times = figure.subplots(1, 2, width_ratios=(3, 2))
    datasets = list(dict.fromkeys(row.dataset for row in comparison.rows))
    models = list(dict.fromkeys(row.model for row in comparison.rows))
    for number, model in enumerate(models):
        rows = [row for row in comparison.rows if row.model == model]
        offset = WIDTH * ((number + 0.5) / len(models) - 0.5)
        places = [datasets.index(row.dataset) + offset for row in rows]
        style = style_of(number)
        shown = [] if experiment.models[model].time_only else rows
        _draw_scores(scores, shown, places[: len(shown)], style, experiment.models[model].title)
        times.plot(places, [row.seconds for row in rows], linestyle="none", markersize=5, **style)
    if any(row.published is not None for row in comparison.rows):
        scores.plot([], [], "o", color="#555555", markerfacecolor="none", label="published")
    titles = [fill(experiment.title_of(dataset), TITLE_WIDTH) for dataset in datasets]
    for axes, label in ((scores, METRICS[experiment.metric]), (times, "training time (s)")):
        axes.set_xticks(range(len(datasets)), titles)
        axes.set_ylabel(label)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    times.set_yscale("log")
    handles, labels = scores.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda position: labels[position] == "published")
    figure.legend(
        [handles[k] for k in order],
        [labels[k] for k in order],
        loc="outside lower center",
        ncols=min(6, len(labels)),
        frameon=False,
        fontsize=8,
    )
    return figure


def style_of(number: int) -> dict[str, str]:
    """Colour and marker of the model at a place of the table."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def _draw_scores(axes: Any, rows: list[Row], places: list[float], style: dict[str, str], label: str) -> None:
    means, spreads = [row.mean for row in rows], [row.std or 0.0 for row in rows]
    axes.errorbar(
        *(places, means, spreads),
        linestyle="none",
        markersize=4,
        capsize=2,
        elinewidth=1,
        label=label,
        **style,
    )
    known = [
        (place, row.published) for place, row in zip(places, rows, strict=True) if row.published is not None
    ]
    if known:
        axes.plot(*zip(*known, strict=True), "o", color=style["color"], markerfacecolor="none", markersize=8)
