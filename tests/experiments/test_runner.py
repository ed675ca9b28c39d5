"""The runner on models that only count: what is run, in which order, and what is never run again."""

from __future__ import annotations

import json
import socket
import sys
import time

import numpy as np
import pytest

from sgclearn import Graph, GraphDataset
from sgclearn.baselines import Baseline
from sgclearn.baselines.registry import Registered
from sgclearn.errors import InputError, MissingExtraError
from sgclearn.experiments import ResultFile, Selection, run_experiment
from sgclearn.experiments.loading import LOADERS, load_problem
from sgclearn.experiments.machine import machine, threads_limited, versions
from sgclearn.experiments.models import MODELS
from sgclearn.experiments.plan import Stopwatch
from sgclearn.experiments.problems import Problem
from sgclearn.paper import load_recipe
from sgclearn.paper.recipe_files import parse_recipe
from sgclearn.tasks.dataset import samples_of

RECIPE = """
id = "toy"
title = "A toy"
where = "Table 0"
runs = 3
seed = 700
datasets.a = { kind = "ring", n = 12, title = "Ring of 12" }
datasets.b = { kind = "ring", n = 9 }
[models.first]
title = "First"
model = "counting"
runs = { b = 1 }
settings = [{ source = "nowhere in particular", values = { right = 2 } }]
[models.second]
title = "Second"
model = "counting"
settings = [{ source = "nowhere in particular", values = { right = 1 } }]
[quick]
runs = 1
datasets = ["b"]
settings.second = { right = 0 }
"""
SEARCH = """
[models.searched]
title = "Searched"
model = "counting"
search = { source = "a search", trials = 5, space = { decay = [1e-4, 1.0] } }
"""
fitted: list[tuple[str, int, dict[str, float]]] = []  # dataset, seed, settings


class Counting(Baseline):
    """Right on the first `right` validation and test nodes; better on validation the nearer decay is to 0.01."""

    def __init__(self, right: int = 1, decay: float = 0.01, random_state: int = 2019) -> None:
        self.right, self.decay, self.random_state = right, decay, random_state

    def fit(self, data, on_step=None):
        fitted.append((data.name, self.random_state, {"right": self.right, "decay": self.decay}))
        known = np.isin(data.split.astype(str), ("train", "val"))
        assert len(data.where("test")) == 0
        assert np.array_equal(data.y >= 0, known)  # no test label is handed out
        on_step(1, 2)
        with self.timed():
            time.sleep(0.01)
        self.n_parameters_, self.details_ = 3, {"steps": 2}
        return self

    def predict(self, data):
        codes = 1 - np.arange(data.graph.n_nodes) % 2  # wrong everywhere
        nearer = int(3 - min(abs(np.log10(self.decay) + 2.0), 3.0))
        codes[-3 : -3 + self.right] = 1 - codes[-3 : -3 + self.right]  # test nodes
        codes[3 : 3 + nearer] = 1 - codes[3 : 3 + nearer]  # validation nodes
        return codes


def ring(data_dir, n: int):
    graph = Graph.from_edges([(k, (k + 1) % n) for k in range(n)])
    parts = (np.arange(3), np.arange(3, 6), np.arange(n - 3, n))
    data = GraphDataset(f"ring{n}", graph, np.eye(n), np.arange(n) % 2, ("even", "odd"), None, *parts)
    return lambda seed: Problem.of(samples_of(data))


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    fitted.clear()
    monkeypatch.setitem(MODELS, "counting", Registered(__name__, "Counting"))
    monkeypatch.setitem(LOADERS, "ring", ring)


@pytest.fixture
def recipe():
    return parse_recipe(RECIPE)


@pytest.fixture
def results(tmp_path):
    return ResultFile(tmp_path / "toy.jsonl")


def test_runner_runs_models_in_turn_with_the_seed_of_the_run(recipe, results):
    lines = run_experiment(recipe, results)
    ran = [(line["dataset"], line["model"], line["run"]) for line in lines]
    assert ran == [
        *(("a", model, run) for run in range(3) for model in ("first", "second")),
        *[("b", "first", 0), ("b", "second", 0), ("b", "second", 1), ("b", "second", 2)],
    ]
    assert [seed for _, seed, _ in fitted] == [700 + run for _, _, run in ran]
    assert {line["model"]: round(line["scores"]["test_accuracy"], 1) for line in lines} == {
        "first": 66.7,
        "second": 33.3,
    }


def test_runner_line_has_seed_versions_and_machine_and_names_no_place(recipe, results, tmp_path):
    line = run_experiment(recipe, results, Selection.of(recipe, datasets=["b"], models=["first"]))[0]
    assert json.loads(results.path.read_text()) == line
    assert (line["seed"], line["n_parameters"], line["details"]) == (700, 3, {"steps": 2})
    assert line["seconds"] >= 0.01 > line["cpu_seconds"]  # it only slept
    assert line["settings"] == {"right": 2}
    assert line["versions"] == versions()
    assert {"python", "sgclearn", "numpy"} <= set(versions())
    assert line["machine"] == machine()
    assert machine()["cores"] >= 1
    text = results.path.read_text()
    assert str(tmp_path) not in text
    assert socket.gethostname() not in text.replace('"system": "Linux', "")


