"""(b) Fit and predict every node on the citation graphs and Coauthor CS, from arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgclearn.bench.answers import Agreement, of_entries
from sgclearn.bench.cases.case import OURS, Bar, Bench, Case, Outcome, Part
from sgclearn.bench.cases.equal_loss import NEWTON, measure_training
from sgclearn.bench.contenders.problem import row_normalized
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender, thread_label

# The authors' tuned weight decay and epochs; Coauthor CS is not theirs and has the first of them.
SETTINGS = {
    "cora": (1.3027e-5, 100),
    "citeseer": (2.3546e-5, 150),
    "pubmed": (7.4039e-5, 100),
    "coauthor_cs": (1.3027e-5, 100),
}
BARRED = ("cora", "citeseer", "pubmed")
QUICK = {"drawn": (1e-5, 5)}
# scikit-learn's second-order solver stores a matrix of (features x classes)^2 numbers.
LARGEST_HESSIAN = 3000
# PyG stores a message for every edge and column when it is given a list of edges.
EDGES, LARGEST_MESSAGES = "PyG SGConv, edges", 2e9
# Share of the nodes whose class may differ from sgclearn's: the others stop before the optimum, or leave the bias free.
MOST_OTHER_CLASSES = 0.1
# Solvers alone: few labels, many features.
TRAINED, TRAINING_TOL = "cora", 1e-5


def too_large(n_parameters: int, message_bytes: float) -> dict[str, str]:
    """Forms of peers that do not fit, with the reason."""
    found = {}
    if n_parameters > LARGEST_HESSIAN:
        found[NEWTON] = f"its matrix would have {n_parameters:,} rows and columns"
    if message_bytes > LARGEST_MESSAGES:
        found[EDGES] = f"it would store {message_bytes / 1e9:.1f} GB of messages"
    return found


def contenders(threads: int, left_out: dict[str, str], barred: tuple[str, ...] = ()) -> list[Contender]:
    """Everyone at one thread and, where there are more, at all: each side counts at its best.

    `barred` has the beginnings of the names that bars speak of, `left_out` who cannot take part, with the reason.
    """
    found: list[Contender] = []
    for count in sorted({1, threads}):
        label = thread_label(count)
        peers: dict[str, tuple[str, str, dict[str, Any]]] = {
            "authors' recipe, COO": ("recipe:fit", "peers", {"layout": "coo"}),
            "authors' recipe, CSR": ("recipe:fit", "peers", {"layout": "csr"}),
            EDGES: ("recipe:pyg_fit", "peers", {"layout": "edges"}),
            "PyG SGConv, CSR": ("recipe:pyg_fit", "peers", {"layout": "csr"}),
            "scikit-learn, lbfgs": ("sklearn_peer:fit", "own", {"solver": "lbfgs"}),
            NEWTON: ("sklearn_peer:fit", "own", {"solver": "newton-cholesky"}),
        }
        if count == 1:
            peers["scikit-network GNNClassifier"] = ("sknetwork_peer:fit", "peers", {})
        found.append(Contender(f"{OURS}, {label}", "ours:fit", is_peer=False, threads=count))
        for name, (entry, environment, settings) in peers.items():
            if name not in left_out:
                is_barred = name.startswith(barred)
                found.append(
                    Contender(f"{name}, {label}", entry, True, environment, count, settings, is_barred)
                )
    return found


def _measure(bench: Bench, name: str, data: Any, weight_decay: float, epochs: int) -> Part:
    model = {"row_norm": "l1", "weight_decay": weight_decay}
    settings = {"n_hops": 2, "weight_decay": weight_decay, "epochs": epochs, "model": model}
    n_parameters = data.X.shape[1] * len(data.class_names)
    with bench.folder() as folder:
        sizes = write_problem(folder, data.graph, data.X, data, **settings)
        messages = 4.0 * (data.graph.n_stored + data.graph.n_nodes) * data.X.shape[1]
        left_out = too_large(n_parameters, messages)
        judge = Agreement("labels", 1.0 if bench.quick else MOST_OTHER_CLASSES, of_entries)
        barred = ("authors' recipe", "PyG") if name in BARRED else ()
        part = bench.measure(name, sizes, folder, contenders(bench.threads, left_out, barred), judge)
    part.notes += [f"Left out: {peer}, {reason}." for peer, reason in left_out.items()]
    ours, recipe = part.best(OURS), part.fastest_peer("authors' recipe")
    if ours is not None and recipe is not None:
        part.figures["accuracy, ours - recipe, points"] = 100 * (
            ours.figures["accuracy"] - recipe.figures["accuracy"]
        )
        part.figures["ratio without building tensors and graph"] = (
            recipe.best - recipe.figures["prepare_seconds"]
        ) / (ours.best - ours.figures["prepare_seconds"])
    return part


def _training(bench: Bench, name: str, data: Any, weight_decay: float) -> Part:
    """Solvers alone on the propagated rows of the few labelled nodes."""
    from sgclearn import propagate

    Z = propagate(row_normalized(data.X), data.graph, 2, nodes=data.train, output="dense")
    title = f"{name}, training alone, to the same loss"
    counts = sorted({1, bench.threads})
    return measure_training(bench, title, Z, data.y[data.train], weight_decay, TRAINING_TOL, counts)


def _run(bench: Bench) -> Outcome:
    outcome = Outcome()
    for name, (weight_decay, epochs) in (QUICK if bench.quick else SETTINGS).items():
        data = bench.load(name)
        if isinstance(data, str):
            outcome.skipped[name] = data
        else:
            outcome.parts.append(_measure(bench, name, data, weight_decay, epochs))
            if bench.quick or name == TRAINED:
                outcome.parts.append(_training(bench, name, data, weight_decay))
    barred = [part for part in outcome.parts if part.name in BARRED]
    recipe = [ratio for part in barred if (ratio := part.ratio("authors' recipe")) is not None]
    pyg = [ratio for part in barred if (ratio := part.ratio("PyG")) is not None]
    gaps = [
        gap for part in barred if (gap := part.figures.get("accuracy, ours - recipe, points")) is not None
    ]
    complete, judged = len(recipe) == len(BARRED), len(gaps) == len(BARRED)
    mean = float(np.exp(np.log(recipe).mean())) if complete else None
    no_recipe = [f"{part.name}: {peer}" for part in barred for peer in part.absent("authors' recipe")]
    no_pyg = [f"{part.name}: {peer}" for part in barred for peer in part.absent("PyG")]
    least, least_pyg = min(recipe, default=None), min(pyg, default=None)
    outcome.bars = [
        Bar("times as fast as the authors' recipe, geometric mean", mean, 10, absent=no_recipe),
        Bar("times as fast as the authors' recipe, least", least if complete else None, 6, absent=no_recipe),
        Bar("times as fast as PyG, least", least_pyg if len(pyg) == len(BARRED) else None, 30, absent=no_pyg),
        Bar("test accuracy above the recipe's, least, in points", min(gaps) if judged else None, -0.3),
        Bar(
            "test accuracy above the recipe's, most, in points",
            max(gaps) if judged else None,
            0.3,
            at_most=True,
        ),
        *(
            part.bar(f"{part.name}: times as fast as the best peer", 1)
            for part in outcome.parts
            if "loss to reach" in part.figures
        ),
    ]
    return outcome


FIT = Case(
    "b",
    "Fit and predict",
    "From arrays in memory to the predicted class of every node, everything included. Each side counts at its best "
    "number of threads; the recipe is the authors' own (Adam, 100 epochs, 150 on Citeseer), sgclearn finds the exact "
    "optimum of the same objective. The accuracy is the mean over the runs, each from another seed. At most "
    f"{MOST_OTHER_CLASSES:.0%} of the nodes may have another class than sgclearn's; scikit-network, whose own training "
    "ends elsewhere, is not compared: its accuracy says where. Training alone: the few labelled rows of one graph, "
    "already propagated, and every solver until it reaches the same loss.",
    _run,
)
