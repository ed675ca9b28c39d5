"""SGC beside other models on data of one's own."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sgclearn.experiments.runner
from sgclearn import Graph, GraphDataset
from sgclearn.baselines import Baseline
from sgclearn.baselines.registry import Registered
from sgclearn.datasets.splits import split_per_class
from sgclearn.errors import InputError, MissingExtraError
from sgclearn.experiments import compare_models, known_models, plot_accuracy_over_time
from sgclearn.experiments.machine import threads_limited
from sgclearn.experiments.models import MODELS, build_model
from sgclearn.experiments.own_data import OwnData, prepared_features
from sgclearn.experiments.own_models import WITHOUT_WEIGHTS, chosen_models, own_recipe
from sgclearn.propagation.engines.threads import thread_count
from sgclearn.tasks.dataset import samples_of

PLAIN = ["logistic-regression", "label-propagation"]
NAMES = ("red", "blue")


def two_groups(n: int = 40, seed: int = 611, **changes: object) -> GraphDataset:
    """Two groups of nodes with many edges inside and few between, and features that are weak alone."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    likely = np.where(y[:, None] == y[None, :], 0.3, 0.03)
    rows, columns = np.nonzero(np.triu(rng.random((n, n)) < likely, 1))
    graph = Graph.from_edges(np.column_stack([rows, columns]), nodes=n)
    X = rng.normal(0.8 * (2 * y - 1)[:, None], 2.0, (n, 3))
    parts = split_per_class(y, 4, 4, None, seed, NAMES)
    data = GraphDataset("groups", graph, X, y, NAMES, None, *parts)
    return replace(data, **changes)  # type: ignore[arg-type]


def drawn(seed: int) -> GraphDataset:
    data = two_groups()
    return replace(data, **split_per_class(data.y, 4, 4, None, seed, NAMES)._asdict())


class Failing(Baseline):
    """Fails in the run whose seed is `at`, and is right nowhere in the others."""

    at = 0

    def __init__(self, random_state: int = 2019) -> None:
        self.random_state = random_state

    def fit(self, data, on_step=None):
        if self.random_state == self.at:
            raise RuntimeError("out of\nluck")
        with self.timed():
            self.n_parameters_, self.details_ = 0, {}
        return self

    def predict(self, data):
        return np.zeros(data.graph.n_nodes, dtype=np.intp)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> type[Failing]:
    monkeypatch.setitem(MODELS, "failing", Registered(__name__, "Failing"))
    return Failing


def test_compare_models_on_one_split_uses_the_graph_and_finds_hops_on_validation_nodes() -> None:
    found = compare_models(two_groups(), PLAIN, runs=2, seed=910)
    rows = {row.model: row for row in found.rows}
    assert list(rows) == ["sgc", *PLAIN]
    assert all(row.n == 2 and row.std == 0.0 for row in rows.values())  # nothing is random on a fixed split
    assert rows["sgc"].mean > rows["logistic-regression"].mean + 5.0
    assert rows["sgc"].ratio is None
    assert rows["label-propagation"].ratio == pytest.approx(
        rows["label-propagation"].seconds / rows["sgc"].seconds
    )
    assert sum(found.chosen_hops().values()) == 2
    assert set(found.chosen_hops()) <= {1, 2, 3}
    assert found.search_seconds("label-propagation") is None
    assert found.search_seconds("sgc") > 0.0
    assert {line["seed"] for line in found.lines} == {910, 911}


def test_compare_models_gives_every_run_a_split_that_all_models_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[int, list[tuple[int, ...]]] = {}
    real = sgclearn.experiments.runner.build_model

    def build(name, settings, seed):
        model = real(name, settings, seed)
        fit = model.fit
        monkeypatch.setattr(
            model,
            "fit",
            lambda data, step: (
                seen.setdefault(seed, []).append(tuple(data.where("train"))),
                fit(data, step),
            )[1],
        )
        return model

    monkeypatch.setattr(sgclearn.experiments.runner, "build_model", build)
    compare_models(drawn, PLAIN, runs=3, seed=300)
    assert {seed: len(set(splits)) for seed, splits in seen.items()} == {300: 1, 301: 1, 302: 1}
    assert all(len(splits) == 3 for splits in seen.values())
    assert len({splits[0] for splits in seen.values()}) == 3


