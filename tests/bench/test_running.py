"""Cases on small problems without peers, what is kept of them, and the pages made from it."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sgclearn.bench import CASES, BenchSettings, run_cases
from sgclearn.bench.cases.case import Bar, Bench, Case, Outcome, Part
from sgclearn.bench.machine import describe_machine
from sgclearn.bench.rounds import Measurement, Rounds
from sgclearn.bench.running import read_documents
from sgclearn.bench.tables import bar_rows, page, part_rows
from sgclearn.errors import InputError


@pytest.mark.parametrize("letter", list(CASES))
def test_case_runs_without_peers_and_its_ours_is_measured(letter: str, tmp_path: Path) -> None:
    if letter in "efg":
        pytest.importorskip("sgclearn._native._kernel")  # the gather loop is compiled
    document = run_cases([letter], BenchSettings(tmp_path, quick=True))[letter]
    assert document["parts"]
    for part in document["parts"]:
        for contender in part["contenders"]:
            left_out = contender["fault"] == "the peers' environment was left out"
            assert left_out or contender["fault"] is None, contender
            assert left_out == (contender["best"] is None)
        assert any(c["name"].startswith("sgclearn") and c["best"] > 0 for c in part["contenders"])
    assert document["bars"]
    text = json.dumps(document)
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text
    assert platform.node() not in text or len(platform.node()) < 4
    assert json.loads((tmp_path / f"case-{letter}-quick.json").read_text()) == document


def fake_case(outcome: Outcome, runs: list[Bench]) -> Case:
    def run(bench: Bench) -> Outcome:
        runs.append(bench)
        return outcome

    return Case("a", "Something", "About it.", run)


def took(name: str, *seconds: float, is_peer: bool = True, **more: Any) -> Measurement:
    return Measurement(name, is_peer, 2, list(seconds), **more)


def some_part() -> Part:
    gone = took("gone", is_missing=True, fault="ImportError: no module")
    wrong = took("wrong", 0.1, fault="its answer differs")
    ours = took("sgclearn", 2.0, 1.0, is_peer=False, bytes_beyond=3_000_000, figures={"accuracy": 0.75})
    measured = [ours, took("slow", 8.0), took("quick", 4.0), gone, wrong]
    return Part("p", {"n_nodes": 1234}, {m.name: m for m in measured})


def test_run_cases_keeps_what_is_done_and_runs_again_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Bench] = []
    monkeypatch.setitem(CASES, "a", fake_case(Outcome([some_part()]), runs))
    settings, told = BenchSettings(tmp_path, repeat=3), []
    for wanted, n_runs in (
        (settings, 1),
        (settings, 1),  # kept
        (replace(settings, threads=1), 2),  # another setting
        (replace(settings, threads=1, force=True), 3),
    ):
        documents = run_cases(["a"], wanted, lambda case, is_done: told.append(is_done))
        assert len(runs) == n_runs
        assert documents["a"]["parts"][0]["ratio"] == 4.0
    assert told == [False, True, False, False]
    assert (runs[0].rounds, runs[0].threads) == (Rounds(repeat=3), 2)
    (tmp_path / "case-a.json").write_text("half a file {")
    assert read_documents(tmp_path) == {}
    run_cases(["a"], settings)
    assert list(read_documents(tmp_path)) == ["a"]


def test_run_cases_refuses_an_unknown_letter_before_it_runs_anything(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one of a, b, c, d, e, f, g, h: got 'z'"):
        run_cases(["a", "z"], BenchSettings(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_part_takes_ratios_to_the_quickest_peer_that_gave_the_right_answer() -> None:
    part = some_part()
    assert part.fastest_peer().name == "quick"
    assert part.ratio() == 4.0
    assert part.ratio("slow") == 8.0
    assert part.ratio("gone") is None
    by_name = {c["name"]: c for c in part.to_dict()["contenders"]}
    assert by_name["slow"]["times_ours"] == 8.0
    assert by_name["wrong"]["times_ours"] is None


@pytest.mark.parametrize(
    ("bar", "met"),
    [
        (Bar("x", 4.0, 4.0), True),
        (Bar("x", 3.9, 4.0), False),
        (Bar("x", 3.9, 4.0, at_most=True), True),
        (Bar("x", 4.1, 4.0, at_most=True), False),
        (Bar("x", None, 4.0), False),
        (Bar("x", None, 4.0, at_most=True), False),
    ],
)
def test_bar_is_met_only_by_a_value_that_was_measured(bar: Bar, met: bool) -> None:
    assert bar.met is met
    assert bar.to_dict()["met"] is met


def document_of(**mark: Any) -> dict[str, Any]:
    outcome = Outcome(
        [some_part()],
        [Bar("fast", 4.0, 2.0), Bar("small", None, 0.1, at_most=True)],
        {"cora": "not found"},
        {"slope": 1.02},
    )
    head = {"case": "a", "title": "T", "about": "About.", "machine": describe_machine()}
    return {**head, "mark": {"quick": False, "threads": 2, **mark}, **outcome.to_dict()}


def test_table_lists_the_quickest_first_and_the_missing_last() -> None:
    header, rows = part_rows(some_part().to_dict())
    assert header == ["contender", "time", "times sgclearn's", "memory beyond", "accuracy"]
    assert [row[0] for row in rows] == ["sgclearn", "quick", "slow", "gone", "wrong"]
    assert rows[0] == ["sgclearn", "1 s", "1", "3 MB", "0.7500"]
    assert rows[3][1:3] == ["missing", "ImportError: no module"]
    assert rows[4][1:3] == ["failed", "its answer differs"]


def test_page_has_bars_machine_skipped_and_the_picture() -> None:
    text = page({"a": document_of()}, {"a": "images/a.svg"})
    assert bar_rows([document_of()]) == [
        ("a", "fast", "4", "at least 2", "yes"),
        ("a", "small", "not measured", "at most 0.1", "no"),
    ]
    for words in (
        "Machine: ",
        ".. image:: images/a.svg",
        "Skipped: cora, not found.",
        "- slope: 1.02",
        "1,234",
    ):
        assert words in text
    assert "quick run" not in text
    assert "no figure means anything" in page({"a": document_of(quick=True)})
    assert page({}) == "No case has been run yet.\n"


def test_page_is_read_by_docutils_without_a_word(tmp_path: Path) -> None:
    docutils = pytest.importorskip("docutils.core")
    (tmp_path / "page.rst").write_text("Title\n=====\n\n" + page({"a": document_of()}))
    docutils.publish_string((tmp_path / "page.rst").read_text(), settings_overrides={"halt_level": 2})


def test_plots_are_the_same_file_for_the_same_numbers(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from sgclearn.bench.plots import plot_case

    growth = {**document_of(), "case": "e"}
    growth["parts"] = [
        {**part, "sizes": {"n_stored": size}} for size in (10**5, 10**6) for part in growth["parts"]
    ]
    for document in (document_of(), growth):
        first, second = tmp_path / "1.svg", tmp_path / "2.svg"
        plot_case(document, first)
        plot_case(document, second)
        assert first.read_bytes() == second.read_bytes()
        assert "<svg" in first.read_text()
    assert len(list(tmp_path.iterdir())) == 2
