from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from sgclearn import Compute, Graph, Operator, propagate
from sgclearn.errors import InputError, MemoryLimitError
from sgclearn.propagation.engines import get_engine
from sgclearn.propagation.implicit import build_designs
from sgclearn.propagation.node_features import NodeFeatures
from sgclearn.propagation.planner import PLANS, make_plan, plan_rows
from sgclearn.propagation.rows import propagated_rows

from zoo import ZOO, random_features, random_graph

GRAPH = random_graph(5000, 15_000, seed=79)
WORDS = sparse.random_array((5000, 3000), density=0.003, rng=np.random.default_rng(83), format="csr")
ROWS = np.arange(0, 5000, 100)


def traced_peak(function) -> int:
    """Bytes allocated at the peak of a call, over what there was before."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def estimated(operator, features, rows, n_hops, name, engine) -> int:
    """The smallest limit, to a few percent, under which a plan is not refused."""
    low, high = 1, 2**40
    while high > 1.02 * low:
        limit = int((low * high) ** 0.5) + 1
        try:
            plan_rows(operator, features, rows, n_hops, plan=name, memory_limit=limit, prices=engine.prices)
            high = limit
        except MemoryLimitError:
            low = limit
    return high


FORMS = {
    "dense": random_features(5000, 40, seed=89, density=1.0),
    "float32": random_features(5000, 40, seed=89, density=1.0).astype(np.float32),
    "sparse": WORDS,
    "narrow": sparse.csr_array(random_features(5000, 60, seed=97, density=0.2)),
    "identity": None,
}


@pytest.mark.parametrize("name", ["full", "frontier", "left-first"])
@pytest.mark.parametrize("n_rows", [50, 5000])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", [get_engine("native", 2), get_engine("scipy")], ids=["native", "scipy"])
def test_plan_memory_is_within_a_factor_of_what_is_allocated(engine, form, n_rows, name):
    operator, features = Operator(GRAPH), NodeFeatures(FORMS[form], 5000)
    rows = np.arange(0, 5000, 5000 // n_rows)
    peak = traced_peak(lambda: next(propagated_rows(operator, features, rows, [2], name, engine=engine)))
    needed = estimated(operator, features, rows, 2, name, engine)
    # What the kernel allocates for itself is not traced: two cache lines a node, or the rows before they are joined.
    walked = name == "left-first" and form in ("sparse", "narrow")
    own = 0 if engine.name != "native" else peak if walked else 5000 * 2 * 64
    assert peak / 1.7 < needed < 2.5 * (peak + own)


@pytest.mark.parametrize("form", FORMS)
def test_plan_memory_of_implicit_rows_is_not_below_what_they_hold(form):
    operator, features = Operator(GRAPH), NodeFeatures(FORMS[form], 5000)
    plan = make_plan(operator, features, ROWS, 2, 3, plan="implicit", memory_limit="1GB")

    def multiply() -> None:
        ((_, Z),) = build_designs(operator, features, ROWS, [2], "implicit")
        Z.rmatmul(Z.matmul(np.ones((features.n_columns, 3))))

    assert traced_peak(multiply) < 1.3 * plan.cost.memory


def test_plan_prefers_the_frontier_for_few_rows_of_dense_features():
    features = NodeFeatures(FORMS["dense"])
    cost = {c.name: c for c in make_plan(Operator(GRAPH), features, ROWS, 2, 3).costs}
    assert cost["frontier"].seconds < cost["full"].seconds
    assert cost["frontier"].memory < cost["full"].memory
    assert plan_rows(Operator(GRAPH), features, ROWS, 2) != "full"


def test_plan_is_implicit_where_the_rows_would_be_huge():
    rows = np.arange(5000)
    plan = make_plan(Operator(GRAPH), NodeFeatures(None, 5000), rows, 5, 3, memory_limit="40MB")
    assert plan.chosen == "implicit"
    assert not next(c for c in plan.costs if c.name == "full").fits


def test_plan_says_what_was_chosen_and_what_the_others_cost():
    plan = make_plan(Operator(GRAPH), NodeFeatures(WORDS), ROWS, 2, 7, memory_limit="30MB")
    assert [cost.name for cost in plan.costs] == list(PLANS)
    assert plan.cost.name == plan.chosen
    assert plan.cost.fits
    assert not plan.forced
    first, *rest = str(plan).splitlines()
    assert first.startswith(f"{plan.chosen}: 50 labelled of 5,000 nodes see {plan.neighbourhood[-1]:,} nodes")
    assert first.endswith("in 2 hops; 3,000 features, 7 classes")
    assert sum(line.startswith("*") for line in rest) == 1
    over = [line for line in rest if "over the limit of 30.0 MB" in line]
    assert len(over) == sum(not cost.fits for cost in plan.costs) > 0


def test_plan_is_plain_data():
    plan = make_plan(Operator(GRAPH), NodeFeatures(WORDS), ROWS, 2, 7, memory_limit="1GB")
    data = json.loads(json.dumps(plan.to_dict()))
    assert data["chosen"] == plan.chosen
    assert data["neighbourhood"][0] == 50
    assert data["neighbourhood"] == sorted(data["neighbourhood"])
    assert data["memory_limit"] == 10**9
    assert (data["n_nodes"], data["n_rows"], data["n_hops"]) == (5000, 50, 2)
    assert {"name", "multiply_adds", "seconds", "memory", "fits"} == set(data["costs"][0])


@pytest.mark.parametrize("name", PLANS)
def test_plan_can_be_forced(name):
    plan = make_plan(Operator(GRAPH), NodeFeatures(WORDS), ROWS, 2, 7, plan=name, memory_limit="1GB")
    assert plan.chosen == name
    assert plan.forced


def test_plan_without_a_graph_has_no_hops():
    plan = make_plan(None, NodeFeatures(WORDS), ROWS, 4, 7)
    assert plan.n_hops == 0
    assert plan.neighbourhood == (50,)


@pytest.mark.parametrize("graph", ZOO.values(), ids=ZOO)
@pytest.mark.filterwarnings("ignore:self-loops in the data:sgclearn.errors.SgclearnWarning")
def test_plan_costs_are_finite_on_the_zoo(graph):
    for X in (np.ones((graph.n_nodes, 2)), sparse.csr_array((graph.n_nodes, 3)), None):
        for rows in (np.arange(graph.n_nodes), np.zeros(0, dtype=np.intp)):
            plan = make_plan(Operator(graph), NodeFeatures(X, graph.n_nodes), rows, 3, 2)
            for cost in plan.costs:
                assert 0 <= cost.seconds < 1
                assert 0 <= cost.multiply_adds < 1e6
                assert 0 <= cost.memory < 10**6


def test_plan_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="'auto' or one of full, frontier, left-first, implicit: got 'best'"):
        make_plan(Operator(GRAPH), NodeFeatures(WORDS), ROWS, 2, 7, plan="best")


def test_plan_over_the_limit_is_refused_with_the_way_out():
    with pytest.raises(
        MemoryLimitError, match=r"fit the 1\.0 KB that may be used: got .*; raise memory_limit"
    ):
        make_plan(Operator(GRAPH), NodeFeatures(WORDS), ROWS, 2, 7, memory_limit="1KB")
    with pytest.raises(MemoryLimitError, match=r"\(plan 'full'\).*or leave the choice to plan='auto'\."):
        make_plan(Operator(GRAPH), NodeFeatures(WORDS), ROWS, 2, 7, plan="full", memory_limit="1KB")


def test_propagate_over_the_limit_is_refused_with_the_way_out(monkeypatch):
    X = np.ones((5, 3))
    with pytest.raises(
        MemoryLimitError, match=r"fit the 100 B that may be used: got .* B; .*columns are independent"
    ):
        propagate(X, ZOO["path"], compute=Compute(memory_limit="100B"))
    monkeypatch.setenv("SGCLEARN_MEMORY_LIMIT", "100B")
    with pytest.raises(MemoryLimitError):
        propagate(X, ZOO["path"])
    assert propagate(X, ZOO["path"], compute=Compute(memory_limit="1MB")).shape == (5, 3)


@pytest.mark.parametrize("plan", ["auto", "full", "frontier", "left-first"])
def test_propagate_refuses_before_it_allocates(plan):
    X = sparse.random_array((2000, 10**6), density=1e-5, rng=np.random.default_rng(101), format="csr")
    graph = random_graph(2000, 20_000, seed=103)

    def refused() -> None:
        with pytest.raises(MemoryLimitError, match="propagating must fit"):
            propagate(X, graph, 4, compute=Compute(plan=plan, memory_limit="400MB"))

    assert traced_peak(refused) < 5_000_000  # the result would take gigabytes


@pytest.mark.parametrize("X", [WORDS, None])
def test_propagate_refuses_a_dense_result_that_does_not_fit(X):
    def refused() -> None:
        with pytest.raises(MemoryLimitError):
            propagate(X, GRAPH, 1, output="dense", compute=Compute(memory_limit="60MB"))

    assert traced_peak(refused) < 5_000_000
    assert sparse.issparse(propagate(X, GRAPH, 1, compute=Compute(memory_limit="60MB")))


def test_propagate_refuses_a_sparse_result_that_does_not_fit():
    X = FORMS["dense"]
    propagate(X, GRAPH, compute=Compute(memory_limit="5MB"))
    with pytest.raises(MemoryLimitError):
        propagate(X, GRAPH, output="sparse", compute=Compute(memory_limit="5MB"))
    assert sparse.issparse(propagate(X, GRAPH, output="sparse", compute=Compute(memory_limit="20MB")))
    peak = traced_peak(lambda: propagate(X, GRAPH, output="sparse"))
    assert peak < 20_000_000


@pytest.mark.parametrize("n_hops", [1, 2, 4])
def test_plan_of_all_rows_costs_the_same_whether_edges_are_read_or_not(n_hops):
    graph = random_graph(80, 200, seed=11)
    read = Graph(graph.indptr, graph.indices, directed=True)  # of a directed graph every edge is looked at
    features = NodeFeatures(sparse.random_array((80, 40), density=0.1, format="csr", rng=12))
    plans = [make_plan(Operator(g), features, np.arange(80), n_hops, 3) for g in (graph, read)]
    assert plans[0].costs == plans[1].costs
