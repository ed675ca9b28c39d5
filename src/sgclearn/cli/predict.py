"""`sgc predict`: labels for new nodes of a run, for all its nodes again, or for another graph altogether."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import (
    FILES,
    RESULT,
    DataOptions,
    Duplicates,
    ForceFlag,
    JsonFlag,
    ReadingOptions,
    SelfLoops,
    chosen,
    with_options,
)
from sgclearn.cli.output import Screen, Stages, counted
from sgclearn.errors import InputError

if TYPE_CHECKING:
    from sgclearn.features import Encoding, Features
    from sgclearn.runs.predictions import Predictions

COMMAND = "predict"


def _file(text: str) -> Any:
    return typer.Option(help=text, rich_help_panel=FILES, show_default=False)


@with_options
def command(
    *,
    run: Annotated[Path | None, _file("Folder that sgc fit wrote: its model, graph and features.")] = None,
    new_edges: Annotated[Path | None, _file("Edges to add to the graph of the run.")] = None,
    new_features: Annotated[Path | None, _file("Features of the new nodes, with their ids.")] = None,
    model: Annotated[Path | None, _file("A model file, to predict on another graph altogether.")] = None,
    edges: Annotated[Path | None, _file("Edges of that graph.")] = None,
    features: Annotated[Path | None, _file("Features of its nodes.")] = None,
    reading: ReadingOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV file for id, label and the probability of each class; stdout if not given.",
            rich_help_panel=RESULT,
            show_default=False,
        ),
    ] = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Predict labels of new nodes, or on another graph.

    New nodes are attached to the graph of the run, and only their neighbourhood is computed. New edges may go
    between new and old nodes, and the files are read as those of the fit were, unless options say otherwise;
    the run folder itself is not changed. With --run and without --new-features all nodes of the run are
    predicted again, with the new edges if there are any.

    \b
    Examples:
      sgc predict --run run --new-edges e2.csv --new-features f2.csv
      sgc predict --model run/model.safetensors --edges e3.csv --features f3.csv
    """
    screen = Screen(as_json)
    if out is not None and out.exists() and not force:
        raise InputError(f"--out must be a new file: got {out}, which exists; choose another or add --force.")
    of_run = {"--new-edges": new_edges, "--new-features": new_features}
    of_model = {"--edges": edges, "--features": features, "--directed": reading.directed}
    if (run is None) == (model is None):
        got = "none of them" if run is None else "both"
        raise InputError(f"predict needs either --run or --model: got {got}; name one of them.")
    for option, value in (of_run if run is None else of_model).items():
        if value is not None:
            other, there = ("--run", "--model") if run is None else ("--model", "--run")
            raise InputError(f"{option} goes with {other}: got it with {there}; leave one of them out.")
    how = {field.name: getattr(reading, field.name) for field in fields(reading)}
    with screen.progress() as stages:
        if run is not None:
            predictions = _on_run(run, DataOptions(edges=new_edges, features=new_features, **how), stages)
        elif model is not None:
            predictions = _on_other_graph(model, DataOptions(edges=edges, features=features, **how), stages)
    if out is not None:
        predictions.write(out)
        screen.line(f"{counted(len(predictions.ids), 'prediction')} written to {out}")
    else:
        screen.predictions(predictions)
    screen.document({"predictions": predictions.records()} if out is None else {"written": out})


def _on_run(folder: Path, data: DataOptions, stages: Stages) -> Predictions:
    """Nodes of a run, or new nodes that are attached to its graph."""
    import numpy as np

    from sgclearn.runs.place import MODEL
    from sgclearn.runs.run import Run

    run = Run.open(folder)
    run.require("nodes", f"use sgc {run.task} predict")
    data = _as_at_the_fit(data, run.settings, folder)
    stages.stage(f"reading {folder}")
    with run:
        model, encoding = _load(run.path(MODEL))
        graph, X = run.graph(), None if model.uses_identity_ else run.features()
    n_old = graph.n_nodes
    _check_width(model, X, run.folder)
    ids = graph.node_ids
    if data.features is not None:
        if X is None:
            raise InputError(
                "a model without features knows only the nodes of its own graph: got --new-features with "
                f"{folder}, which was fitted without; fit with features to predict new nodes."
            )
        new = _read_features(model, encoding, data, data.features)
        ids = _joined(ids, new, data.features)
        X = _stacked(X, new.matrix)
    if data.edges is not None or data.features is not None:
        graph = _extended(graph, ids, data, stages)
    nodes = np.arange(n_old, graph.n_nodes) if data.features is not None else None
    stages.stage("predicting")
    return _predicted(model, X, graph, nodes, graph.ids if nodes is None else graph.ids[nodes])


def _as_at_the_fit(data: DataOptions, settings: dict[str, Any], folder: Path) -> DataOptions:
    """Options with those of the fit where none are given; the direction is that of the run's graph anyway."""
    from sgclearn.cli.inputs import is_table

    known = {field.name for field in fields(ReadingOptions)} - {"directed"}
    if data.edges is not None and data.edges.suffix.lower() in (".npz", ".graphml"):
        known -= {"source_column", "target_column", "weights_column"}
    if data.features is not None and not is_table(data.features):
        known -= {"id_column"}
    missing = {name for name in known if getattr(data, name) is None}
    missing |= {name for name in ("unweighted", "row_numbers") if not getattr(data, name)}
    kept: dict[str, Any] = {name: settings[name] for name in missing & set(settings)}
    try:
        for name, kind in (("duplicates", Duplicates), ("self_loops", SelfLoops)):
            if name in kept:
                kept[name] = kind(kept[name])
        return replace(data, **kept)
    except ValueError as error:
        raise InputError(
            f"{folder} must have settings that sgc fit wrote, and is damaged ({error})."
        ) from error


