"""sgclearn, through its public names. Threads come from the environment, as for every contender."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from .problem import Answer, Problem, Run


def propagation(problem: Problem) -> Run:
    """`S^K X` from a graph and features in memory; the operator is made anew in every run."""
    from sgclearn import Graph, propagate

    graph, X = Graph(problem.indptr, problem.indices), problem.X

    def run() -> Answer:
        return Answer({"Z": propagate(X, graph, problem.n_hops)})

    return run


def fit(problem: Problem) -> Run:
    """Fit and predict every node, from arrays: the graph is made inside."""
    from sgclearn import Graph, SGCClassifier

    X, y, test = problem.X, np.full_like(problem.y, -1), problem.part("test")
    train = problem.part("train")
    y[train] = problem.y[train]
    model = SGCClassifier(problem.n_hops, **problem.settings["model"])

    def run() -> Answer:
        start = time.perf_counter()
        graph = Graph(problem.indptr, problem.indices)
        made = time.perf_counter()
        model.fit(X, y, graph=graph)
        labels = np.asarray(model.transduction_)  # of every node of the graph it was fitted on
        figures = {
            "prepare_seconds": made - start,
            "accuracy": float((labels == problem.y)[test].mean()),
            "relative_gradient": float(model.gradient_ratio_),
            "iterations": float(model.n_iter_),
        }
        return Answer({"labels": labels}, figures)

    return run


def tuning(problem: Problem) -> Run:
    """Every weight decay on validation nodes, propagation included, and the final fit."""
    from sgclearn import Graph, SGCClassifierCV

    graph, X = Graph(problem.indptr, problem.indices), problem.X
    val, y = problem.part("val"), np.full_like(problem.y, -1)
    known = np.concatenate([problem.part("train"), val])
    y[known] = problem.y[known]
    options: dict[str, Any] = problem.settings["model"]
    decays = problem.settings["weight_decays"]

    def fitted() -> Any:
        model = SGCClassifierCV(problem.n_hops, weight_decay=decays, **options)
        return model.fit(X, y, graph=graph, validation=val)

    gradients = _gradients_of(fitted)

    def run() -> Answer:
        model = fitted()
        ordered = sorted(model.cv_results_, key=lambda trial: trial["weight_decay"])
        scores = np.array([trial["score"] for trial in ordered])
        figures = {"best_score": float(scores.max()), "solves": float(len(gradients))}
        return Answer({"scores": scores}, {**figures, "relative_gradient": max(gradients)})

    return run


def _gradients_of(fit: Callable[[], Any]) -> list[float]:
    """Relative gradient where each solve of a fit ended. The solver is listened to in a run that is not timed."""
    from sgclearn.estimators.fitting import PreparedFit

    heard: list[float] = []
    solve = PreparedFit.solve

    def listened(*arguments: Any, **more: Any) -> Any:
        result = solve(*arguments, **more)
        heard.append(float(result.gradient_ratio))
        return result

    with patch.object(PreparedFit, "solve", listened):
        fit()
    return heard


def inductive(problem: Problem) -> Run:
    """Fit on the subgraph of the training nodes, predict validation and test nodes on the whole graph."""
    from sgclearn import Graph, SGCClassifier

    graph, X, y = Graph(problem.indptr, problem.indices), problem.X, problem.y
    train, val, test = (problem.part(name) for name in ("train", "val", "test"))
    # Cut once, like the peers' matrices: every contender is given both graphs.
    seen, X_seen, y_seen = graph.subgraph(train), np.ascontiguousarray(X[train]), y[train]
    model = SGCClassifier(problem.n_hops, **problem.settings["model"])

    def run() -> Answer:
        start = time.perf_counter()
        model.fit(X_seen, y_seen, graph=seen)
        fitted = time.perf_counter()
        labels = model.predict(X, graph=graph)
        figures = {
            "fit_seconds": fitted - start,
            "predict_seconds": time.perf_counter() - fitted,
            "val_accuracy": float((labels == y)[val].mean()),
            "test_accuracy": float((labels == y)[test].mean()),
            "training_loss": float(model.loss_),
            "relative_gradient": float(model.gradient_ratio_),
            "iterations": float(model.n_iter_),
        }
        return Answer({"labels": labels}, figures)

    return run


def training(problem: Problem) -> Run:
    """Logistic regression alone, on rows that are given; timed to the loss that is asked for by its tolerance."""
    from sgclearn import SGCClassifier

    X, y = problem.X, problem.y
    model = SGCClassifier(0, **problem.settings["model"])

    def run() -> Answer:
        model.fit(X, y)
        figures = {"iterations": float(model.n_iter_)}
        return Answer({"coef": model.coef_.T.copy(), "intercept": model.intercept_.copy()}, figures)

    return run
