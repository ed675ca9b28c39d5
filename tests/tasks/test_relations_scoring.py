"""The official macro-F1 of SemEval-2010 Task 8 and the micro-F1 of TACRED, on cases worked out by hand."""

from __future__ import annotations

import json

import pytest

from sgclearn.errors import InputError
from sgclearn.tasks.relations import evaluate_relations, micro_f1, official_macro_f1

A1, A2, B1, B2, OTHER = "A(e1,e2)", "A(e2,e1)", "B(e1,e2)", "B(e2,e1)", "Other"


def test_wrong_direction_is_no_hit_and_still_counts_as_said() -> None:
    # A: 2 hits, 4 said, 3 there: 2 * 2 / 7. B: 1 hit, 1 said, 2 there: 2 / 3.
    true = [A1, A1, A2, B1, B2, OTHER]
    said = [A1, A2, A2, B1, A1, OTHER]
    assert official_macro_f1(true, said) == pytest.approx((4 / 7 + 2 / 3) / 2)


def test_other_is_no_relation_but_its_mistakes_count() -> None:
    # A: 1 hit, 2 said (one of them on Other), 2 there (one of them called Other).
    assert official_macro_f1([A1, A1, OTHER, OTHER], [A1, OTHER, A2, OTHER]) == pytest.approx(0.5)


def test_relation_never_found_has_zero_and_one_never_there_does_not_count() -> None:
    assert official_macro_f1([A1, B1], [A1, OTHER]) == pytest.approx(0.5)
    assert official_macro_f1([A1, OTHER], [A1, B1]) == pytest.approx(1.0)


def test_official_score_is_not_the_macro_f1_over_labels() -> None:
    from sklearn.metrics import f1_score

    true, said = [A1, A2, A2, B1], [A1, A1, A2, B1]
    by_label = f1_score(true, said, average="macro")
    assert official_macro_f1(true, said) == pytest.approx((2 / 3 + 1) / 2)
    assert abs(by_label - official_macro_f1(true, said)) > 0.05


def test_micro_f1_is_that_of_tacred() -> None:
    true = ["per:title", "per:title", "org:website", "no_relation", "no_relation"]
    said = ["per:title", "no_relation", "per:title", "org:alternate", "no_relation"]
    # 1 hit, 3 said, 3 there; a relation that no sentence has counts among those said.
    assert micro_f1(true, said) == pytest.approx(1 / 3)


def test_score_is_chosen_by_the_form_of_the_labels() -> None:
    assert evaluate_relations([A1, OTHER], [A1, A1]).score == "macro_f1"
    assert evaluate_relations(["per:title", "no_relation"], ["per:title"] * 2).score == "micro_f1"


def test_evaluation_tells_relations_interval_and_unseen_labels() -> None:
    found = evaluate_relations([A1, A1, B2, OTHER] * 25, [A1, OTHER, B2, OTHER] * 25, known=[A1, OTHER])
    rows = {row.relation: row for row in found.relations}
    assert set(rows) == {"A", "B"}
    assert (rows["A"].precision, rows["A"].recall, rows["A"].support) == (1.0, 0.5, 50)
    assert found.value.low < found.value.value == pytest.approx(5 / 6)
    assert found.value.value < found.value.high
    assert found.unseen == (B2,)
    assert "never seen in training, so always wrong: B(e2,e1)" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["unseen_labels"] == [B2]
    assert set(found.headline()) == {"macro_f1", "accuracy"}


def test_no_relation_at_all_scores_zero() -> None:
    assert official_macro_f1([OTHER, OTHER], [OTHER, A1]) == 0.0
    assert micro_f1(["no_relation"], ["no_relation"]) == 0.0


def test_bad_arguments_are_errors() -> None:
    with pytest.raises(InputError, match="one relation a sentence: got 1 for 2"):
        evaluate_relations([A1, A2], [A1])
    with pytest.raises(InputError, match="score must be auto, macro_f1 or micro_f1: got 'f1'"):
        evaluate_relations([A1], [A1], score="f1")
