"""(d) Reddit's shape, inductive: train on the subgraph of the training nodes, predict on the whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgclearn.bench.answers import Agreement, of_entries
from sgclearn.bench.cases.case import OURS, Bar, Bench, Case, Outcome, Part
from sgclearn.bench.cases.equal_loss import measure_training
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender

QUICK_SHAPE = {"n_nodes": 1000, "n_features": 12, "n_classes": 7}
# Where the authors stop after 40 iterations without any decay, sgclearn stops at a gradient: at one that gives the
# same validation accuracy, which is what is compared. Both training losses are in the table.
MODEL: dict[str, Any] = {"weight_decay": 1e-6, "tol": 5e-2}
STRICTER = {**MODEL, "tol": 1e-2}  # beside it, for those who want the optimum more closely
MOST_OTHER_CLASSES = 0.1  # share of the nodes whose class may differ from sgclearn's
# The second half: the same rows and the same objective for everyone, and the loss that they must reach.
TRAINING_DECAY, TRAINING_TOL = 1e-5, 3e-3
# Without the graph: trained until nothing is left to gain, so that no accuracy is low for want of training.
PLAIN_TOL = 1e-3
HIGHEST_PLAIN, HIGHEST_SGC = 0.75, 0.97


def contenders(threads: int) -> list[Contender]:
    """Ours, which counts at the first tolerance, and the recipe in both layouts."""
    stricter = f"{OURS}, to {STRICTER['tol']:g} of the gradient"
    return [
        Contender(OURS, "ours:inductive", is_peer=False, threads=threads),
        Contender(stricter, "ours:inductive", False, threads=threads, settings={"model": STRICTER}),
        *(
            Contender(
                *(f"authors' recipe, {layout.upper()}", "recipe:inductive", True, "peers", threads),
                {"layout": layout},
            )
            for layout in ("csr", "coo")
        ),
    ]


def _run(bench: Bench) -> Outcome:
    from sgclearn.datasets.generators import make_block_graph

    data = make_block_graph(**(QUICK_SHAPE if bench.quick else {}))
    with bench.folder() as folder:
        sizes = write_problem(folder, data.graph, data.X, data, n_hops=2, model=MODEL)
        judge = Agreement("labels", 1.0 if bench.quick else MOST_OTHER_CLASSES, of_entries)
        whole = bench.measure("train, propagate, predict", sizes, folder, contenders(bench.threads), judge)
    training = _training(bench, data)
    plain = _plain_accuracy(data)
    ours, recipe = whole.best(OURS), whole.fastest_peer()
    gap = None
    if ours is not None and recipe is not None:
        gap = 100 * (ours.figures["val_accuracy"] - recipe.figures["val_accuracy"])
    bars = [
        whole.bar("times as fast as the authors' recipe", 5),
        Bar("validation accuracy above the recipe's, in points", gap, -0.1),
        Bar("test accuracy of logistic regression without the graph", plain, HIGHEST_PLAIN, at_most=True),
        Bar(
            "test accuracy of SGC",
            None if ours is None else ours.figures["test_accuracy"],
            HIGHEST_SGC,
            at_most=True,
        ),
        training.bar("training alone, to the same loss: times as fast as the best peer", 1),
    ]
    return Outcome([whole, training], bars)


def _training(bench: Bench, data: Any) -> Part:
    """Solvers on the propagated training rows."""
    from sgclearn import propagate

    Z = propagate(np.ascontiguousarray(data.X[data.train]), data.graph.subgraph(data.train))
    name = "training alone, to the same loss"
    return measure_training(bench, name, Z, data.y[data.train], TRAINING_DECAY, TRAINING_TOL, [bench.threads])


def _plain_accuracy(data: Any) -> float:
    """Test accuracy of the features without the graph."""
    from sgclearn import SGCClassifier

    model = SGCClassifier(0, **{**MODEL, "tol": PLAIN_TOL})
    model.fit(np.ascontiguousarray(data.X[data.train]), data.y[data.train])
    return float((model.predict(np.ascontiguousarray(data.X[data.test])) == data.y[data.test]).mean())


INDUCTIVE = Case(
    "d",
    "Inductive, at Reddit's shape",
    "Propagation over the subgraph of the training nodes, training, and prediction of every node on the whole graph. "
    "Both graphs are given. The recipe is the authors' for Reddit: L-BFGS, two steps of at most 20 iterations. "
    f"sgclearn stops at {MODEL['tol']:g} of the gradient at zero, enough for the recipe's validation accuracy, not "
    f"for its training loss; beside it at {STRICTER['tol']:g}, which no bar is about. At most "
    f"{MOST_OTHER_CLASSES:.0%} of the nodes may have another class than sgclearn's. "
    f"Logistic regression without the graph is not timed, and trained to {PLAIN_TOL:g} of the gradient at zero.",
    _run,
)
