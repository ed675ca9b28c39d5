"""Curves and findings: from rows to lines, tables and statements, by hand and on real data."""

from __future__ import annotations

import pytest

from sgclearn.experiments import ResultFile, Selection, compare, run_experiment
from sgclearn.experiments.curves import curve_table, curves_of
from sgclearn.paper import load_recipe
from sgclearn.paper.findings import find, odd_and_even, propagation_findings
from sgclearn.paper.page import results_page
from sgclearn.paper.recipe_files import parse_recipe
from sgclearn.paper.run_report import report_of

HOPS = range(2, 11)
SWEPT = """
id = "toy"
title = "A toy"
where = "Table 0"
runs = 1
seed = 700
metric = "val_accuracy"
figure = "curves"
axis = { name = "n_hops", title = "hops" }
datasets.a = { kind = "node", title = "Alpha" }
datasets.b = { kind = "node", title = "Beta" }
[models.m]
title = "M"
model = "sgc"
settings = [{ source = "a long source", values = { row_norm = "l1" } }]
sweep = { setting = "n_hops", as = "K", values = [2, 3] }
"""
AMOUNTS = """
id = "toy"
title = "A toy"
where = "Table 0"
runs = 1
seed = 700
metric = "val_accuracy"
figure = "curves"
axis = { name = "n_per_class", title = "labels" }
datasets.few = { kind = "node", name = "cora", n_per_class = 1 }
datasets.many = { kind = "node", name = "cora", n_per_class = 80 }
[models.m]
title = "M"
model = "sgc"
published = { source = "Table 0", few = { value = 33.16 } }
"""


def line(dataset, model, score, run=0):
    about = {
        "kind": "run",
        "dataset": dataset,
        "model": model,
        "run": run,
        "seed": 700 + run,
        "key": "k",
        "threads": 1,
    }
    found = {"scores": {"val_accuracy": score, "test_accuracy": 1.0}, "seconds": 1.0, "cpu_seconds": 1.0}
    machine = {"cpu": "Some CPU", "cores": 2, "system": "Linux"}
    return (
        about | found | {"n_parameters": 7, "settings": {}, "details": {}, "versions": {}, "machine": machine}
    )


@pytest.fixture
def swept():
    lines = [line("a", "m-3", 71.0), line("a", "m-2", 72.0), line("b", "m-3", 81.0)]
    return compare(parse_recipe(SWEPT), lines)


def test_curves_of_a_sweep_have_a_panel_a_dataset_and_places_in_order(swept):
    found = [
        (curve.panel, curve.title, [(x, row.mean) for x, row in curve.points]) for curve in curves_of(swept)
    ]
    assert found == [("Alpha", "M", [(2, 72.0), (3, 71.0)]), ("Beta", "M", [(3, 81.0)])]
    header, rows = curve_table(swept)
    assert header == ("dataset", "model", "2", "3")
    assert rows == (("Alpha", "M", "72.0", "71.0"), ("Beta", "M", "-", "81.0"))


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ((1, 1), "Validation accuracy (%), n = 1"),
        ((2, 2), "Validation accuracy (%), means, n = 2"),
        ((3, 1), "Validation accuracy (%), means, n = 1 to 3"),
    ],
)
def test_table_of_curves_says_how_many_runs_its_means_are_of(runs, words):
    lines = [
        line("a", model, 71.0, run) for model, n in zip(("m-2", "m-3"), runs, strict=True) for run in range(n)
    ]
    (table,) = report_of(parse_recipe(SWEPT), lines).tables
    assert table.title == words


def test_curves_along_the_data_share_a_panel():
    comparison = compare(parse_recipe(AMOUNTS), [line("many", "m", 90.0), line("few", "m", 32.0)])
    (curve,) = curves_of(comparison)
    assert (curve.panel, [(x, row.mean) for x, row in curve.points]) == ("Cora", [(1, 32.0), (80, 90.0)])


