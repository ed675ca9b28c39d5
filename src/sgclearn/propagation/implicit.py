"""Samples `Z = P [F_1(S) X, F_2(S) X, ...]` that are never formed: products with them walk over the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from sgclearn.filters import Wanted, coefficients_of, members_of
from sgclearn.propagation.design import Design, ExplicitDesign, column_ranges
from sgclearn.propagation.engines import Engine, get_engine
from sgclearn.propagation.engines.contract import OnProgress
from sgclearn.propagation.neighbourhood import hop_sets, is_everyone, widened
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.readout import Readout
from sgclearn.propagation.rows import propagated_rows

if TYPE_CHECKING:
    from sgclearn.operators import Operator

Array = NDArray[np.float64]
_ONE_HOP = np.array([0.0, 1.0])


class ImplicitDesign:
    """`Z = P [F_1(S) X, ...]` as products; for one power K and the nodes of P,

    `Z V = P B_0 (B_1 ... (B_{K-1} (X V)))` and `Z^T G = X^T (B_{K-1}^T ... (B_0^T (P^T G)))` with the blocks of S
    between the hop sets of these nodes; for another filter the weighted sum of its powers. Several filters share
    the hops: `Z V = P sum_k S^k X sum_b c_bk V_b`.

    Parameters
    ----------
    operator : Operator or None
        None is the graph without edges.
    features : NodeFeatures
    samples : Readout or ndarray of int (m,)
    wanted : int, PolynomialFilter or a tuple of them
    engine : Engine, optional
    dtype : {float64, float32}
        Of the products on the way; sums over samples are float64 either way.
    once : bool
        Whether there will be one product only, for which no part of X is widened.

    Notes
    -----
    Cost: O((nnz(B) + nnz(X)) C) a product. Exact: yes. A set that holds most edges is widened to all nodes, so that
    the graph's own arrays serve and none is cut out of them.
    """

    def __init__(
        self,
        operator: Operator | None,
        features: NodeFeatures,
        samples: Readout | NDArray[np.intp],
        wanted: Wanted,
        engine: Engine | None = None,
        dtype: DTypeLike = np.float64,
        *,
        once: bool = False,
    ) -> None:
        self.operator, self.features, self.wanted = operator, features, wanted
        self.readout, self.engine, self.dtype = Readout.of(samples), engine or get_engine(), np.dtype(dtype)
        self.limits = np.finfo(self.dtype)  # of the entries as they would be computed
        self.blocks = [coefficients_of(member) for member in members_of(wanted)]
        nodes, hops = self.readout.nodes, max(map(len, self.blocks)) - 1
        self._sets, self._walks = [nodes], []
        if operator is not None and hops:  # without edges every power of S is the identity
            self._sets = widened(operator.graph, hop_sets(operator.graph, nodes, hops))
            # One filter goes all the way at once; several add their shares at every hop.
            stops = [self._sets]
            if len(self.blocks) > 1:
                stops = [self._sets[k : k + 2] for k in range(hops)]
            self._walks = [self.engine.walk(operator, part, part[0], self.dtype) for part in stops]
        self._reached = None if is_everyone(self._sets[-1], features.n_nodes) else self._sets[-1]
        in_place = self._reached is None and features.dtype == np.float64
        self._part, self._rows_of_part = features, self._reached
        if not (in_place or once or features.is_identity):
            # The rows of X that the samples can see, taken and widened once, not at every product.
            taken = features.take(self._reached).astype(np.float64, copy=False)
            self._part, self._rows_of_part = NodeFeatures(taken), None
        self.shape: tuple[int, int] = (self.readout.n_samples, len(self.blocks) * features.n_columns)

    def matmul(self, V: Array) -> Array:
        """`Z @ V`, C columns through every hop."""
        if (
            len(self.blocks) == 1
            and self._walks
            and self.features.is_sparse
            and not self.features.is_identity
        ):
            X, scale = self._part.part(self._rows_of_part)
            return self._collected(self._walks[0].through(X, scale, V, self.blocks[0]))
        shares = np.split(V, len(self.blocks)) if len(self.blocks) > 1 else [V]
        return self._forward([self._part.matmul(share, self._rows_of_part) for share in shares])

    def rmatmul(self, G: Array) -> Array:
        """`Z.T @ G`, back through every hop."""
        pulled = [self._pulled(H) for H in self._backward(self.readout.spread(G))]
        return pulled[0] if len(pulled) == 1 else np.concatenate(pulled)

    def rows(self, batch: NDArray[np.intp]) -> Array:
        """`Z[batch]`, dense: a sparse row block of every filter, then times X."""
        samples = self.readout.part(batch)
        formed = propagated_rows(
            self.operator, self.features, samples, [self.wanted], "left-first", engine=self.engine
        )
        block = next(formed)[1]
        return np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)

    def column_blocks(self) -> Iterator[tuple[int, int, Array]]:
        """Yield dense blocks of columns, each propagated on its own: columns are independent."""
        d = self.features.n_columns
        ranges = list(column_ranges(len(self.readout.nodes) + self.features.n_nodes, d))
        for b in range(len(self.blocks)):
            for start, stop in ranges:
                H = self.features.columns(start, stop)
                H = H if self._reached is None else H[self._reached]
                yield (
                    b * d + start,
                    b * d + stop,
                    self._forward([H if c == b else None for c in range(len(self.blocks))]),
                )

    def factors(self) -> tuple[Any, Any] | None:
        """Two sparse matrices whose product Z is, where both are read off the graph: `S[nodes]` and I or S."""
        coefficients = self.blocks[0]
        hops = len(coefficients) - 1
        if (
            self.operator is None
            or not self.features.is_identity
            or len(self.blocks) > 1
            or hops not in (1, 2)
        ):
            return None
        if coefficients[:-1].any() or coefficients[-1] != 1:
            return None
        last = self.readout.collect(self.operator.rows(self.readout.nodes, self.dtype))
        if hops == 2:
            return last, self.operator.matrix(self.dtype)
        return last, sparse.eye_array(self.shape[1], format="csr", dtype=self.dtype)

    def subset(self, batch: NDArray[np.intp]) -> Design:
        """Some of the samples, still implicit; they share the walks, as the hops beyond the nodes cost most."""
        part = copy(self)
        part.readout = self.readout.among(batch)
        part.shape = (len(batch), self.shape[1])
        return part

    def squares(self, weights: Array) -> Array | None:
        """None: the entries of Z are never formed."""
        return None

    def _forward(self, shares: list[NDArray[Any] | None]) -> Array:
        """`P sum_b F_b(S) H_b` for H_b over the farthest set; None is zero."""
        given = [(c, H) for c, H in zip(self.blocks, shares, strict=True) if H is not None]
        if not self._walks:
            return self._collected(sum(float(c.sum()) * H for c, H in given))
        if len(self.blocks) == 1:
            return self._collected(self._walks[0].forward(given[0][1], self.blocks[0]))
        # By Horner's rule, from the farthest set to the nodes.
        total = np.zeros((len(self._sets[-1]), given[0][1].shape[1]), dtype=self.dtype)
        for k in reversed(range(len(self._sets))):
            total = total if k == len(self._walks) else self._walks[k].forward(total, _ONE_HOP)
            place = self._place(k)
            for coefficients, H in given:
                if k < len(coefficients) and coefficients[k] != 0:
                    total = total + float(coefficients[k]) * (H if place is None else H[place])
        return self._collected(total)

    def _backward(self, G: Array) -> list[Array]:
        """The transpose of `_forward`, one matrix over the farthest set for every filter."""
        if not self._walks:
            return [coefficients.sum() * G for coefficients in self.blocks]
        if len(self.blocks) == 1:
            return [np.asarray(self._walks[0].backward(G, self.blocks[0]))]
        totals = [np.zeros((len(self._sets[-1]), G.shape[1])) for _ in self.blocks]
        for k in range(len(self._sets)):
            G = G if k == 0 else self._walks[k - 1].backward(G, _ONE_HOP)
            place = self._place(k)
            for coefficients, total in zip(self.blocks, totals, strict=True):
                if k < len(coefficients) and coefficients[k] != 0:
                    total[slice(None) if place is None else place] += coefficients[k] * G
        return totals

    def _place(self, k: int) -> NDArray[np.intp] | None:
        """Where the nodes of set k are in the farthest one; None where it is the same."""
        nodes, farthest = self._sets[k], self._sets[-1]
        return None if nodes is farthest else np.searchsorted(farthest, nodes)

    def _pulled(self, H: Array) -> Array:
        """`X^T H` for H over the farthest set."""
        if self._rows_of_part is None:
            return np.asarray(self._part.rmatmul(H), dtype=np.float64)
        spread = np.zeros((self.features.n_nodes, H.shape[1]))
        spread[self._rows_of_part] = H
        return np.asarray(self._part.rmatmul(spread), dtype=np.float64)

    def _collected(self, H: Any) -> Array:
        return np.asarray(self.readout.collect(H), dtype=np.float64)


def build_designs(
    operator: Operator | None,
    features: NodeFeatures,
    samples: Readout | NDArray[np.intp],
    wanted: Sequence[Wanted],
    plan: str,
    on_progress: OnProgress | None = None,
    engine: Engine | None = None,
    sets: list[NDArray[np.intp]] | None = None,
    dtype: DTypeLike = np.float64,
) -> Iterator[tuple[Any, Design]]:
    """Yield `(filters, design)` for every wanted list of filters, all in one pass where the samples are formed.

    `dtype` is that of the products with samples that are not formed; others are of the type of the features.
    """
    if plan == "implicit":
        for entry in wanted:
            yield entry, ImplicitDesign(operator, features, samples, entry, engine, dtype)
        return
    for entry, Z in propagated_rows(operator, features, samples, wanted, plan, on_progress, engine, sets):
        yield entry, ExplicitDesign(Z)
