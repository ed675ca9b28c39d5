"""Graphs of any size that can be drawn anywhere: a block model with the shape of Reddit.

Reddit's own graph (232,965 posts, 11.6 million edges, 602 features, 41 communities) is the large graph of the
paper. Where it cannot be had, a drawn graph of the same shape asks the same work of a computer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.datasets.dataset import GraphDataset
from sgclearn.datasets.splits import Split, _count, _generator
from sgclearn.errors import InputError
from sgclearn.graph import Graph
from sgclearn.validation.parameters import Number, shown

REDDIT_NODES, REDDIT_EDGES, REDDIT_FEATURES, REDDIT_CLASSES = 232_965, 11_600_000, 602, 41
# Training, validation and test nodes of the paper; the others are in no part.
REDDIT_SPLIT = (152_410, 23_699, 55_334)

_CHUNK = 1 << 22  # numbers drawn at a time: memory stays bounded by what is returned
_ROUNDS = 64  # of drawing again what was drawn twice
_DENSEST = 0.2  # of all pairs; above that most draws repeat an edge


def make_block_graph(
    n_nodes: int = REDDIT_NODES,
    n_edges: int | None = None,
    n_classes: int = REDDIT_CLASSES,
    n_features: int = REDDIT_FEATURES,
    *,
    within: float = 0.7,
    strangers: float = 0.05,
    signal: float = 2.6,
    degree_exponent: float = 2.5,
    seed: int = 2019,
) -> GraphDataset:
    """Draw a labelled graph from a degree-corrected block model; as it stands, Reddit's shape.

    Node i lies in community `c_i` and has a weight `w_i` with a power-law tail. An edge takes its first end in
    proportion to `w`, and its second in proportion to `w` among the same community (probability `within`) or
    among all nodes. The features of a node with label `y_i` are

        x_i = mu[y_i] + e_i,     mu[k] ~ N(0, signal^2 / d I),     e_i ~ N(0, I)     in float32.

    A share of the nodes, the `strangers`, has label and features of another community than the one whose edges
    it has: no smoothing can get them right, as in real data.

    Parameters
    ----------
    n_nodes : int, default 232,965
    n_edges : int, optional
        Undirected edges, none twice and no loops; by default in Reddit's proportion to the nodes, 49.8 a node,
        and at most a fifth of all pairs.
    n_classes : int, default 41
        Communities; the largest is about seven times as large as the smallest.
    n_features : int, default 602
    within : float in [0, 1]
        Share of the edges drawn inside a community, apart from those that fall there by chance.
    strangers : float in [0, 1)
    signal : float > 0
        Length of a class mean, in standard deviations of the noise in one direction.
    degree_exponent : float > 2
        Of the power law `p(w) ~ w^-exponent`; weights are cut off at `sqrt(n_nodes)` times the least.
    seed : int
        The same seed gives the same data.

    Returns
    -------
    GraphDataset
        Nodes are in random order, so that no neighbour is near by its number. Training, validation and test
        nodes are random, in the proportions of the paper (152,410 / 23,699 / 55,334).

    Notes
    -----
    Cost: O(n_edges log n_nodes) time, some 40 bytes an edge at the peak beside the features.

    Examples
    --------
    >>> from sgclearn.datasets import make_block_graph
    >>> make_block_graph(1000, n_features=20, n_classes=4)
    GraphDataset('block': 1,000 nodes, 49,793 edges, 20 features, 4 classes; train 654, val 102, test 237)
    """
    _check_shares(within=within, strangers=strangers, signal=signal, degree_exponent=degree_exponent)
    n_nodes, n_classes = _count("n_nodes", n_nodes, least=2), _count("n_classes", n_classes, least=1)
    if n_classes > n_nodes:
        raise InputError(
            "n_classes must be at most n_nodes", f"{shown(n_classes)} for {n_nodes:,} nodes", "ask for fewer",
            argument="n_classes",
        )  # fmt: skip
    n_features = _count("n_features", n_features, least=1)
    n_edges = _check_edges(n_edges, n_nodes)
    rng = _generator(seed)
    blocks = _draw_blocks(rng, n_nodes, n_classes, degree_exponent)
    graph = _draw_graph(rng, blocks, n_edges, within)
    y = _with_strangers(rng, blocks.community, n_classes, strangers)
    return GraphDataset(
        name="block",
        graph=graph,
        X=_draw_features(rng, y, n_classes, n_features, signal),
        y=y,
        class_names=tuple(f"community {k}" for k in range(n_classes)),
        feature_names=None,
        **_draw_split(rng, n_nodes)._asdict(),
        description="drawn from a degree-corrected block model",
        source=f"sgclearn.datasets.make_block_graph, seed {seed}",
    )


class Blocks(NamedTuple):
    """Communities, and the line on which ends of edges are drawn: nodes side by side, each as long as its weight.

    `order` (n,) lists the nodes community by community, `ends` (n,) where each of them ends on the line, and
    `starts` (C + 1,) where the communities begin.
    """

    community: NDArray[np.int64]
    order: NDArray[np.int64]
    ends: NDArray[np.float64]
    starts: NDArray[np.float64]

    def at(self, places: NDArray[np.float64]) -> NDArray[np.int64]:
        """Nodes that lie at some places of the line."""
        found = np.searchsorted(self.ends, places, side="right")
        return self.order[np.minimum(found, len(self.order) - 1)]


def _draw_blocks(rng: np.random.Generator, n_nodes: int, n_classes: int, exponent: float) -> Blocks:
    sizes = np.geomspace(1.0, 7.0, n_classes)
    community = rng.choice(n_classes, size=n_nodes, p=sizes / sizes.sum())
    # The inverse of the distribution function, cut off where a hub would have more edges than it has partners.
    least = n_nodes ** (-(exponent - 1) / 2)
    weights = rng.uniform(least, 1.0, n_nodes) ** (-1 / (exponent - 1))
    order = np.argsort(community, kind="stable")
    ends = np.cumsum(weights[order])
    members = np.bincount(community, minlength=n_classes)
    starts = np.concatenate([[0.0], ends])[np.concatenate([[0], np.cumsum(members)])]
    return Blocks(community, order, ends, starts)


def _draw_graph(rng: np.random.Generator, blocks: Blocks, n_edges: int, within: float) -> Graph:
    """Draw until there are enough different edges; ones too many are taken away at random."""
    n_nodes = len(blocks.community)
    keys = np.zeros(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        missing = n_edges - len(keys)
        if missing <= 0:
            break
        # A few more than are missing: some will be loops or there already.
        drawn = _draw_keys(rng, blocks, missing + missing // 50 + 16, within)
        keys = _distinct(np.concatenate([keys, drawn]))
    if len(keys) < n_edges:
        raise InputError(
            f"n_edges={n_edges:,} must leave room to draw different edges",
            f"{len(keys):,} of them after {_ROUNDS} rounds",
            "ask for fewer, or lower within",
        )
    if len(keys) > n_edges:
        keys = np.delete(keys, rng.choice(len(keys), len(keys) - n_edges, replace=False))
    return _graph_of(keys, n_nodes)


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keys in ascending order, each once; numpy's own `unique` hashes, which takes ten times as long here."""
    keys.sort()
    return keys[np.diff(keys, prepend=-1) > 0]


