from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sgclearn.errors import InputError
from sgclearn.estimators.fitting import PreparedFit, SolverSettings
from sgclearn.estimators.labels import one_hot
from sgclearn.estimators.loss import Objective, Sigmoid, Softmax
from sgclearn.estimators.rowspace import row_space
from sgclearn.estimators.scaling import ScaledDesign, fit_scaling
from sgclearn.estimators.solvers import (
    minimize_adam,
    minimize_lbfgs,
    minimize_lbfgs_steps,
    minimize_sgd,
    torch_linear_start,
    xavier_normal_start,
)
from sgclearn.estimators.solvers.newton import evaluate, search
from sgclearn.estimators.threads import blas_threads_for
from sgclearn.propagation.design import ExplicitDesign


def problem(m: int, d: int, C: int, seed: int = 83, decay: float = 1e-2, intercept: bool = True) -> Objective:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(m, d))
    codes = np.concatenate([np.arange(C), rng.integers(C, size=m - C)])
    return Objective(ExplicitDesign(Z), one_hot(codes, C), rng.uniform(0.5, 2, m), Softmax, decay, intercept)


def gradient_ratio(objective: Objective, W) -> float:
    start = np.linalg.norm(objective.value_and_gradient(np.zeros(objective.shape))[1])
    return float(np.linalg.norm(objective.value_and_gradient(W)[1]) / start)


@pytest.mark.parametrize("newton_first", [False, True])
@pytest.mark.parametrize("decay", [1e-7, 1e-4, 1.0])
def test_lbfgs_reaches_the_stated_tolerance(newton_first: bool, decay: float) -> None:
    objective = problem(40, 12, 4, decay=decay)
    result = minimize_lbfgs(objective, tol=1e-10, newton_first=newton_first)
    assert result.converged
    assert gradient_ratio(objective, result.W) <= 1e-10
    assert result.gradient_ratio == pytest.approx(gradient_ratio(objective, result.W), rel=1e-6)


def test_lbfgs_optimum_does_not_depend_on_the_start() -> None:
    objective = problem(30, 8, 3)
    zero = minimize_lbfgs(objective)
    far = minimize_lbfgs(objective, np.full(objective.shape, 3.0))
    np.testing.assert_allclose(zero.W, far.W, atol=1e-7)


def test_lbfgs_gives_the_same_bits_twice() -> None:
    first, second = (minimize_lbfgs(problem(30, 8, 3)).W for _ in range(2))
    assert np.array_equal(first, second)


def test_lbfgs_stops_at_max_iter_and_says_so() -> None:
    result = minimize_lbfgs(problem(40, 12, 4, decay=1e-6), max_iter=3)
    assert not result.converged
    assert result.n_iter == 3


def test_lbfgs_reports_progress() -> None:
    seen: list[tuple[int, int]] = []
    minimize_lbfgs(problem(30, 8, 3), on_iteration=lambda done, of: seen.append((done, of)))
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert len(seen) > 3


def test_lbfgs_zero_gradient_at_the_start_is_the_answer() -> None:
    objective = Objective(
        ExplicitDesign(np.zeros((2, 3))), one_hot(np.array([0, 1]), 2), np.ones(2), Softmax, 0.1
    )
    result = minimize_lbfgs(objective)
    assert result.converged
    assert not result.W.any()


def test_adam_start_has_torch_bounds_and_follows_its_seed() -> None:
    start = torch_linear_start((401, 7), 400, np.random.default_rng(9))
    assert np.abs(start).max() <= 1 / 20
    assert np.abs(start).max() > 0.049
    assert np.array_equal(start, torch_linear_start((401, 7), 400, np.random.default_rng(9)))


def test_adam_first_step_has_the_length_of_the_learning_rate() -> None:
    objective = problem(20, 5, 3)
    start = torch_linear_start(objective.shape, 5, np.random.default_rng(5))
    one = minimize_adam(objective, start, learning_rate=0.2, max_iter=1).W
    gradient = objective.value_and_gradient(start)[1]
    np.testing.assert_allclose(one, start - 0.2 * np.sign(gradient), atol=1e-5)


