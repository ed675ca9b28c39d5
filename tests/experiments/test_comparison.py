"""Figures of a comparison, computed by hand."""

from __future__ import annotations

import json

import pytest

from sgclearn.experiments import compare
from sgclearn.experiments.tables import SCORE_HEADER, TIME_HEADER, score_rows, time_rows
from sgclearn.paper.page import results_page
from sgclearn.paper.recipe_files import parse_recipe
from sgclearn.paper.run_report import report_of

RECIPE = """
id = "toy"
title = "A toy"
where = "Table 0"
runs = 3
seed = 700
time_against = "fast"
notes = ["The toy is smaller."]
datasets.a = { kind = "node", title = "Alpha" }
datasets.b = { kind = "node" }
[models.fast]
title = "Fast"
model = "sgc"
settings = [{ source = "a long source", values = { n_hops = 2 }, by_dataset = { max_iter = { b = 7 } } }]
published = { source = "Table 0", tolerance = { below = 0.5 }, a = { value = 81.0, std = 0.1, seconds = 2.0 } }
[models.slow]
title = "Slow"
model = "sgc"
search = { source = "a search", trials = 3, space = { weight_decay = [1e-6, 1.0] } }
published = { source = "Table 0", tolerance = { within = 0.3 }, a = { value = 80.0, seconds = 90.0 } }
"""


def line(dataset, model, score, seconds, run=0, **details):
    return {
        "kind": "run",
        "dataset": dataset,
        "model": model,
        "run": run,
        "seed": 700 + run,
        "key": "k",
        "scores": {"val_accuracy": 1.0, "test_accuracy": score},
        "seconds": seconds,
        "cpu_seconds": seconds / 2 if model == "fast" else seconds,
        "n_parameters": 1234,
        "threads": 1,
        "settings": {"weight_decay": 0.0123},
        "details": details,
        "versions": {"python": "3.11", "numpy": "2"},
        "machine": {"cpu": "Some CPU", "cores": 2, "system": "Linux"},
    }


@pytest.fixture
def recipe():
    return parse_recipe(RECIPE)


@pytest.fixture
def lines():
    return [
        line("a", "fast", 80.4, 1.0, epochs=10, stopped_early=True),
        line("a", "fast", 80.6, 3.0, 1, epochs=20, stopped_early=False),
        line("a", "slow", 80.4, 100.0, plan="full"),
        line("b", "slow", 60.0, 7.0),
    ]


def test_comparison_mean_deviation_difference_and_ratios(recipe, lines):
    fast, slow, other = compare(recipe, lines).rows
    assert (fast.n, fast.mean, fast.seconds) == (2, pytest.approx(80.5), 2.0)
    assert fast.std == pytest.approx(0.1 * 2**0.5)
    assert fast.difference == pytest.approx(-0.5)
    assert fast.passed is True  # exactly at the tolerance, rounding aside
    assert (fast.ratio, fast.published_ratio) == (None, None)
    assert (slow.n, slow.std, slow.ratio, slow.published_ratio) == (1, None, 50.0, 45.0)
    assert slow.cpu_ratio == 100.0
    assert slow.passed is False  # 0.4 above, and within 0.3 counts both ways
    assert (other.dataset, other.published, other.difference, other.passed, other.ratio) == ("b", *[None] * 4)


def test_comparison_below_lets_any_higher_mean_pass(recipe, lines):
    higher = [line("a", "fast", 95.0, 1.0)]
    assert compare(recipe, higher).rows[0].passed is True
    assert compare(recipe, [line("a", "fast", 80.49, 1.0)]).rows[0].passed is False


@pytest.mark.parametrize(
    ("figure", "scores", "passed", "words"),
    [
        ("value = 80.0, std = 0.5", [80.5], True, "+-1 std kept"),
        ("value = 80.0, std = 0.5", [80.51, 80.51], False, "+-1 std missed"),
        ("value = 80.0, std = 0.5", [79.4], False, "+-1 std missed"),
        ("value = 80.0", [79.0, 80.2], True, "+-1 std kept"),  # none published: the measured one, 0.85
        ("value = 80.0", [79.0, 79.2], False, "+-1 std missed"),
        ("value = 80.0", [80.0], None, "-"),  # nor measured
        ("value = 80.0, std = 0.5, judged = false", [70.0], None, "-"),
    ],
)
def test_comparison_counts_standard_deviations(figure, scores, passed, words):
    text = RECIPE.replace("{ within = 0.3 }", "{ std = 1.0 }").replace("value = 80.0", figure)
    comparison = compare(
        parse_recipe(text), [line("a", "slow", score, 1.0, run) for run, score in enumerate(scores)]
    )
    assert comparison.rows[0].passed is passed
    assert score_rows(comparison)[0][-1] == words


def test_tables_give_published_figures_as_many_decimals_as_they_have():
    text = RECIPE.replace("value = 80.0", "value = 80.25")
    comparison = compare(parse_recipe(text), [line("a", "fast", 80.0, 1.0), line("a", "slow", 80.0, 1.0)])
    assert [row[3] for row in score_rows(comparison)] == ["81.00 +- 0.10", "80.25"]


