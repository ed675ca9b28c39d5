"""(g) Distance to the limit: gathered bytes a second against a plain gather loop on the same pattern."""

from __future__ import annotations

from sgclearn.bench.cases.case import OURS, Bar, Bench, Case, Outcome
from sgclearn.bench.cases.e_growth import PROBE
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender

N_HOPS = 2
QUICK_SHAPE = {"n_nodes": 4000, "n_features": 48}


def _run(bench: Bench) -> Outcome:
    from sgclearn.datasets.generators import make_block_graph

    data = make_block_graph(**(QUICK_SHAPE if bench.quick else {}))
    contenders = [
        Contender(OURS, "ours:propagation", is_peer=False, threads=bench.threads),
        Contender(PROBE, "gather:probe", is_peer=False, threads=bench.threads),
    ]
    with bench.folder() as folder:
        sizes = write_problem(folder, data.graph, data.X, n_hops=N_HOPS, n_columns=data.X.shape[1])
        del data
        part = bench.measure("Reddit's shape", sizes, folder, contenders)
    ours, loop = part.best(OURS), part.best(PROBE)
    share = None
    if ours is not None and loop is not None:
        # Padding of the last cache line is read and not counted.
        needed = 4.0 * N_HOPS * sizes["n_stored"] * sizes["n_features"]
        part.figures["sgclearn, gathered GB/s"] = needed / ours.best / 1e9
        part.figures["plain gather loop, GB/s"] = loop.figures["gathered_bytes"] / loop.best / 1e9
        share = part.figures["sgclearn, gathered GB/s"] / part.figures["plain gather loop, GB/s"]
        if share > 1:
            part.notes.append("The loop was slower than the kernel in this run: it is no limit here.")
    return Outcome([part], [Bar("share of the plain gather loop's bytes a second", share, 0.6)])


LIMIT = Case(
    "g",
    "Distance to the limit",
    "Bytes of neighbours' features gathered in a second, packing, scaling and unpacking included, against a loop that "
    "only reads one cache line of every neighbour: on aligned huge pages and with prefetching, as the kernel does.",
    _run,
)
