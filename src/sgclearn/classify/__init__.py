"""Z, y -> Theta: loss, solvers, and the SGC estimators."""

from sgclearn.classify.classifier import SGCClassifier
from sgclearn.classify.cv import SGCClassifierCV
from sgclearn.classify.multilabel import SGCMultilabelClassifier

__all__ = ["SGCClassifier", "SGCClassifierCV", "SGCMultilabelClassifier"]