def test_compare_models_gives_a_graph_of_the_paper_the_settings_of_that_graph() -> None:
    settings = {}
    for name in ("groups", "pubmed"):
        own = OwnData(two_groups(name=name), seed=300)
        recipe = own_recipe(own, ["gat", "adalnet", "sage"], seed=300, n_hops=2)
        settings[name] = {model: recipe.models[model].settings_for(name) for model in recipe.models}
    there, here = settings["pubmed"], settings["groups"]
    assert (there["gat"]["output_heads"], there["gat"]["learning_rate"]) == (8, 0.01)
    assert "output_heads" not in here["gat"]
    assert here["gat"]["learning_rate"] == 0.005
    assert (there["adalnet"]["n_ritz"], here["adalnet"]["n_ritz"]) == (5, 20)
    assert here["sage"] == there["sage"]
    assert here["sage"]["n_drawn"] == [25, 10]


def test_compare_models_has_a_source_for_every_setting() -> None:
    recipe = own_recipe(OwnData(two_groups(), seed=300), known_models(), seed=300, n_hops=2)
    for model in recipe.models.values():
        assert model.settings_for("groups")
        assert all(group.source for group in model.settings)


def test_compare_models_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    compare_models(drawn, ["label-propagation"], runs=1, seed=300, results=file)
    before = file.read_text(encoding="utf-8")
    made = []
    found = compare_models(
        drawn, PLAIN, runs=2, seed=300, results=file, on_progress=lambda p: made.append(p.line)
    )
    assert file.read_text(encoding="utf-8").startswith(before)
    ran = [(line["model"], line["run"]) for line in made if line is not None]
    assert ran == [("logistic-regression", 0), *[(name, 1) for name in ("sgc", *PLAIN)]]
    assert [row.n for row in found.rows] == [2, 2, 2]
    shown = compare_models(drawn, PLAIN, runs=0, seed=300, results=file)
    assert shown.rows == found.rows
    assert [row.n for row in compare_models(drawn, PLAIN, runs=1, seed=300, results=file).rows] == [1, 1, 1]


