"""ZeroShotSGC against scikit-learn's ridge, against leaving classes out one by one, and its exact explanation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from sgclearn import Graph
from sgclearn.errors import InputError, SgclearnWarning
from sgclearn.reference import propagate, propagation_matrix
from sgclearn.tasks.zeroshot.metrics import hit_scores, image_scores, paired_gain, ranks
from sgclearn.tasks.zeroshot.model import ZeroShotSGC, unit_rows
from sgclearn.tasks.zeroshot.regression import DualRidge, Kernel


@pytest.fixture(scope="module")
def classes():
    """A random tree of 60 classes, vectors for all but one, classifiers for 30."""
    rng = np.random.default_rng(51)
    edges = [(child, int(rng.integers(child))) for child in range(1, 60)]
    X = rng.normal(size=(60, 8))
    X[17] = 0.0
    seen = np.sort(rng.permutation(60)[:30])
    return (
        X,
        unit_rows(X[seen] @ rng.normal(size=(8, 5)) + 0.3),
        Graph.from_edges(edges, nodes=range(60)),
        seen,
    )


def propagated(X, graph, hops):
    S = propagation_matrix(graph.to_scipy().toarray(), "rw", 1.0)
    return unit_rows(propagate(unit_rows(X), S, hops))


def test_ridge_is_that_of_scikit_learn_on_propagated_vectors(classes):
    X, Y, graph, seen = classes
    model = ZeroShotSGC(n_hops=3, weight_decay=0.01).fit(X, Y, graph, nodes=seen)
    Z = propagated(X, graph, 3)
    ridge = Ridge(alpha=0.01 * len(seen)).fit(Z[seen], unit_rows(Y))
    np.testing.assert_allclose(model.predict(X, graph), unit_rows(ridge.predict(Z)), atol=1e-10)


def test_kernel_ridge_is_that_of_scikit_learn_on_a_centred_kernel(classes):
    X, Y, graph, seen = classes
    model = ZeroShotSGC("kernel", n_hops=3, weight_decay=0.01, width=0.7).fit(X, Y, graph, nodes=seen)
    Z = propagated(X, graph, 3)
    K = Kernel(0.7).matrix(Z, Z[seen])
    J = np.eye(len(seen)) - 1 / len(seen)
    centred = (K - K[seen].mean(axis=0)) @ J
    T = unit_rows(Y)
    fitted = KernelRidge(alpha=0.01 * len(seen), kernel="precomputed").fit(centred[seen], T - T.mean(axis=0))
    np.testing.assert_allclose(
        model.predict(X, graph), unit_rows(fitted.predict(centred) + T.mean(axis=0)), atol=1e-10
    )


@pytest.mark.parametrize("width", [None, 0.5])
def test_left_out_error_equals_refitting_without_each_class(classes, width):
    X, Y, graph, seen = classes
    Z, T = propagated(X, graph, 2)[seen], unit_rows(Y)
    kernel, alpha = Kernel(width), 0.3
    errors = []
    for out in range(len(seen)):
        rest = np.delete(np.arange(len(seen)), out)
        a = DualRidge([kernel], [alpha]).fit(Z[rest], T[rest]).weights(Z[[out]])
        errors.append(((T[out] - a @ T[rest]) ** 2).sum())
    fitted = DualRidge([kernel], [alpha]).fit(Z, T)
    assert fitted.choice_.error == pytest.approx(np.mean(errors))


@pytest.mark.parametrize("solver", ["ridge", "kernel"])
def test_predictions_are_weighted_sums_of_seen_classifiers(classes, solver):
    X, Y, graph, seen = classes
    model = ZeroShotSGC(solver, n_hops=2).fit(X, Y, graph, nodes=seen)
    weights = model.weights(X, graph)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    np.testing.assert_allclose(unit_rows(weights @ model.targets_), model.predict(X, graph))


def test_settings_are_those_of_the_least_left_out_error(classes):
    X, Y, graph, seen = classes
    model = ZeroShotSGC("kernel", n_hops=2, weight_decay=[1e-3, 1e-1], width=[0.3, 1.0]).fit(
        X, Y, graph, nodes=seen
    )
    best = min(model.cv_results_, key=lambda tried: tried["error"])
    assert len(model.cv_results_) == 4
    assert (model.width_, model.leave_one_out_) == (best["width"], best["error"])
    assert model.weight_decay_ == pytest.approx(best["weight_decay"])


def test_class_without_a_vector_is_predicted_from_its_neighbours(classes):
    X, Y, graph, seen = classes
    seen, Y = seen[seen != 17], Y[seen != 17]
    model = ZeroShotSGC(n_hops=2, weight_decay=0.01).fit(X, Y, graph, nodes=seen)
    np.testing.assert_allclose(np.linalg.norm(model.predict(X, graph, nodes=[17]), axis=1), 1)
    Z = propagated(X, graph, 2)
    ridge = Ridge(alpha=0.01 * len(seen)).fit(Z[seen], unit_rows(Y))
    np.testing.assert_allclose(
        model.predict(X, graph, nodes=[17]), unit_rows(ridge.predict(Z[[17]])), atol=1e-10
    )


def test_class_that_no_vector_reaches_is_refused(classes):
    X, Y, graph, seen = classes
    seen, Y = seen[seen != 17], Y[seen != 17]
    with pytest.raises(InputError, match=r"a vector, or one within 0 hops: got neither for '17' \(1 such\)"):
        ZeroShotSGC(n_hops=0).fit(X, Y, graph, nodes=seen).predict(X, graph)
    mean = ZeroShotSGC(n_hops=0, missing="mean").fit(X, Y, graph, nodes=seen)
    np.testing.assert_allclose(mean.predict(X, graph, nodes=[17]), unit_rows(unit_rows(Y).mean(axis=0)[None]))


def test_seen_class_without_a_vector_is_left_out_with_a_warning(classes):
    X, Y, graph, seen = classes
    X = np.where(X.any(axis=1, keepdims=True), X, 1.0)
    X[seen[3]] = 0.0
    with pytest.warns(SgclearnWarning, match="1 seen class without a vector within 0 hops"):
        model = ZeroShotSGC(n_hops=0, weight_decay=0.1).fit(X, Y, graph, nodes=seen)
    assert model.nodes_.tolist() == np.delete(seen, 3).tolist()
    assert model.targets_.shape == (29, 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y, seen: (X, Y[:-1], seen), "one classifier for each of two or more seen classes"),
        (lambda X, Y, seen: (X, Y[:1], seen[:1]), "two or more seen classes"),
        (lambda X, Y, seen: (X, Y, np.append(seen[1:], seen[1])), "each once"),
        (lambda X, Y, seen: (X, np.where(np.arange(30)[:, None] == 4, 0.0, Y), seen), "finite and not zero"),
    ],
)
def test_targets_that_do_not_fit_are_refused(classes, change, message):
    X, Y, graph, seen = classes
    X, Y, seen = change(X, Y, seen)
    with pytest.raises(InputError, match=message):
        ZeroShotSGC(n_hops=1).fit(X, Y, graph, nodes=seen)


def test_settings_that_do_not_fit_are_refused(classes):
    X, Y, graph, seen = classes
    with pytest.raises(InputError, match="width goes with solver='kernel'"):
        ZeroShotSGC(width=1.0).fit(X, Y, graph, nodes=seen)
    with pytest.raises(InputError, match="solver must be 'ridge' or 'kernel'"):
        ZeroShotSGC("svm").fit(X, Y, graph, nodes=seen)
    with pytest.raises(InputError, match="weight_decay must be a positive number: got 0"):
        ZeroShotSGC(weight_decay=0).fit(X, Y, graph, nodes=seen)
    model = ZeroShotSGC(n_hops=1).fit(X, Y, graph, nodes=seen)
    with pytest.raises(InputError, match="X must have the 8 columns of the fit: got 3"):
        model.predict(X[:, :3], graph)


def test_scores_add_the_bias_where_there_is_one():
    images, W = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0, 5.0]])
    assert image_scores(images, W)[0, 0] == 16
    assert image_scores(images, W[:, :2])[0, 0] == 11
    with pytest.raises(InputError, match="as many features as the classifiers have weights: got 4 and 2"):
        image_scores(np.ones((1, 4)), W[:, :2])


def test_ranks_count_equal_scores_and_competitors_against_the_true_class():
    scores = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    true = np.array([0, 1, 2])
    assert ranks(scores, true).tolist() == [0, 1, 2]
    assert ranks(scores, true, np.array([[4.0], [1.0], [-1.0]])).tolist() == [1, 2, 2]


def test_hits_are_resampled_over_classes():
    true = np.repeat(np.arange(20), 10)
    rank = np.where(
        true < 10, 0, 5
    )  # half of the classes are always right: images are no independent witnesses
    scores = hit_scores(rank, true)
    assert scores.hits[1].value == 0.5
    assert scores.hits[1].high - scores.hits[1].low > 0.35
    assert scores.hits[10].value == 1.0
    gain = paired_gain(rank, rank + 1, true)
    assert gain.value == 0.5
    assert "200 images of 20 classes" in str(scores)


def test_real_ridge_and_kernel_reach_their_bars(data_dir):
    import gzip

    from sgclearn.features.word_vectors import read_word_vectors
    from sgclearn.tasks.zeroshot.taxonomy import name_vectors

    folder = data_dir / "zero_shot"
    with np.load(folder / "wordnet_graph.npz") as tree:
        edges, seen_index = tree["edge"], tree["seen_index"]
    names = gzip.decompress((folder / "node_names.txt.gz").read_bytes()).decode().splitlines()
    words = read_word_vectors(data_dir / "glove" / "glove6B_100d_subset.npz")
    X, known = name_vectors(names, words)
    assert (~known).sum() == 2217
    graph = Graph.from_edges(edges, nodes=range(len(names)))
    with np.load(folder / "resnet50_classifier.npz") as layer:
        targets = np.column_stack([layer["weight"], layer["bias"]])
    seen = np.flatnonzero(seen_index >= 0)
    with np.load(folder / "caltech101_resnet50.npz") as images:
        novel = np.flatnonzero(images["class_relation"] == "novel")
        chosen = np.isin(images["label"], novel)
        features, label = images["feature"][chosen].astype(np.float64), images["label"][chosen]
        nodes = images["class_node"][novel]
    true = np.searchsorted(novel, label)
    rank = {}
    for solver, bar in (("ridge", 0.35), ("kernel", 0.44)):
        model = ZeroShotSGC(solver).fit(X, targets[seen_index[seen]], graph, nodes=seen)
        rank[solver] = ranks(image_scores(features, model.predict(X, graph, nodes=nodes)), true)
        assert hit_scores(rank[solver], true).hits[1].value >= bar
    assert paired_gain(rank["kernel"], rank["ridge"], true).low > 0
