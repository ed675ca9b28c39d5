"""The report of a run: complete, well-formed, self-contained, the same twice."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from sgclearn import SGCClassifier, SGCClassifierCV
from sgclearn.datasets.generators import make_block_graph
from sgclearn.evaluate import evaluate_predictions
from sgclearn.report.contents import ReportData, make_report

VOID = {"meta", "link", "path", "circle", "rect", "i"}


class Page(HTMLParser):
    """Checks nesting, and collects headings and whatever could be fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.headings: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href") and value != "data:,"]
        assert tag != "script"
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] == "h2":
            self.headings.append(data)


def data_of(calibrated: bool = True, **changes: Any) -> ReportData:
    data = make_block_graph(300, 1500, 3, 12, seed=5)
    names = np.array(["cats", "<b>dogs</b>", "o'birds"], dtype=object)
    y = names[data.y]
    split = np.full(300, "test", dtype=object)
    split[:90], split[90:120] = "train", "val"
    known = np.where(np.isin(split, ("train", "val")), y, None)
    if calibrated:
        model = SGCClassifierCV(2, weight_decay=(1e-3, 1e-2))
        model.fit(data.X, known, data.graph, validation=np.flatnonzero(split == "val"))
    else:
        model = SGCClassifier(2).fit(data.X, known, data.graph)
    test = split == "test"
    evaluation = evaluate_predictions(y[test], model.transduction_[test])
    results = [{"model": "SGC", "n_hops": 2, "weight_decay": 1e-3, "validation_score": 0.9}]
    metrics = {"data": {"nodes": 300}, "results": results, "evaluation": evaluation.to_dict()}
    parts: dict[str, Any] = {
        "name": "drawn", "unit": "node", "model": model, "X": data.X, "graph": data.graph, "ids": data.graph.ids,
        "y": y, "split": split, "metrics": metrics, "settings": {"n_hops": 2},
        "suspicious": [("node <7>", "cats", "<b>dogs</b>", 0.97)],
    }  # fmt: skip
    return ReportData(**{**parts, **changes})


def test_report_is_complete_well_formed_and_fetches_nothing() -> None:
    text = make_report(data_of())
    found = Page(text)
    assert found.stack == []
    assert found.fetched == []
    assert "http:" not in text
    assert "https:" not in text
    assert len(text) < 600_000
    assert found.headings == [
        "Data and settings",
        "Accuracy",
        "Classes",
        "Can the probabilities be trusted?",
        "What speaks for each class",
        "The worst confident errors",
        "Suspicious labels",
        "Spectrum and advice",
        "How to repeat this",
    ]
    assert "<b>dogs" not in text
    assert "node &lt;7&gt;" in text


def test_report_is_the_same_twice() -> None:
    assert make_report(data_of()) == make_report(data_of())


def test_report_says_whether_a_temperature_is_applied() -> None:
    calibrated, plain = make_report(data_of()), make_report(data_of(calibrated=False))
    assert "before calibration" in calibrated
    assert "No temperature is applied" in plain
    assert "before calibration" not in plain


def test_report_without_test_labels_leaves_out_what_needs_them() -> None:
    split = data_of().split
    page = Page(make_report(data_of(split=np.where(split == "test", None, split), metrics={"data": {}})))
    assert "The worst confident errors" not in page.headings
    assert "Can the probabilities be trusted?" not in page.headings


def test_worst_error_is_the_most_confident_wrong_prediction() -> None:
    data = data_of()
    P = data.probabilities[data.test]
    wrong = np.flatnonzero(P.argmax(axis=1) != data.codes)
    worst = data.ids[int(data.test[wrong[P[wrong].max(axis=1).argmax()]])]
    section = make_report(data).split("The worst confident errors</h2>")[1]
    assert section.split("</summary>")[0].count(f": {worst} is labelled") == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.000"), (0.123456, "0.123"), (1e-5, "1e-05"), (1200, "1,200"), (None, "-"), (True, "yes")],
)
def test_values_are_shown_short(value: Any, text: str) -> None:
    from sgclearn.report.page import shown

    assert shown(value) == text
