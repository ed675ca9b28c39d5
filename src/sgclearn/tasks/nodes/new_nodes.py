"""New nodes beside those of a run, and the nodes of another graph altogether."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sgclearn.errors import InputError, Setting
from sgclearn.features import Encoding, Features
from sgclearn.graph import Graph, NodeIds
from sgclearn.runs.run import Run
from sgclearn.tasks.nodes.options import NewNodes, NodeData, ReadingOptions
from sgclearn.tasks.nodes.reading import edges_of, features_of, graph_of, is_svmlight, is_table, node_ids
from sgclearn.tasks.options import as_at_the_fit, chosen
from sgclearn.tasks.protocol import OnStage, Samples, silent, unlabelled


def join_nodes(run: Run, model: Any, new: NewNodes, on_stage: OnStage = silent) -> Samples:
    """The graph of a run with new nodes and edges; the samples are the new nodes, or all where there are none."""
    data = _as_at_the_fit(new, run.settings)
    graph, X = run.graph(), None if model.uses_identity_ else run.features()
    _check_width(model, X, run.folder)
    n_old, ids = graph.n_nodes, graph.node_ids
    if data.features is not None:
        if X is None:
            raise InputError(
                "a model without features knows only the nodes of its own graph",
                f"--new-features with {run.folder}, which was fitted without",
                "fit with features to predict new nodes",
                argument="new_features",
            )
        added = _read_features(model, data, data.features)
        ids = _joined(ids, added, data.features)
        X = _stacked(X, added.matrix)
    if data.edges is not None or data.features is not None:
        graph = _extended(graph, ids, data, on_stage)
    if data.features is None:
        return unlabelled(run.folder.name, graph, X)
    return unlabelled(run.folder.name, graph, X, np.arange(n_old, graph.n_nodes))


def read_other_graph(path: Path, model: Any, data: NodeData, on_stage: OnStage = silent) -> Samples:
    """The nodes of a graph that a saved model has never seen."""
    if model.uses_identity_:
        raise InputError(
            "a model without features knows only the nodes of its own graph",
            f"{path} for another one",
            "fit with features to predict on other graphs",
        )
    if data.features is None:
        raise InputError("--features is needed with --model", "none", "name the file of the features")
    on_stage(f"reading {data.features.name}")
    features = _read_features(model, data, data.features)
    if data.edges is not None:
        graph = graph_of(data, data.edges, features, on_stage)
        return unlabelled(path.name, graph, features.align(graph))
    if model.uses_graph_:
        raise InputError("--edges is needed with a model fitted on a graph", "none", "name the file")
    return unlabelled(path.name, Graph.from_edges([], [], nodes=node_ids(features)), features.matrix)


def _as_at_the_fit(new: NewNodes, settings: dict[str, Any]) -> NodeData:
    """Options with those of the fit where none are given; the direction is that of the run's graph anyway."""
    names = {field.name for field in fields(ReadingOptions)} - {"directed"}
    if new.new_edges is not None and new.new_edges.suffix.lower() in (".npz", ".graphml"):
        names -= {"source_column", "target_column", "weights_column"}
    if new.new_features is not None and not is_table(new.new_features):
        names -= {"id_column"}
    filled = as_at_the_fit(new, settings, names)
    reading = {field.name: getattr(filled, field.name) for field in fields(ReadingOptions)}
    return NodeData(edges=new.new_edges, features=new.new_features, **reading)


def _read_features(model: Any, data: NodeData, path: Path) -> Features:
    """Features of new nodes, encoded as at the fit, with as many columns as the model has."""
    stored = getattr(model, "feature_encoding_", None)
    try:
        features = features_of(data, path, None if stored is None else Encoding.from_dict(stored))
    except InputError as error:
        if error.argument != "impute":
            raise
        # The remedy of the library is an option of the fit, which predict does not have.
        impute = Setting("impute")
        remedy = (
            "fill the cells, since the model was fitted without ",
            impute,
            ", or fit again with ",
            impute,
        )
        raise error.but(remedy=remedy) from error
    X: Any = features.matrix
    d = model.n_features_in_
    if is_svmlight(path) and sp.issparse(X) and X.shape[1] < d:
        # The file does not say how many columns there are: those behind the last one named are zero.
        X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], d))
        features = Features.from_matrix(X, features.ids)
    _check_width(model, X, path)
    return features


def _check_width(model: Any, X: Any, where: Path) -> None:
    if X is not None and X.shape[1] != model.n_features_in_:
        raise InputError(
            f"{where} must have the {model.n_features_in_:,} features that the model was fitted on",
            f"{X.shape[1]:,}",
            "give the same columns as at the fit",
        )


def _joined(old: NodeIds, new: Features, path: Path) -> NodeIds:
    """Ids of the old nodes, then of the new ones."""
    if new.ids is None:
        if not old.is_range:
            raise InputError(
                f"{path} must name its new nodes, as the graph does",
                "features without ids",
                "add a column id",
            )
        return NodeIds(len(old) + new.matrix.shape[0])
    joined, positions = old.join(NodeIds(new.ids))
    known = positions < len(old)
    if known.any():
        first = new.ids[known][:1].tolist()[0]
        raise InputError(
            f"{path} must have new nodes only",
            f"{first!r}, which is in the graph of the run ({int(known.sum()):,} are)",
            "leave these rows out",
        )
    return joined


def _stacked(old: Any, new: Any) -> Any:
    """Old rows above new ones, as sparse or dense as the old."""
    if sp.issparse(old):
        return sp.vstack([old, sp.csr_array(new)], format="csr")
    return np.vstack([old, new.toarray() if sp.issparse(new) else new])


def _extended(graph: Graph, ids: NodeIds, data: NodeData, on_stage: OnStage) -> Graph:
    """Graph of the run with the new nodes and edges."""
    if data.edges is None:
        added = Graph.from_edges([], [], nodes=ids, directed=graph.directed)
    else:
        on_stage(f"reading {data.edges.name}")
        added = edges_of(data, data.edges, ids, graph.directed)
    return graph.union(
        added, duplicates=chosen(data.duplicates) or "once", self_loops=chosen(data.self_loops) or "keep"
    )
