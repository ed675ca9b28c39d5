"""(f) One core against two."""

from __future__ import annotations

from sgclearn.bench.cases.case import OURS, Bar, Bench, Case, Outcome
from sgclearn.bench.cases.e_growth import PROBE
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender

QUICK_SHAPE = {"n_nodes": 4000, "n_features": 48}


def _run(bench: Bench) -> Outcome:
    from sgclearn.datasets.generators import make_block_graph

    data = make_block_graph(**(QUICK_SHAPE if bench.quick else {}))
    contenders = [
        Contender(f"{name}, {count} thread{'s' if count > 1 else ''}", entry, is_peer=False, threads=count)
        for count in (1, 2)
        for name, entry in ((OURS, "ours:propagation"), (PROBE, "gather:probe"))
    ]
    with bench.folder() as folder:
        sizes = write_problem(folder, data.graph, data.X, n_hops=2, n_columns=data.X.shape[1])
        del data
        part = bench.measure("Reddit's shape", sizes, folder, contenders, compare="Z")
    for name in (OURS, PROBE):
        one, two = part.best(f"{name}, 1"), part.best(f"{name}, 2")
        if one is not None and two is not None:
            part.figures[f"{name}: one core over two"] = one.best / two.best
    gain = part.figures.get(f"{OURS}: one core over two")
    return Outcome([part], [Bar("times as fast with two threads as with one", gain, 1.7)])


CORES = Case(
    "f",
    "One core and two",
    "Two hops at Reddit's shape with one thread and with two; the plain gather loop shows what the memory gives.",
    _run,
)
