"""What the native kernel promises beyond the contract: equal bits for any number of threads, and to stop when told."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from scipy import sparse

from sgclearn import Compute, Graph, Operator, propagate, reference
from sgclearn.propagation.engines import get_engine, native_engine, native_products, native_walk

from zoo import dense_adjacency, random_features, random_graph

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-10}


@pytest.fixture
def threads_at_once(monkeypatch):
    """However small the work is, it is shared by all threads there may be."""
    monkeypatch.setattr(native_walk, "WORTH_A_THREAD", -1)
    monkeypatch.setattr(native_products, "WORTH_A_THREAD", -1)
    monkeypatch.setattr(native_products, "_WORTH_A_SPARSE_THREAD", -1)
    monkeypatch.setattr(native_engine, "_WORTH_WALKING", -1)


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
        one, two, five = (
            propagate(X, graph, 2, compute=Compute(plan=plan, n_threads=t), output="dense") for t in (1, 2, 5)
        )
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, five)
        serial = propagate(X, graph, 2, compute=Compute(plan=plan, engine="scipy"), output="dense")
        np.testing.assert_allclose(one, serial, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("lines", [1, 2, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_gives_the_same_for_every_width_of_its_blocks(monkeypatch, dtype, lines):
    graph, X = big_case(dtype)
    expected = propagate(X, graph, 2, compute=Compute(engine="scipy"))
    monkeypatch.setattr(native_walk, "block_lines", lambda *_: lines)
    np.testing.assert_allclose(
        propagate(X, graph, 2, compute=Compute(engine="native")),
        expected,
        rtol=TOLERANCE[dtype],
        atol=TOLERANCE[dtype],
    )


def test_native_blocks_are_wide_only_while_they_stay_in_the_cache():
    assert native_walk.block_lines(1000, 1433, 8) == 4
    assert native_walk.block_lines(1000, 8, 8) == 1  # one line holds all columns
    assert native_walk.block_lines(1000, 20, 8) == 2
    assert native_walk.block_lines(30_000, 1433, 8) == 2  # in the cache that cores share
    assert native_walk.block_lines(10**6, 1433, 8) == 1


def test_native_leaves_degrees_out_of_its_range_to_scipy():
    graph = Graph.from_edges([0, 1], [1, 2], [1e-30, 1e30], n_nodes=3)
    X = random_features(3, 4, seed=37, density=1.0).astype(np.float32)
    Z = propagate(X, graph, 2, gamma=0.0, compute=Compute(engine="native"))
    S = reference.propagation_matrix(dense_adjacency(graph), "sym", 0.0)
    np.testing.assert_allclose(Z, S @ S @ X, rtol=1e-5, atol=1e-12)


def test_native_sums_long_rows_closely_in_single_precision():
    star = Graph.from_edges(np.zeros(100_000, dtype=int), np.arange(1, 100_001))
    X = (1 + np.random.default_rng(41).random((100_001, 3))).astype(np.float32)
    centre = propagate(X, star, 1, normalization="rw", nodes=[0])[0]
    np.testing.assert_allclose(centre, X.astype(np.float64).mean(axis=0), rtol=1e-5)


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
    propagate(X, graph, 300, compute=Compute(engine="native", n_threads=1))
    seen = len(ticks) - before
    done.set()
    thread.join()
    assert seen > 2  # one, if the lock were held all the time


def same_bits(products) -> None:
    for product in products[1:]:
        np.testing.assert_array_equal(product.indptr, products[0].indptr)
        np.testing.assert_array_equal(product.indices, products[0].indices)
        np.testing.assert_array_equal(product.data, products[0].data)


@pytest.mark.parametrize("n_columns", [40, 384, 20_000], ids=["long rows", "both", "short rows"])
def test_native_sparse_product_does_not_depend_on_threads_or_repeated_entries(threads_at_once, n_columns):
    rng = np.random.default_rng(2020)
    A = sparse.random_array((30_000, 700), density=0.01, format="csr", rng=rng)
    columns = rng.integers(0, n_columns, (700, 6)).astype(np.int32)  # the same column may come twice in a row
    columns[:, 1] = columns[:, 0]
    B = sparse.csr_array((rng.random(4200), columns.ravel(), 6 * np.arange(701)), shape=(700, n_columns))
    products = [get_engine("native", n_threads).sparse_product(A, B) for n_threads in (1, 2, 5)]
    expected = A @ B
    assert abs(products[0] - expected).max() <= 1e-13 * abs(expected).max()
    same_bits(products)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_sparse_steps_do_not_depend_on_threads(threads_at_once, dtype, weighted):
    graph, X = big_case(dtype, weighted)
    rows, X = np.arange(graph.n_nodes), sparse.csr_array(X * (np.abs(X) > 2.5))
    walks = [get_engine("native", n).walk(Operator(graph), [rows] * 2, rows, dtype) for n in (1, 2, 5)]
    steps = [walk.step(0, X) for walk in walks]
    S = Operator(graph).matrix()
    assert abs(steps[0] - S @ X).max() < TOLERANCE[dtype]
    same_bits(steps)


@pytest.mark.parametrize("n_columns", [3, 21])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_thin_products_do_not_depend_on_threads(threads_at_once, dtype, n_columns):
    rng = np.random.default_rng(73)
    X = sparse.random_array((20_000, 400), density=0.02, format="csr", rng=rng, dtype=dtype)
    V = rng.normal(size=(400, n_columns))
    one, two, five = (native_products.thin_product(X, V, n_threads) for n_threads in (1, 2, 5))
    np.testing.assert_allclose(one, X.astype(np.float64) @ V, atol=1e-12)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, five)


def test_native_extremes_do_not_depend_on_threads_nor_on_blocks(monkeypatch):
    rng = np.random.default_rng(404)
    A = sparse.random_array((3000, 700), density=0.02, format="csr", rng=rng)
    B = sparse.random_array((700, 900), density=0.05, format="csr", rng=rng)
    parts = rng.integers(0, 3, 3000)
    one, two, five = (get_engine("native", n).product_extremes(A, B, parts, 3) for n in (1, 2, 5))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, five)
    monkeypatch.setattr("sgclearn.propagation.engines.scipy_engine._BLOCK_BYTES", 900 * 8 * 7)
    np.testing.assert_allclose(get_engine("scipy").product_extremes(A, B, parts, 3), one, atol=1e-12)


@pytest.mark.parametrize("n_threads", [1, 5])
def test_native_raises_what_goes_wrong_in_any_of_its_threads(threads_at_once, n_threads):
    A = sparse.csr_array(np.ones((6400, 3)))
    # Every thread asks for a list of all columns, and there is none of that length.
    B = sparse.csr_array((np.ones(3), np.arange(3), np.arange(4)), shape=(3, 2**61))
    for _ in range(20):
        with pytest.raises((ValueError, MemoryError), match=r"vector|bad_alloc"):
            get_engine("native", n_threads).sparse_product(A, B)


@pytest.mark.parametrize(("form", "plan"), [("dense", "full"), ("sparse", "left-first")])
def test_native_raises_what_its_progress_raises(form, plan):
    graph, X = big_case()
    X = sparse.csr_array(X * (np.abs(X) > 2.5)) if form == "sparse" else X
    steps = []

    def complain(done: int, of: int) -> None:
        steps.append(done)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        propagate(X, graph, 2, compute=Compute(plan=plan, engine="native"), on_progress=complain)
    assert len(steps) == 1  # it stops there


def endless_hops():
    n_nodes, n_columns = 60_000, 300
    graph, rows = random_graph(n_nodes, 1_500_000, seed=47), np.arange(n_nodes)
    walk = get_engine("native", 2).walk(Operator(graph), [rows] * 501, rows, np.float32)
    X, power = np.ones((n_nodes, n_columns), dtype=np.float32), np.eye(501)[-1]
    return lambda: walk.forward(X, power)


def endless_sparse_product():
    rng = np.random.default_rng(79)
    left = rng.integers(0, 2000, (4000, 1000), dtype=np.int32)
    right = rng.integers(0, 10**6, (2000, 1000), dtype=np.int32)
    A, B = (
        sparse.csr_array((np.ones(m.size), m.ravel(), 1000 * np.arange(len(m) + 1)), shape=(len(m), n))
        for m, n in ((left, 2000), (right, 10**6))
    )
    return lambda: get_engine("native", 2).sparse_product(A, B)


def endless_walked_rows():
    graph, rows = random_graph(20_000, 500_000, seed=83), np.arange(20_000)
    X = sparse.csr_array(np.ones((20_000, 1)))
    power = np.array([0.0, 0.0, 0.0, 1.0])
    return lambda: get_engine("native", 2).sparse_rows(Operator(graph), X, None, rows, power)


def seconds_from_ctrl_c_to_its_exception(work) -> float:
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
            work()
        return time.monotonic() - pressed[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


ENDLESS = [endless_hops, endless_sparse_product, endless_walked_rows]


@pytest.mark.parametrize("prepare", ENDLESS)
def test_native_stops_on_ctrl_c_within_a_second(prepare):
    work = prepare()
    # A tenth of a second where there is nothing else to do; a busy machine may need another attempt.
    # Under a sanitizer, which makes everything slower, that it stops at all is what counts.
    most = 60.0 if "SGCLEARN_TEST_KERNEL" in os.environ else 1.0
    assert any(seconds_from_ctrl_c_to_its_exception(work) < most for _ in range(3))


def test_native_hops_between_the_same_nodes_hold_their_scales_once():
    rows = np.arange(50)
    walk = get_engine("native").walk(Operator(random_graph(50, 90, seed=89)), [rows] * 21, rows, np.float32)
    for back in (False, True):
        assert len({id(walk._hop(k, back)[4]) for k in range(20)}) == 1
