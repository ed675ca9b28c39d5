"""Documents classified on their graph: the algebra against dense numpy, labels, choices, new documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone

from sgclearn import Compute, TextSGCClassifier
from sgclearn.errors import InputError, InputTypeError, MemoryLimitError, SgclearnWarning
from sgclearn.operators import Operator
from sgclearn.tasks.text import TextGraphBuilder
from sgclearn.tasks.text.classifier import DEFAULT_DECAYS

Array = NDArray[np.float64]
ALL = ("energy", "farm", "money")


def dense_power(model: TextSGCClassifier) -> Array:
    """`S^K` as the definition has it."""
    A = model.text_graph_.graph.to_scipy().toarray() + np.eye(model.text_graph_.graph.n_nodes)
    root = 1.0 / np.sqrt(A.sum(axis=1))
    return np.linalg.matrix_power(root[:, None] * A * root, model.n_hops_)


def scaled_rows(Z: Array, rows: NDArray[np.intp]) -> tuple[Array, Array, Array]:
    """Columns of the labelled rows scaled to 0..1; constant ones are zero."""
    low, high = Z[rows].min(axis=0), Z[rows].max(axis=0)
    spread = np.where(high - low > 1e-14, high - low, np.inf)
    return (Z[rows] - low) / spread, low, spread


@pytest.mark.parametrize("topics", [ALL, ("energy", "farm")])
@pytest.mark.parametrize("plan", ["left-first", "frontier", "implicit"])
@pytest.mark.parametrize("n_hops", [1, 2, 3])
def test_fit_is_the_optimum_of_the_written_objective(
    news: Any, topics: tuple[str, ...], plan: str, n_hops: int
) -> None:
    y = np.array(news.labels(*topics))
    decay = 3e-3
    compute = Compute(plan=plan)
    model = TextSGCClassifier(n_hops=n_hops, weight_decay=decay, tol=1e-10, compute=compute).fit(news.docs, y)
    rows = np.flatnonzero(y != "")
    Z, low, spread = scaled_rows(dense_power(model), rows)
    W = model.coef_.T * np.where(np.isfinite(spread), spread, 0.0)[:, None]
    L = Z @ W
    truth = np.searchsorted(model.classes_, y[rows])
    if len(topics) == 2:
        P, Y = 1 / (1 + np.exp(-L)), truth[:, None]
    else:
        P, Y = np.exp(L) / np.exp(L).sum(axis=1, keepdims=True), np.eye(3)[truth]
    gradient = Z.T @ (P - Y) / len(rows) + decay * W
    assert np.abs(gradient).max() < 1e-9
    np.testing.assert_allclose(model.intercept_, -low @ model.coef_.T, atol=1e-12)
    every = (dense_power(model)[: len(y)] - low) / spread @ W
    shown = model.decision_function()
    np.testing.assert_allclose(shown, every[:, 0] if len(topics) == 2 else every, atol=1e-9)
    assert model.transduction_.tolist() == model.predict().tolist()
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1.0)


@pytest.mark.parametrize("topics", [ALL, ("farm", "money")])
def test_paper_recipe_ends_near_the_optimum(news: Any, topics: tuple[str, ...]) -> None:
    y = news.labels(*topics)
    exact = TextSGCClassifier(weight_decay=1e-2).fit(news.docs, y)
    paper = TextSGCClassifier(weight_decay=1e-2, recipe="paper").fit(news.docs, y)
    assert paper.n_iter_ <= 60
    assert -1e-7 <= paper.loss_ - exact.loss_ < 1e-4  # the recipe walks in float32
    assert paper.transduction_.tolist() == exact.transduction_.tolist()
    other = TextSGCClassifier(weight_decay=1e-2, recipe="paper", random_state=5).fit(news.docs, y)
    assert not np.array_equal(other.coef_, paper.coef_)


def test_unlabelled_documents_are_marked_in_any_way(news: Any) -> None:
    y = np.array(news.labels(*ALL), dtype=object)
    as_text = TextSGCClassifier(weight_decay=1e-3).fit(news.docs, y)
    y[y == ""] = None
    as_none = TextSGCClassifier(weight_decay=1e-3).fit(news.docs, y)
    numbers = np.array([-1 if label is None else ALL.index(label) for label in y])
    as_numbers = TextSGCClassifier(weight_decay=1e-3).fit(news.docs, numbers)
    np.testing.assert_array_equal(as_none.coef_, as_text.coef_)
    np.testing.assert_array_equal(as_numbers.coef_, as_text.coef_)
    hidden = np.flatnonzero(numbers == -1)
    right = as_text.transduction_[hidden] == np.array(news.topics)[hidden]
    assert right.mean() > 0.9


def test_graph_can_be_given_instead_of_texts(news: Any) -> None:
    builder = TextGraphBuilder(window=4)
    y = news.labels(*ALL)
    built = TextSGCClassifier(builder, weight_decay=1e-3).fit(news.docs, y)
    given_graph = TextSGCClassifier(weight_decay=1e-3).fit(builder.build(news.docs), y)
    np.testing.assert_array_equal(built.coef_, given_graph.coef_)
    np.testing.assert_array_equal(built.predict(["crude rain"]), given_graph.predict(["crude rain"]))


@pytest.mark.parametrize("n_hops", [1, 2, 3])
def test_new_documents_join_with_everything_frozen(news: Any, n_hops: int) -> None:
    y = news.labels(*ALL)
    model = TextSGCClassifier(n_hops=n_hops, weight_decay=1e-2).fit(news.docs, y)
    graph = model.text_graph_
    text = "opec opec said rain unheard"
    t = graph.document_rows([text]).toarray()[0]
    n, D = graph.graph.n_nodes, graph.n_documents
    S = Operator(graph.graph).matrix().toarray()
    d_new, d_words = t.sum() + 1, graph.graph.degrees()[D:] + 1
    extended = np.zeros((n + 1, n + 1))
    extended[:n, :n] = S
    extended[n, D:n] = t / np.sqrt(d_new * d_words)
    extended[n, n] = 1 / d_new
    row = np.linalg.matrix_power(extended, n_hops)[n, :n]  # the column of the new document has no weight
    np.testing.assert_allclose(
        model.decision_function([text])[0], row @ model.coef_.T + model.intercept_, atol=1e-12
    )


def test_new_document_does_not_depend_on_its_company(news: Any) -> None:
    model = TextSGCClassifier(weight_decay=1e-3).fit(news.docs, news.labels(*ALL))
    texts = ["crude report", "bank of corn", "price said price", "yen yen dollar opec"]
    together = model.decision_function(texts)
    for k, text in enumerate(texts):
        np.testing.assert_array_equal(model.decision_function([text])[0], together[k])
    np.testing.assert_array_equal(model.decision_function(texts[::-1])[::-1], together)


@pytest.mark.parametrize("topics", [ALL, ("energy", "farm")])
def test_document_without_a_known_word_gets_the_shares_of_the_classes(
    news: Any, topics: tuple[str, ...]
) -> None:
    y = news.labels(*topics)
    y[1] = ""
    model = TextSGCClassifier(weight_decay=1e-3).fit(news.docs, y)
    shares = np.array([y.count(label) for label in model.classes_]) / sum(label != "" for label in y)
    with pytest.warns(SgclearnWarning, match="2 of 3 documents have no word that the model knows"):
        P = model.predict_proba(["qwertz", "crude", ""])
    np.testing.assert_allclose(P[[0, 2]], [shares, shares])
    assert P[1].max() > 0.5


def test_empty_documents_of_the_fit_are_not_learned_from(news: Any) -> None:
    y = news.labels(*ALL)
    model = TextSGCClassifier(weight_decay=1e-3).fit(news.docs, y)
    with pytest.warns(
        SgclearnWarning,
        match=r"2 of 50 documents have no word .* 1 of them labelled",
    ):
        more = TextSGCClassifier(weight_decay=1e-3).fit([*news.docs, "", "!"], [*y, "farm", ""])
    np.testing.assert_allclose(more.predict_proba()[-1], more.class_prior_)
    # The idf knows of them, and nothing else does.
    assert more.transduction_[:48].tolist() == model.transduction_.tolist()


def test_weight_decay_is_chosen_on_folds(news: Any) -> None:
    y = news.labels(*ALL)
    decays = (1e-5, 1e-2, 10.0)
    model = TextSGCClassifier(weight_decay=decays, cv=4).fit(news.docs, y)
    assert [trial["weight_decay"] for trial in model.cv_results_] == sorted(decays, reverse=True)
    scores = {trial["weight_decay"]: trial["score"] for trial in model.cv_results_}
    assert scores[model.weight_decay_] == max(scores.values()) == model.best_score_
    fixed = TextSGCClassifier(weight_decay=model.weight_decay_).fit(news.docs, y)
    np.testing.assert_array_equal(fixed.coef_, model.coef_)
    assert TextSGCClassifier(cv=2).fit(news.docs, y).weight_decay_ in np.logspace(-6, 0, 13).round(9)


def test_builder_must_be_one(news: Any) -> None:
    with pytest.raises(InputTypeError, match="builder must be a TextGraphBuilder: got 'sgc'"):
        TextSGCClassifier("sgc").fit(news.docs, news.labels(*ALL))  # type: ignore[arg-type]


def test_default_search_leaves_out_the_end_of_the_path(news: Any) -> None:
    y = news.labels(*ALL)
    y[5::7] = [ALL[k % 3] for k in range(len(y[5::7]))]  # wrong labels, which little decay learns by heart
    model = TextSGCClassifier(cv=2).fit(news.docs, y)
    tried = [trial["weight_decay"] for trial in model.cv_results_]
    assert len(tried) < len(DEFAULT_DECAYS)
    assert tried == sorted(DEFAULT_DECAYS, reverse=True)[: len(tried)]
    every = TextSGCClassifier(weight_decay=DEFAULT_DECAYS, cv=2).fit(news.docs, y)
    assert len(every.cv_results_) == len(DEFAULT_DECAYS)
    assert every.cv_results_[: len(tried)] == model.cv_results_
    assert every.weight_decay_ == model.weight_decay_


def test_validation_scores_are_those_of_a_fit_without_these_documents(news: Any) -> None:
    y = np.array(news.labels(*ALL))
    validation = np.flatnonzero(y != "")[::3]
    model = TextSGCClassifier(weight_decay=(1e-3, 1e-1)).fit(news.docs, y, validation=validation)
    hidden = y.copy()
    hidden[validation] = ""
    for trial in model.cv_results_:
        alone = TextSGCClassifier(weight_decay=trial["weight_decay"]).fit(news.docs, hidden)
        assert trial["score"] == (alone.transduction_[validation] == y[validation]).mean()
    alone = TextSGCClassifier(weight_decay=model.weight_decay_).fit(news.docs, hidden)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-7)
    np.testing.assert_array_equal(model.class_prior_, alone.class_prior_)
    refitted = TextSGCClassifier(weight_decay=[model.weight_decay_], refit_with_validation=True)
    refitted.fit(news.docs, y, validation=validation)
    everything = TextSGCClassifier(weight_decay=model.weight_decay_).fit(news.docs, y)
    np.testing.assert_allclose(refitted.coef_, everything.coef_, atol=1e-7)


def test_choice_of_the_paper_recipe_restarts_every_time(news: Any) -> None:
    y = news.labels(*ALL)
    both = TextSGCClassifier(weight_decay=(1e-2, 1e-4), recipe="paper", cv=2).fit(news.docs, y)
    alone = TextSGCClassifier(weight_decay=(1e-4,), recipe="paper", cv=2).fit(news.docs, y)
    assert both.cv_results_[1] == alone.cv_results_[0]


def test_paper_recipe_counts_its_iterations(news: Any) -> None:
    y = news.labels(*ALL)
    few = TextSGCClassifier(weight_decay=1e-4, recipe="paper", max_iter=7).fit(news.docs, y)
    assert few.n_iter_ == 7


def test_class_weight_balances(news: Any) -> None:
    y = news.labels(*ALL)
    few = [label if label != "money" or k % 8 == 1 else "" for k, label in enumerate(y)]
    plain = TextSGCClassifier(weight_decay=0.3).fit(news.docs, few)
    balanced = TextSGCClassifier(weight_decay=0.3, class_weight="balanced").fit(news.docs, few)
    money = plain.classes_.tolist().index("money")
    assert balanced.predict_proba()[:, money].mean() > plain.predict_proba()[:, money].mean() + 0.05


def test_same_fit_twice_is_the_same_and_clones(news: Any) -> None:
    model = TextSGCClassifier(TextGraphBuilder(min_df=2), recipe="paper", weight_decay=1e-2)
    first = clone(model).fit(news.docs, news.labels(*ALL))
    second = clone(model).fit(news.docs, news.labels(*ALL))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert clone(first).get_params() == model.get_params()
    assert first.score(["crude opec", "yen loan"], ["energy", "money"]) == 1.0


def test_memory_is_estimated_and_the_limit_kept(news: Any) -> None:
    y = news.labels(*ALL)
    exact = TextSGCClassifier(weight_decay=1e-3).fit(news.docs, y)
    paper = TextSGCClassifier(weight_decay=1e-3, recipe="paper").fit(news.docs, y)
    assert exact.memory_ < paper.memory_ < 2**30
    with pytest.raises(MemoryLimitError, match=r"beside its graph.*min_df or max_words"):
        TextSGCClassifier(
            weight_decay=1e-3, compute=Compute(exact.plan_.chosen, memory_limit=exact.memory_ - 1)
        ).fit(TextGraphBuilder().build(news.docs), y)


def test_progress_names_every_stage(news: Any) -> None:
    seen: dict[str, list[tuple[int, int]]] = {}

    def stage(text: str) -> Any:
        return lambda done, of: seen.setdefault(text, []).append((done, of))

    model = TextSGCClassifier(weight_decay=(1e-3, 1e-2), cv=2, compute=Compute(plan="implicit"))
    model.fit(news.docs, news.labels(*ALL), on_stage=stage)
    assert {"scaling the columns", "choosing the weight decay", "solving"} <= set(seen)
    assert seen["choosing the weight decay"] == [(1, 2), (2, 2)]
    assert list(seen).index("choosing the weight decay") < list(seen).index("solving")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"recipe": "adam"}, "recipe must be one of exact, paper: got 'adam'"),
    ({"recipe": "paper", "max_iter": 0}, "max_iter must be a whole number"),
    ({"weight_decay": -1.0}, "weight_decay must be a number >= 0: got -1.0"),
    ({"weight_decay": []}, "every list of candidates must have at least one"),
    ({"n_hops": 0}, "n_hops must be a whole number >= 1: got 0"),
    ({"cv": 1, "weight_decay": None}, "cv must be a whole number >= 2"),
    ({"cv": "three", "weight_decay": None}, "cv must be a whole number"),
    ({"class_weight": {"sport": 2}}, "class_weight names a class that no labelled node has"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
def test_wrong_settings_are_refused(news: Any, settings: dict[str, Any], message: str) -> None:
    model = TextSGCClassifier(**{"weight_decay": 1e-3, **settings})
    with pytest.raises(InputError, match=message):
        model.fit(news.docs, news.labels(*ALL))


def test_wrong_labels_are_refused(news: Any) -> None:
    model = TextSGCClassifier(weight_decay=1e-3)
    with pytest.raises(InputError, match="got 2 labels and 48 documents"):
        model.fit(news.docs, ["farm", "energy"])
    with pytest.raises(InputError, match="got 2 labels and 48 documents"):
        model.fit(TextGraphBuilder().build(news.docs), ["farm", "energy"])
    with pytest.raises(InputError, match="at least two classes: got one class, 'farm' in 48 documents"):
        model.fit(news.docs, news.labels("farm"))
    with pytest.raises(InputError, match="at least two classes: got none"):
        model.fit(news.docs, [None] * 48)
    with pytest.raises(InputError, match="got one class, 'energy'"):
        model.fit([*news.docs, ""], [*news.labels("energy"), "farm"])
    with pytest.raises(InputError, match="requires y"):
        model.fit(news.docs, None)
    with pytest.raises(InputTypeError, match="must be a list of strings"):
        model.fit("one text", ["a"])
    with pytest.raises(InputError, match="validation documents are for choosing"):
        model.fit(news.docs, news.labels(*ALL), validation=[1])
    with pytest.raises(InputError, match="validation nodes must have labels"):
        TextSGCClassifier().fit(news.docs, news.labels(*ALL), validation=[0, 4])


WORDS = st.lists(
    st.sampled_from(["oil", "corn", "rain", "yen", "bank", "gas", "crop", "loan"]), min_size=1, max_size=6
)


@pytest.mark.filterwarnings("ignore:.*tells documents apart")
@given(st.lists(WORDS, min_size=4, max_size=9), st.randoms(use_true_random=False))
def test_order_of_the_documents_does_not_matter(texts: list[list[str]], random: Any) -> None:
    docs = [*(" ".join(words) for words in texts), "oil gas tax", "corn rain tax"]
    y = [*[""] * len(texts), "a", "b"]
    order = list(range(len(docs)))
    random.shuffle(order)
    model = TextSGCClassifier(weight_decay=0.05, tol=1e-9)
    straight = model.fit(docs, y).decision_function()
    mixed = clone(model).fit([docs[k] for k in order], [y[k] for k in order]).decision_function()
    np.testing.assert_allclose(mixed, straight[order], atol=1e-6)
