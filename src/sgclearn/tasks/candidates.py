"""The linear models that tasks have in common, with the weight decay given or tuned."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, Setting, SgclearnWarning
from sgclearn.estimators import SGCClassifier, SGCClassifierCV, SGCRegressor, SGCRegressorCV
from sgclearn.graph import Graph
from sgclearn.tasks.protocol import Candidate, Samples


def linear_candidates(
    samples: Samples, hops: Sequence[int], weight_decay: float | None, parameters: Mapping[str, Any]
) -> list[Candidate]:
    """One model for each number of hops.

    Parameters
    ----------
    samples : Samples
    hops : sequence of int
    weight_decay : float or None
        None is tuned on the validation labels, or in folds of the training labels; never on test labels.
    parameters : mapping
        Other arguments of the estimators.
    """
    if weight_decay is None and not can_be_tuned(samples):
        weight_decay = SGCClassifier().weight_decay
        warnings.warn(
            f"no class has two labels to tune the weight decay on: {weight_decay:g} is used; give --weight-decay.",
            SgclearnWarning,
            stacklevel=2,
        )
    if samples.is_numeric:
        return [Candidate("constant", Constant()), *_ridges(hops, weight_decay, samples.seed, parameters)]
    given = {"random_state": samples.seed, **parameters}

    def model(n_hops: int) -> Any:
        if weight_decay is None:
            return SGCClassifierCV(n_hops, **given)
        return SGCClassifier(n_hops, weight_decay=weight_decay, **given)

    return [Candidate("SGC" if k else "logistic regression", model(k), k) for k in hops]


def _ridges(
    hops: Sequence[int], weight_decay: float | None, seed: int, parameters: Mapping[str, Any]
) -> list[Candidate]:
    """Regressors; those options of the classifiers that they have not must be left as they are."""
    given = dict(parameters)
    for name, default in (("solver", "lbfgs"), ("class_weight", None)):
        if given.pop(name, default) != default:
            raise InputError(
                f"{name} goes with classes", f"it with {Setting('regression')}", "leave it out", argument=name
            )

    def model(n_hops: int) -> Any:
        if weight_decay is None:
            return SGCRegressorCV(n_hops, random_state=seed, **given)
        return SGCRegressor(n_hops, weight_decay=weight_decay, **given)

    return [Candidate("SGC" if k else "ridge regression", model(k), k) for k in hops]


class Constant:
    """The mean of the training targets, which every regression has to beat."""

    mean_: NDArray[np.float64]

    def fit(self, X: Any, y: Any, graph: Graph, readout: Any = None, **progress: Any) -> Constant:
        """Average the targets that are known; nothing else counts."""
        y = np.asarray(y, dtype=np.float64)
        self.mean_ = np.nanmean(y.reshape(len(y), -1), axis=0)
        return self

    def predict(self, X: Any, graph: Graph, nodes: Any = None, readout: Any = None) -> NDArray[np.float64]:
        """The same numbers for every sample (m, q)."""
        m = len(nodes) if nodes is not None else graph.n_nodes if readout is None else readout.shape[0]
        return np.tile(self.mean_, (m, 1))


@dataclass(frozen=True)
class Search:
    """What to choose among, and how: arguments of `SGCClassifierCV`; None is its default."""

    n_hops: Sequence[int]
    weight_decay: Sequence[float] | None = None
    normalization: Sequence[str] | None = None
    gamma: Sequence[float] | None = None
    search: str = "path"
    n_trials: int | None = None
    cv: int | None = None
    scoring: str = "accuracy"


def linear_search(samples: Samples, search: Search, parameters: Mapping[str, Any]) -> Candidate:
    """The model that chooses among the candidates of a search."""
    if search.n_trials is not None and search.search == "path":
        raise InputError(
            "n_trials goes with search tpe",
            f"{search.n_trials} with path",
            "leave it out",
            argument="n_trials",
        )
    if search.cv is not None and len(samples.where("val")):
        raise InputError(
            "cv goes with labels without validation nodes",
            f"{search.cv} and a val split",
            "leave it out",
            argument="cv",
        )
    given = {name: value for name, value in vars(search).items() if value is not None}
    return Candidate("search", SGCClassifierCV(random_state=samples.seed, **given, **parameters))


def can_be_tuned(samples: Samples) -> bool:
    """Whether there are labels to choose settings on: validation labels, or a class with two training labels."""
    if samples.is_numeric or len(samples.where("val")):
        return True
    train = samples.y[samples.where("train")].tolist()
    return len(set(train)) < len(train)
