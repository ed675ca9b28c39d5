"""(e) Growth: time and memory from 10^5 to 10^8 stored entries, beside a plain gather loop of the same size."""

from __future__ import annotations

import numpy as np

from sgclearn.bench.answers import Agreement
from sgclearn.bench.cases.case import OURS, Bar, Bench, Case, Outcome, Part
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender

STORED = (10**5, 10**6, 10**7, 10**8)
QUICK_STORED = (10**4, 10**5)
N_COLUMNS, N_CLASSES = 64, 41
ENTRIES_A_NODE = 100
BARRED_FROM = 10**6
LARGEST_OF_PEERS = 10**7  # they are measured elsewhere; here they only show the slope
PROBE = "plain gather loop"


def contenders(threads: int, n_stored: int) -> list[Contender]:
    """Ours, the loop, and two peers while they fit beside each other."""
    found = [
        Contender(OURS, "ours:propagation", is_peer=False, threads=threads),
        Contender(PROBE, "gather:probe", is_peer=False, threads=threads),
    ]
    if n_stored <= LARGEST_OF_PEERS:
        found.append(Contender("scipy", "scipy_peer:propagation", threads=threads))
        found.append(Contender("MKL, optimised", "mkl_peer:optimized", True, "peers", threads))
    return found


def _measure(bench: Bench, n_stored: int) -> Part:
    from sgclearn.datasets.generators import make_block_graph

    n_nodes = max(500, n_stored // ENTRIES_A_NODE)
    data = make_block_graph(n_nodes, n_stored // 2, N_CLASSES, N_COLUMNS)
    with bench.folder() as folder:
        sizes = write_problem(folder, data.graph, data.X, n_hops=2, n_columns=N_COLUMNS)
        del data
        part = bench.measure(
            f"{n_stored:.0e} entries".replace("+0", ""),
            sizes,
            folder,
            contenders(bench.threads, n_stored),
            Agreement("Z"),
        )
    ours, loop = part.best(OURS), part.best(PROBE)
    if ours is not None and loop is not None:
        part.figures["time over the loop's"] = ours.best / loop.best
    return part


def exponent(points: list[tuple[float, float]]) -> float:
    """Slope of the straight line through the logarithms.

    Examples
    --------
    >>> round(exponent([(1e5, 0.01), (1e6, 0.1), (1e7, 1.0)]), 6)
    1.0
    """
    stored, values = np.log(points).T
    return float(np.polyfit(stored, values, 1)[0])


def _run(bench: Bench) -> Outcome:
    sizes = QUICK_STORED if bench.quick else STORED
    parts = [_measure(bench, n_stored) for n_stored in sizes]
    ran = [(part.sizes["n_stored"], ours) for part in parts if (ours := part.best(OURS)) is not None]
    growing = {
        "time": [(stored, ours.best) for stored, ours in ran],
        "memory": [(stored, float(ours.bytes_beyond)) for stored, ours in ran if ours.bytes_beyond],
    }
    figures = {
        f"exponent of {what} in stored entries": exponent(points)
        for what, points in growing.items()
        if len(points) > 1
    }
    over = [
        part.figures["time over the loop's"]
        for part in parts
        if part.sizes["n_stored"] >= BARRED_FROM and "time over the loop's" in part.figures
    ]
    complete = len(over) == sum(n_stored >= BARRED_FROM for n_stored in sizes) > 1
    spread = max(over) / min(over) if complete else None
    text = "time over that of the plain gather loop: largest over smallest, from 10^6 entries on"
    return Outcome(parts, [Bar(text, spread, 1.5, at_most=True)], figures=figures)


GROWTH = Case(
    "e",
    "Growth",
    f"Two hops of {N_COLUMNS} columns on drawn graphs with {ENTRIES_A_NODE} stored entries a node. The plain gather "
    "loop reads the same cache lines of the same neighbours and does nothing else: leaving the cache costs everybody.",
    _run,
)
