"""One temperature that turns logits into probabilities that mean what they say."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.estimators.loss import Link

Array = NDArray[np.float64]
FEWEST = 10  # labels to fit a temperature on
_FOLDS = 5
_SEED = 2019
_FACTOR = 1e4  # how far the temperature may be from the size of the logits


@dataclass(frozen=True)
class Calibration:
    """How a temperature was found.

    Attributes
    ----------
    temperature : float
        What logits are divided by; 1 where none is applied.
    applied : bool
    n : int
        Held-out labels that it was fitted on.
    log_loss_before, log_loss_after : float or None
        Mean log-loss of the held-out labels without a temperature, and with one fitted on the other folds of them;
        None where there are too few labels.
    """

    temperature: float = 1.0
    applied: bool = False
    n: int = 0
    log_loss_before: float | None = None
    log_loss_after: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def calibrate(logits: Array, Y: Array, link: type[Link], weights: Array | None = None) -> Calibration:
    """Fit a temperature on logits of labels that the model was not fitted to.

    `T` minimises the mean loss of `logits / T`. It is applied only where it lowers the loss of labels that it was not
    fitted on, in five folds of them; classes never change.

    Parameters
    ----------
    logits : ndarray (m, C)
        Out of fold, or of validation labels; never of training labels.
    Y : ndarray (m, C)
    link : Link
    weights : ndarray (m,), optional
    """
    n = len(logits)
    if n < FEWEST:
        return Calibration(n=n)
    w = np.ones(n) if weights is None else weights
    before = float(np.average(link.losses(logits, Y), weights=w))
    part = np.random.default_rng(_SEED).permutation(n) % _FOLDS
    after = np.empty(n)
    for fold in range(_FOLDS):
        held = part == fold
        temperature = _fit(logits[~held], Y[~held], link, w[~held])
        after[held] = link.losses(logits[held] / temperature, Y[held])
    crossed = float(np.average(after, weights=w))
    if not crossed < before:
        return Calibration(1.0, False, n, before, crossed)
    return Calibration(_fit(logits, Y, link, w), True, n, before, crossed)


def _fit(logits: Array, Y: Array, link: type[Link], weights: Array) -> float:
    """The minimiser over log T.

    Where every sample is right the loss falls as long as T does; then targets are a little off 0 and 1, as in Platt's
    method: `1 - 1/(n + 2)` for the true class of n samples.
    """
    from scipy.optimize import minimize_scalar

    # Logits of several classes have no zero of their own.
    centre = logits.mean(axis=1, keepdims=True) if logits.shape[1] > 1 else 0.0
    size = float(np.abs(logits - centre).mean())
    if not size > 0 or not weights.any():
        return 1.0
    smoothing = 1.0 / (len(logits) + 2) if _all_right(logits, Y) else 0.0
    target = (1.0 - smoothing) * Y + smoothing / max(Y.shape[1], 2)

    def mean_loss(log_temperature: float) -> float:
        return float(np.average(link.losses(logits / np.exp(log_temperature), target), weights=weights))

    bounds = np.log(size / _FACTOR), np.log(size * _FACTOR)
    return float(
        np.exp(minimize_scalar(mean_loss, bounds=bounds, method="bounded", options={"xatol": 1e-6}).x)
    )


def _all_right(logits: Array, Y: Array) -> bool:
    """Whether every target has the larger logit, so that no temperature is too low."""
    if Y.shape[1] > 1 and bool((Y.sum(axis=1) == 1).all()):
        return bool((logits.argmax(axis=1) == Y.argmax(axis=1)).all())
    return bool(((logits > 0) == (Y > 0.5)).all())
