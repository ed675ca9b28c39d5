"""How good predictions are: accuracy, F1 and the classes one by one, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.estimators.labels import as_labels
from sgclearn.evaluate.intervals import (
    Interval,
    bootstrap_f1,
    check_confidence,
    f1_interval,
    f1_scores,
    percentile_interval,
    wilson,
)
from sgclearn.evaluate.table import Table
from sgclearn.validation.parameters import check_parameter

N_BOOTSTRAP = 1000


@dataclass(frozen=True)
class ClassEvaluation:
    """One class: of the nodes predicted as it the share that is right, of its own nodes the share found."""

    label: Any
    precision: Interval
    recall: Interval
    f1: Interval
    support: int
    predicted: int


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate_predictions` found.

    Parameters
    ----------
    n : int
        Number of predictions.
    accuracy, macro_f1 : Interval
        `value`, `low` and `high`.
    per_class : tuple of ClassEvaluation
    classes : tuple
        In the order of `per_class` and of the confusion matrix.
    confusion : integer array, shape (C, C)
        `confusion[i, j]` nodes of class i were predicted as class j.
    confidence : float
    """

    n: int
    accuracy: Interval
    macro_f1: Interval
    per_class: tuple[ClassEvaluation, ...]
    classes: tuple[Any, ...]
    confusion: NDArray[np.int64]
    confidence: float

    def headline(self) -> dict[str, Interval]:
        """The figures of a table with one line a model."""
        return {"accuracy": self.accuracy, "macro_f1": self.macro_f1}

    def tables(self) -> list[Table]:
        """One line a class."""
        rows = [
            (str(row.label), str(row.precision), str(row.recall), str(row.f1), f"{row.support:,}")
            for row in self.per_class
        ]
        return [Table(("class", "precision", "recall", "F1", "nodes"), rows)]

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON."""
        return {
            "n": self.n,
            "confidence": self.confidence,
            "accuracy": self.accuracy._asdict(),
            "macro_f1": self.macro_f1._asdict(),
            "per_class": [
                {
                    "label": scores.label,
                    "precision": scores.precision._asdict(),
                    "recall": scores.recall._asdict(),
                    "f1": scores.f1._asdict(),
                    "support": scores.support,
                    "predicted": scores.predicted,
                }
                for scores in self.per_class
            ],
            "classes": list(self.classes),
            "confusion": self.confusion.tolist(),
        }

    def top_confusions(self, most: int = 10) -> list[tuple[Any, Any, int]]:
        """Most frequent mistakes, as (class, predicted as, how many)."""
        wrong = self.confusion - np.diag(np.diag(self.confusion))
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
        return [(self.classes[i], self.classes[j], int(wrong[i, j])) for i, j in pairs if wrong[i, j]]

    def __str__(self) -> str:
        width = max(len(str(label)) for label in (*self.classes, "class"))
        lines = [
            f"accuracy {self.accuracy}, macro-F1 {self.macro_f1} "
            f"({self.n:,} nodes, {self.confidence:.0%} intervals)",
            f"{'class':<{width}}  {'precision':<20}   {'recall':<20}   {'F1':<20}   support",
        ]
        for row in self.per_class:
            lines.append(
                f"{row.label!s:<{width}}  {row.precision}   {row.recall}   {row.f1}   {row.support:>7,}"
            )
        return "\n".join(lines)


def evaluate_predictions(
    y_true: Any,
    y_pred: Any,
    *,
    classes: Any = None,
    confidence: float = 0.95,
    seed: int | None = 2019,
) -> Evaluation:
    """Compare predicted with true classes.

    Parameters
    ----------
    y_true, y_pred : array-like, shape (n,)
        Classes of the same nodes in the same order, all integers, all strings or all booleans.
    classes : array-like, optional
        Classes and their order; by default those that occur, sorted. A class that is listed and does not
        occur has an F1 of 0 and lowers the macro-F1.
    confidence : float in (0, 1), default 0.95
    seed : int or None, default 2019
        Of the bootstrap; None draws a new one.

    Returns
    -------
    Evaluation

    Notes
    -----
    Accuracy, precision and recall are shares with Wilson score intervals. So is the share J of the nodes of a
    class or predicted as it that are both, and `F1 = 2 J / (1 + J)` takes its interval from there. The interval
    of the macro-F1 holds the percentiles of 1000 draws of the Bayesian bootstrap, each with one more node that
    was never seen, right or wrong, so that a few nodes that are all right do not pass for certainty. Where
    nothing was predicted as a class its precision is 0, as in scikit-learn. The intervals take the nodes as
    drawn at random, one by one; neighbours in a graph are alike, so that they are rather too narrow.

    Examples
    --------
    >>> evaluation = evaluate_predictions(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    >>> evaluation.accuracy.value
    0.75
    >>> evaluation.confusion
    array([[2, 0],
           [1, 1]])
    """
    confidence = check_confidence(confidence)
    seed = check_parameter("random_state", seed)
    truth, guess = _labels(y_true, "y_true"), _labels(y_pred, "y_pred")
    if len(truth) != len(guess) or len(truth) == 0:
        raise InputError(
            "y_true and y_pred must have one class for each of the same nodes, and at least one node",
            f"{len(truth):,} and {len(guess):,}",
            "give both in the same order",
        )
    listed = _class_list(truth, guess, classes)
    confusion = _confusion(truth, guess, listed)
    right, support, predicted = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    f1 = np.nan_to_num(f1_scores(right, support, predicted), nan=0.0)
    resampled = bootstrap_f1(confusion, N_BOOTSTRAP, seed)
    macro = np.nanmean(resampled, axis=1)
    per_class = tuple(
        ClassEvaluation(
            label,
            wilson(int(right[i]), int(predicted[i]), confidence),
            wilson(int(right[i]), int(support[i]), confidence),
            f1_interval(int(right[i]), int(support[i]), int(predicted[i]), confidence),
            int(support[i]),
            int(predicted[i]),
        )
        for i, label in enumerate(listed)
    )
    return Evaluation(
        len(truth),
        wilson(int(right.sum()), len(truth), confidence),
        percentile_interval(float(f1.mean()), macro, confidence),
        per_class,
        tuple(listed),
        confusion,
        confidence,
    )


def _labels(y: Any, name: str) -> list[Any]:
    array = as_labels(y)
    if array.ndim != 1:
        raise InputError(
            f"{name} must have one class a node", f"shape {array.shape}", "use a flat array", argument=name
        )
    values: list[Any] = array.tolist()
    missing = [value is None or value != value for value in values]
    if any(missing):
        raise InputError(
            f"{name} must have a class for every node",
            f"{sum(missing):,} of {len(values):,} without",
            "leave these nodes out",
            argument=name,
        )
    return values


def _class_list(truth: list[Any], guess: list[Any], classes: Any) -> list[Any]:
    occurring = {*truth, *guess}
    kinds = {isinstance(value, str) for value in occurring}
    if len(kinds) > 1:
        raise InputError(
            "y_true and y_pred must be of one type",
            f"{truth[0]!r} and {guess[0]!r}",
            "turn all into text or numbers",
        )
    if classes is None:
        return sorted(occurring)
    listed: list[Any] = as_labels(classes).ravel().tolist()
    unlisted = sorted(occurring.difference(listed))
    if unlisted or len(set(listed)) < len(listed):
        fault = f"no {unlisted[0]!r}, which occurs" if unlisted else "one of them twice"
        raise InputError("classes must list every class once", fault, "leave classes out to find them")
    return listed


def _confusion(truth: list[Any], guess: list[Any], classes: list[Any]) -> NDArray[np.int64]:
    code = {label: position for position, label in enumerate(classes)}
    cells = np.array([code[value] for value in truth]) * len(classes) + np.array(
        [code[value] for value in guess]
    )
    counts = np.bincount(cells, minlength=len(classes) ** 2).astype(np.int64)
    return counts.reshape(len(classes), len(classes))
