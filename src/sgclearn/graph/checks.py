"""Arguments that are graphs."""

from __future__ import annotations

from typing import Any

from sgclearn.graph.graph import Graph
from sgclearn.validation.parameters import check_type


def check_graph(graph: Any, name: str = "graph") -> None:
    """A `Graph`, or an error that says how to make one."""
    check_type(graph, Graph, name, "build one with Graph.from_scipy, Graph.from_networkx or Graph.from_edges")
