"""Prediction and explanation by a fitted text model, which needs the graph for some explanations only."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.estimators.loss import Sigmoid, Softmax
from sgclearn.tables.messages import counted
from sgclearn.tasks.text.documents import WordTable, new_logits
from sgclearn.tasks.text.explain import Explanation, explain_document, strongest_words
from sgclearn.validation.parameters import COUNT

Array = NDArray[np.float64]


class TextPrediction(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What a fitted `TextSGCClassifier` can be asked."""

    classes_: NDArray[Any]
    class_prior_: Array
    coef_: Array
    intercept_: Array
    word_scores_: Array
    words_: WordTable
    text_graph_: Any  # a TextGraph, or None for a model that was loaded without
    document_logits_: Array
    n_documents_: int
    n_hops_: int

    def _with_prior(self, logits: Array, has_words: NDArray[np.bool_]) -> Array:
        """Logits with those of documents without words replaced by the shares of the classes."""
        if not has_words.all():
            prior = np.log(np.maximum(self.class_prior_, np.finfo(np.float64).tiny))
            logits[~has_words] = prior[1:] - prior[:1] if len(prior) == 2 else prior
        return logits

    def _logits(self, docs: Any) -> Array:
        """Logits (m, C) of new documents, one column for two classes; of those of the fit if docs is None."""
        check_is_fitted(self)
        if docs is None:
            if not hasattr(self, "document_logits_"):
                raise InputError(
                    "the documents of the fit are not stored with a model: got none to predict; pass documents."
                )
            return self.document_logits_
        rows, loops = self.words_.join(docs)
        has_words = np.diff(rows.indptr) > 0
        if not has_words.all():
            warnings.warn(
                f"{int((~has_words).sum()):,} of {counted(len(has_words), 'document')} have no word that the model "
                "knows: their prediction is the shares of the classes among the labelled documents.",
                SgclearnWarning,
                stacklevel=3,
            )
        return self._with_prior(new_logits(rows, loops, self.word_scores_) + self.intercept_, has_words)

    def _classes_of(self, logits: Array) -> NDArray[Any]:
        codes = (logits[:, 0] > 0).astype(int) if len(self.classes_) == 2 else logits.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def decision_function(self, docs: Any = None) -> Array:
        """Logits (m, C), or for two classes the logit of the second (m,); parameters are those of `predict`."""
        logits = self._logits(docs)
        return logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, docs: Any = None) -> Array:
        """Probability of every class (m, C), columns in the order of `classes_`; parameters as in `predict`."""
        logits = self._logits(docs)
        if len(self.classes_) > 2:
            return Softmax.probabilities(logits)
        second = Sigmoid.probabilities(logits)
        return np.hstack([Sigmoid.probabilities(-logits), second])

    def predict(self, docs: Any = None) -> NDArray[Any]:
        """The most probable class of every document.

        Parameters
        ----------
        docs : sequence of str, optional
            New documents. A text of the fit counts as a new one here; None is the documents of the fit
            (`transduction_`).
        """
        return self._classes_of(self._logits(docs))

    def top_words(self, label: Any = None, n: int = 10) -> Any:
        """The words that speak most for a class, the strongest first.

        Parameters
        ----------
        label : optional
            A class; every class if not given.
        n : int, default 10

        Returns
        -------
        list of (str, float), or a dict of them by class
            The number times the weight of a document's step onto the word, which lies between 0 and 1, is what the
            word adds to the logit of the class; see ``explain(..., by="text")``.
        """
        check_is_fitted(self)
        COUNT.check("n", n)
        if label is None:
            return {name: strongest_words(self, name, n) for name in self.classes_.tolist()}
        return strongest_words(self, label, n)

    def explain(self, doc: int | str, label: Any = None, *, by: str = "features") -> Explanation:
        """What decided one document: contributions that sum to its logit.

        Parameters
        ----------
        doc : int or str
            The position of a document of the fit, or a new text.
        label : optional
            The class whose logit is explained; the predicted one if not given.
        by : {"features", "text"}, default "features"
            "features": every word and every document of the graph within `n_hops`, with its own weight. "text": the
            words of the document itself, each with all that it leads to.
        """
        check_is_fitted(self)
        return explain_document(self, doc, label, by)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags
