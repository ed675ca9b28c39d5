from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from sgclearn import Compute, Features, Graph, SGCClassifier, SGCClassifierCV, reference
from sgclearn.errors import InputError, InputTypeError, MemoryLimitError, SgclearnWarning
from sgclearn.estimators.labels import one_hot

from problems import labelled_problem
from zoo import OPERATORS, ZOO, dense_adjacency, random_features, random_graph

PLANS = ("full", "frontier", "left-first", "implicit")
# The one documented exemption: the check labels a class -1, which here means "no label".
UNLABELED_EXEMPTION = {
    "check_classifiers_classes": "-1 means unlabelled (the parameter `unlabeled`), not a class"
}


# A temperature is checked in folds of the held-out labels, drawn by number: repeating a sample is not weighing it.
CALIBRATION_EXEMPTIONS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "the folds of a temperature are drawn by the number of held-out labels",
)


def _exemptions(estimator: object) -> dict[str, str]:
    exemptions = {} if estimator.unlabeled is None else UNLABELED_EXEMPTION
    is_calibrated = getattr(estimator, "calibration", "none") == "temperature"
    return {**exemptions, **CALIBRATION_EXEMPTIONS} if is_calibrated else exemptions


@parametrize_with_checks(
    [
        SGCClassifier(),
        SGCClassifier(unlabeled=None),
        SGCClassifierCV(n_hops=(0, 2), weight_decay=(1e-3, 1e-1), cv=2),
        SGCClassifierCV(n_hops=(0, 2), weight_decay=(1e-3, 1e-1), cv=2, calibration="none"),
    ],
    expected_failed_checks=_exemptions,
    xfail_strict=True,
)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check) -> None:
    check(estimator)


def reference_gradient_ratio(model: SGCClassifier, X, y, graph) -> float:
    """Gradient norm of the reference objective at the fitted weights over its norm at zero weights."""
    S = reference.propagation_matrix(dense_adjacency(graph), model.normalization_, model.gamma_ or 0.0)
    known = y != -1
    Z = reference.propagate(X, S, model.n_hops_)[known]
    Y = one_hot(np.searchsorted(model.classes_, y[known]), len(model.classes_))

    def norm(Theta, b) -> float:
        parts = reference.gradient(Z, Y, np.ones(known.sum()), Theta, b, model.weight_decay_)
        return float(np.sqrt(sum((part**2).sum() for part in parts)))

    at_zero = norm(np.zeros((X.shape[1], Y.shape[1])), np.zeros(Y.shape[1]))
    return norm(model.coef_.T, model.intercept_) / at_zero


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("wide", [False, True])
def test_classifier_minimises_the_reference_objective(plan: str, operator: str, wide: bool) -> None:
    normalization, gamma = OPERATORS[operator]
    graph, X, y = labelled_problem(n_columns=50 if wide else 6)
    model = SGCClassifier(
        normalization=normalization, gamma=gamma, weight_decay=1e-2, compute=Compute(plan=plan)
    )
    model.fit(X, y, graph=graph)
    assert model.plan_.chosen == plan
    assert model.converged_
    assert reference_gradient_ratio(model, X, y, graph) < 1e-8
    S = reference.propagation_matrix(dense_adjacency(graph), normalization, gamma or 0.0)
    expected = reference.predict_proba(X, S, 2, model.coef_.T, model.intercept_)
    np.testing.assert_allclose(model.predict_proba(X, graph=graph), expected, atol=1e-10)


@given(
    st.integers(2, 10**6), st.sampled_from([None, "l1", "l2"]), st.sampled_from([None, "standard", "minmax"])
)
@settings(max_examples=20)
def test_every_plan_gives_the_same_model(seed: int, row_norm, scale) -> None:
    graph, X, y = labelled_problem(n_columns=9 + seed % 20, seed=seed)
    probabilities = []
    for plan in PLANS:
        features = sparse.csr_array(X) if seed % 2 else X
        model = SGCClassifier(
            3, weight_decay=1e-2, row_norm=row_norm, scale=scale, compute=Compute(plan=plan)
        )
        probabilities.append(model.fit(features, y, graph=graph).predict_proba(features, graph=graph))
    for other in probabilities[1:]:
        np.testing.assert_allclose(other, probabilities[0], atol=1e-6)


