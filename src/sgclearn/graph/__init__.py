"""What a graph is: frozen rows of neighbours, ids of any kind, and the many ways to get one."""

from __future__ import annotations

from sgclearn.graph.graph import Graph
from sgclearn.graph.ids import NodeIds
from sgclearn.graph.readers import read_edges

__all__ = ["Graph", "NodeIds", "read_edges"]
