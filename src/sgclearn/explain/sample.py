"""One prediction with all that it depends on: its logits, and the exact terms that they are the sum of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sgclearn.explain.linear import LinearModel
from sgclearn.explain.neighbourhood import Neighbourhood, Pair
from sgclearn.explain.sources import Sources

Array = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sample:
    """A row `p` of the readout: `logits = sum_b p g_b(S) diag(r) X Theta_b + b`.

    With `a_b = p g_b(S)`, the weight with which every source node arrives, term (j, f) of block b is
    `a_bj r_j x_jf Theta_bf`; all groupings are sums of these.
    """

    model: LinearModel
    around: Neighbourhood
    sources: Sources

    @property
    def nodes(self) -> Places:
        """Positions of the nodes that can matter (s,)."""
        return self.around.nodes

    @cached_property
    def arrivals(self) -> list[Array]:
        """`a_b = p g_b(S)` of every block, each (s,)."""
        powers = self.around.powers
        return [
            np.asarray(sum(c * q for c, q in zip(block.coefficients, powers, strict=False)))
            for block in self.model.blocks
        ]

    @cached_property
    def projected(self) -> list[Array]:
        """`diag(r) X Theta_b` of the nodes, each (s, C)."""
        blocks = enumerate(self.model.blocks)
        return [self.sources.project(number, block.Theta, self.nodes) for number, block in blocks]

    def logits(self) -> Array:
        """Logits (C,), before the temperature."""
        parts = zip(self.arrivals, self.projected, strict=True)
        return np.asarray(sum((a @ P for a, P in parts), start=self.model.b.copy()))

    def by_source(self) -> Array:
        """Share of every source node in the logits (s, C)."""
        parts = zip(self.arrivals, self.projected, strict=True)
        return np.asarray(sum(a[:, None] * P for a, P in parts))

    def by_feature(self, weights: Array) -> Array:
        """Share of every feature in the margin `logits @ weights` (d,)."""
        total = np.zeros(self.sources.features.n_columns)
        for block, a in zip(self.model.blocks, self.arrivals, strict=True):
            total += self.sources.combine(a, self.nodes) * (block.Theta @ weights)
        return total

    def by_block(self) -> Array:
        """Share of every block in the logits (B, C)."""
        return np.stack([a @ P for a, P in zip(self.arrivals, self.projected, strict=True)])

    def by_hop(self) -> Array:
        """Share of what comes from exactly k hops away, k = 0..K, in the logits (K + 1, C)."""
        powers, found = self.around.powers, np.zeros((self.model.n_hops + 1, len(self.model.b)))
        for block, P in zip(self.model.blocks, self.projected, strict=True):
            for k, coefficient in enumerate(block.coefficients):
                if coefficient != 0:
                    found[k] += coefficient * (powers[k] @ P)
        return found

    def through(self) -> Array:
        """Share of what takes its first step onto each node in the logits (s, C).

        With `g = c_0 I + S h(S)`: `(p S)_n (h(S) P)_n` for the first step onto n, and `c_0 p_n P_n` for what
        stays.
        """
        start = self.around.start
        found = np.zeros((len(self.nodes), len(self.model.b)))
        steps = self.around.powers[1] if self.model.n_hops else None
        for block, P in zip(self.model.blocks, self.projected, strict=True):
            found += block.coefficients[0] * start[:, None] * P
            if steps is None or len(block.coefficients) == 1:
                continue
            H = block.coefficients[-1] * P
            for coefficient in block.coefficients[-2:0:-1]:  # Horner's rule for h
                H = self.around.step(H) + coefficient * P
            found += steps[:, None] * H
        return found

    def without(
        self,
        edges: Iterable[Pair] = (),
        nodes: Iterable[int] = (),
        entries: Iterable[Pair] = (),
        silent: Iterable[int] = (),
    ) -> Sample:
        """The same sample without edges, nodes, entries (node, column) of X, or all features of some nodes."""
        return replace(
            self,
            around=self.around.without(edges, nodes),
            sources=self.sources.without(entries, silent),
        )
