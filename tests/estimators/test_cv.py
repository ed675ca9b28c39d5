from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from sgclearn import Compute, Graph, SGCClassifier, SGCClassifierCV
from sgclearn.errors import InputError, MemoryLimitError, MissingExtraError
from sgclearn.estimators.loss import Sigmoid
from sgclearn.estimators.search import Trial, make_folds, only_worse

from problems import labelled_problem


def community_problem(seed: int = 61):
    """Two noisy communities: the graph tells the classes apart, the features hardly do."""
    rng = np.random.default_rng(seed)
    n = 120
    truth = np.arange(n) % 2
    pairs = rng.integers(n, size=(900, 2))
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    pairs = pairs[same | (rng.random(900) < 0.1)]
    graph = Graph.from_edges(pairs, n_nodes=n, self_loops="drop")
    X = rng.normal(size=(n, 8)) + 0.35 * truth[:, None]
    y = np.full(n, -1)
    y[:60] = truth[:60]
    return graph, X, y, truth


def test_cv_chooses_hops_where_the_graph_helps() -> None:
    graph, X, y, truth = community_problem()
    model = SGCClassifierCV((0, 1, 2), weight_decay=(1e-3, 1e-2, 1e-1)).fit(X, y, graph=graph)
    assert model.best_params_["n_hops"] > 0
    plain = SGCClassifier(0).fit(X, y, graph=graph)
    hidden = y == -1
    assert (model.transduction_ == truth)[hidden].mean() > (plain.transduction_ == truth)[hidden].mean()


def test_cv_final_model_is_the_classifier_with_the_best_settings() -> None:
    graph, X, y, _ = community_problem()
    model = SGCClassifierCV((1, 2), weight_decay=(1e-3, 1e-1)).fit(X, y, graph=graph)
    same = SGCClassifier(**model.best_params_).fit(X, y, graph=graph)
    # The search formed the samples together with those of the other hops: equal up to rounding.
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)
    assert np.array_equal(model.predict(X, graph=graph), same.predict(X, graph=graph))


def test_cv_scores_equal_single_fits_on_the_validation_nodes() -> None:
    graph, X, y, _ = community_problem()
    validation = np.arange(40, 60)
    model = SGCClassifierCV((0, 2), weight_decay=(1e-3, 1e-1)).fit(X, y, graph=graph, validation=validation)
    hidden = y.copy()
    hidden[validation] = -1
    for trial in model.cv_results_:
        single = SGCClassifier(trial["n_hops"], weight_decay=trial["weight_decay"]).fit(
            X, hidden, graph=graph
        )
        assert trial["score"] == np.mean(single.transduction_[validation] == y[validation])
    chosen = SGCClassifier(**model.best_params_).fit(X, hidden, graph=graph)
    assert np.array_equal(model.coef_, chosen.coef_)  # the final model has not seen the validation labels
    both = SGCClassifierCV((0, 2), weight_decay=(1e-3, 1e-1), refit_with_validation=True)
    both.fit(X, y, graph=graph, validation=validation)
    assert np.array_equal(both.coef_, SGCClassifier(**model.best_params_).fit(X, y, graph=graph).coef_)


def test_cv_final_model_does_not_learn_from_validation_labels() -> None:
    graph, X, y, _ = community_problem()
    validation = np.arange(40, 60)
    # Validation labels decide between settings and do nothing else: with one setting they change nothing.
    flipped = y.copy()
    flipped[validation] = 1 - y[validation]
    one = SGCClassifierCV(2, weight_decay=[1e-2]).fit(X, y, graph=graph, validation=validation)
    two = SGCClassifierCV(2, weight_decay=[1e-2]).fit(X, flipped, graph=graph, validation=validation)
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("plan", ["full", "frontier", "left-first", "implicit"])
def test_cv_gives_the_same_choice_with_every_plan(plan: str) -> None:
    graph, X, y, _ = community_problem()
    auto = SGCClassifierCV((0, 1, 3), weight_decay=(1e-3, 1e-1)).fit(X, y, graph=graph)
    model = SGCClassifierCV((0, 1, 3), weight_decay=(1e-3, 1e-1), compute=Compute(plan=plan)).fit(
        X, y, graph=graph
    )
    assert model.best_params_ == auto.best_params_
    np.testing.assert_allclose(model.coef_, auto.coef_, atol=1e-7)


def test_cv_searches_operators_when_asked() -> None:
    graph, X, y, _ = community_problem()
    model = SGCClassifierCV(2, weight_decay=[1e-2], normalization=("sym", "rw", "cheby"), gamma=(0.0, 1.0))
    model.fit(X, y, graph=graph)
    tried = {(trial["normalization"], trial["gamma"]) for trial in model.cv_results_}
    assert tried == {("sym", 0.0), ("sym", 1.0), ("rw", 0.0), ("rw", 1.0), ("cheby", None)}


def test_cv_without_features_works() -> None:
    graph, _, y, truth = community_problem()
    model = SGCClassifierCV((1, 2), weight_decay=(1e-3, 1e-2)).fit(None, y, graph=graph)
    assert (model.transduction_ == truth).mean() > 0.8


@pytest.mark.parametrize("scoring", ["accuracy", "macro_f1", "log_loss"])
def test_cv_scoring_agrees_with_scikit_learn(scoring: str) -> None:
    from sklearn.metrics import accuracy_score, f1_score, log_loss

    graph, X, y, _ = community_problem()
    validation = np.arange(30, 60)
    model = SGCClassifierCV(1, weight_decay=[1e-2], scoring=scoring, tol=1e-10)
    model.fit(X, y, graph=graph, validation=validation)
    P = model.predict_proba(X, graph=graph)[validation]
    guess = model.classes_[P.argmax(axis=1)]
    expected = {
        "accuracy": accuracy_score(y[validation], guess),
        "macro_f1": f1_score(y[validation], guess, average="macro"),
        "log_loss": -log_loss(y[validation], P),
    }[scoring]
    assert model.best_score_ == pytest.approx(expected, abs=1e-5)


def test_cv_tpe_searches_within_its_bounds_and_follows_its_seed() -> None:
    graph, X, y, _ = community_problem()
    options = {"search": "tpe", "n_trials": 7, "weight_decay": (1e-4, 1e-1), "cv": 3}
    runs = [SGCClassifierCV((0, 2), random_state=5, **options).fit(X, y, graph=graph) for _ in range(2)]
    assert runs[0].cv_results_ == runs[1].cv_results_
    decays = [trial["weight_decay"] for trial in runs[0].cv_results_]
    assert len(decays) == 7
    assert min(decays) >= 1e-4
    assert max(decays) <= 1e-1


def test_cv_tpe_uses_the_papers_bounds_by_default() -> None:
    graph, X, y, _ = community_problem()
    model = SGCClassifierCV(2, search="tpe", n_trials=5, cv=2).fit(X, y, graph=graph)
    assert all(1e-10 <= trial["weight_decay"] <= 1e-4 for trial in model.cv_results_)


def test_cv_tpe_that_is_interrupted_prints_nothing(capfd) -> None:
    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    graph, X, y, _ = community_problem()
    with pytest.raises(KeyboardInterrupt):
        SGCClassifierCV(2, search="tpe", n_trials=5, cv=2).fit(X, y, graph=graph, on_step=interrupt)
    assert capfd.readouterr() == ("", "")


def test_cv_tpe_without_optuna_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    graph, X, y, _ = community_problem()
    with pytest.raises(MissingExtraError, match=r"sgclearn\[tune\]"):
        SGCClassifierCV(2, search="tpe").fit(X, y, graph=graph)


def test_cv_with_adam_scores_its_recipe() -> None:
    graph, X, y, _ = community_problem()
    model = SGCClassifierCV(2, weight_decay=(1e-5, 1e-3), solver="adam", max_iter=30, cv=2)
    model.fit(X, y, graph=graph)
    assert model.n_iter_ == 30


def test_cv_reports_every_step() -> None:
    graph, X, y, _ = community_problem()
    seen: list[tuple[int, int]] = []
    SGCClassifierCV((0, 1), weight_decay=(1e-3, 1e-2, 1e-1), cv=2).fit(
        X, y, graph=graph, on_step=lambda done, of: seen.append((done, of))
    )
    assert seen == [(done, 6) for done in range(1, 7)]


def trial(**changes) -> Trial:
    base = {"normalization": "sym", "gamma": None, "n_hops": 2, "filter": None, "weight_decay": 1e-3, "score": 0.8,
            "score_std": 0.0, "log_loss": 0.5}  # fmt: skip
    return Trial(**{**base, **changes})


def test_path_ends_when_it_only_gets_worse() -> None:
    better, worse = trial(score=0.9, log_loss=0.3), trial(log_loss=0.4)
    as_good = trial(score=0.9, log_loss=0.31)
    assert not only_worse([worse, worse, better], 3)
    assert not only_worse([better, worse, worse], 3)
    assert only_worse([worse, better, worse, as_good, worse], 3)
    assert not only_worse([better, worse, trial(score=0.91, log_loss=0.4), worse], 3)
    assert not only_worse([better, worse, trial(log_loss=0.29), worse], 3)


