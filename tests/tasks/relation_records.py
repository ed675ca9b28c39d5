"""Small sentences for the tests of relations."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgclearn.features import WordVectors

CAUSE, PART, OTHER = "Cause-Effect(e1,e2)", "Component-Whole(e2,e1)", "Other"


def record(text: str, relation: str | None, heads: list[int], subject: tuple[int, int], obj: tuple[int, int],
           **more: Any) -> dict[str, Any]:  # fmt: skip
    """A record as TACRED has it; heads count from 1, spans from 0 with the last token included."""
    return {
        "token": text.split(),
        "relation": relation,
        "stanford_head": heads,
        "subj_start": subject[0],
        "subj_end": subject[1],
        "obj_start": obj[0],
        "obj_end": obj[1],
        **more,
    }


def corpus() -> list[dict[str, Any]]:
    """Twelve sentences of three relations, told apart by the word on the path."""
    found = []
    for n, (first, second) in enumerate(
        [("rain", "floods"), ("smoke", "fear"), ("storms", "damage"), ("ice", "falls")]
    ):
        labels = ["det", "nsubj", "ROOT", "amod", "dobj"]
        heads = [2, 3, 0, 5, 3]
        tags = {"stanford_deprel": labels, "stanford_pos": ["DT", "NN", "VB", "JJ", "NN"]}
        for verb, relation in (("caused", CAUSE), ("contain", PART), ("met", OTHER)):
            text = f"The {first} {verb} heavy {second}"
            found.append(record(text, relation, heads, (1, 1), (4, 4), id=f"{relation[:2]}{n}", **tags))
    return found


def vectors(dimensions: int = 4) -> WordVectors:
    """Random vectors of the words of the corpus but one."""
    words = sorted({word.lower() for entry in corpus() for word in entry["token"]} - {"smoke"})
    values = np.random.default_rng(7).normal(size=(len(words), dimensions))
    return WordVectors(words, values.astype(np.float32))