@pytest.mark.parametrize("plan", PLANS)
def test_classifier_without_features_equals_identity_features(plan: str) -> None:
    graph, _, y = labelled_problem()
    without = SGCClassifier(weight_decay=1e-2, compute=Compute(plan=plan)).fit(None, y, graph=graph)
    identity = SGCClassifier(weight_decay=1e-2).fit(np.eye(graph.n_nodes), y, graph=graph)
    np.testing.assert_allclose(
        without.predict_proba(None, graph=graph), identity.predict_proba(np.eye(40), graph=graph), atol=1e-7
    )
    assert without.n_features_in_ == graph.n_nodes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_zero_hops_and_no_graph_are_logistic_regression(n_classes: int) -> None:
    graph, X, y = labelled_problem(n_classes=n_classes)
    known = y != -1
    decay = 1e-2
    C = (2 if n_classes == 2 else 1) / (known.sum() * decay)
    peer = LogisticRegression(C=C, tol=1e-10, max_iter=2000).fit(X[known], y[known])
    zero_hops = SGCClassifier(0, weight_decay=decay, penalize_intercept=False).fit(X, y, graph=graph)
    no_graph = SGCClassifier(2, weight_decay=decay, penalize_intercept=False).fit(X, y)
    np.testing.assert_allclose(zero_hops.predict_proba(X, graph=graph), peer.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(no_graph.predict_proba(X), peer.predict_proba(X), atol=1e-5)


def test_fit_twice_gives_the_same_bits() -> None:
    graph, X, y = labelled_problem(n_columns=60)
    for options in (
        {},
        {"solver": "adam"},
        {"solver": "sgd", "max_iter": 5},
        {"compute": Compute("implicit")},
    ):
        first, second = (SGCClassifier(**options).fit(X, y, graph=graph) for _ in range(2))
        assert np.array_equal(first.coef_, second.coef_)
        assert np.array_equal(first.intercept_, second.intercept_)


def test_transduction_is_the_prediction_of_every_node() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifier().fit(X, y, graph=graph)
    assert np.array_equal(model.transduction_, model.predict(X, graph=graph))


def test_predict_of_some_nodes_equals_the_rows_of_all() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifier().fit(X, y, graph=graph)
    nodes = np.array([7, 3, 7, 39])
    everything = model.predict_proba(X, graph=graph)
    np.testing.assert_allclose(
        model.predict_proba(X, graph=graph, nodes=nodes), everything[nodes], atol=1e-12
    )
    mask = np.zeros(40, dtype=bool)
    mask[[5, 6]] = True
    np.testing.assert_allclose(
        model.predict_proba(X, graph=graph, nodes=mask), everything[[5, 6]], atol=1e-12
    )
    assert model.predict(X, graph=graph, nodes=nodes).shape == (4,)


def test_predict_on_a_graph_with_new_nodes() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifier(weight_decay=1e-2).fit(X, y, graph=graph)
    larger = graph.extend([40, 41], [3, 40], new_ids=[40, 41])
    X_larger = np.vstack([X, random_features(2, 6, 91)])
    S = reference.propagation_matrix(dense_adjacency(larger), "sym", 1.0)
    expected = reference.predict_proba(X_larger, S, 2, model.coef_.T, model.intercept_)
    np.testing.assert_allclose(model.predict_proba(X_larger, graph=larger), expected, atol=1e-10)
    np.testing.assert_allclose(
        model.predict_proba(X_larger, graph=larger, nodes=[40, 41]), expected[40:], atol=1e-10
    )


@pytest.mark.parametrize(
    ("labels", "unlabeled"),
    [
        (["a", "b", "", "a", None], -1),
        (np.array(["a", "b", "?", "a", "?"]), "?"),
        (np.array([1.0, 2.0, np.nan, 1.0, np.nan]), -1),
        (np.array([5, 7, -1, 5, -1]), -1),
        (np.array([5, 7, 99, 5, 99]), 99),
        (pd.Series(["a", "b", pd.NA, "a", None], dtype="object"), -1),
        (np.array([True, False, None, True, None], dtype=object), -1),
    ],
)
def test_unlabelled_nodes_do_not_count_however_they_are_marked(labels, unlabeled) -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [1.0, 0.1], [9.0, 9.0]])
    model = SGCClassifier(unlabeled=unlabeled).fit(X, labels)
    assert len(model.classes_) == 2
    only = SGCClassifier(unlabeled=None).fit(
        X[[0, 1, 3]], np.asarray(labels, dtype=object)[[0, 1, 3]].tolist()
    )
    np.testing.assert_allclose(model.coef_, only.coef_, atol=1e-9)


