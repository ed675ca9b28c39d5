"""Figures as scikit-learn has them, and intervals that do what they promise."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from sgclearn import evaluate_predictions
from sgclearn.errors import InputError
from sgclearn.evaluate.intervals import bootstrap_f1, f1_interval, percentile_interval, wilson

PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=60)


@given(PAIRS)
def test_evaluation_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    truth, guess = zip(*pairs, strict=True)
    found = evaluate_predictions(truth, guess)
    assert found.n == len(pairs)
    assert found.accuracy.value == pytest.approx(accuracy_score(truth, guess))
    if len(found.classes) > 1:  # scikit-learn warns about a matrix of one class
        expected = confusion_matrix(truth, guess, labels=list(found.classes))
        np.testing.assert_array_equal(found.confusion, expected)
    expected = precision_recall_fscore_support(truth, guess, labels=list(found.classes), zero_division=0)
    for position, name in enumerate(("precision", "recall", "f1")):
        values = [getattr(scores, name).value for scores in found.per_class]
        np.testing.assert_allclose(values, expected[position])
    assert [scores.support for scores in found.per_class] == expected[3].tolist()
    assert found.macro_f1.value == pytest.approx(expected[2].mean())
    for interval in (found.accuracy, found.macro_f1, *(scores.f1 for scores in found.per_class)):
        assert 0 <= interval.low <= interval.value <= interval.high <= 1 + 1e-15


def test_listed_classes_give_order_and_extent() -> None:
    found = evaluate_predictions([3, 3, 5], [3, 5, 5], classes=[5, 7, 3])
    assert found.classes == (5, 7, 3)
    assert found.confusion.tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 1]]
    absent = found.per_class[1]
    assert (absent.support, absent.predicted, tuple(absent.f1)) == (0, 0, (0.0, 0.0, 1.0))
    assert found.macro_f1.value == pytest.approx((2 / 3 + 0 + 2 / 3) / 3)


def test_wilson_equals_published_values() -> None:
    # Newcombe (1998), Table I, method 3: score intervals of 81/263, 15/148, 0/20 and 1/29.
    for right, of, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        interval = wilson(right, of, 0.95)
        assert interval.value == right / of
        assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert wilson(5, 5, 0.9).high == 1.0


def test_wilson_covers_the_truth_as_often_as_promised() -> None:
    rng = np.random.default_rng(31)
    share, n = 0.8, 150
    counts = rng.binomial(n, share, size=2000)
    covered = [wilson(int(count), n, 0.9) for count in counts]
    assert np.mean([interval.low <= share <= interval.high for interval in covered]) == pytest.approx(
        0.9, abs=0.03
    )


def test_bootstrap_equals_resampling_the_nodes() -> None:
    rng = np.random.default_rng(58)
    truth = rng.integers(3, size=200)
    guess = np.where(rng.random(200) < 0.7, truth, rng.integers(3, size=200))
    confusion = confusion_matrix(truth, guess)
    drawn = bootstrap_f1(confusion, 3000, seed=6)
    slow = []
    for _ in range(400):
        nodes = rng.integers(200, size=200)
        slow.append(precision_recall_fscore_support(truth[nodes], guess[nodes])[2])
    np.testing.assert_allclose(drawn.mean(axis=0), np.mean(slow, axis=0), atol=0.01)
    np.testing.assert_allclose(drawn.std(axis=0), np.std(slow, axis=0), rtol=0.15)


def test_few_predictions_that_are_all_right_are_no_certainty() -> None:
    found = evaluate_predictions(list("aaabbb"), list("aaabbb"))
    assert found.macro_f1.value == 1.0
    assert 0.4 < found.macro_f1.low < 0.95
    for scores in found.per_class:
        assert scores.f1.value == 1.0
        assert scores.f1.low < 0.7
    alone = evaluate_predictions(["a"] * 6, ["a"] * 6)
    assert alone.macro_f1.low < 0.95
    wrong = evaluate_predictions(list("aaabbb"), list("bbbaaa"))
    assert wrong.macro_f1.value == 0.0
    assert wrong.macro_f1.high > 0.05
    assert wrong.per_class[0].f1.high > 0.2


def test_intervals_of_many_predictions_are_those_of_the_plain_bootstrap() -> None:
    rng = np.random.default_rng(1853)
    truth = rng.integers(4, size=4000)
    guess = np.where(rng.random(4000) < 0.8, truth, rng.integers(4, size=4000))
    confusion = confusion_matrix(truth, guess)
    plain = rng.multinomial(4000, confusion.ravel() / 4000, size=2000).reshape(-1, 4, 4)
    f1 = 2 * plain.diagonal(axis1=1, axis2=2) / (plain.sum(axis=1) + plain.sum(axis=2))
    found = evaluate_predictions(truth, guess)
    for scores, drawn in zip(found.per_class, f1.T, strict=True):
        np.testing.assert_allclose(scores.f1[1:], np.quantile(drawn, [0.025, 0.975]), atol=0.004)
    np.testing.assert_allclose(found.macro_f1[1:], np.quantile(f1.mean(axis=1), [0.025, 0.975]), atol=0.003)


def test_f1_interval_covers_the_truth_as_often_as_promised() -> None:
    rng = np.random.default_rng(404)
    shares = np.array([0.3, 0.06, 0.08, 0.56])  # right, missed, wrongly taken, neither
    true_f1 = 0.6 / (0.6 + 0.14)
    counts = rng.multinomial(80, shares, size=2000)
    intervals = [f1_interval(int(a), int(a + b), int(a + c), 0.9) for a, b, c, _ in counts]
    covered = [interval.low <= true_f1 <= interval.high for interval in intervals]
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)


def test_evaluation_is_repeatable_and_seeded() -> None:
    truth, guess = ["a", "b", "c"] * 20, ["a", "b", "b", "c", "a", "c"] * 10
    first, again = (evaluate_predictions(truth, guess).to_dict() for _ in range(2))
    assert first == again
    assert evaluate_predictions(truth, guess, seed=8).to_dict()["macro_f1"] != first["macro_f1"]


def test_higher_confidence_is_wider() -> None:
    truth, guess = ["a", "b"] * 30, ["a", "b", "b"] * 20
    narrow, wide = (evaluate_predictions(truth, guess, confidence=share) for share in (0.8, 0.99))
    for name in ("accuracy", "macro_f1"):
        assert getattr(wide, name).low < getattr(narrow, name).low
        assert getattr(wide, name).high > getattr(narrow, name).high


def test_to_dict_is_json_and_str_is_a_table() -> None:
    found = evaluate_predictions(np.array([True, False, True]), np.array([True, True, True]))
    kept = json.loads(json.dumps(found.to_dict()))
    assert kept["classes"] == [False, True]
    assert kept["confusion"] == [[0, 1], [0, 2]]
    assert kept["per_class"][1]["recall"]["value"] == 1.0
    lines = str(found).splitlines()
    assert lines[0].startswith("accuracy 0.667 [0.208, 0.939], macro-F1")
    assert len(lines) == 4


def test_top_confusions_are_the_most_frequent_mistakes() -> None:
    found = evaluate_predictions(list("aaabbc"), list("abbcba"))
    assert found.top_confusions(2) == [("a", "b", 2), ("b", "c", 1)]
    assert evaluate_predictions([1, 2], [1, 2]).top_confusions() == []


def test_percentile_interval_without_samples_knows_nothing() -> None:
    assert tuple(percentile_interval(0.0, np.array([np.nan]), 0.95)) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("truth", "guess", "options", "message"),
    [
        (["a"], ["a", "b"], {}, "got 1 and 2"),
        ([], [], {}, "got 0 and 0"),
        ([["a"]], ["a"], {}, r"y_true must have one class a node: got shape \(1, 1\)"),
        (["a", None], ["a", "b"], {}, "y_true must have a class for every node: got 1 of 2 without"),
        ([1.0, np.nan], [1.0, 1.0], {}, "got 1 of 2 without"),
        (["1", "2"], [1, 2], {}, "must be of one type: got '1' and 1"),
        (["a", "b"], ["a", "b"], {"classes": ["a"]}, "got no 'b', which occurs"),
        (["a", "b"], ["a", "b"], {"classes": ["a", "b", "a"]}, "got one of them twice"),
        (["a"], ["a"], {"confidence": 95}, "confidence must lie between 0 and 1: got 95"),
    ],
)
def test_evaluation_refuses(truth: Any, guess: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_predictions(truth, guess, **options)
