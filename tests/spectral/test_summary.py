"""The summary of a spectrum, and for each piece of advice a test of what it claims."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sgclearn import Graph, Operator, SGCClassifier, load_dataset, propagate
from sgclearn.errors import InputError
from sgclearn.filters import PowerFilter
from sgclearn.spectral import (
    SpectrumSummary,
    dirichlet_energy,
    energy,
    exact_spectrum,
    fourier_transform,
    summarize_spectrum,
)

from zoo import UNDIRECTED, ZOO, random_features, random_graph

LARGE = random_graph(1300, 4000, seed=97)


def topics(summary: SpectrumSummary) -> list[str]:
    return [advice.topic for advice in summary.advice]


def two_sides(n_wrong: int) -> Graph:
    """Edges between 0..59 and 60..119, and a few within the first side."""
    rng = np.random.default_rng(101)
    across = np.column_stack([rng.integers(0, 60, 500), rng.integers(60, 120, 500)])
    ring = np.column_stack([np.arange(120), np.roll(np.arange(120).reshape(2, 60).T.ravel(), -1)])
    zigzag = np.column_stack([ring[:, 1], np.roll(ring[:, 1], -1)])  # connected, and from side to side
    wrong = np.column_stack([np.arange(n_wrong), np.arange(n_wrong) + 20])
    return Graph.from_edges(np.vstack([across, zigzag, wrong]), n_nodes=120)


@pytest.mark.filterwarnings("ignore:self-loops in the data")
@pytest.mark.parametrize("graph", UNDIRECTED.values(), ids=UNDIRECTED)
def test_summary_of_every_small_graph(graph: Graph) -> None:
    X = random_features(graph.n_nodes, 3, seed=103) + 0.1
    for features in (None, X, sparse.csr_array(X)):
        summary = summarize_spectrum(graph, features)
        json.dumps(summary.to_dict(), allow_nan=False)
        assert summary.lambda_n_augmented <= summary.lambda_n + 1e-9
        assert 0 <= summary.low_half <= 1 + 1e-9
        assert all(0 <= effect.kept <= 1 + 1e-9 for effect in summary.filters)


def test_summary_numbers_equal_exact_ones() -> None:
    graph = random_graph(80, 200, seed=107)
    X = random_features(80, 5, seed=109)
    summary = summarize_spectrum(graph, X, gamma=0.5, filters={"two": PowerFilter(2)})
    found = exact_spectrum(Operator(graph, gamma=0.5))
    assert summary.lambda_n_augmented == pytest.approx(found.frequencies[-1])
    assert summary.lambda_n == pytest.approx(exact_spectrum(Operator(graph, gamma=0.0)).frequencies[-1])
    assert summary.low_half_random == pytest.approx(found.is_low.mean())
    assert summary.mean_frequency_random == pytest.approx(found.frequencies.mean())
    Z = propagate(X, graph, 2, gamma=0.5)
    (effect,) = summary.filters
    assert effect.kept == pytest.approx((Z**2).sum() / (X**2).sum())
    shared = np.sqrt(graph.degrees() + 0.5)[:, None]
    varying = (Z**2).sum() - ((shared.T @ Z) ** 2).sum() / (shared**2).sum()
    quadratic = dirichlet_energy(Z, Operator(graph, gamma=0.5)) @ (Z**2).sum(axis=0)
    assert effect.mean_frequency == pytest.approx(quadratic / varying)
    assert effect.kept_error == 0
    Q = exact_spectrum(Operator(graph, gamma=0.5))
    parts = [(fourier_transform(M, Q) ** 2).sum(axis=1) for M in (X, Z)]
    low = Q.frequencies <= summary.middle + 1e-9
    assert effect.kept_low == pytest.approx(parts[1][low].sum() / parts[0][low].sum())
    assert effect.kept_high == pytest.approx(parts[1][~low].sum() / parts[0][~low].sum())
    assert summary.n_features == 5
    assert summary.is_exact


@pytest.mark.parametrize("n_columns", [4, 60])
def test_summary_estimates_come_close_to_the_exact_numbers(n_columns: int) -> None:
    X = propagate(random_features(1300, n_columns, seed=113), LARGE, 1)
    estimated, exact = (summarize_spectrum(LARGE, X, exact=exact) for exact in (None, True))
    assert (estimated.is_exact, exact.is_exact) == (False, True)
    assert estimated.lambda_n == pytest.approx(exact.lambda_n, abs=1e-6)
    assert estimated.low_half == pytest.approx(exact.low_half, abs=0.03)
    assert estimated.low_half_random == pytest.approx(exact.low_half_random, abs=0.03)
    slack = 4 * estimated.mean_frequency_error + 1e-9
    assert estimated.mean_frequency == pytest.approx(exact.mean_frequency, abs=slack)
    for ours, theirs in zip(estimated.filters, exact.filters, strict=True):
        assert ours.kept == pytest.approx(theirs.kept)
        assert ours.mean_frequency == pytest.approx(theirs.mean_frequency)
        assert ours.kept_low == pytest.approx(theirs.kept_low, abs=0.03)


def test_summary_of_no_hops_repeats_the_mean_frequency_of_the_features() -> None:
    X = propagate(random_features(1300, 5, seed=113), LARGE, 1)
    summary = summarize_spectrum(LARGE, X, filters={"none": PowerFilter(0)})
    (effect,) = summary.filters
    assert effect.mean_frequency == pytest.approx(summary.mean_frequency)
    assert effect.kept == pytest.approx(1.0)


def test_summary_filters_random_sums_of_many_features_within_their_error(monkeypatch) -> None:
    X = propagate(random_features(1300, 300, seed=113), LARGE, 1)
    exact = summarize_spectrum(LARGE, X)
    monkeypatch.setattr(energy, "_AFFORDABLE", 0)
    sums = summarize_spectrum(LARGE, X)
    for ours, theirs in zip(sums.filters, exact.filters, strict=True):
        assert 0 < ours.kept_error < 0.1
        assert abs(ours.kept - theirs.kept) < 4 * ours.kept_error
        assert theirs.kept_error == 0


def test_summary_leaves_what_all_nodes_share_out_of_smoothness() -> None:
    shared = np.sqrt(LARGE.degrees() + 1)[:, None]
    noise = random_features(1300, 1, seed=127, density=1.0)
    assert summarize_spectrum(LARGE, shared).mean_frequency == pytest.approx(0.0, abs=1e-9)
    offset = summarize_spectrum(LARGE, noise + 50 * shared)
    assert offset.mean_frequency == pytest.approx(summarize_spectrum(LARGE, noise).mean_frequency, rel=0.01)
    assert "not smooth" in topics(offset)


def test_advice_is_silent_on_an_ordinary_graph() -> None:
    graph = ZOO["complete"]
    smooth = np.linspace(1, 2, 5)[:, None]
    assert topics(summarize_spectrum(graph)) == []
    smooth_large = propagate(random_features(1300, 3, seed=131), LARGE, 2)
    assert "not smooth" not in topics(summarize_spectrum(LARGE, smooth_large))
    assert summarize_spectrum(graph, smooth).n_components == 1


@pytest.mark.parametrize(("n_wrong", "word"), [(0, "is bipartite (100%"), (12, "is nearly bipartite (9")])
def test_advice_bipartite_odd_powers_flip_signs_without_loops(n_wrong: int, word: str) -> None:
    graph = two_sides(n_wrong)
    summary = summarize_spectrum(graph)
    assert topics(summary) == ["bipartite"]
    assert word in summary.advice[0].text
    side = np.where(np.arange(120) < 60, 1.0, -1.0)[:, None]
    x = np.sqrt(graph.degrees())[:, None] * side
    plain = {n_hops: np.mean(propagate(x, graph, n_hops, gamma=0.0) * x > 0) for n_hops in (1, 2, 3, 4)}
    assert max(plain[1], plain[3]) < 0.1  # nearly every sign is flipped
    assert min(plain[2], plain[4]) > 0.9
    # With loops what flips is damped, hop after hop.
    loops = Operator(graph, gamma=float(np.median(graph.degrees())))
    strength = np.linalg.norm(propagate(x, graph, 3, gamma=loops.gamma)) / np.linalg.norm(x)
    assert strength < 0.1


def test_advice_bipartite_is_not_given_for_a_few_nodes_at_the_edge() -> None:
    """Hanging paths bring the largest eigenvalue close to 2, and leave the graph far from bipartite."""
    clique = [(i, j) for i in range(40) for j in range(i)]
    tails = [(40 + k - 1 if k else 0, 40 + k) for k in range(12)]
    summary = summarize_spectrum(Graph.from_edges(clique + tails))
    assert summary.lambda_n_component > 1.9
    assert summary.cut_share < 0.6
    assert topics(summary) == []


def test_advice_not_smooth_fewer_hops_serve_better() -> None:
    rng = np.random.default_rng(137)
    y = rng.integers(0, 2, 600)
    graph = random_graph(600, 2400, seed=139)  # edges that know nothing of the classes
    X = rng.normal(size=(600, 4)) + 1.5 * np.where(y[:, None] == 1, 1.0, -1.0)
    assert "not smooth" in topics(summarize_spectrum(graph, X))
    seen = np.where(np.arange(600) < 200, y, -1)
    accuracy = {}
    for n_hops in (0, 4):
        model = SGCClassifier(n_hops, weight_decay=1e-3).fit(X, seen, graph=graph)
        accuracy[n_hops] = np.mean(model.transduction_[200:] == y[200:])
    assert accuracy[0] > accuracy[4] + 0.1


def test_advice_not_smooth_is_not_given_where_hops_help() -> None:
    rng = np.random.default_rng(149)
    y = np.repeat([0, 1], 300)
    within = rng.integers(0, 300, size=(2400, 2)) + 300 * rng.integers(0, 2, size=(2400, 1))
    graph = Graph.from_edges(np.vstack([within, [[0, 300]]]), n_nodes=600, self_loops="drop")
    X = rng.normal(size=(600, 4)) + 0.7 * np.where(y[:, None] == 1, 1.0, -1.0)
    assert topics(summarize_spectrum(graph, X)) == []
    seen = np.where(np.arange(600) % 10 == 0, y, -1)
    scores = [
        np.mean(SGCClassifier(n_hops, weight_decay=1e-3).fit(X, seen, graph=graph).transduction_ == y)
        for n_hops in (0, 2)
    ]
    assert scores[1] > scores[0] + 0.02


def test_advice_disconnected_nothing_passes_between_parts() -> None:
    graph = ZOO["two-components"]
    summary = summarize_spectrum(graph)
    assert topics(summary)[-1] == "disconnected"
    text = summary.advice[-1].text
    assert "falls into 2 parts of two nodes or more, the largest with 50% of their nodes" in text
    X = random_features(6, 2, seed=151)
    changed = X.copy()
    changed[3:] += 7.0
    assert (propagate(X, graph, 9)[:3] == propagate(changed, graph, 9)[:3]).all()


@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_advice_isolated_nodes_keep_or_lose_their_features(gamma: float) -> None:
    graph = ZOO["isolated-nodes"]
    summary = summarize_spectrum(graph, gamma=gamma)
    advice = dict(zip(topics(summary), summary.advice, strict=True))["isolated"].text
    assert advice.startswith("3 of 6 nodes have no edge")
    X = random_features(6, 2, seed=157) + 1
    alone = propagate(X, graph, 4, gamma=gamma)[[0, 2, 5]]
    if gamma:
        assert "features are kept unchanged" in advice
        np.testing.assert_allclose(alone, X[[0, 2, 5]])
    else:
        assert "features are lost at the first hop" in advice
        assert (alone == 0).all()


def test_summary_refuses_bad_input() -> None:
    with pytest.raises(InputError, match="got a directed one"):
        summarize_spectrum(ZOO["directed-cycle"])
    with pytest.raises(InputError, match="got only zeros"):
        summarize_spectrum(ZOO["path"], np.zeros((5, 1)))
    with pytest.raises(InputError, match="gamma must be a number >= 0"):
        summarize_spectrum(ZOO["path"], gamma=-2.0)
    with pytest.raises(InputError, match="without nodes"):
        summarize_spectrum(Graph.from_edges([], n_nodes=0))


@pytest.mark.filterwarnings("ignore:.*self-loops in the data")
def test_summary_mean_frequency_is_exact_on_a_large_graph(data_dir: Path) -> None:
    """Amazon Photo: hops help there, and an estimate of the mean by random vectors once said the opposite."""
    data = load_dataset("amazon_photo", data_dir=data_dir)
    summary = summarize_spectrum(data.graph, data.X)
    assert summary.mean_frequency < 0.9 * summary.mean_frequency_random
    assert "not smooth" not in topics(summary)


def test_advice_rw_keeps_a_common_offset_and_sym_turns_it_into_degrees() -> None:
    offset = np.ones((LARGE.n_nodes, 1))
    np.testing.assert_allclose(propagate(offset, LARGE, 2, normalization="rw"), offset)
    assert np.ptp(propagate(offset, LARGE, 2, normalization="sym")) > 0.5
    noise = random_features(LARGE.n_nodes, 1, seed=127, density=1.0)
    summary = summarize_spectrum(LARGE, noise)
    assert "with rw if the columns have a common offset" in summary.advice[0].text