def test_adam_equals_a_plain_transcription() -> None:
    objective = problem(20, 5, 3)
    W = torch_linear_start(objective.shape, 5, np.random.default_rng(5))
    result = minimize_adam(objective, W, learning_rate=0.1, max_iter=17)
    m, v = np.zeros_like(W), np.zeros_like(W)
    for t in range(1, 18):
        g = objective.value_and_gradient(W)[1]
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        W = W - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(result.W, W, atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_sgd_comes_close_to_the_optimum_at_any_feature_scale(intercept: bool, size: float) -> None:
    rng = np.random.default_rng(23)
    Z = size * rng.normal(size=(300, 5))
    codes = (Z[:, 0] + 0.3 * size * rng.normal(size=300) > 0).astype(int) + (Z[:, 1] > size)
    Y = one_hot(codes, 3)
    objective = Objective(ExplicitDesign(Z), Y, np.ones(300), Softmax, 1e-3 * size**2, intercept)
    best = minimize_lbfgs(objective).loss
    start = np.zeros(objective.shape)
    close = minimize_sgd(objective, start, np.random.default_rng(4), max_iter=60, batch_size=32)
    uniform = objective.value_and_gradient(start)[0]
    assert close.loss - best < 0.05 * (uniform - best)


def test_sgd_follows_its_seed() -> None:
    objective = problem(50, 5, 3)
    start = np.zeros(objective.shape)
    runs = [
        minimize_sgd(objective, start, np.random.default_rng(s), max_iter=3, batch_size=8).W
        for s in (6, 6, 7)
    ]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


@given(
    st.integers(2, 10**6),
    st.sampled_from([None, "standard", "minmax", "maxabs"]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=40)
def test_row_space_fit_equals_the_fit_over_all_columns(seed, scale, intercept, as_sparse) -> None:
    rng = np.random.default_rng(seed)
    m, d, C = 8, 23, 3
    Z = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.5)
    Z[5] = 2 * Z[4]  # rank-deficient on purpose
    Z[:, 7] = 0.0
    matrix = sparse.csr_array(Z) if as_sparse else Z
    Y, w = one_hot(np.arange(m) % C, C), rng.uniform(0.5, 2, m)
    penalize = bool(seed % 2)
    settings_ = SolverSettings(scale=scale, fit_intercept=intercept, penalize_intercept=penalize, tol=1e-11)
    reduced = PreparedFit(ExplicitDesign(matrix), Y, w, Softmax, settings_, 1e-2)
    whole = PreparedFit(ExplicitDesign(matrix), Y, w, Softmax, settings_, 0.0)
    assert reduced.space is not None
    assert whole.space is None
    small, large = reduced.finish(reduced.solve(1e-2)), whole.finish(whole.solve(1e-2))
    np.testing.assert_allclose(small.Theta, large.Theta, atol=1e-6)
    np.testing.assert_allclose(small.b, large.b, atol=1e-6)
    other = ExplicitDesign(rng.normal(size=(4, d)))
    W = reduced.solve(1e-2).W
    expected = other.Z @ small.Theta + small.b
    np.testing.assert_allclose(reduced.logits(reduced.view(other), W), expected, atol=1e-8)


def test_row_space_reveals_the_rank() -> None:
    rng = np.random.default_rng(3)
    Z = np.vstack([rng.normal(size=(4, 30)), np.zeros((1, 30))])
    Z[3] = Z[0] + Z[1]
    space = row_space(ExplicitDesign(Z), np.ones(5))
    assert space is not None
    assert space.samples.shape == (5, 3)
    np.testing.assert_allclose(space.samples.Z @ space.basis.T, Z, atol=1e-12)
    np.testing.assert_allclose(space.basis.T @ space.basis, np.eye(3), atol=1e-12)


def test_row_space_is_not_used_with_more_samples_than_used_columns() -> None:
    assert row_space(ExplicitDesign(np.ones((5, 5))), np.ones(5)) is None
    thin = sparse.csr_array((np.ones(4), ([0, 1, 2, 3], [9, 9, 10, 11])), shape=(4, 100))
    assert row_space(ExplicitDesign(thin), np.ones(4)) is None  # three of a hundred columns are ever used
    scaled = ScaledDesign(ExplicitDesign(thin), fit_scaling(ExplicitDesign(thin), "maxabs"))
    assert row_space(scaled, np.ones(4)) is None


def test_sigmoid_fit_is_one_logistic_regression_a_label() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(19)
    Z, Y = rng.normal(size=(60, 4)), (rng.random((60, 2)) < 0.4).astype(float)
    settings_ = SolverSettings(penalize_intercept=False)
    prepared = PreparedFit(ExplicitDesign(Z), Y, np.ones(60), Sigmoid, settings_, 1e-2)
    fit = prepared.finish(prepared.solve(1e-2))
    for label in range(2):
        peer = LogisticRegression(C=1 / (60 * 1e-2), tol=1e-10, max_iter=1000).fit(Z, Y[:, label])
        np.testing.assert_allclose(fit.Theta[:, label], peer.coef_[0], atol=1e-5)
        assert fit.b[label] == pytest.approx(peer.intercept_[0], abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "newton"}, "solver must be one of lbfgs, lbfgs-steps, adam, sgd: got 'newton'"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": 0}, "tol must be a positive number"),
        ({"learning_rate": 0.1}, "takes no learning_rate"),
        ({"solver": "adam", "learning_rate": -1}, "learning_rate must be a positive number"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"batch_size": 1.5}, "batch_size must be a whole number >= 1: got 1.5"),
        ({"max_iter": "many"}, "max_iter must be a whole number >= 1: got 'many'"),
        ({"max_iter": True}, "max_iter must be a whole number"),
        ({"tol": None}, "tol must be a positive number: got None"),
        ({"solver": "adam", "learning_rate": "fast"}, "learning_rate must be a positive number"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False: got 'no'"),
        ({"seed": -1}, "random_state must be a whole number >= 0 or None: got -1"),
    ],
)
def test_settings_refuse_what_they_cannot_use(options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SolverSettings(**options)


def test_unknown_scale_is_refused() -> None:
    with pytest.raises(InputError, match="scale must be None"):
        fit_scaling(ExplicitDesign(np.eye(2)), "robust")


def test_blas_threads_are_one_inside_small_problems_and_untouched_for_large_ones() -> None:
    from threadpoolctl import threadpool_info

    def counts() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = counts()
    with blas_threads_for(1e6):
        assert set(counts()) == {1}
    assert counts() == before
    with blas_threads_for(1e12):
        assert counts() == before


def test_recipes_report_every_epoch() -> None:
    objective = problem(30, 4, 3)
    start = np.zeros(objective.shape)
    seen: list[tuple[int, int]] = []
    minimize_adam(objective, start, max_iter=3, on_iteration=lambda *step: seen.append(step))
    minimize_sgd(
        objective, start, np.random.default_rng(8), max_iter=2, on_iteration=lambda *step: seen.append(step)
    )
    assert seen == [(1, 3), (2, 3), (3, 3), (1, 2), (2, 2)]


def test_lbfgs_stops_where_rounding_leaves_nothing_to_gain() -> None:
    result = minimize_lbfgs(problem(30, 8, 3), tol=1e-17)
    assert result.n_iter < 1000
    assert result.gradient_ratio < 1e-12


def test_lbfgs_without_weight_decay_survives_flat_directions() -> None:
    rng = np.random.default_rng(29)
    Z = rng.normal(size=(30, 4))
    Z[:, 3] = 0.0  # no curvature and no gradient
    codes = rng.integers(3, size=30)
    objective = Objective(ExplicitDesign(Z), one_hot(codes, 3), np.ones(30), Softmax, 0.0)
    result = minimize_lbfgs(objective, newton_first=True)
    assert result.converged
    assert not result.W[3].any()


class Flattening:
    """`2 + 1.7 exp(-20 x)`: steep at zero, flat where a full step along its slope ends."""

    def value_and_gradient(self, W):
        descent = 1.7 * np.exp(-20.0 * W)
        return 2.0 + float(descent[0, 0]), -20.0 * descent, W


def test_newton_shortens_a_step_that_keeps_little_of_its_promise_even_where_it_ends_flat() -> None:
    # Samples of many columns: a full first step would end where every class is certain and nothing bends any more.
    start = evaluate(Flattening(), np.zeros((1, 1)))
    end = search(Flattening(), start, np.ones((1, 1)))
    assert 0.05 < end.W[0, 0] < 0.3


def test_hessian_products_of_float32_samples_have_no_negative_curvature_where_a_class_is_certain() -> None:
    rng = np.random.default_rng(151)
    Z = rng.normal(size=(500, 30)).astype(np.float32)
    codes = rng.integers(9, size=500)
    problem = Objective(ExplicitDesign(Z), one_hot(codes, 9), np.ones(500), Softmax, 0.0, True, False)
    W = 8.0 * rng.normal(
        size=problem.shape
    )  # logits of some forty: probabilities that float32 takes for 0 or 1
    hessian = problem.hessian(problem.value_and_gradient(W)[2])
    bias = np.zeros(problem.shape)
    for _ in range(20):
        bias[-1] = rng.normal(size=9)
        assert np.vdot(bias, hessian(bias)) > 0
    bias[-1] = 1.0
    assert abs(np.vdot(bias, hessian(bias))) < 1e-12  # the same for every class: nothing changes


def test_lbfgs_steps_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2020)
    Z, codes = rng.uniform(size=(60, 12)), rng.integers(0, 3, 60)
    Y = np.eye(3)[codes]
    start = xavier_normal_start(12, 3, rng)
    for steps, decay in ((1, 1e-2), (3, 1e-4), (4, 3e-2)):
        ours = minimize_lbfgs_steps(
            Objective(ExplicitDesign(Z), Y, np.ones(60), Softmax, decay, intercept=False),
            start,
            max_iter=20 * steps,
        )
        W = torch.tensor(start, requires_grad=True)
        optimizer = torch.optim.LBFGS([W])

        def closure(W: Any = W, optimizer: Any = optimizer, decay: float = decay) -> Any:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(torch.tensor(Z) @ W, torch.tensor(codes))
            loss = loss + 0.5 * decay * (W**2).sum()
            loss.backward()
            return loss

        for _ in range(steps):
            optimizer.step(closure)
        np.testing.assert_allclose(ours.W, W.detach().numpy(), atol=1e-9)


