"""The authors' recipe in torch: propagate once, then train a linear layer with Adam, or with L-BFGS on Reddit.

Settings as in their code: features divided by their row sums, Adam with learning rate 0.2, 100 epochs (150 on
Citeseer), weight decay on weights and bias, torch's own start. On Reddit L-BFGS with learning rate 1, two steps
of at most 20 iterations, no weight decay. Given its best form: the rows of training nodes are gathered once, the
accuracy is not computed in between, and Adam is torch's fused one.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from typing import Any

import numpy as np

from .problem import Answer, Problem, Run, normalized, row_normalized
from .torch_peer import as_coo, as_csr, use_threads

LEARNING_RATE = 0.2
REDDIT_STEPS, REDDIT_ITERATIONS = 2, 20


def _matrix_of(problem: Problem) -> Any:
    return {"coo": as_coo, "csr": as_csr}[problem.settings["layout"]]


def _hops(torch: Any, S: Any, X: Any, n_hops: int, kept: Any = None) -> Any:
    """Into arrays that are kept between calls, where the caller has them."""
    with torch.no_grad():
        for hop in range(n_hops):
            X = S @ X if kept is None else torch.mm(S, X, out=kept[hop % 2])
    return X


def _train(torch: Any, Z: Any, y: Any, n_classes: int, epochs: int, weight_decay: float) -> Any:
    layer = torch.nn.Linear(Z.shape[1], n_classes)
    optimizer = torch.optim.Adam(layer.parameters(), lr=LEARNING_RATE, weight_decay=weight_decay, fused=True)
    for _ in range(epochs):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(layer(Z), y).backward()
        optimizer.step()
    return layer


def fit(problem: Problem) -> Run:
    """From arrays to the predicted class of every node; every run starts from another seed."""
    torch = use_threads(problem)
    as_sparse, settings = _matrix_of(problem), problem.settings
    train, test = problem.part("train"), problem.part("test")
    n_classes, seeds = int(problem.y.max()) + 1, itertools.count(2019)

    def run() -> Answer:
        start = time.perf_counter()
        torch.manual_seed(next(seeds))
        S = as_sparse(normalized(problem.adjacency()), torch)
        X = torch.from_numpy(row_normalized(problem.X).toarray())
        y = torch.from_numpy(problem.y[train])
        prepared = time.perf_counter()
        Z = _hops(torch, S, X, problem.n_hops)
        propagated = time.perf_counter()
        layer = _train(torch, Z[train], y, n_classes, settings["epochs"], settings["weight_decay"])
        trained = time.perf_counter()
        with torch.no_grad():
            labels = layer(Z).argmax(1).numpy()
        figures = {
            "prepare_seconds": prepared - start,
            "propagate_seconds": propagated - prepared,
            "train_seconds": trained - propagated,
            "predict_seconds": time.perf_counter() - trained,
            "accuracy": float((labels == problem.y)[test].mean()),
        }
        return Answer({"labels": labels}, figures)

    return run


def tuning(problem: Problem) -> Run:
    """One propagation, then a training for every weight decay, each scored on the validation nodes."""
    torch = use_threads(problem)
    settings, train, val = problem.settings, problem.part("train"), problem.part("val")
    S = _matrix_of(problem)(normalized(problem.adjacency()), torch)
    X = torch.from_numpy(row_normalized(problem.X).toarray())
    y, n_classes = torch.from_numpy(problem.y), int(problem.y.max()) + 1

    def run() -> Answer:
        torch.manual_seed(2019)
        Z = _hops(torch, S, X, problem.n_hops)
        Z_train, Z_val, scores = Z[train], Z[val], []
        for weight_decay in settings["weight_decays"]:
            layer = _train(torch, Z_train, y[train], n_classes, settings["epochs"], weight_decay)
            with torch.no_grad():
                scores.append(float((layer(Z_val).argmax(1) == y[val]).float().mean()))
        return Answer({"scores": np.array(scores)}, {"best_score": max(scores)})

    return run


def inductive(problem: Problem) -> Run:
    """Features of the training subgraph, features of the whole graph, L-BFGS, prediction; matrices are ready."""
    torch = use_threads(problem)
    as_sparse, A = _matrix_of(problem), problem.adjacency()
    train, val, test = (problem.part(name) for name in ("train", "val", "test"))
    S, S_train = as_sparse(normalized(A), torch), as_sparse(normalized(A[train][:, train]), torch)
    X, y = torch.from_numpy(problem.X), torch.from_numpy(problem.y)
    X_train, y_train, n_classes = X[train], y[train], int(problem.y.max()) + 1
    del A
    kept, kept_train = ([torch.ones_like(columns) for _ in range(2)] for columns in (X, X_train))

    def run() -> Answer:
        start = time.perf_counter()
        torch.manual_seed(2019)
        Z_train = _hops(torch, S_train, X_train, problem.n_hops, kept_train)
        Z = _hops(torch, S, X, problem.n_hops, kept)
        propagated = time.perf_counter()
        layer = torch.nn.Linear(X.shape[1], n_classes)
        optimizer = torch.optim.LBFGS(layer.parameters(), lr=1, max_iter=REDDIT_ITERATIONS)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(layer(Z_train), y_train)
            loss.backward()
            losses.append(float(loss.detach()))
            return loss

        losses: list[float] = []
        for _ in range(REDDIT_STEPS):
            optimizer.step(closure)
        trained = time.perf_counter()
        with torch.no_grad():
            labels = layer(Z).argmax(1)
        figures = {
            "propagate_seconds": propagated - start,
            "train_seconds": trained - propagated,
            "predict_seconds": time.perf_counter() - trained,
            "val_accuracy": float((labels == y)[val].float().mean()),
            "test_accuracy": float((labels == y)[test].float().mean()),
            "training_loss": losses[-1],
        }
        return Answer({"labels": labels.numpy()}, figures)

    return run


def pyg_fit(problem: Problem) -> Run:
    """PyG's SGConv with its cache, trained as in its own example but scored only at the end."""
    torch = use_threads(problem)
    from torch_geometric.nn import SGConv

    settings, train, test = problem.settings, problem.part("train"), problem.part("test")
    n_classes, seeds = int(problem.y.max()) + 1, itertools.count(2019)
    as_edges = settings["layout"] == "edges"

    def run() -> Answer:
        torch.manual_seed(next(seeds))
        A = problem.adjacency()
        if as_edges:
            coo = A.tocoo()
            edges = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
        else:
            edges = as_csr(A, torch)
        X = torch.from_numpy(row_normalized(problem.X).toarray())
        y, rows = torch.from_numpy(problem.y), torch.from_numpy(train)
        layer = SGConv(X.shape[1], n_classes, K=problem.n_hops, cached=True)
        optimizer = torch.optim.Adam(
            layer.parameters(), lr=LEARNING_RATE, weight_decay=settings["weight_decay"], fused=True
        )
        for _ in range(settings["epochs"]):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(layer(X, edges)[rows], y[rows]).backward()
            optimizer.step()
        with torch.no_grad():
            labels = layer(X, edges).argmax(1).numpy()
        return Answer({"labels": labels}, {"accuracy": float((labels == problem.y)[test].mean())})

    return run


