"""An explanation in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgclearn.explain.explanation import Explanation, Term
from sgclearn.explain.linear import CLASSES

_SHOWN = 3
_MOST = 0.5  # of the sum of all positive terms
TITLES = {
    "features": "Features",
    "sources": "Nodes that the features belong to",
    "through": "Neighbours that they came through",
    "hops": "Hops away",
    "blocks": "Filters",
}
"""What each grouping shows, for headings."""


def sentence(explanation: Explanation) -> str:
    """What was predicted, and the strongest reasons for it, in words.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    own, others = _own_and_others(explanation)
    parts = [_claim(explanation)]
    if own > 0 or others > 0:
        parts.append(_origin(explanation, own, others))
    features = _for(explanation.terms("features", None)[0])
    if features and not explanation.sample.sources.features.is_identity:
        parts.append(f"{'the feature' if len(features) == 1 else 'the features'} {listed(features)} "
                     f"{'speaks' if len(features) == 1 else 'speak'} most for it")  # fmt: skip
    through = [term for term in explanation.terms("through", None)[0] if term.key != explanation.node]
    neighbours = _for(through)
    if neighbours:
        parts.append(f"most comes through {listed(neighbours)}")
    return "; ".join(parts) + "."


def listed(names: Sequence[Any]) -> str:
    """Names with commas and a last "and"."""
    texts = [str(name) for name in names]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def _claim(explanation: Explanation) -> str:
    model, P = explanation.sample.model, explanation.probabilities
    name = "the sample" if explanation.node is None else str(explanation.names.node(explanation.node))
    if model.kind != CLASSES or P is None:
        return f"{name} has {explanation.margin:.3g} for {explanation.label}"
    share = P[model.outputs.index(explanation.label)]
    verb = "is labelled" if explanation.label == explanation.predicted else "is not labelled"
    claim = f"{name} {verb} {explanation.label} ({share:.0%} sure)"
    if explanation.against in model.outputs:
        claim += f" rather than {explanation.against} ({P[model.outputs.index(explanation.against)]:.0%})"
    return claim


def _own_and_others(explanation: Explanation) -> tuple[float, float]:
    """Sums of the terms of the node's own features and of those of all other nodes."""
    values = explanation.values("sources")
    own = (
        explanation.sample.nodes == explanation.node
        if explanation.node is not None
        else np.zeros(len(values), bool)
    )
    return float(values[own].sum()), float(values[~own].sum())


def _origin(explanation: Explanation, own: float, others: float) -> str:
    if explanation.node is None:
        return "all of it comes from the nodes of the sample and those around them"
    if others <= 0:
        return "its own features decide it, its neighbours speak against"
    if own <= 0:
        return "other nodes decide it, its own features speak against"
    share = others / (own + others)
    return f"{share:.0%} of what speaks for it comes from other nodes"


def _for(terms: Sequence[Term]) -> list[Any]:
    """Names of the strongest terms that speak for the label, as long as they carry weight."""
    positive = [term for term in terms if term.value > 0]
    total, found, reached = sum(term.value for term in positive), [], 0.0
    for term in positive[:_SHOWN]:
        found.append(term.name)
        reached += term.value
        if reached > _MOST * total:
            break
    return found
