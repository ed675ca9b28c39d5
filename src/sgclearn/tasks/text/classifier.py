"""Documents classified by SGC on their graph of documents and words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from sgclearn.errors import InputError, InputTypeError, SgclearnWarning
from sgclearn.estimators.base import check_weight_decay
from sgclearn.estimators.labels import as_labels, class_weight_factors, encode_classes, labelled_mask
from sgclearn.estimators.search import Trial, make_folds
from sgclearn.graph.checks import positions_of
from sgclearn.operators import Operator
from sgclearn.propagation.compute import Compute, check_compute
from sgclearn.tables.messages import counted
from sgclearn.tasks.text.design import DocumentDesign, Hops, OnProgress
from sgclearn.tasks.text.documents import WordTable
from sgclearn.tasks.text.graph import TextGraph, TextGraphBuilder
from sgclearn.tasks.text.prediction import TextPrediction
from sgclearn.tasks.text.tokens import check_documents
from sgclearn.tasks.text.training import HowToSolve, LabelledDocuments, TextFit, check_memory, choose_decay
from sgclearn.validation.parameters import COUNT, MOST_HOPS, Choice, Whole

Array = NDArray[np.float64]
OnStage = Callable[[str], OnProgress]
# The range that the paper searches.
DEFAULT_DECAYS = tuple(float(f"{decay:.3g}") for decay in np.logspace(-6, 0, 13))
_PATIENCE = 3


class TextSGCClassifier(TextPrediction):
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
        "exact" finds the optimum. "paper" follows the paper: 3 steps of 20 L-BFGS iterations from Xavier's start.
    cv : int >= 2, default 5
        Folds over the labelled documents to choose the weight decay on, where `fit` gets no validation documents.
    refit_with_validation : bool, default False
        Whether the final model also learns from the validation documents given to `fit`; after folds it learns from
        every labelled one.
    class_weight : None, "balanced" or dict
    tol : float, default 1e-8
        "exact" stops when the gradient norm is `tol` times its norm at zero weights.
    max_iter : int, optional
        Most iterations of "exact", 1000 if not given.
    random_state : int or None, default 2019
        Seed of the folds and of the start of "paper".
    unlabeled : default -1
        The label that means "no label". None, NaN and the empty text always mean that.
    compute : Compute, optional
        Engine, threads and memory limit; the plan is always "implicit".

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
        self, docs: Any, y: Any, *, validation: Any = None, on_stage: OnStage | None = None
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
        stage = on_stage or _silent
        how = HowToSolve(self.recipe, self.tol, self.max_iter, self.random_state)
        Whole("leave it out for the default", low=1, high=MOST_HOPS).check("n_hops", self.n_hops)
        decays, chosen = self._decays()
        if validation is not None and not chosen:
            raise InputError(
                f"validation documents are for choosing the weight decay: got weight_decay={self.weight_decay!r}; "
                "leave one of them out."
            )
        compute = check_compute(self.compute)
        Choice(values=("auto", "implicit"), sentence="'auto' or 'implicit' for texts").check(
            "plan", compute.plan
        )
        docs = docs if isinstance(docs, TextGraph) else check_documents(docs)
        y = self._check_y(docs, y)
        text_graph = docs if isinstance(docs, TextGraph) else self._build(docs, stage)
        known = labelled_mask(y, self.unlabeled)
        has_words = np.diff(text_graph.graph.indptr[: text_graph.n_documents + 1]) > 0
        rows, codes = self._labels(y, known, has_words)
        hops = Hops(Operator(text_graph.graph), compute.load_engine())
        learning = Hops(hops.operator, hops.engine, how.precision)
        design = DocumentDesign(learning, rows, self.n_hops)
        self.memory_ = check_memory(design, len(self.classes_), self.recipe, compute.memory_limit)
        folds, parts = self._parts(rows, codes, validation, chosen, text_graph.n_documents)
        weights = class_weight_factors(self.class_weight, self.classes_, codes, np.ones(len(rows)))
        documents = LabelledDocuments(
            design, codes, len(self.classes_), weights, parts, how, stage("scaling the columns")
        )
        left_out = 0 if validation is not None and not self.refit_with_validation else None
        if chosen:
            patience = _PATIENCE if self.weight_decay is None else None
            choosing = stage("choosing the weight decay")
            trials = choose_decay(documents, folds, decays, self.n_hops, choosing, patience)
            decays = [self._keep_trials(trials)]
        problem = documents.problem(left_out, decays)
        fit = problem.finish(problem.solve(decays[0], on_iteration=stage("solving")))
        learned = codes if left_out is None else codes[parts != left_out]
        self.class_prior_ = np.bincount(learned, minlength=len(self.classes_)) / len(learned)
        self._keep(text_graph, hops, fit, decays[0], has_words)
        return self

    def _decays(self) -> tuple[list[float], bool]:
        """Candidates, and whether one has to be chosen."""
        given = self.weight_decay
        if given is None:
            return list(DEFAULT_DECAYS), True
        if np.ndim(given) and isinstance(given, Sequence | np.ndarray):
            if len(given) == 0:
                raise InputError(
                    "weight_decay needs at least one candidate: got an empty list; leave it out."
                )
            return sorted({check_weight_decay(decay) for decay in given}), True
        return [check_weight_decay(given)], False

    def _check_y(self, docs: Any, y: Any) -> NDArray[Any]:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        y = column_or_1d(as_labels(y))
        n = docs.n_documents if isinstance(docs, TextGraph) else len(docs)
        if len(y) != n:
            raise InputError(
                f"y must have one label a document: got {counted(len(y), 'label')} and {counted(n, 'document')}; "
                "mark documents without a label with -1, None or an empty text."
            )
        return np.asarray(y)

    def _build(self, docs: Any, stage: OnStage) -> TextGraph:
        builder = TextGraphBuilder() if self.builder is None else self.builder
        if not isinstance(builder, TextGraphBuilder):
            raise InputTypeError(
                f"builder must be a TextGraphBuilder: got {builder!r}; write TextGraphBuilder(analyzer=...)."
            )
        return builder.build(
            docs, stage("building the graph"), memory_limit=check_compute(self.compute).memory_limit
        )

    def _labels(
        self, y: NDArray[Any], known: NDArray[np.bool_], has_words: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Labelled documents with words, and the code of each; sets `classes_`."""
        if known.any():
            check_classification_targets(np.asarray(y[known].tolist()))
        usable = known & has_words
        labels = sorted(set(y[usable].tolist()), key=str)
        if len(labels) < 2:
            got = "none" if not labels else f"one class, {labels[0]!r}"
            raise InputError(
                f"labelled documents with words must be of at least two classes: got {got} in "
                f"{counted(len(y), 'document')}; label a document of another class."
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
        self.classes_, codes = encode_classes(y, usable)
        return np.flatnonzero(usable), codes

    def _parts(
        self,
        rows: NDArray[np.intp],
        codes: NDArray[np.intp],
        validation: Any,
        chosen: bool,
        n_documents: int,
    ) -> tuple[list[int], NDArray[np.intp]]:
        """Parts to judge on, and the part of every labelled document."""
        parts = np.zeros(len(rows), dtype=np.intp)
        if not chosen:
            return [], parts
        if validation is not None:
            held_out = np.isin(rows, positions_of(validation, n_documents))
            if held_out.all() or not held_out.any():
                raise InputError(
                    "validation must name some of the labelled documents and leave others to learn from: got "
                    f"{int(held_out.sum()):,} of {len(rows):,}."
                )
            return [0], np.where(held_out, 0, 1)
        COUNT.check("cv", self.cv)
        folds = make_folds(codes, self.cv, self.random_state)
        for number, (_, held) in enumerate(folds):
            parts[held] = number
        return list(range(len(folds))), parts

    def _keep_trials(self, trials: list[Trial]) -> float:
        best = min(trials, key=Trial.rank)
        names = ("weight_decay", "score", "score_std", "log_loss")
        self.cv_results_ = [{name: getattr(trial, name) for name in names} for trial in trials]
        self.best_score_ = best.score
        return best.weight_decay

    def _keep(
        self, text_graph: TextGraph, hops: Hops, fit: TextFit, decay: float, has_words: NDArray[np.bool_]
    ) -> None:
        n_documents = text_graph.n_documents
        self.text_graph_, self.n_documents_, self.n_hops_ = text_graph, n_documents, int(self.n_hops)
        self.words_ = WordTable.of(text_graph)
        self.coef_, self.intercept_ = np.ascontiguousarray(fit.Theta.T), fit.b
        self.weight_decay_, self.n_iter_, self.converged_ = decay, fit.result.n_iter, fit.result.converged
        self.gradient_ratio_, self.loss_ = fit.result.gradient_ratio, fit.result.loss
        tables, walked = [], fit.Theta
        for _ in range(self.n_hops_):
            tables.append(walked[n_documents:])
            walked = hops(walked)
        self.word_scores_ = np.stack(tables)  # (K, W, C)
        self.document_logits_ = self._with_prior(walked[:n_documents] + fit.b, has_words)
        self.transduction_ = self._classes_of(self.document_logits_)
        if not self.converged_:
            warnings.warn(
                f"the solver stopped after {self.n_iter_} iterations with a gradient of {self.gradient_ratio_:.1e} of "
                f"the start's, above tol={self.tol:g}: raise max_iter, tol or weight_decay.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _silent(text: str) -> OnProgress:
    return lambda done, of: None
