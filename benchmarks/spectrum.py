"""Lanczos against the dense eigendecomposition, and the price of a density.

The dense decomposition of a large graph is not run: that of a third of its nodes is, and its time grows with the cube
of their number. Both ends of the spectrum are found by Lanczos on the whole graph.

Run it as `python benchmarks/spectrum.py [--dataset pubmed]`; datasets besides the embedded one are read from the folder
named by SGCLEARN_DATA.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sgclearn import Operator, list_datasets, load_dataset
from sgclearn.spectral import exact_spectrum, extreme_eigenvalues, spectral_density


def timed(function: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Least seconds of some runs, and the result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dataset", help="a dataset by name (default: pubmed where it is, else the embedded one)"
    )
    name = parser.parse_args().dataset
    if name is None:
        at_hand = {info.name for info in list_datasets() if info.available}
        name = "pubmed" if "pubmed" in at_hand else "debian"
    warnings.simplefilter("ignore")  # loops in the data: as the paper's own code treats them
    graph = load_dataset(name).graph
    n_nodes, n_part = graph.n_nodes, graph.n_nodes // 3
    operator = Operator(graph)
    lanczos, ends = timed(lambda: extreme_eigenvalues(operator), 3)
    density, found = timed(lambda: spectral_density(operator), 3)
    part = Operator(graph.subgraph(np.arange(n_part)))
    dense, _ = timed(lambda: exact_spectrum(part, max_bytes=np.inf), 1)
    estimate = dense * (n_nodes / n_part) ** 3
    print(f"{name}: {n_nodes:,} nodes, {graph.n_edges:,} edges")
    print(
        f"Lanczos, both ends: {lanczos:.3f} s, eigenvalues {abs(ends.smallest[0]):.6f} and {ends.largest[0]:.6f}"
    )
    print(f"density, {found.n_products} products with S: {density:.3f} s")
    print(f"dense, {n_part:,} nodes: {dense:.1f} s; all nodes, estimated: {estimate:.0f} s")
    print(f"Lanczos is {estimate / lanczos:,.0f} times as fast")


if __name__ == "__main__":
    main()
