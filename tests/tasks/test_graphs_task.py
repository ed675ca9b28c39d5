"""`sgc graphs` from a folder to a run, and from the run to new graphs; models in files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sgclearn import Graph
from sgclearn.cli.app import run as run_sgc
from sgclearn.errors import InputError, ModelFileError
from sgclearn.persist.container import read_container, write_container
from sgclearn.tasks.graphs import SGCGraphClassifier, stack_graphs
from sgclearn.tasks.graphs.storage import load_graph_model, save_graph_model


def write(folder: Path, sizes: range, labelled: bool = True) -> Path:
    """Rings and stars as three tables."""
    folder.mkdir()
    graphs, nodes, edges = ["graph,label"], ["graph,node"], ["graph,source,target"]
    for kind in ("ring", "star"):
        for n in sizes:
            graphs.append(f"{kind}{n},{kind if labelled else ''}")
            nodes += [f"{kind}{n},v{i}" for i in range(n)]
            edges += [f"{kind}{n},v{0 if kind == 'star' else i - 1},v{i}" for i in range(1, n)]
            edges += [f"{kind}{n},v{n - 1},v0"] if kind == "ring" else []
    for name, lines in (("graphs", graphs), ("nodes", nodes), ("edges", edges)):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_fit_writes_a_run_that_predicts_new_graphs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = write(tmp_path / "data", range(4, 24)), tmp_path / "run"
    assert run_sgc(["graphs", "fit", "--graphs", str(data), "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    names = [result["model"] for result in document["results"]]
    assert names == ["most frequent class", "pooled nodes", "SGC"]
    assert document["data"]["test"] == 8
    assert document["results"][0]["test"]["accuracy"]["value"] == 0.5
    assert document["results"][-1]["test"]["accuracy"]["value"] == 1.0
    new = write(tmp_path / "new", range(30, 33))
    assert run_sgc(["graphs", "predict", str(out), "--graphs", str(new), "--json"]) == 0
    predicted = json.loads(capsys.readouterr().out)["predictions"]
    assert [row["label"] for row in predicted] == ["ring"] * 3 + ["star"] * 3
    assert [row["id"] for row in predicted][:2] == ["ring30", "ring31"]
    assert run_sgc(["evaluate", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 8


def fitted(labels: bool = False) -> SGCGraphClassifier:
    graphs = [Graph.from_edges([(i, i + 1) for i in range(n)]) for n in range(3, 13)]
    named = [["C", *["H"] * (graph.n_nodes - 1)] for graph in graphs] if labels else None
    collection = stack_graphs(graphs, node_labels=named)
    return SGCGraphClassifier(2, weight_decay=0.1, cv=2).fit(collection, ["short"] * 5 + ["long"] * 5)


@pytest.mark.parametrize("labels", [False, True])
def test_saved_model_gives_the_same_bits(tmp_path: Path, labels: bool) -> None:
    model, path = fitted(labels), tmp_path / "model.safetensors"
    save_graph_model(model, path)
    again = load_graph_model(path)
    path_graph = Graph.from_edges([(0, 1), (1, 2)])
    new = stack_graphs([path_graph], node_labels=["CHH"] if labels else None)
    np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))
    assert (again.n_hops_, again.constant_) == (2, model.constant_)
    with pytest.raises(InputError, match="must be fitted before it is saved"):
        save_graph_model(SGCGraphClassifier(), path)


def test_foreign_or_inconsistent_model_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_graph_model(fitted(), path)
    header, tensors = read_container(path)
    plain = {
        key: value for key, value in header.items() if key not in ("format", "version", "library_version")
    }
    for changes, message in (
        ({"estimator": "SGCClassifier"}, "must be a model of graphs: got one of the kind 'SGCClassifier'"),
        ({"graph_version": 9}, "version 1: got 9; fit it again"),
        ({"pools": ["sum"]}, "do not fit together"),
    ):
        write_container(path, {**plain, **changes}, tensors)
        with pytest.raises(ModelFileError, match=message):
            load_graph_model(path)
