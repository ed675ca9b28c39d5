"""Seconds to read a CSV of edges with string ids, beside pandas where it is installed.

Writes the file to a temporary folder and reads it by turns with `sgclearn.read_edges`, which ends with a graph, and
with `pandas.read_csv` and `pandas.factorize`, which end with the endpoints as numbers: pandas does less. Each turn is
timed in this process with the file in the page cache; the best of the turns is printed. Run it with `make bench-more`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console

from sgclearn import read_edges

SEED = 2019
EDGES_PER_NODE = 10
BLOCK = 500_000


def write_edges(path: Path, n_edges: int) -> None:
    """Random edges among n_edges / 10 nodes called n0, n1, ..."""
    rng = np.random.default_rng(SEED)
    n_nodes = max(2, n_edges // EDGES_PER_NODE)
    with path.open("w") as stream:
        stream.write("source,target\n")
        for start in range(0, n_edges, BLOCK):
            pairs = rng.integers(n_nodes, size=(min(BLOCK, n_edges - start), 2)).tolist()
            stream.writelines(f"n{u},n{v}\n" for u, v in pairs)


def read_with_sgclearn(path: Path) -> None:
    """A graph, checked and indexed."""
    read_edges(path)


def read_with_pandas(path: Path) -> None:
    """Endpoints as numbers and the list of ids, as every graph begins; no graph yet."""
    import pandas as pd

    frame = pd.read_csv(path)
    pd.factorize(pd.concat([frame["source"], frame["target"]], ignore_index=True))


def seconds(read: Callable[[Path], None], path: Path) -> float:
    """Wall-clock time of one reading."""
    start = time.perf_counter()
    read(path)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edges", type=int, default=10_000_000, help="edges to write (default 10 million)")
    parser.add_argument("--turns", type=int, default=3, help="readings with each, best counts (default 3)")
    arguments = parser.parse_args()
    if arguments.edges < 1 or arguments.turns < 1:
        parser.error("--edges and --turns must be 1 or more")
    readers = {"sgclearn.read_edges": read_with_sgclearn}
    if find_spec("pandas") is not None:
        readers["pandas.read_csv + factorize"] = read_with_pandas
    best = dict.fromkeys(readers, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        Console(stderr=True).print(f"writing {arguments.edges:,} edges")
        write_edges(path, arguments.edges)
        print(f"{arguments.edges:,} edges, {path.stat().st_size / 1e6:.0f} MB, best of {arguments.turns}")
        for _ in range(arguments.turns):
            for name, read in readers.items():
                best[name] = min(best[name], seconds(read, path))
    for name, time_taken in best.items():
        print(f"{name:28} {time_taken:7.2f} s")
    if len(best) == 2:
        ours, theirs = best.values()
        print(f"{'ratio sgclearn : pandas':28} {ours / theirs:7.2f}")
    else:
        print("pandas is not installed: nothing to compare with")


if __name__ == "__main__":
    main()
