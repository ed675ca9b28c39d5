"""What was tried to make propagation faster: rows in bands, other widths of blocks, and nodes in another order.

The graph is drawn with the shape of Reddit. Every way makes the same hops, takes turns with the others, gives the same
answer, and counts at its best. The kernel takes rows in bands, 16 columns of float32 at a time, or one after the other,
16, 32 or 64 at a time (one, two or four cache lines a node). It chooses by itself; here it is told. Bands are timed
with what building them costs, and a new order of the nodes with its cost: the graph and the features are put into it,
and the result is put back. The communities are those that the graph was drawn with: finding them would cost more on
top. Prefetching is compiled into the kernel and cannot be turned off here.

Run it with `python benchmarks/propagation_tried.py`; `--nodes 20000 --features 64` gives an idea in seconds. Writes
docs/propagation-tried-table.rst, which the documentation includes.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from sgclearn import GraphDataset, propagate
from sgclearn.bench.machine import describe_machine, sentence
from sgclearn.datasets import make_block_graph
from sgclearn.files import replacing
from sgclearn.propagation.engines import native_walk

TABLE = Path(__file__).parent.parent / "docs" / "propagation-tried-table.rst"
LINES = (1, 2, 4)
COLUMNS_A_LINE = 16
AS_IT_IS = "as the kernel chooses"
Way = Callable[[int], tuple[Any, float]]  # from hops to the result and the seconds that a new order takes


def ways(data: GraphDataset, n_threads: int) -> dict[str, Way]:
    """Everything that is tried, by name; the first is what the others are compared with."""
    X, graph = data.X, data.graph

    def plain(n_hops: int) -> tuple[Any, float]:
        return propagate(X, graph, n_hops, n_threads=n_threads), 0.0

    def in_bands(n_hops: int) -> tuple[Any, float]:
        with patch.object(native_walk, "band_bytes", lambda *_: 1.0):
            return plain(n_hops)

    def in_blocks(lines: int) -> Way:
        def run(n_hops: int) -> tuple[Any, float]:
            with (
                patch.object(native_walk, "band_bytes", lambda *_: 0.0),
                patch.object(native_walk, "block_lines", lambda *_: lines),
            ):
                return plain(n_hops)

        return run

    def in_order(key: Any) -> Way:
        def run(n_hops: int) -> tuple[Any, float]:
            start = time.perf_counter()
            order = np.argsort(key, kind="stable")
            renumbered, rows = graph.subgraph(order), X[order]
            middle = time.perf_counter()
            Z = propagate(rows, renumbered, n_hops, n_threads=n_threads)
            end = time.perf_counter()
            back = np.empty_like(Z)
            back[order] = Z
            return back, middle - start + time.perf_counter() - end

        return run

    widths = {
        f"one row after the other, blocks of {COLUMNS_A_LINE * lines} columns": in_blocks(lines)
        for lines in LINES
    }
    orders = {
        "nodes by degree": in_order(-np.diff(graph.indptr)),
        "nodes by true community": in_order(data.y),
    }
    return {AS_IT_IS: plain, "rows in bands": in_bands, **widths, **orders}


def measure(tried: dict[str, Way], n_hops: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Least seconds of every way, and how many of them went into a new order; one round before does not count."""
    best = dict.fromkeys(tried, (np.inf, 0.0))
    wanted = tried[AS_IT_IS](n_hops)[0]
    for turn in range(rounds + 1):
        for name, way in tried.items():
            start = time.perf_counter()
            Z, ordering = way(n_hops)
            seconds = time.perf_counter() - start
            if turn:
                best[name] = min(best[name], (seconds, ordering))
            elif not np.allclose(Z, wanted, atol=1e-4 * np.abs(wanted).max()):
                raise SystemExit(f"{name} gave another answer")
    return best


def table(found: dict[int, dict[str, tuple[float, float]]], heading: str) -> str:
    """A list-table: a row for every way, three columns for every number of hops."""
    header = ["what"]
    for n_hops in found:
        header += [f"{n_hops} hops, seconds", "of these for the order", "times the kernel's choice"]
    rows = [header]
    for name in next(iter(found.values())):
        row = [name]
        for best in found.values():
            seconds, ordering = best[name]
            ratio = f"{seconds / best[AS_IT_IS][0]:.2f}"
            row += [f"{seconds:.3g}", f"{ordering:.3g}" if ordering else "", ratio]
        rows.append(row)
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
