"""Confidence intervals of shares and of F1."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Interval(NamedTuple):
    """An estimate and the bounds of its confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


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


def f1_scores(
    right: NDArray[np.intp], support: NDArray[np.intp], predicted: NDArray[np.intp]
) -> NDArray[np.float64]:
    """`2 right / (support + predicted)` for each class, NaN for a class that is in neither."""
    either = support + predicted
    return np.asarray(np.divide(2.0 * right, either, out=np.full(either.shape, np.nan), where=either > 0))


def bootstrap_f1(confusion: NDArray[np.int64], n_samples: int, seed: int | None) -> NDArray[np.float64]:
    """F1 of every class in resamples of the predictions, shape (n_samples, C).

    Drawing n predictions with replacement only changes how many fall into each cell of the confusion matrix,
    so the resamples are multinomial draws of its cells. Cost: O(n_samples * nonzero cells).
    """
    from scipy.sparse import csr_array

    truth, guess = np.nonzero(confusion)
    cells = confusion[truth, guess]
    n, n_classes = int(cells.sum()), len(confusion)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, cells / n, size=n_samples)  # (n_samples, cells)
    rows = np.arange(len(cells))

    def per_class(columns: NDArray[np.intp], chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
        shape = (len(cells), n_classes)
        return np.asarray(
            drawn @ csr_array((np.ones(chosen.sum(), dtype=np.intp), (rows[chosen], columns[chosen])), shape)
        )

    every = np.ones(len(cells), dtype=bool)
    return f1_scores(per_class(truth, truth == guess), per_class(truth, every), per_class(guess, every))


def percentile_interval(value: float, samples: NDArray[np.float64], confidence: float) -> Interval:
    """Estimate with the percentiles of its resamples; [0, 1] where no resample has a value."""
    known = samples[~np.isnan(samples)]
    if len(known) == 0:
        return Interval(value, 0.0, 1.0)
    low, high = np.quantile(known, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Interval(value, min(float(low), value), max(float(high), value))
