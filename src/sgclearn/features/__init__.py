"""Node features and labels: from matrices, frames and files, with the ids that tie them to a graph."""

from __future__ import annotations

from sgclearn.features.encoding import Encoding
from sgclearn.features.labels import Labels
from sgclearn.features.readers import read_features, read_labels
from sgclearn.features.table import Features
from sgclearn.features.word_vectors import WordVectors, read_word_vectors

__all__ = [
    "Encoding",
    "Features",
    "Labels",
    "WordVectors",
    "read_features",
    "read_labels",
    "read_word_vectors",
]
