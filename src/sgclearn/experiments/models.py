"""The models that an experiment can name: SGC and the baselines; each is imported when an experiment runs it."""

from __future__ import annotations

import inspect
from typing import Any

from sgclearn.baselines import BASELINES, Baseline
from sgclearn.baselines.registry import Registered
from sgclearn.errors import InputError
from sgclearn.validation.parameters import Choice

MODELS = {
    "sgc": Registered("sgclearn.experiments.sgc", "SGCModel"),
    "sgc-steps": Registered("sgclearn.experiments.sgc_steps", "StepsSGCModel"),
    "text-sgc": Registered("sgclearn.experiments.text", "TextSGCModel", "text"),
    **BASELINES,
}


def model_class(name: str) -> type[Baseline]:
    """Class of a model by its name in experiments.

    Examples
    --------
    >>> model_class("textgcn").__name__
    'TextGCN'
    """
    Choice(values=tuple(MODELS)).check("model of an experiment", name)
    found: type[Baseline] = MODELS[name].load()
    return found


def build_model(name: str, settings: dict[str, Any], seed: int) -> Baseline:
    """Model with the settings of an experiment; one that it does not know is an error, never ignored."""
    kind = model_class(name)
    known = set(inspect.signature(kind).parameters) - {"random_state"}
    if unknown := sorted(set(settings) - known):
        raise InputError(f"{name} takes the settings {', '.join(sorted(known))}", repr(unknown[0]))
    build: Any = kind
    given = {name: None if value == "none" else value for name, value in settings.items()}  # TOML has no null
    model: Baseline = build(**given, random_state=seed)
    return model
