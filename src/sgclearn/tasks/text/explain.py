"""Why a document got its class: a linear model is a sum, and its terms have names.

The logit of a class is `b + sum_j Z_j Theta_j` over the nodes j of the graph, words and documents, with Z the row of
`S^K` of the document. The same sum grouped by the first hop is `b + sum_w S_w (S^(K-1) Theta)_w` over the words w of
the document itself (and the document, through its self-loop). Both are exact. `b`, the baseline, is what the shift of
the min-max scaling leaves; it is 0 where every column is 0 in some labelled document.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, InputTypeError, SgclearnWarning
from sgclearn.graph import Graph
from sgclearn.operators import Operator
from sgclearn.tables.messages import counted
from sgclearn.tasks.text.documents import hops_of
from sgclearn.validation.parameters import Choice, shown

if TYPE_CHECKING:
    from sgclearn.tasks.text.classifier import TextSGCClassifier

Array = NDArray[np.float64]
GROUPINGS = ("features", "text")


@dataclass(frozen=True, eq=False)
class Explanation:
    """The logit of one class for one document, as a sum.

    `logit = baseline + sum(word_contributions) + sum(document_contributions)`, up to rounding.

    Parameters
    ----------
    label
        The class.
    logit, baseline : float
    words : object array of str
        The strongest first, for or against.
    word_contributions : ndarray
    documents : ndarray of int
        Positions among the documents of the fit, the strongest first.
    document_contributions : ndarray
    """

    label: Any
    logit: float
    baseline: float
    words: NDArray[Any]
    word_contributions: Array
    documents: NDArray[np.intp]
    document_contributions: Array

    def __repr__(self) -> str:
        return (
            f"Explanation({self.label!r}: {self.logit:.4g} = {self.baseline:.4g} "
            f"{self.word_contributions.sum():+.4g} from {counted(len(self.words), 'word')} "
            f"{self.document_contributions.sum():+.4g} from {counted(len(self.documents), 'document')})"
        )


def class_number(model: TextSGCClassifier, label: Any) -> int:
    """Place of a class, which must be one."""
    classes = model.classes_.tolist()
    if np.ndim(label) or label not in classes:
        raise InputError(
            "label must be a class of the model",
            shown(label),
            f"the classes are {', '.join(map(repr, classes))}",
            argument="label",
        )
    return int(classes.index(label))


def strongest_words(model: TextSGCClassifier, label: Any, n: int) -> list[tuple[str, float]]:
    """The n words with the largest `(S^(K-1) Theta)_w` for a class: what a step onto the word leads to."""
    weights = _of_class(model, model.word_scores_[-1], class_number(model, label))
    first = np.argsort(-weights, kind="stable")[:n]
    return [(str(model.words_.vocabulary[word]), float(weights[word])) for word in first]


def explain_document(model: TextSGCClassifier, doc: int | str, label: Any, by: str) -> Explanation:
    """See `TextSGCClassifier.explain`."""
    Choice(values=GROUPINGS, sentence=f"one of {', '.join(map(repr, GROUPINGS))}").check("by", by)
    is_position = isinstance(doc, int | np.integer) and not isinstance(doc, bool)
    if not is_position and not isinstance(doc, str):
        raise InputTypeError(
            "doc must be a text or the position of a document of the fit", type(doc).__name__, argument="doc"
        )
    found = _fitted(model, int(doc), by) if is_position else _new(model, str(doc), by)
    values = np.zeros_like(model.coef_.T) if found is None else found  # (n, C)
    baselines = (
        model.intercept_ if found is not None else model._with_prior(values[:1] * 0.0, np.array([False]))[0]
    )
    if label is None:
        label = model._classes_of((values.sum(axis=0) + baselines)[None, :]).tolist()[0]
    number = class_number(model, label)
    contributions = _of_class(model, values, number)
    baseline = float(_of_class(model, baselines[None, :], number)[0]) + 0.0  # no negative zero
    n_documents = model.n_documents_
    documents, from_documents = _sorted(contributions[:n_documents])
    words, from_words = _sorted(contributions[n_documents:])
    logit = math.fsum([baseline, *from_documents, *from_words])
    names = model.words_.vocabulary[words]
    return Explanation(label, logit, baseline, names, from_words, documents, from_documents)


def _fitted(model: TextSGCClassifier, position: int, by: str) -> Array | None:
    """Terms of the logits of a document of the fit (n, C), None if it has no words."""
    if not 0 <= position < model.n_documents_:
        raise InputError(
            f"doc must be the position of one of {counted(model.n_documents_, 'document')}, from 0",
            f"{position}",
            argument="doc",
        )
    graph, K = _graph(model), model.n_hops_
    first = Operator(graph).rows(np.array([position], dtype=np.intp)).T  # (n, 1)
    if first.nnz == 1:  # nothing but itself
        return None
    if by == "text":
        return np.asarray(first.toarray() * hops_of(graph, model.coef_.T, K - 1)[-1])
    return np.asarray(hops_of(graph, first.toarray(), K - 1)[-1] * model.coef_.T)


def _new(model: TextSGCClassifier, text: str, by: str) -> Array | None:
    """Terms of the logits of a new document (n, C), None if it has no known words; its own column has no weight."""
    rows, loops = model.words_.join([text])
    if rows.nnz == 0:
        warnings.warn(
            "the text has no word that the model knows: there is nothing to explain but the shares of the classes "
            "among the labelled documents.",
            SgclearnWarning,
            stacklevel=5,
        )
        return None
    n_documents, K = model.n_documents_, model.n_hops_
    step = np.zeros((model.coef_.shape[1], 1))
    step[n_documents:, 0] = rows.toarray()[0]
    if by == "text":
        powers = loops[0] ** np.arange(K - 1, -1, -1)
        through = np.zeros_like(model.coef_.T)
        through[n_documents:] = np.tensordot(powers, model.word_scores_, axes=1)
        return np.asarray(step * through)
    reached = np.zeros_like(step)
    for walked in hops_of(_graph(model), step, K - 1):
        reached = loops[0] * reached + walked
    return np.asarray(reached * model.coef_.T)


def _graph(model: TextSGCClassifier) -> Graph:
    text_graph = getattr(model, "text_graph_", None)
    if text_graph is None:
        raise InputError(
            "this explanation needs the graph of the fit",
            "a model that was loaded without",
            "load it with graph=, or ask for by='text' with a new text",
        )
    graph: Graph = text_graph.graph
    return graph


def _of_class(model: TextSGCClassifier, values: Array, number: int) -> Array:
    """The column of a class; two classes share one column, whose sign they differ in."""
    if len(model.classes_) > 2:
        return values[:, number]
    return values[:, 0] if number == 1 else -values[:, 0]


def _sorted(contributions: Array) -> tuple[NDArray[np.intp], Array]:
    """Places and values of those that are not zero, the strongest first."""
    places = np.flatnonzero(contributions)
    places = places[np.argsort(-np.abs(contributions[places]), kind="stable")]
    return places, contributions[places]
