"""`sgc tune`, `evaluate`, `plan`, `datasets`, and the program as a whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Files, Sgc, assert_mistake

import sgclearn
from sgclearn import evaluate_predictions
from sgclearn.cli import output
from sgclearn.cli.output import Screen
from sgclearn.runs.predictions import ClassPredictions
from sgclearn.runs.splits import hold_out


def with_split(files: Files) -> None:
    lines = files.labels.read_text().splitlines()[1:]
    words = ["train", "train", "val", "test"]
    rows = [f"{line},{word}\n" for line, word in zip(lines, words * 5, strict=True)]
    files.labels.write_text("id,label,split\n" + "".join(rows))


def test_tune_shows_the_best_of_every_hop(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    options = (
        "--n-hops",
        "0,2-3",
        "--weight-decay",
        "1e-3,1e-1",
        "--normalization",
        "sym,rw",
        "--gamma",
        "0,1",
    )
    result = sgc("tune", *files.options, *options, "--cv", "3", "--out", "tune.json")
    assert (result.code, result.err) == (0, "")
    assert result.out.count(" best") == 1
    assert "--n-hops" in result.out
    assert "Test" in result.out
    document = json.loads((tmp_path / "tune.json").read_text())
    assert len(document["trials"]) == 3 * 2 * 4
    assert {trial["n_hops"] for trial in document["trials"]} == {0, 2, 3}
    assert document["best"]["n_hops"] in {0, 2, 3}
    assert document["test"]["accuracy"]["value"] >= 0.5
    assert_mistake(sgc("tune", *files.options, "--out", "tune.json"), "tune.json, which exists")


def test_tune_on_validation_labels(sgc: Sgc, files: Files) -> None:
    with_split(files)
    few = ("--n-hops", "1", "--weight-decay", "1e-2,1e-1")
    result = sgc("tune", *files.options, *few, "--json")
    assert result.code == 0
    assert result.document["data"]["val"] == 5
    assert_mistake(sgc("tune", *files.options, *few, "--cv", "3"), "--cv goes with labels without validation")


def test_tune_without_test_labels(sgc: Sgc, files: Files) -> None:
    options = ("--held-out", 0, "--n-hops", "1", "--weight-decay", "1e-2,1e-1", "--scoring", "macro_f1")
    result = sgc("tune", *files.options, *options)
    assert result.code == 0
    assert "macro-f1" in result.out
    assert "Test" not in result.out


def test_tune_by_the_search_of_the_paper(sgc: Sgc, files: Files) -> None:
    pytest.importorskip("optuna")
    options = ("--search", "tpe", "--trials", "3", "--n-hops", "2")
    result = sgc("tune", *files.options, *options, "--json")
    assert len(result.document["trials"]) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--trials", "3"), "--trials goes with search tpe"),
        (("--n-hops", "a,b"), "--n-hops must be numbers with commas between them, as 0,1,2: got 'a'"),
        (("--weight-decay", "1e-3;2"), "--weight-decay must be numbers"),
        (("--normalization", "sym,left"), "'left'"),
        (("--n-hops", "0,-1"), "--n-hops must be"),
    ],
)
def test_tune_refuses(sgc: Sgc, files: Files, options: tuple[str, ...], words: str) -> None:
    assert_mistake(sgc("tune", *files.options, *options), words)


def test_evaluate_equals_the_library(sgc: Sgc, run_folder: Path) -> None:
    result = sgc("evaluate", run_folder, "--json")
    assert (result.code, result.err) == (0, "")
    metrics = json.loads((run_folder / "metrics.json").read_text())
    assert {key: result.document[key] for key in metrics["evaluation"]} == metrics["evaluation"]
    assert result.document["split"] == "test labels"


def test_evaluate_shows_tables(sgc: Sgc, run_folder: Path) -> None:
    result = sgc("evaluate", run_folder, "--split", "train", "--confidence", "0.9")
    assert result.code == 0
    for word in (
        "16 nodes (train labels)",
        "Accuracy",
        "Macro-F1",
        "90 % interval",
        "precision",
        "Confusion matrix",
    ):
        assert word in result.out


def test_evaluate_files(sgc: Sgc, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,label,p_1,p_2\na,1,0.9,0.1\nb,2,0.1,0.9\nc,2,0.4,0.6\n")
    (tmp_path / "l.csv").write_text("id,label\nc,1\na,1\nb,2\n")
    found = sgc("evaluate", "--predictions", "p.csv", "--labels", "l.csv", "--json").document
    expected = evaluate_predictions([1, 1, 2], [2, 1, 2]).to_dict()
    assert {key: found[key] for key in expected} == expected
    assert found["split"] == "all labels"
    (tmp_path / "l.csv").write_text("id,label,split\nc,1,val\na,one,train\n")
    found = sgc(
        "evaluate", "--predictions", "p.csv", "--labels", "l.csv", "--split", "all", "--json"
    ).document
    assert (found["n"], found["classes"]) == (2, ["1", "2", "one"])
    assert_mistake(
        sgc("evaluate", "--predictions", "p.csv", "--labels", "l.csv", "--split", "test"),
        "of the split test: got none",
    )


def test_evaluate_many_classes_shows_the_mistakes(sgc: Sgc, tmp_path: Path) -> None:
    truth = [f"class-{k % 20:02d}" for k in range(60)]
    guess = [*truth[:57], *truth[:3]]
    for name, values in (("p.csv", guess), ("l.csv", truth)):
        rows = "".join(f"n{k},{value}\n" for k, value in enumerate(values))
        (tmp_path / name).write_text("id,label\n" + rows)
    result = sgc("evaluate", "--predictions", "p.csv", "--labels", "l.csv")
    assert "Most frequent mistakes" in result.out
    assert "Confusion" not in result.out


def test_evaluate_refuses(sgc: Sgc, run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,label\na,1\n")
    (tmp_path / "l.csv").write_text("id,label\na,1\nb,2\n")
    both = ("--predictions", "p.csv", "--labels", "l.csv")
    for options, words in (
        ((), "either RUN, or --predictions and --labels: got none of them"),
        ((run_folder, "--labels", "l.csv"), "got RUN and --labels"),
        (both, "got none for 1 of 2, the first is 'b'"),
        ((*both, "--split", "val"), "--split needs labels with a split"),
        ((tmp_path,), "without run.json"),
        ((run_folder, "--confidence", "95"), "confidence must lie between 0 and 1"),
    ):
        assert_mistake(sgc("evaluate", *options), words)


def test_plan_shows_the_ways_without_fitting(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    result = sgc("plan", *files.options)
    assert (result.code, result.err) == (0, "")
    for word in ("full", "frontier", "left-first", "implicit", "chosen", "within 2 hops"):
        assert word in result.out
    assert not (tmp_path / "sgc-run").exists()
    document = sgc("plan", *files.options, "--n-hops", 1, "--json").document
    assert document["plan"]["n_hops"] == 1
    assert_mistake(sgc("plan", *files.options, "--memory-limit", "10B"), "raise --memory-limit")


def test_datasets(sgc: Sgc, tmp_path: Path) -> None:
    listed = sgc("datasets", "list", "--data-dir", tmp_path)
    assert listed.code == 0
    assert "debian" in listed.out
    assert "29,582" in listed.out
    assert [entry["name"] for entry in sgc("datasets", "list", "--json").document][:2] == ["debian", "cora"]
    told = sgc("datasets", "info", "cora", "--data-dir", tmp_path)
    assert "no: put the files into the folder" in told.out
    assert sgc("datasets", "info", "debian", "--json").document["available"] is True


@pytest.mark.parametrize("command", [(), ("fit",), ("predict",), ("tune",), ("evaluate",), ("plan",)])
def test_help_has_an_example(sgc: Sgc, command: tuple[str, ...]) -> None:
    result = sgc(*command, "--help")
    assert result.code == 0
    assert f"\n   sgc {command[0] if command else 'fit'}" in result.out
    assert "\\b" not in result.out


def test_no_arguments_show_the_help(sgc: Sgc) -> None:
    assert sgc().out == sgc("--help").out


def test_help_loads_nothing_heavy() -> None:
    code = "import sys, sgclearn.cli.app as app; app.run(['--help']); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    for module in ("numpy", "scipy", "sklearn", "pyarrow", "safetensors"):
        assert f"'{module}'" not in loaded


def test_version(sgc: Sgc) -> None:
    assert sgc("--version").out == f"sgc {sgclearn.__version__}\n"


def test_hold_out_takes_the_same_share_of_every_class() -> None:
    y = np.array(["a"] * 10 + ["b"] * 5 + ["c"] + [None] * 4, dtype=object)
    split = hold_out(y, 0.4, seed=23)
    assert [(split[y == name] == "test").sum() for name in ("a", "b", "c")] == [4, 2, 0]
    assert set(split[16:].tolist()) == {None}
    assert (split == hold_out(y, 0.4, seed=23)).all()
    assert (split != hold_out(y, 0.4, seed=24)).any()


class Terminal:
    """A stream that says it is a terminal, and keeps what was written."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(output.sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with Screen(as_json=True).progress() as stages:
        stages.stage("reading")(1, 2)
    assert terminal.text == ""
    with Screen().progress() as stages:
        stages.stage("reading edges")
        stages.stage("solving")(3, 7)
    assert "solving" in terminal.text


def test_predictions_on_a_terminal_are_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(output.sys, "stdout", terminal)
    proba: Any = np.tile([0.25, 0.75], (25, 1))
    labels = np.array(["b"] * 25)
    found = ClassPredictions(np.arange(25), labels, proba, np.array(["a", "b"]))
    Screen().predictions(found)
    assert "0.750" in terminal.text
    assert "... and 5 more: name a file with --out to get all." in terminal.text
