"""The paper's search for settings: tree-structured Parzen estimator, judged on the validation nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sgclearn.errors import require
from sgclearn.experiments.experiment import Search
from sgclearn.experiments.results import Line, ResultFile

Settings = dict[str, float]


def search_settings(
    search: Search,
    seed: int,
    score: Callable[[Settings], float],
    results: ResultFile,
    mark: Line,
    remarks: Line,
    on_trial: Callable[[Line, bool], None],
) -> Settings:
    """Settings with the best validation score; among equals the first that was tried.

    Parameters
    ----------
    search : Search
    seed : int
    score : callable
        From settings to the validation score of a model that was trained with them.
    results : ResultFile
        Every trial becomes a line of kind "trial". The estimator is deterministic, so that a search that was
        interrupted is repeated up to where it was from the lines alone.
    mark : dict
        Fields that tell these trials from others.
    remarks : dict
        Further fields of every new line.
    on_trial : callable
        Called as `on_trial(line, is_new)` after every trial; one that was in the results already is not new.
    """
    optuna = require("optuna", "tune")
    known = {line["trial"]: line for line in results.lines("trial", **mark)}
    tried: list[tuple[float, Settings]] = []

    def objective(trial: Any) -> float:
        number = len(tried)
        settings = {
            name: trial.suggest_float(name, low, high, log=True) for name, (low, high) in search.space.items()
        }
        line = known.get(number)
        is_new = line is None or line["settings"] != settings
        if line is None or is_new:
            began = time.perf_counter()
            found = {"settings": settings, "score": score(settings)}
            spent = {"wall_seconds": time.perf_counter() - began}
            line = {"kind": "trial", **mark, "trial": number, **found, **spent, **remarks}
            results.append(line)
        tried.append((line["score"], settings))
        on_trial(line, is_new)
        return float(line["score"])

    verbosity = optuna.logging.get_verbosity()
    # An interruption is no news for a reader: as a warning it comes with a traceback.
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        study.optimize(objective, n_trials=search.trials)
    finally:
        optuna.logging.set_verbosity(verbosity)
    return max(tried, key=lambda entry: entry[0])[1]
