"""Text: documents become one graph of documents and words, and SGC classifies them."""

from __future__ import annotations

from sgclearn.tasks.text.classifier import TextSGCClassifier
from sgclearn.tasks.text.corpora import TextCorpus, load_corpus
from sgclearn.tasks.text.explain import Explanation
from sgclearn.tasks.text.graph import TextGraph, TextGraphBuilder
from sgclearn.tasks.text.reading import Documents, read_documents
from sgclearn.tasks.text.storage import load_text_model, save_text_model

__all__ = [
    "Documents",
    "Explanation",
    "TextCorpus",
    "TextGraph",
    "TextGraphBuilder",
    "TextSGCClassifier",
    "load_corpus",
    "load_text_model",
    "read_documents",
    "save_text_model",
]
