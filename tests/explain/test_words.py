"""Explanations in words and as HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from sgclearn import Graph, SGCClassifier
from sgclearn.explain import Explainer
from sgclearn.explain.html import explanation_html
from sgclearn.explain.words import sentence


@pytest.fixture
def explainer() -> Explainer:
    graph = Graph.from_edges(
        [("ann", "bob"), ("bob", "<i>cid</i>"), ("dan", "eve"), ("eve", "fáy/ü"), ("bob", "dan")]
    )
    X = np.array([[2.0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 2, 0], [0, 1, 1], [0, 0, 1]])
    y = ["red", "", "", "blue", "", ""]
    model = SGCClassifier(weight_decay=1e-3).fit(X, y, graph=graph)
    return Explainer(model, X, graph, feature_names=["warm", "cold", 'a"b&<c>'])


def test_sentence_names_label_rival_and_reasons(explainer: Explainer) -> None:
    text = sentence(explainer.explain("<i>cid</i>"))
    assert text.startswith("<i>cid</i> is labelled red (")
    assert "rather than blue" in text
    assert "the feature warm speaks most for it" in text
    assert "most comes through bob" in text
    assert text.endswith(".")


def test_sentence_of_a_class_that_was_not_predicted_says_so(explainer: Explainer) -> None:
    assert "is not labelled blue" in sentence(explainer.explain("ann", label="blue"))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.seen.append(tag)
        if tag != "rect":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag


def test_html_is_well_formed_and_escapes_names(explainer: Explainer) -> None:
    for node in ("<i>cid</i>", "fáy/ü"):
        page = explanation_html(explainer.explain(node))
        tags = Tags()
        tags.feed(page)
        assert tags.open == []
        assert "i" not in tags.seen
        assert "&lt;i&gt;cid&lt;/i&gt;" in page or "fáy/ü" in page
        assert 'a"b' not in page


def test_html_bars_are_proportional_to_the_terms(explainer: Explainer) -> None:
    found = explainer.explain("ann")
    page = explanation_html(found, groupings=["features"])
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="8"', page)]
    terms, _ = found.terms("features", 8)
    largest = max(abs(term.value) for term in terms)
    assert widths == pytest.approx([50 * abs(term.value) / largest for term in terms], abs=0.01)


def test_notebook_shows_the_same_with_its_style(explainer: Explainer) -> None:
    page = explainer.explain("ann")._repr_html_()
    assert page.startswith("<style>")
    assert "http" not in page
