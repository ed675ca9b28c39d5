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
from sgclearn.bench.fingerprint import code_fingerprint
from sgclearn.bench.machine import describe_machine
from sgclearn.bench.measurement import Measurement
from sgclearn.bench.rounds import Rounds
from sgclearn.bench.running import flaw_of, read_documents
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


def test_case_of_threads_says_that_one_thread_leaves_nothing_to_compare(tmp_path: Path) -> None:
    document = run_cases(["f"], BenchSettings(tmp_path, quick=True, threads=1))["f"]
    assert document["parts"] == []
    assert document["skipped"] == {"several threads": "--threads 1 asks for one"}
    assert [bar["met"] for bar in document["bars"]] == [False]
    assert "Skipped: several threads" in page({"f": document})


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
    return part_of(ours, took("slow", 8.0), took("quick", 4.0), gone, wrong)


def part_of(*measured: Measurement) -> Part:
    return Part("p", {"n_nodes": 1234}, {m.name: m for m in measured}, notes=["Mind the gap."])


def whole_part() -> Part:
    return part_of(took("sgclearn", 2.0, 1.0, is_peer=False), took("quick", 4.0))


def test_run_cases_keeps_what_is_done_and_runs_again_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Bench] = []
    monkeypatch.setitem(CASES, "a", fake_case(Outcome([whole_part()]), runs))
    settings, told = BenchSettings(tmp_path, repeat=3), []
    for wanted, n_runs in (
        (settings, 1),
        (settings, 1),  # kept
        (replace(settings, threads=1), 2),  # another setting
        (replace(settings, threads=1, force=True), 3),
    ):
        documents = run_cases(["a"], wanted, lambda case, is_done, flaw: told.append((is_done, flaw)))
        assert len(runs) == n_runs
        assert documents["a"]["parts"][0]["ratio"] == 4.0
    assert told == [(False, None), (True, None), (False, None), (False, None)]
    assert (runs[0].rounds, runs[0].threads) == (Rounds(repeat=3), 2)
    (tmp_path / "case-a.json").write_text("half a file {")
    assert read_documents(tmp_path) == {}
    run_cases(["a"], settings)
    assert list(read_documents(tmp_path)) == ["a"]


def test_run_cases_runs_again_what_is_of_other_code_or_not_whole_unless_it_is_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Bench] = []
    monkeypatch.setitem(CASES, "a", fake_case(Outcome([some_part()]), runs))
    settings, told = BenchSettings(tmp_path, peers_python=Path("python")), []

    def run(settings: BenchSettings) -> int:
        run_cases(["a"], settings, lambda case, is_done, flaw: told.append((is_done, flaw)))
        return len(runs)

    assert [run(settings), run(settings), run(replace(settings, keep=True))] == [1, 2, 2]
    assert told == [(False, None), (False, "lacks gone, wrong"), (True, "lacks gone, wrong")]
    monkeypatch.setattr("sgclearn.bench.running.code_fingerprint", lambda: "another")
    assert [run(replace(settings, keep=True)), run(settings)] == [2, 3]
    earlier = "was measured with an earlier version of the code"
    assert told[3:] == [(True, earlier), (False, earlier)]


def test_result_has_a_flaw_where_data_or_peers_that_were_asked_for_are_missing() -> None:
    document = {**document_of(), "code": code_fingerprint()}
    assert flaw_of(document) == "lacks cora"
    document["skipped"] = {}
    assert flaw_of(document) == "lacks gone, wrong"
    document["mark"]["peers"] = False  # nobody asked for the one that is missing
    assert flaw_of(document) == "lacks wrong"
    document["parts"] = []
    assert flaw_of(document) is None