def test_class_weight_balanced_equals_the_weights_by_hand() -> None:
    graph, X, y = labelled_problem()
    y[:20] = [0] * 14 + [1] * 4 + [2] * 2
    known = y != -1
    by_hand = np.ones(40)
    for label, count in ((0, 14), (1, 4), (2, 2)):
        by_hand[y == label] = known.sum() / (3 * count)
    balanced = SGCClassifier(class_weight="balanced").fit(X, y, graph=graph)
    weighted = SGCClassifier().fit(X, y, graph=graph, sample_weight=by_hand)
    named = SGCClassifier(class_weight={0: 20 / 42, 1: 20 / 12, 2: 20 / 6}).fit(X, y, graph=graph)
    np.testing.assert_allclose(balanced.coef_, weighted.coef_, atol=1e-8)
    np.testing.assert_allclose(named.coef_, weighted.coef_, atol=1e-8)


def test_sample_weight_zero_is_no_label() -> None:
    graph, X, y = labelled_problem()
    weights = np.ones(40)
    weights[[3, 4]] = 0.0
    hidden = y.copy()
    hidden[[3, 4]] = -1
    one = SGCClassifier(scale="standard").fit(X, y, graph=graph, sample_weight=weights)
    two = SGCClassifier(scale="standard").fit(X, hidden, graph=graph)
    assert np.array_equal(one.coef_, two.coef_)


def test_scaling_after_propagation_equals_scaling_the_propagated_rows() -> None:
    from sklearn.preprocessing import StandardScaler

    graph, X, y = labelled_problem()
    known = y != -1
    S = reference.propagation_matrix(dense_adjacency(graph), "sym", 1.0)
    Z = reference.propagate(X, S, 2)
    scaler = StandardScaler().fit(Z[known])
    by_hand = SGCClassifier(weight_decay=1e-2).fit(scaler.transform(Z), y)
    model = SGCClassifier(weight_decay=1e-2, scale="standard").fit(X, y, graph=graph)
    np.testing.assert_allclose(
        model.predict_proba(X, graph=graph), by_hand.predict_proba(scaler.transform(Z)), atol=1e-8
    )


