r"""Two linear maps one after the other, `softmax(Z W1 W2 + b)`: still linear, and not the same as one.

Weight decay on both maps, `weight_decay / 2 (|W1|^2 + |W2|^2)`, is weight decay on the nuclear norm (the sum of the
singular values) of `Theta = W1 W2`, since

.. math:: \|\Theta\|_* = \min_{W_1 W_2 = \Theta} \tfrac12 (\|W_1\|^2 + \|W_2\|^2)

wherever there are as many hidden columns as Theta has rank: the classes share directions, as neighbouring cells do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize

from sgclearn.errors import InputError, Setting
from sgclearn.estimators import SGCClassifier
from sgclearn.estimators.loss import Softmax
from sgclearn.graph import Graph
from sgclearn.operators.operator import check_operator_choice
from sgclearn.propagation import propagate

Array = NDArray[np.float64]
_START = 0.05  # standard deviation of the weights at the start: zeros would stay zeros
_RANK = 1e-10  # of the largest singular value


@dataclass(frozen=True)
class TwoMaps:
    """A fit: Theta (d, C), b (C,), and how the solver ended."""

    Theta: Array
    b: Array
    n_iter: int
    converged: bool
    loss: float
    gradient_ratio: float


def fit_two_maps(
    Z: Any,
    codes: NDArray[np.intp],
    hidden: int,
    weight_decay: float,
    *,
    max_iter: int = 300,
    tol: float = 1e-7,
    seed: int | None = 2019,
    on_iteration: Callable[[int, int], None] | None = None,
) -> TwoMaps:
    """Minimise mean cross-entropy plus weight decay over both maps and the bias of the first, by L-BFGS.

    Parameters
    ----------
    Z : matrix (m, d)
        Rows of the samples, dense or sparse.
    codes : integer array (m,)
        Classes, each of 0 .. C-1 at least once.
    hidden : int
        Columns between the maps; more than C change nothing.
    weight_decay : float
    max_iter, tol
        Most iterations, and the relative decrease of the loss below which it stops.
    seed : int or None
        Of the start.

    Notes
    -----
    With fewer samples than features the first map lies in their span, so that is all that is solved for. The problem
    is not convex in the maps, but with `hidden >= C` every local minimum is a global one. Cost: O(m r h) an iteration
    with r = min(m, d).
    """
    R, back = row_basis(Z)
    n_classes = int(codes.max()) + 1
    hidden = min(hidden, n_classes)  # Theta has no higher rank, and the optimum is the same
    shape_1, shape_2 = (R.shape[1] + 1, hidden), (hidden, n_classes)
    Y = np.eye(n_classes)[codes]
    start = _START * np.random.default_rng(seed).normal(size=shape_1[0] * hidden + hidden * n_classes)

    def split(weights: Array) -> tuple[Array, Array]:
        first = shape_1[0] * shape_1[1]
        return weights[:first].reshape(shape_1), weights[first:].reshape(shape_2)

    def objective(weights: Array) -> tuple[float, Array]:
        W1, W2 = split(weights)
        H = R @ W1[:-1] + W1[-1]  # (m, h)
        P = Softmax.probabilities(H @ W2)  # (m, C)
        loss = -float(np.mean(np.log(np.maximum(P[np.arange(len(codes)), codes], np.finfo(float).tiny))))
        G = (P - Y) / len(codes)
        G_hidden = G @ W2.T
        gradient_1 = np.vstack([R.T @ G_hidden, G_hidden.sum(axis=0)]) + weight_decay * W1
        gradient_2 = H.T @ G + weight_decay * W2
        value = loss + weight_decay / 2 * float(weights @ weights)
        return value, np.concatenate([gradient_1.ravel(), gradient_2.ravel()])

    done = 0

    def report(_: Array) -> None:
        nonlocal done
        done += 1
        if on_iteration is not None:
            on_iteration(done, max_iter)

    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": tol, "gtol": 0.0}
    result = minimize(objective, start, jac=True, method="L-BFGS-B", callback=report, options=options)
    W1, W2 = split(result.x)
    at_start = float(np.linalg.norm(objective(start)[1]))
    ratio = float(np.linalg.norm(result.jac)) / at_start
    return TwoMaps(
        back(W1[:-1] @ W2), W1[-1] @ W2, int(result.nit), bool(result.success), float(result.fun), ratio
    )


def row_basis(Z: Any) -> tuple[Array, Callable[[Array], Array]]:
    """Rows (m, d) in coordinates of their span (m, r), and the way back from weights there (r, C) to (d, C)."""
    if Z.shape[1] <= Z.shape[0]:
        return np.asarray(Z.toarray() if sp.issparse(Z) else Z, dtype=np.float64), lambda V: V
    gram = Z @ Z.T
    values, vectors = np.linalg.eigh(
        np.asarray(gram.toarray() if sp.issparse(gram) else gram, dtype=np.float64)
    )
    kept = values > _RANK * values[-1]
    values, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return vectors * values, lambda V: np.asarray(Z.T @ ((vectors / values) @ V))


def fit_classifier_of_two_maps(
    classifier: SGCClassifier,
    X: Any,
    codes: NDArray[np.intp],
    graph: Graph | None,
    hidden: int,
    seed: int | None,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    on_iteration: Callable[[int, int], None] | None = None,
) -> None:
    """Give a new `SGCClassifier` the weights that two maps have learned; codes of -1 are no label.

    From there on it predicts, explains and saves like any other: two linear maps are one.
    """
    if classifier.scale is not None:
        raise InputError(
            "two linear maps take no scale",
            Setting("scale", classifier.scale),
            "leave scale or hidden out",
            argument="scale",
        )
    if graph is None:
        raise InputError(
            "two linear maps need a graph", "none", "pass graph=, or leave hidden out", argument="graph"
        )
    rows = np.flatnonzero(codes >= 0)
    Z = propagate(
        X,
        graph,
        classifier.n_hops,
        normalization=classifier.normalization,
        gamma=classifier.gamma,
        row_norm=classifier.row_norm,
        nodes=rows,
        compute=classifier.compute,
        on_progress=on_progress,
    )
    most = {} if classifier.max_iter is None else {"max_iter": classifier.max_iter}
    fit = fit_two_maps(
        Z, codes[rows], hidden, classifier.weight_decay, seed=seed, on_iteration=on_iteration, **most
    )
    normalization, gamma = check_operator_choice(classifier.normalization, classifier.gamma)
    learned = {
        "classes_": np.unique(codes[rows]),
        "coef_": np.ascontiguousarray(fit.Theta.T),
        "intercept_": fit.b,
        "n_hops_": classifier.n_hops,
        "filter_": None,
        "row_norm_": classifier.row_norm,
        "weight_decay_": float(classifier.weight_decay),
        "normalization_": normalization,
        "gamma_": gamma,
        "uses_graph_": True,
        "uses_identity_": X is None,
        "n_features_in_": Z.shape[1],
        "n_iter_": fit.n_iter,
        "converged_": fit.converged,
        "gradient_ratio_": fit.gradient_ratio,
        "loss_": fit.loss,
        "temperature_": 1.0,
    }
    for name, value in learned.items():
        setattr(classifier, name, value)
