"""Theorem 1 and Lemmas 1-3: where they hold, and what breaks them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sgclearn import Graph, Operator, reference
from sgclearn.errors import InputError
from sgclearn.spectral import Theorem1, check_theorem1, extreme_eigenvalues

from zoo import ZOO, dense_adjacency, graphs, random_graph

GAMMAS = st.floats(0.05, 20.0)
# False on most graphs, though the paper prints it; Theorem 1 does not use it.
AS_PRINTED = "lemma 3, as printed"


def verdicts(found: Theorem1) -> dict[str, bool]:
    return {statement.name: statement.holds for statement in found.statements}


def touched(graph: Graph) -> Graph:
    """The graph without its isolated nodes."""
    return graph.subgraph(graph.degrees() > 0)


@given(graphs(min_nodes=2, directed=False), GAMMAS)
def test_theorem_holds_on_simple_graphs_without_isolated_nodes(graph: Graph, gamma: float) -> None:
    graph = touched(graph)
    assume(graph.n_nodes > 0)
    found = check_theorem1(graph, gamma)
    assert found.assumptions_hold
    assert found.holds
    assert all(holds for name, holds in verdicts(found).items() if name != AS_PRINTED), str(found)
    assert found.beta_1 < 0
    assert found.beta_n == pytest.approx(1.0)
    low = found.min_degree / (gamma + found.min_degree)
    assert found.lambda_tilde_n >= low * found.lambda_n - 1e-9


@given(graphs(directed=False, self_loops=True), GAMMAS)
def test_theorem_needs_only_an_edge_between_two_nodes(graph: Graph, gamma: float) -> None:
    """Loops and isolated nodes break the proof, and not the statement."""
    found = check_theorem1(graph, gamma)
    has_edge = graph.n_stored > graph.n_self_loops
    assert verdicts(found)["theorem 1, above 0"] == has_edge
    if has_edge:
        assert found.holds
        assert verdicts(found)["theorem 1, by how much"]
    assert verdicts(found)["lemma 1"]
    assert verdicts(found)["lemma 2, augmented"]
    assert verdicts(found)["lemma 3, as proved"]


@given(graphs(min_nodes=2, directed=False, self_loops=True), GAMMAS)
def test_theorem_eigenvalues_equal_dense_ones(graph: Graph, gamma: float) -> None:
    found = check_theorem1(graph, gamma)
    A = dense_adjacency(graph)
    root = np.diag((A.sum(axis=1) + gamma) ** -0.5)
    dense = {
        "beta": reference.propagation_matrix(A, "sym", 0.0),
        "alpha": root @ A @ root,
        "lambda": np.eye(len(A)) - reference.propagation_matrix(A, "sym", 0.0),
        "lambda_tilde": np.eye(len(A)) - reference.propagation_matrix(A, "sym", gamma),
    }
    for name, matrix in dense.items():
        values = np.linalg.eigvalsh(matrix)
        assert getattr(found, f"{name}_1") == pytest.approx(values[0], abs=1e-10)
        assert getattr(found, f"{name}_n") == pytest.approx(values[-1], abs=1e-10)


def test_lemma_3_as_printed_fails_on_a_star_and_holds_on_regular_graphs() -> None:
    star = check_theorem1(ZOO["star"])
    assert star.alpha_n == pytest.approx(np.sqrt(5 / 12))
    assert star.alpha_n > 0.5 == star.min_degree / (1 + star.min_degree)
    assert not verdicts(star)[AS_PRINTED]
    assert star.holds
    for name in ("one-edge", "triangle", "complete"):
        assert all(verdicts(check_theorem1(ZOO[name])).values())


def test_lemma_3_fails_with_heavy_loops_and_the_theorem_does_not() -> None:
    loops = Graph.from_edges([(0, 0), (1, 1), (0, 1)], weights=[10.0, 1.0, 0.1])
    found = check_theorem1(loops)
    assert found.beta_1 > 0
    assert not found.assumptions_hold
    assert not verdicts(found)["lemma 3"]
    assert found.holds


def test_theorem_fails_without_edges() -> None:
    for graph in (ZOO["no-edges"], ZOO["single-node"]):
        found = check_theorem1(graph)
        assert not found.holds
        assert found.n_isolated == graph.n_nodes
        assert found.lambda_1 == found.lambda_n == 1  # a zero row of S
        assert found.lambda_tilde_n == pytest.approx(0.0)
        assert not verdicts(found)["lemma 2"]


@pytest.mark.parametrize("name", ["bipartite", "star", "path", "one-edge", "weighted"])
def test_theorem_holds_on_bipartite_graphs_from_the_largest_value_there_is(name: str) -> None:
    found = check_theorem1(ZOO[name])
    assert found.is_bipartite
    assert found.lambda_n == pytest.approx(2.0)
    assert found.holds
    assert not check_theorem1(ZOO["complete"]).is_bipartite


def test_theorem_on_a_large_graph_goes_through_lanczos() -> None:
    graph = touched(random_graph(700, 1500, seed=89))
    found = check_theorem1(graph, 0.5)
    assert found.holds
    assert found.lambda_tilde_n == pytest.approx(extreme_eigenvalues(Operator(graph, gamma=0.5)).largest[0])


def test_theorem_as_text_and_document() -> None:
    found = check_theorem1(ZOO["star"])
    text = str(found)
    assert text.startswith("Theorem 1 holds: largest eigenvalue 2.0000, with gamma=1 1.")
    assert "its assumptions hold: 0 self-loops, 0 isolated nodes" in text
    assert text.count("FAILS") == 1
    document = json.loads(json.dumps(found.to_dict()))
    assert document["holds"] is True
    assert document["lambda_n"] == pytest.approx(2.0)
    assert len(document["statements"]) == len(found.statements) == 9
    broken = str(check_theorem1(ZOO["no-edges"]))
    assert broken.startswith("Theorem 1 does not hold")
    assert "do not hold: 0 self-loops, 4 isolated nodes" in broken


def test_theorem_refuses_bad_input() -> None:
    with pytest.raises(InputError, match="got a directed one"):
        check_theorem1(ZOO["directed-cycle"])
    with pytest.raises(InputError, match="gamma must be above 0: got 0"):
        check_theorem1(ZOO["path"], 0.0)
    with pytest.raises(InputError, match="gamma must be a number >= 0: got -1"):
        check_theorem1(ZOO["path"], -1)
    with pytest.raises(InputError, match="without nodes"):
        check_theorem1(Graph.from_edges([], n_nodes=0))


def test_theorem_survives_graphs_of_many_components() -> None:
    """Every component brings a copy of the top eigenvalue; none may get lost."""
    for seed in range(300, 340):
        generator = np.random.default_rng(seed)
        n_nodes = int(generator.integers(8, 60))
        pairs = generator.integers(n_nodes, size=(n_nodes // 4 + 1, 2))
        graph = Graph.from_edges(pairs, n_nodes=n_nodes, self_loops="drop")
        if graph.n_edges == 0:
            continue
        operator = Operator(graph)
        exact = np.linalg.eigvalsh(np.eye(n_nodes) - operator.matrix().toarray())
        found = extreme_eigenvalues(operator, 3)
        np.testing.assert_allclose(found.smallest, exact[:3], atol=1e-10)
        np.testing.assert_allclose(found.largest, exact[-3:], atol=1e-10)
        assert check_theorem1(graph).holds
