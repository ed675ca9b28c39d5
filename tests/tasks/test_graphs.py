"""Whole graphs: stacking, node features, pools against their definitions, the classifier, and real data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sgclearn import Graph
from sgclearn.errors import InputError, InputTypeError, SgclearnWarning
from sgclearn.reference import propagation_matrix
from sgclearn.tasks.graphs import GraphCollection, SGCGraphClassifier, stack_graphs
from sgclearn.tasks.graphs.node_features import NodeEncoder
from sgclearn.tasks.graphs.pools import POOLS, QUANTILES, pooled_rows


def ring(n: int) -> Graph:
    return Graph.from_edges([(i, (i + 1) % n) for i in range(n)])


def star(n: int) -> Graph:
    return Graph.from_edges([(0, i) for i in range(1, n)])


@pytest.fixture(scope="module")
def shapes() -> tuple[list[Graph], list[str]]:
    sizes = range(4, 14)
    return [*map(ring, sizes), *map(star, sizes)], ["ring"] * 10 + ["star"] * 10


@pytest.mark.parametrize("kind", ["graph", "networkx", "scipy", "array", "pyg"])
def test_graphs_of_any_kind_stack_to_the_same_blocks(kind: str) -> None:
    originals = [ring(4), star(3), Graph.from_edges([], n_nodes=2)]
    made: list[Any] = originals
    if kind == "scipy":
        made = [graph.to_scipy() for graph in originals]
    elif kind == "array":
        made = [graph.to_scipy().toarray() for graph in originals]
    elif kind == "networkx":
        made = [nx.from_scipy_sparse_array(graph.to_scipy()) for graph in originals]
    elif kind == "pyg":
        torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
        made = [
            data.Data(edge_index=torch.tensor(np.array(graph.to_scipy().nonzero())), num_nodes=graph.n_nodes)
            for graph in originals
        ]
    collection = stack_graphs(made)
    assert collection.sizes.tolist() == [4, 3, 2]
    expected = sp.block_diag([graph.to_scipy() for graph in originals]).toarray()
    np.testing.assert_array_equal(collection.graph.to_scipy().toarray(), expected)


def test_weights_labels_and_features_are_stacked() -> None:
    weighted = Graph.from_edges([(0, 1)], weights=[2.5])
    collection = stack_graphs(
        [weighted, ring(3)], node_labels=["ab", "aba"], features=[np.ones((2, 2)), np.eye(3, 2)]
    )
    assert collection.graph.is_weighted
    assert collection.graph.to_scipy()[0, 1] == 2.5
    assert collection.node_labels is not None
    assert collection.node_labels.tolist() == list("ababa")
    assert collection.features is not None
    assert collection.features.shape == (5, 2)


def test_networkx_labels_and_pyg_features_come_along() -> None:
    path = nx.path_graph(3)
    nx.set_node_attributes(path, {0: "C", 1: "N", 2: "C"}, "label")
    labels = stack_graphs([path]).node_labels
    assert labels is not None
    assert labels.tolist() == ["C", "N", "C"]
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    edge = data.Data(x=torch.eye(2), edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    features = stack_graphs([edge]).features
    np.testing.assert_array_equal(features, np.eye(2))


def test_subset_is_what_stacking_the_chosen_gives(shapes: tuple[list[Graph], list[str]]) -> None:
    graphs, y = shapes
    collection = stack_graphs(graphs, node_labels=[range(graph.n_nodes) for graph in graphs], y=y)
    which = np.array([12, 3, 7])
    part = collection.subset(which)
    expected = stack_graphs([graphs[i] for i in which])
    assert part.graph == expected.graph
    assert part.y is not None
    assert part.y.tolist() == ["star", "ring", "ring"]
    assert part.node_labels is not None
    assert part.node_labels.tolist() == [*range(6), *range(7), *range(11)]
    assert len(collection.subset(np.array(y) == "star")) == 10


@st.composite
def collections(draw: st.DrawFn) -> GraphCollection:
    graphs = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 6))
        pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=8))
        graphs.append(Graph.from_edges(pairs, n_nodes=n, self_loops="drop"))
    return stack_graphs(graphs)


@given(collections(), st.sampled_from([("sym", 1.0), ("rw", 0.0)]))
def test_pooled_rows_equal_their_definition(graphs: GraphCollection, operator: tuple[str, float]) -> None:
    X = np.random.default_rng(11).normal(size=(graphs.n_nodes, 2))
    names = tuple(POOLS)
    Z = pooled_rows(graphs, X, 2, names, *operator)
    expected = []
    for place in range(len(graphs)):
        nodes = slice(graphs.starts[place], graphs.starts[place + 1])
        S = propagation_matrix(graphs.graph.to_scipy()[nodes, nodes].toarray(), *operator)
        row, H = [], X[nodes]
        for hop in range(3):
            H = S @ H if hop else H
            row += [H.sum(axis=0), H.mean(axis=0), H.max(axis=0), H.std(axis=0)]
            row += list(np.quantile(H, QUANTILES, axis=0))
        expected.append(np.concatenate(row))
    np.testing.assert_allclose(Z, expected, rtol=1e-9, atol=1e-10)


@given(collections(), st.randoms(use_true_random=False))
def test_rows_do_not_depend_on_the_order_of_nodes(graphs: GraphCollection, random: Any) -> None:
    X = np.random.default_rng(11).normal(size=(graphs.n_nodes, 2))
    order = []
    for place in range(len(graphs)):
        block = list(range(graphs.starts[place], graphs.starts[place + 1]))
        random.shuffle(block)
        order += block
    shuffled = GraphCollection(
        graphs.graph.subgraph(order).with_ids(np.arange(graphs.n_nodes)), graphs.starts
    )
    names = tuple(POOLS)
    np.testing.assert_allclose(
        pooled_rows(shuffled, X[order], 2, names, "sym", 1.0),
        pooled_rows(graphs, X, 2, names, "sym", 1.0),
        rtol=1e-9, atol=1e-10,
    )  # fmt: skip


def test_constant_features_stay_constant_and_degrees_do_not() -> None:
    collection = stack_graphs([ring(5), star(5)], features=[np.ones((5, 1))] * 2)
    assert collection.features is not None
    rows = pooled_rows(collection, collection.features, 3, ("mean", "std"), "rw", 1.0)
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-12)
    X = NodeEncoder.learn(collection).encode(collection)
    rows = pooled_rows(collection, X, 3, ("mean", "std"), "rw", 1.0)
    assert np.abs(rows[0] - rows[1]).max() > 0.1


def test_encoder_has_labels_pairs_and_degrees() -> None:
    labelled = stack_graphs([star(4)], node_labels=["CHHH"])
    encoder = NodeEncoder.learn(labelled)
    assert encoder.names == ("label C", "label H", "label C, degree 3", "label H, degree 1")
    np.testing.assert_array_equal(encoder.encode(labelled), [[1, 0, 1, 0]] + [[0, 1, 0, 1]] * 3)
    bare = NodeEncoder.learn(stack_graphs([star(4)]))
    assert bare.names == ("degree up to 1", "degree up to 3", "log degree")


def test_unseen_label_is_told_and_has_no_column() -> None:
    encoder = NodeEncoder.learn(stack_graphs([star(4)], node_labels=["CHHH"]))
    with pytest.warns(SgclearnWarning, match="2 nodes with a label that no training graph has, such as 'X'"):
        X = encoder.encode(stack_graphs([ring(3)], node_labels=["XXC"]))
    np.testing.assert_array_equal(X, [[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]])


def test_classifier_tells_rings_from_stars(shapes: tuple[list[Graph], list[str]]) -> None:
    model = SGCGraphClassifier(cv=2).fit(*shapes)
    assert model.predict([ring(30), star(20), ring(17)]).tolist() == ["ring", "star", "ring"]
    assert model.score(*shapes) == 1.0
    np.testing.assert_allclose(model.predict_proba(shapes[0]).sum(axis=1), 1)
    assert model.n_hops_ in (2, 5)
    assert model.constant_ == "ring"


def test_class_minus_one_is_a_class(shapes: tuple[list[Graph], list[str]]) -> None:
    graphs, names = shapes
    y = [-1 if name == "ring" else 1 for name in names]
    model = SGCGraphClassifier(1, weight_decay=0.01, cv=2).fit(graphs, y)
    assert model.predict(graphs).tolist() == y


def test_three_classes_have_three_logits(shapes: tuple[list[Graph], list[str]]) -> None:
    graphs, y = shapes
    complete = [Graph.from_scipy(sp.csr_array(np.ones((n, n)) - np.eye(n))) for n in range(4, 14)]
    model = SGCGraphClassifier(1, weight_decay=0.01, cv=2).fit([*graphs, *complete], [*y, *["full"] * 10])
    assert model.decision_function(graphs).shape == (20, 3)
    assert model.predict([complete[3], graphs[3]]).tolist() == ["full", "ring"]


@pytest.mark.parametrize(
    ("graphs", "options", "message"),
    [
        ([], {}, "graphs must be at least one: got none"),
        ([Graph.from_edges([], n_nodes=0)], {}, "graph 0 must have a node: got none"),
        ([Graph.from_edges([(0, 1)], directed=True)], {}, "graph 0 must be undirected"),
        (
            [ring(3), ring(4)],
            {"features": [np.eye(3), np.eye(4)]},
            "as many columns as those of graph 0, 3: got 4",
        ),
        (
            [ring(3)],
            {"features": [np.eye(2)]},
            "features of graph 0 must have one row a node: got 2 for 3 nodes",
        ),
        ([ring(3)], {"features": []}, "one entry a graph: got 0 for 1 graphs"),
        ([ring(3)], {"node_labels": ["ab"]}, "one label a node: got 2 for 3 nodes"),
        ([ring(3)], {"node_labels": ["abc", "d"]}, "one entry a graph: got 2 for 1 graphs"),
        ([ring(3)], {"y": [1, 2]}, "y must have one entry a graph: got 2 for 1 graphs"),
    ],
)
def test_bad_graphs_are_errors(graphs: list[Graph], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stack_graphs(graphs, **options)


def test_graph_of_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(
        InputTypeError, match="graph 1 must be a Graph, a networkx graph, PyG data or a scipy matrix"
    ):
        stack_graphs([ring(3), "ring"])
    with pytest.raises(InputTypeError, match="graphs must be a list"):
        stack_graphs(3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pools": ("sum", "median")}, "pools must be some of sum, mean, max, std, quantiles"),
        ({"pools": ()}, "pools must be some of"),
        ({"n_hops": ()}, "n_hops must be at least one number"),
        ({"n_hops": -1}, "n_hops must be a whole number >= 0: got -1"),
        ({"weight_decay": (-1.0,)}, "weight_decay must be a number >= 0: got -1.0"),
    ],
)
def test_bad_settings_are_errors(
    shapes: tuple[list[Graph], list[str]], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        SGCGraphClassifier(**settings).fit(*shapes)


def test_one_class_is_an_error_and_graphs_without_edges_are_not() -> None:
    with pytest.raises(InputError, match="two classes or more: got one"):
        SGCGraphClassifier().fit([ring(3), ring(4)], ["a", "a"])
    empty = [Graph.from_edges([], n_nodes=n) for n in (1, 2, 3, 4)]
    rings = [ring(n) for n in (3, 4, 5, 6)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SGCGraphClassifier(1, weight_decay=0.01, cv=2).fit(
            [*empty, *rings], ["none"] * 4 + ["ring"] * 4
        )
        assert model.predict([Graph.from_edges([], n_nodes=7)]).tolist() == ["none"]


def load(path: Path) -> GraphCollection:
    z = np.load(path, allow_pickle=False)
    starts = np.concatenate([[0], np.cumsum(z["num_nodes"], dtype=np.int64)])
    graph_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    source = np.repeat(np.arange(starts[-1]), z["up_count"])
    graph = Graph.from_edges(source, z["up_index"] + starts[graph_of[source]], n_nodes=int(starts[-1]))
    labels = z["node_tag"].astype(object) if z["node_tag"].max() else None
    return GraphCollection(graph, starts, labels, y=z["graph_label"], folds=z["fold"].astype(np.intp))


def test_real_molecules_are_told_apart(data_dir: Path) -> None:
    graphs = load(data_dir / "whole_graphs" / "PROTEINS.npz")
    assert repr(graphs) == "GraphCollection(1,113 graphs, 43,471 nodes, 81,044 edges)"
    assert graphs.folds is not None
    train, test = graphs.subset(graphs.folds != 4), graphs.subset(graphs.folds == 4)
    assert len(train) + len(test) == 1113
    model = SGCGraphClassifier(2, weight_decay=(1.0, 0.1)).fit(train)
    assert model.best_score_ > 0.70
    assert model.score(test) > 0.65