def _on_other_graph(path: Path, data: DataOptions, stages: Stages) -> Predictions:
    from sgclearn.cli.inputs import graph_of, node_ids

    model, encoding = _load(path)
    if model.uses_identity_:
        raise InputError(
            f"a model without features knows only the nodes of its own graph: got {path} for another one; "
            "fit with features to predict on other graphs."
        )
    if data.features is None:
        raise InputError("--features is needed with --model: got none; name the file of the features.")
    stages.stage(f"reading {data.features.name}")
    features = _read_features(model, encoding, data, data.features)
    graph = None if data.edges is None else graph_of(data, data.edges, features, stages)
    if graph is None and model.uses_graph_:
        raise InputError("--edges is needed with a model fitted on a graph: got none; name the file.")
    X = features.matrix if graph is None else features.align(graph)
    ids = node_ids(features).values if graph is None else graph.ids
    stages.stage("predicting")
    return _predicted(model, X, graph, None, ids)


def _predicted(model: Any, X: Any, graph: Any, nodes: Any, ids: Any) -> Predictions:
    from sgclearn.runs.predictions import ClassPredictions

    return ClassPredictions.of(ids, model.predict_proba(X, graph=graph, nodes=nodes), model.classes_)


def _load(path: Path) -> tuple[Any, Encoding | None]:
    """Model of a file, and how its features were encoded."""
    from sgclearn.features import Encoding
    from sgclearn.persist import load_model, read_model_header

    header, model = read_model_header(path), load_model(path)
    if header["estimator"] == "SGCMultilabelClassifier":
        raise InputError(
            f"sgc predict gives one label a node: got {path}, a model of many labels a node; use "
            "sgclearn.load_model in Python."
        )
    stored = header.get("feature_encoding")
    return model, None if stored is None else Encoding.from_dict(stored)


def _read_features(model: Any, encoding: Encoding | None, data: DataOptions, path: Path) -> Features:
    """Features of new nodes, encoded as at the fit, with as many columns as the model has."""
    from scipy.sparse import csr_array, issparse

    from sgclearn.cli.inputs import features_of, is_svmlight
    from sgclearn.features import Features

    try:
        features = features_of(data, path, encoding)
    except InputError as error:
        if error.argument != "impute":
            raise
        # The remedy of the library is an option of the fit, which predict does not have.
        remedy = "fill the cells, since the model was fitted without --impute, or fit again with --impute"
        raise error.but(remedy=remedy) from error
    X: Any = features.matrix
    d = model.n_features_in_
    if is_svmlight(path) and issparse(X) and X.shape[1] < d:
        # The file does not say how many columns there are: those behind the last one named are zero.
        X = csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], d))
        features = Features.from_matrix(X, features.ids)
    _check_width(model, X, path)
    return features


def _check_width(model: Any, X: Any, where: Path) -> None:
    if X is not None and X.shape[1] != model.n_features_in_:
        raise InputError(
            f"{where} must have the {model.n_features_in_:,} features that the model was fitted on: got "
            f"{X.shape[1]:,}; give the same columns as at the fit."
        )


def _joined(old: Any, new: Features, path: Path) -> Any:
    """Ids of the old nodes, then of the new ones."""
    from sgclearn.graph import NodeIds

    if new.ids is None:
        if not old.is_range:
            raise InputError(
                f"{path} must name its new nodes, as the graph does: got features without ids; add a "
                "column id."
            )
        return NodeIds(len(old) + new.matrix.shape[0])
    joined, positions = old.join(NodeIds(new.ids))
    known = positions < len(old)
    if known.any():
        first = new.ids[known][:1].tolist()[0]
        raise InputError(
            f"{path} must have new nodes only: got {first!r}, which is in the graph of the run "
            f"({int(known.sum()):,} are); leave these rows out."
        )
    return joined


def _stacked(old: Any, new: Any) -> Any:
    """Old rows above new ones, as sparse or dense as the old."""
    import numpy as np
    from scipy.sparse import csr_array, issparse, vstack

    if issparse(old):
        return vstack([old, csr_array(new)], format="csr")
    return np.vstack([old, new.toarray() if issparse(new) else new])


def _extended(graph: Any, ids: Any, data: DataOptions, stages: Stages) -> Any:
    """Graph of the run with the new nodes and edges."""
    from sgclearn.cli.inputs import edges_of
    from sgclearn.graph import Graph

    if data.edges is None:
        added = Graph.from_edges([], [], nodes=ids, directed=graph.directed)
    else:
        stages.stage(f"reading {data.edges.name}")
        added = edges_of(data, data.edges, ids, graph.directed)
    return graph.union(
        added, duplicates=chosen(data.duplicates) or "once", self_loops=chosen(data.self_loops) or "keep"
    )
