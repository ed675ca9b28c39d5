"""Which training labels carry a prediction: exact refits without each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from sgclearn.errors import InputError, Setting
from sgclearn.estimators import SGCClassifier
from sgclearn.estimators.fitting import PreparedFit
from sgclearn.estimators.labels import as_labels, encode_classes, labelled_mask
from sgclearn.estimators.loss import Softmax
from sgclearn.explain.linear import CLASSES, LinearModel
from sgclearn.filters import CustomFilter
from sgclearn.graph import Graph
from sgclearn.propagation import propagate
from sgclearn.propagation.design import Design, ExplicitDesign
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.validation.arrays import positions_of

Array = NDArray[np.float64]
MOST_REFITS = 2000  # labels that are left out one by one
STRONGEST = 100  # of more labels, those whose samples are most like the node's


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Logits of models that were fitted without one label each.

    Attributes
    ----------
    labelled : ndarray (q,)
        Positions of the nodes whose label was left out.
    own_logits : ndarray (q, C)
        Of each such node, by the model that did not see its label.
    logits : ndarray (q, r, C)
        Of the nodes that were asked for.
    complete : ndarray (r, C)
        Of the nodes that were asked for, by the model that saw every label.
    classes : ndarray (C,)
    """

    labelled: NDArray[np.intp]
    own_logits: Array
    logits: Array
    complete: Array
    classes: NDArray[Any]

    def suspicious(self, y: Any, temperature: float = 1.0, most: int = 10) -> list[tuple[int, Any, float]]:
        """Training labels that the models without them contradict: node, better label, its probability.

        The surest come first.
        """
        P = Softmax.probabilities(self.own_logits / temperature)
        best = P.argmax(axis=1)
        labels = np.asarray(y, dtype=object)[self.labelled]
        wrong = np.flatnonzero(self.classes[best].astype(object) != labels)
        order = wrong[np.argsort(-P[wrong, best[wrong]], kind="stable")][:most]
        return [(int(self.labelled[k]), self.classes[best[k]], float(P[k, best[k]])) for k in order]


@dataclass(frozen=True)
class LabelInfluence:
    """One training label, and by how much the margin falls without it."""

    node: int
    label: Any
    change: float
    predicted: Any
    """Prediction of the explained node without the label."""


def label_influence(
    model: Any, X: Any, y: Any, graph: Graph | None, node: int, *, on_progress: Any = None
) -> list[LabelInfluence]:
    """How much every training label adds to the margin of a prediction, by exact refits without it.

    Parameters
    ----------
    model : fitted SGCClassifier
    X, y, graph
        Those of the fit; only the training labels in y.
    node : int
        Position of the explained node.
    on_progress : callable, optional
        Called as `f(done, of)`.

    Returns
    -------
    list of LabelInfluence
        The label that adds most to the margin of the predicted class over the runner-up first. Of more than 2,000
        labels, the 100 whose propagated features are most like those of the node.
    """
    found = leave_one_out(model, X, y, graph, [node], on_progress=on_progress)
    complete = found.complete[0]
    order = np.argsort(-complete, kind="stable")
    chosen, rival = int(order[0]), int(order[1])
    before = float(complete[chosen] - complete[rival])
    labels = np.asarray(as_labels(y), dtype=object)
    rows = [
        LabelInfluence(
            int(labelled),
            labels[labelled],
            before - float(logits[chosen] - logits[rival]),
            found.classes[int(logits.argmax())],
        )
        for labelled, logits in zip(found.labelled, found.logits[:, 0], strict=True)
    ]
    return sorted(rows, key=lambda row: -row.change)


def leave_one_out(
    model: Any, X: Any, y: Any, graph: Graph | None, nodes: Any = (), *, on_progress: Any = None
) -> LeaveOneOut:
    """Fit again without each label in turn, from the optimum with all of them.

    Samples are formed and their row space is found once; each refit is a few Newton steps. Settings, the scale of the
    columns excepted, are those of the fit.
    """
    linear = LinearModel.of(model)
    if linear.kind != CLASSES or model.solver != "lbfgs":
        raise InputError(
            "labels can be left out only of an exact fit of classes",
            (f"{type(model).__name__} with ", Setting("solver", getattr(model, "solver", None))),
            ("use SGCClassifier with ", Setting("solver", "lbfgs")),
            argument="model",
        )
    labels = as_labels(y)
    rows = np.flatnonzero(labelled_mask(labels, model.unlabeled))
    Z, asked = (
        _samples(model, X, graph, rows),
        _samples(model, X, graph, positions_of(nodes, len(labels))),
    )
    exact = _at_samples(model)
    refit = _refit_shared if exact.scale is None and exact.class_weight is None else _refit_apart
    left_out = np.arange(len(rows)) if len(rows) <= MOST_REFITS else _strongest(Z, asked)
    return refit(exact, Z, labels[rows], rows, left_out, asked, on_progress or (lambda done, of: None))


