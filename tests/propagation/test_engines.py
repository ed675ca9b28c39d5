"""One contract, one suite: what every engine must give, on the zoo of odd graphs and on drawn ones."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Compute, Graph, Operator, SGCClassifier, propagate
from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.filters import CustomFilter
from sgclearn.propagation.engines import choose, get_engine
from sgclearn.propagation.engines.threads import thread_count
from sgclearn.propagation.neighbourhood import hop_sets

from zoo import ZOO, graphs, operator_choices, random_features, random_graph, to_dense

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")
ENGINES = ["native", "scipy", "torch"]
FEW = settings(max_examples=40)
CHOICES = [("sym", 1.0), ("sym", 0.0), ("rw", 0.5), ("rw", 0.0), ("cheby", None)]


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "torch":
        pytest.importorskip("torch")
    return get_engine(request.param)


def close_to(dtype) -> dict[str, float]:
    return {"rtol": 1e-5, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-12}


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("name", ZOO)
def test_engine_powers_equal_the_reference_on_the_zoo(engine, name, choice, polynomial):
    graph = ZOO[name]
    for dtype in (np.float64, np.float32):
        X = random_features(graph.n_nodes, 37, seed=5, density=0.6).astype(dtype)
        Z = propagate(
            X,
            graph,
            3,
            normalization=choice[0],
            gamma=choice[1],
            compute=Compute(plan="full", engine=engine.name),
        )
        assert Z.dtype == dtype
        np.testing.assert_allclose(Z, polynomial(graph, choice, [0, 0, 0, 1]) @ X, **close_to(dtype))


@st.composite
def walks(draw):
    graph = draw(graphs(self_loops=True))
    node = st.integers(0, graph.n_nodes - 1)
    rows = np.array(draw(st.lists(node, min_size=1, unique=True)), dtype=np.intp)
    coefficients = draw(st.lists(st.sampled_from([0.0, 1.0, -0.5, 2.0]), min_size=2, max_size=4))
    return graph, rows, draw(operator_choices()), np.array(coefficients), draw(st.booleans())


@pytest.mark.parametrize("name", ENGINES)
@FEW
@given(case=walks())
def test_engine_walks_equal_the_reference(name, case, polynomial):
    if name == "torch":
        pytest.importorskip("torch")
    graph, rows, choice, coefficients, everything = case
    operator, n = Operator(graph, *choice), graph.n_nodes
    hops = len(coefficients) - 1
    sets = [np.arange(n)] * (hops + 1) if everything else hop_sets(graph, rows, hops)
    walk = get_engine(name).walk(operator, sets, rows, np.float64)
    P = polynomial(graph, choice, coefficients)
    reached = sets[-1]
    X, scale = random_features(n, 9, seed=11, density=0.5), np.linspace(0.5, 2.0, len(reached))
    V, G = random_features(9, 3, seed=13, density=1.0), random_features(len(rows), 3, seed=17, density=1.0)
    outside = np.setdiff1d(np.arange(n), reached)
    assert not P[np.ix_(rows, outside)].any()  # what is out of reach has no part in the rows
    expected = P[np.ix_(rows, reached)] @ (scale[:, None] * X[reached])
    close = {"rtol": 1e-10, "atol": 1e-11}
    for H in (X, np.asfortranarray(X), sparse.csr_array(X)):
        np.testing.assert_allclose(
            walk.forward(H, coefficients, scale=scale, nodes=reached), expected, **close
        )
        np.testing.assert_allclose(walk.forward(H[reached], coefficients, scale=scale), expected, **close)
        np.testing.assert_allclose(walk.through(H[reached], scale, V, coefficients), expected @ V, **close)
    np.testing.assert_allclose(walk.backward(G, coefficients), P[np.ix_(rows, reached)].T @ G, **close)
    S = polynomial(graph, choice, [0, 1])
    for k in range(hops):
        block = S[np.ix_(sets[k], sets[k + 1])]
        for H in (X, sparse.csr_array(X)):
            stepped = walk.step(k, H[sets[k + 1]])
            np.testing.assert_allclose(to_dense(stepped), block @ X[sets[k + 1]], **close)


@FEW
@given(st.integers(0, 2**32 - 1), st.sampled_from(ENGINES[:2]), st.sampled_from([np.float32, np.float64]))
def test_engine_sparse_products_equal_dense_ones(seed, name, dtype):
    rng = np.random.default_rng(seed)
    m, p, d = rng.integers(0, 30, 3)
    A = sparse.random_array((m, p), density=rng.random(), format="csr", rng=rng, dtype=dtype)
    B = sparse.random_array((p, d), density=rng.random(), format="csr", rng=rng, dtype=dtype)
    product = get_engine(name).sparse_product(A, B)
    assert product.dtype == dtype
    np.testing.assert_allclose(product.toarray(), A.toarray() @ B.toarray(), rtol=1e-5, atol=1e-6)


@FEW
@given(st.integers(0, 2**32 - 1), st.sampled_from(ENGINES[:2]), st.sampled_from([np.float32, np.float64]))
def test_engine_extremes_are_those_of_the_dense_product(seed, name, dtype):
    rng = np.random.default_rng(seed)
    m, p, d = rng.integers(1, 30, 3)
    A = sparse.random_array((m, p), density=rng.random(), format="csr", rng=rng, dtype=dtype)
    B = sparse.random_array((p, d), density=rng.random(), format="csr", rng=rng, dtype=dtype)
    B.data -= dtype(0.5)
    n_parts = int(rng.integers(1, m + 1))
    parts = rng.permutation(np.arange(m) % n_parts)
    steps = []
    low, high = get_engine(name).product_extremes(
        A, B, parts, n_parts, lambda done, of: steps.append((done, of))
    )
    dense = A.toarray() @ B.toarray()
    assert low.dtype == high.dtype == dtype
    assert steps[-1] == (m, m)
    for part in range(n_parts):
        np.testing.assert_allclose(low[part], dense[parts == part].min(axis=0), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(high[part], dense[parts == part].max(axis=0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", ["dense", "sparse", "identity"])
@pytest.mark.parametrize("plan", ["full", "frontier", "left-first"])
def test_engine_reports_its_progress_to_the_end(engine, plan, form):
    graph = random_graph(1500, 2000, seed=61)
    X = random_features(1500, 70, seed=67, density=0.02)
    X = {"dense": X, "sparse": sparse.csr_array(X), "identity": None}[form]
    steps = []
    rows = np.arange(0, 1500, 5)
    watched = propagate(
        X, graph, 3, compute=Compute(plan=plan, engine=engine.name), nodes=rows, output="dense",
        on_progress=lambda done, of: steps.append((done, of)),
    )  # fmt: skip
    unwatched = propagate(
        X, graph, 3, compute=Compute(plan=plan, engine=engine.name), nodes=rows, output="dense"
    )
    np.testing.assert_array_equal(watched, unwatched)
    shares = [done / of for done, of in steps]
    assert shares[0] > 0
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_engine_auto_is_scipy_with_one_warning_where_the_kernel_is_missing(monkeypatch):
    choose._warn_once.cache_clear()
    monkeypatch.setattr(choose, "has_kernel", lambda: False)
    with pytest.warns(SgclearnWarning, match="compiled kernel is missing"):
        assert get_engine().name == "scipy"
    assert get_engine(n_threads=2).name == "scipy"  # a second warning would be an error here
    with pytest.raises(InputError, match="needs the compiled kernel"):
        get_engine("native")
    choose._warn_once.cache_clear()


def test_fit_where_the_kernel_is_missing_warns_once_and_ends_at_the_same_place(tmp_path):
    rng = np.random.default_rng(71)
    edges, X = rng.integers(0, 90, (200, 2)), rng.normal(size=(90, 8))
    y = (X[:, 0] + 0.5 * rng.normal(size=90) > 0).astype(int)
    np.savez(tmp_path / "problem.npz", edges=edges, X=X, y=y)
    program = """
