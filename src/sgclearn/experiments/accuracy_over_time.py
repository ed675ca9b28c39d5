"""Accuracy over training time, as in the paper's figure 3: one point a model, a panel a dataset."""

from __future__ import annotations

from typing import Any

from sgclearn.errors import InputError
from sgclearn.experiments.comparison import Comparison, Row
from sgclearn.experiments.experiment import METRICS
from sgclearn.experiments.figure import draw_means, dress, handles_of, style_of
from sgclearn.spectral.figures import blank_figure

PANEL = (4.6, 3.6)  # inches
LEGEND = 1.7  # inches


def plot_accuracy_over_time(comparison: Comparison, figure: Any = None) -> Any:
    """Draw the mean score of every model over its training time.

    The time is relative to that of the reference model (SGC), on a logarithmic axis; where that has no runs,
    it is in seconds. Bars are one standard deviation over the runs.

    Parameters
    ----------
    comparison : Comparison
    figure : matplotlib Figure, optional
        Drawn on; a new one if not given.

    Returns
    -------
    matplotlib Figure
    """
    experiment = comparison.experiment
    rows = [row for row in comparison.rows if not experiment.models[row.model].time_only]
    if not rows:
        raise InputError("a figure needs the results of a model", "none", "make a run first")
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    figure = blank_figure(figure, (PANEL[0] * len(datasets) + LEGEND, PANEL[1]))
    panels = figure.subplots(1, len(datasets), squeeze=False)[0]
    models = list(dict.fromkeys(row.model for row in rows))
    # The lower ends of markers that lie on each other stay visible: the reference is drawn last.
    order = sorted(range(len(models)), key=lambda place: models[place] == experiment.time_against)
    for axes, dataset in zip(panels, datasets, strict=True):
        here = {row.model: row for row in rows if row.dataset == dataset}
        is_relative = experiment.time_against in here
        for place in order:
            if models[place] in here:
                style = style_of(place)
                _draw(axes, here[models[place]], is_relative, experiment.models[models[place]].title, style)
        _dress(
            axes,
            experiment.title_of(dataset),
            METRICS[experiment.metric],
            _time_label(comparison, is_relative),
        )
    found = handles_of(panels)
    titles = [experiment.models[model].title for model in models]
    figure.legend(
        [found[title] for title in titles], titles, loc="outside right upper", frameon=False, fontsize=9
    )
    return figure


def _draw(axes: Any, row: Row, is_relative: bool, title: str, style: dict[str, Any]) -> None:
    x = row.seconds if not is_relative else 1.0 if row.ratio is None else row.ratio
    look = {"linestyle": "none", "markersize": 7, "capsize": 3, "label": title}
    draw_means(axes, [x], [row], style | look)


def _time_label(comparison: Comparison, is_relative: bool) -> str:
    if not is_relative:
        return "training time (s)"
    reference = comparison.experiment.models[str(comparison.experiment.time_against)].title
    return f"training time (times that of {reference})"


def _dress(axes: Any, title: str, score: str, time: str) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.margins(x=0.12, y=0.12)
    low, high = axes.get_xlim()
    if high / low < 20:  # an axis needs two labelled ticks to be read
        middle = (low * high) ** 0.5
        axes.set_xlim(min(low, middle / 20**0.5), max(high, middle * 20**0.5))
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 100 else (1.0, 2.0, 5.0), numticks=8))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    dress(axes, title=title, xlabel=time, ylabel=score)
