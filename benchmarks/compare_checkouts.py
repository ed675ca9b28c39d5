"""Compare the speed of two checkouts of sgclearn: `compare_checkouts.py OLD/.venv/bin/python NEW/.venv/bin/python`.

Each checkout runs in one worker process per number of threads. The workers take turns, run by run, after one
untimed warm-up run; the best run of each checkout and case counts, at its best number of threads. The cases are
those of the benchmark: (a) propagation at Reddit's shape, (b) fit and predict, (c) 60 weight decays, (d) inductive,
(h) a tiny graph.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from math import exp, log
from typing import Any

CITATION = {"cora": 1.3027e-5, "citeseer": 2.3546e-5, "pubmed": 7.4039e-5, "coauthor_cs": 1.3027e-5}
GROUPS = {
    "a": ["a:reddit-shape"],
    "b": [f"b:{name}" for name in CITATION],
    "c": ["c:pubmed"],
    "d": ["d:reddit-shape"],
    "h": ["h:34-nodes"],
}


def _citation(name: str) -> Callable[[], Any]:
    import numpy as np

    from sgclearn import Graph, SGCClassifier, load_dataset

    data = load_dataset(name)
    y = np.full_like(data.y, -1)
    y[data.train] = data.y[data.train]
    model = SGCClassifier(2, row_norm="l1", weight_decay=CITATION[name])
    X = data.X.astype(np.float32)
    indptr, indices = data.graph.indptr, data.graph.indices
    return lambda: np.asarray(model.fit(X, y, graph=Graph(indptr, indices)).transduction_)


def _tuning() -> Callable[[], Any]:
    import numpy as np

    from sgclearn import SGCClassifierCV, load_dataset

    data = load_dataset("pubmed")
    y = np.full_like(data.y, -1)
    known = np.concatenate([data.train, data.val])
    y[known] = data.y[known]
    model = SGCClassifierCV(2, weight_decay=np.logspace(-10, -4, 60), row_norm="l1")
    X = data.X.astype(np.float32)
    return lambda: model.fit(X, y, graph=data.graph, validation=data.val)


def _tiny() -> Callable[[], Any]:
    import numpy as np

    from sgclearn import Graph, SGCClassifier
    from sgclearn.datasets.generators import make_block_graph

    data = make_block_graph(34, 78, 2, 16)
    y = np.full_like(data.y, -1)
    y[data.train] = data.y[data.train]
    X, indptr, indices = data.X.astype(np.float32), data.graph.indptr, data.graph.indices
    model = SGCClassifier(2, weight_decay=1e-2)
    return lambda: model.fit(X, y, graph=Graph(indptr, indices)).transduction_


def _reddit_shape(share: float) -> Any:
    from sgclearn.datasets.generators import make_block_graph

    return make_block_graph(int(233_000 * share), int(11_600_000 * share), 41, 602)


def _propagation() -> Callable[[], Any]:
    from sgclearn import Graph, propagate

    data = _reddit_shape(1.0)
    indptr, indices = data.graph.indptr, data.graph.indices
    return lambda: propagate(data.X, Graph(indptr, indices), 2)


def _inductive() -> Callable[[], Any]:
    import numpy as np

    from sgclearn import SGCClassifier

    data = _reddit_shape(0.1)
    seen = data.graph.subgraph(data.train)
    X_seen, y_seen = np.ascontiguousarray(data.X[data.train]), data.y[data.train]
    model = SGCClassifier(2, scale="standard", weight_decay=1e-5)
    return lambda: model.fit(X_seen, y_seen, graph=seen).predict(data.X, graph=data.graph)


def _case(name: str) -> Callable[[], Any]:
    kind, _, dataset = name.partition(":")
    others = {"a": _propagation, "c": _tuning, "d": _inductive, "h": _tiny}
    return _citation(dataset) if kind == "b" else others[kind]()


def work() -> None:
    """Prepare and time the cases that come on stdin, one line each: `prepare CASE` or `run N`."""
    run: Callable[[], Any] = lambda: None  # noqa: E731
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "prepare":
            run = _case(argument)
            run()
            seconds = 0.0
        else:
            start = time.perf_counter()
            for _ in range(int(argument)):
                run()
            seconds = (time.perf_counter() - start) / int(argument)
        print(json.dumps(seconds), flush=True)


class Worker:
    """A process that runs one checkout with one number of threads."""

    def __init__(self, python: str, threads: int) -> None:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "SGCLEARN_NUM_THREADS", "SGCLEARN_THREADS")
        environment = os.environ | {name: str(threads) for name in names}
        self.process = subprocess.Popen(
            [python, __file__, "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, command: str) -> float:
        """Send one command and wait for its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return float(json.loads(self.process.stdout.readline()))


def main() -> None:
    """Print the best seconds of both checkouts per case, their ratio, and the geometric mean per group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--cases", default="b,h")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    groups = options.cases.split(",")
    counts = [int(count) for count in options.threads.split(",")]
    print(f"{'case':<18}{'old, s':>10}{'new, s':>10}{'new/old':>9}")
    ratios: dict[str, float] = {}
    for case in [case for group in groups for case in GROUPS[group]]:
        sides = {
            side: [Worker(python, count) for count in counts]
            for side, python in (("old", options.old), ("new", options.new))
        }
        workers = [worker for pair in zip(*sides.values(), strict=True) for worker in pair]
        for worker in workers:
            worker.ask(f"prepare {case}")
        repeat = max(1, min(200, int(0.3 / max(workers[0].ask("run 1"), 1e-6))))
        best = {worker: float("inf") for worker in workers}
        for round_ in range(options.rounds):
            for worker in workers if round_ % 2 == 0 else reversed(workers):
                best[worker] = min(best[worker], worker.ask(f"run {repeat}"))
        old, new = (min(best[worker] for worker in side) for side in sides.values())
        ratios[case] = new / old
        print(f"{case:<18}{old:>10.5f}{new:>10.5f}{new / old:>9.3f}", flush=True)
        for worker in workers:
            worker.process.kill()
    for group in groups:
        chosen = [ratios[case] for case in GROUPS[group]]
        print(f"({group}) geometric mean new/old: {exp(sum(map(log, chosen)) / len(chosen)):.3f}")
    print(f"all: {exp(sum(map(log, ratios.values())) / len(ratios)):.3f}")


if __name__ == "__main__":
    work() if "--worker" in sys.argv else main()
