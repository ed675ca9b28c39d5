"""`sgc reproduce`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_runs import Sgc, assert_mistake

import sgclearn.paper.runner
from sgclearn.paper.recipe import Recipe, parse_recipe

RECIPE = """
id = "tab2"
title = "A part of the embedded graph"
where = "Table 0"
runs = 2
seed = 700
[datasets]
few = { kind = "node", name = "debian", redrawn = true, n_per_class = 5, title = "Debian, 5 labels" }
[models.sgc]
title = "SGC"
model = "sgc"
settings = [{ source = "the defaults of sgc fit", values = { n_hops = 2, row_norm = "l2", weight_decay = 1e-4 } }]
published = { source = "nowhere", tolerance = { below = 9.0 }, few = { value = 66.0 } }
[models.plain]
title = "No hops"
model = "sgc"
settings = [{ source = "no graph", values = { n_hops = 0, row_norm = "l2", weight_decay = 1e-4 } }]
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    recipe = parse_recipe(RECIPE)
    monkeypatch.setattr("sgclearn.paper.load_recipe", lambda name: recipe)
    monkeypatch.setattr("sgclearn.paper.list_recipes", lambda: (recipe,))
    return recipe


def test_reproduce_lists_the_recipes(sgc: Sgc) -> None:
    result = sgc("reproduce", "--list")
    assert (result.code, result.err) == (0, "")
    for word in ("tab2", "tab4", "Table 4", "cora", "textgcn"):
        assert word in result.out
    document = sgc("reproduce", "--list", "--json").document
    assert [entry["id"] for entry in document] == ["tab2", "tab4"]
    assert document[0]["datasets"] == ["cora", "citeseer", "pubmed"]


def test_reproduce_shows_measured_beside_published_and_keeps_every_run(
    sgc: Sgc, small: Recipe, tmp_path: Path
) -> None:
    result = sgc("reproduce", "tab2")
    assert result.code == 0
    assert "1/4 Debian, 5 labels: SGC, run 1 of 2: " in result.err
    assert result.err.count("\n") == 4
    rows = {line.split("  ")[1].strip(): line for line in result.out.splitlines() if "Debian, 5" in line}
    assert set(rows) == {"SGC", "No hops"}
    assert "-9 kept" in result.out
    lines = [json.loads(text) for text in (tmp_path / "sgc-runs/tab2.jsonl").read_text().splitlines()]
    assert [(line["model"], line["seed"]) for line in lines] == [
        *[("sgc", 700), ("plain", 700), ("sgc", 701), ("plain", 701)]
    ]
    again = sgc("reproduce", "tab2", "--runs", "0")
    assert again.err == ""
    assert again.out == result.out


def test_reproduce_as_json(sgc: Sgc, small: Recipe, tmp_path: Path) -> None:
    result = sgc("reproduce", "tab2", "--models", "plain", "--runs", "1", "--out", "here", "--json")
    assert (result.code, result.err) == (0, "")
    (row,) = result.document["rows"]
    assert (row["dataset"], row["model"], row["n"], row["published"]) == ("few", "plain", 1, None)
    assert result.document["results"] == "here/tab2.jsonl"
    assert isinstance(sgc("reproduce", "--all", "--runs", "0", "--out", "here", "--json").document, list)


def test_reproduce_writes_a_page_and_its_figure(sgc: Sgc, small: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = sgc("reproduce", "tab2", "--models", "sgc", "--runs", "1", "--page", "results.rst")
    assert "Page       results.rst" in result.out
    page = (tmp_path / "results.rst").read_text(encoding="utf-8")
    assert "``sgc reproduce tab2 --models sgc --runs 1 --page results.rst``" in page
    assert ".. image:: results.svg" in page
    first = (tmp_path / "results.svg").read_bytes()
    assert str(tmp_path) not in page + first.decode()
    sgc("reproduce", "tab2", "--models", "sgc", "--runs", "1", "--page", "results.rst")
    assert (tmp_path / "results.svg").read_bytes() == first
    assert (tmp_path / "results.rst").read_text(encoding="utf-8") == page


def test_reproduce_without_matplotlib_says_how_to_get_the_figure(
    sgc: Sgc, small: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = sgc("reproduce", "tab2", "--models", "sgc", "--runs", "1", "--page", "results.rst")
    assert result.code == 0
    assert "no figure is drawn: matplotlib is needed for this" in result.err
    assert 'pip install "sgclearn[plot]"' in result.err
    assert "Figure" not in result.out
    assert ".. image::" not in (tmp_path / "results.rst").read_text(encoding="utf-8")


def test_reproduce_without_torch_names_the_extra_and_the_way_around(
    sgc: Sgc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert_mistake(
        sgc("reproduce", "tab4", "--models", "sgc,textgcn"),
        'pip install "sgclearn[torch]", or leave the models that need it out with --models.',
    )


def test_reproduce_interrupted_says_what_is_kept(
    sgc: Sgc, small: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sgclearn.paper.runner.build_model
    built = []

    def build(*arguments: object) -> object:
        built.append(arguments)
        if len(built) == 3:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sgclearn.paper.runner, "build_model", build)
    result = sgc("reproduce", "tab2")
    assert result.code == 130
    assert "2 runs kept in sgc-runs/tab2.jsonl; the same command goes on from there." in result.err
    assert sgc("reproduce", "tab2").err.splitlines()[0].startswith("3/4 ")
    assert len(built) == 3 + 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "needs the name of a table or figure: got none; see sgc reproduce --list"),
        (("tab99",), "one of tab2, tab4: got 'tab99'"),
        (("tab2", "--models", "sgc,gcnn"), "models of tab2 are sgc, sgc-tpe, sgc-exact, gcn"),
        (("tab2", "--datasets", "cora,core"), "datasets of tab2 are cora, citeseer, pubmed: got 'core'"),
        (("tab2", "--runs", "-2"), "must be >= 0"),
        (("tab2", "--threads", "0"), "threads must be >= 1: got 0"),
        (("tab2", "--page", "results.html"), "--page must end in .rst: got results.html"),
        (("tab2", "--runs", "0", "--page", "results.rst"), "--page needs results: got none"),
        (("tab2", "--list"), "--list stands alone: got NAME beside it"),
        (("--all", "--models", "sgc"), "--all stands alone: got --models beside it"),
        (("tab2", "--data-dir", "nowhere"), "nowhere"),
    ],
)
def test_reproduce_refuses_bad_input_in_one_sentence(
    sgc: Sgc, arguments: tuple[str, ...], words: str
) -> None:
    assert_mistake(sgc("reproduce", *arguments), words)


def test_reproduce_quick_on_real_data(sgc: Sgc, data_dir: Path) -> None:
    pytest.importorskip("optuna")
    result = sgc("reproduce", "tab2", "--quick", "--data-dir", data_dir)
    assert result.code == 0
    assert "(quick runs)" in result.out
    assert "kept" not in result.out  # quick runs are not judged
    document = sgc("reproduce", "tab2", "--quick", "--json").document
    assert {row["dataset"] for row in document["rows"]} == {"cora"}
    assert {row["n"] for row in document["rows"]} == {2}
    assert all(78.0 < row["mean"] < 83.0 for row in document["rows"] if row["model"] != "sgc-tpe")