def test_compare_models_refuses_results_of_other_data(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    compare_models(two_groups(), ["label-propagation"], runs=1, results=file)
    with pytest.raises(InputError, match="splits of groups: got others, of groups; choose another place"):
        compare_models(two_groups(seed=612), ["label-propagation"], runs=1, results=file)
    with pytest.raises(InputError, match="splits of ring: got those of groups"):
        compare_models(two_groups(seed=612, name="ring"), ["label-propagation"], runs=1, results=file)
    # Another seed on the same split is another set of runs, not other data.
    found = compare_models(two_groups(), ["label-propagation"], runs=1, seed=77, results=file)
    assert {line["seed"] for line in found.lines} == {77}


def test_model_that_fails_keeps_the_others_and_says_why(
    failing: type[Failing], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failing, "at", 901)
    file = tmp_path / "runs.jsonl"
    found = compare_models(two_groups(), ["failing", *PLAIN], runs=3, seed=900, results=file)
    assert {row.model: row.n for row in found.rows} == {"sgc": 3, **dict.fromkeys(PLAIN, 3), "failing": 1}
    assert found.failures == {"failing": "RuntimeError: out of luck"}
    assert "Failing: RuntimeError: out of luck" in str(found)
    (row,) = [row for row in found.to_dict()["rows"] if row["model"] == "failing"]
    assert (row["n"], row["failure"]) == (1, "RuntimeError: out of luck")
    kinds = [json.loads(text)["kind"] for text in file.read_text(encoding="utf-8").splitlines()]
    assert kinds.count("failure") == 1
    monkeypatch.setattr(failing, "at", -1)  # mended: it is tried again, and its old failure is forgotten
    mended = compare_models(two_groups(), ["failing", *PLAIN], runs=3, seed=900, results=file)
    assert mended.failures == {}
    assert {row.n for row in mended.rows} == {3}


def test_model_that_never_ran_has_a_row(failing: type[Failing], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "at", 900)
    found = compare_models(two_groups(), ["failing"], runs=1, seed=900)
    assert found.table()[-1] == ("Failing", "-", "0", "-", "-", "-")
    assert found.to_dict()["rows"][-1]["mean"] is None


def test_graph_without_features_leaves_out_what_reads_nothing_else() -> None:
    data = two_groups(X=sp.eye_array(40, format="csr"))
    found = compare_models(data, PLAIN, runs=1)
    assert [row.model for row in found.rows] == ["sgc", "label-propagation"]
    assert "there are none" in found.failures["logistic-regression"]
    assert found.prepare == "none"
    assert all(row.mean > 70.0 for row in found.rows)


def test_directed_weighted_graph_with_a_lone_node() -> None:
    rng = np.random.default_rng(733)
    data = two_groups()
    A = sp.triu(data.graph.to_scipy()).tocoo()
    keep = (A.row != 39) & (A.col != 39)
    weights = rng.uniform(0.5, 2.0, keep.sum())
    ends = np.column_stack([A.row[keep], A.col[keep]])
    graph = Graph.from_edges(ends, weights=weights, nodes=40, directed=True)
    found = compare_models(replace(data, graph=graph), PLAIN, runs=1)
    assert found.failures == {}
    assert len(found.rows) == 3


def test_choice_of_models_has_sgc_in_it_and_keeps_an_order() -> None:
    assert chosen_models(["label-propagation"]) == (["sgc", "label-propagation"], [])
    assert {"gcn", "gat", "mlp"} < set(known_models())
    assert "textgcn" not in known_models()
    assert set(WITHOUT_WEIGHTS) <= set(known_models())
    with pytest.raises(InputError, match="got 'gnc'; choose among them"):
        chosen_models(["gnc"])


def test_without_torch_the_default_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "torch")
    assert chosen_models(None)[0] == ["sgc", *PLAIN]
    found = compare_models(two_groups(), "all", runs=1)
    assert [row.model for row in found.rows] == ["sgc", *PLAIN]
    (note,) = found.experiment.notes
    assert note.startswith("GCN, GAT, ")
    assert note.endswith(
        'left out: torch is needed for this and is not installed; run pip install "sgclearn[baselines]".'
    )
    assert note in str(found)
    with pytest.raises(MissingExtraError, match="torch is needed"):
        compare_models(two_groups(), ["gcn"], runs=1)


