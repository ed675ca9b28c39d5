"""Relations between two entities of a sentence, by one linear model over propagated word vectors and sparse clues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import InputError, InputTypeError, Setting
from sgclearn.estimators.base import check_weight_decay
from sgclearn.estimators.fitting import LinearFit, PreparedFit, SolverSettings
from sgclearn.estimators.labels import class_weight_factors, one_hot
from sgclearn.estimators.loss import Softmax
from sgclearn.features import WordVectors
from sgclearn.propagation.design import Design, ExplicitDesign
from sgclearn.propagation.propagate import check_n_hops
from sgclearn.propagation.side_by_side import SideBySideDesign
from sgclearn.tasks.relations.clues import Vocabulary, clue_names
from sgclearn.tasks.relations.readouts import ROLES, read_out, token_vectors
from sgclearn.tasks.relations.scoring import evaluate_relations
from sgclearn.tasks.relations.sentences import Sentences
from sgclearn.validation.parameters import Number, Whole, check_type, shown

Array = NDArray[np.float64]
DEFAULT_ROLES = ("subject", "object", "path", "between")
DEFAULT_DECAYS = (1e-3, 3e-4, 1e-4, 3e-5)


class SGCRelationClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What two entities in a sentence have to do with each other: `softmax([Z, B] Theta + b)`.

    `Z = [P_r S^k X]` are word vectors X propagated over the dependency trees for k = 0, ..., K hops and read out as
    means over the tokens of every role r; B are sparse clues, such as the words between the entities and the
    dependency path. Minimises the mean cross-entropy plus `weight_decay / 2 |Theta|^2`; the bias is free.

    Parameters
    ----------
    vectors : WordVectors, optional
        From `read_word_vectors`; without them the clues decide alone.
    n_hops : int >= 0, default 2
        K: `Z` has all hops from 0 to K side by side.
    roles : sequence of {"subject", "object", "path", "between", "sentence"}
        Readouts; "path" are the tokens on the dependency path outside of the entities.
    clues : bool, default True
        Whether sparse words and paths are used.
    min_count : int >= 1, default 1
        Training sentences that a clue must occur in.
    vector_weight : float > 0, default 3
        Size of the standardised row of Z next to clues of size 1.
    weight_decay : float, or sequence of float
        Several are tried on the validation sentences of `fit`, largest first; the best of the score that
        `evaluate_relations` chooses is taken.
    class_weight : None, "balanced" or dict
    normalization, gamma
        Of S; see `Operator`.
    tol : float, default 1e-4
        The solver stops when the gradient norm is `tol` times its norm at zero weights.
    max_iter : int, optional

    Attributes
    ----------
    classes_ : ndarray (C,)
    coef_ : ndarray (C, R (K + 1) d + D)
        Columns of Z, then those of the clues.
    intercept_ : ndarray (C,)
    vocabulary_ : Vocabulary
        The D clues.
    weight_decay_, best_score_, scores_
        The weight decay that was taken, its validation score, and the score of each (None without validation).
    n_known_tokens_ : int
        Training tokens that have a vector.

    Notes
    -----
    Paper: Table 6, where C-SGC has the same propagation inside a neural network. New sentences are new rows of P.

    Examples
    --------
    >>> from sgclearn.tasks.relations import SGCRelationClassifier, sentences_from_records
    >>> def record(text, relation):
    ...     heads = [2, 0, 2]
    ...     return {"token": text.split(), "stanford_head": heads, "relation": relation,
    ...             "subj_start": 0, "subj_end": 0, "obj_start": 2, "obj_end": 2}
    >>> known = sentences_from_records([record("rain caused floods", "Cause-Effect(e1,e2)"),
    ...                                 record("smoke caused coughs", "Cause-Effect(e1,e2)"),
    ...                                 record("cars contain engines", "Component-Whole(e2,e1)"),
    ...                                 record("houses contain rooms", "Component-Whole(e2,e1)")])
    >>> model = SGCRelationClassifier(weight_decay=1e-2).fit(known)
    >>> model.predict(sentences_from_records([record("storms caused damage", None)])).tolist()
    ['Cause-Effect(e1,e2)']
    """

    def __init__(
        self,
        vectors: WordVectors | None = None,
        *,
        n_hops: int = 2,
        roles: Sequence[str] = DEFAULT_ROLES,
        clues: bool = True,
        min_count: int = 1,
        vector_weight: float = 3.0,
        weight_decay: float | Sequence[float] = 1e-4,
        class_weight: Any = None,
        normalization: str = "sym",
        gamma: float | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
    ) -> None:
        self.vectors = vectors
        self.n_hops = n_hops
        self.roles = roles
        self.clues = clues
        self.min_count = min_count
        self.vector_weight = vector_weight
        self.weight_decay = weight_decay
        self.class_weight = class_weight
        self.normalization = normalization
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self,
        sentences: Sentences,
        y: Sequence[str] | None = None,
        *,
        validation: Sentences | None = None,
        on_step: Any = None,
    ) -> SGCRelationClassifier:
        """Learn from labelled sentences.

        Parameters
        ----------
        sentences : Sentences
        y : sequence of str (m,), optional
            The labels of the sentences if not given; None marks a sentence without one.
        validation : Sentences, optional
            Labelled sentences to choose the weight decay on; they are not learned from.
        on_step : callable, optional
            Called as `on_step(done, of)` after every weight decay.
        """
        self._check()
        decays = self._decays(validation)
        labels = _labels(sentences, y)
        known = np.flatnonzero([label is not None for label in labels])
        if len({labels[at] for at in known}) < 2:
            raise InputError(
                "sentences must have two relations or more",
                f"{len({labels[at] for at in known})}",
                "label more",
            )
        train = sentences if len(known) == len(sentences) else sentences.subset(known)
        self.classes_, codes = np.unique(
            np.array([labels[at] for at in known], dtype=np.str_), return_inverse=True
        )
        self.classes_ = self.classes_.astype(object)
        design = self._learn_columns(train)
        weights = class_weight_factors(self.class_weight, self.classes_, codes, np.ones(len(codes)))
        settings = SolverSettings(penalize_intercept=False, tol=self.tol, max_iter=self.max_iter)
        Y = one_hot(codes, len(self.classes_))
        prepared = PreparedFit(design, Y, weights, Softmax, settings, min(decays), len(decays))
        self._choose(prepared, decays, validation, on_step)
        return self

    def _check(self) -> None:
        check_n_hops(self.n_hops)
        if self.vectors is not None:
            check_type(self.vectors, WordVectors, "vectors", "read them with read_word_vectors")
        roles = self.roles if isinstance(self.roles, list | tuple) else ()
        if not roles or any(role not in ROLES for role in roles):
            expected = f"roles must be some of {', '.join(ROLES)}"
            raise InputError(expected, shown(self.roles), "choose from these", argument="roles")
        check_type(self.clues, bool, "clues", "say whether words and paths are used")
        if self.vectors is None and not self.clues:
            raise InputError("a model needs vectors or clues", "neither", "give vectors", argument="vectors")
        Whole("1 keeps every clue", low=1).check("min_count", self.min_count)
        Number("3 is the default", open=True).check("vector_weight", self.vector_weight)

    def _decays(self, validation: Sentences | None) -> list[float]:
        given = self.weight_decay
        values: list[Any] = [*given] if isinstance(given, list | tuple) else [given]
        decays = sorted({check_weight_decay(value) for value in values}, reverse=True)
        if not decays:
            raise InputError(
                "weight_decay must be at least one number", "none", "give one", argument="weight_decay"
            )
        if validation is not None:
            _check_sentences(validation, "validation")
        if len(decays) > 1 and (validation is None or validation.labels is None):
            raise InputError(
                ("several values of ", Setting("weight_decay"), " need labelled validation sentences"), "none",
                "pass validation=, or one value", argument="validation",
            )  # fmt: skip
        return decays

    def _learn_columns(self, train: Sentences) -> Design:
        """Vocabulary and statistics of the training sentences, and their design."""
        self.roles_ = tuple(self.roles)
        names = clue_names(train) if self.clues else []
        self.vocabulary_ = Vocabulary.of(names, self.min_count)
        self.n_dimensions_ = 0 if self.vectors is None else self.vectors.n_dimensions
        width = len(self.roles_) * (self.n_hops + 1) * self.n_dimensions_
        self.mean_, self.factor_ = np.zeros(width), np.ones(width)
        Z, self.n_known_tokens_ = self._vector_rows(train)
        if Z is not None:
            self.mean_ = Z.mean(axis=0)
            spread = Z.std(axis=0)
            size = self.vector_weight / np.sqrt(width)
            self.factor_ = np.divide(size, spread, out=np.zeros(width), where=spread > 0)
        return self._design(Z, names)

    def _vector_rows(self, sentences: Sentences) -> tuple[Array | None, int]:
        """`Z` (m, R (K + 1) d) as it is, without scaling, and how many tokens have a vector."""
        if self.vectors is None:
            return None, 0
        X, n_known = token_vectors(sentences, self.vectors)
        Z = read_out(sentences.forest, X, self.roles_, self.n_hops, self.normalization, self.gamma)
        return Z, n_known

    def _design(self, Z: Array | None, names: Sequence[Sequence[str]]) -> Design:
        blocks = [] if Z is None else [ExplicitDesign((Z - self.mean_) * self.factor_)]
        if self.clues:
            blocks.append(ExplicitDesign(self.vocabulary_.matrix(names)))
        return SideBySideDesign(blocks)

    def _rows(self, sentences: Sentences) -> Design:
        names = clue_names(sentences) if self.clues else []
        return self._design(self._vector_rows(sentences)[0], names)

    def _choose(
        self, prepared: PreparedFit, decays: list[float], validation: Sentences | None, on_step: Any
    ) -> None:
        view = labels = None
        if validation is not None:
            labels = _labels(validation, None)
            used = np.flatnonzero([label is not None for label in labels])
            labels = [labels[at] for at in used]
            view = prepared.view(self._rows(validation.subset(used)))
        self.scores_: dict[float, float] | None = None if view is None else {}
        best, start = None, None
        for done, decay in enumerate(decays, start=1):
            result = prepared.solve(decay, start)
            start = result.W
            score = 0.0
            if view is not None and labels is not None and self.scores_ is not None:
                guesses = self.classes_[prepared.logits(view, result.W).argmax(axis=1)].tolist()
                score = self.scores_[decay] = evaluate_relations(labels, guesses, n_resamples=0).value.value
            if best is None or score > best[0]:
                best = (score, decay, result)
            if on_step is not None:
                on_step(done, len(decays))
        if best is None:
            return
        self.best_score_ = None if view is None else best[0]
        self.weight_decay_, result = best[1], best[2]
        self._keep(prepared.finish(result))

    def _keep(self, fit: LinearFit) -> None:
        self.coef_ = np.ascontiguousarray(fit.Theta.T)
        self.intercept_ = fit.b
        self.n_iter_, self.converged_ = fit.result.n_iter, fit.result.converged
        self.gradient_ratio_, self.loss_ = fit.result.gradient_ratio, fit.result.loss

    def decision_function(self, sentences: Sentences) -> Array:
        """Logits (m, C)."""
        check_is_fitted(self, "coef_")
        _check_sentences(sentences)
        return np.asarray(self._rows(sentences).matmul(self.coef_.T) + self.intercept_)

    def predict_proba(self, sentences: Sentences) -> Array:
        """Probability of every relation (m, C), columns in the order of `classes_`."""
        return Softmax.probabilities(self.decision_function(sentences))

    def predict(self, sentences: Sentences) -> NDArray[Any]:
        """The most probable relation of every sentence (m,)."""
        return np.asarray(self.classes_[self.decision_function(sentences).argmax(axis=1)])

    def score(self, sentences: Sentences, y: Sequence[str] | None = None) -> float:
        """The score that `evaluate_relations` chooses: official macro-F1, or micro-F1."""
        predicted = self.predict(sentences).tolist()
        return evaluate_relations(_labels(sentences, y), predicted, n_resamples=0).value.value


def _check_sentences(sentences: Any, name: str = "sentences") -> None:
    check_type(sentences, Sentences, name, "read them with read_sentences")


def _labels(sentences: Sentences, y: Sequence[str | None] | None) -> list[Any]:
    """A relation or None for every sentence."""
    _check_sentences(sentences)
    if y is None and sentences.labels is None:
        raise InputError("sentences must have relations to learn from", "none", "give y, or label them")
    labels = sentences.labels if y is None else y
    found = labels.tolist() if isinstance(labels, np.ndarray) else labels
    if not isinstance(found, list | tuple) or not all(
        label is None or isinstance(label, str) for label in found
    ):
        raise InputTypeError(
            "y must be relations as texts, or None", shown(y), "name the relations", argument="y"
        )
    if len(found) != len(sentences):
        raise InputError(
            "y must have one relation a sentence", f"{len(found):,} for {len(sentences):,} sentences", "align it",
            argument="y",
        )  # fmt: skip
    return list(found)
