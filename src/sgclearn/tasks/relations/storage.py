"""A fitted relation model in a file: safetensors with a JSON header, without pickle.

The container is that of `sgclearn.persist.container`. Entries of the header: ``estimator``
("SGCRelationClassifier"), ``relation_version`` (1), ``parameters`` (those of the constructor, without the vectors),
``roles``, ``vocabulary`` (the clues, in the order of their columns), ``words`` (of the vectors, or null),
``fitted`` and ``classes`` as in `sgclearn.persist.models`. Tensors: ``coef`` (C, w + D), ``intercept`` (C,), ``mean``
and ``factor`` (w,), and ``vectors`` (V, d) as float32 where there are any.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sgclearn.errors import InputError, ModelFileError
from sgclearn.features import WordVectors
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
from sgclearn.tasks.relations.classifier import SGCRelationClassifier
from sgclearn.tasks.relations.clues import Vocabulary

ESTIMATOR, VERSION = "SGCRelationClassifier", 1
_FITTED = (
    "weight_decay_", "best_score_", "n_known_tokens_", "n_iter_", "converged_", "gradient_ratio_", "loss_",
)  # fmt: skip
_TENSORS = ("coef", "intercept", "mean", "factor")


def save_relation_model(model: SGCRelationClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model with its word vectors; the file appears whole or not at all."""
    if not hasattr(model, "coef_"):
        raise InputError("a model must be fitted before it is saved", "a new one", "call fit first")
    parameters = {**model.get_params(deep=False), "weight_decay": model.weight_decay_}
    vectors, roles = parameters.pop("vectors"), parameters.pop("roles")
    header: dict[str, Any] = {
        "estimator": ESTIMATOR,
        "relation_version": VERSION,
        "parameters": {name: plain_value(value, name) for name, value in parameters.items()},
        "roles": list(roles),
        "vocabulary": list(model.vocabulary_.names),
        "words": None if vectors is None else list(vectors.words),
        "fitted": {name: plain_value(getattr(model, name), name) for name in _FITTED},
    }
    tensors: Tensors = {name: getattr(model, f"{name}_") for name in _TENSORS}
    if vectors is not None:
        tensors["vectors"] = vectors.matrix
    store_classes(model.classes_, header, tensors)
    write_container(path, header, tensors)


def load_relation_model(path: str | os.PathLike[str]) -> SGCRelationClassifier:
    """Read a model that `save_relation_model` wrote; it predicts the same bits as the one that was saved."""
    header, tensors = read_container(path)
    if header.get("estimator") != ESTIMATOR:
        raise ModelFileError(
            f"{path} must be a relation model",
            f"a model of the kind {header.get('estimator')!r}",
            "check the path",
        )
    version = header.get("relation_version")
    if version != VERSION:
        raise ModelFileError(
            f"{path} must be a relation model of version {VERSION}", f"version {version}", "fit it again"
        )
    with restoring(path, "save_relation_model"):
        words = header["words"]
        vectors = None if words is None else WordVectors(words, tensors["vectors"])
        model = SGCRelationClassifier(
            vectors, roles=tuple(header["roles"]), **restored_parameters(header["parameters"])
        )
        model._check()
        for name in _FITTED:
            setattr(model, name, restored_value(header["fitted"][name]))
        for name in _TENSORS:
            setattr(model, f"{name}_", tensors[name])
        model.roles_ = tuple(header["roles"])
        model.vocabulary_ = Vocabulary(header["vocabulary"])
        model.classes_, model.scores_ = restored_classes(header, tensors), None
        model.n_dimensions_ = 0 if vectors is None else vectors.n_dimensions
        _check(model)
    return model


def _check(model: SGCRelationClassifier) -> None:
    """Raise a ValueError that names the first part that does not fit the others."""
    check_ending(model)
    classes = model.classes_.tolist()
    if (
        len(classes) < 2
        or len(set(classes)) < len(classes)
        or not all(isinstance(name, str) for name in classes)
    ):
        raise ValueError(f"{len(classes)} classes, not two or more different texts")
    names = model.vocabulary_.names
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError("clues that are no texts, or the same")
    width = len(model.roles_) * (model.n_hops + 1) * model.n_dimensions_
    shapes = {
        "coef": (len(classes), width + len(names)),
        "intercept": (len(classes),),
        "mean": (width,),
        "factor": (width,),
    }
    for name, shape in shapes.items():
        array = getattr(model, f"{name}_")
        if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"{name} of shape {array.shape}, not finite numbers {shape}")
    if model.vectors is not None and not np.isfinite(model.vectors.matrix).all():
        raise ValueError("vectors that are not finite")
