"""Z, y -> Theta: loss, solvers, and the SGC estimators."""

from sgclearn.estimators.classifier import SGCClassifier
from sgclearn.estimators.cv import SGCClassifierCV
from sgclearn.estimators.multilabel import SGCMultilabelClassifier
from sgclearn.estimators.regressor import SGCRegressor, SGCRegressorCV

__all__ = ["SGCClassifier", "SGCClassifierCV", "SGCMultilabelClassifier", "SGCRegressor", "SGCRegressorCV"]
