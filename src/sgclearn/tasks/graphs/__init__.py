"""Whole graphs and molecules: classes or numbers of graphs, from pooled hops."""

from __future__ import annotations

from sgclearn.tasks.graphs.classifier import SGCGraphClassifier
from sgclearn.tasks.graphs.collection import GraphCollection, stack_graphs
from sgclearn.tasks.graphs.readers import read_graphs

__all__ = ["GraphCollection", "SGCGraphClassifier", "read_graphs", "stack_graphs"]