def test_lbfgs_steps_forget_the_oldest_as_torch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("sgclearn.estimators.solvers.lbfgs_steps.MOST_PAIRS", 4)
    rng = np.random.default_rng(2021)
    Z, codes = rng.uniform(size=(40, 9)), rng.integers(0, 3, 40)
    objective = Objective(ExplicitDesign(Z), np.eye(3)[codes], np.ones(40), Softmax, 1e-3, intercept=False)
    start = xavier_normal_start(9, 3, rng)
    W = torch.tensor(start, requires_grad=True)
    optimizer = torch.optim.LBFGS([W], history_size=4)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (
            torch.nn.functional.cross_entropy(torch.tensor(Z) @ W, torch.tensor(codes)) + 5e-4 * (W**2).sum()
        )
        loss.backward()
        return loss

    optimizer.step(closure)
    ours = minimize_lbfgs_steps(objective, start, max_iter=20)
    np.testing.assert_allclose(ours.W, W.detach().numpy(), atol=1e-9)


def test_lbfgs_steps_stop_where_there_is_nothing_to_do() -> None:
    rng = np.random.default_rng(5)
    Z, Y = rng.normal(size=(30, 4)), rng.integers(0, 2, (30, 1)).astype(float)
    objective = Objective(ExplicitDesign(Z), Y, np.ones(30), Sigmoid, 0.1, intercept=False)
    found = minimize_lbfgs_steps(objective, np.zeros((4, 1)))
    assert 3 < found.n_iter < 60
    assert found.gradient_ratio < 1e-3
    again = minimize_lbfgs_steps(objective, found.W)
    np.testing.assert_allclose(again.W, found.W, atol=1e-3)
    assert again.n_iter <= found.n_iter


