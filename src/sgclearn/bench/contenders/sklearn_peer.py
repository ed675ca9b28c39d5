"""scikit-learn's LogisticRegression on propagated features; scipy propagates."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .problem import Answer, Problem, Run, normalized, row_normalized


def fit(problem: Problem) -> Run:
    """From arrays to the predicted class of every node: sparse products, then a fit on the training rows."""
    from sklearn.linear_model import LogisticRegression

    settings, train, test = problem.settings, problem.part("train"), problem.part("test")
    C = 1 / (len(train) * settings["weight_decay"])
    model = LogisticRegression(C=C, solver=settings["solver"], max_iter=1000)

    def run() -> Answer:
        start = time.perf_counter()
        S, Z = normalized(problem.adjacency()), row_normalized(problem.X)
        prepared = time.perf_counter()
        for _ in range(problem.n_hops):
            Z = S @ Z
        rows = Z[train].toarray() if settings["solver"] == "newton-cholesky" else Z[train]
        propagated = time.perf_counter()
        model.fit(rows, problem.y[train])
        trained = time.perf_counter()
        labels = np.asarray(model.predict(Z))
        figures = {
            "prepare_seconds": prepared - start,
            "propagate_seconds": propagated - prepared,
            "train_seconds": trained - propagated,
            "predict_seconds": time.perf_counter() - trained,
            "accuracy": float((labels == problem.y)[test].mean()),
            "iterations": float(model.n_iter_.max()),
        }
        return Answer({"labels": labels}, figures)

    return run


def training(problem: Problem) -> Run:
    """On rows that are given, with the fewest iterations, to within a fifth, that reach the loss.

    How many that is, is found beforehand and not timed: scikit-learn cannot be told to stop at a loss.
    """
    from sklearn.linear_model import LogisticRegression

    X, y, settings = problem.X, problem.y, problem.settings
    C = 1 / (len(y) * settings["weight_decay"])

    def fitted(max_iter: int) -> Any:
        # A tolerance that is never reached leaves the number of iterations to decide.
        return LogisticRegression(C=C, solver=settings["solver"], max_iter=max_iter, tol=1e-12).fit(X, y)

    n_iterations, most = 5, int(settings["max_iter"])
    while n_iterations < most and loss_of(fitted(n_iterations), X, y, settings) > settings["loss"]:
        n_iterations += max(1, n_iterations // 5)

    def run() -> Answer:
        model = fitted(n_iterations)
        figures = {"iterations": float(model.n_iter_.max())}
        return Answer({"coef": model.coef_.T.copy(), "intercept": model.intercept_.copy()}, figures)

    return run


def loss_of(model: Any, X: Any, y: Any, settings: dict[str, Any]) -> float:
    """Mean cross-entropy plus weight decay of a fitted model; the bias is free."""
    return objective(X, y, model.coef_.T, model.intercept_, settings["weight_decay"])


def objective(X: Any, y: Any, coef: Any, intercept: Any, weight_decay: float) -> float:
    """`mean CE + weight_decay / 2 |Theta|^2`, summed in float64 a block of rows at a time."""
    total, step = 0.0, 20_000
    penalty = float((np.asarray(coef, dtype=np.float64) ** 2).sum())
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        logits = np.asarray(X[rows] @ coef, dtype=np.float64) + intercept
        logits -= logits.max(axis=1, keepdims=True)
        own = np.take_along_axis(logits, np.asarray(y[rows])[:, None], 1)[:, 0]
        total += float((np.log(np.exp(logits).sum(axis=1)) - own).sum())
    return total / float(X.shape[0]) + weight_decay / 2 * penalty


def small(problem: Problem) -> Run:
    """A fit on a handful of rows: what the classifier must not be slower than on a tiny graph."""
    from sklearn.linear_model import LogisticRegression

    X, y, train = problem.X, problem.y, problem.part("train")
    rows, labels = np.ascontiguousarray(X[train]), y[train]
    model = LogisticRegression(C=1 / (len(train) * problem.settings["weight_decay"]))

    def run() -> Answer:
        model.fit(rows, labels)
        return Answer()

    return run
