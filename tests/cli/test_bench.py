"""`sgc bench`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from cli_runs import Sgc, assert_mistake

OPTIONS = ("bench", "--quick", "--no-peers", "--case", "h", "--out", "results")


def test_bench_lists_its_cases(sgc: Sgc) -> None:
    document = sgc("bench", "--list", "--json").document
    assert [case["case"] for case in document] == list("abcdefgh")
    assert "Distance to the limit" in sgc("bench", "--list").out


def test_bench_measures_writes_and_goes_on(sgc: Sgc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("sgclearn.cli.bench.SILENCE", math.inf)  # however slow the machine is
    (tmp_path / "docs").mkdir()
    options = ("bench", "--no-peers", "--case", "h", "--repeat", "1", "--out", "results")
    result = sgc(*options, "--docs", "docs")
    assert result.code == 0
    case, turn = result.err.splitlines()  # one problem
    assert case == "case h: A tiny graph"
    assert turn.startswith("case h, turn 1 of ")
    for words in ("(h) A tiny graph", "scikit-learn on the same rows", "times as fast as LogisticRegression"):
        assert words in result.out
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert written == [
        "docs/benchmarks-table.rst",
        "docs/images/benchmark-h.svg",
        "results/benchmarks-table.rst",
        "results/case-h.json",
        "results/case-h.svg",
    ]
    table = (tmp_path / "docs" / "benchmarks-table.rst").read_text()
    assert ".. image:: images/benchmark-h.svg" in table
    assert str(tmp_path) not in table
    again = sgc(*options)
    assert again.code == 0
    assert "case h is done" in again.err
    document = json.loads((tmp_path / "results" / "case-h.json").read_text())
    (tmp_path / "results" / "case-h.json").write_text(json.dumps({**document, "code": "earlier"}))
    kept = sgc(*options, "--keep")
    assert (
        "case h was measured with an earlier version of the code: its result in results is kept" in kept.err
    )
    assert "**Measured with an earlier" in (tmp_path / "results" / "benchmarks-table.rst").read_text()
    assert "it is run again, --keep publishes it as it is" in sgc(*options).err
    assert json.loads((tmp_path / "results" / "case-h.json").read_text())["code"] == document["code"]


def test_bench_quick_run_leaves_the_measurement_alone(sgc: Sgc, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert sgc("bench", "--no-peers", "--case", "h", "--repeat", "1", "--out", "results").code == 0
    measured = {path: path.read_bytes() for path in (tmp_path / "results").iterdir()}
    assert sgc(*OPTIONS).code == 0
    assert {path: path.read_bytes() for path in measured} == measured
    assert {path.name for path in (tmp_path / "results").iterdir()} - {path.name for path in measured} == {
        "benchmarks-table-quick.rst",
        "case-h-quick.json",
        "case-h-quick.svg",
    }
    table = (tmp_path / "results" / "benchmarks-table-quick.rst").read_text()
    assert "**A quick run" in table
    assert ".. image:: case-h-quick.svg" in table


def test_bench_names_turns_after_a_silence_and_never_to_a_machine(
    sgc: Sgc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sgclearn.cli.bench.SILENCE", 0.0)
    assert "\ncase h, turn 2 of " in sgc(*OPTIONS).err
    assert sgc(*OPTIONS, "--force", "--json").err == ""


def test_bench_says_who_is_missing(sgc: Sgc) -> None:
    result = sgc("bench", "--quick", "--no-peers", "--case", "a", "--threads", "1")
    assert result.code == 0
    assert "Missing    6 contenders: GraphBLAS, MKL, MKL, optimised, PyG SGConv" in result.out
    assert "the peers' environment was left out" in result.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--case", "a,z"), "one of a, b, c, d, e, f, g, h: got 'z'"),
        (("--repeat", "0"), "--repeat must be a whole number >= 1: got 0"),
        (("--threads", "-2"), "--threads must be a whole number >= 1: got -2"),
        (("--peers", "x", "--no-peers"), "--peers and --no-peers exclude each other"),
        (("--docs", ".", "--quick"), "--docs is for a run at full size: got it with --quick"),
        (("--repeat", "3", "--quick"), "--repeat is for a run at full size: got it with --quick"),
        (("--data-dir", ".", "--quick"), "--data-dir is for a run at full size: got it with --quick"),
        (("--force", "--keep"), "--force and --keep exclude each other"),
        (("--docs", "nowhere", "--no-peers"), "--docs must be a folder that exists: got nowhere"),
        (("--peers", "."), "which holds something else"),
    ],
)
def test_bench_refuses_bad_options_in_one_sentence(
    sgc: Sgc, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    (tmp_path / "mine.txt").touch()
    assert_mistake(sgc("bench", *options), words)