def test_fingerprint_changes_with_what_is_measured_and_with_nothing_else(tmp_path: Path) -> None:
    for name in (
        "a.py",
        "_native/hop.inc",
        "_native/kernel.so",
        "cli/app.py",
        "notes.txt",
        "bench/constraints.txt",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    fingerprint = code_fingerprint.__wrapped__  # without what it remembers
    first = fingerprint(tmp_path)
    for name, changes in (
        ("cli/app.py", False),
        ("notes.txt", False),
        ("bench/constraints.txt", True),
        ("a.py", True),
        ("_native/hop.inc", True),
        ("_native/kernel.so", True),
    ):
        (tmp_path / name).write_text("y")
        assert (fingerprint(tmp_path) != first) is changes
        (tmp_path / name).write_text("x")
    assert fingerprint(tmp_path) == first


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
    assert part.absent() == ["peer gone missing", "peer wrong failed"]
    assert part.absent("quick") == []
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
        (Bar("x", 4.0, 4.0, absent=["peer y failed"]), False),  # who knows what it would have done
    ],
)
def test_bar_is_met_only_by_a_value_that_was_measured(bar: Bar, met: bool) -> None:
    assert bar.met is met
    assert bar.to_dict()["met"] is met


def document_of(**mark: Any) -> dict[str, Any]:
    outcome = Outcome(
        [some_part()],
        [
            Bar("fast", 4.0, 2.0),
            Bar("small", None, 0.1, at_most=True),
            Bar("first", 4.0, 2.0, absent=["peer y failed"]),
        ],
        {"cora": "not found"},
        {"slope": 1.02},
    )
    head = {"case": "a", "title": "T", "about": "About.", "machine": describe_machine(), "code": "old"}
    head |= {"day": "2026-02-03", "load_before": 0.25, "load_after": None}
    mark = {"quick": False, "threads": 2, "repeat": 7, "peers": True, **mark}
    return {**head, "mark": mark, **outcome.to_dict()}


def test_table_lists_the_quickest_first_and_the_missing_last() -> None:
    header, rows = part_rows(some_part().to_dict())
    assert header == ["contender", "time", "times sgclearn's", "memory beyond", "accuracy"]
    assert [row[0] for row in rows] == ["sgclearn", "quick", "slow", "gone", "wrong"]
    assert rows[0] == ["sgclearn", "1 s", "1", "3 MB", "0.7500"]
    assert rows[3][1:3] == ["missing", "ImportError: no module"]
    assert rows[4][1:3] == ["failed", "its answer differs"]


def test_table_shows_loss_and_gradient_and_marks_a_first_run() -> None:
    figures = {"loss": 0.43, "relative_gradient": 2e-3}
    part = part_of(
        took("sgclearn", 1.0, is_peer=False, figures=figures), took("slow", 200.0, is_first_run=True)
    )
    header, rows = part_rows(part.to_dict())
    assert header[4:] == ["loss", "relative gradient"]
    assert rows[0][4:] == ["0.43000", "2.0e-03"]
    assert (rows[1][1], rows[1][4:]) == ("200 s, first run", ["", ""])


def test_table_marks_who_ran_once_while_others_took_turns() -> None:
    part = part_of(took("sgclearn", 1.0, is_peer=False), took("slow", 9.0))
    part.measured["sgclearn"].seconds.append(1.5)
    assert [row[1] for row in part_rows(part.to_dict())[1]] == ["1 s", "9 s, one run"]


def test_page_says_when_each_case_was_measured_on_what_and_with_which_code() -> None:
    other = {**document_of(), "case": "b", "machine": {**describe_machine(), "cpu": "Slow 1"}, "code": "new"}
    text = page({"a": document_of(), "b": other}, code="new")
    assert text.count("Machine of ") == 2
    assert page({"a": document_of()}).count("Machine: ") == 1
    assert text.count("**Measured with an earlier version of the code.**") == 1
    assert "- a\n     - 2026-02-03\n     - 7\n     - 2\n     - 0.25\n     -\n     - measured with" in text


def test_page_has_bars_machine_skipped_and_the_picture() -> None:
    text = page({"a": document_of()}, {"a": "images/a.svg"})
    assert bar_rows([document_of()]) == [
        ("a", "fast", "4", "at least 2", "yes"),
        ("a", "small", "not measured", "at most 0.1", "no"),
        ("a", "first", "4", "at least 2", "peer y failed"),
    ]
    for words in (
        "Machine: ",
        ".. image:: images/a.svg",
        "Skipped: cora, not found.",
        "- slope: 1.02",
        "Mind the gap.",
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
