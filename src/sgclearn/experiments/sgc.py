"""SGC itself behind the interface of the baselines, with the settings that recipes name."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sgclearn.baselines.interface import Baseline, OnStep
from sgclearn.errors import InputError
from sgclearn.estimators import SGCClassifier, SGCClassifierCV
from sgclearn.operators import keeping_loops
from sgclearn.tasks.protocol import Samples

VALIDATED = "validated"


@dataclass(eq=False, repr=False)
class SGCModel(Baseline):
    """`SGCClassifier` on samples.

    Parameters
    ----------
    n_hops : int or sequence of int
        Of several the best on the validation nodes is taken, found together with the weight decay.
    normalization, gamma, row_norm, scale, solver, max_iter, tol, learning_rate, fit_intercept, random_state
        As in `SGCClassifier`.
    weight_decay : float or "validated"
        "validated" takes the best of the warm-started path of `SGCClassifierCV` on the validation nodes. The time of
        that search is a detail (`search_seconds`), as is what it found; `seconds_` is that of the fit.
    """

    n_hops: int | Sequence[int] = 2
    _: KW_ONLY
    weight_decay: float | str = VALIDATED
    normalization: str = "sym"
    gamma: float | None = None
    row_norm: str | None = None
    scale: str | None = None
    solver: str = "lbfgs"
    max_iter: int | None = None
    tol: float = 1e-10
    learning_rate: float | None = None
    fit_intercept: bool = True
    random_state: int = 2019

    def __post_init__(self) -> None:
        check_decay(self.weight_decay)

    @property
    def options(self) -> dict[str, Any]:
        """All that hops and weight decay do not say."""
        names = [field.name for field in fields(self) if field.name not in ("n_hops", "weight_decay")]
        return {name: getattr(self, name) for name in names}

    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Fit to the training labels; see `Baseline.fit`."""
        self.details_ = {}
        with keeping_loops():
            chosen = self._chosen(samples, on_step)
            with self.timed():
                self.model_ = SGCClassifier(**chosen, **self.options)
                self.model_.fit(
                    samples.X, samples.labels("train"), graph=samples.graph, readout=samples.readout
                )
        self.fitted_to_ = samples.graph, samples.X, samples.readout
        self.details_ |= {"iterations": int(self.model_.n_iter_), "plan": self.model_.plan_.chosen}
        self.n_parameters_ = int(self.model_.coef_.size)
        if self.fit_intercept:
            self.n_parameters_ += int(self.model_.intercept_.size)
        return self

    def _chosen(self, samples: Samples, on_step: OnStep | None) -> dict[str, Any]:
        """Hops and weight decay: as they are given, or the best on the validation samples."""
        decay = None if isinstance(self.weight_decay, str) else self.weight_decay
        if decay is not None and isinstance(self.n_hops, int):
            return {"n_hops": self.n_hops, "weight_decay": decay}
        began = time.perf_counter()
        search = SGCClassifierCV(
            self.n_hops, weight_decay=None if decay is None else (decay,), **self.options
        )
        labels, validation = samples.labels("train", "val"), samples.where("val")
        parts = {"graph": samples.graph, "readout": samples.readout, "validation": validation}
        search.fit(samples.X, labels, **parts, on_step=on_step)
        best: dict[str, Any] = search.best_params_
        found = {"n_hops": int(best["n_hops"]), "weight_decay": float(best["weight_decay"])}
        self.details_ |= {**found, "search_seconds": time.perf_counter() - began}
        return found

    def predict(self, samples: Samples) -> NDArray[Any]:
        """Class of every sample; those of the fit are known already."""
        parts = samples.graph, samples.X, samples.readout
        if all(given is fitted for given, fitted in zip(parts, self.fitted_to_, strict=True)):
            return np.asarray(self.model_.transduction_)
        with keeping_loops():
            return np.asarray(self.model_.predict(samples.X, samples.graph, readout=samples.readout))


def check_decay(weight_decay: float | str) -> None:
    """Raise unless the decay is a number or "validated"."""
    if isinstance(weight_decay, str) and weight_decay != VALIDATED:
        raise InputError(
            f"weight_decay must be a number or {VALIDATED!r}",
            f"{weight_decay!r}",
            "name one of these",
            argument="weight_decay",
        )
