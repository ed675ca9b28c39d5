"""What a report says about a run of a classifier: its sections, each from what the run holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.evaluate.probabilities import ProbabilityEvaluation, evaluate_probabilities, untempered
from sgclearn.explain import Explainer
from sgclearn.explain.html import explanation_html
from sgclearn.explain.words import sentence
from sgclearn.graph import Graph
from sgclearn.report.page import KEY, Section, details, page, paragraph, shown, side_by_side, table
from sgclearn.report.pictures import coverage_picture, reliability_picture

Array = NDArray[np.float64]
_WORDS, _MOST_CLASSES = 10, 30
_WORST = 5
_MOST_CONFUSION = 20
_SPECTRUM_EDGES = 2_000_000  # beyond, the spectrum takes longer than the rest of the report


@dataclass(frozen=True, eq=False)
class ReportData:
    """What is known of a run.

    Parameters
    ----------
    name : str
    unit : str
        What one sample is called.
    model : fitted classifier
    X : matrix (n, d) or None
    graph : Graph or None
    ids : array (m,)
    y : object array (m,)
        True class, None without a label.
    split : object array (m,)
        "train", "val", "test" or None.
    metrics, settings : dict
        As the run has them.
    feature_names : sequence of str or None
    suspicious : list of (id, label, better label, probability)
        Training labels that a fit without them contradicts.
    """

    name: str
    unit: str
    model: Any
    X: Any
    graph: Graph | None
    ids: NDArray[Any]
    y: NDArray[Any]
    split: NDArray[Any]
    metrics: dict[str, Any]
    settings: dict[str, Any]
    feature_names: Sequence[str] | None = None
    suspicious: list[tuple[Any, Any, Any, float]] = field(default_factory=list)

    @cached_property
    def probabilities(self) -> Array:
        """Of every sample (m, C), as the model gives them."""
        return np.asarray(self.model.predict_proba(self.X, graph=self.graph))

    @cached_property
    def uncalibrated(self) -> Array:
        """The same with the temperature 1."""
        return untempered(self.probabilities, self.model.temperature_)

    @cached_property
    def test(self) -> NDArray[np.intp]:
        """Samples with a test label."""
        return np.flatnonzero(self.split == "test")

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Column of the true class of the test samples; -1 for a class that the model does not know."""
        place = {label: number for number, label in enumerate(self.model.classes_.tolist())}
        return np.array([place.get(label, -1) for label in self.y[self.test].tolist()], dtype=np.intp)

    def scores(self, probabilities: Array) -> ProbabilityEvaluation | None:
        """How far probabilities can be trusted on the test samples; None without any."""
        known = self.codes >= 0
        if not known.any():
            return None
        return evaluate_probabilities(self.codes[known], probabilities[self.test[known]])


def make_report(data: ReportData) -> str:
    """The page: one HTML document, the same bytes for the same run."""
    sections = [
        Section("Data and settings", _data(data)),
        Section("Accuracy", _accuracy(data)),
        Section("Classes", _classes(data)),
        Section("Can the probabilities be trusted?", _trust(data)),
        Section("What speaks for each class", _words(data)),
        Section("The worst confident errors", _errors(data)),
        Section("Suspicious labels", _suspicious(data)),
        Section("Spectrum and advice", _spectrum(data)),
        Section("How to repeat this", _repeat(data)),
    ]
    headline = ""
    if len(data.test):
        right = data.model.classes_[data.probabilities[data.test].argmax(axis=1)] == data.y[data.test]
        headline = f"{right.mean():.1%} of {len(data.test):,} test labels are predicted right"
    return page(f"SGC on {data.name}", headline or "No test labels", sections)


def _data(data: ReportData) -> str:
    facts = [(key, value) for key, value in data.metrics.get("data", {}).items() if value is not None]
    chosen = [
        (key, value)
        for key, value in sorted(data.settings.items())
        if value is not None and not isinstance(value, dict | list)
    ]
    return side_by_side(
        table(("data", ""), facts, is_text=True), table(("setting", ""), chosen, is_text=True)
    )


def _accuracy(data: ReportData) -> str:
    rows = []
    for result in data.metrics.get("results", []):
        test = result.get("test") or {}
        scores = [_interval(test.get(name)) for name in ("accuracy", "macro_f1")]
        validation = result.get("validation_score")
        rows.append(
            (result.get("model"), result.get("n_hops"), result.get("weight_decay"), validation, *scores)
        )
    if not rows:
        return ""
    header = ("model", "hops", "weight decay", "held-out accuracy", "test accuracy", "test macro-F1")
    note = "Intervals hold the true value in 95 of 100 cases. The last model is the one of the run."
    return table(header, rows) + paragraph(note)


def _interval(score: Any) -> str | None:
    if isinstance(score, dict):
        return f"{score['value']:.3f} [{score['low']:.3f}, {score['high']:.3f}]"
    return None if score is None else shown(score)


