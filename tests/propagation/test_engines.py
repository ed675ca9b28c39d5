"""One contract, one suite: what every engine must give, on the zoo of odd graphs and on drawn ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Graph, Operator, propagate, reference
from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.filters import CustomFilter
from sgclearn.graph.build import Rows
from sgclearn.propagation.engines import choose, get_engine
from sgclearn.propagation.engines.threads import thread_count
from sgclearn.propagation.neighbourhood import hop_sets

from zoo import ZOO, dense_adjacency, graphs, operator_choices, random_features, random_graph, to_dense

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


def polynomial(graph, choice, coefficients) -> np.ndarray:
    S = reference.propagation_matrix(dense_adjacency(graph), choice[0], choice[1] or 0.0)
    return sum(c * np.linalg.matrix_power(S, k) for k, c in enumerate(coefficients))


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("name", ZOO)
def test_engine_powers_equal_the_reference_on_the_zoo(engine, name, choice):
    graph = ZOO[name]
    for dtype in (np.float64, np.float32):
        X = random_features(graph.n_nodes, 37, seed=5, density=0.6).astype(dtype)
        Z = propagate(X, graph, 3, normalization=choice[0], gamma=choice[1], plan="full", engine=engine.name)
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
@given(walks())
def test_engine_walks_equal_the_reference(name, case):
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


def test_extremes_do_not_depend_on_threads_nor_blocks(monkeypatch):
    rng = np.random.default_rng(404)
    A = sparse.random_array((3000, 700), density=0.02, format="csr", rng=rng)
    B = sparse.random_array((700, 900), density=0.05, format="csr", rng=rng)
    parts = rng.integers(0, 3, 3000)
    one = get_engine("native", 1).product_extremes(A, B, parts, 3)
    two = get_engine("native", 2).product_extremes(A, B, parts, 3)
    np.testing.assert_array_equal(one, two)
    monkeypatch.setattr("sgclearn.propagation.engines.scipy_engine._BLOCK_BYTES", 900 * 8 * 7)
    np.testing.assert_allclose(get_engine("scipy").product_extremes(A, B, parts, 3), one, atol=1e-12)


def big_case(dtype=np.float32, weighted=False):
    graph = random_graph(3000, 40_000, seed=23)
    if weighted:
        coo = graph.to_scipy().tocoo()
        upper = coo.row <= coo.col
        weights = np.random.default_rng(29).random(int(upper.sum())) + 0.1
        graph = Graph.from_edges(coo.row[upper], coo.col[upper], weights, n_nodes=3000)
    return graph, random_features(3000, 150, seed=31, density=1.0).astype(dtype)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_native_gives_the_same_bits_for_any_number_of_threads(dtype, weighted, form):
    graph, X = big_case(dtype, weighted)
    X = sparse.csr_array(X * (np.abs(X) > 2.0)) if form == "sparse" else X
    for plan in ("full", "left-first"):
        one, two, five = (propagate(X, graph, 2, plan=plan, n_threads=t, output="dense") for t in (1, 2, 5))
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, five)
        serial = propagate(X, graph, 2, plan=plan, engine="scipy", output="dense")
        np.testing.assert_allclose(one, serial, **close_to(dtype))


@pytest.mark.parametrize("lines", [1, 2, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_gives_the_same_for_every_width_of_its_blocks(monkeypatch, dtype, lines):
    from sgclearn.propagation.engines import native_engine

    graph, X = big_case(dtype)
    expected = propagate(X, graph, 2, engine="scipy")
    monkeypatch.setattr(native_engine, "block_lines", lambda *_: lines)
    np.testing.assert_allclose(propagate(X, graph, 2, engine="native"), expected, **close_to(dtype))


@pytest.mark.parametrize("n_columns", [40, 5000], ids=["long rows", "short rows"])
def test_native_sparse_product_does_not_depend_on_threads_or_repeated_entries(n_columns):
    rng = np.random.default_rng(2020)
    A = sparse.random_array((900, 700), density=0.01, format="csr", rng=rng)
    columns = rng.integers(0, n_columns, (700, 6)).astype(np.int32)  # the same column may come twice in a row
    columns[:, 1] = columns[:, 0]
    B = sparse.csr_array((rng.random(4200), columns.ravel(), 6 * np.arange(701)), shape=(700, n_columns))
    products = [get_engine("native", n_threads).sparse_product(A, B) for n_threads in (1, 2, 5)]
    np.testing.assert_allclose(products[0].toarray(), (A @ B).toarray(), rtol=1e-13)
    for product in products[1:]:
        np.testing.assert_array_equal(product.indptr, products[0].indptr)
        np.testing.assert_array_equal(product.indices, products[0].indices)
        np.testing.assert_array_equal(product.data, products[0].data)


def test_native_blocks_are_wide_only_while_they_stay_in_the_cache():
    from sgclearn.propagation.engines.native_engine import block_lines

    assert block_lines(1000, 1433, 8) == 4
    assert block_lines(1000, 8, 8) == 1  # one line holds all columns
    assert block_lines(1000, 20, 8) == 2
    assert block_lines(10**6, 1433, 8) == 1


def test_native_takes_wide_indices():
    graph, X = big_case(np.float64)
    operator = Operator(graph)
    rows = np.arange(graph.n_nodes)
    walk = get_engine("native").walk(operator, [rows] * 3, rows, np.float64)
    expected = walk.forward(X, np.array([0.0, 0.0, 1.0]))
    wide_rows = Rows(graph.indptr.astype(np.int64), graph.indices.astype(np.int64), None)
    wide = Graph._trusted(wide_rows, False, graph.node_ids)
    walk = get_engine("native").walk(Operator(wide), [rows] * 3, rows, np.float64)
    np.testing.assert_array_equal(walk.forward(X, np.array([0.0, 0.0, 1.0])), expected)
    sparser = sparse.csr_array(X * (np.abs(X) > 2.5))
    np.testing.assert_allclose(walk.step(0, sparser).toarray(), walk.step(0, sparser.toarray()), atol=1e-12)


def test_native_leaves_degrees_out_of_its_range_to_scipy():
    graph = Graph.from_edges([0, 1], [1, 2], [1e-30, 1e30], n_nodes=3)
    X = random_features(3, 4, seed=37, density=1.0).astype(np.float32)
    Z = propagate(X, graph, 2, gamma=0.0, engine="native")
    S = reference.propagation_matrix(dense_adjacency(graph), "sym", 0.0)
    np.testing.assert_allclose(Z, S @ S @ X, rtol=1e-5, atol=1e-12)


def test_native_sums_long_rows_closely_in_single_precision():
    star = Graph.from_edges(np.zeros(100_000, dtype=int), np.arange(1, 100_001))
    X = (1 + np.random.default_rng(41).random((100_001, 3))).astype(np.float32)
    centre = propagate(X, star, 1, normalization="rw", nodes=[0])[0]
    np.testing.assert_allclose(centre, X.astype(np.float64).mean(axis=0), rtol=1e-5)


@pytest.mark.parametrize("instructions", ["baseline", "avx2", "avx512"])
def test_native_gives_the_same_on_every_instruction_set(instructions):
    program = (
        "import numpy as np; from sgclearn import Graph, propagate; from sgclearn._native import _kernel\n"
        "rng = np.random.default_rng(43); e = rng.integers(0, 500, (4000, 2)); X = rng.random((500, 70))\n"
        "g = Graph.from_edges(e[:, 0], e[:, 1], n_nodes=500, self_loops='drop')\n"
        "a, b = propagate(X, g, 3, engine='native'), propagate(X, g, 3, engine='scipy')\n"
        "np.testing.assert_allclose(a, b, rtol=1e-12); print(_kernel.instruction_set())"
    )
    environment = {**os.environ, "SGCLEARN_INSTRUCTIONS": instructions}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    order = ["baseline", "avx2", "avx512"]
    assert order.index(run.stdout.strip()) <= order.index(instructions)


def test_native_stops_on_ctrl_c_within_a_second():
    graph = random_graph(60_000, 3_000_000, seed=47)
    X = np.ones((60_000, 600), dtype=np.float32)
    pressed = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, press)
    # A shell lets its background jobs ignore the signal, and Python then has no handler for it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            propagate(X, graph, 200, engine="native")
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - pressed[0] < 5.0  # a tenth of a second, on a machine with nothing else to do


def test_native_lets_other_threads_run():
    graph, X = big_case()
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    propagate(X, graph, 300, engine="native", n_threads=1)
    seen = len(ticks) - before
    done.set()
    thread.join()
    assert seen > 2  # one, if the lock were held all the time


def test_native_raises_what_its_progress_raises():
    graph, X = big_case()

    def complain(done: int, of: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        propagate(X, graph, 2, engine="native", on_progress=complain)


def test_engine_auto_is_scipy_with_one_warning_where_the_kernel_is_missing(monkeypatch):
    choose._warn_once.cache_clear()
    monkeypatch.setattr(choose, "has_kernel", lambda: False)
    with pytest.warns(SgclearnWarning, match="compiled kernel is missing"):
        assert get_engine().name == "scipy"
    assert get_engine(n_threads=2).name == "scipy"  # a second warning would be an error here
    with pytest.raises(InputError, match="needs the compiled kernel"):
        get_engine("native")
    choose._warn_once.cache_clear()


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


def test_engine_keeps_a_filter_in_one_go_and_in_parts_alike(engine):
    graph = ZOO["karate"] if "karate" in ZOO else random_graph(34, 78, seed=53)
    X = random_features(graph.n_nodes, 21, seed=59, density=1.0)
    filter_ = CustomFilter([0.5, -1.0, 0.0, 2.0])
    expected = polynomial(graph, ("sym", 1.0), filter_.coefficients) @ X
    np.testing.assert_allclose(propagate(X, graph, filter=filter_, engine=engine.name), expected, rtol=1e-10)
