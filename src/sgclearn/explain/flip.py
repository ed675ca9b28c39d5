"""The smallest set of parts without which a prediction would be another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.explain.explanation import Explanation
from sgclearn.explain.linear import CLASSES

Array = NDArray[np.float64]
Part = tuple[int, ...]
KINDS = ("features", "sources", "edges")
_CANDIDATES = 200  # parts that a greedy step tries


@dataclass(frozen=True, eq=False)
class Flip:
    """Parts without which the label changes.

    Attributes
    ----------
    by : {"features", "sources", "edges"}
    parts : list of tuple or None
        Pairs (node, column), single nodes, or pairs of nodes, all positions; None where no set was found.
    names : list of tuple
        The same parts by name.
    label
        The label without them.
    is_smallest : bool
        Whether no smaller set changes the label (True), or the set is only free of parts that are not needed.
    """

    by: str
    parts: list[Part] | None
    names: list[tuple[Any, ...]]
    label: Any
    is_smallest: bool


def find_flip(explanation: Explanation, by: str, against: Any, max_size: int) -> Flip:
    """See `Explanation.flip`."""
    model = explanation.sample.model
    if by not in KINDS:
        raise InputError(f"by must be one of {', '.join(KINDS)}", repr(by), "choose one", argument="by")
    if model.kind != CLASSES:
        raise InputError(
            "a label can change only where classes compete", model.kind, "look at the terms instead"
        )
    rivals = None if against is None else [model.number(against, "against")]
    additive = by == "sources" or (by == "features" and model.row_norm is None)
    parts = (
        _additive(explanation, by, rivals, max_size)
        if additive
        else _greedy(explanation, by, rivals, max_size)
    )
    if parts is None:
        return Flip(by, None, [], explanation.predicted, is_smallest=False)
    if not additive:
        parts = _pruned(explanation, by, parts, rivals)
    label = _without(explanation, by, parts).predicted
    return Flip(by, parts, [_named(explanation, by, part) for part in parts], label, is_smallest=additive)


def _without(explanation: Explanation, by: str, parts: Sequence[Part]) -> Explanation:
    if by == "sources":
        return explanation.without(sources=[part[0] for part in parts])
    if by == "edges":
        return explanation.without(edges=[(part[0], part[1]) for part in parts])
    return explanation.without(features=[(part[0], part[1]) for part in parts])


def _flips(explanation: Explanation, by: str, parts: Sequence[Part], rivals: list[int] | None) -> bool:
    after = _without(explanation, by, parts).predicted
    outputs = explanation.outputs
    return after != explanation.predicted and (
        rivals is None or after in [outputs[rival] for rival in rivals]
    )


def _additive(
    explanation: Explanation, by: str, rivals: list[int] | None, max_size: int
) -> list[Part] | None:
    """For each rival the strongest terms of the margin over it, until it is negative; the shortest such list.

    The label changes as soon as one rival has the larger logit, and the k strongest terms lower a margin by more
    than any other k.
    """
    logits = explanation.logits
    chosen = int(logits.argmax())
    best: list[Part] | None = None
    for rival in rivals if rivals is not None else range(len(logits)):
        if rival == chosen:
            continue
        margin = float(logits[chosen] - logits[rival])
        values, keys = _contributions(explanation, by, chosen, rival)
        order = np.argsort(-values, kind="stable")
        left = margin - np.cumsum(values[order])
        limit = min(max_size, len(order)) if best is None else len(best) - 1
        for size in np.flatnonzero(left[:limit] < 0)[:3] + 1:
            parts = [tuple(int(number) for number in keys[place]) for place in order[:size]]
            if _flips(explanation, by, parts, rivals):  # rounding may decide where the sum is next to zero
                best = parts
                break
    return best


def _contributions(
    explanation: Explanation, by: str, chosen: int, rival: int
) -> tuple[Array, NDArray[np.intp]]:
    """Term of every part in `logit_chosen - logit_rival`, and the parts."""
    sample = explanation.sample
    if by == "sources":
        shares = sample.by_source()
        return shares[:, chosen] - shares[:, rival], sample.nodes[:, None]
    V = sample.sources.rows(sample.nodes).tocoo()
    values = np.zeros(V.nnz)
    for block, a in zip(sample.model.blocks, sample.arrivals, strict=True):
        values += a[V.row] * V.data * (block.Theta[:, chosen] - block.Theta[:, rival])[V.col]
    return values, np.stack([sample.nodes[V.row], V.col], axis=1).astype(np.intp)


def _greedy(explanation: Explanation, by: str, rivals: list[int] | None, max_size: int) -> list[Part] | None:
    """Take away the part that lowers the margin most, one after the other."""
    parts: list[Part] = []
    outputs = explanation.outputs
    chosen = int(explanation.logits.argmax())
    for _ in range(max_size):
        before = _without(explanation, by, parts) if parts else explanation
        candidates = _edges(before, parts) if by == "edges" else _entries(before, rivals, chosen)
        best: tuple[float, Part] | None = None
        for part in candidates:
            logits = _without(explanation, by, [*parts, part]).logits
            others = [r for r in (rivals or range(len(outputs))) if r != chosen]
            margin = float(logits[chosen] - logits[others].max())
            if best is None or margin < best[0]:
                best = margin, part
        if best is None:
            return None
        parts.append(best[1])
        if _flips(explanation, by, parts, rivals):
            return parts
    return None


def _edges(explanation: Explanation, removed: list[Part]) -> list[Part]:
    """Edges that are read, those that most passes through first."""
    sample = explanation.sample
    graph = sample.around.graph
    if graph is None:
        return []
    rows, columns = sample.around.A.nonzero()
    nodes, powers = sample.nodes, sample.around.powers
    passing = np.sum([np.abs(power) for power in powers[:-1]], axis=0)[rows]
    passing = passing * np.abs(sample.projected[0]).max(axis=1)[columns]
    found: dict[Part, float] = {}
    for source, target, weight in zip(
        nodes[rows].tolist(), nodes[columns].tolist(), passing.tolist(), strict=True
    ):
        edge = (source, target) if graph.directed else (min(source, target), max(source, target))
        if edge not in removed:
            found[edge] = max(found.get(edge, 0.0), weight)
    return sorted(found, key=lambda edge: (-found[edge], edge))[:_CANDIDATES]


def _entries(explanation: Explanation, rivals: list[int] | None, chosen: int) -> list[Part]:
    """Entries with the strongest terms over the nearest rival; with row norms a first guess at what they do."""
    logits = explanation.logits.copy()
    others = np.array([r for r in (rivals or range(len(logits))) if r != chosen])
    values, keys = _contributions(explanation, "features", chosen, int(others[logits[others].argmax()]))
    order = np.argsort(-np.abs(values), kind="stable")[: _CANDIDATES // 4]
    return [tuple(int(number) for number in keys[place]) for place in order if values[place] != 0]


def _pruned(explanation: Explanation, by: str, parts: list[Part], rivals: list[int] | None) -> list[Part]:
    """Parts that are all needed: each is put back if the label changes without the others all the same."""
    for part in parts:
        fewer = [other for other in parts if other != part]
        if fewer and _flips(explanation, by, fewer, rivals):
            return _pruned(explanation, by, fewer, rivals)
    return parts


def _named(explanation: Explanation, by: str, part: Part) -> tuple[Any, ...]:
    names = explanation.names
    if by == "features":
        return names.node(part[0]), names.feature(part[1])
    return tuple(names.node(node) for node in part)
