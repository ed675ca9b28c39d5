"""Drawn graphs: sizes, degrees, communities, and how hard their labels are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sgclearn import Graph, SGCClassifier
from sgclearn.datasets import GraphDataset, make_block_graph
from sgclearn.datasets.generators import REDDIT_NODES, REDDIT_SPLIT, _draw_split
from sgclearn.errors import InputError


@pytest.fixture(scope="module")
def data() -> GraphDataset:
    return make_block_graph(6000, n_classes=12, n_features=40, strangers=0.1, seed=71)


@settings(max_examples=25)
@given(
    n_nodes=st.integers(30, 200),
    mean_degree=st.integers(0, 4),
    n_classes=st.integers(1, 6),
    n_features=st.integers(1, 9),
    within=st.floats(0, 0.8),  # a community of two nodes has room for one edge
    seed=st.integers(2, 10**6),
)
def test_block_graph_has_the_sizes_asked_for(
    n_nodes: int, mean_degree: int, n_classes: int, n_features: int, within: float, seed: int
) -> None:
    n_edges = n_nodes * mean_degree // 2
    drawn = make_block_graph(n_nodes, n_edges, n_classes, n_features, within=within, seed=seed)
    assert (drawn.graph.n_nodes, drawn.graph.n_edges) == (n_nodes, n_edges)
    assert drawn.graph.n_self_loops == 0
    assert not drawn.graph.directed
    assert drawn.X.shape == (n_nodes, n_features)
    assert drawn.X.dtype == np.float32
    assert np.isfinite(drawn.X).all()
    assert 0 <= drawn.y.min() <= drawn.y.max() < n_classes
    # Everything that `Graph` checks of rows from outside holds of these.
    assert Graph(drawn.graph.indptr, drawn.graph.indices) == drawn.graph


def test_block_graph_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first, again, other = (
        make_block_graph(300, n_classes=5, n_features=5, seed=seed) for seed in (72, 72, 73)
    )
    assert first.graph == again.graph
    assert (first.X == again.X).all()
    assert (first.y == again.y).all()
    assert (first.train == again.train).all()
    assert first.graph != other.graph
    assert first.graph.n_edges == 8970  # Reddit's proportion would be more than a fifth of all pairs


def test_block_graph_keeps_the_share_of_edges_inside_communities(data: GraphDataset) -> None:
    graph, y = data.graph, data.y
    ends = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    inside = (y[ends] == y[graph.indices]).mean()
    # 70 % and what falls there by chance (a tenth or so), where neither end is a stranger (0.9^2 of the pairs).
    assert 0.5 < inside < 0.7
    loose = make_block_graph(6000, n_classes=12, n_features=2, within=0.0, seed=71)
    ends = np.repeat(np.arange(6000), np.diff(loose.graph.indptr))
    assert (loose.y[ends] == loose.y[loose.graph.indices]).mean() < 0.15


def test_block_graph_has_hubs_and_unequal_communities_in_no_order(data: GraphDataset) -> None:
    degrees = data.graph.degrees()
    assert degrees.max() > 8 * degrees.mean() > 8 * np.median(degrees)
    sizes = np.bincount(data.y)
    assert sizes.max() > 3 * sizes.min() > 0
    # A node's number says nothing about its community or its neighbours.
    assert abs(np.corrcoef(np.arange(6000), data.y)[0, 1]) < 0.05
    ends = np.repeat(np.arange(6000), np.diff(data.graph.indptr))
    assert abs(np.corrcoef(ends, data.graph.indices)[0, 1]) < 0.05


def test_block_graph_is_hard_for_features_alone_and_strangers_bound_what_hops_reach(
    data: GraphDataset,
) -> None:
    accuracy = {}
    for n_hops in (0, 2):
        model = SGCClassifier(n_hops, weight_decay=1e-4)
        model.fit(data.X, data.train_labels(), graph=data.graph)
        accuracy[n_hops] = (model.predict(data.X, graph=data.graph) == data.y)[data.test].mean()
    assert accuracy[0] < accuracy[2] - 0.05
    assert 0.85 < accuracy[2] < 0.93  # a tenth are strangers


def test_block_graph_splits_as_the_paper_does() -> None:
    parts = _draw_split(np.random.default_rng(74), REDDIT_NODES)
    assert tuple(map(len, parts)) == REDDIT_SPLIT
    assert len(np.unique(np.concatenate(parts))) == sum(REDDIT_SPLIT)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_nodes": 1}, "n_nodes must be an integer of at least 2: got 1"),
        ({"n_nodes": 100, "n_edges": 5000}, "n_edges must be at most 990 for 100 nodes"),
        ({"n_nodes": 100, "within": 1.5}, "within must be between 0 and 1: got 1.5"),
        ({"n_nodes": 100, "strangers": 1.0}, "strangers must be at least 0 and below 1"),
        ({"n_nodes": 100, "signal": 0.0}, "signal must be above 0"),
        ({"n_nodes": 100, "degree_exponent": 2.0}, "degree_exponent must be above 2"),
        ({"n_nodes": 100, "seed": -3}, "seed must be a whole number >= 0"),
    ],
)
def test_block_graph_refuses_what_cannot_be_drawn(arguments: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_block_graph(**{"n_edges": 50, **arguments})  # type: ignore[arg-type]


def test_block_graph_says_when_communities_are_too_small_for_the_edges() -> None:
    with pytest.raises(InputError, match="must leave room to draw different edges"):
        make_block_graph(60, 350, 30, 2, within=1.0)
