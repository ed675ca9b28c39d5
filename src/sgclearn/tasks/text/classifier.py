"""Documents classified by SGC on their graph of documents and words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sgclearn.errors import (
    Alternatives,
    InputError,
    InputTypeError,
    MemoryLimitError,
    Setting,
    SgclearnWarning,
)
from sgclearn.estimators import SGCClassifier, SGCClassifierCV
from sgclearn.estimators.labels import (
    as_labels,
    class_codes,
    class_margins,
    class_probabilities,
    labelled_mask,
)
from sgclearn.estimators.loss import Link, Sigmoid
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.tables.messages import counted
from sgclearn.tasks.protocol import OnStage, lazily, silent
from sgclearn.tasks.text.documents import WordTable, hops_of, new_logits
from sgclearn.tasks.text.explain import Explanation, explain_document, strongest_words
from sgclearn.tasks.text.graph import TextGraph, TextGraphBuilder
from sgclearn.tasks.text.tokens import check_documents
from sgclearn.validation.arrays import positions_of
from sgclearn.validation.memory import format_bytes, memory_limit_bytes
from sgclearn.validation.parameters import COUNT, MOST_HOPS, Choice, Whole

Array = NDArray[np.float64]
# The range that the paper searches.
DEFAULT_DECAYS = tuple(float(f"{decay:.3g}") for decay in np.logspace(-6, 0, 13))
SOLVERS = {"exact": "lbfgs", "paper": "lbfgs-steps"}
_PATIENCE = 3
_OF_LINEAR = ("classes_", "coef_", "intercept_", "weight_decay_", "n_hops_", "n_iter_", "converged_", "gradient_ratio_",
              "loss_", "plan_", "best_score_", "cv_results_")  # fmt: skip


class _Documents:
    """Two classes are one yes/no question, as in the paper's text experiments."""

    classes_: NDArray[Any]

    def _targets(self, known: NDArray[Any]) -> tuple[type[Link], Array]:
        if len(self.classes_) == 2:
            return Sigmoid, known[:, None].astype(np.float64)
        found: tuple[type[Link], Array] = super()._targets(known)  # type: ignore[misc]
        return found


class _Fixed(_Documents, SGCClassifier):
    """At one weight decay."""


class _Chosen(_Documents, SGCClassifierCV):
    """At the weight decay that does best on held-out labels."""


class TextSGCClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify documents by SGC on one graph of documents and words: `softmax(minmax(S^K) Theta)`.

    Labelled and unlabelled documents become one graph (see `TextGraphBuilder`); its nodes have no features but
    themselves, so the propagated features are the rows of `S^K`. Each column is scaled to 0..1 over the labelled
    documents, there is no bias, and the mean cross-entropy plus `weight_decay / 2 |Theta|^2` is minimised over the
    scaled columns. Two classes are one yes/no question (sigmoid). `S^K` is never formed.

    Parameters
    ----------
    builder : TextGraphBuilder, optional
        How texts become a graph; `TextGraphBuilder()` if not given.
    n_hops : int >= 1, default 2
        K. Two hops reach the words near the words of a document and the documents that share a word with it.
    weight_decay : float >= 0, sequence of float, or None
        A number is used as it is. Of several the one that does best on held-out labels is used; None is 13 values
        from 1 down to 1e-6, the range that the paper searches, until three in a row do worse on held-out labels.
    recipe : {"exact", "paper"}, default "exact"
        "exact" finds the optimum. "paper" follows the paper: 3 steps of 20 L-BFGS iterations from Xavier's start,
        `solver="lbfgs-steps"` of `SGCClassifier`.
    cv : int >= 2, default 5
        Folds over the labelled documents to choose the weight decay on, where `fit` gets no validation documents.
    refit_with_validation : bool, default False
        Whether the final model also learns from the validation documents given to `fit`; after folds it learns from
        every labelled one.
    class_weight : None, "balanced" or dict
    tol : float, default 1e-8
        "exact" stops when the gradient norm is `tol` times its norm at zero weights.
    max_iter : int, optional
        Most iterations: 1000 of "exact", 60 of "paper" if not given.
    random_state : int or None, default 2019
        Seed of the folds and of the start of "paper".
    unlabeled : default -1
        The label that means "no label". None, NaN and the empty text always mean that.
    compute : Compute, optional
        Plan, engine, threads and memory limit.

    Attributes
    ----------
    classes_ : ndarray (C,)
    transduction_ : ndarray (D,)
        Predicted class of every document of the fit.
    coef_ : ndarray (C, D + W)
        Weights of the unscaled columns, documents first; one row for two classes.
    intercept_ : ndarray (C,)
        What the shift of the scaling leaves; 0 where every column is 0 in some labelled document.
    text_graph_ : TextGraph
    weight_decay_ : float
    best_score_, cv_results_
        Accuracy on held-out labels of the chosen weight decay, and of every other, where one was chosen.
    linear_ : SGCClassifier or SGCClassifierCV
        The model over the nodes of the graph, of which the documents with words are the samples.
    class_prior_ : ndarray (C,)
        Shares of the classes among the labelled documents.
    memory_ : int
        Estimated bytes at the peak of the fit, the graph included.
    n_iter_, converged_, gradient_ratio_, loss_
        How the solver ended.

    Notes
    -----
    Paper: Section 5 (text classification) and Table 4. Cost: O(K nnz(S) C) an iteration.

    A new document joins through the words that the graph knows, with idf and degrees as they were at the fit: its
    prediction does not depend on the other new ones. A document without any known word, new or fitted, gets the
    shares of the classes among the labelled documents as its probabilities, and a warning says how many there are.

    Examples
    --------
    >>> from sgclearn import TextSGCClassifier
    >>> docs = ["oil barrel price", "barrel of crude oil", "wheat corn harvest", "corn crop", "crude", "crop harvest"]
    >>> y = ["energy", "energy", "farm", "farm", "", ""]
    >>> model = TextSGCClassifier(weight_decay=1e-3).fit(docs, y)
    >>> model.transduction_[4:].tolist()
    ['energy', 'farm']
    >>> model.predict(["the price of a barrel", "a wheat field"]).tolist()
    ['energy', 'farm']
    """

    text_graph_: Any  # a TextGraph, or None for a model that was loaded without

    def __init__(
        self,
        builder: TextGraphBuilder | None = None,
        *,
        n_hops: int = 2,
        weight_decay: float | Sequence[float] | None = None,
        recipe: str = "exact",
        cv: int = 5,
        refit_with_validation: bool = False,
        class_weight: Any = None,
        tol: float = 1e-8,
        max_iter: int | None = None,
        random_state: int | None = 2019,
        unlabeled: Any = -1,
        compute: Compute | None = None,
    ) -> None:
        self.builder = builder
        self.n_hops = n_hops
        self.weight_decay = weight_decay
        self.recipe = recipe
        self.cv = cv
        self.refit_with_validation = refit_with_validation
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.compute = compute

    def fit(
        self, docs: Any, y: Any, *, validation: Any = None, on_stage: OnStage = silent
    ) -> TextSGCClassifier:
        """Build the graph of all documents and fit to the labelled ones.

        Parameters
        ----------
        docs : sequence of str, or TextGraph
            Labelled and unlabelled documents together; or their graph, to fit several models on one.
        y : array (D,)
            A label a document; `unlabeled` where there is none.
        validation : array of int or bool, optional
            Labelled documents to choose the weight decay on.
        on_stage : callable, optional
            Called as `on_stage(text)` at the beginning of every stage; what it gives is called as `f(done, of)`.
        """
        linear = self._linear()
        docs = docs if isinstance(docs, TextGraph) else check_documents(docs)
        y = self._check_y(docs, y)
        text_graph = docs if isinstance(docs, TextGraph) else self._build(docs, on_stage)
        graph, has_words = text_graph.graph, text_graph.has_words
        graph_bytes = graph.n_stored * (8 + graph.indices.itemsize)
        linear.compute = _beside(graph_bytes, self.compute)
        learned = self._learnable(y, has_words)
        given: dict[str, Any] = {
            "on_progress": lazily(on_stage, "scaling the columns"),
            "on_iteration": lazily(on_stage, "solving"),
        }
        if isinstance(linear, _Chosen):
            given["on_step"] = lazily(on_stage, "choosing the weight decay")
        if validation is not None:
            held_out = self._held_out(validation, len(y))
            given["validation"] = held_out[has_words]
            learned &= ~held_out | self.refit_with_validation
        try:
            linear.fit(None, y[has_words], graph, readout=text_graph.readout(has_words), **given)
        except MemoryLimitError as error:
            raise MemoryLimitError(
                f"this fit must fit into memory beside its graph of {format_bytes(graph_bytes)}",
                error.got,
                (
                    *("raise ", Setting("memory_limit"), ", or build a smaller graph with "),
                    Alternatives(Setting("min_df"), Setting("max_words")),
                ),
            ) from error
        self.adopt(linear)
        self.text_graph_, self.n_documents_, self.words_ = text_graph, len(y), WordTable.of(text_graph)
        self.memory_ = linear.plan_.cost.memory + graph_bytes
        self.class_prior_ = np.array([np.mean(y[learned] == label) for label in self.classes_.tolist()])
        reached = hops_of(graph, self.coef_.T, self.n_hops_ - 1, self.compute)
        self.word_scores_ = np.stack([scores[len(y) :] for scores in reached])  # (K, W, C)
        logits = np.zeros((len(y), len(self.coef_)))
        logits[has_words] = linear.transduction_logits_
        self.document_logits_ = self._with_prior(logits, has_words)
        self.transduction_ = self._classes_of(self.document_logits_)
        return self

    def _linear(self) -> SGCClassifier | SGCClassifierCV:
        """The model over the graph, with the settings that text has."""
        Choice(values=tuple(SOLVERS)).check("recipe", self.recipe)
        Whole("leave it out for the default", low=1, high=MOST_HOPS).check("n_hops", self.n_hops)
        settings: dict[str, Any] = {
            "scale": "minmax",
            "fit_intercept": False,
            "solver": SOLVERS[self.recipe],
            "class_weight": self.class_weight,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "random_state": self.random_state,
            "unlabeled": self.unlabeled,
        }
        decays: Any = DEFAULT_DECAYS if self.weight_decay is None else self.weight_decay
        if not np.ndim(decays):
            return _Fixed(self.n_hops, weight_decay=decays, **settings)
        COUNT.check("cv", self.cv)
        chosen = _Chosen(
            self.n_hops,
            weight_decay=decays,
            cv=self.cv,
            refit_with_validation=self.refit_with_validation,
            **settings,
        )
        chosen._patience = _PATIENCE if self.weight_decay is None else None
        return chosen

    def _held_out(self, validation: Any, n_documents: int) -> NDArray[np.bool_]:
        if self.weight_decay is not None and not np.ndim(self.weight_decay):
            raise InputError(
                "validation documents are for choosing the weight decay",
                Setting("weight_decay", self.weight_decay),
                "leave one of them out",
                argument="validation",
            )
        held_out = np.zeros(n_documents, dtype=bool)
        held_out[positions_of(validation, n_documents)] = True
        return held_out

    def _check_y(self, docs: Any, y: Any) -> NDArray[Any]:
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None", argument="y"
            )
        y = column_or_1d(as_labels(y))
        n = docs.n_documents if isinstance(docs, TextGraph) else len(docs)
        if len(y) != n:
            raise InputError(
                "y must have one label a document",
                f"{counted(len(y), 'label')} and {counted(n, 'document')}",
                "mark documents without a label with -1, None or an empty text",
                argument="y",
            )
        return np.asarray(y)

    def _build(self, docs: Any, on_stage: OnStage) -> TextGraph:
        builder = TextGraphBuilder() if self.builder is None else self.builder
        if not isinstance(builder, TextGraphBuilder):
            raise InputTypeError(
                "builder must be a TextGraphBuilder",
                repr(builder),
                "write TextGraphBuilder()",
                argument="builder",
            )
        limit = check_compute(self.compute).memory_limit
        return builder.build(docs, on_stage("building the graph"), memory_limit=limit)

    def _learnable(self, y: NDArray[Any], has_words: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which documents have a label and words; a warning about those without words."""
        known = labelled_mask(y, self.unlabeled)
        labels = sorted(set(y[known & has_words].tolist()), key=str)
        if len(labels) < 2:
            got = "none" if not labels else f"one class, {labels[0]!r}"
            raise InputError(
                "labelled documents with words must be of at least two classes",
                f"{got} in {counted(len(y), 'document')}",
                "label a document of another class",
            )
        empty = int((~has_words).sum())
        if empty:
            warnings.warn(
                f"{empty:,} of {counted(len(y), 'document')} have no word that tells documents apart, "
                f"{int((known & ~has_words).sum()):,} of them labelled: they are not learned from, and their "
                "prediction is the shares of the classes.",
                SgclearnWarning,
                stacklevel=3,
            )
        return np.asarray(known & has_words)

    def adopt(self, linear: SGCClassifier | SGCClassifierCV) -> None:
        """Take what a model over the graph has learned."""
        self.linear_ = linear
        for name in _OF_LINEAR:
            self.__dict__.pop(name, None)  # of an earlier fit
            if hasattr(linear, name):
                setattr(self, name, getattr(linear, name))

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
                    "the documents of the fit are not stored with a model",
                    "none to predict",
                    "pass documents",
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
        return np.asarray(self.classes_[class_codes(logits)])

    def decision_function(self, docs: Any = None) -> Array:
        """Logits (m, C), or for two classes the logit of the second (m,); parameters are those of `predict`."""
        return class_margins(self._logits(docs))

    def predict_proba(self, docs: Any = None) -> Array:
        """Probability of every class (m, C), columns in the order of `classes_`; parameters as in `predict`."""
        return class_probabilities(self._logits(docs))

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


def _beside(graph_bytes: int, compute: Compute | None) -> Compute:
    """Settings for a fit whose graph counts towards a memory limit that was given."""
    given = check_compute(compute)
    if given.memory_limit is None:
        return given
    return replace(given, memory_limit=max(memory_limit_bytes(given.memory_limit) - graph_bytes, 1))