def lbfgs_training(problem: Problem) -> Run:
    """L-BFGS of torch with strong Wolfe steps, on rows that are given, until the loss is reached."""
    torch = use_threads(problem)
    X, y = torch.from_numpy(problem.X), torch.from_numpy(problem.y)
    settings, n_classes = problem.settings, int(problem.y.max()) + 1

    def run() -> Answer:
        layer = torch.nn.Linear(X.shape[1], n_classes)
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
        # One call, so that no evaluation is made twice, and only the loss ends it.
        optimizer = torch.optim.LBFGS(
            *(layer.parameters(), 1, settings["max_iter"]),
            tolerance_change=0.0,
            line_search_fn="strong_wolfe",
        )
        evaluations = 0

        def closure() -> Any:
            nonlocal evaluations
            evaluations += 1
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(layer(X), y)
            loss = loss + settings["weight_decay"] / 2 * (layer.weight**2).sum()
            if float(loss.detach()) <= settings["loss"]:
                raise StopIteration
            loss.backward()
            return loss

        with contextlib.suppress(StopIteration):
            optimizer.step(closure)
        figures = {"evaluations": float(evaluations)}
        weight, bias = (part.detach().numpy() for part in (layer.weight, layer.bias))
        return Answer({"coef": weight.T.copy(), "intercept": bias.copy()}, figures)

    return run
