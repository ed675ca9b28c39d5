"""The two scores of the field: the official macro-F1 of SemEval-2010 Task 8, and the micro-F1 of TACRED."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.evaluate.intervals import Interval, percentile_interval, wilson
from sgclearn.evaluate.table import Table
from sgclearn.validation.parameters import check_parameter

NEGATIVES = ("Other", "no_relation")  # labels that say "none of the relations"
_RESAMPLES = 1000
Array = NDArray[np.float64]


def undirected(label: str) -> str:
    """The relation without its direction: "Cause-Effect" of "Cause-Effect(e2,e1)".

    Examples
    --------
    >>> undirected("Cause-Effect(e2,e1)"), undirected("per:title")
    ('Cause-Effect', 'per:title')
    """
    return label.removesuffix("(e1,e2)").removesuffix("(e2,e1)")


@dataclass(frozen=True)
class RelationScore:
    """Precision, recall and F1 of one relation."""

    relation: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


@dataclass(frozen=True)
class RelationEvaluation:
    """What `evaluate_relations` found.

    Attributes
    ----------
    score : str
        "macro_f1" or "micro_f1".
    value : Interval
        The score with its bootstrap interval over sentences.
    accuracy : Interval
        Share of sentences with the right label, direction and negatives counted.
    relations : tuple of RelationScore
    n : int
    unseen : tuple of str
        Labels of the sentences that the model was never shown.
    """

    score: str
    value: Interval
    accuracy: Interval
    relations: tuple[RelationScore, ...]
    n: int
    confidence: float = 0.95
    unseen: tuple[str, ...] = ()

    def headline(self) -> dict[str, Interval]:
        """The figures of a table of models."""
        return {self.score: self.value, "accuracy": self.accuracy}

    def tables(self) -> list[Table]:
        """One line a relation."""
        rows = [
            (row.relation, f"{row.precision:.3f}", f"{row.recall:.3f}", f"{row.f1:.3f}", f"{row.support:,}")
            for row in self.relations
        ]
        return [Table(("relation", "precision", "recall", "F1", "sentences"), rows)]

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON."""
        return {
            "n": self.n,
            "score": self.score,
            self.score: self.value._asdict(),
            "accuracy": self.accuracy._asdict(),
            "confidence": self.confidence,
            "per_relation": [vars(row) for row in self.relations],
            "unseen_labels": list(self.unseen),
        }

    def __str__(self) -> str:
        name = {"macro_f1": "official macro-F1", "micro_f1": "micro-F1"}[self.score]
        lines = [f"{name} {self.value}, accuracy {self.accuracy} ({self.n:,} sentences)"]
        width = max(len(row.relation) for row in self.relations)
        lines.append(f"{'relation':<{width}}  precision  recall      F1  support")
        for row in self.relations:
            numbers = f"{row.precision:>9.1%}  {row.recall:>6.1%}  {row.f1:>6.1%}  {row.support:>7,}"
            lines.append(f"{row.relation:<{width}}  {numbers}")
        if self.unseen:
            lines.append(f"never seen in training, so always wrong: {', '.join(self.unseen)}")
        return "\n".join(lines)


def negative_label(labels: Sequence[str]) -> str | None:
    """The label among these that says "none of the relations"."""
    return next((label for label in NEGATIVES if label in set(labels)), None)


def official_macro_f1(y_true: Sequence[str], y_pred: Sequence[str]) -> float:
    """Macro-F1 of SemEval-2010 Task 8: over relations, direction counted, the negative label excluded.

    A prediction of the right relation in the wrong direction is no hit, but counts among the predictions and the
    sentences of the relation: `P = hits / predicted`, `R = hits / sentences`, each over both directions.

    Examples
    --------
    >>> official_macro_f1(["A(e1,e2)", "A(e2,e1)", "Other"], ["A(e1,e2)", "A(e1,e2)", "Other"])
    0.5
    """
    return evaluate_relations(y_true, y_pred, score="macro_f1").value.value


