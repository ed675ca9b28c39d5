"""How good predictions are, and how sure one can be of that."""

from __future__ import annotations

from sgclearn.evaluate.evaluation import ClassEvaluation, Evaluation, evaluate_predictions
from sgclearn.evaluate.intervals import Interval
from sgclearn.evaluate.probabilities import PredictionSets, ProbabilityEvaluation, evaluate_probabilities
from sgclearn.evaluate.values import ValueEvaluation, evaluate_values

__all__ = [
    "ClassEvaluation",
    "Evaluation",
    "Interval",
    "PredictionSets",
    "ProbabilityEvaluation",
    "ValueEvaluation",
    "evaluate_predictions",
    "evaluate_probabilities",
    "evaluate_values",
]
