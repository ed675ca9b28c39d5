"""The estimators with other filters than the power of SGC."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sgclearn import (
    Compute,
    Operator,
    SGCClassifier,
    SGCClassifierCV,
    SGCMultilabelClassifier,
    SGCTransformer,
    load_dataset,
    load_model,
    save_model,
)
from sgclearn.errors import InputError, InputTypeError
from sgclearn.filters import HeatFilter, PageRankFilter, PowerFilter, S2GCFilter

from problems import labelled_problem

FILTERS = [S2GCFilter(4, 0.05), PageRankFilter(5, 0.1), HeatFilter(4, 1.0)]


@pytest.mark.parametrize("filter_", FILTERS)
@pytest.mark.parametrize("plan", ["full", "frontier", "left-first", "implicit"])
def test_filtered_classifier_is_logistic_regression_on_the_filtered_features(filter_, plan: str) -> None:
    graph, X, y = labelled_problem()
    Z = filter_.apply(X, Operator(graph))
    expected = SGCClassifier(weight_decay=1e-2).fit(Z, y).predict_proba(Z)
    model = SGCClassifier(filter=filter_, weight_decay=1e-2, compute=Compute(plan=plan)).fit(
        X, y, graph=graph
    )
    np.testing.assert_allclose(model.predict_proba(X, graph=graph), expected, atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X, graph=graph, nodes=[9, 2]), expected[[9, 2]], atol=1e-7)
    assert model.n_hops_ == filter_.n_hops
    assert model.filter_ == filter_


def test_power_filter_is_the_same_model_as_n_hops() -> None:
    graph, X, y = labelled_problem()
    one = SGCClassifier(3).fit(X, y, graph=graph)
    two = SGCClassifier(filter=PowerFilter(3)).fit(X, y, graph=graph)
    assert np.array_equal(one.coef_, two.coef_)


def test_filtered_models_are_saved_and_loaded(tmp_path: Path) -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifier(filter=S2GCFilter(4, 0.05)).fit(X, y, graph=graph)
    save_model(model, tmp_path / "m.safetensors")
    loaded = load_model(tmp_path / "m.safetensors")
    assert loaded.filter_ == loaded.filter == S2GCFilter(4, 0.05)
    assert np.array_equal(loaded.predict_proba(X, graph=graph), model.predict_proba(X, graph=graph))


def test_filters_serve_the_transformer_and_the_multilabel_classifier() -> None:
    graph, X, y = labelled_problem()
    filter_ = PageRankFilter(3, 0.2)
    expected = filter_.apply(X, Operator(graph))
    np.testing.assert_allclose(SGCTransformer(graph, filter=filter_).fit_transform(X), expected, atol=1e-12)
    Y = np.stack([y == 0, y == 1], axis=1).astype(float)
    Y[y == -1] = -1
    one = SGCMultilabelClassifier(filter=filter_).fit(X, Y, graph=graph)
    two = SGCMultilabelClassifier().fit(expected, Y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)


def test_cv_chooses_among_filters_and_powers() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifierCV((0, 2), filter=(None, *FILTERS), weight_decay=(1e-3, 1e-1), cv=3)
    model.fit(X, y, graph=graph)
    assert {trial["filter"] for trial in model.cv_results_} == {None, *FILTERS}
    assert len(model.cv_results_) == 2 * (2 + len(FILTERS))
    same = SGCClassifier(**model.best_params_).fit(X, y, graph=graph)
    assert np.array_equal(same.coef_, model.coef_)


def test_cv_with_filters_alone_tries_no_powers() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifierCV(filter=FILTERS[0], weight_decay=(1e-2,), cv=3).fit(X, y, graph=graph)
    assert model.best_params_["filter"] == FILTERS[0]
    assert SGCClassifier(**model.best_params_).fit(X, y, graph=graph).filter_ == FILTERS[0]


def test_filters_of_another_type_or_with_other_hops_are_refused() -> None:
    graph, X, y = labelled_problem()
    with pytest.raises(InputTypeError, match="S2GCFilter"):
        SGCClassifier(filter="s2gc").fit(X, y, graph=graph)
    with pytest.raises(InputError, match="leave n_hops out"):
        SGCClassifier(5, filter=S2GCFilter(4)).fit(X, y, graph=graph)
    with pytest.raises(InputError, match="add None to the filters"):
        SGCClassifierCV((1, 2), filter=FILTERS).fit(X, y, graph=graph)
    with pytest.raises(InputTypeError, match="S2GCFilter"):
        SGCClassifierCV(filter=["heat"]).fit(X, y, graph=graph)


@pytest.mark.slow  # three searches on each of sixty splits
@pytest.mark.filterwarnings("ignore:.*self-loops in the data")
@pytest.mark.parametrize(
    ("name", "s2gc_gain", "pagerank_gain"),
    [("cora", 1.6, 1.3), ("citeseer", 0.35, 0.5), ("pubmed", 0.7, 0.9)],
)
def test_s2gc_and_pagerank_beat_sgc_on_random_splits(data_dir: Path, name, s2gc_gain, pagerank_gain) -> None:
    """Paired over random splits, weight decay chosen on the validation nodes; gains in points of accuracy."""
    decays = tuple(np.logspace(-7, -2, 11))
    wanted = {"sgc": PowerFilter(2), "s2gc": S2GCFilter(16, 0.05), "pagerank": PageRankFilter(10, 0.1)}
    accuracy: dict[str, list[float]] = {key: [] for key in wanted}
    for seed in range(500, 520):
        data = load_dataset(name, split="random", seed=seed, data_dir=data_dir)
        for key, filter_ in wanted.items():
            model = SGCClassifierCV(filter=filter_, weight_decay=decays, row_norm="l1")
            model.fit(data.X, data.train_labels(with_val=True), graph=data.graph, validation=data.val)
            accuracy[key].append(100 * np.mean(model.transduction_[data.test] == data.y[data.test]))
    for key, gain in (("s2gc", s2gc_gain), ("pagerank", pagerank_gain)):
        differences = np.subtract(accuracy[key], accuracy["sgc"])
        error = differences.std(ddof=1) / np.sqrt(len(differences))
        assert differences.mean() > 0
        assert differences.mean() == pytest.approx(gain, abs=max(3 * error, 0.4))
