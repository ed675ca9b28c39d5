"""The exact reasons for one prediction, and what would change it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.explain.linear import CLASSES
from sgclearn.explain.sample import Sample

if TYPE_CHECKING:
    from sgclearn.explain.flip import Flip

Array = NDArray[np.float64]
GROUPINGS = ("features", "sources", "through", "hops", "blocks")


@dataclass(frozen=True, eq=False)
class Names:
    """What the numbers of an explanation are called; numbers stand for themselves where there are no names."""

    nodes: Any = None  # ids by position, or None
    features: Sequence[str] | None = None

    def node(self, position: int) -> Any:
        """Id of a node."""
        if self.nodes is None:
            return position
        value = self.nodes[position]
        return value.item() if isinstance(value, np.generic) else value

    def feature(self, column: int) -> Any:
        """Name of a feature; of a model without features, the node that the column stands for."""
        return column if self.features is None else self.features[column]


@dataclass(frozen=True, eq=False)
class Term:
    """One summand of the margin: `key` is a number, `name` what it is called."""

    key: int
    name: Any
    value: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """`margin = bias + sum of the terms`, exactly, for one sample; all groupings are of the same sum.

    The margin is the logit of one class minus that of another, divided by the temperature of the model. A softmax
    does not change when all logits move together, so the terms of a single class mean nothing by themselves: the
    rival is the runner-up unless one is named. For several labels and for regression it is the output itself.

    Attributes
    ----------
    node : int or None
        Position of the explained node, None for a sample of several nodes.
    label, against
        The class that the margin is for, and the one against it (None: the output itself).
    margin, bias : float
    probabilities : ndarray (C,) or None
        Of the classes in the order of `outputs`.
    """

    sample: Sample = field(repr=False)
    weights: Array = field(repr=False)  # (C,): margin = logits @ weights
    node: int | None
    label: Any
    against: Any
    names: Names = field(repr=False)

    @property
    def outputs(self) -> list[Any]:
        """Classes, labels or targets of the model."""
        return self.sample.model.outputs

    @cached_property
    def logits(self) -> Array:
        """Logits (C,), before the temperature."""
        return self.sample.logits()

    @property
    def margin(self) -> float:
        """What all terms and the bias add up to."""
        return float(self.logits @ self.weights)

    @property
    def bias(self) -> float:
        """The part that no node and no feature is the reason for."""
        return float(self.sample.model.b @ self.weights)

    @property
    def predicted(self) -> Any:
        """The class with the largest logit; for other models the label or target that is explained."""
        model = self.sample.model
        return self.outputs[int(self.logits.argmax())] if model.kind == CLASSES else self.label

    @cached_property
    def probabilities(self) -> Array | None:
        """Probabilities of the classes; None where the outputs are no classes."""
        model = self.sample.model
        if model.kind != CLASSES:
            return None
        scaled = self.logits / model.temperature
        exponentials = np.exp(scaled - scaled.max())
        return np.asarray(exponentials / exponentials.sum())

    @cached_property
    def _values(self) -> dict[str, Array]:
        sample, weights = self.sample, self.weights
        return {
            "features": sample.by_feature(weights),
            "sources": sample.by_source() @ weights,
            "through": sample.through() @ weights,
            "hops": sample.by_hop() @ weights,
            "blocks": sample.by_block() @ weights,
        }

    def values(self, by: str) -> Array:
        """All terms of a grouping: of every feature (d,), node within reach (s,), hop (K + 1,) or block (B,)."""
        if by not in GROUPINGS:
            raise InputError(
                f"by must be one of {', '.join(GROUPINGS)}", repr(by), "choose one", argument="by"
            )
        return self._values[by]

    def terms(self, by: str = "features", n: int | None = 10) -> tuple[list[Term], float]:
        """The n strongest terms of a grouping, for or against, and the sum of the rest.

        Parameters
        ----------
        by : {"features", "sources", "through", "hops", "blocks"}
            By feature, by the node that a feature value comes from, by the neighbour that it came through (the node
            itself through its self-loop), by the number of hops, or by the filter of a bank.
        n : int or None
            None is all of them; terms that are zero are left out.
        """
        values = self.values(by)
        present = np.flatnonzero(values)
        sizes = np.abs(values[present])
        if n is not None and n < len(present):  # those at least as large as the n-th largest
            few = (
                sizes >= np.partition(sizes, len(sizes) - n)[len(sizes) - n] if n else np.zeros(0, dtype=int)
            )
            candidates, sizes = present[few], sizes[few]
        else:
            candidates = present
        shown = candidates[np.argsort(-sizes, kind="stable")][:n]
        rest = float(values.sum() - values[shown].sum()) if len(shown) < len(present) else 0.0
        return [self._term(by, int(place), float(values[place])) for place in shown], rest

    def _term(self, by: str, place: int, value: float) -> Term:
        if by in ("sources", "through"):
            node = int(self.sample.nodes[place])
            return Term(node, self.names.node(node), value)
        if by == "features":
            is_node = self.sample.sources.features.is_identity
            return Term(place, self.names.node(place) if is_node else self.names.feature(place), value)
        if by == "hops":
            return Term(place, place, value)
        return Term(place, self.sample.model.blocks[place].name, value)

    def without(
        self,
        *,
        edges: Iterable[tuple[int, int]] = (),
        nodes: Iterable[int] = (),
        features: Iterable[int | tuple[int, int]] = (),
        sources: Iterable[int] = (),
    ) -> Explanation:
        """The explanation in the graph without some of its parts, as a rebuilt graph would give it.

        Degrees at the ends of an edge change, and with `row_norm` the rest of a row grows when an entry goes. The
        margin is that of the same two classes; `predicted` tells whether the label changed.

        Parameters
        ----------
        edges : pairs of positions
            An edge of an undirected graph goes in both directions.
        nodes : positions
            Nodes that leave with all their edges.
        features : columns, or pairs (position of a node, column)
            A column alone is one of the explained node.
        sources : positions
            Nodes that stay, with their edges, and lose all their features.
        """
        entries = []
        for entry in features:
            is_pair = isinstance(entry, tuple | list)
            if not is_pair and self.node is None:
                raise InputError(
                    "a feature of a sample of several nodes must be a pair (node, column)", repr(entry),
                    "name the node too", argument="features",
                )  # fmt: skip
            entries.append((int(entry[0]), int(entry[1])) if is_pair else (int(self.node), int(entry)))  # type: ignore[index,arg-type]
        changed = self.sample.without(
            [(int(a), int(b)) for a, b in edges], [int(n) for n in nodes], entries, [int(n) for n in sources]
        )
        return Explanation(changed, self.weights, self.node, self.label, self.against, self.names)

    def flip(self, by: str = "features", *, against: Any = None, max_size: int = 50) -> Flip:
        """The smallest set of parts without which the label changes.

        Parameters
        ----------
        by : {"features", "sources", "edges"}
            Entries (node, column) of X, nodes whose features go, or edges. Sources, and features without
            `row_norm`, add up, so that the set found is provably one of the smallest; edges, and features with
            `row_norm`, are chosen greedily, the strongest first, and `is_smallest` is False.
        against
            The class to change to; any if not given.
        max_size : int
            Give up beyond so many parts.
        """
        from sgclearn.explain.flip import find_flip

        return find_flip(self, by, against, max_size)

    def to_dict(self, n: int | None = 10) -> dict[str, Any]:
        """For JSON: names, margin, bias, and the n strongest terms of each grouping with their rest."""
        probabilities = self.probabilities
        document: dict[str, Any] = {
            "node": None if self.node is None else self.names.node(self.node),
            "predicted": self.predicted,
            "label": self.label,
            "against": self.against,
            "margin": self.margin,
            "bias": self.bias,
            "temperature": self.sample.model.temperature,
            "probabilities": None
            if probabilities is None
            else {str(name): float(p) for name, p in zip(self.outputs, probabilities, strict=True)},
        }
        for by in GROUPINGS:
            terms, rest = self.terms(by, n)
            document[by] = {"terms": [{"name": t.name, "value": t.value} for t in terms], "rest": rest}
        return document

    def _repr_html_(self) -> str:
        from sgclearn.explain.html import explanation_html, with_style

        return with_style(explanation_html(self))

    def __repr__(self) -> str:
        name = "sample" if self.node is None else repr(self.names.node(self.node))
        rival = "" if self.against is None else f" over {self.against!r}"
        return (
            f"Explanation({name}: {self.label!r}{rival} by {self.margin:.4g}, of which bias {self.bias:.4g})"
        )
