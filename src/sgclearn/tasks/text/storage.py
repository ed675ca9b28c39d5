"""A fitted text model in a file: safetensors with a JSON header, without pickle and without the graph.

The container is that of `sgclearn.persist.container`, the entries and tensors of the model over the graph are those of
`sgclearn.persist.models`. ``estimator`` is "TextSGCClassifier", and there is one more entry:

``text``
    ``version``, 2; ``parameters`` and ``builder``, the arguments of the classifier without `compute`
    (``weight_decay`` is the one that was used) and of its `TextGraphBuilder`; ``n_documents``, D; ``vocabulary``, the
    words in the order of their nodes.

The further tensors, with W words, K hops and C columns (one for two classes): ``word_scores`` (K, W, C), ``idf`` (W,),
``word_degrees`` (W,) and ``class_prior``, one entry per class.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sgclearn.errors import InputError, InputTypeError, ModelFileError
from sgclearn.graph import Graph
from sgclearn.persist.container import Tensors, read_container, write_container
from sgclearn.persist.models import describe, plain_value, rebuild, restored_parameters, restoring
from sgclearn.tables.messages import counted
from sgclearn.tasks.text.classifier import TextSGCClassifier
from sgclearn.tasks.text.documents import WordTable
from sgclearn.tasks.text.graph import TextGraph, TextGraphBuilder

ESTIMATOR, VERSION = "TextSGCClassifier", 2


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
            "model must be a TextSGCClassifier",
            type(model).__name__,
            "save_model saves other models",
            argument="model",
        )
    if not hasattr(model, "coef_"):
        raise InputError("a model must be fitted before it is saved", "a new one", "call fit first")
    parameters = {**model.get_params(deep=False), "weight_decay": model.weight_decay_}
    del parameters["builder"], parameters["compute"]
    table = model.words_
    header, tensors = describe(model.linear_)
    header["estimator"] = ESTIMATOR
    header["text"] = {
        "version": VERSION,
        "parameters": {name: plain_value(value, name) for name, value in parameters.items()},
        "builder": table.builder.settings,
        "n_documents": model.n_documents_,
        "vocabulary": table.vocabulary.tolist(),
    }
    tensors |= {"word_scores": model.word_scores_, "class_prior": model.class_prior_}
    write_container(path, header, {**tensors, "idf": table.idf, "word_degrees": table.degrees})


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
            f"{path} must be a text model",
            f"a model of the kind {header.get('estimator')!r}",
            "load_model reads it",
        )
    with restoring(path, "save_text_model"):
        version = header["text"]["version"]
    if version != VERSION:
        remedy = "upgrade sgclearn" if isinstance(version, int) and version > VERSION else "fit it again"
        raise ModelFileError(
            f"{path} must be a text model of version {VERSION}", f"version {version!r}", remedy
        )
    with restoring(path, "save_text_model"):
        model = _restored(header, tensors)
        _check(model)
    if graph is not None:
        graph = graph.graph if isinstance(graph, TextGraph) else graph
        if not isinstance(graph, Graph):
            raise InputTypeError(
                "graph must be the graph of the fit",
                type(graph).__name__,
                "give the text_graph_ of the model that was saved, or leave it out",
                argument="graph",
            )
        _attach(model, graph)
    return model


def _restored(header: dict[str, Any], tensors: Tensors) -> TextSGCClassifier:
    text = header["text"]
    builder = TextGraphBuilder(**text["builder"])
    model = TextSGCClassifier(builder, **restored_parameters(text["parameters"]))
    model.adopt(rebuild({**header, "estimator": "SGCClassifier"}, tensors))
    model.n_documents_, model.text_graph_ = text["n_documents"], None
    model.word_scores_, model.class_prior_ = tensors["word_scores"], tensors["class_prior"]
    if not all(isinstance(word, str) for word in text["vocabulary"]):
        raise ValueError("words that are no texts")
    vocabulary = np.array(text["vocabulary"], dtype=object)
    model.words_ = WordTable(builder, vocabulary, tensors["idf"], tensors["word_degrees"])
    return model


def _check(model: TextSGCClassifier) -> None:
    """Raise a ValueError that names the first part that does not fit the others."""
    table, nodes = model.words_, model.coef_.shape[1]
    words, n_documents = len(table.vocabulary), model.n_documents_
    if not isinstance(n_documents, int) or isinstance(n_documents, bool) or n_documents + words != nodes:
        raise ValueError(f"{n_documents!r} documents and {words} words of {nodes} nodes")
    if model.n_hops_ < 1 or not model.linear_.uses_identity_ or model.linear_.normalization_ != "sym":
        raise ValueError("no model over a graph of documents and words")
    arrays = {
        "coef": (model.coef_, model.coef_.shape),
        "word_scores": (model.word_scores_, (model.n_hops_, words, len(model.coef_))),
        "class_prior": (model.class_prior_, (len(model.classes_),)),
        "idf": (table.idf, (words,)),
        "word_degrees": (table.degrees, (words,)),
    }
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
            f"graph must be the one that the model was fitted on, of {counted(n, 'node')}",
            f"{counted(graph.n_nodes, 'node')} or other edges",
            "give the graph that was saved beside it",
            argument="graph",
        )
    model.text_graph_ = TextGraph(graph, table.vocabulary, table.idf, table.builder)