def test_no_weight_decay_on_separable_labels_warns_and_still_predicts() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.warns(ConvergenceWarning, match="no minimiser"):
        model = SGCClassifier(weight_decay=0).fit(X, [0, 0, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    assert np.isfinite(model.coef_).all()


def test_no_weight_decay_on_inseparable_labels_finds_the_optimum_quietly() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SGCClassifier(0, weight_decay=0).fit(X, [0, 1, 0, 1])
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(X, [0, 1, 0, 1])
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)


def test_too_few_iterations_warn() -> None:
    graph, X, y = labelled_problem()
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        SGCClassifier(max_iter=1).fit(X, y, graph=graph)


@pytest.mark.parametrize("solver", ["adam", "lbfgs-steps", "sgd"])
@pytest.mark.parametrize("plan", ["frontier", "implicit"])
def test_recipes_work_on_every_design(solver: str, plan: str) -> None:
    graph, X, y = labelled_problem()
    options = {"solver": solver, "max_iter": 400, "batch_size": 8, "weight_decay": 1e-2}
    exact = SGCClassifier(weight_decay=1e-2).fit(X, y, graph=graph)
    model = SGCClassifier(compute=Compute(plan=plan), **options).fit(X, y, graph=graph)
    assert model.loss_ < exact.loss_ + 0.02


def test_solver_adam_draws_from_its_seed() -> None:
    graph, X, y = labelled_problem()
    coefs = [
        SGCClassifier(solver="adam", max_iter=3, random_state=s).fit(X, y, graph=graph).coef_
        for s in (3, 3, 4)
    ]
    assert np.array_equal(coefs[0], coefs[1])
    assert not np.array_equal(coefs[0], coefs[2])


@pytest.mark.parametrize("name", [name for name in ZOO if ZOO[name].n_nodes >= 2])
def test_classifier_works_on_the_whole_zoo(name: str) -> None:
    graph = ZOO[name]
    X = random_features(graph.n_nodes, 3, 55)
    y = np.full(graph.n_nodes, -1)
    y[:2] = [0, 1]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*self-loops in the data")
        model = SGCClassifier().fit(X, y, graph=graph)
        assert np.isfinite(model.predict_proba(X, graph=graph)).all()


def test_progress_callbacks_are_called() -> None:
    graph, X, y = labelled_problem()
    hops, iterations = [], []
    SGCClassifier(3, compute=Compute(plan="frontier")).fit(
        X, y, graph=graph, on_progress=lambda *a: hops.append(a), on_iteration=lambda *a: iterations.append(a)
    )
    assert hops[-1][0] == hops[-1][1]
    assert iterations


def fit(X=None, y=None, graph="default", **options):
    default_graph, default_X, default_y = labelled_problem()
    X, y = default_X if X is None else X, default_y if y is None else y
    return SGCClassifier(**options).fit(X, y, graph=default_graph if isinstance(graph, str) else graph)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fit(n_hops=-1), InputError, "n_hops must be a whole number >= 0: got -1"),
        (lambda: fit(weight_decay=-1e-3), InputError, "weight_decay must be a number >= 0: got -0.001"),
        (lambda: fit(weight_decay=float("nan")), InputError, "weight_decay must be a number >= 0"),
        (lambda: fit(weight_decay="much"), InputError, "weight_decay must be a number >= 0"),
        (lambda: fit(y=np.zeros(7)), InputError, "one label per row of X: got 7 labels and 40 rows"),
        (lambda: fit(y=np.full(40, -1)), InputError, "none of them labelled"),
        (lambda: fit(y=np.full(40, 3)), InputError, "at least two classes .* got one class, 3"),
        (lambda: fit(y=["a"] * 39 + [4]), InputError, "labels must be of one type: got int and str"),
        (lambda: fit(X=np.full((40, 2), np.nan)), ValueError, "NaN"),
        (lambda: fit(X=np.full((40, 2), np.inf)), ValueError, "infinity"),
        (lambda: fit(X=np.ones((39, 2)), y=np.ones(39)), InputError, "got 40 nodes and 39 rows"),
        (lambda: fit(graph=sparse.eye(40)), InputTypeError, "build one with Graph.from_scipy"),
        (lambda: SGCClassifier().fit(None, [0, 1]), InputError, "X may be None only with a graph"),
        (
            lambda: fit(compute=Compute(engine="gpu")),
            InputError,
            "engine must be one of auto, native, scipy, torch: got 'gpu'",
        ),
        (lambda: fit(compute=Compute(plan="best")), InputError, "plan must be 'auto' or one of"),
        (lambda: fit(compute="scipy"), InputTypeError, "compute must be a Compute: got str"),
        (lambda: fit(scale="robust"), InputError, "scale must be None"),
        (lambda: fit(row_norm="l3"), InputError, "row_norm must be None"),
        (lambda: fit(normalization="row"), InputError, "normalization must be one of"),
        (lambda: fit(class_weight="fair"), InputError, "class_weight must be None"),
        (lambda: fit(class_weight={9: 1.0}), InputError, "class_weight names a class .* 9"),
        (lambda: fit(class_weight={0: -1.0}), InputError, "a class_weight must be a number >= 0: got -1.0"),
        (lambda: fit(compute=Compute(memory_limit="1KB")), MemoryLimitError, "raise memory_limit"),
        (
            lambda: labelled_fit().predict(np.ones((40, 5)), graph=labelled_problem()[0]),
            ValueError,
            "6 features",
        ),
        (
            lambda: labelled_fit().predict(labelled_problem()[1]),
            InputError,
            "predict needs a graph because fit had one",
        ),
        (
            lambda: labelled_fit().predict(None, graph=labelled_problem()[0]),
            InputError,
            "fitted on 6 features",
        ),
    ],
)
def test_bad_input_is_one_clear_sentence(call, error, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def labelled_fit() -> SGCClassifier:
    graph, X, y = labelled_problem()
    return SGCClassifier().fit(X, y, graph=graph)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), "one entry a row of X"),
        (-np.ones(40), "finite and >= 0"),
        (np.zeros(40), "no labelled node"),
    ],
)
def test_bad_sample_weight_is_refused(weights, message: str) -> None:
    graph, X, y = labelled_problem()
    with pytest.raises(InputError, match=message):
        SGCClassifier().fit(X, y, graph=graph, sample_weight=weights)


def test_scalar_sample_weight_is_the_same_for_every_node() -> None:
    graph, X, y = labelled_problem()
    one, two = (SGCClassifier().fit(X, y, graph=graph, sample_weight=w) for w in (None, 3.0))
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-9)


def test_predict_with_a_graph_after_a_fit_without_is_refused() -> None:
    graph, X, y = labelled_problem()
    with pytest.raises(InputError, match="fitted without a graph"):
        SGCClassifier().fit(X, y).predict(X, graph=graph)