def micro_f1(y_true: Sequence[str], y_pred: Sequence[str]) -> float:
    """Micro-F1 of TACRED: hits, predictions and sentences summed over all labels but the negative one.

    Examples
    --------
    >>> micro_f1(["per:title", "no_relation", "no_relation"], ["per:title", "per:title", "no_relation"])
    0.6666666666666666
    """
    return evaluate_relations(y_true, y_pred, score="micro_f1").value.value


def evaluate_relations(
    y_true: Sequence[str],
    y_pred: Sequence[str],
    *,
    score: str = "auto",
    known: Sequence[str] | None = None,
    n_resamples: int = _RESAMPLES,
    confidence: float = 0.95,
    seed: int = 2019,
) -> RelationEvaluation:
    """Score predicted relations.

    Parameters
    ----------
    y_true, y_pred : sequence of str (m,)
    score : {"auto", "macro_f1", "micro_f1"}
        "auto" is the official macro-F1 where labels have a direction, such as "Cause-Effect(e1,e2)", else micro-F1.
    known : sequence of str, optional
        Labels of the training sentences.
    confidence : float
    n_resamples, seed : int
        Of the bootstrap interval; without resamples it is the widest.
    """
    true, guess = [str(label) for label in y_true], [str(label) for label in y_pred]
    if len(true) != len(guess) or not true:
        raise InputError(
            "y_pred must have one relation a sentence", f"{len(guess)} for {len(true)}", "align them"
        )
    if score == "auto":
        score = "macro_f1" if any(undirected(label) != label for label in (*true, *guess)) else "micro_f1"
    elif score not in ("macro_f1", "micro_f1"):
        raise InputError(
            "score must be auto, macro_f1 or micro_f1", repr(score), "choose one", argument="score"
        )
    name = undirected if score == "macro_f1" else str
    true_names, guess_names = [name(label) for label in true], [name(label) for label in guess]
    # As the official scorer: relations of the answers; one that is only predicted has no sentence to find.
    relations = sorted(set(true_names) - set(NEGATIVES))
    right = np.array(true) == np.array(guess)
    there = _indicators(true_names, relations)
    said = _indicators(guess_names, relations)
    hits = there * right
    # For micro-F1 relations that no sentence has count among the predictions too.
    any_said = np.array([label not in NEGATIVES for label in guess_names], dtype=np.float64)

    def value(weights: Array) -> Array:
        """Score of every row of sentence weights (B, m)."""
        if score == "micro_f1":
            return _f1(weights @ hits.sum(axis=0), weights @ any_said, weights @ there.sum(axis=0))
        scores = _f1(weights @ hits.T, weights @ said.T, weights @ there.T)
        return scores.mean(axis=1) if relations else np.zeros(len(weights))

    rng = np.random.default_rng(check_parameter("random_state", seed))
    draws = rng.multinomial(len(true), np.full(len(true), 1 / len(true)), size=n_resamples)
    whole = float(value(np.ones((1, len(true))))[0])
    rows = [
        _relation_score(relation, *(float(part[at].sum()) for part in (hits, said, there)))
        for at, relation in enumerate(relations)
    ]
    unseen = () if known is None else tuple(sorted(set(true) - {str(label) for label in known}))
    interval = percentile_interval(whole, value(draws.astype(np.float64)), confidence)
    accuracy = wilson(int(right.sum()), len(true), confidence)
    return RelationEvaluation(score, interval, accuracy, tuple(rows), len(true), confidence, unseen)


def _indicators(names: Sequence[str], relations: Sequence[str]) -> Array:
    """Which sentences have which relation (R, m)."""
    found = [[name == relation for name in names] for relation in relations]
    return np.array(found, dtype=np.float64).reshape(len(relations), len(names))


def _f1(hits: Array, said: Array, there: Array) -> Array:
    """`2 P R / (P + R) = 2 hits / (said + there)`; zero where nothing was said or there."""
    total = said + there
    return np.divide(2 * hits, total, out=np.zeros_like(total), where=total > 0)


def _relation_score(relation: str, hits: float, said: float, there: float) -> RelationScore:
    precision = hits / said if said else 0.0
    recall = hits / there if there else 0.0
    f1 = 2 * hits / (said + there) if said + there else 0.0
    return RelationScore(relation, precision, recall, f1, int(there), int(said))