def test_figure_of_curves_draws_lines_and_published_figures(swept):
    pytest.importorskip("matplotlib")
    alpha, beta = report_of(swept.experiment, swept.lines).draw().axes
    assert [list(drawn.get_xdata()) for drawn in (alpha.lines[0], beta.lines[0])] == [[2, 3], [3]]
    assert (alpha.get_title(), alpha.get_xlabel(), alpha.get_xscale()) == ("Alpha", "hops", "linear")
    amounts = compare(parse_recipe(AMOUNTS), [line("few", "m", 32.0), line("many", "m", 90.0)])
    figure = report_of(amounts.experiment, amounts.lines).draw()
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "80"]
    hollow = [list(mark.get_ydata()) for mark in axes.lines if mark.get_markerfacecolor() == "none"]
    assert [33.16] in hollow
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["M", "published"]


def test_page_of_a_sweep_tells_the_settings_once_and_no_times(swept):
    page = results_page(report_of(swept.experiment, swept.lines), command="sgc reproduce toy")
    assert page.count("**M**") == 1
    assert "- ``n_hops``, one model for each of 3, 2." not in page
    assert "- ``n_hops``, one model for each of 2, 3." in page
    assert "Seconds of training" not in page
    assert "- seed 700, one run" in page


def scores(**changes):
    """Scores as the paper found them: plain ones drop at odd K, first-order Chebyshev goes down."""
    found = {
        "aug-adj": dict.fromkeys(HOPS, 80.0) | {2: 79.5},
        "aug-rw": dict.fromkeys(HOPS, 80.0),
        "adj": {K: 74.0 if K % 2 else 78.0 for K in HOPS},
        "rw": {K: 75.0 if K % 2 else 78.0 for K in HOPS},
        "cheby": {K: 80.0 - K for K in HOPS},
    }
    return found | changes


def test_findings_hold_on_what_the_paper_describes():
    found = propagation_findings("Cora", scores())
    assert [one.holds for one in found] == [True] * 6
    assert [one.name for one in found] == ["Cora"] * 6


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"aug-adj": dict.fromkeys(HOPS, 60.0)}, "augmented are better"),
        ({"cheby": dict.fromkeys(HOPS, 79.97)}, "augmented are better"),
        ({"aug-rw": {K: 60.0 + 4 * K for K in HOPS}}, "augmented are steadier"),
        ({"adj": dict.fromkeys(HOPS, 78.0)}, "odd K hurt the normalised adjacency"),
        ({"rw": {K: 79.0 if K % 2 else 75.0 for K in HOPS}}, "odd K hurt the random walk"),
        ({"aug-rw": {K: 60.0 if K % 2 else 90.0 for K in HOPS}}, "and augmented ones less"),
        ({"cheby": {K: 60.0 + K for K in HOPS}}, "first-order Chebyshev falls"),
    ],
)
def test_findings_fail_where_the_scores_say_otherwise(changes, broken):
    failed = [one.text for one in propagation_findings("Cora", scores(**changes)) if not one.holds]
    assert any(text.startswith(broken) for text in failed)


def test_findings_say_nothing_about_data_without_all_the_points():
    recipe = load_recipe("fig-prop")
    lines = [line("cora", f"{name}-{K}", score) for name, of in scores().items() for K, score in of.items()]
    assert len(find("propagation", compare(recipe, lines))) == 6
    assert find("propagation", compare(recipe, lines[1:])) == ()
    page = results_page(report_of(recipe, lines), command="sgc")
    assert "Of 6 statements 6 hold on this data." in page
    assert report_of(recipe, lines).to_dict()["statements"][0]["holds"] is True


def test_odd_places_are_compared_with_both_neighbours_only():
    assert odd_and_even({3: 1.0, 4: 10.0, 5: 4.0, 6: 20.0, 7: 2.0}) == (4.0, 15.0)


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed"])
def test_findings_of_the_paper_hold_on_real_data(dataset, data_dir, tmp_path):
    recipe = load_recipe("fig-prop")
    part = Selection.of(recipe, datasets=[dataset])
    found = find(
        "propagation",
        compare(recipe, run_experiment(recipe, ResultFile(tmp_path / "p.jsonl"), part, data_dir=data_dir)),
    )
    assert len(found) == 6
    assert [one.text for one in found if not one.holds] == []
