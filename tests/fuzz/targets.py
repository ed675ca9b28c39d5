"""Everything that reads a file, behind one signature: `read(folder, names)` of a bundle that lies in the folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.corpus import Bundle, sgc
from fuzz.verdict import Unsound, check_sound

Read = Callable[[Path, list[Path]], Any]


def _edges(folder: Path, paths: list[Path]) -> Any:
    from sgclearn import read_edges

    return read_edges(paths[0])


def _features(folder: Path, paths: list[Path]) -> Any:
    from sgclearn import read_features

    features = read_features(paths[0])
    if len(features.names) != features.matrix.shape[1]:
        raise Unsound("features: names for other columns")
    return features


def _labels(folder: Path, paths: list[Path]) -> Any:
    from sgclearn import read_labels

    labels = read_labels(paths[0])
    if len(labels.ids) != len(labels.values):
        raise Unsound("labels: values for other ids")
    return labels


def _graph(folder: Path, paths: list[Path]) -> Any:
    from sgclearn import Graph

    return Graph.load_npz(paths[0])


def _model(folder: Path, paths: list[Path]) -> Any:
    """Load, and predict where the model says that it takes so many features."""
    from sgclearn import Graph, load_model
    from sgclearn.persist import read_model_header

    read_model_header(paths[0])
    model = load_model(paths[0])
    check_sound(model)
    if model.n_features_in_ <= 1000:
        n_nodes = model.n_features_in_ if model.uses_identity_ else 3
        graph = Graph.from_edges([], n_nodes=n_nodes) if model.uses_graph_ else None
        X = None if model.uses_identity_ else np.ones((3, model.n_features_in_))
        predict = getattr(model, "decision_function", model.predict)
        check_sound(predict(X, graph=graph))
    return model


def _text_model(folder: Path, paths: list[Path]) -> Any:
    from sgclearn.tasks.text import load_text_model

    model = load_text_model(paths[0])
    check_sound(model.predict_proba(["crude oil and corn", ""]))
    return model


def _run(folder: Path, paths: list[Path]) -> Any:
    run = next(path for path in paths if path.parent != folder).parent
    while run.parent != folder:
        run = run.parent
    out = folder / "out.csv"
    sgc("evaluate", run)
    sgc("predict", run, "--out", out)
    new = {path.name: path for path in paths if path.parent == folder}
    if new:
        options = ("--new-edges", new["new-e.csv"], "--new-features", new["new-f.csv"], "--force")
        sgc("predict", run, *options, "--out", out)


def _text_run(folder: Path, paths: list[Path]) -> Any:
    run, out = folder / "texts", folder / "out.csv"
    sgc("evaluate", run)
    sgc("text", "predict", run, "--data", folder / "docs.jsonl", "--out", out)
    sgc("text", "explain", run, "--text", "crude oil and corn", "--json")


def _documents(folder: Path, paths: list[Path]) -> Any:
    from sgclearn.tasks.text.reading import read_documents

    return read_documents(paths[0])


def _documents_folder(folder: Path, paths: list[Path]) -> Any:
    from sgclearn.tasks.text.reading import read_documents

    return read_documents(folder / "docs")


def _pickle(folder: Path, paths: list[Path]) -> Any:
    from sgclearn.datasets.inert_pickle import read_pickle

    read_pickle(paths[0])


def _dataset(layout: str) -> Read:
    def read(folder: Path, paths: list[Path]) -> Any:
        from sgclearn.datasets.loading import read_files
        from sgclearn.datasets.registry import PLANETOID_PARTS

        if layout == "planetoid":
            paths = [folder / f"ind.cora.{part}" for part in PLANETOID_PARTS]
        found = read_files(layout, paths)
        check_sound(found.graph)
        check_sound(found.X)
        return found.y

    return read


def _corpus(folder: Path, paths: list[Path]) -> Any:
    from sgclearn.tasks.text.corpora import load_corpus

    return load_corpus("mr", folder)


def _archive(folder: Path, paths: list[Path]) -> Any:
    from sgclearn.datasets.unpacking import extract_member

    extract_member(paths[0], "a/data.bin", folder / "data.bin", size=8)


def _results(folder: Path, paths: list[Path]) -> Any:
    from sgclearn.experiments.results import ResultFile

    found = ResultFile(paths[0])
    found.lines("run", seed=7)


READERS: dict[str, Read] = {
    "edges-text": _edges,
    "edges-packed": _edges,
    "edges-parquet": _edges,
    "edges-npz": _edges,
    "edges-graphml": _edges,
    "graph": _graph,
    "features-text": _features,
    "features-parquet": _features,
    "features-npz": _features,
    "features-svmlight": _features,
    "labels": _labels,
    "model": _model,
    "text-model": _text_model,
    "run": _run,
    "run-without-features": _run,
    "text-run": _text_run,
    "documents": _documents,
    "documents-folder": _documents_folder,
    "pickle": _pickle,
    "planetoid": _dataset("planetoid"),
    "linqs": _dataset("linqs"),
    "gnn-benchmark": _dataset("gnn-benchmark"),
    "reddit": _dataset("reddit"),
    "dataset-npz": _dataset("npz"),
    "corpus": _corpus,
    "archive": _archive,
    "results": _results,
}


def run_file(case: tuple[str, Bundle], folder: Path) -> Any:
    """A case of a `Worker`: write the bundle, read it with the target of that name."""
    name, bundle = case
    paths = []
    for relative, content in bundle.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        paths.append(path)
    return READERS[name](folder, paths)