def hide(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Make optional modules missing for `require`; other libraries, which look at sys.modules, see no change."""
    real = sgclearn.errors.importlib.import_module

    def import_module(name: str, package: str | None = None) -> object:
        if name.split(".")[0] in modules:
            raise ModuleNotFoundError(name)
        return real(name, package)

    monkeypatch.setattr("sgclearn.errors.importlib.import_module", import_module)


def test_networks_keep_their_published_settings_and_the_common_features() -> None:
    pytest.importorskip("torch")
    found = compare_models(two_groups(), ["gcn"], runs=1)
    (line,) = [line for line in found.lines if line["model"] == "gcn"]
    assert (line["settings"]["hidden"], line["settings"]["patience"]) == (16, 10)
    assert line["settings"]["row_norm"] is None
    assert "Kipf and Welling" in found.experiment.models["gcn"].settings[0].source


@pytest.mark.parametrize("name", WITHOUT_WEIGHTS)
def test_models_said_to_read_no_weights_read_none(name: str) -> None:
    pytest.importorskip("torch_geometric")
    data = two_groups()
    A = sp.triu(data.graph.to_scipy()).tocoo()
    weights = np.random.default_rng(5).uniform(0.1, 9.0, A.nnz)
    weighted = Graph.from_edges(np.column_stack([A.row, A.col]), weights=weights, nodes=40)
    few = {"deepwalk": {"n_walks": 1}}.get(name, {"max_epochs": 3})
    plain, other = (
        build_model(name, few, 23)
        .fit(samples_of(replace(data, graph=graph)))
        .predict(samples_of(replace(data, graph=graph)))
        for graph in (data.graph, weighted)
    )
    np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize("before", [None, "2"])
def test_threads_are_those_of_the_kernel_too(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SGCLEARN_NUM_THREADS", raising=False)
    if before is not None:
        monkeypatch.setenv("SGCLEARN_NUM_THREADS", before)
    with threads_limited(3):
        assert thread_count() == 3
    assert os.environ.get("SGCLEARN_NUM_THREADS") == before


def test_own_data_prepares_words_by_row_and_tables_by_column() -> None:
    counts = sp.random_array((40, 30), density=0.2, rng=np.random.default_rng(8), format="csr")
    own = OwnData(two_groups(X=counts), seed=9)
    assert own.prepare == "l1"
    sums = np.asarray(own.first.X.sum(axis=1)).ravel()
    np.testing.assert_allclose(sums[sums > 0], 1.0)
    own = OwnData(two_groups(), seed=9)
    assert own.prepare == "standard"
    np.testing.assert_allclose(own.first.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(own.first.X.std(axis=0), 1.0)
    assert sp.issparse(prepared_features(counts, "standard"))
    untouched = two_groups()
    assert OwnData(untouched, seed=9, prepare="none").first.X is untouched.X
    with pytest.raises(InputError, match="prepare must be one of auto, none, l1"):
        OwnData(untouched, seed=9, prepare="rows")


def test_own_data_without_validation_nodes_is_refused() -> None:
    with pytest.raises(InputError, match="got 8, 0 and 24 of them"):
        compare_models(two_groups(val=np.zeros(0, np.intp)), PLAIN, runs=1)


def test_own_data_has_a_fingerprint_of_its_content() -> None:
    first = OwnData(two_groups(), seed=9).fingerprint()
    assert OwnData(two_groups(name="other"), seed=9).fingerprint() == first
    moved = two_groups()
    changed = [
        two_groups(X=moved.X + 0.1 * np.eye(40, 3)),
        two_groups(test=moved.test[:-1]),
        two_groups(graph=Graph.from_edges([(0, 2)], nodes=40)),
    ]
    assert len({first, *(OwnData(data, seed=9).fingerprint() for data in changed)}) == 4


def test_figure_has_a_point_a_model_relative_to_sgc() -> None:
    pytest.importorskip("matplotlib")
    found = compare_models(drawn, PLAIN, runs=2, seed=300)
    (axes,) = plot_accuracy_over_time(found).axes
    points = {bars.get_label(): bars.lines[0].get_xydata()[0] for bars in axes.containers}
    assert set(points) == {"SGC", "Logistic regression", "Label propagation"}
    assert points["SGC"][0] == 1.0
    for row in found.rows:
        x, y = points[found.experiment.models[row.model].title]
        assert y == pytest.approx(row.mean)
        assert x == pytest.approx(row.ratio or 1.0)
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "training time (times that of SGC)"
    low, high = axes.get_xlim()
    assert sum(low <= tick <= high for tick in axes.get_xticks()) >= 2
    assert low < min(x for x, _ in points.values()) < max(x for x, _ in points.values()) < high


def test_figure_without_the_reference_is_in_seconds() -> None:
    pytest.importorskip("matplotlib")
    found = compare_models(two_groups(), ["label-propagation"], runs=1)
    alone = replace(found, rows=found.rows[1:])
    (axes,) = plot_accuracy_over_time(alone).axes
    assert axes.get_xlabel() == "training time (s)"
    assert axes.containers[0].lines[0].get_xydata()[0][0] == pytest.approx(alone.rows[0].seconds)
    with pytest.raises(InputError, match="make a run first"):
        plot_accuracy_over_time(replace(found, rows=()))
