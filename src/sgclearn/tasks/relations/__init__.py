"""Relations between two marked entities of a sentence: TACRED and SemEval-2010 Task 8, or your own."""

from __future__ import annotations

from sgclearn.tasks.relations.arcs import draw_arcs
from sgclearn.tasks.relations.classifier import SGCRelationClassifier
from sgclearn.tasks.relations.explain import RelationExplanation, explain_relation
from sgclearn.tasks.relations.scoring import evaluate_relations, micro_f1, official_macro_f1
from sgclearn.tasks.relations.sentences import (
    Sentences,
    join_sentences,
    read_sentences,
    sentences_from_records,
)
from sgclearn.tasks.relations.storage import load_relation_model, save_relation_model

__all__ = [
    "RelationExplanation",
    "SGCRelationClassifier",
    "Sentences",
    "draw_arcs",
    "evaluate_relations",
    "explain_relation",
    "join_sentences",
    "load_relation_model",
    "micro_f1",
    "official_macro_f1",
    "read_sentences",
    "save_relation_model",
    "sentences_from_records",
]
