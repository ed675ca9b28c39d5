"""From a fitted model and its data to explanations of single predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sgclearn.errors import InputError
from sgclearn.explain.explanation import Explanation, Names
from sgclearn.explain.linear import LinearModel
from sgclearn.explain.neighbourhood import Neighbourhood
from sgclearn.explain.sample import Sample
from sgclearn.explain.sources import Sources
from sgclearn.features import Features
from sgclearn.graph import Graph
from sgclearn.graph.checks import check_graph
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.propagate import check_rows
from sgclearn.validation.matrices import as_matrix, check_values
from sgclearn.validation.parameters import is_whole, shown


class _AllClasses:
    """See `ALL_CLASSES`."""

    def __repr__(self) -> str:
        return "ALL_CLASSES"


ALL_CLASSES = _AllClasses()
"""As `against`: the margin over the mean of all classes, `logit_c - mean of all logits`."""


class Explainer:
    """Explains predictions of one model on one graph; what all of them need is computed once.

    Parameters
    ----------
    model : fitted SGC estimator
    X : matrix (n, d), Features, or None
        As for `predict`.
    graph : Graph, optional
    feature_names : sequence of str, optional
        One per column of X.
    """

    def __init__(
        self, model: Any, X: Any, graph: Graph | None = None, *, feature_names: Sequence[str] | None = None
    ) -> None:
        if graph is not None:
            check_graph(graph)
        if isinstance(X, Features):
            feature_names = X.names if feature_names is None else feature_names
            X = X.matrix if graph is None else X.align(graph)
        self.model, self.graph = LinearModel.of(model), graph
        if (graph is None) == bool(model.uses_graph_):
            raise InputError(
                "an explanation needs a graph exactly if the fit had one",
                "none" if graph is None else "a graph for a model fitted without",
                "pass graph= as in the fit",
                argument="graph",
            )
        features = NodeFeatures(X, None if graph is None else graph.n_nodes, self.model.row_norm)
        if graph is not None:
            check_rows(features, graph)
        d = len(self.model.blocks[0].Theta)
        if features.n_columns != d:
            raise InputError(
                f"X must have the {d:,} features of the fit", f"{features.n_columns:,}", "pass the same columns",
                argument="X",
            )  # fmt: skip
        projected = [
            np.asarray(features.matmul(block.Theta), dtype=np.float64) for block in self.model.blocks
        ]
        self.sources = Sources(features, self.model.row_norm, projected)
        self.names = Names(None if graph is None else graph.ids, feature_names)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.sources.features.n_nodes

    def explain(self, node: Any, against: Any = None, *, label: Any = None) -> Explanation:
        """Explain the prediction of a node.

        Parameters
        ----------
        node : int or str
            Position of the node; a text is the id of one.
        against : optional
            The class that the margin is over: the runner-up if not given, `ALL_CLASSES` for their mean.
        label : optional
            The class, label or target to explain; the predicted one if not given.
        """
        position = self._position(node)
        return self._explain(np.array([position], dtype=np.intp), np.ones(1), position, against, label)

    def explain_row(self, row: Any, against: Any = None, *, label: Any = None) -> Explanation:
        """Explain a sample of several nodes: a row (1, n) of a readout."""
        row = sparse.csr_array(as_matrix(row, "row"))
        check_values(row, "row")
        if row.shape != (1, self.n_nodes):
            raise InputError(
                f"row must have one entry per node, shape (1, {self.n_nodes})", f"shape {row.shape}",
                "pass one row of the readout", argument="row",
            )  # fmt: skip
        return self._explain(row.indices.astype(np.intp), row.data, None, against, label)

    def _explain(
        self,
        nodes: NDArray[np.intp],
        weights: NDArray[np.float64],
        node: int | None,
        against: Any,
        label: Any,
    ) -> Explanation:
        model = self.model
        hops = model.n_hops if self.graph is not None else 0
        around = Neighbourhood.of(self.graph, model.normalization, model.gamma, (nodes, weights), hops)
        sample = Sample(model, around, self.sources)
        logits = sample.logits()
        chosen = model.decided(logits) if label is None else model.number(label, "label")
        margin = np.zeros(len(logits))
        margin[chosen] = 1.0
        named: Any = None
        if against is ALL_CLASSES:
            rival, named = None, "all classes"
            margin -= 1.0 / len(logits)
        else:
            rival = model.rival(logits, chosen) if against is None else model.number(against, "against")
            named = None if rival is None else model.outputs[rival]
            if rival == chosen:
                raise InputError(
                    "against must be another class than the one explained", shown(against),
                    "leave it out for the runner-up", argument="against",
                )  # fmt: skip
        if rival is not None:
            margin[rival] -= 1.0
        names = self.names
        return Explanation(sample, margin / model.temperature, node, model.outputs[chosen], named, names)

    def _position(self, node: Any) -> int:
        if isinstance(node, str) and self.graph is not None:
            return int(self.graph.positions([node])[0])
        if not is_whole(node) or not 0 <= int(node) < self.n_nodes:
            raise InputError(
                f"node must be a position from 0 to {self.n_nodes - 1}", shown(node),
                "graph.positions([id]) gives the position of an id", argument="node",
            )  # fmt: skip
        return int(node)


def explain(
    model: Any,
    X: Any,
    graph: Graph | None,
    node: Any,
    against: Any = None,
    *,
    label: Any = None,
    feature_names: Sequence[str] | None = None,
) -> Explanation:
    """Explain one prediction exactly; for many, make an `Explainer` once.

    Parameters
    ----------
    model : fitted SGC estimator
    X : matrix (n, d), Features, or None
    graph : Graph or None
    node : int or str
        Position of the node; a text is the id of one.
    against, label : optional
        See `Explainer.explain`.
    feature_names : sequence of str, optional

    Returns
    -------
    Explanation

    Notes
    -----
    With `a = e_i g(S)`, term (j, f) is `a_j r_j x_jf Theta_f`. Cost: O(edges within K - 1 hops), after one product of
    X with the weights. Exact: yes.

    Examples
    --------
    >>> import numpy as np
    >>> from sgclearn import Graph, SGCClassifier
    >>> from sgclearn.explain import explain
    >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "cid"), ("dan", "eve"), ("eve", "fay")])
    >>> X, y = np.eye(6), ["red", "", "", "blue", "", ""]
    >>> why = explain(SGCClassifier().fit(X, y, graph=graph), X, graph, "cid")
    >>> why.label, why.against
    ('red', 'blue')
    >>> terms, rest = why.terms("sources", n=1)
    >>> terms[0].name
    'bob'
    """
    return Explainer(model, X, graph, feature_names=feature_names).explain(node, against, label=label)
