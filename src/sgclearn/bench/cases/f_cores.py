"""(f) One thread against several."""

from __future__ import annotations

from sgclearn.bench.answers import Agreement
from sgclearn.bench.cases.case import OURS, Bar, Bench, Case, Outcome
from sgclearn.bench.cases.e_growth import PROBE
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender, thread_label

QUICK_SHAPE = {"n_nodes": 4000, "n_features": 48}


def _run(bench: Bench) -> Outcome:
    from sgclearn.datasets.generators import make_block_graph

    several = bench.threads
    text = f"times as fast with {several} threads as with one"
    if several == 1:
        return Outcome(bars=[Bar(text, None, 1.7)], skipped={"several threads": "--threads 1 asks for one"})
    data = make_block_graph(**(QUICK_SHAPE if bench.quick else {}))
    contenders = [
        Contender(f"{name}, {thread_label(count)}", entry, is_peer=False, threads=count)
        for count in (1, several)
        for name, entry in ((OURS, "ours:propagation"), (PROBE, "gather:probe"))
    ]
    with bench.folder() as folder:
        sizes = write_problem(folder, data.graph, data.X, n_hops=2, n_columns=data.X.shape[1])
        del data
        part = bench.measure("Reddit's shape", sizes, folder, contenders, Agreement("Z"))
    for name in (OURS, PROBE):
        one, more = part.best(f"{name}, 1 "), part.best(f"{name}, {several} ")
        if one is not None and more is not None:
            part.figures[f"{name}: time with one thread over {several}"] = one.best / more.best
    gain = part.figures.get(f"{OURS}: time with one thread over {several}")
    return Outcome([part], [Bar(text, gain, 1.7)])


CORES = Case(
    "f",
    "One thread and several",
    "Two hops at Reddit's shape with one thread and with all that were asked for; the plain gather loop shows what the "
    "memory gives.",
    _run,
)
