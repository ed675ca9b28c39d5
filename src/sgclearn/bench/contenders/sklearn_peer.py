"""scikit-learn's LogisticRegression on propagated features; scipy propagates."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .objective import Objective
from .problem import Answer, Problem, Run, normalized, row_normalized


def strength(y: Any, weight_decay: float) -> float:
    """C for a weight decay. With two classes scikit-learn has one column of weights where softmax has two halves."""
    return (2 if int(np.max(y)) == 1 else 1) / (len(y) * weight_decay)


def fit(problem: Problem) -> Run:
    """From arrays to the predicted class of every node: sparse products, then a fit on the training rows."""
    from sklearn.linear_model import LogisticRegression

    settings, train, test = problem.settings, problem.part("train"), problem.part("test")
    C = strength(problem.y[train], settings["weight_decay"])
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
    """L-BFGS on rows that are given, with the fewest iterations, to within a fifth, that reach the loss.

    How many that is, is found beforehand and not timed: scikit-learn cannot be told to stop at a loss.
    """
    from sklearn.linear_model import LogisticRegression

    X, y, settings = problem.X, problem.y, problem.settings
    C, objective = strength(y, settings["weight_decay"]), Objective(X, y, settings["weight_decay"])

    def fitted(max_iter: int) -> Any:
        # A tolerance that is never reached leaves the number of iterations to decide.
        return LogisticRegression(C=C, max_iter=max_iter, tol=1e-12).fit(X, y)

    n_iterations, most = 5, int(settings["max_iter"])
    while n_iterations < most and _loss(objective, fitted(n_iterations)) > settings["loss"]:
        n_iterations += max(1, n_iterations // 5)

    def run() -> Answer:
        return _solution(fitted(n_iterations), n_iterations)

    return run


def newton_training(problem: Problem) -> Run:
    """newton-cholesky on rows that are given, a step at a time until the loss is reached.

    A Newton step depends on where it starts and on nothing before, so that a warm start goes on as if nobody had
    looked; looking costs nothing beside its matrix.
    """
    from sklearn.linear_model import LogisticRegression

    X, y, settings = problem.X, problem.y, problem.settings
    C, objective = strength(y, settings["weight_decay"]), Objective(X, y, settings["weight_decay"])

    def run() -> Answer:
        model = LogisticRegression(C=C, solver="newton-cholesky", max_iter=1, tol=1e-12, warm_start=True)
        steps = 1
        while _loss(objective, model.fit(X, y)) > settings["loss"] and steps < settings["max_steps"]:
            steps += 1
        return _solution(model, steps)

    return run


def _loss(objective: Objective, model: Any) -> float:
    return objective.loss(model.coef_.T, model.intercept_)


def _solution(model: Any, n_iterations: int) -> Answer:
    arrays = {"coef": model.coef_.T.copy(), "intercept": model.intercept_.copy()}
    return Answer(arrays, {"iterations": float(n_iterations)})


def small(problem: Problem) -> Run:
    """A fit on a handful of rows: what the classifier must not be slower than on a tiny graph."""
    from sklearn.linear_model import LogisticRegression

    X, y, train = problem.X, problem.y, problem.part("train")
    rows, labels = np.ascontiguousarray(X[train]), y[train]
    model = LogisticRegression(C=strength(labels, problem.settings["weight_decay"]))

    def run() -> Answer:
        model.fit(rows, labels)
        return Answer()

    return run
