"""Edges, features and labels read together into one samples.

The features come first and name the nodes, so that a node without edges is a node too and an edge to an
unknown id is an error. Without features the nodes are the ids of the edges, and X is the identity.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from sgclearn.datasets import list_datasets, load_dataset
from sgclearn.errors import InputError
from sgclearn.features import Encoding, Features, read_features
from sgclearn.features.readers import SVMLIGHT_SUFFIXES
from sgclearn.graph import Graph, NodeIds, read_edges
from sgclearn.runs.splits import DEFAULT_SEED, SPLITS, check_classes, split_labels
from sgclearn.tasks.nodes.labels import classes_of, values_of
from sgclearn.tasks.nodes.options import NodeData, delimiter_of
from sgclearn.tasks.options import chosen
from sgclearn.tasks.protocol import OnStage, Samples, silent

EMBEDDED = "debian"
LARGEST_SEED = 2**32 - 1  # of scikit-learn


def read_nodes(data: NodeData, on_stage: OnStage = silent) -> Samples:
    """Read what the options name; the embedded graph if they name nothing."""
    _check_seed(data.seed)
    files = [name for name in ("edges", "features", "labels") if getattr(data, name) is not None]
    if data.dataset is not None or not files:
        return _read_dataset(data, files, on_stage)
    if data.edges is None or data.labels is None:
        raise InputError(
            f"--{'edges' if data.edges is None else 'labels'} is needed beside --{files[0]}",
            "none",
            "name the file, or name no file at all to use the graph inside the package",
        )
    if data.data_dir is not None:
        raise InputError("--data-dir goes with --dataset", "it with files of your own", "leave it out")
    _refuse_without_features(data)
    features = None
    if data.features is not None:
        on_stage(f"reading {data.features.name}")
        features = features_of(data, data.features)
    graph = graph_of(data, data.edges, features, on_stage)
    on_stage("reading labels")
    if data.regression:
        y, given, column = values_of(data, data.labels, graph)
        label_column = None
    else:
        y, given, label_column = classes_of(data, data.labels, graph)
        column = "label"
    seed = DEFAULT_SEED if data.seed is None else data.seed
    samples = Samples(
        data.edges.name,
        graph,
        None if features is None else features.align(graph),
        y,
        split_labels(y, given, data.held_out, seed, data.labels),
        graph.ids,
        feature_names=None if features is None else features.names,
        encoding=None if features is None else features.encoding,
        is_held_out=given is None,
        label_column=label_column,
        targets=(column,),
        seed=seed,
    )
    if not data.regression:
        check_classes(samples.labels("train"), data.labels)
    return samples


def _check_seed(seed: int | None) -> None:
    if seed is not None and not 0 <= seed <= LARGEST_SEED:
        raise InputError(
            f"--seed must be a whole number from 0 to {LARGEST_SEED}", f"{seed}", "choose another"
        )


def _refuse_without_features(data: NodeData) -> None:
    given = {
        "impute": data.impute,
        "max-categories": data.max_categories,
        "row-numbers": data.row_numbers or None,
    }
    unused = [name for name, value in given.items() if value is not None]
    if unused and data.features is None:
        raise InputError(f"--{unused[0]} goes with --features", "it without", "leave it out")


def _read_dataset(data: NodeData, files: list[str], on_stage: OnStage) -> Samples:
    given = [
        name for name in (*files, *_reading_options(data), "held_out") if getattr(data, name) is not None
    ]
    if given:
        option = "--" + given[0].replace("_", "-")
        alone = "it without --edges and --labels"
        got = alone if data.dataset is None else f"it with --dataset {data.dataset}"
        raise InputError(f"{option} goes with your own files", got, "leave one of them out")
    name = EMBEDDED if data.dataset is None else data.dataset
    on_stage(f"loading {name}")
    public = any(info.name == name and info.per_class is None for info in list_datasets())
    loaded = load_dataset(name, seed=None if public else data.seed, data_dir=data.data_dir)
    y = np.full(loaded.graph.n_nodes, None, dtype=object)
    labelled = loaded.y >= 0
    y[labelled] = np.array(loaded.class_names, dtype=object)[loaded.y[labelled]]
    split = np.full(len(y), None, dtype=object)
    for part in SPLITS:
        split[getattr(loaded, part)] = part
    row_norm = "l2" if name == EMBEDDED else None
    return Samples(
        name,
        loaded.graph,
        loaded.X,
        y,
        split,
        loaded.graph.ids,
        feature_names=loaded.feature_names,
        row_norm=row_norm,
        seed=DEFAULT_SEED if data.seed is None else data.seed,
    )


def _reading_options(data: NodeData) -> list[str]:
    names = ["source_column", "target_column", "weights_column", "directed", "duplicates", "self_loops"]
    names += ["id_column", "label_column", "split_column", "delimiter", "header", "impute"]
    names += ["max_categories"]
    return names + [name for name in ("unweighted", "row_numbers") if getattr(data, name)]


def features_of(data: NodeData, path: Path, encoding: Encoding | None = None) -> Features:
    """Features of a file; with the encoding of a model, encoded as at its fit."""
    if not is_table(path):
        # A matrix of numbers has no raw columns to encode.
        if data.max_categories is not None:
            raise InputError(
                "--max-categories goes with tables of features", f"it with {path}, a matrix", "leave it out"
            )
        return read_features(path, id_column=data.id_column, impute=chosen(data.impute))
    return read_features(
        path,
        id_column=False if data.row_numbers else data.id_column,
        impute=chosen(data.impute),
        max_categories=50 if data.max_categories is None else data.max_categories,
        encoding=encoding,
        delimiter=delimiter_of(data),
        header=data.header,
    )


def is_table(path: Path) -> bool:
    """Whether a file of features has columns with names, unlike npz and svmlight."""
    return _kind(path) not in (".npz", *SVMLIGHT_SUFFIXES)


def is_svmlight(path: Path) -> bool:
    """Whether a file of features is svmlight text."""
    return _kind(path) in SVMLIGHT_SUFFIXES


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".bz2")]
    return suffixes[-1] if suffixes else ""


def graph_of(data: NodeData, path: Path, features: Features | None, on_stage: OnStage) -> Graph:
    """Graph of a file of edges, whose nodes are those of the features."""
    on_stage(f"reading {path.name}")
    if features is None or _has_own_ids(path):
        return edges_of(data, path, None, data.directed)
    return edges_of(data, path, node_ids(features), data.directed)


def node_ids(features: Features) -> NodeIds:
    """Ids of the rows; their numbers where they have none."""
    return NodeIds(features.matrix.shape[0] if features.ids is None else features.ids)


def edges_of(data: NodeData, path: Path, nodes: NodeIds | None, directed: bool | None) -> Graph:
    """Graph of a file of edges between given nodes, or between all that it names."""
    is_table = path.suffix.lower() not in (".npz", ".graphml")
    return read_edges(
        path,
        source=data.source_column,
        target=data.target_column,
        weight=False if data.unweighted else data.weights_column,
        nodes=nodes,
        directed=directed,
        duplicates=chosen(data.duplicates) or "once",
        self_loops=chosen(data.self_loops) or "keep",
        delimiter=delimiter_of(data) if is_table else None,
        header=data.header if is_table else None,
    )


def _has_own_ids(path: Path) -> bool:
    """Whether a npz file names its nodes itself; what is no such file is left to the reader to refuse."""
    if path.suffix.lower() != ".npz" or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "ids.npy" in archive.namelist()