def test_patient_search_leaves_out_the_end_of_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, X, y, _ = community_problem()
    decays = np.logspace(-9, 3, 13)
    whole = SGCClassifierCV((0, 2), weight_decay=decays).fit(X, y, graph=graph)
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(SGCClassifierCV, "_patience", 3)
    patient = SGCClassifierCV((0, 2), weight_decay=decays)
    patient.fit(X, y, graph=graph, on_step=lambda done, of: seen.append((done, of)))
    assert len(patient.cv_results_) < len(whole.cv_results_) - 4
    assert all(entry in whole.cv_results_ for entry in patient.cv_results_)
    assert patient.best_params_ == whole.best_params_
    assert seen == sorted(seen)
    assert {of for _, of in seen} == {26}
    assert {13, 26} <= {done for done, _ in seen}  # both paths report their end


class OneColumn:
    """Two classes as one yes/no question, as the paper's text experiments have them."""

    def _targets(self, codes):
        return Sigmoid, codes[:, None].astype(float)


class OneColumnClassifier(OneColumn, SGCClassifier): ...


class OneColumnCV(OneColumn, SGCClassifierCV): ...


@pytest.mark.parametrize("scoring", ["accuracy", "macro_f1", "log_loss"])
def test_two_classes_may_be_one_column(scoring: str) -> None:
    """A sigmoid of w is the softmax of (-w/2, w/2), whose weight decay is twice that of w."""
    graph, X, y, _ = community_problem()
    softmax = SGCClassifierCV(2, weight_decay=(2e-3, 2e-1), scoring=scoring).fit(X, y, graph=graph)
    sigmoid = OneColumnCV(2, weight_decay=(1e-3, 1e-1), scoring=scoring).fit(X, y, graph=graph)
    assert sigmoid.coef_.shape == (1, 8)
    for one, other in zip(sigmoid.cv_results_, softmax.cv_results_, strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=1e-6)
        assert one["log_loss"] == pytest.approx(other["log_loss"], abs=1e-6)
    plain = OneColumnClassifier(2, weight_decay=sigmoid.weight_decay_).fit(X, y, graph=graph)
    np.testing.assert_allclose(plain.coef_, softmax.coef_[1:] - softmax.coef_[:1], atol=1e-7)
    for method in ("predict", "predict_proba", "decision_function"):
        one, other = (getattr(model, method)(X, graph=graph) for model in (sigmoid, softmax))
        np.testing.assert_allclose(one, other, atol=1e-7)
    assert np.array_equal(sigmoid.transduction_, softmax.transduction_)


def test_cv_ties_go_to_lower_loss_then_fewer_hops_then_more_decay() -> None:
    base = trial()
    for better in (
        trial(score=0.9, log_loss=9.0),
        trial(log_loss=0.4),
        trial(n_hops=1),
        trial(weight_decay=1e-2),
    ):
        assert min([base, better], key=Trial.rank) is better


def test_cv_accepts_splitters_and_lists_of_folds() -> None:
    graph, X, y, _ = community_problem()
    splitter = StratifiedKFold(3, shuffle=True, random_state=12)
    known = y[y != -1]
    folds = list(splitter.split(np.zeros(len(known)), known))
    one = SGCClassifierCV(1, weight_decay=(1e-3, 1e-1), cv=splitter).fit(X, y, graph=graph)
    two = SGCClassifierCV(1, weight_decay=(1e-3, 1e-1), cv=folds).fit(X, y, graph=graph)
    assert one.cv_results_ == two.cv_results_


def test_folds_of_rare_classes_do_not_fail() -> None:
    codes = np.array([0] * 10 + [1])
    folds = make_folds(codes, 5, 3)
    assert len(folds) == 5
    assert sorted(np.concatenate([validation for _, validation in folds])) == list(range(11))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": "grid"}, "search must be 'path' or 'tpe'"),
        ({"scoring": "auc"}, "scoring must be one of accuracy"),
        ({"n_trials": 0}, "n_trials must be"),
        ({"weight_decay": (-1.0,)}, "weight_decay must be a number >= 0: got -1.0"),
        ({"weight_decay": ()}, "every list of candidates must have at least one"),
        ({"n_hops": (1, -2)}, "n_hops must be a whole number >= 0: got -2"),
        ({"search": "tpe", "weight_decay": (0.0, 1.0)}, "two positive bounds"),
        ({"cv": 1}, "cv must be a whole number >= 2"),
        ({"cv": [(np.arange(5), np.arange(5))]}, "must not validate on labels it trains on"),
        ({"cv": [(np.arange(0), np.arange(5))]}, "got an empty side"),
        ({"cv": []}, "at least one fold"),
        ({"cv": "a"}, "cv must be a whole number >= 2"),
        ({"cv": [(np.arange(15), np.array([-1, -2]))]}, "by their place among the 20 labelled ones"),
        ({"cv": [(np.arange(15), np.array([25]))]}, "by their place among the 20 labelled ones"),
        ({"normalization": "cheby", "gamma": (1.0,)}, "cheby' has its own self-loops"),
    ],
)
def test_cv_bad_input_is_one_clear_sentence(options, message: str) -> None:
    graph, X, y = labelled_problem()
    with pytest.raises(InputError, match=message):
        SGCClassifierCV(**options).fit(X, y, graph=graph)