def test_runner_goes_on_where_it_was_interrupted(recipe, results, tmp_path):
    def interrupt(progress):
        if progress.line is not None and progress.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(recipe, results, None, interrupt)
    assert len(fitted) == 4
    lines = run_experiment(recipe, ResultFile(results.path))
    assert len(fitted) == len(lines) == 10
    assert len({(line["dataset"], line["model"], line["run"]) for line in lines}) == 10
    run_experiment(recipe, ResultFile(results.path))
    assert len(fitted) == 10


def test_runner_runs_again_when_a_setting_or_the_threads_change(recipe, results):
    part = {"datasets": ["b"], "models": ["first"]}
    run_experiment(recipe, results, Selection.of(recipe, **part))
    run_experiment(recipe, results, Selection.of(recipe, threads=2, **part))
    assert len(fitted) == 2
    changed = parse_recipe(RECIPE.replace("right = 2", "right = 3"))
    lines = run_experiment(changed, results, Selection.of(changed, **part))
    assert len(fitted) == 3
    assert [line["settings"] for line in lines] == [{"right": 3}]
    renamed = parse_recipe(RECIPE.replace('title = "First"', 'title = "Primus"'))
    run_experiment(renamed, results, Selection.of(renamed, **part))
    assert len(fitted) == 3  # a title changes no result


def test_runner_runs_again_when_the_seed_changes_and_shows_those_runs_alone(recipe, results):
    part = {"datasets": ["a"], "models": ["first"], "runs": 2}
    run_experiment(recipe, results, Selection.of(recipe, **part))
    changed = parse_recipe(RECIPE.replace("seed = 700", "seed = 701"))
    lines = run_experiment(changed, results, Selection.of(changed, **part))
    assert [seed for _, seed, _ in fitted] == [700, 701, 701, 702]
    assert [(line["run"], line["seed"]) for line in lines] == [(0, 701), (1, 702)]
    kept = run_experiment(recipe, results, Selection.of(recipe, runs=0))
    assert [line["seed"] for line in kept] == [700, 701]


def test_runner_counts_a_run_once_that_two_commands_made(recipe, results):
    part = Selection.of(recipe, datasets=["a"], models=["first"], runs=2)
    other = ResultFile(results.path)  # opened before the first command has written anything
    first = run_experiment(recipe, results, part)
    run_experiment(recipe, other, part)
    assert len(fitted) == 4
    assert run_experiment(recipe, ResultFile(results.path), part) == first


def test_runner_zero_runs_show_what_is_there(recipe, results):
    assert run_experiment(recipe, results, Selection.of(recipe, runs=0)) == []
    run_experiment(recipe, results, Selection.of(recipe, runs=2, datasets=["a"]))
    assert len(run_experiment(recipe, results, Selection.of(recipe, runs=0))) == 4
    assert len(fitted) == 4


def test_runner_quick_has_its_own_runs_and_settings(recipe, results):
    lines = run_experiment(recipe, results, Selection.of(recipe, quick=True))
    assert [(line["dataset"], line["settings"]["right"]) for line in lines] == [("b", 2), ("b", 0)]


def test_runner_tells_progress_and_the_time_left(recipe, results):
    told = []
    run_experiment(recipe, results, Selection.of(recipe, datasets=["a"], runs=2), told.append)
    done = [progress for progress in told if progress.line is not None]
    assert [(progress.done, progress.of) for progress in done] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert done[0].what == "Ring of 12: First, run 1 of 2"
    assert told[0].what == "Ring of 12: reading"
    assert told[0].seconds_left is None
    assert all(progress.seconds_left > 0 for progress in done[:-1])
    assert done[-1].seconds_left == 0
    assert any(progress.part == 0.5 for progress in told)


def test_runner_progress_has_the_score_of_the_recipe(results):
    judged = parse_recipe(RECIPE.replace("seed = 700", 'seed = 700\nmetric = "val_accuracy"'))
    told = []
    run_experiment(judged, results, Selection.of(judged, datasets=["b"], models=["first"]), told.append)
    assert [progress.score for progress in told if progress.line] == [100.0]  # and 66.7 on the test nodes


def test_runner_tells_trials_with_their_score_and_counts_them_in_the_time_left(results):
    pytest.importorskip("optuna")
    recipe = parse_recipe(RECIPE + SEARCH)
    told = []
    run_experiment(
        recipe, results, Selection.of(recipe, datasets=["a"], models=["searched"], runs=1), told.append
    )
    trials = [progress for progress in told if progress.line and progress.line["kind"] == "trial"]
    assert [progress.what[-12:] for progress in trials] == [f"trial {k} of 5" for k in range(1, 6)]
    assert [progress.score for progress in trials] == [line["score"] for line in results.lines("trial")]
    seconds = [line["wall_seconds"] for line in results.lines("trial")]
    assert trials[0].seconds_left == pytest.approx(5 * seconds[0])  # four more trials and the run
    assert trials[-1].seconds_left == pytest.approx(np.mean(seconds))
    told.clear()
    run_experiment(
        recipe, results, Selection.of(recipe, datasets=["a"], models=["searched"], runs=2), told.append
    )
    assert [progress.line["kind"] for progress in told if progress.line] == ["run"]  # old trials are no news


