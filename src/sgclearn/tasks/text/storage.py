"""A fitted text model in a file: safetensors with a JSON header, without pickle and without the graph.

The container is that of `sgclearn.persist.container`. The entries of the header:

``estimator``
    "TextSGCClassifier".
``text_version``
    1, the version of what is written down here.
``parameters``, ``builder``
    The arguments of the classifier without `compute` (``weight_decay`` is the one that was used) and of its
    `TextGraphBuilder`.
``vocabulary``
    The words, in the order of their nodes.
``fitted``
    ``n_documents_``, ``n_hops_`` and how the fit ended.
``classes``
    As in `sgclearn.persist.models`.

The tensors, with D documents, W words, K hops and C classes (one column for two): ``coef`` (C, D + W), ``intercept``
(C,), ``word_scores`` (K, W, C), ``idf`` (W,), ``word_degrees`` (W,), ``class_prior`` (classes,)
and, for numbers, ``classes``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sgclearn.errors import InputError, InputTypeError, ModelFileError
from sgclearn.graph import Graph
from sgclearn.persist.checks import check_ending
from sgclearn.persist.container import Tensors, read_container, write_container
from sgclearn.persist.models import (
    plain_value,
    restored_classes,
    restored_parameters,
    restored_value,
    restoring,
    store_classes,
)
from sgclearn.tables.messages import counted
from sgclearn.tasks.text.classifier import TextSGCClassifier
from sgclearn.tasks.text.documents import WordTable
from sgclearn.tasks.text.graph import TextGraph, TextGraphBuilder

ESTIMATOR, VERSION = "TextSGCClassifier", 1
_FITTED = ("n_documents_", "n_hops_", "weight_decay_", "n_iter_", "converged_", "gradient_ratio_", "loss_")
_TENSORS = ("coef", "intercept", "word_scores", "class_prior")


def save_text_model(model: TextSGCClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted text model; the file appears whole or not at all.

    The graph is not stored: keep it with `model.text_graph_.graph.save_npz` if explanations by feature are wanted
    later. A builder with an analyzer of your own cannot be stored.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sgclearn import TextSGCClassifier
    >>> from sgclearn.tasks.text import load_text_model, save_text_model
    >>> model = TextSGCClassifier(weight_decay=1e-3).fit(["crude oil", "oil price", "corn crop"], ["e", "e", "f"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> save_text_model(model, path)
    >>> load_text_model(path).predict(["price of crude"]).tolist()
    ['e']
    """
    if not isinstance(model, TextSGCClassifier):
        raise InputTypeError(
            f"model must be a TextSGCClassifier: got {type(model).__name__}; save_model saves other models."
        )
    if not hasattr(model, "coef_"):
        raise InputError("a model must be fitted before it is saved: got a new one; call fit first.")
    parameters = {**model.get_params(deep=False), "weight_decay": model.weight_decay_}
    del parameters["builder"], parameters["compute"]
    table = model.words_
    header: dict[str, Any] = {
        "estimator": ESTIMATOR,
        "text_version": VERSION,
        "parameters": {name: plain_value(value, name) for name, value in parameters.items()},
        "builder": table.builder.settings,
        "vocabulary": table.vocabulary.tolist(),
        "fitted": {name: plain_value(getattr(model, name), name) for name in _FITTED},
    }
    tensors: Tensors = {name: getattr(model, f"{name}_") for name in _TENSORS}
    tensors |= {"idf": table.idf, "word_degrees": table.degrees}
    store_classes(model.classes_, header, tensors)
    write_container(path, header, tensors)


