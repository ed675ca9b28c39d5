"""The models that a recipe can name; each is loaded when a recipe runs it."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from sgclearn.baselines import Baseline
from sgclearn.errors import InputError

# Name in a recipe: room and class. A new baseline becomes known to every recipe by a line here.
MODELS = {
    "sgc": ("sgclearn.paper.sgc", "SGCModel"),
    "sgc-steps": ("sgclearn.paper.sgc_steps", "StepsSGCModel"),
    "text-sgc": ("sgclearn.paper.sgc", "TextSGCModel"),
    "textgcn": ("sgclearn.baselines", "TextGCN"),
    "gcn": ("sgclearn.baselines", "GCN"),
    "gat": ("sgclearn.baselines", "GAT"),
    "fastgcn": ("sgclearn.baselines", "FastGCN"),
    "gin": ("sgclearn.baselines", "GIN"),
    "lnet": ("sgclearn.baselines", "LNet"),
    "adalnet": ("sgclearn.baselines", "AdaLNet"),
    "dgi": ("sgclearn.baselines", "DGI"),
    "gln": ("sgclearn.baselines", "GLN"),
    "agnn": ("sgclearn.baselines", "AGNN"),
    "deepwalk": ("sgclearn.baselines", "DeepWalk"),
    "sage": ("sgclearn.baselines", "GraphSAGE"),
    "unsupervised-sage": ("sgclearn.baselines", "UnsupervisedSAGE"),
    "gaan": ("sgclearn.baselines", "GaAN"),
    "mlp": ("sgclearn.baselines", "MLP"),
    "logistic-regression": ("sgclearn.baselines", "LogisticRegression"),
    "label-propagation": ("sgclearn.baselines", "LabelPropagation"),
}


def model_class(name: str) -> type[Baseline]:
    """Class of a model by its name in recipes.

    Examples
    --------
    >>> model_class("textgcn").__name__
    'TextGCN'
    """
    if name not in MODELS:
        raise InputError(f"model of a recipe must be one of {', '.join(MODELS)}: got {name!r}.")
    room, attribute = MODELS[name]
    found: type[Baseline] = getattr(importlib.import_module(room), attribute)
    return found


def build_model(name: str, settings: dict[str, Any], seed: int) -> Baseline:
    """Model with the settings of a recipe; one that it does not know is an error, never ignored."""
    kind = model_class(name)
    known = set(inspect.signature(kind).parameters) - {"random_state"}
    if unknown := sorted(set(settings) - known):
        raise InputError(f"{name} takes the settings {', '.join(sorted(known))}: got {unknown[0]!r}.")
    build: Any = kind
    given = {name: None if value == "none" else value for name, value in settings.items()}  # TOML has no null
    model: Baseline = build(**given, random_state=seed)
    return model
