"""`sgc predict`: new nodes of a run, all its nodes again, another graph."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Files, Sgc, assert_mistake

from sgclearn import (
    Graph,
    SGCClassifier,
    SGCMultilabelClassifier,
    load_model,
    read_edges,
    read_features,
    save_model,
)
from sgclearn.features import Encoding
from sgclearn.persist import read_model_header

DECAY = ("--weight-decay", "1e-3")


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def new_files(tmp_path: Path) -> tuple[object, ...]:
    """Two new people: x knows an old red one and y, y knows an old blue one."""
    (tmp_path / "e2.csv").write_text("source,target\nx,r05\nx,y\ny,b07\n")
    (tmp_path / "f2.csv").write_text("id,city,width,height\nx,Bern,1.5,1.0\ny,Graz,-1.0,-2.5\n")
    return "--new-edges", tmp_path / "e2.csv", "--new-features", tmp_path / "f2.csv"


def test_new_nodes_equal_a_graph_built_whole(
    sgc: Sgc, files: Files, run_folder: Path, new_files: tuple[object, ...], tmp_path: Path
) -> None:
    before = {path.name: path.read_bytes() for path in run_folder.iterdir()}
    result = sgc("predict", run_folder, *new_files)
    assert (result.code, result.err) == (0, "")
    rows = rows_of(result.out)
    assert [row["id"] for row in rows] == ["x", "y"]

    header = read_model_header(run_folder / "model.safetensors")
    encoding = Encoding.from_dict(header["feature_encoding"])
    old, new = (read_features(path, encoding=encoding) for path in (files.features, tmp_path / "f2.csv"))
    (tmp_path / "all.csv").write_text(files.edges.read_text() + "x,r05\nx,y\ny,b07\n")
    assert old.ids is not None
    assert new.ids is not None
    whole = read_edges(tmp_path / "all.csv", nodes=[*old.ids, *new.ids])
    X = np.vstack([np.asarray(old.matrix), np.asarray(new.matrix)])
    expected = load_model(run_folder / "model.safetensors").predict_proba(X, graph=whole)[-2:]
    found = [[float(row["p_blue"]), float(row["p_red"])] for row in rows]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert {path.name: path.read_bytes() for path in run_folder.iterdir()} == before


def test_new_nodes_need_no_edges(sgc: Sgc, run_folder: Path, new_files: tuple[object, ...]) -> None:
    result = sgc("predict", run_folder, *new_files[2:], "--json")
    assert [record["id"] for record in result.document["predictions"]] == ["x", "y"]
    assert set(result.document["predictions"][0]["probabilities"]) == {"red", "blue"}


def test_run_alone_predicts_all_nodes_again(sgc: Sgc, run_folder: Path) -> None:
    result = sgc("predict", run_folder)
    assert result.code == 0
    assert rows_of(result.out) == rows_of((run_folder / "predictions.csv").read_text())


def test_new_edges_alone_predict_all_nodes_on_the_larger_graph(
    sgc: Sgc, files: Files, tmp_path: Path
) -> None:
    """A run without features takes new edges between its nodes, and no new nodes."""
    assert sgc("fit", "--edges", files.edges, "--labels", files.labels, *DECAY, "--out", "run").code == 0
    (tmp_path / "e2.csv").write_text("source,target\nr00,b07\nr00,b08\nr00,b09\n")
    result = sgc("predict", "run", "--new-edges", "e2.csv")
    assert result.code == 0
    again = rows_of(result.out)
    before = rows_of((tmp_path / "run" / "predictions.csv").read_text())
    assert len(again) == len(before) == 30
    assert float(again[0]["p_blue"]) > float(before[0]["p_blue"])


def test_out_writes_a_file_and_refuses_to_replace_it(
    sgc: Sgc, run_folder: Path, new_files: tuple[object, ...], tmp_path: Path
) -> None:
    options = ("predict", run_folder, *new_files, "--out", "p.csv")
    result = sgc(*options)
    assert (result.code, result.out) == (0, "2 predictions written to p.csv\n")
    assert_mistake(sgc(*options), "p.csv, which exists", "--force")
    assert sgc(*options, "--force", "--json").document == {"written": "p.csv"}
    assert [row["id"] for row in rows_of((tmp_path / "p.csv").read_text())] == ["x", "y"]


def test_model_predicts_on_another_graph(sgc: Sgc, run_folder: Path, new_files: tuple[object, ...]) -> None:
    model = run_folder / "model.safetensors"
    Path("e3.csv").write_text("source,target\nx,y\n")
    result = sgc("predict", "--model", model, "--edges", "e3.csv", "--features", "f2.csv")
    assert (result.code, result.err) == (0, "")
    X = read_features("f2.csv", encoding=Encoding.from_dict(read_model_header(model)["feature_encoding"]))
    graph = Graph.from_edges([("x", "y")])
    expected = load_model(model).predict(X.align(graph), graph=graph)
    assert [row["label"] for row in rows_of(result.out)] == expected.tolist()


def test_matrix_features_of_new_nodes_continue_the_row_numbers(sgc: Sgc, tmp_path: Path) -> None:
    lines = ["1 1:1 3:1\n", "1 1:2\n", "1 2:1 3:1\n", "1 2:2\n"]
    (tmp_path / "f.svm").write_text("".join(lines))
    (tmp_path / "e.csv").write_text("source,target\n0,1\n2,3\n")
    (tmp_path / "l.csv").write_text("id,label\n0,5\n1,5\n2,7\n3,7\n")
    own = ("--edges", "e.csv", "--features", "f.svm", "--labels", "l.csv", "--held-out", 0)
    assert sgc("fit", *own, *DECAY, "--out", "run").code == 0
    (tmp_path / "f2.svm").write_text("1 1:1\n1 2:3\n")
    (tmp_path / "e2.csv").write_text("source,target\n4,0\n5,3\n")
    result = sgc("predict", "run", "--new-edges", "e2.csv", "--new-features", "f2.svm")
    assert result.code == 0, result.err
    assert [(row["id"], row["label"]) for row in rows_of(result.out)] == [("4", "5"), ("5", "7")]
    np.savez(tmp_path / "wide.npz", X=np.ones((2, 9)))
    wide = sgc("predict", "run", "--new-features", "wide.npz")
    assert_mistake(wide, "wide.npz must have the 3 features that the model was fitted on: got 9")


def test_model_without_a_graph_needs_no_edges(sgc: Sgc, tmp_path: Path) -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    save_model(SGCClassifier().fit(X, ["a", "b", "a"]), tmp_path / "m.safetensors")
    np.savez(tmp_path / "f.npz", X=X)
    result = sgc("predict", "--model", "m.safetensors", "--features", "f.npz")
    assert [row["label"] for row in rows_of(result.out)] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,width,height\nx,1,1\n", ["f2.csv", "'city'"]),
        ("id,width,height,city,age\nx,1,1,Bern,3\n", ["'age'"]),
        ("id,width,height,city\nr00,1,1,Bern\n", ["f2.csv must have new nodes only: got 'r00'"]),
        ("width,height,city\n1,1,Bern\n2,2,Bern\n", ["without ids"]),
    ],
)
def test_new_features_that_do_not_fit(
    sgc: Sgc, run_folder: Path, new_files: tuple[object, ...], text: str, words: list[str]
) -> None:
    Path("f2.csv").write_text(text)
    assert_mistake(sgc("predict", run_folder, *new_files), *words)


def test_category_that_the_fit_did_not_have_is_a_warning(
    sgc: Sgc, run_folder: Path, new_files: tuple[object, ...]
) -> None:
    Path("f2.csv").write_text("id,width,height,city\nx,1,1,Oslo\ny,1,1,Bern\n")
    result = sgc("predict", run_folder, *new_files)
    assert result.code == 0
    assert "warning" in result.err
    assert "Oslo" in result.err


def test_edge_to_an_unknown_id(sgc: Sgc, run_folder: Path, new_files: tuple[object, ...]) -> None:
    Path("e2.csv").write_text("source,target\nx,nobody\n")
    assert_mistake(sgc("predict", run_folder, *new_files), "e2.csv", "'nobody'")


def test_wrong_choice_of_options(sgc: Sgc, run_folder: Path, tmp_path: Path) -> None:
    model = run_folder / "model.safetensors"
    for options, words in (
        ((), "either RUN or --model: got none of them"),
        ((run_folder, "--model", model), "either RUN or --model: got both"),
        ((run_folder, "--edges", "e.csv"), "--edges goes with --model: got it with RUN"),
        (("--model", model, "--new-edges", "e.csv"), "--new-edges goes with RUN: got it with --model"),
        (("--model", model), "--features is needed with --model"),
        (("--model", model, "--features", tmp_path / "features.csv"), "--edges is needed with a model"),
        (
            ("--model", tmp_path / "features.csv"),
            "features.csv must be a model that save_model wrote: got a text file",
        ),
        ((tmp_path,), "RUN must be the folder of a run"),
    ):
        assert_mistake(sgc("predict", *options), words)


def test_run_that_is_damaged_or_later(sgc: Sgc, run_folder: Path) -> None:
    description = run_folder / "run.json"
    whole = json.loads(description.read_text())
    for text, words in (
        ("{", "damaged"),
        ("[]", "damaged"),
        (json.dumps({**whole, "format": "other"}), "damaged"),
        (json.dumps({**whole, "version": 3}), "got version 3; upgrade sgclearn"),
        (json.dumps({**whole, "version": 1}), "got version 1; fit the model again"),
    ):
        description.write_text(text)
        assert_mistake(sgc("predict", run_folder), words)


def test_models_that_cannot_predict_here(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    graph, X = Graph.from_edges([(0, 1), (2, 3)]), np.eye(4)
    many = SGCMultilabelClassifier().fit(X, [[1, 0], [0, 1], [-1, -1], [1, 1]], graph=graph)
    save_model(many, tmp_path / "many.safetensors")
    assert_mistake(sgc("predict", "--model", "many.safetensors"), "one label a node")
    save_model(SGCClassifier().fit(None, [0, -1, 1, -1], graph=graph), tmp_path / "none.safetensors")
    assert_mistake(sgc("predict", "--model", "none.safetensors"), "a model without features knows only")
    assert sgc("fit", "--edges", files.edges, "--labels", files.labels, *DECAY, "--out", "run").code == 0
    new = sgc("predict", "run", "--new-features", files.features)
    assert_mistake(new, "a model without features knows only", "--new-features")


def test_sparse_features_stay_sparse(sgc: Sgc, tmp_path: Path) -> None:
    """One-hot columns make a sparse matrix; new rows are stacked below it."""
    names = [f"n{k}" for k in range(40)]
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"n{k},n{(k + 2) % 40}\n" for k in range(40)))
    rows = "".join(f"{name},w{k},{'even' if k % 2 else 'odd'}\n" for k, name in enumerate(names))
    (tmp_path / "f.csv").write_text("id,word,kind\n" + rows)
    (tmp_path / "l.csv").write_text("id,label\n" + "".join(f"n{k},{'ab'[k % 2]}\n" for k in range(12)))
    own = ("--edges", "e.csv", "--features", "f.csv", "--labels", "l.csv")
    assert sgc("fit", *own, *DECAY, "--out", "run").code == 0
    assert "x_indptr" in np.load(tmp_path / "run" / "features.npz").files
    (tmp_path / "f2.csv").write_text("id,word,kind\nz,w3,even\n")
    (tmp_path / "e2.csv").write_text("source,target\nz,n1\n")
    result = sgc("predict", "run", "--new-edges", "e2.csv", "--new-features", "f2.csv")
    assert [(row["id"], row["label"]) for row in rows_of(result.out)] == [("z", "b")]


def test_new_files_are_read_as_those_of_the_fit(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    edges = files.edges.read_text().replace("source,target", "from_whom,note,to_whom,often")
    rows = [line.split(",") for line in edges.splitlines()[1:]]
    files.edges.write_text(edges.splitlines()[0] + "\n" + "".join(f"{a},x,{b},2\n" for a, b in rows))
    columns = ("--source-column", "from_whom", "--target-column", "to_whom", "--weights-column", "often")
    assert sgc("fit", *files.options, *columns, *DECAY, "--duplicates", "sum", "--out", "run").code == 0
    (tmp_path / "e2.csv").write_text("from_whom,note,to_whom,often\nx,?,r05,3\nx,?,r05,4\n")
    (tmp_path / "f2.csv").write_text("id,city,width,height\nx,Bern,1.5,1.0\n")
    new = ("run", "--new-edges", "e2.csv", "--new-features", "f2.csv")
    found = sgc("predict", *new)
    assert found.code == 0, found.err
    other = sgc("predict", *new, "--duplicates", "max")
    assert rows_of(found.out)[0]["p_red"] != rows_of(other.out)[0]["p_red"]
    description = tmp_path / "run" / "run.json"
    description.write_text(description.read_text().replace('"sum"', '"thrice"'))
    assert_mistake(sgc("predict", *new), "damaged", "thrice")


def test_new_edges_as_an_array_take_no_columns_of_the_fit(sgc: Sgc, tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", X=np.array([[1.0], [2.0], [-1.0], [-2.0]]))
    (tmp_path / "e.csv").write_text("a,b,w\n0,1,1\n2,3,5\n")
    (tmp_path / "l.csv").write_text("id,label\n0,5\n1,5\n2,7\n3,7\n")
    own = ("--edges", "e.csv", "--features", "f.npz", "--labels", "l.csv", "--held-out", 0)
    columns = ("--source-column", "a", "--target-column", "b", "--weights-column", "w")
    assert sgc("fit", *own, *columns, *DECAY, "--out", "run").code == 0
    np.savez(tmp_path / "f2.npz", X=np.array([[0.1]]))
    np.savez(tmp_path / "e2.npz", edges=np.array([[4, 3]]))
    result = sgc("predict", "run", "--new-edges", "e2.npz", "--new-features", "f2.npz")
    assert result.code == 0, result.err
    assert [(row["id"], row["label"]) for row in rows_of(result.out)] == [("4", "7")]
