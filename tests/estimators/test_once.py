"""What a fit does once: one plan, one product for all logits, and samples shared by a search and its final fit."""

from __future__ import annotations

import numpy as np
import pytest

from sgclearn import SGCClassifier, SGCClassifierCV, SGCMultilabelClassifier, SGCRegressor, SGCRegressorCV
from sgclearn.estimators import base, cv

from problems import labelled_problem

GRAPH, X, Y = labelled_problem(50, 6, seed=101)
VALUES = np.where(Y >= 0, Y * 1.5, np.nan)
LABELS = np.where(Y[:, None] >= 0, np.eye(3, dtype=int)[Y], -1)
FITS = {
    "classifier": (SGCClassifier(), Y),
    "multilabel": (SGCMultilabelClassifier(), LABELS),
    "regressor": (SGCRegressor(), VALUES),
    "classifier search": (SGCClassifierCV((0, 1, 2), weight_decay=(1e-3, 1e-1), gamma=(0.0, 1.0), cv=2), Y),
    "regressor search": (SGCRegressorCV((0, 1, 2), gamma=(0.0, 1.0)), VALUES),
    "regressor folds": (SGCRegressorCV((0, 1), weight_decay=(1e-3, 1e-1), cv=3), VALUES),
}


def counted(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> list[tuple]:
    """Calls of a function under the name by which a module knows it."""
    calls: list[tuple] = []
    function = getattr(module, name)

    def count(*arguments, **options):
        calls.append(arguments)
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, count)
    return calls


@pytest.mark.parametrize("name", FITS)
def test_fit_plans_once_and_computes_logits_once(monkeypatch, name):
    model, y = FITS[name]
    plans = counted(monkeypatch, base, "make_plan")
    logits = counted(monkeypatch, base, "propagate_product")
    model.fit(X, y, graph=GRAPH)
    assert (len(plans), len(logits)) == (1, 1)
    predicted = model.predict(X, graph=GRAPH)
    np.testing.assert_array_equal(model.transduction_, predicted)
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(model.transduction_proba_, model.predict_proba(X, graph=GRAPH))


@pytest.mark.parametrize("name", ["classifier search", "regressor search"])
def test_search_forms_samples_once_per_operator_and_not_again_for_the_final_fit(monkeypatch, name):
    model, y = FITS[name]
    formed, again = counted(monkeypatch, cv, "build_designs"), counted(monkeypatch, base, "build_designs")
    model.fit(X, y, graph=GRAPH)
    assert (len(formed), len(again)) == (2, 0)
