"""SGC that predicts classifiers: of classes without examples, from those of other classes and a graph of all."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.graph import Graph
from sgclearn.propagation import propagate
from sgclearn.propagation.compute import Compute
from sgclearn.tables.messages import counted
from sgclearn.tasks.zeroshot.regression import DualRidge, Kernel
from sgclearn.validation.arrays import positions_of, real_array
from sgclearn.validation.parameters import Choice, Number

Array = NDArray[np.float64]
DEFAULT_N_HOPS = 6
DEFAULT_DECAYS = tuple(float(f"{decay:.3g}") for decay in np.logspace(-6, -1, 11))
DEFAULT_WIDTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0)
_SOLVER = Choice(values=("ridge", "kernel"), sentence="'ridge' or 'kernel'")
_MISSING = Choice(values=("error", "mean"), sentence="'error' or 'mean'")
_POSITIVE = Number("the default is a grid", open=True)


class ZeroShotSGC(BaseEstimator):  # type: ignore[misc]
    """Regress the classifiers of seen classes on `S^K X`, and predict those of every other class.

    Parameters
    ----------
    solver : {"ridge", "kernel"}, default "ridge"
        Ridge regression on the propagated vectors, or kernel ridge regression with a Gaussian kernel, which lets
        each class listen to the seen classes nearest to it.
    n_hops : int >= 0, default 6
    weight_decay : float or sequence of float, optional
        Of several the one with the least leave-one-out error over the seen classes is used; by default 1e-6 to 0.1.
        `alpha = m * weight_decay` for m seen classes is scikit-learn's.
    width : float or sequence of float, optional
        Of the Gaussian, for "kernel"; chosen together with the weight decay, by default among 0.1 to 3.
    normalization : {"sym", "rw", "cheby"}, default "rw"
    gamma : float >= 0, optional
    missing : {"error", "mean"}, default "error"
        What happens where a class to predict has no vector and none within K hops: an error, or the mean of the seen
        classifiers.
    compute : Compute, optional

    Attributes
    ----------
    nodes_ : ndarray (m,)
        The seen classes that a vector reaches.
    rows_ : ndarray (m, d)
        Their propagated vectors.
    targets_ : ndarray (m, q)
        Their classifiers.
    weight_decay_, width_ : float
    leave_one_out_ : float
        Mean squared distance between the classifier of a seen class and its prediction from the others.
    cv_results_ : list of dict
        Every setting that was tried.

    Notes
    -----
    Vectors of classes have length one before propagation and again after it, classifiers have length one: how long
    they are says how frequent a class is, and not what it looks like. Paper: Section 5 (zero-shot image
    classification), Table 7, with a closed form instead of a network. Cost: O(m^3) for m seen classes.

    Examples
    --------
    >>> graph = Graph.from_edges([("cat", "feline"), ("lion", "feline"), ("dog", "canine"), ("wolf", "canine")])
    >>> X = np.zeros((6, 2))
    >>> X[graph.positions(["cat", "feline"])], X[graph.positions(["dog", "canine"])] = [1, 0], [0, 1]
    >>> seen = graph.positions(["cat", "dog"])
    >>> model = ZeroShotSGC(n_hops=2, weight_decay=0.01).fit(X, [[1.0, 0.0], [0.0, 1.0]], graph, nodes=seen)
    >>> model.weights(X, graph, nodes=graph.positions(["lion", "wolf"])).round(1)
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        solver: str = "ridge",
        *,
        n_hops: int = DEFAULT_N_HOPS,
        weight_decay: float | Sequence[float] | None = None,
        width: float | Sequence[float] | None = None,
        normalization: str = "rw",
        gamma: float | None = None,
        missing: str = "error",
        compute: Compute | None = None,
    ) -> None:
        self.solver = solver
        self.n_hops = n_hops
        self.weight_decay = weight_decay
        self.width = width
        self.normalization = normalization
        self.gamma = gamma
        self.missing = missing
        self.compute = compute

    def fit(self, X: Any, Y: ArrayLike, graph: Graph, *, nodes: Any) -> ZeroShotSGC:
        """Learn from the seen classes.

        Parameters
        ----------
        X : matrix (n, d)
            A vector a class, zero where there is none.
        Y : array (m, q)
            Classifiers of the seen classes: weights, and the bias as the last column where there is one.
        graph : Graph
            n classes.
        nodes : array (m,)
            The seen classes, in the order of Y.
        """
        kernels, decays = self._grid()
        _MISSING.check("missing", self.missing)
        seen = positions_of(nodes, graph.n_nodes)
        targets = real_array(Y, "Y").astype(np.float64)
        if (
            targets.ndim != 2
            or len(targets) != len(seen)
            or len(seen) < 2
            or len(np.unique(seen)) < len(seen)
        ):
            raise InputError(
                "Y must have one classifier for each of two or more seen classes, each once",
                f"shape {targets.shape} for {counted(len(seen), 'class', 'classes')}",
                "give them in the same order",
                argument="Y",
            )
        if not np.isfinite(targets).all() or (np.abs(targets).max(axis=1) == 0).any():
            raise InputError(
                "classifiers must be finite and not zero", "others", "leave such classes out", argument="Y"
            )
        Z = self._rows(X, graph, seen)
        reached = Z.any(axis=1)
        if not reached.all():
            warnings.warn(
                f"{counted(int((~reached).sum()), 'seen class', 'seen classes')} without a vector within "
                f"{self.n_hops} hops, such as {str(graph.ids[seen[~reached][0]])!r}: not learned from.",
                SgclearnWarning,
                stacklevel=2,
            )
            Z, seen, targets = Z[reached], seen[reached], targets[reached]
        self.targets_, self.nodes_, self.rows_ = unit_rows(targets), seen, Z
        self.n_features_in_ = Z.shape[1]
        self._ridge = DualRidge(kernels, [decay * len(seen) for decay in decays]).fit(Z, self.targets_)
        choice = self._ridge.choice_
        self.weight_decay_, self.width_ = choice.alpha / len(seen), choice.kernel.width
        self.leave_one_out_ = choice.error
        self.cv_results_ = [
            {"weight_decay": tried.alpha / len(seen), "width": tried.kernel.width, "error": tried.error}
            for tried in self._ridge.tried_
        ]
        return self

    def _grid(self) -> tuple[list[Kernel], list[float]]:
        _SOLVER.check("solver", self.solver)
        decays = _several("weight_decay", self.weight_decay, DEFAULT_DECAYS)
        if self.solver == "kernel":
            return [Kernel(width) for width in _several("width", self.width, DEFAULT_WIDTHS)], decays
        if self.width is not None:
            raise InputError(
                "width goes with solver='kernel'", f"width={self.width!r} with 'ridge'", "leave it out",
                argument="width",
            )  # fmt: skip
        return [Kernel()], decays

    def _rows(self, X: Any, graph: Graph, nodes: NDArray[np.intp]) -> Array:
        """Propagated vectors of length one, zero for a class that no vector reaches."""
        Z = propagate(
            X,
            graph,
            self.n_hops,
            normalization=self.normalization,
            gamma=self.gamma,
            row_norm="l2",
            nodes=nodes,
            output="dense",
            compute=self.compute,
        )
        return unit_rows(np.asarray(Z, dtype=np.float64))

    def weights(self, X: Any, graph: Graph, *, nodes: Any = None) -> Array:
        """What the classifier of each seen class weighs in each prediction (c, m): exact, and each row sums to one."""
        check_is_fitted(self, "targets_")
        chosen = np.arange(graph.n_nodes) if nodes is None else positions_of(nodes, graph.n_nodes)
        Z = self._rows(X, graph, chosen)
        if Z.shape[1] != self.n_features_in_:
            raise InputError(
                f"X must have the {self.n_features_in_:,} columns of the fit", f"{Z.shape[1]:,}",
                "give vectors of the same kind", argument="X",
            )  # fmt: skip
        weights = self._ridge.weights(Z)
        empty = np.flatnonzero(~Z.any(axis=1))
        if len(empty) and self.missing == "error":
            raise InputError(
                f"every class must have a vector, or one within {self.n_hops} hops",
                f"neither for {str(graph.ids[chosen[empty[0]]])!r} ({len(empty):,} such)",
                "give it a vector or an edge, more hops, or missing='mean'",
                argument="missing",
            )
        weights[empty] = 1.0 / weights.shape[1]
        return weights

    def predict(self, X: Any, graph: Graph, *, nodes: Any = None) -> Array:
        """Classifiers (c, q) of classes, seen or not, each of length one; `weights` of the seen ones, summed."""
        return unit_rows(self.weights(X, graph, nodes=nodes) @ self.targets_)


def unit_rows(matrix: Array) -> Array:
    """Rows divided by their Euclidean norm; zero rows stay."""
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(norms > 0, norms, 1.0))


def _several(name: str, value: Any, default: Sequence[float]) -> list[float]:
    if value is None:
        return list(default)
    listed = (
        list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
    )
    if not listed:
        raise InputError(f"{name} needs at least one candidate", "none", "leave it out", argument=name)
    return [_POSITIVE.check(name, each) for each in listed]