def load_text_model(
    path: str | os.PathLike[str], graph: Graph | TextGraph | None = None
) -> TextSGCClassifier:
    """Read a model that `save_text_model` wrote; it predicts the same bits as the one that was saved.

    Parameters
    ----------
    path : path
    graph : Graph or TextGraph, optional
        The graph of the fit, which explanations by feature and of fitted documents need: `text_graph_` of the model
        that was saved, or `Graph.load_npz("run/graph.npz")` of a run of `sgc text fit`.

    Raises
    ------
    ModelFileError
        If the file is damaged, changed, of another kind, or of a later version.
    """
    header, tensors = read_container(path)
    if header.get("estimator") != ESTIMATOR:
        raise ModelFileError(
            f"{path} must be a text model: got a model of the kind {header.get('estimator')!r}; load_model reads it."
        )
    version = header.get("text_version")
    if isinstance(version, int) and version > VERSION:
        raise ModelFileError(
            f"{path} must be a text model of version {VERSION} or earlier: got version {version}; upgrade sgclearn."
        )
    with restoring(path, "save_text_model"):
        model = _restored(header, tensors)
        _check(model)
    if graph is not None:
        graph = graph.graph if isinstance(graph, TextGraph) else graph
        if not isinstance(graph, Graph):
            raise InputTypeError(
                f"graph must be the graph of the fit: got {type(graph).__name__}; give the text_graph_ of the model "
                "that was saved, or leave it out."
            )
        _attach(model, graph)
    return model


def _restored(header: dict[str, Any], tensors: Tensors) -> TextSGCClassifier:
    builder = TextGraphBuilder(**header["builder"])
    model = TextSGCClassifier(builder, **restored_parameters(header))
    for name in _FITTED:
        setattr(model, name, restored_value(header["fitted"][name]))
    for name in _TENSORS:
        setattr(model, f"{name}_", tensors[name])
    vocabulary = np.array(header["vocabulary"], dtype=object)
    if not all(isinstance(word, str) for word in header["vocabulary"]):
        raise ValueError("words that are no texts")
    model.words_ = WordTable(builder, vocabulary, tensors["idf"], tensors["word_degrees"])
    model.classes_ = restored_classes(header, tensors)
    model.text_graph_ = None
    return model


def _check(model: TextSGCClassifier) -> None:
    """Raise a ValueError that names the first part that does not fit the others."""
    classes = model.classes_.tolist()
    if model.classes_.ndim != 1 or len(set(classes)) < len(classes) or len(classes) < 2:
        raise ValueError(f"{len(classes)} classes, not two or more different ones")
    check_ending(model)
    for name in ("n_documents_", "n_hops_"):
        value = getattr(model, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} is {value!r}")
    table, columns = model.words_, 1 if len(classes) == 2 else len(classes)
    words = len(table.vocabulary)
    nodes = model.n_documents_ + words
    shapes = {
        "coef": (columns, nodes),
        "intercept": (columns,),
        "word_scores": (model.n_hops_, words, columns),
        "class_prior": (len(classes),),
    }
    arrays = {name: (getattr(model, f"{name}_"), shape) for name, shape in shapes.items()}
    arrays |= {"idf": (table.idf, (words,)), "word_degrees": (table.degrees, (words,))}
    for name, (array, shape) in arrays.items():
        if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(
                f"{name} of shape {array.shape} and type {array.dtype}, not finite numbers {shape}"
            )
    if (table.degrees < 1).any() or (table.idf < 0).any() or (model.class_prior_ < 0).any():
        raise ValueError("degrees below 1, or an idf or a share below 0")


def _attach(model: TextSGCClassifier, graph: Graph) -> None:
    """Give a loaded model its graph, which must be that of the fit."""
    table, n = model.words_, model.coef_.shape[1]
    if graph.n_nodes != n or not np.allclose(graph.degrees()[model.n_documents_ :] + 1.0, table.degrees):
        raise InputError(
            f"graph must be the one that the model was fitted on, of {counted(n, 'node')}: got "
            f"{counted(graph.n_nodes, 'node')} or other edges; give the graph that was saved beside it."
        )
    model.text_graph_ = TextGraph(graph, table.vocabulary, table.idf, table.builder)
