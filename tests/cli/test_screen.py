"""Tables in narrow terminals, words of the command line, and what is shown when."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Files, Sgc, assert_mistake

from sgclearn.cli import output
from sgclearn.cli.output import Screen, option
from sgclearn.errors import ANY, Alternatives, InputError, Setting, in_file
from sgclearn.estimators.cv import DEFAULT_DECAYS

DECAY = ("--weight-decay", "1e-3")
HEADER = ("way", "multiply-adds", "estimated time", "memory", "")
ROWS = [("left-first", "1,234,567", "12.345 s", "999.9 MB", "does not fit"), ("full", "1", "1 s", "1 B", "")]


@pytest.mark.parametrize("width", [100, 60, 40, 30])
def test_no_cell_is_cut_or_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(output, "PLAIN_WIDTH", width)
    Screen().table(HEADER, ROWS)
    text = capsys.readouterr().out
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    for row in ROWS:
        for cell in row:
            assert cell in text
    for word in " ".join(HEADER).split():
        assert word in text


def test_prose_is_wrapped_between_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "PLAIN_WIDTH", 50)
    meaning = "every node: id, label, probability of each class"
    Screen().table(("written to run", ""), [("predictions.csv", meaning)], left=2)
    text = capsys.readouterr().out
    assert "predictions.csv" in text
    assert " ".join(text.split()).endswith(meaning)


@pytest.mark.parametrize(
    ("setting", "spelled"),
    [
        (Setting("n_trials"), "--trials"),
        (Setting("nodes", ANY), "--features"),
        (Setting("gamma", 1.0), "--gamma 1"),
        (Setting("impute", "mean"), "--impute mean"),
        (Setting("directed", True), "--directed"),
        (Setting("id_column", False), "--row-numbers"),
        (Setting("weight", False), "--unweighted"),
        (Setting("weight", "cost"), "--weights-column cost"),
        (Setting("target", None), "no --target-column"),
        (Setting("tol"), None),
    ],
)
def test_settings_of_the_library_become_options(setting: Setting, spelled: str | None) -> None:
    assert option(setting) == spelled


def test_errors_name_options_and_leave_the_words_of_the_user_alone() -> None:
    ways = Alternatives(*map(Setting, ("max_iter", "tol", "weight_decay")))
    error = InputError("n_trials must be > 0", "'id_column'", ("raise ", ways), argument="n_trials")
    assert (
        error.render(option) == "--trials must be > 0: got 'id_column'; raise --max-iter or --weight-decay."
    )
    named = in_file(error, "/data/n_hops/weight_decay.csv")
    assert named.render(option).startswith("/data/n_hops/weight_decay.csv: --trials must")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "--seed", "-1"), ["--seed must be a whole number from 0", "got -1"]),
        (("fit", "--dataset", "coral"), ["--dataset must be one of"]),
        (("fit", "--n-hops", "two"), ["'--n-hops': it must be a whole number: got 'two'"]),
        (("fit", "--gamma=x"), ["'--gamma': it must be a number: got 'x'"]),
        (("fit", "--impute", "bogus"), ["'--impute': 'bogus' is not one of 'mean'"]),
        (("tune", "--n-hops", "1000000000-2000000000"), ["at most 1000 numbers of hops"]),
        (("tune", "--n-hops", "1,20000"), ["--n-hops must be at most 10000: got 20000"]),
        (("fit", "--n-hops", "20000"), ["--n-hops must be a whole number from 0 to 10,000: got 20000"]),
        (("tune", "--n-hops", "3-1"), ["from few to many", "'3-1'"]),
    ],
)
def test_mistake_names_the_option(sgc: Sgc, arguments: tuple[str, ...], words: list[str]) -> None:
    result = sgc(*arguments)
    assert_mistake(result, *words)
    assert "Value error" not in result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--source-column", "source"), ["--source-column and --target-column must be named together"]),
        (("--normalization", "cheby", "--gamma", "1"), ["--normalization cheby", "leave --gamma out"]),
        (("--delimiter", ""), ["--delimiter"]),
    ],
)
def test_errors_of_the_library_speak_of_options(
    sgc: Sgc, files: Files, options: tuple[str, ...], words: list[str]
) -> None:
    result = sgc("plan", *files.options, *options)
    assert_mistake(result, *words)
    assert not re.search(r"\w=|None", result.err)


@pytest.mark.parametrize("option", [("--impute", "mean"), ("--max-categories", "9"), ("--row-numbers",)])
def test_option_about_features_needs_features(sgc: Sgc, files: Files, option: tuple[str, ...]) -> None:
    result = sgc("fit", "--edges", files.edges, "--labels", files.labels, *option)
    assert_mistake(result, f"{option[0]} goes with --features")


def test_plan_over_the_limit_shows_every_cost(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    for command in ("plan", "fit"):
        result = sgc(command, *files.options, "--memory-limit", "10B")
        assert_mistake(result, "; raise --memory-limit")
        assert result.out.count("does not fit") == 4
    assert sgc("plan", *files.options, "--memory-limit", "10B", "--json").document["plan"]["chosen"] is None
    assert not (tmp_path / "sgc-run").exists()


def test_plan_is_shown_before_the_fit(
    sgc: Sgc, files: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stop(*given: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sgclearn.estimators.SGCClassifier.fit", stop)
    result = sgc("fit", *files.options, *DECAY)
    assert result.code == 130
    assert "stopped" in result.err
    assert "estimated for one fit" in result.out
    assert "left-first" in result.out


def test_plan_before_the_fit_is_that_of_the_fit(sgc: Sgc, files: Files) -> None:
    planned = sgc("plan", *files.options, "--json").document["plan"]
    fitted = sgc("fit", *files.options, *DECAY, "--json").document["plan"]
    planned.pop("memory_limit")
    assert planned == fitted


def test_advice_where_the_graph_does_not_help(sgc: Sgc, tmp_path: Path) -> None:
    """Neighbours have nothing in common, so that averages over them tell nothing."""
    n, kinds = 60, np.random.default_rng(1871).integers(2, size=60)
    edges = "".join(f"{k},{(k + step) % n}\n" for k in range(n) for step in (1, 2, 7))
    (tmp_path / "e.csv").write_text("source,target\n" + edges)
    (tmp_path / "f.csv").write_text("id,x\n" + "".join(f"{k},{kind - 0.5}\n" for k, kind in enumerate(kinds)))
    (tmp_path / "l.csv").write_text(
        "id,label\n" + "".join(f"{k},{'ab'[kind]}\n" for k, kind in enumerate(kinds))
    )
    own = ("--edges", "e.csv", "--features", "f.csv", "--labels", "l.csv", "--held-out", 0.5)
    result = sgc("fit", *own, *DECAY, "--n-hops", 9)
    assert result.code == 0, result.err
    assert "the graph does not help here" in result.out
    assert "try --n-hops 0 or 1" in " ".join(result.out.split())
    assert sgc("fit", *own, *DECAY, "--n-hops", 0, "--json").document["advice"] is None


def test_datasets_alone_are_listed(sgc: Sgc) -> None:
    assert sgc("datasets").out == sgc("datasets", "list").out
    assert "science" in sgc("datasets", "info", "debian", "--json").document["class_names"]
    assert all(entry.get("class_names") != [] for entry in sgc("datasets", "list", "--json").document)


def test_tune_shows_the_gamma_that_was_used(sgc: Sgc, files: Files) -> None:
    few = ("--n-hops", "1", "--weight-decay", "1e-2,1e-1")
    row = next(line for line in sgc("tune", *files.options, *few).out.splitlines() if " best" in line)
    assert row.split()[:3] == ["1", "sym", "1"]
    row = next(
        line
        for line in sgc("tune", *files.options, *few, "--normalization", "cheby").out.splitlines()
        if " best" in line
    )
    assert row.split()[:3] == ["1", "cheby", "-"]


def test_help_of_tune_tells_the_weight_decays(sgc: Sgc) -> None:
    text = " ".join(sgc("tune", "--help").out.replace("│", " ").split())
    assert f"{len(DEFAULT_DECAYS)} from 1e-8 to 1 (" in text
    assert (min(DEFAULT_DECAYS), max(DEFAULT_DECAYS)) == (1e-8, 1.0)
