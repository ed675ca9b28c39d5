"""Sets that change a label: confirmed by prediction, and small."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from test_explanation import Case, make_case

from sgclearn.errors import InputError
from sgclearn.explain import Explainer

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data")


def label_without(case: Case, node: int, by: str, parts: list[tuple[int, ...]]) -> Any:
    from scipy import sparse

    from sgclearn import Graph

    A, X = case.A.copy(), case.X.copy()
    for part in parts:
        if by == "sources":
            X[part[0]] = 0.0
        elif by == "features":
            X[part] = 0.0
        else:
            A[part] = A[part[::-1]] = 0.0
    logits = case.logits(graph=Graph.from_scipy(sparse.csr_array(A)), X=X)[node]
    return case.model.classes_[logits.argmax()]


@pytest.mark.parametrize("by", ["sources", "features", "edges"])
@pytest.mark.parametrize("row_norm", [None, "l1"])
def test_flip_changes_the_label_and_needs_every_part(by: str, row_norm: str | None) -> None:
    found = 0
    for seed in range(50, 56):
        case = make_case(seed, n_classes=3, row_norm=row_norm)
        explainer = Explainer(case.model, case.X, case.graph)
        for node in range(14):
            explanation = explainer.explain(node)
            flip = explanation.flip(by, max_size=12)
            if flip.parts is None:
                continue
            found += 1
            assert label_without(case, node, by, flip.parts) == flip.label != explanation.predicted
            for part in flip.parts:
                others = [other for other in flip.parts if other != part]
                assert label_without(case, node, by, others) == explanation.predicted
    assert found > 20


def test_flip_by_sources_is_as_small_as_the_smallest_of_all_sets() -> None:
    checked = 0
    for seed in range(60, 64):
        case = make_case(seed, n_classes=2, n_hops=1)
        explainer = Explainer(case.model, case.X, case.graph)
        for node in range(14):
            explanation = explainer.explain(node)
            flip = explanation.flip("sources")
            if flip.parts is None or len(flip.parts) > 3:
                continue
            checked += 1
            assert flip.is_smallest
            for size in range(1, len(flip.parts)):
                for nodes in combinations(explanation.sample.nodes.tolist(), size):
                    parts = [(int(position),) for position in nodes]
                    assert label_without(case, node, "sources", parts) == explanation.predicted
    assert checked > 10


def test_flip_to_a_named_class() -> None:
    case = make_case(71, n_classes=3)
    explainer = Explainer(case.model, case.X, case.graph)
    reached = 0
    for node in range(14):
        explanation = explainer.explain(node)
        for label in {*range(3)} - {explanation.predicted}:
            flip = explanation.flip("features", against=label)
            if flip.parts is not None:
                reached += 1
                assert flip.label == label
                assert label_without(case, node, "features", flip.parts) == label
    assert reached > 5


def test_flip_refuses_unknown_parts() -> None:
    case = make_case(73)
    with pytest.raises(InputError, match="by must be one of features, sources, edges"):
        Explainer(case.model, case.X, case.graph).explain(4).flip("words")
