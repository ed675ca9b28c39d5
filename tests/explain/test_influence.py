"""Leave-one-out refits are those of a new fit without the label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_explanation import make_case

from sgclearn import SGCClassifier
from sgclearn.errors import InputError
from sgclearn.explain.influence import label_influence, leave_one_out
from sgclearn.filters import S2GCFilter

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data")
LABELS = np.where(np.arange(14) < 10, np.arange(14) % 3, -1)


def centred(logits: Any) -> Any:
    return logits - logits.mean(axis=-1, keepdims=True)


def two_columns(found: Any) -> Any:
    return np.stack([np.zeros(len(found)), found], axis=1) if found.ndim == 1 else found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"row_norm": "l1", "n_hops": 1},
        {"filter": S2GCFilter(3, 0.1), "normalization": "rw"},
        {"scale": "standard"},
        {"class_weight": "balanced"},
        {"fit_intercept": False},
        {"penalize_intercept": False},
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_leave_one_out_equals_new_fits(options: dict[str, Any], n_classes: int) -> None:
    case = make_case(41)
    y = np.where(LABELS >= 0, LABELS % n_classes, -1)
    model = SGCClassifier(weight_decay=1e-2, **options).fit(case.X, y, graph=case.graph)
    found = leave_one_out(model, case.X, y, case.graph, [12, 13])
    assert found.labelled.tolist() == list(range(10))
    for k, node in enumerate(found.labelled):
        fewer = y.copy()
        fewer[node] = -1
        again = SGCClassifier(weight_decay=1e-2, **options).fit(case.X, fewer, graph=case.graph)
        expected = two_columns(again.decision_function(case.X, case.graph))
        np.testing.assert_allclose(centred(found.own_logits[k]), centred(expected[node]), atol=1e-6)
        np.testing.assert_allclose(centred(found.logits[k]), centred(expected[[12, 13]]), atol=1e-6)


def test_label_influence_is_the_change_of_the_margin() -> None:
    case = make_case(43)
    model = SGCClassifier(weight_decay=1e-2).fit(case.X, LABELS, graph=case.graph)
    found = label_influence(model, case.X, LABELS, case.graph, 12)
    assert sorted(row.node for row in found) == list(range(10))
    assert [row.change for row in found] == sorted((row.change for row in found), reverse=True)
    logits = model.decision_function(case.X, case.graph)[12]
    chosen, rival = np.argsort(-logits)[:2]
    strongest = found[0]
    fewer = LABELS.copy()
    fewer[strongest.node] = -1
    after = (
        SGCClassifier(weight_decay=1e-2)
        .fit(case.X, fewer, graph=case.graph)
        .decision_function(case.X, case.graph)[12]
    )
    change = (logits[chosen] - logits[rival]) - (after[chosen] - after[rival])
    assert strongest.change == pytest.approx(change, abs=1e-6)
    assert strongest.label == LABELS[strongest.node]


def test_swapped_label_is_suspicious() -> None:
    rng = np.random.default_rng(6)
    X = np.repeat(np.eye(2), 20, axis=0) + 0.1 * rng.normal(size=(40, 2))
    y = np.repeat([0, 1], 20)
    y[5] = 1
    model = SGCClassifier(0, weight_decay=1e-3).fit(X, y)
    found = leave_one_out(model, X, y, None).suspicious(y)
    assert found[0][:2] == (5, 0)
    assert found[0][2] > 0.6


def test_leave_one_out_refuses_an_inexact_fit() -> None:
    case = make_case(47)
    model = SGCClassifier(solver="adam").fit(case.X, LABELS, graph=case.graph)
    with pytest.raises(InputError, match="only of an exact fit of classes"):
        leave_one_out(model, case.X, LABELS, case.graph)
