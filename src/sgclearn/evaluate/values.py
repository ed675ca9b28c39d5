"""How good predicted numbers are: coefficient of determination and mean absolute error, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.evaluate.intervals import Interval, check_confidence, percentile_interval
from sgclearn.evaluate.table import Table
from sgclearn.validation.arrays import real_array
from sgclearn.validation.parameters import check_parameter, check_type

N_BOOTSTRAP = 1000
_BLOCK = 2**22  # weights drawn at once


@dataclass(frozen=True)
class TargetEvaluation:
    """One target: R2 and mean absolute error."""

    target: str
    r2: Interval
    mae: Interval


@dataclass(frozen=True)
class ValueEvaluation:
    """What `evaluate_values` found: means over the targets, and each of them.

    Parameters
    ----------
    n : int
        Number of samples.
    r2, mae : Interval
        Averages over the targets.
    per_target : tuple of TargetEvaluation
    confidence : float
    """

    n: int
    r2: Interval
    mae: Interval
    per_target: tuple[TargetEvaluation, ...]
    confidence: float

    def headline(self) -> dict[str, Interval]:
        """The figures of a table with one line a model."""
        return {"r2": self.r2, "mae": self.mae}

    def tables(self) -> list[Table]:
        """One line a target, where there are several."""
        rows = [(each.target, str(each.r2), str(each.mae)) for each in self.per_target]
        return [Table(("target", "R2", "MAE"), rows)] if len(rows) > 1 else []

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON."""
        return {
            "n": self.n,
            "confidence": self.confidence,
            "r2": self.r2._asdict(),
            "mae": self.mae._asdict(),
            "per_target": [
                {"target": each.target, "r2": each.r2._asdict(), "mae": each.mae._asdict()}
                for each in self.per_target
            ],
        }

    def __str__(self) -> str:
        return f"R2 {self.r2}, MAE {self.mae} ({self.n:,} samples, {self.confidence:.0%} intervals)"


def evaluate_values(
    y_true: Any,
    y_pred: Any,
    *,
    targets: tuple[str, ...] = ("value",),
    confidence: float = 0.95,
    seed: int | None = 2019,
) -> ValueEvaluation:
    r"""Compare predicted with true numbers.

    `R2 = 1 - sum (y - f)^2 / sum (y - mean y)^2`, which is 0 for the constant that is best on these samples; of a
    target that is constant here it is 1 where every prediction is right, else 0, as in scikit-learn.

    Parameters
    ----------
    y_true, y_pred : array-like (m,) or (m, q)
        Finite numbers; NaN in `y_true` leaves the sample out for that target.
    targets : tuple of str
        Names of the q columns.
    confidence : float in (0, 1), default 0.95
    seed : int or None, default 2019
        Of the Bayesian bootstrap (1000 draws) that gives the intervals.

    Examples
    --------
    >>> evaluation = evaluate_values([1.0, 2.0, 4.0], [1.0, 2.5, 3.5])
    >>> round(evaluation.mae.value, 4), round(evaluation.r2.value, 4)
    (0.3333, 0.8929)
    """
    confidence = check_confidence(confidence)
    seed = check_parameter("random_state", seed)
    check_type(targets, (tuple, list), "targets", "give one name a column")
    truth, guess = (_columns(y, name) for name, y in (("y_true", y_true), ("y_pred", y_pred)))
    if truth.shape != guess.shape or truth.shape[1] != len(targets) or not np.isfinite(guess).all():
        raise InputError(
            "y_true and y_pred must be finite numbers of the same samples, one column a target",
            f"shapes {truth.shape} and {guess.shape} for {len(targets)} targets",
            "give both in the same order",
        )
    known = ~np.isnan(truth)
    if not known.any(axis=0).all():
        raise InputError(
            "every target must be known for at least one sample",
            f"none for {targets[int(np.argmin(known.any(axis=0)))]!r}",
            "leave this target out",
        )
    truth, error = np.where(known, truth, 0.0), np.where(known, truth - guess, 0.0)
    every = _scores(np.ones((1, len(truth))), known, truth, error)
    drawn = _resampled(known, truth, error, seed)
    per_target = tuple(
        TargetEvaluation(
            name,
            *(percentile_interval(float(every[k][0, j]), drawn[k][:, j], confidence) for k in (0, 1)),
        )
        for j, name in enumerate(targets)
    )
    r2, mae = (percentile_interval(float(every[k].mean()), drawn[k].mean(axis=1), confidence) for k in (0, 1))
    return ValueEvaluation(len(truth), r2, mae, per_target, confidence)


def _columns(y: Any, name: str) -> NDArray[np.float64]:
    """Numbers (m, q) of (m,) or (m, q)."""
    values = real_array(y, name).astype(np.float64)
    if not values.size or values.ndim > 2:
        raise InputError(
            f"{name} must be numbers, one row a sample",
            f"shape {values.shape}",
            "give one or more samples",
            argument=name,
        )
    return values.reshape(len(values), -1)


def _resampled(
    known: NDArray[np.bool_], truth: NDArray[Any], error: NDArray[Any], seed: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """R2 and mean absolute error of every draw, (draws, q) each."""
    rng, step = np.random.default_rng(seed), max(1, _BLOCK // len(truth))
    parts = [
        _scores(rng.standard_exponential((min(step, N_BOOTSTRAP - done), len(truth))), known, truth, error)
        for done in range(0, N_BOOTSTRAP, step)
    ]
    return np.concatenate([r2 for r2, _ in parts]), np.concatenate([mae for _, mae in parts])


def _scores(
    weights: NDArray[np.float64], known: NDArray[np.bool_], truth: NDArray[Any], error: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted R2 and mean absolute error, (draws, q) each; weights (draws, m), the others (m, q)."""
    total = weights @ known
    centred = np.where(known, truth - truth.sum(axis=0) / known.sum(axis=0), 0.0)  # against cancellation
    spread = weights @ centred**2 - (weights @ centred) ** 2 / total
    left = weights @ error**2
    floor = np.finfo(np.float64).eps * (weights @ centred**2)
    varies = spread > floor
    r2 = np.where(varies, 1.0 - left / np.where(varies, spread, 1.0), (left == 0.0).astype(np.float64))
    return r2, (weights @ np.abs(error)) / total
