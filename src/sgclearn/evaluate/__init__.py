"""How good predictions are, and how sure one can be of that."""

from __future__ import annotations

from sgclearn.evaluate.evaluation import ClassEvaluation, Evaluation, evaluate_predictions
from sgclearn.evaluate.intervals import Interval
from sgclearn.evaluate.probabilities import PredictionSets, ProbabilityEvaluation, evaluate_probabilities

__all__ = [
    "ClassEvaluation",
    "Evaluation",
    "Interval",
    "PredictionSets",
    "ProbabilityEvaluation",
    "evaluate_predictions",
    "evaluate_probabilities",
]
