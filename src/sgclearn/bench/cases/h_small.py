"""(h) A tiny graph: a fit must not pay for what large ones need."""

from __future__ import annotations

from sgclearn.bench.cases.case import OURS, Bench, Case, Outcome
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender, thread_label

N_NODES, N_EDGES, N_FEATURES, N_CLASSES = 34, 78, 16, 2  # those of the karate club, with some features


def _run(bench: Bench) -> Outcome:
    from sgclearn.datasets.generators import make_block_graph

    data = make_block_graph(N_NODES, N_EDGES, N_CLASSES, N_FEATURES)
    settings = {"n_hops": 2, "weight_decay": 1e-2, "model": {"weight_decay": 1e-2}}
    contenders = [
        Contender(f"{name}, {thread_label(count)}", entry, name != OURS, threads=count)
        for count in sorted({1, bench.threads})
        for name, entry in ((OURS, "ours:fit"), ("scikit-learn on the same rows", "sklearn_peer:small"))
    ]
    with bench.folder() as folder:
        sizes = write_problem(folder, data.graph, data.X, data, **settings)
        part = bench.measure("34 nodes", sizes, folder, contenders)
    return Outcome([part], [part.bar("times as fast as LogisticRegression", 1)])


SMALL = Case(
    "h",
    "A tiny graph",
    "A fit on a graph of 34 nodes, graph and propagation included, against scikit-learn's LogisticRegression on the "
    "training rows with nothing to propagate, so that no answers are compared. Each side counts at its best number of "
    "threads.",
    _run,
)
