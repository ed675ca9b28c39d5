"""A fitted graph classifier in a file: safetensors with a JSON header, without pickle.

The container is that of `sgclearn.persist.container`. Entries of the header: ``estimator`` ("SGCGraphClassifier"),
``graph_version`` (1), ``parameters`` (those of the constructor that predictions need), ``pools``, ``labels``, ``pairs``
and ``n_numbers`` of the node encoder, ``fitted`` and ``classes`` as in `sgclearn.persist.models`. Tensors: ``coef``,
``intercept`` and ``bins``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sgclearn.errors import InputError, ModelFileError
from sgclearn.persist.container import Tensors, read_container, write_container
from sgclearn.persist.models import plain_value, restored_classes, restored_value, restoring, store_classes
from sgclearn.tasks.graphs.classifier import SGCGraphClassifier
from sgclearn.tasks.graphs.node_features import NodeEncoder
from sgclearn.tasks.graphs.pools import check_pools

ESTIMATOR, VERSION = "SGCGraphClassifier", 1
_FITTED = ("n_hops_", "weight_decay_", "best_score_", "n_iter_", "converged_")


def save_graph_model(model: SGCGraphClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the file appears whole or not at all."""
    if not hasattr(model, "coef_"):
        raise InputError("a model must be fitted before it is saved", "a new one", "call fit first")
    encoder = model.encoder_
    header: dict[str, Any] = {
        "estimator": ESTIMATOR,
        "graph_version": VERSION,
        "parameters": {name: plain_value(getattr(model, name), name) for name in ("normalization", "gamma")},
        "pools": list(model.pools_),
        "labels": [plain_value(label, "labels") for label in encoder.labels],
        "pairs": [[plain_value(label, "labels"), degree] for label, degree in encoder.pairs],
        "n_numbers": encoder.n_numbers,
        "constant": model.classes_.tolist().index(model.constant_),
        "fitted": {name: plain_value(getattr(model, name), name) for name in _FITTED},
    }
    tensors: Tensors = {"coef": model.coef_, "intercept": model.intercept_, "bins": encoder.bins}
    store_classes(model.classes_, header, tensors)
    write_container(path, header, tensors)


def load_graph_model(path: str | os.PathLike[str]) -> SGCGraphClassifier:
    """Read a model that `save_graph_model` wrote; it predicts the same bits as the one that was saved."""
    header, tensors = read_container(path)
    if header.get("estimator") != ESTIMATOR:
        raise ModelFileError(
            f"{path} must be a model of graphs",
            f"one of the kind {header.get('estimator')!r}",
            "check the path",
        )
    if header.get("graph_version") != VERSION:
        raise ModelFileError(
            f"{path} must be a model of graphs of version {VERSION}",
            f"{header.get('graph_version')}",
            "fit it again",
        )
    with restoring(path, "save_graph_model"):
        fitted = {name: restored_value(header["fitted"][name]) for name in _FITTED}
        parameters = {name: restored_value(value) for name, value in header["parameters"].items()}
        model = SGCGraphClassifier(
            fitted["n_hops_"],
            pools=tuple(header["pools"]),
            weight_decay=fitted["weight_decay_"],
            **parameters,
        )
        for name, value in fitted.items():
            setattr(model, name, value)
        model.pools_ = check_pools(model.pools)
        labels = tuple(restored_value(label) for label in header["labels"])
        pairs = tuple((restored_value(label), int(degree)) for label, degree in header["pairs"])
        model.encoder_ = NodeEncoder(labels, pairs, tensors["bins"], int(header["n_numbers"]))
        model.coef_, model.intercept_ = tensors["coef"], tensors["intercept"]
        model.classes_ = restored_classes(header, tensors)
        model.constant_ = model.classes_[header["constant"]]
        _check(model)
    return model


def _check(model: SGCGraphClassifier) -> None:
    """Raise a ValueError where weights and columns do not fit each other."""
    model._hops()
    columns = len(model.classes_) if len(model.classes_) > 2 else len(model.coef_)
    if len(model.classes_) < 2 or not 1 <= columns <= len(model.classes_):
        raise ValueError(f"{len(model.classes_)} classes and {columns} rows of weights")
    shapes = {"coef_": (columns, model._width(model.n_hops_)), "intercept_": (columns,)}
    for name, shape in shapes.items():
        array = getattr(model, name)
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} of shape {array.shape}, not finite numbers {shape}")