def _at_samples(model: Any) -> SGCClassifier:
    """The model as a linear model of propagated samples, which need neither graph nor row norms."""
    names = set(SGCClassifier().get_params()) & set(model.get_params())
    options = {name: getattr(model, name) for name in names}
    options |= {"n_hops": 0, "filter": None, "row_norm": None, "normalization": "sym", "gamma": None}
    return SGCClassifier(**{**options, "weight_decay": model.weight_decay_})


def _samples(model: Any, X: Any, graph: Graph | None, nodes: NDArray[np.intp]) -> Any:
    """Propagated features of some nodes, as the model sees them, block next to block."""
    if graph is None:
        return NodeFeatures(X, None, model.row_norm_).take(nodes)
    gamma = model.gamma_ if model.normalization_ != "cheby" else None
    blocks = [
        propagate(
            X, graph, filter=CustomFilter(tuple(block.coefficients.tolist())), gamma=gamma, nodes=nodes,
            normalization=model.normalization_, row_norm=model.row_norm_,
        )
        for block in LinearModel.of(model).blocks
    ]  # fmt: skip
    if len(blocks) == 1:
        return blocks[0]
    return sparse.hstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.hstack(blocks)


def _strongest(Z: Any, asked: Any) -> NDArray[np.intp]:
    """Samples with the largest products with one of those asked for."""
    products = Z @ asked.T
    products = products.toarray() if sparse.issparse(products) else np.asarray(products)
    strength = np.abs(products).max(axis=1, initial=0.0)
    return np.sort(np.argsort(-strength, kind="stable")[:STRONGEST])


def _refit_shared(
    exact: SGCClassifier,
    Z: Any,
    y: Any,
    rows: Any,
    left_out: Any,
    asked: Any,
    on_progress: Callable[[int, int], None],
) -> LeaveOneOut:
    """All refits in one row space, which holds the samples that are left as well."""
    classes, codes = encode_classes(y, np.ones(len(y), dtype=bool))
    Y = np.eye(len(classes))[codes]
    design: Design = ExplicitDesign(Z)
    decay = float(exact.weight_decay)
    prepared = PreparedFit(design, Y, np.ones(len(rows)), Softmax, exact._settings(), decay)
    views = [prepared.view(ExplicitDesign(part)) for part in (Z, asked)]
    start = prepared.solve(decay)
    complete = prepared.logits(views[1], start.W) if asked.shape[0] else np.zeros((0, len(classes)))
    own, logits = [], []
    for done, sample in enumerate(left_out):
        weights = np.ones(len(rows))
        weights[sample] = 0.0
        W = prepared.reweighted(weights).solve(decay, start.W).W
        own.append(prepared.logits(views[0].subset(np.array([sample])), W)[0])
        logits.append(prepared.logits(views[1], W) if asked.shape[0] else complete)
        on_progress(done + 1, len(left_out))
    return LeaveOneOut(rows[left_out], np.array(own), np.array(logits), complete, classes)


def _refit_apart(
    exact: SGCClassifier,
    Z: Any,
    y: Any,
    rows: Any,
    left_out: Any,
    asked: Any,
    on_progress: Callable[[int, int], None],
) -> LeaveOneOut:
    """Refits from scratch, where the scale of the columns or the balance of the classes changes."""
    whole = clone(exact).fit(Z, y)
    n_classes = len(whole.classes_)
    own, logits = [], []
    for done, sample in enumerate(left_out):
        keep = np.arange(len(rows)) != sample
        one = clone(exact).fit(Z[keep], y[keep])
        place = np.searchsorted(whole.classes_, one.classes_)
        both = [np.full((count, n_classes), -np.inf) for count in (1, asked.shape[0])]
        for table, part in zip(both, (Z[[sample]], asked), strict=True):
            if part.shape[0]:
                table[:, place] = _logits(one, part)
        own.append(both[0][0])
        logits.append(both[1])
        on_progress(done + 1, len(left_out))
    complete = _logits(whole, asked) if asked.shape[0] else np.zeros((0, n_classes))
    return LeaveOneOut(rows[left_out], np.array(own), np.array(logits), complete, whole.classes_)


def _logits(model: SGCClassifier, Z: Any) -> Array:
    """One column per class, also where there are two."""
    found = model.decision_function(Z)
    return np.stack([np.zeros(len(found)), found], axis=1) if found.ndim == 1 else found
