"""How good predictions are, and how sure one can be of that."""

from __future__ import annotations

from sgclearn.evaluate.evaluation import ClassEvaluation, Evaluation, evaluate_predictions
from sgclearn.evaluate.intervals import Interval

__all__ = ["ClassEvaluation", "Evaluation", "Interval", "evaluate_predictions"]
