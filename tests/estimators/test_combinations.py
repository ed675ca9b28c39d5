"""Every engine with every plan, scaling, row norm, type, solver and filter: one objective, one answer."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import random_fits
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Compute, Graph, SGCClassifier
from sgclearn.filters import CustomFilter, PolynomialFilter, PowerFilter

from zoo import random_features

ENGINES = ["native", "scipy", "torch"]
PLANS = ["full", "frontier", "left-first", "implicit"]
SCALES = [None, "standard", "minmax", "maxabs"]
NORMS = [None, "l1", "l2"]
FORMS = ["dense", "float32", "sparse", "sparse float32", "identity"]
FILTERS = [PowerFilter(0), PowerFilter(2), CustomFilter((0.5, 0.0, -1.0, 0.25))]
WEIGHTED = Graph.from_edges(
    [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 4), (7, 8), (8, 0)],
    weights=[0.5, 2.0, 3.0, 1.0, 1.5, 0.2, 4.0, 1.0, 2.5],
    n_nodes=11,
    directed=True,
)
Y = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, -1, -1])


def features(form: str) -> Any:
    X = random_features(11, 4, seed=61, density=0.7)
    X = X.astype(np.float32) if "float32" in form else X
    return None if form == "identity" else sparse.csr_array(X) if "sparse" in form else X


def options(
    engine: str, plan: str, scale: str | None, norm: str | None, of: PolynomialFilter
) -> dict[str, Any]:
    return {
        "compute": Compute(plan, engine), "scale": scale, "row_norm": norm, "filter": of, "weight_decay": 1e-2,
        "normalization": "sym", "gamma": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("plan", PLANS)
def test_combination_ends_at_the_optimum_of_the_reference(engine: str, plan: str) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
    summary = random_fits.Summary()
    # Every fourth meets every value of every option, and all their pairs.
    combinations = list(itertools.product(SCALES, NORMS, FORMS, FILTERS))[:: 1 if engine == "native" else 4]
    for scale, norm, form, of in combinations:
        choice = {"fit_intercept": True, "penalize_intercept": norm is None, "solver": "lbfgs"}
        choice |= options(engine, plan, scale, norm, of)
        random_fits.compare(random_fits.Case(0, WEIGHTED, features(form), Y, None, choice), summary)
    assert summary.outcomes["converged"] == len(combinations)


@settings(max_examples=40)
@given(
    st.sampled_from(ENGINES[1:]),
    st.sampled_from(PLANS),
    st.sampled_from(SCALES),
    st.sampled_from(NORMS),
    st.sampled_from(FORMS),
    st.sampled_from(FILTERS),
    st.sampled_from(["adam", "sgd"]),
)
def test_recipes_take_the_same_steps_whatever_computes_them(engine, plan, scale, norm, form, of, solver):
    if engine == "torch":
        pytest.importorskip("torch")
    X = features(form)
    logits = []
    for choice in (options(engine, plan, scale, norm, of), options("native", "full", scale, norm, of)):
        clf = SGCClassifier(solver=solver, max_iter=15, **choice).fit(X, Y, graph=WEIGHTED)
        logits.append(clf.decision_function(X, graph=WEIGHTED))
    close = 1e-3 if "float32" in form else 1e-8
    np.testing.assert_allclose(*logits, rtol=close, atol=close * max(1.0, np.abs(logits[0]).max()))