def test_predict_before_fit_says_so() -> None:
    with pytest.raises(NotFittedError):
        SGCClassifier().predict(np.eye(2))


def test_model_without_features_refuses_other_nodes() -> None:
    graph, _, y = labelled_problem()
    model = SGCClassifier().fit(None, y, graph=graph)
    with pytest.raises(InputError, match="give the nodes features"):
        model.predict(None, graph=random_graph(41, 60, 8))


def test_empty_graph_is_refused_for_want_of_labels() -> None:
    with pytest.raises(ValueError, match="0 sample"):
        SGCClassifier().fit(np.zeros((0, 3)), [], graph=Graph.from_edges([], n_nodes=0))


def test_decision_function_of_two_classes_is_the_log_odds() -> None:
    graph, X, y = labelled_problem(n_classes=2)
    model = SGCClassifier().fit(X, y, graph=graph)
    P = model.predict_proba(X, graph=graph)
    np.testing.assert_allclose(model.decision_function(X, graph=graph), np.log(P[:, 1] / P[:, 0]), atol=1e-9)


def test_fit_without_a_graph_says_that_hops_change_nothing() -> None:
    with pytest.warns(SgclearnWarning, match="no graph was given, so 2 hops change nothing"):
        SGCClassifier().fit(np.eye(2), [0, 1])


def test_score_counts_labelled_nodes_alone() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifier().fit(X, y, graph=graph)
    known = y != -1
    assert model.score(X, y, graph=graph) == np.mean(model.transduction_[known] == y[known])


def test_features_with_ids_are_put_in_the_order_of_the_nodes() -> None:
    graph, X, y = labelled_problem()
    named = graph.with_ids([f"n{node}" for node in range(40)])
    order = np.random.default_rng(6).permutation(40)
    table = Features.from_matrix(X[order], ids=[f"n{node}" for node in order])
    one = SGCClassifier().fit(X, y, graph=graph)
    two = SGCClassifier().fit(table, y, graph=named)
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.predict_proba(X, graph=graph), two.predict_proba(table, graph=named))


def test_parameters_changed_after_the_fit_do_not_change_predictions() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifier(row_norm="l2").fit(X, y, graph=graph)
    before = model.predict_proba(X, graph=graph)
    model.set_params(row_norm=None, n_hops=0, gamma=0.0, normalization="rw")
    assert np.array_equal(model.predict_proba(X, graph=graph), before)


def test_features_too_large_to_square_are_refused() -> None:
    graph, X, y = labelled_problem()
    X = X.copy()
    X[0, 0] = 1e308
    with pytest.raises(InputError, match=r"size that can be squared: got 1e\+308"):
        SGCClassifier().fit(X, y, graph=graph)


def test_thousand_hops_have_finite_costs() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifier(1000).fit(X, y, graph=graph)
    assert all(
        np.isfinite([cost.seconds, cost.multiply_adds, cost.memory]).all() for cost in model.plan_.costs
    )


def test_memory_of_predicting_every_node_counts() -> None:
    graph = random_graph(20_000, 80_000, 15)
    X, y = np.ones((20_000, 1)), np.full(20_000, -1)
    y[:2] = [0, 1]
    with pytest.raises(MemoryLimitError):
        SGCClassifier(1, compute=Compute(memory_limit="4MB")).fit(X, y, graph=graph)
    SGCClassifier(1, compute=Compute(memory_limit="40MB")).fit(X, y, graph=graph)


def test_refit_without_features_forgets_their_names() -> None:
    graph, X, y = labelled_problem()
    model = SGCClassifier().fit(pd.DataFrame(X, columns=list("abcdef")), y, graph=graph)
    assert list(model.feature_names_in_) == list("abcdef")
    assert not hasattr(model.fit(None, y, graph=graph), "feature_names_in_")


def test_labels_in_several_columns_are_pointed_to_the_multilabel_classifier() -> None:
    with pytest.raises(InputError, match="SGCMultilabelClassifier"):
        SGCClassifier().fit(np.eye(3), np.eye(3))


def test_minus_one_as_a_class_is_explained() -> None:
    with pytest.raises(InputError, match="set unlabeled=None"):
        SGCClassifier().fit(np.eye(4), [-1, 1, -1, 1])


def test_class_weight_of_zero_for_every_class_is_refused() -> None:
    graph, X, y = labelled_problem()
    with pytest.raises(InputError, match="zero for every class"):
        SGCClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y, graph=graph)
