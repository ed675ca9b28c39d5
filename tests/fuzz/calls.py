"""Calls of the public interface with one or two values that nobody planned for.

The callables are found: every name of `sgclearn.__all__` and of the rooms that have one, its constructor and its public
methods. A call starts from arguments that work, found by the name of the parameter, and then some are replaced. A new
name or parameter is covered without a change here; one whose name is unknown gets its default and the odd values.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sgclearn
from fuzz import odd
from fuzz.odd import describe

# Commands, campaigns of hours, and what other rooms call with arguments that they have checked. The tasks are
# here because not all of their functions check their arguments yet.
_INNER_ROOMS = frozenset(
    {"cli", "bench", "paper", "baselines", "experiments", "runs", "tables", "propagation.engines",
     "estimators.solvers", "tasks.geo", "tasks.graphs", "tasks.relations", "tasks.zeroshot"}
)  # fmt: skip
# These fetch from the network, or are the plain records that other calls return.
LEFT_OUT = frozenset(
    {"fetch_dataset", "FetchedDataset", "DatasetInfo", "Spectrum", "SpectralDensity", "ExtremeEigenvalues", "Plan",
     "SpectrumSummary", "Theorem1", "Evaluation", "ClassEvaluation", "ProbabilityEvaluation",
     "ValueEvaluation", "Interval", "Documents", "Explanation",
     "TextCorpus",
     "TextGraph", "PolynomialFilter", "Term", "Flip", "LeaveOneOut", "LabelInfluence"}
)  # fmt: skip
# Methods that scikit-learn gives to every estimator.
_INHERITED = frozenset(
    {"get_params", "set_params", "get_metadata_routing", "set_output", "get_feature_names_out"}
)


def rooms() -> list[str]:
    """The package itself, and every room below it that says what is public in it."""
    found = [""]
    for module in pkgutil.walk_packages(sgclearn.__path__, "sgclearn."):
        name = module.name.removeprefix("sgclearn.")
        if module.ispkg and name not in _INNER_ROOMS and name.partition(".")[0] not in _INNER_ROOMS:
            found += [name] if hasattr(importlib.import_module(module.name), "__all__") else []
    return found


def names_of_calls() -> list[str]:
    """`room:name` or `room:class.method` of everything that can be called."""
    found: list[str] = []
    seen: set[int] = set()
    for room in rooms():
        module = importlib.import_module(f"sgclearn.{room}" if room else "sgclearn")
        for name in module.__all__:
            thing = getattr(module, name)
            if name in LEFT_OUT or id(thing) in seen or not callable(thing):
                continue
            seen.add(id(thing))
            found.append(f"{room}:{name}")
            if inspect.isclass(thing):
                found += [f"{room}:{name}.{method}" for method in _methods(thing)]
    return found


def _methods(kind: type) -> list[str]:
    names = []
    for name in sorted(dir(kind)):
        if name.startswith(("_", "set_")) or name in _INHERITED:
            continue
        if callable(getattr(kind, name, None)):
            names.append(name)
    return names


def run_call(case: tuple[str, str], folder: Path) -> Any:
    """A case of a `Worker`: the callable of that name, with arguments drawn from the seed."""
    name, seed = case
    rng = random.Random(seed)
    np.random.seed(rng.randrange(2**32))  # noqa: NPY002 - what the code under test may draw from
    room, _, path = name.partition(":")
    module = importlib.import_module(f"sgclearn.{room}" if room else "sgclearn")
    owner_name, _, method = path.partition(".")
    owner = getattr(module, owner_name)
    if not method:
        return _call(rng, owner, owner_name, folder)
    static = inspect.getattr_static(owner, method)
    if isinstance(static, classmethod | staticmethod):
        return _call(rng, getattr(owner, method), f"{owner_name}.{method}", folder)
    instance = _instance(rng, owner, owner_name, method)
    result = _call(rng, getattr(instance, method), f"{_of(instance, owner_name)}.{method}", folder)
    if method == "fit" and hasattr(result, "coef_"):
        _follow(rng, result, folder)
    return result


def _of(instance: Any, name: str) -> str:
    params = getattr(instance, "fuzzed_", None)
    return f"{name}({params})" if params else name


def _instance(rng: random.Random, owner: Any, name: str, method: str) -> Any:
    """An object to call the method of: for a fit, one with an odd setting now and then; else one that works."""
    if hasattr(owner, "fit"):
        chosen, changed = _settings(rng, owner) if method.startswith("fit") else ({}, "")
        model = owner(**chosen)
        if not method.startswith("fit"):
            odd.fit_valid(model)
        model.fuzzed_ = changed
        return model
    return odd.VALID_OBJECTS[name](rng)


def _settings(rng: random.Random, owner: Any) -> tuple[dict[str, Any], str]:
    names = [name for name in inspect.signature(owner).parameters if name != "builder"]
    chosen: dict[str, Any] = {}
    for name in rng.sample(names, rng.choice((0, 1, 1, 2))):
        chosen[name] = odd.odd_value(rng, name)
    if rng.random() < 0.3:
        chosen.setdefault("solver", rng.choice(("adam", "sgd"))) if "solver" in names else None
    if "max_iter" in names:
        chosen.setdefault("max_iter", 20)
    return chosen, ", ".join(f"{key}={describe(value)}" for key, value in chosen.items())


def _call(rng: random.Random, function: Callable[..., Any], name: str, folder: Path) -> Any:
    arguments, positional = _arguments(rng, function, folder)
    spelled = ", ".join(
        [*map(describe, positional), *(f"{key}={describe(held)}" for key, held in arguments.items())]
    )
    (folder / ".label").write_text(f"{name}({spelled})", errors="replace")
    result = function(*positional, **arguments)
    if function.__name__ == "response":  # a formula, which gives infinity for infinity
        return None
    if inspect.isgenerator(result):
        return list(result)
    return result


def _arguments(rng: random.Random, function: Any, folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Arguments that work, of which none to three are then replaced; `path` stays in the folder."""
    parameters = inspect.signature(function).parameters.values()
    positional: list[Any] = []
    chosen: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        needed = parameter.default is parameter.empty
        if (
            needed
            or (parameter.name in ("graph", "nodes", "sample_weight", "validation") and rng.random() < 0.6)
            or (parameter.name in ("n_nodes", "n_edges") and "block" in function.__name__)
        ):
            chosen[parameter.name] = odd.valid_value(rng, parameter.name, folder)
    names = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for key in rng.sample(names, min(len(names), rng.choice((0, 1, 1, 1, 2, 3)))):
        if key not in ("figure", "progress") and not key.startswith("on_"):
            chosen[key] = odd.odd_value(rng, key) if key != "path" else odd.odd_path(rng, folder)
    return chosen, positional


def _follow(rng: random.Random, model: Any, folder: Path) -> None:
    """Use a fitted model: what was learned from odd data must still give finite numbers."""
    from fuzz.verdict import check_sound

    check_sound(model)
    if not hasattr(model, "uses_graph_"):
        return
    n_nodes = 6
    X = None if model.uses_identity_ else odd.features(model.n_features_in_)
    graph = odd.graph() if model.uses_graph_ else None
    if X is None and model.n_features_in_ != n_nodes:
        return
    nodes = rng.choice((None, [0], [5, 0, 5]))
    if not hasattr(model, "decision_function"):
        check_sound(model.predict(X, graph=graph, nodes=nodes))
        return
    check_sound(model.decision_function(X, graph=graph))
    check_sound(model.predict_proba(X, graph=graph, nodes=nodes))