def _classes(data: ReportData) -> str:
    evaluation = data.metrics.get("evaluation")
    if not evaluation or "per_class" not in evaluation:
        return ""
    rows = [
        (row["label"], *(_interval(row[name]) for name in ("precision", "recall", "f1")), row["support"])
        for row in evaluation["per_class"]
    ]
    content = table(("class", "precision", "recall", "F1", "test labels"), rows)
    classes, confusion = evaluation["classes"], evaluation["confusion"]
    if len(classes) <= _MOST_CONFUSION:
        header = ("true class, predicted as", *map(str, classes))
        counts = [(label, *row) for label, row in zip(classes, confusion, strict=True)]
        content += details("Confusion matrix", table(header, counts))
    return content


def _trust(data: ReportData) -> str:
    after = data.scores(data.probabilities)
    if after is None:
        return ""
    applied = data.model.temperature_ != 1.0
    before = data.scores(data.uncalibrated) if applied else None
    names = ("log_loss", "brier_score", "calibration_error", "mean_confidence", "accuracy")
    columns = [score for score in (before, after) if score is not None]
    rows = [(name.replace("_", " "), *(float(getattr(score, name)) for score in columns)) for name in names]
    header = ("on the test labels", "before calibration", "after") if before else ("on the test labels", "")
    told = (
        f"The logits are divided by a temperature of {data.model.temperature_:.3g}, fitted on held-out labels."
        if applied
        else "No temperature is applied: none was fitted, or it did not lower the log-loss of held-out labels."
    )
    bins = [(k + 1, b.n, b.confidence, b.accuracy) for k, b in enumerate(after.reliability)]
    coverage = [(c.coverage, c.threshold, c.accuracy, c.n) for c in after.risk_coverage]
    return (
        paragraph(told)
        + side_by_side(
            table(header, rows),
            reliability_picture(() if before is None else before.reliability, after.reliability)
            + (KEY if before else "")
            + details("As a table", table(("bin", "labels", "confidence", "accuracy"), bins)),
        )
        + "<h3>Answering only when sure</h3>"
        + side_by_side(
            coverage_picture(after.risk_coverage),
            table(("share answered", "least confidence", "accuracy", "labels"), coverage),
        )
    )


def _words(data: ReportData) -> str:
    coef = np.asarray(data.model.coef_)
    if data.X is None or coef.shape[1] != data.X.shape[1] or len(data.model.classes_) > _MOST_CLASSES:
        return ""
    if len(coef) == 1:
        coef = np.concatenate([-coef, coef])
    centred = coef - coef.mean(axis=0)
    names = data.feature_names
    rows = []
    for label, weights in zip(data.model.classes_.tolist(), centred, strict=True):
        best = np.argsort(-weights, kind="stable")[:_WORDS]
        known = [str(k) if names is None else str(names[k]) for k in best.tolist() if weights[k] > 0]
        rows.append((label, ", ".join(known)))
    note = "Features with the largest weight for a class over the mean of all classes."
    return paragraph(note) + table(("class", "features"), rows, is_text=True)


def _errors(data: ReportData) -> str:
    if not len(data.test) or (data.graph is None) == bool(data.model.uses_graph_):
        return ""
    if len(data.ids) != (data.probabilities.shape[0] if data.graph is None else data.graph.n_nodes):
        return ""
    P = data.probabilities[data.test]
    wrong = np.flatnonzero(P.argmax(axis=1) != data.codes)
    if not len(wrong):
        return paragraph("There is none.")
    worst = wrong[np.argsort(-P[wrong].max(axis=1), kind="stable")[:_WORST]]
    explainer = Explainer(data.model, data.X, data.graph, feature_names=data.feature_names)
    parts = []
    for place in worst:
        position = int(data.test[place])
        against = data.y[position] if data.codes[place] >= 0 else None
        explanation = explainer.explain(position, against)
        heading = f"true class {data.y[position]}: {sentence(explanation)}"
        parts.append(
            details(heading, explanation_html(explanation, groupings=("features", "through", "hops")))
        )
    return "".join(parts)


def _suspicious(data: ReportData) -> str:
    if not data.suspicious:
        return ""
    rows = [(name, label, better, f"{p:.0%}") for name, label, better, p in data.suspicious]
    note = "Training labels that a model fitted without them contradicts most surely; worth a second look."
    return paragraph(note) + table((data.unit, "label", "predicted without it", "probability"), rows)


def _spectrum(data: ReportData) -> str:
    graph = data.graph
    if graph is None or graph.directed or graph.n_stored > _SPECTRUM_EDGES or not graph.n_edges:
        return ""
    from sgclearn.spectral import summarize_spectrum

    summary = summarize_spectrum(graph, data.X)
    rows: list[tuple[str, Any]] = [
        ("connected components", summary.n_components),
        ("largest eigenvalue of the Laplacian", summary.lambda_n),
        ("the same with self-loops", summary.lambda_n_augmented),
    ]
    if summary.n_features is not None:
        rows += [
            ("mean frequency of the features", summary.mean_frequency),
            ("the same of random features", summary.mean_frequency_random),
        ]
    advice = data.metrics.get("advice")
    told = [item.text for item in summary.advice] + ([str(advice)] if advice else [])
    return table(("spectrum", ""), rows) + "".join(paragraph(text) for text in told)


def _repeat(data: ReportData) -> str:
    command = data.settings.get("command")
    return f"<pre>{shown(command)}</pre>" if command else paragraph("sgc fit with the settings above.")
