"""What was tried to make propagation faster: other widths of blocks, and nodes in another order.

The graph is drawn with the shape of Reddit. Every way makes the same hops, takes turns with the others, gives the
same answer, and counts at its best. The kernel takes 16, 32 or 64 columns of float32 at a time (one, two or four
cache lines a node). It chooses by itself; here it is told. A new order of the nodes is timed with its cost: the graph
and the features are put into it, and the result is put back. The communities are those that the graph was drawn with:
finding them would cost more on top. Prefetching is compiled into the kernel and cannot be turned off here. Memory is
the peak of the process during the first run, less what it held before, less the result: where the system does not
say, it is left out. Memory that a run gives back stays with the process, as in the benchmark: nobody is timed while
the system hands out fresh pages.

Run it with `python benchmarks/propagation_tried.py`; `--nodes 20000 --features 64` gives an idea in seconds. Writes
docs/propagation-tried-table.rst, which the documentation includes.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from sgclearn import Compute, GraphDataset, propagate
from sgclearn.bench.contenders.worker import RESET_PEAK, give_back, memory
from sgclearn.bench.machine import describe_machine, sentence
from sgclearn.bench.process import ALLOCATION
from sgclearn.datasets import make_block_graph
from sgclearn.files import replacing
from sgclearn.propagation.engines import native_walk

TABLE = Path(__file__).parent.parent / "docs" / "propagation-tried-table.rst"
LINES = (1, 2, 4)
COLUMNS_A_LINE = 16
AS_IT_IS = "as the kernel chooses"
Way = Callable[[int], tuple[Any, float]]  # from hops to the result and the seconds that a new order takes


@dataclass(frozen=True)
class Found:
    """Least seconds of a way, how many of them went into a new order, and memory as a share of the features'."""

    seconds: float = np.inf
    ordering: float = 0.0
    memory: float | None = None


def ways(data: GraphDataset, n_threads: int) -> dict[str, Way]:
    """Everything that is tried, by name; the first is what the others are compared with."""
    X, graph = data.X, data.graph

    def plain(n_hops: int) -> tuple[Any, float]:
        return propagate(X, graph, n_hops, compute=Compute(n_threads=n_threads)), 0.0

    def in_blocks(lines: int) -> Way:
        def run(n_hops: int) -> tuple[Any, float]:
            with patch.object(native_walk, "block_lines", lambda *_: lines):
                return plain(n_hops)

        return run

    def in_order(key: Any) -> Way:
        def run(n_hops: int) -> tuple[Any, float]:
            start = time.perf_counter()
            order = np.argsort(key, kind="stable")
            renumbered, rows = graph.subgraph(order), X[order]
            middle = time.perf_counter()
            Z = propagate(rows, renumbered, n_hops, compute=Compute(n_threads=n_threads))
            end = time.perf_counter()
            back = np.empty_like(Z)
            back[order] = Z
            return back, middle - start + time.perf_counter() - end

        return run

    widths = {f"blocks of {COLUMNS_A_LINE * lines} columns": in_blocks(lines) for lines in LINES}
    orders = {
        "nodes by degree": in_order(-np.diff(graph.indptr)),
        "nodes by true community": in_order(data.y),
    }
    return {AS_IT_IS: plain, **widths, **orders}


def beyond(way: Way, n_hops: int) -> tuple[Any, int | None]:
    """The result of a way, and the bytes it took beside it; None where the system does not say."""
    gc.collect()
    give_back()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    before = memory("VmRSS")
    Z = way(n_hops)[0]
    peak = memory("VmHWM")
    return Z, None if before is None or peak is None else max(peak - before - Z.nbytes, 0)


def measure(tried: dict[str, Way], n_hops: int, rounds: int) -> dict[str, Found]:
    """Every way at its best, and its memory in a round before, which does not count; all give the same answer."""
    found = {}
    wanted = tried[AS_IT_IS](n_hops)[0]
    for name, way in tried.items():
        Z, taken = beyond(way, n_hops)
        found[name] = Found(memory=None if taken is None else taken / Z.nbytes)
        if not np.allclose(Z, wanted, atol=1e-4 * np.abs(wanted).max()):
            raise SystemExit(f"{name} gave another answer")
        del Z
    del wanted
    for _ in range(rounds):
        for name, way in tried.items():
            start = time.perf_counter()
            ordering = way(n_hops)[1]
            seconds = time.perf_counter() - start
            if seconds < found[name].seconds:
                found[name] = replace(found[name], seconds=seconds, ordering=ordering)
    return found


def table(found: dict[int, dict[str, Found]], heading: str) -> str:
    """A list-table: a row for every way, three columns for every number of hops, and the memory of the first."""
    header = ["what"]
    for n_hops in found:
        header += [f"{n_hops} hops, seconds", "of these for the order", "times the kernel's choice"]
    header.append("memory beyond graph, features and result, as a share of the features")
    rows = [header]
    for name, first in next(iter(found.values())).items():
        row = [name]
        for best in found.values():
            way, ratio = best[name], f"{best[name].seconds / best[AS_IT_IS].seconds:.2f}"
            row += [f"{way.seconds:.3g}", f"{way.ordering:.3g}" if way.ordering else "", ratio]
        rows.append([*row, "" if first.memory is None else f"{first.memory:.3f}"])
    lines = [heading, "", ".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'* -' if column == 0 else '  -'} {cell}".rstrip() for column, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=232_965)
    parser.add_argument("--features", type=int, default=602)
    parser.add_argument("--hops", type=int, nargs="+", default=[2, 10])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--table", type=Path, default=TABLE)
    given = parser.parse_args()
    if not ALLOCATION.items() <= os.environ.items():  # the C library reads them when a process begins
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ALLOCATION})
    data = make_block_graph(given.nodes, n_features=given.features)
    tried = ways(data, given.threads)
    found = {n_hops: measure(tried, n_hops, given.rounds) for n_hops in given.hops}
    heading = (
        f"{data.graph.n_nodes:,} nodes, {data.graph.n_stored:,} stored entries, {given.features} columns, "
        f"{given.threads} thread{'s' if given.threads > 1 else ''}, best of {given.rounds} rounds. "
        f"Load of the machine afterwards: {os.getloadavg()[0]:.1f}. {sentence(describe_machine())}."
    )
    text = table(found, heading)
    print(text)
    with replacing(given.table) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
