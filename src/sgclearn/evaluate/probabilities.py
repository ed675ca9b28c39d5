"""How far probabilities can be trusted: log-loss, Brier score, calibration error, risk and coverage."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.validation.arrays import plain_array, real_array
from sgclearn.validation.parameters import Number, shown

Array = NDArray[np.float64]
N_BINS = 15
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
_LEAST = 1e-15  # probability that a log-loss is taken of


@dataclass(frozen=True)
class ReliabilityBin:
    """Predictions of about the same confidence: how confident they are, and how many of them are right."""

    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Coverage:
    """What is left when only the most confident predictions are answered."""

    coverage: float
    threshold: float
    accuracy: float
    n: int


@dataclass(frozen=True)
class ProbabilityEvaluation:
    """What `evaluate_probabilities` found.

    Attributes
    ----------
    log_loss, brier_score : float
        `-mean log p_y` and `mean sum_c (p_c - [c = y])^2`.
    calibration_error : float
        Mean distance of confidence and accuracy over 15 bins of equally many predictions.
    mean_confidence, accuracy : float
    reliability : tuple of ReliabilityBin
    risk_coverage : tuple of Coverage
    """

    n: int
    log_loss: float
    brier_score: float
    calibration_error: float
    mean_confidence: float
    accuracy: float
    reliability: tuple[ReliabilityBin, ...]
    risk_coverage: tuple[Coverage, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        document = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in document.items()}


def evaluate_probabilities(codes: Any, probabilities: Any) -> ProbabilityEvaluation:
    """Compare probabilities with the true classes.

    Parameters
    ----------
    codes : integer array (n,)
        Column of the true class of every sample.
    probabilities : array (n, C)
        Rows sum to one.

    Examples
    --------
    >>> found = evaluate_probabilities([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> round(found.log_loss, 3), round(found.brier_score, 3)
    (0.415, 0.273)
    """
    y, P = _checked(codes, probabilities)
    truth = np.zeros_like(P)
    truth[np.arange(len(P)), y] = 1.0
    confidence, right = P.max(axis=1), P.argmax(axis=1) == y
    bins = reliability(confidence, right)
    return ProbabilityEvaluation(
        n=len(P),
        log_loss=float(-np.log(np.maximum(P[truth > 0], _LEAST)).mean()),
        brier_score=float(((P - truth) ** 2).sum(axis=1).mean()),
        calibration_error=float(sum(b.n * abs(b.confidence - b.accuracy) for b in bins) / len(P)),
        mean_confidence=float(confidence.mean()),
        accuracy=float(right.mean()),
        reliability=tuple(bins),
        risk_coverage=tuple(risk_coverage(confidence, right)),
    )


def untempered(probabilities: Array, temperature: float) -> Array:
    """What the probabilities of a softmax were before the logits were divided by the temperature."""
    powers = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny)) * temperature
    exponentials = np.exp(powers - powers.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def _checked(codes: Any, probabilities: Any) -> tuple[NDArray[np.intp], Array]:
    """Columns of the true classes (n,) and probabilities (n, C) that fit together."""
    P = real_array(probabilities, "probabilities").astype(np.float64)
    y = plain_array(codes, "codes")
    if P.ndim != 2 or y.shape != (len(P),) or len(P) == 0:
        raise InputError(
            "probabilities must have one row per label",
            f"shapes {P.shape} and {y.shape}",
            "pass both for the same samples",
        )
    if not (np.isfinite(P).all() and P.min() >= 0 and np.allclose(P.sum(axis=1), 1.0, atol=1e-6)):
        raise InputError(
            "rows of probabilities must be >= 0 and sum to 1", "others", "pass those of predict_proba"
        )
    if y.dtype.kind not in "iu" or y.min() < 0 or y.max() >= P.shape[1]:
        raise InputError(
            f"codes must be columns from 0 to {P.shape[1] - 1}", shown(y[:5].tolist()), "encode the classes"
        )
    return y.astype(np.intp), P


def reliability(confidence: Array, right: NDArray[np.bool_], n_bins: int = N_BINS) -> list[ReliabilityBin]:
    """Bins of equally many predictions, the least confident first; equal confidences are in the order given."""
    order = np.argsort(confidence, kind="stable")
    return [
        ReliabilityBin(len(part), float(confidence[part].mean()), float(right[part].mean()))
        for part in np.array_split(order, min(n_bins, len(order)))
    ]


def risk_coverage(
    confidence: Array, right: NDArray[np.bool_], coverages: tuple[float, ...] = COVERAGES
) -> list[Coverage]:
    """Accuracy of the most confident share of the predictions, for several shares.

    Predictions as confident as the last one that counts are answered too: no threshold tells them apart.
    """
    order = np.argsort(-confidence, kind="stable")
    rows = []
    for coverage in coverages:
        threshold = float(confidence[order[max(1, round(coverage * len(order))) - 1]])
        answered = confidence >= threshold
        rows.append(
            Coverage(float(answered.mean()), threshold, float(right[answered].mean()), int(answered.sum()))
        )
    return rows


@dataclass(frozen=True)
class PredictionSets:
    """Sets of classes that hold the true one with a chosen probability (split conformal).

    Attributes
    ----------
    threshold : float
        A class is in the set where its probability is at least this.
    target : float
    n : int
        Labels that the threshold was found on, held back from every other choice.
    """

    threshold: float
    target: float
    n: int

    @classmethod
    def fit(cls, codes: Any, probabilities: Any, target: float) -> PredictionSets:
        """Find the threshold on held-back labels: the `ceil((n + 1) target)`-th largest probability of a true class.

        New samples that are exchangeable with these have the true class in their set with probability at least
        `target`. With fewer than `target / (1 - target)` labels only sets of all classes promise that.
        """
        target = Number(low=0.0, high=1.0).check("coverage", target)
        codes, probabilities = _checked(codes, probabilities)
        scores = np.sort(probabilities[np.arange(len(codes)), codes])[::-1]
        place = int(np.ceil((len(codes) + 1) * target))
        return cls(float(scores[place - 1]) if 0 < place <= len(scores) else 0.0, target, len(codes))

    def contains(self, probabilities: Any) -> NDArray[np.bool_]:
        """Which classes are in the set of each sample (n, C)."""
        return np.asarray(real_array(probabilities, "probabilities") >= self.threshold)

    def evaluate(self, codes: Any, probabilities: Any) -> dict[str, Any]:
        """Measured coverage on average and for the worst class, and the sizes of the sets."""
        codes, probabilities = _checked(codes, probabilities)
        inside = self.contains(probabilities)
        covered = inside[np.arange(len(codes)), codes]
        per_class = {int(code): float(covered[codes == code].mean()) for code in np.unique(codes)}
        worst = min(per_class, key=lambda code: per_class[code])
        return {
            "target": self.target,
            "coverage": float(covered.mean()),
            "worst_class": worst,
            "worst_class_coverage": per_class[worst],
            "mean_size": float(inside.sum(axis=1).mean()),
            "empty": float((~inside.any(axis=1)).mean()),
        }
