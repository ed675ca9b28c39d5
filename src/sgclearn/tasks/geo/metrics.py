"""How far predicted places are from the true ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sgclearn.errors import InputError
from sgclearn.evaluate.intervals import Interval, percentile_interval, wilson
from sgclearn.evaluate.table import Table
from sgclearn.tasks.geo.sphere import KM_PER_MILE, haversine

Array = NDArray[np.float64]
NEAR = 161.0  # the literature's "100 miles", in km; the paper's caption says miles
N_BOOTSTRAP = 1000


@dataclass(frozen=True)
class GeoScores:
    """Errors of predicted places.

    Parameters
    ----------
    n : int
    acc_161_km, acc_161_miles : Interval
        Share within 161 km (the literature's Acc@161) and within 161 miles, with Wilson intervals.
    median_km, mean_km : Interval
        Of the error, with percentiles of 1,000 bootstrap samples.
    confidence : float
    """

    n: int
    acc_161_km: Interval
    acc_161_miles: Interval
    median_km: Interval
    mean_km: Interval
    confidence: float = 0.95

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("acc_161_km", "acc_161_miles", "median_km", "mean_km")
        return {"n": self.n, "confidence": self.confidence} | {
            name: getattr(self, name)._asdict() for name in names
        }

    def headline(self) -> dict[str, Interval]:
        """The scores of a table: share within 161 km, median and mean error."""
        return {"Acc@161 km": self.acc_161_km, "median km": self.median_km, "mean km": self.mean_km}

    def tables(self) -> list[Table]:
        """The literature's share, within 161 km, next to the paper's, within 161 miles."""
        rows = [("161 km", str(self.acc_161_km)), ("161 miles", str(self.acc_161_miles))]
        return [Table(("within", "share of places"), rows)]

    def __str__(self) -> str:
        return (
            f"Acc@161 km {self.acc_161_km}, Acc@161 miles {self.acc_161_miles}\n"
            f"error: median {_km(self.median_km)}, mean {_km(self.mean_km)} ({self.n:,} places)"
        )


def geo_scores(
    true_points: ArrayLike, predicted: ArrayLike, *, confidence: float = 0.95, seed: int | None = 2019
) -> GeoScores:
    """Compare predicted with true places, both latitude and longitude (n, 2).

    Examples
    --------
    >>> scores = geo_scores([[47.4, 8.5], [46.9, 7.4]], [[47.0, 8.0], [40.7, -74.0]])
    >>> scores.acc_161_km.value
    0.5
    """
    return scores_of_errors(errors_km(true_points, predicted), confidence=confidence, seed=seed)


def errors_km(true_points: ArrayLike, predicted: ArrayLike) -> Array:
    """Kilometres between true and predicted places (n,)."""
    truth, guess = (np.asarray(points, dtype=np.float64) for points in (true_points, predicted))
    if truth.ndim != 2 or truth.shape != guess.shape or truth.shape[1] != 2 or len(truth) == 0:
        raise InputError(
            "true and predicted places must be tables of latitude and longitude of one length",
            f"shapes {truth.shape} and {guess.shape}",
            "give both in the same order",
            argument="predicted",
        )
    if not (np.isfinite(truth).all() and np.isfinite(guess).all()):
        raise InputError(
            "places to compare must be known",
            "nan or infinity",
            "leave out those without a place",
            argument="true_points",
        )
    return haversine(truth, guess)


def scores_of_errors(errors: Array, *, confidence: float = 0.95, seed: int | None = 2019) -> GeoScores:
    """The scores of errors in kilometres (n,)."""
    drawn = np.random.default_rng(seed).integers(len(errors), size=(N_BOOTSTRAP, len(errors)))
    samples = errors[drawn]
    return GeoScores(
        len(errors),
        wilson(int((errors < NEAR).sum()), len(errors), confidence),
        wilson(int((errors < NEAR * KM_PER_MILE).sum()), len(errors), confidence),
        percentile_interval(float(np.median(errors)), np.median(samples, axis=1), confidence),
        percentile_interval(float(errors.mean()), samples.mean(axis=1), confidence),
        confidence,
    )


def paired_difference(a: ArrayLike, b: ArrayLike, *, confidence: float = 0.95, seed: int = 2019) -> Interval:
    """Mean of `a - b`, with the percentiles of 10,000 bootstrap samples of the pairs (n,)."""
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    rng = np.random.default_rng(seed)
    n = len(difference)
    means = np.array([difference[rng.integers(n, size=n)].mean() for _ in range(10_000)])
    return percentile_interval(float(difference.mean()), means, confidence)


def _km(interval: Interval) -> str:
    return f"{interval.value:,.0f} km [{interval.low:,.0f}, {interval.high:,.0f}]"