import sys, warnings
from pathlib import Path

class NoKernel:
    def find_spec(self, name, path=None, target=None):
        if name == "sgclearn._native._kernel":
            raise ImportError(name)

sys.meta_path.insert(0, NoKernel())
import numpy as np
from sgclearn import Graph, SGCClassifier

folder = Path(sys.argv[1])
problem = np.load(folder / "problem.npz")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    graph = Graph.from_edges(problem["edges"], n_nodes=90, self_loops="drop")
    for _ in range(2):
        clf = SGCClassifier(weight_decay=0.01).fit(problem["X"], problem["y"], graph)
np.save(folder / "found.npy", clf.predict_proba(problem["X"], graph))
print(*(str(warning.message) for warning in seen), sep="\\n")
"""
    run = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (warning,) = run.stdout.splitlines()
    assert "compiled kernel is missing, so the slower scipy engine serves" in warning
    graph = Graph.from_edges(edges, n_nodes=90, self_loops="drop")
    clf = SGCClassifier(weight_decay=0.01, compute=Compute(engine="native")).fit(X, y, graph)
    expected = clf.predict_proba(X, graph)
    np.testing.assert_allclose(np.load(tmp_path / "found.npy"), expected, atol=1e-6)


def test_engine_names_and_threads_are_checked():
    with pytest.raises(InputError, match="engine must be one of auto, native, scipy, torch: got 'cuda'"):
        get_engine("cuda")
    with pytest.raises(InputError, match="n_threads is for the native kernel"):
        get_engine("scipy", 2)
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(InputError, match="n_threads must be a whole number >= 1"):
            get_engine("native", wrong)


def test_threads_come_from_the_argument_then_the_environment_then_the_cores(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    monkeypatch.setenv("SGCLEARN_NUM_THREADS", "5")
    assert thread_count(7) == 7
    assert thread_count() == 5
    monkeypatch.delenv("SGCLEARN_NUM_THREADS")
    assert thread_count() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    with pytest.raises(InputError, match="OMP_NUM_THREADS must be a whole number >= 1: got 'many'"):
        thread_count()
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count() == len(os.sched_getaffinity(0))


def test_engine_keeps_a_filter_in_one_go_and_in_parts_alike(engine, polynomial):
    graph = random_graph(34, 78, seed=53)
    X = random_features(graph.n_nodes, 21, seed=59, density=1.0)
    filter_ = CustomFilter([0.5, -1.0, 0.0, 2.0])
    expected = polynomial(graph, ("sym", 1.0), filter_.coefficients) @ X
    np.testing.assert_allclose(
        propagate(X, graph, filter=filter_, compute=Compute(engine=engine.name)), expected, rtol=1e-10
    )
