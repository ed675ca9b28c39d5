"""The words and the path that decided a relation: exact shares of the margin between two labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import InputError
from sgclearn.tasks.relations.classifier import SGCRelationClassifier
from sgclearn.tasks.relations.clues import clues
from sgclearn.tasks.relations.readouts import token_shares, token_vectors
from sgclearn.tasks.relations.sentences import Sentences
from sgclearn.validation.parameters import shown

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClueTerm:
    """One sparse clue: its text, the tokens it is read from (positions in the sentence), and its summand."""

    text: str
    tokens: tuple[int, ...]
    value: float


@dataclass(frozen=True, eq=False)
class RelationExplanation:
    """`margin = bias + sum of vector shares + sum of clues`, exactly, for one sentence.

    The margin is the logit of `label` minus that of `against`.

    Attributes
    ----------
    sentence : Sentences
        The sentence alone.
    label, against : str
    margin, bias : float
    probability : float
        Of `label`.
    vector_shares : ndarray (R, t)
        What the vector of each token adds through each readout, over all hops.
    roles : tuple of str
        The readouts.
    clues : tuple of ClueTerm
        Strongest first.
    """

    sentence: Sentences
    label: str
    against: str
    margin: float
    bias: float
    probability: float
    vector_shares: Array
    roles: tuple[str, ...]
    clues: tuple[ClueTerm, ...]

    @property
    def by_token(self) -> Array:
        """Share of every token (t,): its vector, and the clues that are read from it, in equal parts."""
        totals = np.asarray(self.vector_shares.sum(axis=0))
        for term in self.clues:
            for token in term.tokens:
                totals[token] += term.value / len(term.tokens)
        return totals

    @property
    def elsewhere(self) -> float:
        """The part of the margin that no token is the reason for: the bias and clues without a token."""
        return self.bias + sum(term.value for term in self.clues if not term.tokens)

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON."""
        forest = self.sentence.forest
        return {
            "id": self.sentence.ids[0],
            "label": self.label,
            "against": self.against,
            "margin": self.margin,
            "bias": self.bias,
            "probability": self.probability,
            "elsewhere": self.elsewhere,
            "tokens": [
                {
                    "token": word,
                    "contribution": float(value),
                    "vector": float(vector),
                    "on_path": bool(on_path),
                }
                for word, value, vector, on_path in zip(
                    self.sentence.tokens,
                    self.by_token,
                    self.vector_shares.sum(axis=0),
                    forest.path,
                    strict=True,
                )
            ],
            "roles": dict(zip(self.roles, self.vector_shares.sum(axis=1).tolist(), strict=True)),
            "clues": [
                {"clue": term.text, "tokens": list(term.tokens), "contribution": term.value}
                for term in self.clues
            ],
        }


def explain_relation(
    model: SGCRelationClassifier,
    sentences: Sentences,
    sentence: int,
    *,
    label: str | None = None,
    against: str | None = None,
) -> RelationExplanation:
    """Split the margin between two relations of one sentence into shares of tokens and clues.

    Parameters
    ----------
    model : SGCRelationClassifier
        Fitted.
    sentences : Sentences
    sentence : int
        Which of them.
    label, against : str, optional
        The predicted relation and the runner-up if not given.
    """
    check_is_fitted(model, "coef_")
    if not 0 <= sentence < len(sentences):
        raise InputError(f"sentence must lie in 0 to {len(sentences) - 1}", str(sentence), "count from 0")
    one = sentences.subset(np.array([sentence], dtype=np.intp))
    logits = model.decision_function(one)[0]
    chosen = _class(model, label, int(logits.argmax()), "label")
    others = np.delete(np.arange(len(logits)), chosen)
    rival = _class(model, against, int(others[logits[others].argmax()]), "against")
    weights = model.coef_[chosen] - model.coef_[rival]
    width = len(model.mean_)
    bias = float(model.intercept_[chosen] - model.intercept_[rival])
    shares = np.zeros((len(model.roles_), one.n_tokens))
    if model.vectors is not None:
        scaled = weights[:width] * model.factor_
        bias -= float(model.mean_ @ scaled)
        X, _ = token_vectors(one, model.vectors)
        shares = token_shares(
            one.forest, X, model.roles_, model.n_hops, model.normalization, model.gamma, scaled
        )
    terms = []
    for text, tokens in clues(one, 0) if model.clues else []:
        column = model.vocabulary_.column(text)
        if column is not None:
            terms.append(ClueTerm(text, tokens, float(weights[width + column])))
    shifted = np.exp(logits - logits.max())
    return RelationExplanation(
        one,
        str(model.classes_[chosen]),
        str(model.classes_[rival]),
        float(logits[chosen] - logits[rival]),
        bias,
        float(shifted[chosen] / shifted.sum()),
        shares,
        model.roles_,
        tuple(sorted(terms, key=lambda term: -abs(term.value))),
    )


def _class(model: SGCRelationClassifier, wanted: str | None, default: int, argument: str) -> int:
    if wanted is None:
        return default
    classes = model.classes_.tolist()
    if wanted not in classes:
        raise InputError(
            f"{argument} must be a relation of the fit", shown(wanted), f"choose from {', '.join(classes)}",
            argument=argument,
        )  # fmt: skip
    return int(classes.index(wanted))
