"""A fitted `ZeroShotSGC` as a file, and back."""

from __future__ import annotations

import os

import numpy as np

from sgclearn.errors import ModelFileError
from sgclearn.persist.container import read_container, write_container
from sgclearn.persist.models import restoring
from sgclearn.tasks.zeroshot.model import ZeroShotSGC
from sgclearn.tasks.zeroshot.regression import DualRidge, Kernel

_PARAMETERS = ("solver", "n_hops", "normalization", "gamma", "missing")


def save_zero_shot(model: ZeroShotSGC, path: str | os.PathLike[str]) -> None:
    """Write the classifiers of the seen classes and their propagated vectors; the graph is not stored."""
    header = {
        "estimator": "ZeroShotSGC",
        "parameters": {name: getattr(model, name) for name in _PARAMETERS},
        "fitted": {"weight_decay": model.weight_decay_, "width": model.width_, "error": model.leave_one_out_},
    }
    tensors = {"targets": model.targets_, "rows": model.rows_, "nodes": model.nodes_.astype(np.int64)}
    write_container(path, header, tensors)


def load_zero_shot(path: str | os.PathLike[str]) -> ZeroShotSGC:
    """Read what `save_zero_shot` wrote; the model predicts the same bits."""
    header, tensors = read_container(path)
    if header.get("estimator") != "ZeroShotSGC":
        raise ModelFileError(
            f"{path} must be a model of zero-shot classification",
            f"{header.get('estimator')}",
            "check the path",
        )
    with restoring(path, "save_zero_shot"):
        fitted = header["fitted"]
        model = ZeroShotSGC(**header["parameters"])
        model.nodes_, model.targets_, model.rows_ = tensors["nodes"], tensors["targets"], tensors["rows"]
        if not len(model.nodes_) == len(model.targets_) == len(model.rows_):
            raise ValueError("tensors of different lengths")
        model.n_features_in_ = model.rows_.shape[1]
        model.weight_decay_, model.width_ = float(fitted["weight_decay"]), fitted["width"]
        model.leave_one_out_ = float(fitted["error"])
        alpha = model.weight_decay_ * len(model.nodes_)
        model._ridge = DualRidge([Kernel(model.width_)], [alpha]).fit(model.rows_, model.targets_)
    return model
