"""Rows taken in bands: the same as the reference for any size of a band, and only where they pay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn import Graph, Operator, propagate
from sgclearn._native import _kernel
from sgclearn.filters import CustomFilter
from sgclearn.propagation.engines import bands, native_walk
from sgclearn.propagation.engines.bands import band_columns, rows_of_band

from zoo import ZOO, graphs, operator_choices, random_features, random_graph

pytestmark = pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")
WIDE = {"n_nodes": 232_965, "n_stored": 23_200_000, "n_columns": 602, "itemsize": 4}


def in_bands(monkeypatch, rows: int, blocks: int = 1) -> list[int]:
    """Bands of so many rows for the first blocks of columns, wherever the kernel may.

    Gives a list that grows with every walk that took them.
    """
    taken: list[int] = []

    def columns(n_nodes, n_stored, n_columns, itemsize):
        wanted = blocks * _kernel.LINE_BYTES // itemsize
        return wanted if wanted < n_columns else 0

    monkeypatch.setattr(native_walk, "band_columns", columns)
    monkeypatch.setattr(native_walk, "rows_of_band", lambda *_: taken.append(rows) or rows)
    monkeypatch.setattr(native_walk, "WORTH_A_THREAD", -1)
    return taken


@pytest.mark.parametrize("rows", [1, 3, _kernel.MOST_ROWS_OF_BAND])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ZOO)
def test_bands_equal_the_reference_on_the_zoo(monkeypatch, polynomial, name, dtype, rows):
    graph = ZOO[name]
    taken = in_bands(monkeypatch, rows)
    X = random_features(graph.n_nodes, 37, seed=5, density=0.6).astype(dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-11
    for choice in [("sym", 1.0), ("rw", 0.0), ("cheby", None)]:
        expected = polynomial(graph, choice, [0, 0, 0, 1]) @ X
        for form in (X, sparse.csr_array(X)):
            Z = propagate(
                form, graph, 3, normalization=choice[0], gamma=choice[1], plan="full", engine="native",
                output="dense",
            )  # fmt: skip
            np.testing.assert_allclose(Z, expected, rtol=tolerance, atol=tolerance)
    assert bool(taken) == (not graph.is_weighted and graph.n_nodes > 0)


@settings(max_examples=40)
@given(
    graph=graphs(self_loops=True), choice=operator_choices(), rows=st.integers(1, 9), threads=st.integers(1, 3),
    coefficients=st.lists(st.sampled_from([0.0, 1.0, -0.5, 2.0]), min_size=2, max_size=4),
)  # fmt: skip
def test_bands_equal_the_reference(polynomial, graph, choice, rows, threads, coefficients):
    X = random_features(graph.n_nodes, 21, seed=7, density=1.0)
    with pytest.MonkeyPatch.context() as monkeypatch:
        in_bands(monkeypatch, rows)
        Z = propagate(
            X, graph, filter=CustomFilter(coefficients), normalization=choice[0], gamma=choice[1], plan="full",
            engine="native", n_threads=threads,
        )  # fmt: skip
    np.testing.assert_allclose(Z, polynomial(graph, choice, coefficients) @ X, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_native_bands_equal_dense_numpy_for_all_types(monkeypatch, dtype, index):
    """Nodes that read far apart: entries that only lead further are needed, many in a row."""
    n = 400
    rng = np.random.default_rng(41)
    source, target = rng.integers(0, n, 90), rng.choice([0, 1, 199, 390, 399], 90)
    graph = Graph.from_edges(source, target, n_nodes=n)
    taken = in_bands(monkeypatch, 50)
    S = Operator(graph).matrix().toarray()
    real = native_walk.NativeWalk._pieces

    def with_index(self, *args):
        pieces = real(self, *args)
        return (pieces[0].astype(index), pieces[1].astype(index), *pieces[2:])

    monkeypatch.setattr(native_walk.NativeWalk, "_pieces", with_index)
    X = random_features(n, 19, seed=43, density=1.0).astype(dtype)
    Z = propagate(X, graph, 1, plan="full", engine="native")
    assert taken
    np.testing.assert_allclose(Z, S @ X, rtol=1e-5, atol=1e-5 if dtype == np.float32 else 1e-12)


def test_bands_give_the_same_bits_for_any_number_of_rows_and_threads(monkeypatch):
    graph = random_graph(3000, 40_000, seed=23)
    X = random_features(3000, 66, seed=31, density=1.0).astype(np.float32)
    in_bands(monkeypatch, 700, blocks=2)
    expected = propagate(X, graph, 2, plan="full", n_threads=1)
    for rows, threads in [(700, 3), (41, 2), (5000, 2)]:
        in_bands(monkeypatch, rows, blocks=2)
        np.testing.assert_array_equal(propagate(X, graph, 2, plan="full", n_threads=threads), expected)


def test_bands_are_for_whole_graphs_without_weights(monkeypatch):
    graph = random_graph(200, 900, seed=3)
    X = random_features(200, 20, seed=5, density=1.0)
    taken = in_bands(monkeypatch, 50)
    propagate(X, graph, 2, nodes=np.arange(3), plan="frontier")
    propagate(X, graph, 2, nodes=np.arange(3), plan="full")
    coo = graph.to_scipy().tocoo()
    upper = coo.row < coo.col
    weighted = Graph.from_edges(coo.row[upper], coo.col[upper], np.full(int(upper.sum()), 0.5), n_nodes=200)
    propagate(X, weighted, 2, plan="full")
    assert not taken
    propagate(X, graph, 2, plan="full")
    assert taken


def test_bands_take_the_columns_whose_results_are_not_needed_for_entries():
    assert band_columns(**WIDE) == 544  # of 602: the entries take up to 114 times two bytes in every row
    assert band_columns(**{**WIDE, "itemsize": 8}) == 568


@pytest.mark.parametrize(
    "change",
    [
        {"n_nodes": 60_000, "n_stored": 3_000_000},  # a block that is near enough
        {"n_nodes": 100_000, "n_stored": 3_000_000},  # short rows
        {"n_nodes": 2_000_000, "n_stored": 80_000_000},  # nodes that no row of a band reads
        {"n_columns": 120},  # too few whole blocks beside those that the entries take
        {"n_nodes": 700_000, "n_stored": 2**31, "n_columns": 20_000},  # places are 32 bits wide
    ],
)
def test_bands_are_taken_only_where_they_pay(change):
    assert band_columns(**{**WIDE, **change}) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"n_nodes": 70_000, "n_stored": 3_000_000},
        {"n_nodes": 100_000, "n_stored": 3_300_000},
        {"n_nodes": 400_000, "n_stored": 45_000_000},
        {"n_columns": 121},
        {"n_nodes": 700_000, "n_stored": 2**31 - 1, "n_columns": 20_000},
    ],
)
def test_bands_are_taken_just_inside_of_their_limits(change):
    assert band_columns(**{**WIDE, **change}) > 0


@settings(max_examples=40)
@given(
    n=st.integers(64, 600), degree=st.integers(2, 30), gap=st.integers(1, 40), threads=st.sampled_from([1, 2, 64]),
    itemsize=st.sampled_from([4, 8]),
)  # fmt: skip
def test_entries_of_bands_fit_into_the_columns_that_are_left_for_them(n, degree, gap, threads, itemsize):
    """With gaps between the nodes that are read, so that many entries only lead further, and the fewest columns."""
    rng = np.random.default_rng(n * degree + gap)
    target = gap * rng.integers(0, -(-n // gap), n * degree)
    graph = Graph.from_edges(np.repeat(np.arange(n), degree), target, n_nodes=n)
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, value in {"_NEAR": 0, "_FEWEST_ENTRIES": 0, "_LEAST_SHARE": 0.0}.items():
            monkeypatch.setattr(bands, name, value)
        monkeypatch.setattr(native_walk, "WORTH_A_THREAD", -1)
        columns = next(c for c in range(1, 4000) if band_columns(n, graph.n_stored, c, itemsize) > 0)
        X = random_features(n, columns, seed=11, density=1.0).astype(f"f{itemsize}")
        Z = propagate(X, graph, 1, plan="full", n_threads=threads)  # the kernel refuses bands without room
    np.testing.assert_allclose(Z, Operator(graph).matrix() @ X, rtol=1e-4, atol=1e-5)


def test_bands_are_small_enough_to_share_and_fit_the_kernel():
    assert rows_of_band(10**6, 10**9, 2) == bands._BAND <= _kernel.MOST_ROWS_OF_BAND
    assert rows_of_band(80_000, 80_000**2, 64) == 312
    assert rows_of_band(3, 6, 64) == 2


@pytest.mark.parametrize("n_threads", [1, 8, 128])
def test_bands_take_no_more_entries_for_leading_than_for_reading(n_threads):
    n_nodes, n_stored = 400_000, 45_000_000
    rows = rows_of_band(n_nodes, n_stored, n_threads)
    assert rows <= bands._BAND
    assert rows * n_stored >= n_nodes**2  # a node is read by one row of a band, on average


def test_native_refuses_bands_that_its_entries_cannot_name(monkeypatch):
    in_bands(monkeypatch, _kernel.MOST_ROWS_OF_BAND + 1)
    graph = random_graph(20, 40, seed=3)
    with pytest.raises(ValueError, match="too many rows for a band"):
        propagate(random_features(20, 30, seed=5, density=1.0), graph, 1, plan="full", engine="native")


def test_native_refuses_bands_without_room(monkeypatch):
    in_bands(monkeypatch, 4)
    graph = random_graph(20, 150, seed=3)
    with pytest.raises(ValueError, match="too little room for bands"):
        propagate(random_features(20, 9, seed=5, density=1.0), graph, 1, plan="full", engine="native")
    in_bands(monkeypatch, 4)
    monkeypatch.setattr(native_walk, "band_columns", lambda *_: 3)
    with pytest.raises(ValueError, match="whole blocks"):
        propagate(random_features(20, 9, seed=5, density=1.0), graph, 1, plan="full", engine="native")
