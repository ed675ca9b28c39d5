"""How often the right class is among the first k, with intervals resampled over classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.evaluate.intervals import Interval, percentile_interval
from sgclearn.evaluate.table import Table

Array = NDArray[np.float64]
KS = (1, 2, 5, 10)
N_BOOTSTRAP = 10_000


@dataclass(frozen=True)
class HitScores:
    """Shares of images whose class is among the first k.

    Parameters
    ----------
    n_images, n_classes : int
    hits : dict of int to Interval
        With the percentiles of 10,000 bootstrap samples of the classes: a method that is good at some classes is
        not a good method for that.
    confidence : float
    """

    n_images: int
    n_classes: int
    hits: dict[int, Interval]
    confidence: float = 0.95

    @property
    def n(self) -> int:
        """Number of images."""
        return self.n_images

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        hits = {f"hit@{k}": interval._asdict() for k, interval in self.hits.items()}
        return {"n": self.n, "classes": self.n_classes, "confidence": self.confidence, **hits}

    def headline(self) -> dict[str, Interval]:
        """The scores of a table."""
        return {f"hit@{k}": interval for k, interval in self.hits.items()}

    def tables(self) -> list[Table]:
        """Nothing that the headline does not say."""
        return []

    def __str__(self) -> str:
        scores = ", ".join(f"hit@{k} {interval}" for k, interval in self.hits.items())
        return f"{scores} ({self.n_images:,} images of {self.n_classes:,} classes)"


def image_scores(images: Array, classifiers: Array) -> Array:
    """Scores (m, C) of images (m, D) by classifiers (C, D), or (C, D + 1) with the bias last.

    Examples
    --------
    >>> image_scores(np.array([[2.0, 1.0]]), np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]))
    array([[2.5, 1. ]])
    """
    width = images.shape[1]
    if classifiers.shape[1] not in (width, width + 1):
        raise InputError(
            "images must have as many features as the classifiers have weights",
            f"{width:,} and {classifiers.shape[1]:,} (one more where there is a bias)",
            "give features of the network that the classifiers belong to",
            argument="images",
        )
    scores = images @ classifiers[:, :width].T
    return np.asarray(scores if classifiers.shape[1] == width else scores + classifiers[:, width])


def ranks(scores: Array, true: NDArray[np.intp], competitors: Array | None = None) -> NDArray[np.intp]:
    """How many classes stand before the true one (m,), equal scores included.

    Parameters
    ----------
    scores : ndarray (m, C)
    true : integer array (m,)
        Columns of the true classes.
    competitors : ndarray (m, S), optional
        Scores of classes that no image is of.
    """
    own = scores[np.arange(len(true)), true][:, None]
    before = (scores >= own).sum(axis=1) - 1
    return np.asarray(before if competitors is None else before + (competitors >= own).sum(axis=1))


def hit_scores(
    rank: NDArray[np.intp],
    true: NDArray[Any],
    *,
    ks: Sequence[int] = KS,
    confidence: float = 0.95,
    seed: int = 2019,
) -> HitScores:
    """Shares of ranks below k, with intervals over the classes in `true` (m,)."""
    _, classes = np.unique(true, return_inverse=True)
    hits = {k: _over_classes((rank < k).astype(np.float64), classes, confidence, seed) for k in ks}
    return HitScores(len(rank), int(classes.max()) + 1, hits, confidence)


def paired_gain(
    rank: NDArray[np.intp],
    other: NDArray[np.intp],
    true: NDArray[Any],
    *,
    k: int = 1,
    confidence: float = 0.95,
    seed: int = 2019,
) -> Interval:
    """Share of ranks below k minus that of another model on the same images, resampled over classes."""
    _, classes = np.unique(true, return_inverse=True)
    difference = (rank < k).astype(np.float64) - (other < k)
    return _over_classes(difference, classes, confidence, seed)


def _over_classes(values: Array, classes: NDArray[np.intp], confidence: float, seed: int) -> Interval:
    sums, counts = np.bincount(classes, values), np.bincount(classes)
    drawn = np.random.default_rng(seed).integers(len(counts), size=(N_BOOTSTRAP, len(counts)))
    samples = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return percentile_interval(float(values.mean()), samples, confidence)
