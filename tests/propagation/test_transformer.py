from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sgclearn import Compute, SGCTransformer, propagate
from sgclearn.errors import InputError, MemoryLimitError

from zoo import OPERATORS, ZOO, random_features, random_graph, to_dense


@parametrize_with_checks([SGCTransformer(), SGCTransformer(row_norm="l2")])
def test_transformer_passes_the_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("choice", OPERATORS.values(), ids=OPERATORS)
def test_transformer_is_propagate(choice):
    graph, X = ZOO["weighted"], random_features(4, 3, seed=107)
    options = {"n_hops": 3, "normalization": choice[0], "gamma": choice[1], "row_norm": "l1"}
    expected = propagate(X, graph, **options)
    transformer = SGCTransformer(graph, **options)
    np.testing.assert_array_equal(transformer.fit(X).transform(X), expected)
    np.testing.assert_array_equal(transformer.fit_transform(X), expected)
    stored = transformer.fit_transform(sparse.csr_array(X))
    np.testing.assert_allclose(to_dense(stored), expected, rtol=1e-12)


def test_transformer_keeps_float32_and_sparse():
    graph = random_graph(200, 200, seed=109)
    X = sparse.random_array((200, 900), density=0.004, rng=np.random.default_rng(113), format="csr")
    Z = SGCTransformer(graph).fit_transform(X.astype(np.float32))
    assert sparse.issparse(Z)
    assert Z.dtype == np.float32


def test_transformer_before_a_classifier_is_a_graph_model():
    graph, X = ZOO["two-components"], random_features(6, 4, seed=127)
    y = np.array([0, 0, 0, 1, 1, 1])
    model = make_pipeline(SGCTransformer(graph, n_hops=4), LogisticRegression()).fit(X, y)
    alone = LogisticRegression().fit(propagate(X, graph, 4), y)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(propagate(X, graph, 4)))
    assert list(model[:-1].get_feature_names_out()) == ["x0", "x1", "x2", "x3"]


def test_transformer_takes_another_graph_at_transform():
    X, other = random_features(5, 3, seed=131), random_features(6, 3, seed=137)
    transformer = SGCTransformer(ZOO["path"]).fit(X)
    np.testing.assert_array_equal(
        transformer.transform(other, graph=ZOO["star"]), propagate(other, ZOO["star"])
    )
    np.testing.assert_array_equal(transformer.transform(X), propagate(X, ZOO["path"]))


def test_transformer_given_a_graph_at_fit_uses_it_in_fit_transform_and_asks_for_it_after():
    graph, X = ZOO["path"], random_features(5, 3, seed=139)
    transformer = SGCTransformer()
    np.testing.assert_array_equal(transformer.fit_transform(X, graph=graph), propagate(X, graph))
    np.testing.assert_array_equal(transformer.transform(X, graph), propagate(X, graph))
    with pytest.raises(
        InputError, match="transform needs a graph because fit had one: got none; pass graph="
    ):
        transformer.transform(X)


def test_transformer_without_any_graph_passes_rows_through():
    X = random_features(5, 3, seed=149)
    np.testing.assert_array_equal(SGCTransformer().fit_transform(X), X)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    scaled = SGCTransformer(row_norm="l2").fit_transform(X)
    np.testing.assert_allclose(scaled, X / np.where(norms > 0, norms, 1.0))


def test_transformer_clones_with_its_graph():
    graph = ZOO["string-ids"]
    copy = clone(SGCTransformer(graph, n_hops=1, normalization="rw"))
    assert copy.graph is graph
    assert copy.get_params()["normalization"] == "rw"


@pytest.mark.parametrize(
    "settings", [{"n_hops": -1}, {"normalization": "up"}, {"gamma": -2.0}, {"row_norm": "l7"}]
)
def test_transformer_refuses_bad_settings_at_fit(settings):
    with pytest.raises(InputError, match=f"{next(iter(settings))} must be"):
        SGCTransformer(ZOO["path"], **settings).fit(np.ones((5, 1)))


def test_transformer_refuses_rows_that_are_not_the_nodes():
    transformer = SGCTransformer(ZOO["path"]).fit(np.ones((5, 1)))
    with pytest.raises(
        InputError, match=r"got 5 nodes and 4 rows\. Inside cross-validation, propagate first"
    ):
        transformer.transform(np.ones((4, 1)))


def test_transformer_obeys_the_memory_limit():
    with pytest.raises(MemoryLimitError):
        SGCTransformer(ZOO["path"], compute=Compute(memory_limit=50)).fit_transform(np.ones((5, 1)))


def test_transformer_must_be_fitted_first():
    with pytest.raises(NotFittedError):
        SGCTransformer(ZOO["path"]).transform(np.ones((5, 1)))
