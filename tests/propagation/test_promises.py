"""What is promised about threads, forks, instruction sets and memory: each statement of SECURITY.md with its test."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sgclearn import Compute, SGCClassifier
from sgclearn.estimators.threads import blas_threads_for

from zoo import random_features, random_graph

HERE = Path(__file__).parent
INSTRUCTIONS = ["baseline", "avx2", "avx512"]
# Between two instruction sets, relative to the sums of absolute values that a number is made of.
BOUNDS = {"float64": 1e-14, "float32": 2e-6}
WEIGHTS_BOUND = 1e-8  # of a fit to tol=1e-12 with weight decay, relative to the largest weight
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, forks")


@pytest.mark.parametrize("plan", ["full", "frontier", "left-first", "implicit"])
@pytest.mark.parametrize("form", ["dense", "float32", "sparse"])
def test_fit_has_the_same_bits_for_any_number_of_threads(plan, form):
    graph, X = random_graph(3000, 12_000, seed=91), random_features(3000, 40, seed=92)
    X = {"dense": X, "float32": X.astype(np.float32), "sparse": sparse.csr_array(X)}[form]
    y = np.arange(3000) % 4
    y[1500:] = -1
    fits = [
        SGCClassifier(compute=Compute(plan=plan, n_threads=count)).fit(X, y, graph=graph)
        for count in (1, 2, 3, 5)
    ]
    logits = [fit.decision_function(X, graph=graph) for fit in fits]
    for fit, of_fit in zip(fits[1:], logits[1:], strict=True):
        assert np.array_equal(fit.coef_, fits[0].coef_)
        assert np.array_equal(of_fit, logits[0])


def test_fits_in_several_threads_have_the_bits_of_one_after_the_other():
    problems = []
    for seed in range(70, 82):
        graph, X = random_graph(400, 1500, seed=seed), random_features(400, 30, seed=seed)
        problems.append((graph, X, np.where(np.arange(400) < 120, np.arange(400) % 5, -1)))

    def fit(problem):
        graph, X, y = problem
        return SGCClassifier(compute=Compute(n_threads=2)).fit(X, y, graph=graph).coef_

    alone = [fit(problem) for problem in problems]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(fit, 5 * problems))
    for number, coefficients in enumerate(together):
        assert np.array_equal(coefficients, alone[number % len(alone)])


def test_limit_of_blas_threads_outlives_none_of_the_blocks_that_share_it():
    from threadpoolctl import threadpool_info

    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    first, second = blas_threads_for(1e6), blas_threads_for(1e6)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(threads()) == {1}  # the second is still inside
    second.__exit__(None, None, None)
    assert threads() == before


@ON_LINUX
def test_fork_while_the_kernel_runs_leaves_children_that_work():
    script = [sys.executable, str(HERE / "fork_while_running.py"), "100"]
    run = subprocess.run(script, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr


_MANY_FITS = """
import numpy as np
from sgclearn import Compute, Graph, SGCClassifier

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])

rng = np.random.default_rng(97)
graph = Graph.from_edges(rng.integers(300, size=(900, 2)), n_nodes=300, self_loops="drop")
X, y = rng.normal(size=(300, 20)), np.arange(300) % 3
sizes = []
for number in range(1200):
    if number >= 200 and number % 100 == 0:
        sizes.append(resident())
    SGCClassifier(compute=Compute(n_threads=2)).fit(X, y, graph=graph).predict(X, graph=graph)
sizes.append(resident())
print(*sizes)
"""


@ON_LINUX
def test_memory_is_flat_over_a_thousand_fits():
    run = subprocess.run([sys.executable, "-c", _MANY_FITS], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    pages = np.array(run.stdout.split(), dtype=float)
    assert len(pages) == 11
    assert pages.max() <= 1.02 * pages[0]


_ANSWERS = """
import sys
import numpy as np
from scipy import sparse
from sgclearn import Graph, SGCClassifier, propagate
from sgclearn._native import _kernel

rng = np.random.default_rng(101)
found = {}
for name, weights in {"unweighted": None, "weighted": rng.uniform(0.1, 5.0, 1600)}.items():
    graph = Graph.from_edges(
        rng.integers(400, size=(1600, 2)), weights=weights, n_nodes=400, self_loops="drop", duplicates="sum"
    )
    for dtype in (np.float64, np.float32):
        X = rng.normal(size=(400, 37)).astype(dtype)
        for normalization in ("sym", "rw", "cheby"):
            key = f"{name}-{normalization}-{np.dtype(dtype)}"
            found[f"Z-{key}"] = propagate(X, graph, 4, normalization=normalization)
            found[f"size-{key}"] = propagate(np.abs(X), graph, 4, normalization=normalization)
            kept = sparse.csr_array(X * (X > 1))
            found[f"Z-sparse-{key}"] = propagate(kept, graph, 4, normalization=normalization, output="dense")
            found[f"size-sparse-{key}"] = found[f"Z-sparse-{key}"]  # nothing is subtracted
        fit = SGCClassifier(weight_decay=1e-3, tol=1e-12).fit(X, np.arange(400) % 6, graph=graph)
        found[f"coef-{name}-{np.dtype(dtype)}"] = fit.coef_
        found[f"labels-{name}-{np.dtype(dtype)}"] = fit.transduction_
np.savez(sys.argv[1], instructions=_kernel.instruction_set(), **found)
"""


def test_instruction_sets_agree_within_the_stated_bounds(tmp_path):
    answers = {}
    for limit in INSTRUCTIONS:
        environment = {**os.environ, "SGCLEARN_INSTRUCTIONS": limit}
        command = [sys.executable, "-c", _ANSWERS, str(tmp_path / f"{limit}.npz")]
        subprocess.run(command, env=environment, check=True, timeout=300)
        answers[limit] = np.load(tmp_path / f"{limit}.npz")
    chosen = {str(answer["instructions"]) for answer in answers.values()}
    if len(chosen) == 1:
        pytest.skip(f"this processor has nothing but {chosen.pop()}")
    one = answers["baseline"]
    for limit in INSTRUCTIONS[1:]:
        other = answers[limit]
        for key in one.files:
            if key.startswith("Z-"):
                off = np.abs(one[key].astype(float) - other[key]).max(axis=1)
                size = one[f"size-{key[2:]}"].astype(float).max(axis=1)
                assert (off <= BOUNDS[str(one[key].dtype)] * size).all(), (limit, key, (off / size).max())
            elif key.startswith("coef-"):
                off = np.abs(one[key] - other[key]).max() / np.abs(one[key]).max()
                assert off <= (WEIGHTS_BOUND if "float64" in key else 1e-4), (limit, key, off)
            elif key.startswith("labels-"):
                assert np.array_equal(one[key], other[key])
