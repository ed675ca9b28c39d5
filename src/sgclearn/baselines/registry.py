"""The baselines by name, each with its place and the task that it serves: a new one is known by its line here."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple


class Registered(NamedTuple):
    """Module and name of a class that has the methods of `Baseline`, imported when it is asked for, and its task."""

    module: str
    attribute: str
    task: str = "nodes"

    def load(self) -> Any:
        """The class."""
        return getattr(importlib.import_module(self.module), self.attribute)


_ROOM = "sgclearn.baselines"
BASELINES = {
    "logistic-regression": Registered(f"{_ROOM}.plain", "LogisticRegression"),
    "label-propagation": Registered(f"{_ROOM}.plain", "LabelPropagation"),
    "gcn": Registered(f"{_ROOM}.convolution", "GCN"),
    "gat": Registered(f"{_ROOM}.attention", "GAT"),
    "fastgcn": Registered(f"{_ROOM}.fastgcn", "FastGCN"),
    "gin": Registered(f"{_ROOM}.gin", "GIN"),
    "lnet": Registered(f"{_ROOM}.lanczos", "LNet"),
    "adalnet": Registered(f"{_ROOM}.adalnet", "AdaLNet"),
    "dgi": Registered(f"{_ROOM}.dgi", "DGI"),
    "gln": Registered(f"{_ROOM}.convolution", "GLN"),
    "agnn": Registered(f"{_ROOM}.attention", "AGNN"),
    "deepwalk": Registered(f"{_ROOM}.deepwalk", "DeepWalk"),
    "sage": Registered(f"{_ROOM}.sage", "GraphSAGE"),
    "unsupervised-sage": Registered(f"{_ROOM}.unsupervised", "UnsupervisedSAGE"),
    "gaan": Registered(f"{_ROOM}.gaan", "GaAN"),
    "mlp": Registered(f"{_ROOM}.convolution", "MLP"),
    "textgcn": Registered(f"{_ROOM}.textgcn", "TextGCN", "text"),
}
