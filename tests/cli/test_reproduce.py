"""`sgc reproduce`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from cli_runs import Sgc, assert_mistake, interrupt_third_model

from sgclearn import Graph, GraphDataset
from sgclearn.experiments import ResultFile, Selection
from sgclearn.experiments.plan import plan_tasks
from sgclearn.paper import load_recipe
from sgclearn.paper.recipe import Recipe
from sgclearn.paper.recipe_files import parse_recipe

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
    entries = {entry["id"]: entry for entry in document}
    assert set(entries) >= {
        "fig-prop",
        "fig2",
        "fig3",
        "tab-amount",
        "tab-random",
        "tab1",
        "tab2",
        "tab3",
        "tab4",
        "thm1",
    }
    assert entries["tab2"]["datasets"] == ["cora", "citeseer", "pubmed"]
    assert entries["fig-prop"]["models"] == ["aug-adj", "aug-rw", "adj", "rw", "cheby"]
    assert (entries["tab1"]["form"], entries["tab1"]["models"]) == ("statistics", [])


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


def test_reproduce_page_names_a_command_that_makes_what_it_shows_and_no_more(
    sgc: Sgc, small: Recipe, tmp_path: Path
) -> None:
    def command(*arguments: str) -> str:
        assert sgc("reproduce", "tab2", *arguments, "--page", "results.rst").code == 0
        return (tmp_path / "results.rst").read_text(encoding="utf-8").split("``")[1]

    sgc("reproduce", "tab2", "--models", "sgc", "--runs", "1")
    assert command("--runs", "0") == "sgc reproduce tab2 --models sgc --runs 1 --page results.rst"
    assert command("--runs", "1") == "sgc reproduce tab2 --runs 1 --page results.rst"
    assert command("--runs", "0") == "sgc reproduce tab2 --runs 1 --page results.rst"
    sgc("reproduce", "tab2", "--models", "sgc")  # its second run: no number of runs makes two and one
    assert command("--runs", "0") == "sgc reproduce tab2 --runs 0 --page results.rst"
    assert command() == "sgc reproduce tab2 --page results.rst"
    assert command("--runs", "1") == "sgc reproduce tab2 --page results.rst"  # shows both runs of each
    assert command("--quick", "--runs", "0") == "sgc reproduce tab2 --quick --page results.rst"
    assert command("--quick", "--runs", "3") == "sgc reproduce tab2 --quick --runs 3 --page results.rst"


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
    built = interrupt_third_model(monkeypatch)
    result = sgc("reproduce", "tab2")
    assert result.code == 130
    assert "2 runs kept in sgc-runs/tab2.jsonl; the same command goes on from there." in result.err
    assert sgc("reproduce", "tab2").err.splitlines()[0].startswith("3/4 ")
    assert len(built) == 3 + 2


SEARCH = """
[models.searched]
title = "Searched"
model = "sgc"
settings = [{ source = "no graph", values = { n_hops = 0, row_norm = "l2" } }]
search = { source = "a search", trials = 12, space = { weight_decay = [1e-6, 1e-3] } }
"""


def test_reproduce_interrupted_search_counts_its_trials_and_shows_no_traceback(
    sgc: Sgc, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    monkeypatch.setattr("sgclearn.paper.load_recipe", lambda name: parse_recipe(RECIPE + SEARCH))
    interrupt_third_model(monkeypatch)
    result = sgc("reproduce", "tab2", "--models", "searched")
    assert result.code == 130
    assert result.err.splitlines() == [
        "sgc: 2 trials kept in sgc-runs/tab2.jsonl; the same command goes on from there.",
        "sgc: stopped by an interruption.",
    ]
    again = sgc("reproduce", "tab2", "--models", "searched").err.splitlines()
    assert again[0].startswith("0/2 Debian, 5 labels: Searched, search, trial 10 of 12: validation ")
    assert again[0].endswith(" left")
    assert [line.split(":")[1].split(", ")[1] for line in again[1:]] == ["run 1 of 2", "run 2 of 2"]


def test_reproduce_interrupted_at_once_says_that_nothing_was_made(
    sgc: Sgc, small: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sgclearn.experiments.runner.build_model", interrupt)
    assert sgc("reproduce", "tab2").err.startswith("sgc: nothing was made yet; the same command")


def test_reproduce_progress_shows_the_score_of_the_table(sgc: Sgc, monkeypatch: pytest.MonkeyPatch) -> None:
    text = RECIPE.replace("seed = 700", 'seed = 700\nmetric = "val_accuracy"')
    monkeypatch.setattr("sgclearn.paper.load_recipe", lambda name: parse_recipe(text))
    result = sgc("reproduce", "tab2", "--models", "plain", "--runs", "1")
    (row,) = sgc("reproduce", "tab2", "--models", "plain", "--runs", "0", "--json").document["rows"]
    assert f"run 1 of 1: {row['mean']:.2f}, " in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "needs the name of a table or figure: got none; see sgc reproduce --list"),
        (("tab99",), "tab1, tab2"),
        (("tab1", "--models", "sgc"), "tab1 trains no model: got --models; leave it out."),
        (("fig2", "--runs", "3"), "fig2 trains no model: got --runs; leave it out."),
        (("tab1", "--quick"), "tab1 trains no model: got --quick; leave it out."),
        (("tab2", "--threads", "5000"), "--threads must be from 1 to 1,024: got 5,000"),
        (
            ("thm1", "--datasets", "reddit"),
            "datasets of thm1 must be some of cora, citeseer, pubmed: got 'reddit'",
        ),
        (("tab2", "--models", "sgc,gcnn"), "models of tab2 must be some of sgc, sgc-tpe, sgc-exact, gcn"),
        (
            ("tab2", "--datasets", "cora,core"),
            "datasets of tab2 must be some of cora, citeseer, pubmed: got 'core'",
        ),
        (("tab2", "--runs", "-2"), "must be >= 0"),
        (("tab2", "--threads", "0"), "--threads must be from 1 to 1,024: got 0"),
        (("tab2", "--page", "results.html"), "--page must end in .rst: got results.html"),
        (("tab2", "--runs", "0", "--page", "results.rst"), "--page needs results: got none"),
        (("tab2", "--list"), "--list stands alone: got NAME beside it"),
        (("--list", "--models", "sgc"), "--list stands alone: got --models beside it"),
        (("--list", "--threads", "-7"), "--list stands alone: got --threads beside it"),
        (("--list", "--data-dir", "here"), "--list stands alone: got --data-dir beside it"),
        (("--all", "--threads", "0"), "--threads must be from 1 to 1,024: got 0"),
        (("tab2", "--models", ","), "--models must name at least one: got ','; name some, or leave it out"),
        (("tab2", "--datasets", ""), "--datasets must name at least one: got ''"),
        (("--list", "--runs", "0"), "--list stands alone: got --runs beside it"),
        (("--list", "--quick"), "--list stands alone: got --quick beside it"),
        (("--all", "--models", "sgc"), "--all stands alone: got --models beside it"),
        (("tab2", "--data-dir", "nowhere"), "nowhere"),
    ],
)
def test_reproduce_refuses_bad_input_in_one_sentence(
    sgc: Sgc, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert_mistake(sgc("reproduce", *arguments), words)
    assert list(tmp_path.iterdir()) == []  # and leaves nothing behind


def test_reproduce_zero_runs_without_results_makes_and_names_no_file(
    sgc: Sgc, small: Recipe, tmp_path: Path
) -> None:
    result = sgc("reproduce", "tab2", "--runs", "0")
    assert result.code == 0
    assert "no runs with these settings are there yet" in result.out
    assert "Results" not in result.out
    assert sgc("reproduce", "tab2", "--runs", "0", "--json").document["results"] is None
    assert list(tmp_path.iterdir()) == []


def test_reproduce_all_goes_on_after_missing_data_and_says_what_is_left_out(
    sgc: Sgc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SGCLEARN_DATA", raising=False)
    missing = RECIPE.replace('"debian", redrawn = true, n_per_class = 5', '"cora"').replace("tab2", "tab9")
    recipes = (parse_recipe(missing), parse_recipe(RECIPE))
    monkeypatch.setattr("sgclearn.paper.list_recipes", lambda: recipes)
    arguments = ("reproduce", "--all", "--runs", "1")
    result = sgc(*arguments)
    assert result.code == 2
    assert "Recipe     tab2" in result.out
    *_, last = lines = result.err.splitlines()
    assert len(lines) == 2 + 1  # two runs
    assert last.startswith("sgc: tab9 is left out: ")
    assert last.endswith(".")
    document = sgc(*arguments, "--json").document
    assert [entry["recipe"] for entry in document] == ["tab9", "tab2"]
    assert document[0]["left_out"] in last


def test_reproduce_statistics_without_data_shows_what_was_published(
    sgc: Sgc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SGCLEARN_DATA", raising=False)
    result = sgc("reproduce", "tab1", "--page", "tab1.rst")
    assert (result.code, result.err) == (0, "")
    assert [line.split()[2] for line in result.out.splitlines() if "published" in line] == [
        *("2,708", "3,327", "19,717", "233K")
    ]
    assert "Results    sgc-runs/tab1.json" in result.out
    assert "Figure" not in result.out
    page = (tmp_path / "tab1.rst").read_text(encoding="utf-8")
    assert "``sgc reproduce tab1 --page tab1.rst``" in page
    rows = sgc("reproduce", "tab1", "--json").document["rows"]
    assert rows[0]["published"]["edges"] == 5429
    assert rows[0]["measured"]["edges"] is None


def test_reproduce_spectra_draws_the_figure(
    sgc: Sgc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    n = 40
    ring = Graph.from_edges([(k, (k + 1) % n) for k in range(n)])
    X = sp.csr_array(np.repeat(np.eye(4), n // 4, axis=0))
    none = np.zeros(0, np.intp)
    data = GraphDataset("ring", ring, X, np.zeros(n, int), ("one",), None, none, none, none)
    monkeypatch.setattr("sgclearn.paper.graph_reports.load_dataset", lambda name, data_dir: data)
    result = sgc("reproduce", "fig2", "--page", "fig2.rst")
    assert (result.code, result.err) == (0, "")
    assert "Figure     sgc-runs/fig2.svg" in result.out
    assert "1.333 < 2.000" in result.out  # loops take a ring of even length from 2 to 4/3
    assert (tmp_path / "fig2.svg").stat().st_size > 10_000
    assert "Of 4 statements 4 hold on this data." in (tmp_path / "fig2.rst").read_text(encoding="utf-8")


def test_reproduce_figure_3_reads_the_runs_of_table_2_and_makes_none(sgc: Sgc, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    recipe = load_recipe("tab2")
    file = ResultFile(tmp_path / "here" / "tab2.jsonl")
    tasks = plan_tasks(recipe, Selection.of(recipe, models=["sgc", "gcn", "mlp"], datasets=["cora"], runs=2))
    machine = {"cpu": "C", "cores": 2, "system": "Linux"}
    for task in tasks:
        about = {
            "kind": "run",
            "dataset": "cora",
            "model": task.model.name,
            "run": task.run,
            "seed": task.seed,
            "key": task.key,
        }
        seconds = 0.5 if task.model.name == "sgc" else 5.0
        found = {"scores": {"test_accuracy": 80.0 + task.run}, "seconds": seconds, "cpu_seconds": 1.0}
        rest = {"settings": {}, "details": {}, "threads": 1, "n_parameters": 5, "wall_seconds": 1.0}
        file.append(about | found | rest | {"versions": {"numpy": "2"}, "machine": machine})
    result = sgc(
        *("reproduce", "fig3", "--models", "sgc,gcn", "--datasets", "cora", "--runs", "2", "--out", "here")
    )
    assert (result.code, result.err) == (0, "")
    assert "Results    here/tab2.jsonl" in result.out
    assert (tmp_path / "here" / "fig3-cora-sgc-gcn.svg").exists()
    assert not (tmp_path / "here" / "fig3.svg").exists()  # that is a figure of everything
    document = sgc("reproduce", "fig3", "--runs", "0", "--out", "here", "--json").document
    assert [(row["model"], row["n"], row["ratio"]) for row in document["rows"]] == [
        *[("sgc", 2, None), ("gcn", 2, 10.0)]
    ]


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