def test_runner_missing_extra_is_said_before_anything_runs(recipe, results, monkeypatch):
    monkeypatch.setattr(Counting, "requires", (("no_such_module", "torch"),))
    with pytest.raises(MissingExtraError, match="no_such_module is needed"):
        run_experiment(recipe, results)
    assert fitted == []


def test_runner_missing_extra_of_a_search_is_said_before_anything_runs(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match="optuna is needed"):
        run_experiment(parse_recipe(RECIPE + SEARCH), results)
    assert fitted == []


def test_runner_searches_once_and_an_interrupted_search_is_not_repeated(results, capfd):
    pytest.importorskip("optuna")
    recipe = parse_recipe(RECIPE + SEARCH)
    part = Selection.of(recipe, datasets=["a"], models=["searched"], runs=2)

    def interrupt(progress):
        if "trial 3" in progress.what:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(recipe, results, part, interrupt)
    assert capfd.readouterr().err == ""  # no traceback
    lines = run_experiment(recipe, ResultFile(results.path), part)
    assert len(fitted) == 5 + 2  # five trials in all, and the runs
    trials = ResultFile(results.path).lines("trial")
    assert all({"seed", "versions", "machine", "threads"} <= set(trial) for trial in trials)
    assert [trial["trial"] for trial in trials] == list(range(5))
    best = max(trials, key=lambda trial: trial["score"])["settings"]
    assert [line["settings"] for line in lines] == [best, best]
    assert {seed for _, seed, _ in fitted[:5]} == {700}
    fitted.clear()
    whole = ResultFile(results.path.with_name("whole.jsonl"))
    assert run_experiment(recipe, whole, part)[0]["settings"] == best


def test_selection_refuses_what_the_recipe_does_not_have(recipe):
    with pytest.raises(InputError, match="models of toy must be some of first, second: got 'third'"):
        Selection.of(recipe, models=["first", "third"])
    with pytest.raises(InputError, match="datasets of toy must be some of a, b: got 'c'"):
        Selection.of(recipe, datasets=["c"])
    with pytest.raises(InputError, match="runs must be >= 0"):
        Selection.of(recipe, runs=-1)
    with pytest.raises(InputError, match="threads must be from 1 to 1,024: got 0"):
        Selection.of(recipe, threads=0)


def test_stopwatch_guesses_by_the_same_model_then_by_all():
    watch = Stopwatch()
    assert watch.left([("a", "m")]) is None
    watch.add(("a", "m"), 2.0)
    watch.add(("a", "m"), 4.0)
    watch.add(("a", "k"), 9.0)
    assert watch.left([("a", "m"), ("b", "m"), ("a", "k"), ("b", "z")]) == 3.0 + 3.0 + 9.0 + 6.0


def test_problem_of_unknown_kind_is_refused():
    with pytest.raises(
        InputError, match="kind of a dataset must be one of node, inductive, text, ring: got 'image'"
    ):
        load_problem({"kind": "image"})


def test_problem_redrawn_draws_a_split_a_seed():
    data = load_problem({"kind": "node", "name": "debian", "redrawn": True, "n_per_class": 5})
    first, again, other = (data(seed).whole.where("train") for seed in (31, 31, 32))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(first) == 60


def test_threads_limited_counts_for_blas_and_torch():
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    with threads_limited(1):
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    with threads_limited(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_recipe_tab2_reaches_the_published_accuracy_on_real_data(data_dir, results):
    recipe = load_recipe("tab2")
    part = Selection.of(recipe, models=["sgc", "sgc-exact"], datasets=["cora", "citeseer"], runs=2)
    from sgclearn.experiments import compare

    rows = compare(recipe, run_experiment(recipe, results, part, data_dir=data_dir)).rows
    assert [(row.dataset, row.model, row.n) for row in rows] == [
        *[("cora", "sgc", 2), ("cora", "sgc-exact", 2)],
        *[("citeseer", "sgc", 2), ("citeseer", "sgc-exact", 2)],
    ]
    assert all(row.passed for row in rows if row.model == "sgc")
    assert [row.std for row in rows if row.model == "sgc-exact"] == [0.0, 0.0]
    assert all(abs(row.difference) < 0.6 for row in rows)
    assert rows[0].n_parameters == 1433 * 7 + 7


def test_recipe_tab4_reaches_the_published_accuracy_on_real_data(data_dir, results):
    from sgclearn.experiments import compare

    recipe = load_recipe("tab4")
    part = Selection.of(recipe, models=["sgc"], datasets=["mr"], runs=1)
    row = compare(recipe, run_experiment(recipe, results, part, data_dir=data_dir)).rows[0]
    assert row.passed
    assert row.mean == pytest.approx(76.4, abs=0.5)
