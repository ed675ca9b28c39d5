"""Finite or an error: features, weights and steps at the ends of the range of numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sgclearn import Compute, Graph, SGCClassifier, SGCClassifierCV, propagate
from sgclearn.errors import InputError
from sgclearn.estimators.fitting import PreparedFit, SolverSettings
from sgclearn.estimators.labels import one_hot
from sgclearn.estimators.loss import Objective, Sigmoid, Softmax
from sgclearn.estimators.multilabel import SGCMultilabelClassifier
from sgclearn.estimators.scaling import ScaledDesign, balance, fit_scaling
from sgclearn.estimators.solvers import minimize_adam, minimize_sgd
from sgclearn.estimators.solvers.lbfgs_steps import minimize_lbfgs_steps
from sgclearn.propagation.design import ExplicitDesign

from zoo import random_graph

Problem = tuple[Graph, NDArray[np.float64], NDArray[np.intp]]
SIZES = [1e-150, 1e-100, 1e-20, 1e-8, 1e8, 1e20, 1e100, 1e149]
BIAS = [(True, True), (True, False), (False, True)]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(211)
    graph, y = random_graph(40, 70, seed=212), np.arange(40) % 3
    X = rng.normal(size=(40, 5))
    X[:, 0] += y
    X[:, 1] -= 2.0 * (y == 1)
    return graph, X, y


@pytest.mark.parametrize("solver", ["sgd", "adam"])
@pytest.mark.parametrize("rate", [1e200, 1e307])
def test_fit_whose_steps_overflow_names_the_learning_rate(problem: Problem, solver: str, rate: float) -> None:
    graph, X, y = problem
    for clf in (
        SGCClassifier(solver=solver, learning_rate=rate),
        SGCClassifierCV((1, 2), solver=solver, learning_rate=rate, weight_decay=(1e-3, 1e-1), cv=2),
    ):
        with pytest.raises(InputError, match=r"stay finite: .* learning_rate below"):
            clf.fit(X, y, graph=graph)
        assert not hasattr(clf, "converged_")


@pytest.mark.parametrize("rate", [1e4, 1e10, 1e100])
def test_fit_whose_steps_lead_away_has_not_converged(problem: Problem, rate: float) -> None:
    graph, X, y = problem
    with pytest.warns(ConvergenceWarning, match=r"led away .* learning_rate below"):
        clf = SGCClassifier(solver="adam", learning_rate=rate).fit(X, y, graph=graph)
    assert clf.converged_ is False
    assert np.isfinite(clf.coef_).all()


def test_recipes_that_overflow_have_not_converged() -> None:
    rng = np.random.default_rng(213)
    design, Y = ExplicitDesign(rng.normal(size=(12, 3))), one_hot(np.arange(12) % 3, 3)
    objective = Objective(design, Y, np.ones(12), Softmax, 1e-2)
    start = np.zeros(objective.shape)
    with np.errstate(all="ignore"):
        steps = Objective(design, Y, np.ones(12), Softmax, 1e300)
        for result in (
            minimize_adam(objective, start, learning_rate=1e200),
            minimize_sgd(objective, start, rng, learning_rate=1e200),
            minimize_lbfgs_steps(steps, np.full(start.shape, 1e20)),
        ):
            assert not result.converged
    assert minimize_adam(objective, start).converged


@pytest.mark.parametrize(("intercept", "penalize"), BIAS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("plan", ["full", "implicit"])
@pytest.mark.parametrize("kind", [SGCClassifier, SGCMultilabelClassifier])
def test_fit_is_right_for_features_of_any_size(
    problem: Problem, kind: type, plan: str, size: float, intercept: bool, penalize: bool
) -> None:
    graph, X, y = problem
    factor = 2.0 ** round(np.log2(size))  # so that nothing is rounded by it
    Y, decay = one_hot(y, 3), 1e-3
    clf = kind(
        weight_decay=decay, compute=Compute(plan=plan), fit_intercept=intercept, penalize_intercept=penalize
    )
    clf.fit(X * factor, y if kind is SGCClassifier else Y, graph=graph)
    assert clf.converged_ is True
    # The optimum is that of features of size one whose weights are `factor` as large, under another weight decay.
    Z, Theta, b = propagate(X, graph, 2), clf.coef_.T * factor, clf.intercept_
    logits = Z @ Theta + b
    found = clf.decision_function(X * factor, graph=graph)
    np.testing.assert_allclose(found, logits, rtol=1e-9, atol=1e-12 * np.abs(logits).max())
    link = Softmax if kind is SGCClassifier else Sigmoid
    R, at_zero = ((link.probabilities(at) - Y) / len(y) for at in (logits, np.zeros_like(logits)))
    gradient = Z.T @ R + decay / factor / factor * Theta
    assert np.linalg.norm(gradient) <= 1e-7 * np.linalg.norm(Z.T @ at_zero)
    if intercept:
        assert np.linalg.norm(R.sum(axis=0) + (decay if penalize else 0.0) * b) <= 1e-8


@pytest.mark.parametrize("size", [1e-155, 1e-160, 1e-200, 1e-300])
@pytest.mark.parametrize(("intercept", "penalize"), BIAS)
def test_fit_to_features_too_small_to_be_squared_is_refused(
    problem: Problem, size: float, intercept: bool, penalize: bool
) -> None:
    graph, X, y = problem
    with pytest.raises(InputError, match=r"near 1|can be squared"):
        SGCClassifier(fit_intercept=intercept, penalize_intercept=penalize).fit(X * size, y, graph=graph)


@pytest.mark.parametrize("decay", [1e-300, 1e-30, 1e300])
def test_fit_with_any_weight_decay_is_finite(problem: Problem, decay: float) -> None:
    graph, X, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        clf = SGCClassifier(weight_decay=decay).fit(X, y, graph=graph)
    assert np.abs(clf.coef_).max() < 1e6
    if decay > 1:
        np.testing.assert_allclose(clf.coef_ * decay, -_gradient_at_zero(graph, X, y), rtol=1e-6, atol=1e-12)


def _gradient_at_zero(graph: Graph, X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    return ((1 / 3 - one_hot(y, 3)) / len(y)).T @ propagate(X, graph, 2)


@pytest.mark.parametrize("odd", [1e-200, 1e-30, 1e30, 1e140])
@pytest.mark.parametrize("scale", ["standard", "minmax", "maxabs"])
@pytest.mark.parametrize("plan", ["full", "implicit"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scaling_keeps_a_column_of_any_size(
    problem: Problem, odd: float, scale: str, plan: str, form
) -> None:
    graph, X, y = problem
    factor = 2.0 ** round(np.log2(odd))
    columns = np.array([factor, 1.0, 1.0, 1.0, 1.0])
    options = {"scale": scale, "compute": Compute(plan), "weight_decay": 1e-2}
    ordinary = SGCClassifier(**options).fit(form(X), y, graph=graph)
    unusual = SGCClassifier(**options).fit(form(X * columns), y, graph=graph)
    np.testing.assert_allclose(unusual.coef_ * columns, ordinary.coef_, rtol=1e-6, atol=1e-9)
    assert np.abs(ordinary.coef_[:, 0]).max() > 0.1


@pytest.mark.parametrize("scale", ["standard", "minmax", "maxabs"])
def test_scaling_names_a_column_whose_spread_has_no_inverse(scale: str) -> None:
    Z = np.column_stack([np.linspace(0, 1, 9), 5e-324 * np.arange(9)])
    with pytest.raises(InputError, match=rf"scale='{scale}' .* for column 1 "):
        fit_scaling(ExplicitDesign(Z), scale)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scaling_refuses_a_column_that_float32_has_no_digits_for(form) -> None:
    Z = np.random.default_rng(214).normal(size=(50, 2)).astype(np.float32)
    Z[:, 0] *= np.float32(1e-42)
    with pytest.raises(InputError, match="for column 0 after propagation"):
        fit_scaling(ExplicitDesign(form(Z)), "standard")
    assert fit_scaling(ExplicitDesign(form(Z.astype(np.float64))), "standard").factor[0] > 1e40


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scaling_takes_a_constant_float32_column_for_one(form) -> None:
    Z = np.random.default_rng(215).normal(size=(50, 2)).astype(np.float32)
    Z[:, 1] = np.float32(0.3) * (1 + np.finfo(np.float32).eps * (np.arange(50) % 2))
    scaling = fit_scaling(ExplicitDesign(form(Z)), "standard")
    assert scaling.factor[0] > 0
    assert scaling.factor[1] == 0


def test_scaled_squares_are_right_for_columns_of_any_size() -> None:
    rng = np.random.default_rng(216)
    Z = rng.normal(size=(20, 4)) * [1e-200, 1e-20, 1.0, 1e140]
    scaled = ScaledDesign(ExplicitDesign(Z), fit_scaling(ExplicitDesign(Z), "standard"))
    np.testing.assert_allclose(scaled.squares(np.full(20, 1 / 20)), np.ones(4), rtol=1e-12)


@pytest.mark.parametrize("weight", [1e308, 1e-300, 1e-320])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1e300, 1: 3e300, 2: 1e300}])
def test_fit_depends_on_ratios_of_sample_weights_only(problem: Problem, weight: float, class_weight) -> None:
    graph, X, y = problem
    shares = np.where(np.arange(40) < 20, 1.0, 0.5)
    ordinary = SGCClassifier(class_weight=class_weight).fit(X, y, graph=graph, sample_weight=shares)
    extreme = SGCClassifier(class_weight=class_weight).fit(X, y, graph=graph, sample_weight=weight * shares)
    np.testing.assert_allclose(extreme.coef_, ordinary.coef_, rtol=1e-3 if weight < 1e-310 else 1e-7)


def test_fit_counts_a_weight_of_nothing_for_nothing(problem: Problem) -> None:
    graph, X, y = problem
    weights = np.where(np.arange(40) < 20, 1e300, 1e-320)
    extreme = SGCClassifier().fit(X, y, graph=graph, sample_weight=weights)
    half = SGCClassifier().fit(X, np.where(weights > 1, y, -1), graph=graph)
    np.testing.assert_allclose(extreme.coef_, half.coef_, rtol=1e-6, atol=1e-9)


def test_balanced_classes_without_weight_make_no_noise(problem: Problem) -> None:
    graph, X, y = problem
    weights = np.where(y == 2, 0.0, 1.0)
    clf = SGCClassifier(class_weight="balanced").fit(X, y, graph=graph, sample_weight=weights)
    assert clf.converged_
    assert not (clf.predict(X, graph=graph) == 2).any()


def test_columns_alike_are_not_balanced() -> None:
    Z = np.random.default_rng(217).normal(size=(30, 6))
    assert balance(ExplicitDesign(Z), True) is None
    assert balance(ExplicitDesign(1e20 * Z), False) is None
    together = balance(ExplicitDesign(1e20 * Z), True)
    assert len(set(together)) == 1
    assert 0.1 < together[0] * 1e20 <= 1
    apart = balance(ExplicitDesign(sparse.csr_array(Z * [1, 1, 1, 1e9, 1, 1])), True)
    np.testing.assert_allclose(np.log10(apart), [0, 0, 0, -9, 0, 0], atol=1.1)


def test_mixed_columns_are_solved_one_by_one() -> None:
    rng = np.random.default_rng(218)
    y = np.arange(60) % 2
    X = np.column_stack(
        [1e12 * rng.normal(size=60), rng.normal(size=60) + 2 * y, 1e-12 * rng.normal(size=60)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        clf = SGCClassifier(0, weight_decay=1e-2).fit(X, y)
        # The large column alone has next to no weight decay, the tiny one next to no weight.
        alone = SGCClassifier(0, weight_decay=1e-2).fit(X[:, 1:2], y)
    assert clf.converged_
    assert clf.coef_[1, 1] == pytest.approx(alone.coef_[1, 0], rel=0.2)


def test_prepared_fit_refuses_weights_that_overflow_on_the_way_back() -> None:
    design = ExplicitDesign(np.linspace(-1, 1, 8)[:, None] * 1e-307)
    fit = PreparedFit(
        design, one_hot(np.arange(8) // 4, 2), np.ones(8), Softmax, SolverSettings(scale="standard"), 1e-9
    )
    with pytest.raises(InputError, match="weights of a fit must stay finite"):
        fit.finish(fit.solve(1e-9))


def test_balanced_classes_of_a_fold_without_weights_are_refused_in_words(problem: Problem) -> None:
    graph, X, y = problem
    weights, held_out = np.zeros(40), np.arange(10)
    weights[held_out] = 1.0
    clf = SGCClassifierCV((1,), class_weight="balanced", weight_decay=(1e-2, 1e-1))
    with pytest.raises(InputError, match="label with a positive weight"):
        clf.fit(X, y, graph=graph, validation=held_out, sample_weight=weights)


@pytest.mark.parametrize("sizes", [[1.0] * 4, [1e20] * 4, [1e-20] * 4, [1e-9, 1.0, 1e9, 1.0]], ids=str)
@pytest.mark.parametrize("scale", [None, "standard", "maxabs"])
@pytest.mark.parametrize(("intercept", "penalize"), BIAS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_samples", [3, 30])
def test_prepared_fit_sees_other_samples_as_its_own(
    sizes: list[float], scale: str | None, intercept: bool, penalize: bool, form, n_samples: int
) -> None:
    rng = np.random.default_rng(219)
    Z, others = (rng.normal(size=(m, 4)) * sizes for m in (n_samples, 7))
    settings = SolverSettings(scale=scale, fit_intercept=intercept, penalize_intercept=penalize)
    Y = one_hot(np.arange(n_samples) % 3, 3)
    fit = PreparedFit(ExplicitDesign(form(Z)), Y, np.ones(n_samples), Softmax, settings, 1e-2)
    result = fit.solve(1e-2)
    found, logits = fit.finish(result), fit.logits(fit.view(ExplicitDesign(form(others))), result.W)
    expected = others @ found.Theta + found.b
    np.testing.assert_allclose(logits, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


def test_prepared_fit_refuses_logits_of_other_samples_out_of_range() -> None:
    design = ExplicitDesign(np.linspace(-1, 1, 8)[:, None] * 1e-150)
    settings = SolverSettings(scale="maxabs")
    fit = PreparedFit(design, one_hot(np.arange(8) // 4, 2), np.ones(8), Softmax, settings, 1e-9)
    result = fit.solve(1e-9)
    others = fit.view(ExplicitDesign(np.full((3, 1), 1e300)))
    with pytest.raises(InputError, match="stay finite"):
        fit.logits(others, result.W)


def test_prediction_refuses_logits_out_of_range(problem: Problem) -> None:
    graph, X, y = problem
    clf = SGCClassifier().fit(X * 1e-140, y, graph=graph)
    clf.coef_ = clf.coef_ * 1e300
    with pytest.raises(InputError, match="logits must be finite"):
        clf.predict(X * 1e149, graph=graph)


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12, 1e30])
def test_float32_features_of_any_size_are_predicted_to_their_precision(problem: Problem, size: float) -> None:
    graph, X, y = problem
    narrow = (X * size).astype(np.float32)
    clf = SGCClassifier(weight_decay=1e-3 * size**2, fit_intercept=False).fit(narrow, y, graph=graph)
    wide = clf.decision_function(narrow.astype(np.float64), graph=graph)
    np.testing.assert_allclose(
        clf.decision_function(narrow, graph=graph), wide, rtol=1e-4, atol=1e-4 * np.abs(wide).max()
    )