def test_comparison_of_a_figure_that_is_only_a_time_judges_no_accuracy(recipe, lines):
    timed = parse_recipe(RECIPE.replace("value = 80.0, seconds", "seconds"))
    slow = compare(timed, lines).rows[1]
    assert (slow.published, slow.difference, slow.passed, slow.published_ratio) == (None, None, None, 45.0)


def test_comparison_of_quick_runs_judges_nothing(recipe, lines):
    quick = compare(recipe, lines, quick=True)
    assert {row.passed for row in quick.rows} == {None}
    assert "not judged" in results_page(report_of(quick.experiment, quick.lines, quick=True), command="sgc")


def test_page_of_some_datasets_names_them_in_its_title(recipe, lines):
    whole, part = (
        results_page(report_of(recipe, some), command="sgc").splitlines()[0] for some in (lines, lines[:3])
    )
    assert part == f"{whole} (Alpha)"


def test_comparison_is_plain_json(recipe, lines):
    document = json.loads(json.dumps(compare(recipe, lines).to_dict()))
    assert document["rows"][0]["published_std"] == 0.1
    assert document["metric"] == "test_accuracy"


def test_tables_say_what_was_measured(recipe, lines):
    comparison = compare(recipe, lines)
    assert score_rows(comparison) == [
        ("Alpha", "Fast", "80.50 +- 0.14", "81.0 +- 0.1", "-0.50", "2", "-0.5 kept"),
        ("Alpha", "Slow", "80.40", "80.0", "+0.40", "1", "+-0.3 missed"),
        ("b", "Slow", "60.00", "-", "-", "1", "-"),
    ]
    assert time_rows(comparison) == [
        ("Alpha", "Fast", "2", "1", "2", "-", "-", "-", "2"),
        ("Alpha", "Slow", "100", "100", "90", "50x", "100x", "45x", "1"),
        ("b", "Slow", "7", "7", "-", "-", "-", "-", "1"),
    ]


def test_tables_have_columns_with_names_of_their_own(recipe, lines):
    comparison = compare(recipe, lines)
    for header, rows in ((SCORE_HEADER, score_rows(comparison)), (TIME_HEADER, time_rows(comparison))):
        assert len(set(header)) == len(header)
        assert [row[header.index("n")] for row in rows] == ["2", "1", "1"]
    page = results_page(report_of(comparison.experiment, comparison.lines), command="sgc reproduce toy")
    assert page.count("     - published s\n") == page.count("     - published ratio\n") == 1


def test_page_holds_results_settings_sources_and_machine(recipe, lines):
    page = results_page(report_of(recipe, lines), command="sgc reproduce toy", picture="toy.svg")
    for words in (
        "Of 2 figures with a tolerance 1 are within it, and not: Slow on Alpha, +0.40 (+-0.3 missed).",
        ".. image:: toy.svg",
        "- 80.50 ± 0.14",
        "     - –\n",  # noqa: RUF001
        "1,234 parameters; epochs 15; stopped early in 1 of 2 runs",
        "plan full; weight decay found 0.0123",
        "``n_hops = 2``, ``max_iter`` 7 (b). Source: a long source.",
        "searched, 3 trials: ``weight_decay`` in [1e-06, 1]. Source: a search.",
        "- The toy is smaller.",
        "- Some CPU, 2 cores, Linux, 1 thread; python 3.11, numpy 2",
        "- seeds 700 to 701, one a run",
    ):
        assert words in page


def test_page_is_valid_restructured_text(recipe, lines):
    core = pytest.importorskip("docutils.core")
    page = results_page(report_of(recipe, lines), command="sgc reproduce toy", picture="toy.svg")
    html = core.publish_string(page, writer="html5", settings_overrides={"halt_level": 2, "report_level": 2})
    assert b"<td><p>80.40</p></td>" in html


def test_figure_draws_every_row_and_the_published_figures(recipe, lines):
    pytest.importorskip("matplotlib")
    from sgclearn.experiments.figure import plot_comparison

    figure = plot_comparison(compare(recipe, lines))
    scores, times = figure.axes
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["Fast", "Slow", "published"]
    drawn = [value for drawing in times.lines for value in drawing.get_ydata()]
    assert sorted(drawn) == [2.0, 7.0, 100.0]
    assert times.get_yscale() == "log"
    assert [tick.get_text() for tick in scores.get_xticklabels()] == ["Alpha", "b"]
    hollow = [mark for mark in scores.lines if mark.get_markerfacecolor() == "none"]
    assert sorted(value for mark in hollow for value in mark.get_ydata()) == [80.0, 81.0]


def test_model_for_its_time_alone_shows_no_score():
    timed = parse_recipe(RECIPE.replace('title = "Slow"', 'title = "Slow"\ntime_only = true'))
    comparison = compare(timed, [line("a", "fast", 81.0, 2.0), line("a", "slow", 12.3, 90.0)])
    assert [row[1] for row in score_rows(comparison)] == ["Fast"]
    assert [row[1] for row in time_rows(comparison)] == ["Fast", "Slow"]
    assert "12.3" not in results_page(
        report_of(comparison.experiment, comparison.lines), command="sgc reproduce toy"
    )
    figure = pytest.importorskip("sgclearn.experiments.figure").plot_comparison(comparison)
    assert [len(axes.lines[0].get_xdata()) for axes in figure.axes] == [1, 1]
