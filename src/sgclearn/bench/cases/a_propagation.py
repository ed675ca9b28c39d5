"""(a) Propagation: two hops at Reddit's shape, and on real graphs with sparse features."""

from __future__ import annotations

from sgclearn.bench.answers import Agreement
from sgclearn.bench.cases.case import OURS, Bar, Bench, Case, Outcome, Part
from sgclearn.bench.problems import write_problem
from sgclearn.bench.process import Contender

N_HOPS = 2
REAL = ("wordnet", "cord19_entities", "debian_packages")
QUICK_REAL = ("drawn",)
BARRED = ("MKL", "torch CSR")
AS_THE_BEST = "times as fast as the best peer"
QUICK_SHAPE = {"n_nodes": 4000, "n_features": 48}


def dense_contenders(threads: int) -> list[Contender]:
    """Everyone who can multiply a sparse matrix by dense columns."""
    peers = {
        "MKL": "mkl_peer:propagation",
        "MKL, optimised": "mkl_peer:optimized",
        "torch CSR": "torch_peer:csr",
        "torch COO": "torch_peer:coo",
        "PyG SGConv": "torch_peer:pyg",
        "GraphBLAS": "graphblas_peer:propagation",
    }
    return [
        Contender(OURS, "ours:propagation", is_peer=False, threads=threads),
        Contender("scipy", "scipy_peer:propagation", threads=threads, is_barred=True),
        *(
            Contender(name, entry, environment="peers", threads=threads, is_barred=name.startswith(BARRED))
            for name, entry in peers.items()
        ),
    ]


def sparse_contenders(threads: int) -> list[Contender]:
    """Everyone who can multiply two sparse matrices."""
    peers = {
        "MKL": "mkl_peer:propagation",
        "torch CSR": "torch_peer:csr",
        "GraphBLAS": "graphblas_peer:propagation",
    }
    return [
        Contender(OURS, "ours:propagation", is_peer=False, threads=threads),
        Contender("scipy", "scipy_peer:propagation", threads=threads),
        *(Contender(name, entry, environment="peers", threads=threads) for name, entry in peers.items()),
    ]


def _reddit(bench: Bench) -> Part:
    from sgclearn.datasets.generators import make_block_graph

    data = make_block_graph(**(QUICK_SHAPE if bench.quick else {}))
    with bench.folder() as folder:
        sizes = write_problem(folder, data.graph, data.X, n_hops=N_HOPS)
        del data
        return bench.measure("Reddit's shape", sizes, folder, dense_contenders(bench.threads), Agreement("Z"))


def _run(bench: Bench) -> Outcome:
    reddit = _reddit(bench)
    outcome = Outcome([reddit])
    for name in QUICK_REAL if bench.quick else REAL:
        data = bench.load(name)
        if isinstance(data, str):
            outcome.skipped[name] = data
            continue
        with bench.folder() as folder:
            sizes = write_problem(folder, data.graph, data.X, n_hops=N_HOPS)
            part = bench.measure(name, sizes, folder, sparse_contenders(bench.threads), Agreement("Z"))
        outcome.parts.append(part)
    ours = reddit.best(OURS)
    beyond = None if ours is None or ours.bytes_beyond is None else ours.bytes_beyond
    features = 4 * reddit.sizes["n_nodes"] * reddit.sizes["n_features"]
    outcome.bars = [
        reddit.bar("Reddit's shape: times as fast as the faster of MKL and torch CSR", 4, *BARRED),
        reddit.bar("Reddit's shape: times as fast as scipy", 8, "scipy"),
        Bar(
            "Reddit's shape: memory beyond X, graph and result, as a share of X",
            None if beyond is None else beyond / features,
            0.1,
            at_most=True,
        ),
        *(part.bar(f"{part.name}: {AS_THE_BEST}", 1) for part in outcome.parts[1:]),
        *(Bar(f"{name}: {AS_THE_BEST}", None, 1) for name in outcome.skipped),
    ]
    return outcome


PROPAGATION = Case(
    "a",
    "Propagation",
    "Two hops, from a graph and features in memory to the smoothed features. The peers are given the values of S "
    "ready; sgclearn computes its scaling inside.",
    _run,
)
