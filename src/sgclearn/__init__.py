"""Simple Graph Convolution as a scikit-learn estimator: `softmax(S^K X Theta + b)`.

Public names load on first use, so that `import sgclearn` stays fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sgclearn.version import __version__ as __version__

if TYPE_CHECKING:
    from sgclearn.datasets import GraphDataset, list_datasets, load_dataset
    from sgclearn.estimators import (
        SGCClassifier,
        SGCClassifierCV,
        SGCMultilabelClassifier,
        SGCRegressor,
        SGCRegressorCV,
    )
    from sgclearn.evaluate import evaluate_predictions
    from sgclearn.explain import Explainer, Explanation
    from sgclearn.features import Features, Labels, read_features, read_labels
    from sgclearn.graph import Graph, read_edges
    from sgclearn.operators import Operator
    from sgclearn.persist import load_model, save_model
    from sgclearn.propagation import Compute, SGCTransformer, propagate
    from sgclearn.tasks.graphs import SGCGraphClassifier
    from sgclearn.tasks.relations import SGCRelationClassifier
    from sgclearn.tasks.text import TextSGCClassifier

_ROOM_OF = {
    "Explainer": "explain",
    "Explanation": "explain",
    "Graph": "graph",
    "read_edges": "graph",
    "Features": "features",
    "Labels": "features",
    "read_features": "features",
    "read_labels": "features",
    "GraphDataset": "datasets",
    "load_dataset": "datasets",
    "list_datasets": "datasets",
    "Operator": "operators",
    "Compute": "propagation",
    "propagate": "propagation",
    "SGCTransformer": "propagation",
    "SGCClassifier": "estimators",
    "SGCClassifierCV": "estimators",
    "SGCMultilabelClassifier": "estimators",
    "SGCRegressor": "estimators",
    "SGCRegressorCV": "estimators",
    "evaluate_predictions": "evaluate",
    "save_model": "persist",
    "load_model": "persist",
    "TextSGCClassifier": "tasks.text",
    "SGCRelationClassifier": "tasks.relations",
    "SGCGraphClassifier": "tasks.graphs",
}

__all__ = [
    "Compute",
    "Explainer",
    "Explanation",
    "Features",
    "Graph",
    "GraphDataset",
    "Labels",
    "Operator",
    "SGCClassifier",
    "SGCClassifierCV",
    "SGCGraphClassifier",
    "SGCMultilabelClassifier",
    "SGCRegressor",
    "SGCRegressorCV",
    "SGCRelationClassifier",
    "SGCTransformer",
    "TextSGCClassifier",
    "evaluate_predictions",
    "list_datasets",
    "load_dataset",
    "load_model",
    "propagate",
    "read_edges",
    "read_features",
    "read_labels",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'sgclearn' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"sgclearn.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
