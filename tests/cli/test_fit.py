"""`sgc fit`: what it shows, what it writes, and that it never looks at test labels."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Files, Sgc, assert_mistake

from sgclearn import Graph, SGCClassifier, load_model, read_features, read_labels
from sgclearn.persist import read_model_header

WRITTEN = ["features.npz", "graph.npz", "labels.csv", "metrics.json", "model.safetensors", "predictions.csv"]
WRITTEN.append("run.json")
DECAY = ("--weight-decay", "1e-3")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_fit_writes_the_run_folder(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    result = sgc("fit", *files.options, "--out", "run")
    assert (result.code, result.err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == WRITTEN
    rows = rows_of(tmp_path / "run" / "predictions.csv")
    assert list(rows[0]) == ["id", "label", "p_blue", "p_red"]
    assert [row["id"] for row in rows] == [row["id"] for row in rows_of(files.features)]
    for row in rows:
        shares = {"blue": float(row["p_blue"]), "red": float(row["p_red"])}
        assert sum(shares.values()) == pytest.approx(1, abs=2e-6)
        assert row["label"] == max(shares, key=lambda name: shares[name])
    for word in (
        "30 nodes, 31 edges, 4 features, 2 classes",
        "16 train, 4 test",
        "logistic regression",
        "SGC",
    ):
        assert word in result.out
    assert "sgc evaluate run" in result.out


def test_fit_is_the_model_of_the_library(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    assert sgc("fit", *files.options, "--out", "run", "--n-hops", 3, *DECAY).code == 0
    run = tmp_path / "run"
    graph, X = Graph.load_npz(run / "graph.npz"), read_features(run / "features.npz").matrix
    labels = read_labels(run / "labels.csv")
    model = SGCClassifier(3, weight_decay=1e-3).fit(X, labels.align(graph, "train"), graph=graph)
    loaded = load_model(run / "model.safetensors")
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    np.testing.assert_array_equal(X, read_features(files.features).align(graph))
    assert (
        read_model_header(run / "model.safetensors")["feature_encoding"]["columns"][2]["kind"] == "category"
    )


def test_same_fit_twice_gives_the_same_files(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    for name in ("first", "second"):
        assert sgc("fit", *files.options, "--out", name).code == 0
    for name in WRITTEN:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_json_is_one_document(sgc: Sgc, files: Files) -> None:
    result = sgc("fit", *files.options, "--json")
    assert result.code == 0
    document = result.document
    assert [entry["n_hops"] for entry in document["results"]] == [0, 2]
    assert document["results"][1]["weight_decay_tuned"] is True
    assert document["data"]["train"] == 16
    assert document["plan"]["chosen"] in {"full", "frontier", "left-first", "implicit"}
    assert document["folder"] == "sgc-run"
    assert json.loads(Path("sgc-run/metrics.json").read_text())["results"] == document["results"]


def test_default_folder_is_never_reused(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    for name in ("sgc-run", "sgc-run-2", "sgc-run-3"):
        assert sgc("fit", *files.options, *DECAY).code == 0
        assert (tmp_path / name / "run.json").is_file()


def test_full_folder_is_refused_without_force(sgc: Sgc, files: Files, run_folder: Path) -> None:
    (run_folder / "notes.txt").write_text("mine")
    before = (run_folder / "predictions.csv").read_bytes()
    assert_mistake(sgc("fit", *files.options, "--out", "run"), "run, which has files in it", "--force")
    assert (run_folder / "predictions.csv").read_bytes() == before
    without_features = ("--edges", files.edges, "--labels", files.labels, "--out", "run", "--force")
    assert sgc("fit", *without_features, *DECAY).code == 0
    assert (run_folder / "notes.txt").read_text() == "mine"
    assert not (run_folder / "features.npz").exists()
    (run_folder / "file").touch()
    assert_mistake(sgc("fit", *files.options, "--out", run_folder / "file"), "must name a folder")


def test_split_in_the_labels_is_used(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    rows = rows_of(files.labels)
    words = ["train", "val", "test", "train"]
    for row, word in zip(rows, words * 5, strict=True):
        row["split"] = word
    text = "id,label,split\n" + "".join(",".join(row.values()) + "\n" for row in rows)
    files.labels.write_text(text)
    result = sgc("fit", *files.options, "--out", "run", "--json")
    assert {name: result.document["data"][name] for name in ("train", "val", "test")} == {
        "train": 10,
        "val": 5,
        "test": 5,
    }
    assert result.document["evaluation"]["n"] == 5
    assert sorted((tmp_path / "run" / "labels.csv").read_text().split()) == sorted(text.split())
    assert_mistake(
        sgc("fit", *files.options, "--held-out", "0.5"), "--held-out goes with labels without a split"
    )
    files.labels.write_text(text.replace("train", "val"))
    assert_mistake(sgc("fit", *files.options), "got a split without train")


def test_model_does_not_depend_on_test_labels(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    rows = rows_of(files.labels)
    for other in (False, True):
        lines = ["id,label,split\n"]
        for k, row in enumerate(rows):
            label = row["label"] if k % 4 or not other else ("red" if row["label"] == "blue" else "blue")
            lines.append(f"{row['id']},{label},{'train' if k % 4 else 'test'}\n")
        files.labels.write_text("".join(lines))
        assert sgc("fit", *files.options, "--out", f"run-{other}").code == 0
    models = [(tmp_path / f"run-{other}" / "model.safetensors").read_bytes() for other in (False, True)]
    assert models[0] == models[1]


def test_nothing_held_out_reports_no_accuracy(sgc: Sgc, files: Files) -> None:
    result = sgc("fit", *files.options, "--held-out", 0)
    assert result.code == 0
    assert "20 train" in result.out
    assert "test accuracy" not in result.out
    assert sgc("fit", *files.options, "--held-out", 0, "--json").document["evaluation"] is None


def test_one_label_a_class_uses_the_default_weight_decay(sgc: Sgc, files: Files) -> None:
    files.labels.write_text("id,label\nr01,red\nb01,blue\n")
    result = sgc("fit", *files.options)
    assert result.code == 0
    assert result.err.startswith("warning: no class has two labels to tune the weight decay on")
    assert result.err.count("\n") == 1


def test_graph_without_features(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    result = sgc("fit", "--edges", files.edges, "--labels", files.labels, "--out", "run", *DECAY)
    assert result.code == 0
    assert "no features" in result.out
    assert "features.npz" not in result.out
    assert load_model(tmp_path / "run" / "model.safetensors").uses_identity_


def test_zero_hops_is_logistic_regression_alone(sgc: Sgc, files: Files) -> None:
    result = sgc("fit", *files.options, "--n-hops", 0, *DECAY, "--json")
    assert [entry["n_hops"] for entry in result.document["results"]] == [0]


@pytest.mark.parametrize(
    "options",
    [
        ("--normalization", "rw", "--gamma", "0.5"),
        ("--row-norm", "l1", "--scale", "standard"),
        ("--solver", "adam", "--max-iter", "5", "--seed", "7"),
        ("--class-weight", "balanced", "--memory-limit", "1GB"),
        ("--directed", "--duplicates", "sum", "--self-loops", "drop"),
        ("--id-column", "id", "--label-column", "label", "--delimiter", ","),
        ("--source-column", "source", "--target-column", "target", "--unweighted"),
    ],
)
def test_options_reach_the_model(sgc: Sgc, files: Files, tmp_path: Path, options: tuple[str, ...]) -> None:
    result = sgc("fit", *files.options, *DECAY, *options, "--out", "run")
    assert result.code == 0, result.err
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    for name, value in zip(options[::2], options[1::2], strict=False):
        held = settings[name.removeprefix("--").replace("-", "_")] if not value.startswith("--") else True
        assert str(held) in {value, "True"}


def test_ids_may_be_integers_in_one_file_and_text_in_another(sgc: Sgc, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\n1,2\n2,3\n4,5\n5,007\n")
    (tmp_path / "f.csv").write_text("id,x\n1,1\n2,2\n3,1\n4,-1\n5,-2\n007,-1\n")
    (tmp_path / "l.csv").write_text("id,label\n1,a\n3,a\n4,b\n5,b\n")
    result = sgc("fit", "--edges", "e.csv", "--features", "f.csv", "--labels", "l.csv", "--held-out", 0)
    assert result.code == 0, result.err
    assert [row["id"] for row in rows_of(tmp_path / "sgc-run" / "predictions.csv")] == [*"12345", "007"]


def test_matrix_features_without_ids_belong_to_row_numbers(sgc: Sgc, tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", X=np.array([[1.0], [2.0], [-1.0], [-2.0], [0.5]]))
    (tmp_path / "e.csv").write_text("source,target\n0,1\n2,3\n")
    (tmp_path / "l.csv").write_text("id,label\n0,5\n1,5\n2,7\n3,7\n")
    result = sgc("fit", "--edges", "e.csv", "--features", "f.npz", "--labels", "l.csv", "--json")
    assert result.code == 0, result.err
    rows = rows_of(tmp_path / "sgc-run" / "predictions.csv")
    assert [row["id"] for row in rows] == list("01234")
    assert rows[4]["label"] == "5"


def test_graph_file_with_its_own_ids(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    from sgclearn import read_edges

    read_edges(files.edges).save_npz(tmp_path / "graph.npz")
    options = ("--edges", "graph.npz", "--features", files.features, "--labels", files.labels)
    assert sgc("fit", *options, *DECAY, "--out", "run").code == 0
    assert len(rows_of(tmp_path / "run" / "predictions.csv")) == 30


def test_cells_that_need_quotes_keep_their_text(sgc: Sgc, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text('source,target\n"Ann, B","say ""hi"""\nc,d\n')
    (tmp_path / "l.csv").write_text('id,label\n"Ann, B",x\nc,"y, z"\n')
    assert sgc("fit", "--edges", "e.csv", "--labels", "l.csv", "--held-out", 0, *DECAY).code == 0
    rows = rows_of(tmp_path / "sgc-run" / "predictions.csv")
    assert [(row["id"], row["label"]) for row in rows] == [
        ("Ann, B", "x"),
        ('say "hi"', "x"),
        ("c", "y, z"),
        ("d", "y, z"),
    ]
    assert list(rows[0]) == ["id", "label", "p_x", "p_y, z"]


def test_dataset_by_name(sgc: Sgc, monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    monkeypatch.setenv("SGCLEARN_DATA", str(data_dir))
    result = sgc("fit", "--dataset", "cora", "--row-norm", "l1", *DECAY, "--seed", "5", "--json")
    assert result.code == 0, result.err
    assert result.document["data"]["test"] == 1000
    assert result.document["results"][1]["test"]["accuracy"]["value"] > 0.75
    assert "Neural_Networks" in result.document["evaluation"]["classes"]


def test_embedded_graph_is_the_default(sgc: Sgc) -> None:
    result = sgc("fit", "--weight-decay", "5e-3")
    assert (result.code, result.err) == (0, "")
    assert "debian: 29,582 nodes" in result.out
    assert "divided by their l2 norm" in result.out
    metrics: dict[str, Any] = json.loads(Path("sgc-run/metrics.json").read_text())
    plain, graph = (entry["test"]["accuracy"]["value"] for entry in metrics["results"])
    assert graph > plain + 0.05
    assert graph > 0.75