def _draw_keys(rng: np.random.Generator, blocks: Blocks, n_draws: int, within: float) -> NDArray[np.int64]:
    """Edges as numbers `low * n + high`, repetitions included and loops left out."""
    n_nodes, parts = len(blocks.community), []
    lengths = np.diff(blocks.ends, prepend=0.0) / blocks.ends[-1]
    for start in range(0, n_draws, _CHUNK):
        size = min(_CHUNK, n_draws - start)
        # How often each node is a first end, not which node is first each time: the order means nothing.
        first = np.repeat(blocks.order, rng.multinomial(size, lengths))
        home = blocks.community[first]
        inside = rng.random(size) < within
        low = np.where(inside, blocks.starts[home], 0.0)
        high = np.where(inside, blocks.starts[home + 1], blocks.starts[-1])
        second = blocks.at(low + rng.random(size) * (high - low))
        keys = np.minimum(first, second) * n_nodes + np.maximum(first, second)
        parts.append(keys[first != second])
    return np.concatenate(parts)


def _graph_of(keys: NDArray[np.int64], n_nodes: int) -> Graph:
    """Both directions of edges in ascending order, in linear time."""
    low, high = np.divmod(keys, n_nodes)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(low, minlength=n_nodes))])
    upper = sp.csr_array((np.ones(len(keys), dtype=np.int8), high, indptr), shape=(n_nodes, n_nodes))
    both = (upper + upper.T.tocsr()).tocsr()
    return Graph(both.indptr, both.indices)


def _with_strangers(
    rng: np.random.Generator, community: NDArray[np.int64], n_classes: int, strangers: float
) -> NDArray[np.int64]:
    """Label of each node: its community, or any other one for a stranger."""
    shift = rng.integers(1, max(n_classes, 2), len(community)) * (rng.random(len(community)) < strangers)
    return (community + shift) % n_classes


def _draw_features(
    rng: np.random.Generator, y: NDArray[np.int64], n_classes: int, n_features: int, signal: float
) -> NDArray[np.float32]:
    means = rng.standard_normal((n_classes, n_features), dtype=np.float32)
    means *= np.float32(signal / np.sqrt(n_features))
    X = np.empty((len(y), n_features), dtype=np.float32)
    step = max(1, _CHUNK // n_features)
    for start in range(0, len(y), step):
        rows = X[start : start + step]
        rng.standard_normal(out=rows, dtype=np.float32)
        rows += means[y[start : start + step]]
    return X


def _draw_split(rng: np.random.Generator, n_nodes: int) -> Split:
    stops = [round(n_nodes * stop / REDDIT_NODES) for stop in np.cumsum(REDDIT_SPLIT)]
    parts = np.split(rng.permutation(n_nodes)[: stops[-1]], stops[:-1])
    return Split(*(np.sort(part) for part in parts))


def _check_edges(n_edges: int | None, n_nodes: int) -> int:
    most = int(_DENSEST * n_nodes * (n_nodes - 1) / 2)
    if n_edges is None:
        return min(most, round(n_nodes * REDDIT_EDGES / REDDIT_NODES))
    n_edges = _count("n_edges", n_edges, least=0)
    if n_edges > most:
        raise InputError(
            f"n_edges must be at most {most:,} for {n_nodes:,} nodes, a fifth of all pairs",
            f"{n_edges:,}",
            "ask for fewer edges or more nodes",
            argument="n_edges",
        )
    return n_edges


def _check_shares(**given: Any) -> None:
    ranges: dict[str, tuple[str, Any]] = {
        "within": ("between 0 and 1", lambda value: 0 <= value <= 1),
        "strangers": ("at least 0 and below 1", lambda value: 0 <= value < 1),
        "signal": ("above 0", lambda value: 0 < value < np.inf),
        "degree_exponent": ("above 2", lambda value: 2 < value < np.inf),
    }
    for name, value in given.items():
        words, allows = ranges[name]
        number = Number(low=-np.inf).plain(value)
        if number is None or not allows(number):
            raise InputError(f"{name} must be {words}", shown(value), "correct it", argument=name)
