"""Node features and labels: from matrices, frames and files, with the ids that tie them to a graph."""

from __future__ import annotations

from sgclearn.features.encoding import Encoding
from sgclearn.features.labels import Labels
from sgclearn.features.readers import read_features, read_labels
from sgclearn.features.table import Features

__all__ = ["Encoding", "Features", "Labels", "read_features", "read_labels"]
