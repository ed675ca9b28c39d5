"""The figure of a comparison, measured and published accuracy and the seconds of every model, and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from sgclearn.experiments.comparison import Comparison, Row
from sgclearn.experiments.experiment import METRICS
from sgclearn.spectral.figures import blank_figure, plain_spines

COLOURS = ("#1f5fa8", "#c0392b", "#3a8a4d", "#8e5ea2", "#c77f1e", "#4a9aa8", "#6b6b6b", "#a8486b")
MARKERS = "osD^vPX<>ph"  # as many as are no multiple of the colours: the pairs repeat late
PUBLISHED = {"color": "#555555", "markerfacecolor": "none", "label": "published"}
WIDTH = 0.7  # of the group of models around a dataset's place
TITLE_WIDTH = 14  # letters of a dataset's name on a line


def plot_comparison(comparison: Comparison) -> Any:
    """Draw what was measured beside what was published (a matplotlib Figure).

    On the left the mean of every model on every dataset with its standard deviation, and as an open circle the
    published figure; on the right the training time.
    """
    figure = blank_figure(None, (11, 4.2))
    experiment = comparison.experiment
    scores, times = figure.subplots(1, 2, width_ratios=(3, 2))
    datasets = list(dict.fromkeys(row.dataset for row in comparison.rows))
    models = list(dict.fromkeys(row.model for row in comparison.rows))
    for number, model in enumerate(models):
        rows = [row for row in comparison.rows if row.model == model]
        offset = WIDTH * ((number + 0.5) / len(models) - 0.5)
        places = [datasets.index(row.dataset) + offset for row in rows]
        style, entry = style_of(number), experiment.models[model]
        shown = [] if entry.time_only else rows
        look = {"linestyle": "none", "markersize": 4, "capsize": 2, "elinewidth": 1, "label": entry.title}
        draw_means(scores, places[: len(shown)], shown, style | look, circle=8)
        times.plot(places, [row.seconds for row in rows], linestyle="none", markersize=5, **style)
    if any(row.published is not None for row in comparison.rows):
        scores.plot([], [], "o", **PUBLISHED)
    titles = [fill(experiment.title_of(dataset), TITLE_WIDTH) for dataset in datasets]
    for axes, label in ((scores, METRICS[experiment.metric]), (times, "training time (s)")):
        axes.set_xticks(range(len(datasets)), titles)
        axes.set_ylabel(label)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    plain_spines(scores, times)
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


def style_of(number: int) -> dict[str, Any]:
    """Colour and marker of the model at a place of the table."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def draw_means(
    axes: Any, places: Sequence[float], rows: Sequence[Row], look: dict[str, Any], circle: float = 0.0
) -> None:
    """Means with their standard deviations, and published figures as open circles of a size; 0 leaves them out."""
    axes.errorbar(places, [row.mean for row in rows], [row.std or 0.0 for row in rows], **look)
    known = [(x, row.published) for x, row in zip(places, rows, strict=True) if row.published is not None]
    if circle and known:
        hollow = PUBLISHED | {"color": look["color"], "label": "_published"}
        axes.plot(*zip(*known, strict=True), "o", markersize=circle, **hollow)


def dress(axes: Any, **labels: str) -> None:
    """Title and labels, and a grid behind what is drawn."""
    axes.set(**labels)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    plain_spines(axes)


def handles_of(all_axes: Sequence[Any]) -> dict[str, Any]:
    """Label and handle of everything that is drawn in some panels, each once."""
    return dict(
        pair for axes in all_axes for pair in zip(*reversed(axes.get_legend_handles_labels()), strict=True)
    )
