"""Confidence intervals of shares and of F1."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.validation.parameters import Number, shown


class Interval(NamedTuple):
    """An estimate and the bounds of its confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def check_confidence(confidence: Any) -> float:
    """A number between 0 and 1."""
    if Number(high=1.0, open=True).plain(confidence) in (None, 1.0):
        raise InputError(
            "confidence must lie between 0 and 1",
            shown(confidence),
            "the usual one is 0.95",
            argument="confidence",
        )
    return float(confidence)


def wilson(right: int, of: int, confidence: float) -> Interval:
    r"""Share of successes with the Wilson score interval.

    `(p + z^2/2n +- z sqrt(p (1 - p) / n + z^2/4n^2)) / (1 + z^2/n)` with `p = right / of`, `n = of` and z
    the normal quantile of the confidence. Unlike `p +- z sqrt(p (1 - p) / n)` it stays inside [0, 1] and is
    not empty at p = 0 and p = 1. Nothing observed (n = 0) is the value 0 with the interval [0, 1].

    Examples
    --------
    >>> print(wilson(9, 10, 0.95))
    0.900 [0.596, 0.982]
    """
    if of == 0:
        return Interval(0.0, 0.0, 1.0)
    z, p = NormalDist().inv_cdf(0.5 + confidence / 2), right / of
    centre = p + z**2 / (2 * of)
    spread = z * (p * (1 - p) / of + z**2 / (4 * of**2)) ** 0.5
    low, high = ((centre + sign * spread) / (1 + z**2 / of) for sign in (-1, 1))
    return Interval(p, min(max(low, 0.0), p), max(min(high, 1.0), p))


def f1_scores(right: NDArray[Any], support: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.float64]:
    """`2 right / (support + predicted)` for each class, NaN for a class that is in neither."""
    either = support + predicted
    return np.asarray(np.divide(2.0 * right, either, out=np.full(either.shape, np.nan), where=either > 0))


def f1_interval(right: int, support: int, predicted: int, confidence: float) -> Interval:
    r"""F1 of a class with an interval that is not empty, however few nodes there are and however good they are.

    Of the `support + predicted - right` nodes that are of the class or predicted as it, the share J is both,
    and `F1 = 2 J / (1 + J)`. So the bounds are those of the Wilson interval of J, put through that formula.

    Examples
    --------
    >>> print(f1_interval(3, 3, 3, 0.95))
    1.000 [0.610, 1.000]
    """
    share = wilson(right, support + predicted - right, confidence)
    return Interval(*(2 * bound / (1 + bound) for bound in share))


def bootstrap_f1(confusion: NDArray[np.int64], n_samples: int, seed: int | None) -> NDArray[np.float64]:
    """F1 of every class in draws of the Bayesian bootstrap, shape (n_samples, C).

    A draw gives every prediction a random weight (exponential, so that the cells of the confusion matrix have
    gamma weights), and one more prediction that was never seen: of a random class, and in half of the draws
    taken for a random other one. Without it predictions that are all right would be so in every draw, and the
    interval would claim certainty; among many predictions it weighs nothing. Cost: O(n_samples * nonzero cells).
    """
    from scipy.sparse import csr_array

    truth, guess = np.nonzero(confusion)
    cells, n_classes = confusion[truth, guess], len(confusion)
    rng = np.random.default_rng(seed)
    drawn = rng.standard_gamma(cells, size=(n_samples, len(cells)))
    rows = np.arange(len(cells))

    def per_class(columns: NDArray[np.intp], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        shape = (len(cells), n_classes)
        return np.asarray(
            drawn @ csr_array((np.ones(chosen.sum()), (rows[chosen], columns[chosen])), shape), dtype=float
        )

    every = np.ones(len(cells), dtype=bool)
    right, support = per_class(truth, truth == guess), per_class(truth, every)
    predicted = per_class(guess, every)
    draws, weight = np.arange(n_samples), rng.standard_gamma(1.0, size=n_samples)
    unseen, is_right = rng.integers(n_classes, size=n_samples), rng.random(n_samples) < 0.5
    support[draws, unseen] += weight
    right[draws, unseen] += weight * is_right
    if n_classes > 1:
        other = (unseen + rng.integers(1, n_classes, size=n_samples)) % n_classes
        predicted[draws, np.where(is_right, unseen, other)] += weight
    else:
        predicted[draws, unseen] += weight * is_right
    return f1_scores(right, support, predicted)


def percentile_interval(value: float, samples: NDArray[np.float64], confidence: float) -> Interval:
    """Estimate with the percentiles of its resamples; [0, 1] where no resample has a value."""
    known = samples[~np.isnan(samples)]
    if len(known) == 0:
        return Interval(value, 0.0, 1.0)
    low, high = np.quantile(known, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Interval(value, min(float(low), value), max(float(high), value))
