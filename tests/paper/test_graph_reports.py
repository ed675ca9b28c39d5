"""Reports without training, on real data: what is counted and computed is what the paper says."""

from __future__ import annotations

import platform

import pytest

from sgclearn.errors import InputError
from sgclearn.experiments.machine import machine
from sgclearn.paper import load_recipe
from sgclearn.paper.graph_reports import make_report
from sgclearn.paper.page import results_page
from sgclearn.paper.report import Report, Table, statement_rows
from sgclearn.spectral.theorem import Statement


def test_statistics_count_what_the_paper_published(data_dir):
    report = make_report(load_recipe("tab1"), data_dir=data_dir)
    for row in report.document["rows"][:3]:
        published, measured = dict(row["published"]), row["measured"]
        # The paper counts the entries of the lists, where some pairs are twice.
        assert measured["edges listed"] == published.pop("edges") > measured["edges"]
        assert published == {part: measured[part] for part in published}
    assert [row["measured"]["features"] for row in report.document["rows"]] == [1433, 3703, 500, None]
    assert report.draw is None


def test_theorem_holds_on_the_citation_graphs(data_dir):
    report = make_report(load_recipe("thm1"), data_dir=data_dir)
    failed = [one.name for one in report.statements if not one.holds]
    assert failed == [f"{name}, lemma 3, as printed" for name in ("Cora", "Citeseer", "Pubmed")]
    assert [row[1:3] for row in report.tables[0].rows] == [
        *[("2.000", "1.483"), ("2.000", "1.501"), ("1.986", "1.654")]
    ]
    only = make_report(load_recipe("thm1"), ["citeseer"], data_dir=data_dir)
    assert [row[0] for row in only.tables[0].rows] == ["Citeseer"]


@pytest.mark.parametrize("name", ["tab1", "fig2", "thm1"])
def test_report_says_what_it_was_made_with(data_dir, name):
    datasets = ["cora"] if name != "fig2" else None
    report = make_report(load_recipe(name), datasets, data_dir=data_dir, threads=2)
    assert (report.document["threads"], report.document["machine"]) == (2, machine())
    page = results_page(report, command="sgc reproduce")
    (said,) = page[page.index("Measured with\n") :].splitlines()[2:3]
    assert said.startswith(f"- {machine()['cpu']}, ")
    assert f", 2 threads; python {platform.python_version()}, sgclearn " in said


def test_report_of_a_recipe_that_trains_is_refused():
    with pytest.raises(InputError, match=r"form of a report must be one of statistics, .*: got 'runs'"):
        make_report(load_recipe("tab2"))


def test_page_of_a_report_is_valid_and_has_only_what_there_is():
    core = pytest.importorskip("docutils.core")
    recipe = load_recipe("thm1")
    report = Report(
        recipe,
        (Table("Counts", ("what", ""), (("nodes", "-"),)),),
        statements=(Statement("Cora", "less", 1.0, "<", 2.0), Statement("Cora", "more", 3.0, "<", 2.0)),
    )
    page = results_page(report, command="sgc reproduce thm1")
    assert "Of 2 statements 1 hold on this data." in page
    assert not any(words in page for words in ("Settings", "Measured with", "What differs", ".. image::"))
    html = core.publish_string(page, writer="html5", settings_overrides={"halt_level": 2, "report_level": 2})
    assert b"<td><p>3.000 &lt; 2.000</p></td>" in html


def test_statement_rows_have_no_negative_zero():
    assert statement_rows((Statement("a", "b", -1e-9, "=", 0.0),)) == (("a", "b", "0.000 = 0.000", "yes"),)