def test_cv_refuses_validation_nodes_without_labels_or_without_rest() -> None:
    graph, X, y = labelled_problem()
    with pytest.raises(InputError, match="1 of them without"):
        SGCClassifierCV().fit(X, y, graph=graph, validation=[3, 39])
    with pytest.raises(InputError, match="left to train on"):
        SGCClassifierCV().fit(X, y, graph=graph, validation=y != -1)


def test_cv_refuses_one_label_a_class() -> None:
    graph, X, y = labelled_problem(n_labelled=3)
    with pytest.raises(InputError, match="at least two labels"):
        SGCClassifierCV().fit(X, y, graph=graph)


def test_cv_accepts_folds_as_masks() -> None:
    graph, X, y, _ = community_problem()
    held_out = np.arange(60) >= 45
    masks = SGCClassifierCV(1, weight_decay=(1e-3, 1e-1), cv=[(~held_out, held_out)]).fit(X, y, graph=graph)
    numbers = SGCClassifierCV(1, weight_decay=(1e-3, 1e-1), cv=[(np.arange(45), np.arange(45, 60))])
    assert masks.cv_results_ == numbers.fit(X, y, graph=graph).cv_results_


def test_cv_balances_classes_by_training_labels_alone() -> None:
    graph, X, y, _ = community_problem()
    validation = np.flatnonzero(y == 1)[:25]  # the training part is far from balanced
    model = SGCClassifierCV(2, weight_decay=[1e-2], class_weight="balanced")
    model.fit(X, y, graph=graph, validation=validation)
    hidden = y.copy()
    hidden[validation] = -1
    alone = SGCClassifier(2, weight_decay=1e-2, class_weight="balanced").fit(X, hidden, graph=graph)
    assert np.array_equal(model.coef_, alone.coef_)
    assert model.cv_results_[0]["score"] == np.mean(alone.transduction_[validation] == 1)


def test_cv_refuses_folds_without_weight() -> None:
    graph, X, y, _ = community_problem()
    weights = np.zeros(120)
    weights[45:60] = 1.0
    folds = [(np.arange(45), np.arange(45, 60))]
    with pytest.raises(InputError, match="a label with a positive weight"):
        SGCClassifierCV(1, weight_decay=[1e-2], cv=folds).fit(X, y, graph=graph, sample_weight=weights)


def test_cv_memory_counts_every_fold_that_is_held() -> None:
    import tracemalloc

    rng = np.random.default_rng(44)
    graph = Graph.from_edges(rng.integers(400, size=(800, 2)), self_loops="drop", n_nodes=400)
    X, y = rng.normal(size=(400, 3000)), np.full(400, -1)
    y[:200] = np.arange(200) % 2
    peaks, needed = {}, {}
    for search in ("path", "tpe"):
        options = {"weight_decay": (1e-3, 1e-1), "search": search, "n_trials": 2, "cv": 5}
        with pytest.raises(MemoryLimitError) as refused:
            SGCClassifierCV((0, 1, 2), compute=Compute(memory_limit=1, plan="frontier"), **options).fit(
                X, y, graph=graph
            )
        number, unit = re.search(r"about ([0-9.]+) ([KMG]B)", str(refused.value)).groups()
        needed[search] = float(number) * {"KB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
        tracemalloc.start()
        SGCClassifierCV((0, 1, 2), compute=Compute(plan="frontier"), **options).fit(X, y, graph=graph)
        peaks[search] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    for search in peaks:
        assert peaks[search] < 1.3 * needed[search]


def test_cv_prefers_more_decay_where_every_setting_is_right() -> None:
    X = np.repeat([[0.0], [9.0]], 6, axis=0)
    model = SGCClassifierCV(0, weight_decay=np.logspace(-8, -1, 8), cv=3).fit(X, np.repeat([0, 1], 6))
    assert model.best_score_ == 1.0
    assert model.best_params_["weight_decay"] >= 1e-5
