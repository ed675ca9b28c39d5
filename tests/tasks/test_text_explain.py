"""Reasons of a prediction: they sum to the logit, whatever the document, the class and the grouping."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn import TextSGCClassifier
from sgclearn.errors import InputError, InputTypeError, SgclearnWarning
from sgclearn.tasks.text import Explanation, load_text_model, save_text_model

ALL = ("energy", "farm", "money")
TEXTS = st.lists(
    st.sampled_from(["oil", "corn", "rain", "yen", "bank", "gas", "crop", "loan", "tax"]),
    min_size=1,
    max_size=6,
)


def total(found: Explanation) -> float:
    return float(found.baseline + found.word_contributions.sum() + found.document_contributions.sum())


def logit(model: TextSGCClassifier, doc: int | str, label: Any) -> float:
    values = model.decision_function([doc])[0] if isinstance(doc, str) else model.decision_function()[doc]
    number = model.classes_.tolist().index(label)
    if len(model.classes_) == 2:
        return float(values if number == 1 else -values)
    return float(values[number])


@pytest.fixture(scope="module", params=[1, 2, 3])
def model(request: pytest.FixtureRequest, news: Any) -> TextSGCClassifier:
    return TextSGCClassifier(n_hops=request.param, weight_decay=1e-2).fit(news.docs, news.labels(*ALL))


@pytest.mark.parametrize("by", ["features", "text"])
@pytest.mark.parametrize("doc", [0, 17, "crude opec said rain", "yen unheard yen"])
def test_explanation_sums_to_the_logit(model: TextSGCClassifier, doc: int | str, by: str) -> None:
    for label in ALL:
        found = model.explain(doc, label, by=by)
        assert found.label == label
        assert total(found) == pytest.approx(logit(model, doc, label), abs=1e-12)
        assert found.logit == pytest.approx(total(found), abs=1e-12)
    predicted = model.predict([doc])[0] if isinstance(doc, str) else model.transduction_[doc]
    assert model.explain(doc, by=by).label == predicted


@pytest.mark.filterwarnings("ignore:.*tells documents apart")
@given(st.lists(TEXTS, min_size=2, max_size=8), TEXTS, st.sampled_from(["exact", "paper"]))
def test_explanation_sums_to_the_logit_of_any_documents(
    texts: list[list[str]], new: list[str], recipe: str
) -> None:
    # One word in every labelled document, so that the scaling has something to shift.
    docs = ["oil gas tax", "corn rain tax", *(" ".join(words) for words in texts)]
    model = TextSGCClassifier(weight_decay=0.01, recipe=recipe).fit(docs, ["a", "b", *[""] * len(texts)])
    fresh = " ".join(new)
    for doc in (0, 1, fresh):
        if doc == fresh and model.words_.join([fresh])[0].nnz == 0:
            continue
        for by in ("features", "text"):
            for label in ("a", "b"):
                found = model.explain(doc, label, by=by)
                assert total(found) == pytest.approx(logit(model, doc, label), abs=1e-10)


def test_baseline_is_the_shift_of_the_scaling() -> None:
    docs = ["oil gas tax", "corn rain tax", "rain", "gas tax"]
    model = TextSGCClassifier(weight_decay=0.01).fit(docs, ["a", "b", "", ""])
    # Both labelled documents reach the word that they share: its column has a smallest value above zero.
    assert abs(model.intercept_[0]) > 1e-3
    found = model.explain(3, "b")
    assert found.baseline == model.intercept_[0]
    assert model.explain(3, "a").baseline == -model.intercept_[0]


def test_features_are_weights_times_walks(model: TextSGCClassifier) -> None:
    S = np.diag(1.0 / np.sqrt(model.text_graph_.graph.degrees() + 1))
    S = S @ (model.text_graph_.graph.to_scipy().toarray() + np.eye(len(S))) @ S
    expected = np.linalg.matrix_power(S, model.n_hops_)[17] * model.coef_[1]
    found = model.explain(17, ALL[1])
    words = dict(zip(found.words, found.word_contributions, strict=True))
    documents = dict(zip(found.documents, found.document_contributions, strict=True))
    n = model.n_documents_
    for word, value in zip(model.text_graph_.vocabulary, expected[n:], strict=True):
        assert words.get(word, 0.0) == pytest.approx(value, abs=1e-14)
    for place, value in enumerate(expected[:n]):
        assert documents.get(place, 0.0) == pytest.approx(value, abs=1e-14)
    assert (np.diff(np.abs(found.word_contributions)) <= 0).all()
    assert (np.diff(np.abs(found.document_contributions)) <= 0).all()


def test_text_grouping_names_the_words_of_the_document(model: TextSGCClassifier, news: Any) -> None:
    found = model.explain(17, by="text")
    assert set(found.words) <= set(news.docs[17].split())
    assert found.documents.tolist() == [17]
    fresh = model.explain("crude opec unheard", by="text")
    assert sorted(fresh.words) == ["crude", "opec"]
    assert len(fresh.documents) == 0


def test_right_words_speak_for_a_topic(news: Any) -> None:
    model = TextSGCClassifier(weight_decay=1e-2).fit(news.docs, news.labels(*ALL))
    own = {
        "energy": {"oil", "crude", "barrel", "opec", "gas", "pipeline", "refinery", "output"},
        "farm": {"wheat", "corn", "crop", "harvest", "rain", "grain", "farmer", "soil"},
        "money": {"bank", "dollar", "rate", "loan", "bond", "central", "currency", "yen"},
    }
    for label, words in model.top_words(n=5).items():
        assert {word for word, _ in words} <= own[label]
        weights = [weight for _, weight in words]
        assert weights == sorted(weights, reverse=True)
        assert model.top_words(label, 3) == words[:3]
    strongest = model.explain(news.docs.index(next(d for d in news.docs if "opec" in d)), "energy", by="text")
    assert strongest.words[np.argmax(strongest.word_contributions)] in own["energy"]


@pytest.mark.parametrize("topics", [ALL, ("energy", "farm")])
def test_weight_of_a_top_word_is_what_a_step_onto_it_adds(news: Any, topics: tuple[str, ...]) -> None:
    model = TextSGCClassifier(weight_decay=1e-2).fit(news.docs, news.labels(*topics))
    graph = model.text_graph_
    for label in topics:
        word, weight = model.top_words(label, 1)[0]
        doc = next(k for k, text in enumerate(news.docs) if word in text.split())
        found = model.explain(doc, label, by="text")
        added = dict(zip(found.words, found.word_contributions, strict=True))[word]
        node = graph.n_documents + graph.vocabulary.tolist().index(word)
        degrees = graph.graph.degrees() + 1
        step = graph.graph.to_scipy()[doc, node] / np.sqrt(degrees[doc] * degrees[node])
        assert added == pytest.approx(step * weight, rel=1e-9)


def test_document_without_words_is_explained_by_the_shares(news: Any) -> None:
    with pytest.warns(SgclearnWarning, match="1 of 49"):
        model = TextSGCClassifier(weight_decay=1e-2).fit([*news.docs, ""], [*news.labels(*ALL), ""])
    for doc in (48, "qwertz"):
        for by in ("features", "text"):
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                found = model.explain(doc, "money", by=by)
            assert [doc == "qwertz"] * len(heard) == [
                "no word that the model knows" in str(w.message) for w in heard
            ]
            assert len(heard) == (doc == "qwertz")
            assert len(found.words) == len(found.documents) == 0
            assert found.logit == found.baseline == np.log(model.class_prior_[2])


def test_model_without_its_graph_explains_what_it_can(news: Any, tmp_path: Any) -> None:
    model = TextSGCClassifier(weight_decay=1e-2).fit(news.docs, news.labels(*ALL))
    save_text_model(model, tmp_path / "m.safetensors")
    loaded = load_text_model(tmp_path / "m.safetensors")
    text = "crude rain"
    assert loaded.explain(text, by="text").logit == model.explain(text, by="text").logit
    for doc, by in ((3, "text"), (3, "features"), (text, "features")):
        with pytest.raises(InputError, match="needs the graph of the fit"):
            loaded.explain(doc, by=by)


def test_wrong_questions_are_refused(news: Any) -> None:
    model = TextSGCClassifier(weight_decay=1e-2).fit(news.docs, news.labels(*ALL))
    with pytest.raises(
        InputError, match=r"label must be a class of the model: got 'sport'; .* 'energy', 'farm'"
    ):
        model.explain(0, "sport")
    with pytest.raises(InputError, match="one of 48 documents, from 0: got 48"):
        model.explain(48)
    with pytest.raises(InputError, match="by must be one of 'features', 'text': got 'words'"):
        model.explain(0, by="words")
    with pytest.raises(InputTypeError, match=r"doc must be a text or the position .* got list"):
        model.explain(["crude"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="label must be a class"):
        model.top_words("sport")
    with pytest.raises(InputError, match="n must be a whole number >= 1: got 0"):
        model.top_words(n=0)
    assert "Explanation('farm': " in repr(model.explain(1, "farm"))