def test_lbfgs_steps_end_at_any_number_of_iterations() -> None:
    objective = problem(40, 12, 4, decay=1e-7, intercept=False)
    seen: list[tuple[int, int]] = []
    found = minimize_lbfgs_steps(
        objective,
        np.zeros(objective.shape),
        max_iter=27,
        on_iteration=lambda done, of: seen.append((done, of)),
    )
    assert found.n_iter == 27
    assert seen == [(20, 27), (27, 27)]


def test_lbfgs_steps_start_where_the_recipes_do() -> None:
    """Reddit: torch's linear layer with a bias. Text: Xavier over the columns that vary, and no bias."""
    rng = np.random.default_rng(88)
    Z, Y = rng.uniform(size=(30, 5)), one_hot(rng.integers(3, size=30), 3)
    Z[:, 2] = 0.25
    design, weights = ExplicitDesign(Z), np.ones(30)
    for intercept, scale in ((True, None), (False, "minmax")):
        settings = SolverSettings(
            "lbfgs-steps", scale=scale, fit_intercept=intercept, max_iter=1, seed=4, penalize_intercept=True
        )
        prepared = PreparedFit(design, Y, weights, Softmax, settings, 1e-3)
        objective = Objective(prepared.samples, Y, weights, Softmax, 1e-3, intercept)
        draw = np.random.default_rng(4)
        if intercept:
            start = torch_linear_start((6, 3), 5, draw)
        else:
            start = np.insert(xavier_normal_start(4, 3, draw), 2, 0.0, axis=0)
        gradient = objective.value_and_gradient(start)[1]
        expected = start - min(1.0, 1.0 / np.abs(gradient).sum()) * gradient
        np.testing.assert_allclose(prepared.solve(1e-3).W, expected, atol=1e-6)


def test_lbfgs_steps_take_no_learning_rate() -> None:
    with pytest.raises(InputError, match="solver='lbfgs-steps' takes no learning_rate"):
        SolverSettings("lbfgs-steps", learning_rate=0.1)
