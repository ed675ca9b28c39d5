"""`sgc compare`."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Files, Sgc, assert_mistake, interrupt_third_model

from sgclearn.errors import SgclearnError
from sgclearn.experiments.compared import read_compared
from sgclearn.runs.splits import SPLITS
from sgclearn.tasks.nodes.options import NodeData
from sgclearn.tasks.protocol import Samples

PLAIN = ("--models", "logistic-regression,label-propagation")
FOLDER = "sgc-compare-edges"


def lines_of(path: Path, kind: str = "run") -> list[dict]:
    found = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in found if line["kind"] == kind]


def without_torch(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    real = importlib.import_module

    def import_module(name: str, package: str | None = None) -> object:
        if name.split(".")[0] in modules:
            raise ModuleNotFoundError(name)
        return real(name, package)

    monkeypatch.setattr("sgclearn.errors.importlib.import_module", import_module)


def test_compare_shows_a_table_and_keeps_every_run(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    result = sgc("compare", *files.options, *PLAIN, "--runs", 2)
    assert result.code == 0
    assert "of each class 20 % val, 20 % test, the rest train" in result.out
    assert "1/6 edges.csv: SGC, run 1 of 2: " in result.err
    assert result.err.count("\n") == 6
    table = {line[:19].strip(): line for line in result.out.splitlines() if " +- " in line}
    assert list(table) == ["SGC", "Logistic regression", "Label propagation"]
    assert "1x" in table["SGC"].split()
    assert "SGC chose  " in result.out
    runs = lines_of(tmp_path / FOLDER / "compare.jsonl")
    assert [(line["model"], line["seed"]) for line in runs[:4]] == [
        *[("sgc", 2019), ("logistic-regression", 2019), ("label-propagation", 2019), ("sgc", 2020)]
    ]
    again = sgc("compare", *files.options, *PLAIN, "--runs", 2)
    assert (again.out, again.err) == (result.out, "")
    assert sgc("compare", *files.options, *PLAIN, "--runs", 0).out == result.out
    assert len(lines_of(tmp_path / FOLDER / "compare.jsonl")) == 6


def test_compare_as_json_and_its_file_say_the_same(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    result = sgc("compare", *files.options, *PLAIN, "--runs", 1, "--out", "here", "--json")
    assert (result.code, result.err) == (0, "")
    document = result.document
    assert document == json.loads((tmp_path / "here/compare.json").read_text(encoding="utf-8"))
    assert [row["model"] for row in document["rows"]] == ["sgc", "logistic-regression", "label-propagation"]
    for row in document["rows"]:
        assert row["n"] == 1
        assert 0.0 <= row["mean"] <= 100.0
        assert row["failure"] is None
    assert document["data"]["nodes"] == 30
    assert document["prepare"] == "standard"
    assert document["results"] == "here/compare.jsonl"


def test_compare_adds_models_and_runs_to_what_the_folder_has(sgc: Sgc, files: Files) -> None:
    few = ("compare", *files.options, "--out", "here", "--json", "--models")
    sgc(*few, "logistic-regression", "--runs", 2)

    def n_runs(*arguments: object) -> dict[str, int]:
        return {row["model"]: row["n"] for row in sgc(*few, *arguments).document["rows"]}

    added = {"sgc": 2, "logistic-regression": 2, "label-propagation": 1}
    assert n_runs("label-propagation", "--runs", 1) == added
    assert n_runs("sgc", "--runs", 0) == added
    # Runs with other settings or threads are others, and are not mixed with these.
    assert n_runs("sgc", "--runs", 1, "--threads", 2) == {"sgc": 1}


def test_compare_without_a_result_of_sgc_fails(
    sgc: Sgc, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(*_: object) -> None:
        raise SgclearnError("n_hops cannot be this.")

    monkeypatch.setattr("sgclearn.experiments.sgc.SGCModel._chosen", fit)
    result = sgc("compare", *files.options, "--models", "label-propagation", "--runs", 1)
    assert result.code == 1
    assert "sgc: there is no result of SGC: n_hops cannot be this." in result.err
    assert "Label propagation" in result.out


def test_compare_draws_the_figure_twice_the_same(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    sgc("compare", *files.options, *PLAIN, "--runs", 1)
    first = [(tmp_path / FOLDER / name).read_bytes() for name in ("compare.png", "compare.svg")]
    assert first[0].startswith(b"\x89PNG")
    assert str(tmp_path).encode() not in first[1]
    result = sgc("compare", *files.options, *PLAIN, "--runs", 1)
    assert f"{FOLDER}/compare.png, {FOLDER}/compare.svg" in result.out
    assert [(tmp_path / FOLDER / name).read_bytes() for name in ("compare.png", "compare.svg")] == first
    assert not list((tmp_path / FOLDER).glob(".*"))  # nothing temporary is left


def test_compare_without_extras_says_what_to_install(
    sgc: Sgc, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_torch(monkeypatch, "torch", "matplotlib")
    result = sgc("compare", *files.options, "--runs", 1)
    assert result.code == 0
    assert "GCN left out: torch is needed for this and is not installed" in result.out
    assert 'pip install "sgclearn[plot]"' in result.err
    assert result.err.count("no figure is drawn") == 1
    assert "Figure" not in result.out
    refused = sgc("compare", *files.options, "--models", "gcn", "--runs", 1, "--out", "other")
    assert_mistake(refused, '"sgclearn[baselines]", or leave the models that need it out with --models.')
    assert not (tmp_path / "other").exists()


def test_compare_interrupted_says_what_is_kept(
    sgc: Sgc, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = interrupt_third_model(monkeypatch)
    result = sgc("compare", *files.options, *PLAIN, "--runs", 2)
    assert result.code == 130
    assert f"2 runs kept in {FOLDER}/compare.jsonl; the same command goes on from there." in result.err
    assert sgc("compare", *files.options, *PLAIN, "--runs", 2).err.splitlines()[0].startswith("3/6 ")
    assert len(built) == 3 + 4


def test_compare_of_other_data_needs_force(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    few = ("--models", "label-propagation", "--runs", 1, "--out", "here")
    assert sgc("compare", *files.options, *few).code == 0
    changed = files.features.read_text().replace("Bern", "Basel")
    files.features.write_text(changed + "zz,1,1,Graz\n")
    assert_mistake(
        sgc("compare", *files.options, *few),
        "here/compare.jsonl must have runs on the data and splits of edges.csv",
        "or begin anew with --force.",
    )
    assert sgc("compare", *files.options, *few, "--force").code == 0
    (data,) = lines_of(tmp_path / "here/compare.jsonl", "data")
    assert data["name"] == "edges.csv"
    assert len(lines_of(tmp_path / "here/compare.jsonl")) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("do not touch")
    refused = sgc("compare", *files.options, "--out", "mine", "--force")
    assert_mistake(refused, "with files in it and no compare.jsonl; choose another.")


@pytest.mark.parametrize(
    "mistake", [("--runs", -1), ("--runs", 0), ("--threads", 0), ("--models", "gnc"), ("--n-hops", "x")]
)
def test_compare_with_force_and_a_mistake_keeps_the_results(
    sgc: Sgc, files: Files, tmp_path: Path, mistake: tuple[str, object]
) -> None:
    few = ("compare", *files.options, "--models", "label-propagation", "--out", "here")
    assert sgc(*few, "--runs", 1).code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}
    assert_mistake(sgc(*few, "--force", *mistake))
    assert {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()} == before


def test_compare_with_force_keeps_the_results_where_an_extra_is_missing(
    sgc: Sgc, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("compare", *files.options, "--runs", 1, "--out", "here", "--models")
    assert sgc(*few, "label-propagation").code == 0
    before = (tmp_path / "here/compare.jsonl").read_bytes()
    without_torch(monkeypatch, "torch")
    assert sgc(*few, "gcn", "--force").code == 2
    assert (tmp_path / "here/compare.jsonl").read_bytes() == before


def test_compare_directed_weighted_edges_without_features(sgc: Sgc, files: Files) -> None:
    rows = files.edges.read_text().splitlines()
    weighted = [f"{row},{1 + k % 3}" for k, row in enumerate(rows[1:])]
    files.edges.write_text("\n".join([rows[0] + ",weight", *weighted]) + "\n")
    options = ("--edges", files.edges, "--labels", files.labels, "--directed")
    result = sgc("compare", *options, *PLAIN, "--runs", 1)
    assert result.code == 0
    assert "No result  Logistic regression: it reads the features of a node alone" in result.out
    assert "Features" not in result.out


def test_compare_says_which_model_failed_and_why(sgc: Sgc, files: Files) -> None:
    pytest.importorskip("torch")
    rows = files.edges.read_text().splitlines()
    files.edges.write_text("\n".join([rows[0] + ",weight", *(f"{row},2" for row in rows[1:])]) + "\n")
    result = sgc("compare", *files.options, "--directed", "--models", "lnet,agnn", "--runs", 2)
    assert result.code == 0
    assert "No result  LNet takes an undirected graph: got a directed one" in result.out
    assert "directed=False" in " ".join(result.out.split())
    assert "Note       AGNN: edges are read without their weights." in result.out
    assert "LNet, run 1 of 2: failed" in result.err
    assert "AGNN, run 2 of 2: " in result.err


def test_compare_named_dataset(sgc: Sgc, data_dir: Path) -> None:
    result = sgc("compare", "cora", "--data-dir", data_dir, *PLAIN, "--runs", 1, "--n-hops", 2, "--json")
    assert result.document["split"].startswith("the public one in every run: 140 train")
    means = {row["model"]: row["mean"] for row in result.document["rows"]}
    assert means["sgc"] > 80.0
    assert 55.0 < means["logistic-regression"] < 65.0
    assert result.document["results"] == "sgc-compare-cora/compare.jsonl"


def drawn_by(options: NodeData, validation: float | None = None) -> list[Samples]:
    data = read_compared(options, validation).data
    return [data] if isinstance(data, Samples) else [data(seed) for seed in (50, 51)]


def sizes(samples: Samples) -> list[int]:
    return [len(samples.where(part)) for part in SPLITS]


def test_splits_without_a_column_are_stratified_and_new_in_every_run(files: Files) -> None:
    options = NodeData(edges=files.edges, labels=files.labels, held_out=0.3)
    first, second = drawn_by(options, 0.2)
    assert sizes(first) == [10, 4, 6]
    for part in map(first.where, SPLITS):
        assert list(Counter(first.y[part].tolist()).values()) == [len(part) // 2] * 2
    assert not np.array_equal(first.where("test"), second.where("test"))
    again = read_compared(options, 0.2).data(50)  # type: ignore[operator]
    np.testing.assert_array_equal(again.split, first.split)


def test_split_column_with_all_three_is_kept(files: Files) -> None:
    with_split(files, ("train", "train", "val", "test"))
    (data,) = drawn_by(NodeData(edges=files.edges, labels=files.labels))
    assert sizes(data) == [10, 5, 5]


def test_split_column_without_val_draws_it_from_train(files: Files) -> None:
    with_split(files, ("train", "train", "train", "test"))
    first, second = drawn_by(NodeData(edges=files.edges, labels=files.labels))
    np.testing.assert_array_equal(first.where("test"), second.where("test"))
    assert sizes(first) == [12, 3, 5]  # of 7 and 8 in train
    assert not np.array_equal(first.where("val"), second.where("val"))


def with_split(files: Files, turns: tuple[str, ...]) -> None:
    rows = files.labels.read_text().splitlines()
    pairs = [",".join(row.split(",")[:2]) for row in rows[1:]]
    named = [f"{pair},{turns[k % len(turns)]}" for k, pair in enumerate(pairs)]
    files.labels.write_text("\n".join(["id,label,split", *named]) + "\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--models", "gnc"), "got 'gnc'; choose among them"),
        (("--models", "all,gcn"), "all must stand alone: got all, gcn; leave the other names out."),
        (("--models", " ,"), "--models must name at least one: got ' ,'; name some, or leave it out."),
        (("--runs", "-1", "--edges", "nowhere.csv"), "--runs must be >= 0: got -1; 0 shows what is there."),
        (("--threads", "0", "--edges", "nowhere.csv"), "--threads must be from 1 to 1,024: got 0"),
        (("--threads", "99999"), "--threads must be from 1 to 1,024: got 99,999"),
        (("--runs", "0", "--force"), "--force begins anew: got it beside --runs 0"),
        (("--n-hops", "3-1"), "--n-hops must go from few to many"),
        (("--n-hops", "-1"), "--n-hops must be whole numbers >= 0: got -1; name them as 0,1,2 or 0-10."),
        (("--n-hops", "-1", "--edges", "nowhere.csv"), "--n-hops must be whole numbers >= 0"),
        (("--held-out", "0"), "--held-out must be a share above 0 and below 1: got 0.0"),
        (("--validation", "1.5"), "--validation must be a share above 0 and below 1: got 1.5"),
        (("--held-out", "0.5", "--validation", "0.5"), "must leave labels to train on: got 0.5 and 0.5"),
        (("--validation", "0.01", "--held-out", "0.01"), "enough labels of a class"),
        (("--out", "labels.csv"), "--out must name a folder: got the file labels.csv"),
        (("--prepare", "rows"), "'rows' is not one of 'auto', 'none'"),
        (("cora",), "--edges goes with your own files"),
        (("cora", "--dataset", "debian"), "must be named once: got cora and --dataset"),
    ],
)
def test_compare_refuses_bad_input_in_one_sentence(
    sgc: Sgc, files: Files, arguments: tuple[str, ...], words: str
) -> None:
    assert_mistake(sgc("compare", *files.options, *arguments), words)


def test_compare_refuses_splits_it_cannot_use(sgc: Sgc, files: Files) -> None:
    with_split(files, ("train", "val"))
    assert_mistake(sgc("compare", *files.options), "must have labels of the split test")
    with_split(files, ("train", "val", "test"))
    assert_mistake(sgc("compare", *files.options, "--validation", "0.3"), "which has one; leave it out")
    assert_mistake(sgc("compare", "--validation", "0.3"), "--validation goes with your own files")
    with pytest.raises(SgclearnError):
        read_compared(NodeData(dataset="nothing"), None)
