"""What a prediction rests on: the user's own text, other users, or nothing but how many places each cell has."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.graph import Graph
from sgclearn.operators import Operator
from sgclearn.propagation.engines import get_engine
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.propagate import propagate_product

Array = NDArray[np.float64]
TEXT, GRAPH, PRIOR = "text", "graph", "prior"
_BLOCK = 4096  # rows of S^K that exist together
_NOTHING = 1e-12


def evidence(
    classifier: Any, X: Any, graph: Graph | None, nodes: NDArray[np.intp] | None = None
) -> NDArray[Any]:
    """For each node "text", "graph" or "prior" (m,).

    The margin of the predicted cell c over the mean of all cells is a sum over the nodes within K hops,
    `sum_j (S^K)_ij x_j (Theta_c - mean of Theta)`. "text" says that the node's own term is larger than the sum of the
    others', "graph" that it is not, and "prior" that all terms are zero, so that the bias decides alone.

    Notes
    -----
    Exact: yes. Cost: O(entries of S^ceil(K/2) in the rows of the nodes), a block of nodes at a time.
    """
    Theta = classifier.coef_.T
    operator = None if graph is None else Operator(graph, classifier.normalization_, _gamma(classifier))
    features = NodeFeatures(X, None if graph is None else graph.n_nodes, classifier.row_norm_)
    n = features.n_nodes
    nodes = np.arange(n) if nodes is None else nodes
    logits = propagate_product(operator, features, classifier.n_hops_, Theta, nodes, get_engine("auto"))
    own_scores = propagate_product(None, features, 0, Theta, nodes, get_engine("auto"))
    chosen = (logits + classifier.intercept_).argmax(axis=1)
    rows = np.arange(len(nodes))
    margin = logits[rows, chosen] - logits.mean(axis=1)
    own = own_scores[rows, chosen] - own_scores.mean(axis=1)
    if operator is not None:
        own = own * self_weights(operator, classifier.n_hops_, nodes)
    size = np.abs(Theta).max(initial=0.0)
    kind = np.where(np.abs(own) > np.abs(margin - own), TEXT, GRAPH).astype(object)
    kind[np.abs(logits).max(axis=1) <= _NOTHING * size] = PRIOR
    return kind


def self_weights(operator: Operator, n_hops: int, nodes: NDArray[np.intp]) -> Array:
    """`(S^K)_ii` of some nodes: products of half of the hops from i with half of the hops to i."""
    S = operator.matrix()
    back = sp.csr_array(S.T)
    weights = np.empty(len(nodes))
    for first in range(0, len(nodes), _BLOCK):
        block = nodes[first : first + _BLOCK]
        there, here = (
            _powers(matrix, hops, block) for matrix, hops in ((S, n_hops - n_hops // 2), (back, n_hops // 2))
        )
        weights[first : first + _BLOCK] = there.multiply(here).sum(axis=1)
    return weights


def _powers(matrix: sp.csr_array, hops: int, rows: NDArray[np.intp]) -> sp.csr_array:
    """The rows of `matrix^hops`."""
    n = matrix.shape[0]
    result = sp.csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=(len(rows), n))
    for _ in range(hops):
        result = sp.csr_array(result @ matrix)
    return result


def _gamma(classifier: Any) -> float | None:
    return None if classifier.normalization_ == "cheby" else classifier.gamma_
