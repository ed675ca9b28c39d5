"""Scores along an axis, such as the number of hops or of labels: as a table with a column a place, and as lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sgclearn.experiments.comparison import Comparison, Row
from sgclearn.experiments.experiment import METRICS
from sgclearn.experiments.figure import PUBLISHED, draw_means, dress, handles_of, style_of
from sgclearn.spectral.figures import blank_figure

PANEL = (4.2, 3.6)  # inches
LEGEND = 2.2  # inches
LOG_FROM = 20.0  # an axis that spans more than this factor is logarithmic


@dataclass(frozen=True)
class Curve:
    """A model over the axis: `points` in the order of the axis, each a place and a row; `group` names the model."""

    panel: str
    group: str
    title: str
    points: tuple[tuple[float, Row], ...]


def curves_of(comparison: Comparison) -> list[Curve]:
    """Rows of a comparison as curves; what has the axis among its options is the data, or else the model."""
    experiment = comparison.experiment
    if experiment.axis is None:
        raise ValueError("curves need an experiment with an axis")
    name = experiment.axis[0]
    found: dict[tuple[str, str, str], list[tuple[float, Row]]] = {}
    for row in comparison.rows:
        options, model = experiment.datasets[row.dataset], experiment.models[row.model]
        if name in options:
            panel, place = str(options.get("name", "")).capitalize(), options[name]
        else:
            panel, place = experiment.title_of(row.dataset), model.settings_for(row.dataset)[name]
        found.setdefault((panel, *model.group), []).append((place, row))
    return [
        Curve(*names, tuple(sorted(points, key=lambda point: point[0]))) for names, points in found.items()
    ]


def curve_table(comparison: Comparison) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Header and rows: the mean of every curve at every place."""
    curves = curves_of(comparison)
    places = sorted({place for curve in curves for place, _ in curve.points})
    rows = []
    for curve in curves:
        means = {place: f"{row.mean:.1f}" for place, row in curve.points}
        rows.append((curve.panel, curve.title, *(means.get(place, "-") for place in places)))
    return ("dataset", "model", *(f"{place:g}" for place in places)), tuple(rows)


def plot_curves(comparison: Comparison) -> Any:
    """Draw the mean score of every model over the axis, a panel a dataset (a matplotlib Figure).

    Bars are one standard deviation over the runs; published figures are open circles. The experiment has an `axis`.
    """
    curves = curves_of(comparison)
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    groups = list(dict.fromkeys(curve.group for curve in curves))
    figure = blank_figure(None, (PANEL[0] * len(panels) + LEGEND, PANEL[1]))
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for curve in curves:
        rows = [row for _, row in curve.points]
        look = {"markersize": 5, "linewidth": 1.2, "elinewidth": 0.8, "label": curve.title}
        look["capsize"] = 2 if any(row.std for row in rows) else 0
        places = [place for place, _ in curve.points]
        style = style_of(groups.index(curve.group))
        draw_means(all_axes[panels.index(curve.panel)], places, rows, style | look, circle=9)
    for axes, panel in zip(all_axes, panels, strict=True):
        places = sorted({place for curve in curves if curve.panel == panel for place, _ in curve.points})
        _dress(axes, panel, places, comparison)
    found = handles_of(all_axes)
    if any(row.published is not None for row in comparison.rows):
        found["published"] = all_axes[0].plot([], [], "o", **PUBLISHED)[0]
    figure.legend(found.values(), found.keys(), loc="outside right upper", frameon=False, fontsize=9)
    return figure


def _dress(axes: Any, title: str, places: list[float], comparison: Comparison) -> None:
    experiment = comparison.experiment
    if places[0] > 0 and places[-1] / places[0] > LOG_FROM:
        axes.set_xscale("log")
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
    along = experiment.axis[1] if experiment.axis else ""
    dress(axes, title=title, xlabel=along, ylabel=METRICS[experiment.metric])
