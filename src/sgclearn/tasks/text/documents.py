"""New documents join the graph through the words they share with it.

A new document is a node of its own that looks at its words; nothing looks back at it. With its TF-IDF weights t_w (idf
frozen at the fit) and degree `d = sum_w t_w + 1`, its row of S is `s_w = t_w / sqrt(d d_w)`, with the degree d_w of
the word frozen too, and `1 / d` for itself, so that

    (S^K V)[new] = sum_k (1/d)^(K-1-k) s (S^k V)[words],   k = 0, ..., K - 1,

where S is that of the fitted graph; the new node's own identity column was never seen and has no weight. The answer
for one document therefore depends on no other new one, and it needs K small tables of words and not the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.graph import Graph
from sgclearn.operators import Operator
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.propagate import propagate_product
from sgclearn.tasks.text.graph import TextGraph, TextGraphBuilder
from sgclearn.tasks.text.tokens import check_documents, tokenizer
from sgclearn.tasks.text.vocabulary import count_known

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WordTable:
    """What ties a new document to the words of a graph.

    Parameters
    ----------
    builder : TextGraphBuilder
        How a text is cut into words.
    vocabulary : object array of str (W,)
    idf : ndarray (W,)
    degrees : ndarray (W,)
        Degree of every word in the fitted graph, its self-loop included.
    """

    builder: TextGraphBuilder
    vocabulary: NDArray[Any]
    idf: Array
    degrees: Array

    @classmethod
    def of(cls, text_graph: TextGraph) -> WordTable:
        """The table of a graph."""
        degrees = text_graph.graph.degrees()[text_graph.n_documents :] + 1.0
        return cls(text_graph.builder, text_graph.vocabulary, text_graph.idf, degrees)

    def join(self, docs: Sequence[str]) -> tuple[Any, Array]:
        """Rows s (m, W) of S, sparse, and the loops 1/d (m,); a document without a known word has an empty row."""
        rows = count_known(check_documents(docs), tokenizer(self.builder.analyzer), self.vocabulary)
        rows = rows.astype(np.float64)
        rows.data *= self.idf[rows.indices]
        rows.eliminate_zeros()
        loops = 1.0 / (np.asarray(rows.sum(axis=1)).ravel() + 1.0)
        rows.data *= np.repeat(np.sqrt(loops), np.diff(rows.indptr))
        rows.data /= np.sqrt(self.degrees)[rows.indices]
        return rows, loops


def hops_of(graph: Graph, V: Array, n_hops: int, compute: Compute | None = None) -> list[Array]:
    """`V, S V, ..., S^K V` for all nodes. Cost: O(K nnz(S) C)."""
    operator, nodes = Operator(graph), NodeFeatures(None, graph.n_nodes)
    engine = check_compute(compute).load_engine()
    walked = [V]
    for _ in range(n_hops):
        walked.append(propagate_product(operator, nodes, 1, walked[-1], engine=engine))
    return walked


def new_logits(rows: Any, loops: Array, scores: Array) -> Array:
    """`sum_k loops^(K-1-k) rows @ scores[k]` (m, C), with scores (K, W, C) of the words."""
    logits: Array = np.zeros((rows.shape[0], scores.shape[2]))
    for table in scores:
        logits = loops[:, None] * logits + rows @ table
    return logits
