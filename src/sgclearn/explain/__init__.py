"""Exact reasons for every prediction: terms that add up, what would change it, and which labels carry it."""

from __future__ import annotations

from sgclearn.explain.explainer import ALL_CLASSES, Explainer, explain
from sgclearn.explain.explanation import Explanation, Term
from sgclearn.explain.flip import Flip
from sgclearn.explain.influence import LabelInfluence, LeaveOneOut, label_influence, leave_one_out

__all__ = [
    "ALL_CLASSES",
    "Explainer",
    "Explanation",
    "Flip",
    "LabelInfluence",
    "LeaveOneOut",
    "Term",
    "explain",
    "label_influence",
    "leave_one_out",
]
