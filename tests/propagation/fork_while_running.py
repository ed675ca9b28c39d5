"""Fork again and again while another thread propagates and fits with the kernel: every child must do a fit and end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings

import numpy as np

from sgclearn import Compute, Graph, SGCClassifier, propagate

LONGEST = 30.0  # seconds that a child may take


def problem(n_nodes: int, n_columns: int, seed: int) -> tuple[Graph, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(rng.integers(n_nodes, size=(5 * n_nodes, 2)), n_nodes=n_nodes, self_loops="drop")
    return graph, rng.normal(size=(n_nodes, n_columns)), np.arange(n_nodes) % 3


def ended(child: int) -> int | None:
    """The status of a child, or None where it hangs: it is ended then."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def main(n_forks: int) -> int:
    warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads is what this is about
    large, X_large, _ = problem(20_000, 64, seed=11)
    small, X, y = problem(60, 6, seed=13)

    def fit() -> np.ndarray:
        return SGCClassifier(compute=Compute(n_threads=2)).fit(X, y, graph=small).coef_

    expected = fit()
    done, runs = threading.Event(), [0, 0]

    def propagating() -> None:
        while not done.is_set():
            propagate(X_large, large, 2, compute=Compute(n_threads=2))
            runs[0] += 1

    def fitting() -> None:
        while not done.is_set():
            fit()
            runs[1] += 1

    threads = [threading.Thread(target=work) for work in (propagating, fitting)]
    for thread in threads:
        thread.start()
    wrong = 0
    for number in range(n_forks):
        child = os.fork()
        if child == 0:
            try:
                same = np.array_equal(fit(), expected)
                Z = propagate(X_large[:, :8], large, 1, compute=Compute(n_threads=2))
                os._exit(0 if same and np.isfinite(Z).all() else 3)
            finally:
                os._exit(4)
        status = ended(child)
        if status != 0:
            wrong += 1
            print(f"child {number}: {'hangs' if status is None else f'status {status}'}", flush=True)
    done.set()
    for thread in threads:
        thread.join()
    print(f"{n_forks} forks, {wrong} wrong, {runs[0]} propagations and {runs[1]} fits meanwhile")
    return 1 if wrong or not min(runs) else 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1])))
