"""What the paper concludes from a figure, as statements that are checked on what was measured."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from sgclearn.experiments.comparison import Comparison
from sgclearn.experiments.curves import curves_of
from sgclearn.spectral.theorem import Statement

AUGMENTED = {"aug-adj": "augmented adjacency", "aug-rw": "augmented random walk"}
PLAIN = {"adj": "normalised adjacency", "rw": "random walk"}
CHEBY = "cheby"
Scores = dict[str, dict[float, float]]  # curve, place, mean


def find(name: str, comparison: Comparison) -> tuple[Statement, ...]:
    """Statements of one kind about the scores of a comparison; none about data without all the runs."""
    scores: dict[str, Scores] = {}
    for curve in curves_of(comparison):
        scores.setdefault(curve.panel, {})[curve.group] = {place: row.mean for place, row in curve.points}
    points = {model.group[0]: 0 for model in comparison.experiment.models.values()}
    for model in comparison.experiment.models.values():
        points[model.group[0]] += 1
    return tuple(
        statement
        for panel, found in scores.items()
        if {group: len(places) for group, places in found.items()} == points
        for statement in FINDINGS[name](panel, found)
    )


def propagation_findings(panel: str, scores: Scores) -> list[Statement]:
    """The three findings of the supplement on propagation matrices, on one dataset.

    Augmented matrices have a higher and steadier accuracy over K; odd powers hurt the plain ones (each odd K is
    compared with the even ones beside it); that of first-order Chebyshev deteriorates with K.

    Parameters
    ----------
    panel : str
        Name of the dataset.
    scores : dict
        Curve ("adj", "rw", "aug-adj", "aug-rw", "cheby") to number of hops to validation accuracy.
    """
    means = {curve: fmean(values.values()) for curve, values in scores.items()}
    ranges = {curve: max(values.values()) - min(values.values()) for curve, values in scores.items()}
    others = (*PLAIN, CHEBY)
    found = [
        Statement(
            panel,
            "augmented are better: best mean over K of others, worst of these",
            max(means[curve] for curve in others),
            "<",
            min(means[curve] for curve in AUGMENTED),
        ),
        Statement(
            panel,
            "augmented are steadier: range over K of these, of others",
            fmean(ranges[curve] for curve in AUGMENTED),
            "<",
            fmean(ranges[curve] for curve in others),
        ),
    ]
    for curve, title in PLAIN.items():
        odd, even = odd_and_even(scores[curve])
        text = f"odd K hurt the {title}: mean at odd, at even"
        found.append(Statement(panel, text, odd, "<", even))
    drops = {}
    for curves in (AUGMENTED, PLAIN):
        pairs = [odd_and_even(scores[curve]) for curve in curves]
        drops[tuple(curves)] = fmean(even - odd for odd, even in pairs)
    found.append(
        Statement(
            panel,
            "and augmented ones less: drop of these, of plain ones",
            drops[tuple(AUGMENTED)],
            "<",
            drops[tuple(PLAIN)],
        )
    )
    places = sorted(scores[CHEBY])
    early, late = (fmean(scores[CHEBY][place] for place in part) for part in (places[:3], places[-3:]))
    text = "first-order Chebyshev falls: mean of last three K, of first"
    found.append(Statement(panel, text, late, "<", early))
    return found


def odd_and_even(values: dict[float, float]) -> tuple[float, float]:
    """Mean at the odd places, and of the means of their even neighbours.

    Examples
    --------
    >>> odd_and_even({2: 80.0, 3: 70.0, 4: 82.0})
    (70.0, 81.0)
    """
    odd = [place for place in values if place % 2 and {place - 1, place + 1} <= set(values)]
    return (
        fmean(values[place] for place in odd),
        fmean((values[place - 1] + values[place + 1]) / 2 for place in odd),
    )


FINDINGS: dict[str, Callable[[str, Scores], list[Statement]]] = {"propagation": propagation_findings}
