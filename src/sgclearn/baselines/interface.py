"""What a model has to offer to stand beside SGC in a table."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.runs.splits import has_label
from sgclearn.tasks.protocol import Samples

OnStep = Callable[[int, int], None]


class Baseline(ABC):
    """A model with fixed settings: fitted on samples once, it predicts those and others.

    The settings are arguments of the constructor, `random_state` among them, so that a recipe can name them.

    Attributes
    ----------
    seconds_ : float
        Wall time of the training, from the graph to the last step, preparation of the graph included. What is done
        once and for all models alike (reading, building a graph of documents) is outside.
    cpu_seconds_ : float
        Processor time of the same, over all threads: other programs disturb it less.
    n_parameters_ : int
        Numbers that the training sets.
    details_ : dict
        What else a result should say, such as the number of epochs; plain numbers and texts.
    classes_ : array (C,)
        Of a classifier: the classes it was trained with, sorted.
    """

    seconds_: float
    cpu_seconds_: float
    n_parameters_: int
    details_: dict[str, Any]
    classes_: NDArray[Any]
    # Optional packages that a fit needs, each with the extra that brings it.
    requires: ClassVar[tuple[tuple[str, str], ...]] = ()

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Set `seconds_` and `cpu_seconds_` to what the block takes."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds_, self.cpu_seconds_ = time.perf_counter() - wall, time.process_time() - cpu

    @abstractmethod
    def fit(self, samples: Samples, on_step: OnStep | None = None) -> Self:
        """Train on the labels of the split "train", and stop or choose by those of "val".

        Parameters
        ----------
        samples : Samples
            No label outside of training and validation may be read, and the runner hands out none.
        on_step : callable, optional
            Called as `on_step(done, at_most)` after every epoch or iteration, for progress.
        """

    @abstractmethod
    def predict(self, samples: Samples) -> NDArray[Any]:
        """Label of every sample (m,), or its numbers, as `samples.y` has them."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The labels that a classifier may read: training and validation samples, and classes as numbers.

    Parameters
    ----------
    names : array (C,)
        The classes, sorted.
    train, val : integer arrays
        Samples of the splits.
    codes : integer array (m,)
        Place of each label in `names`, -1 where there is none.
    """

    names: NDArray[Any]
    train: NDArray[np.intp]
    val: NDArray[np.intp]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, model: Any, samples: Samples, needs_val: bool = True) -> Classes:
        """Labels of the samples; an error where training labels, or validation labels that are needed, are missing.

        The model keeps `classes_`, and the sizes that `check_features` and `check_nodes` compare with.
        """
        train, val = samples.where("train"), samples.where("val")
        if len(train) == 0 or (needs_val and len(val) == 0):
            raise InputError(
                f"{type(model).__name__} needs training{' and validation' if needs_val else ''} samples",
                f"{len(train)} and {len(val)}",
                f"give the data a split that has them{', or set patience=0' if hasattr(model, 'patience') else ''}",
            )
        y = samples.labels("train", "val")
        known = has_label(y)
        names, places = np.unique(y[known], return_inverse=True)
        codes = np.full(len(y), -1, dtype=np.int64)
        codes[known] = places
        model.classes_, model.n_nodes_, model.n_features_in_ = (
            names,
            samples.graph.n_nodes,
            n_features(samples),
        )
        return cls(names, train, val, codes)

    def __len__(self) -> int:
        return len(self.names)


def n_features(samples: Samples) -> int:
    """Columns of the features; those of the identity where there are none."""
    return int(samples.graph.n_nodes if samples.X is None else samples.X.shape[1])


def check_features(model: Any, samples: Samples) -> None:
    """Raise unless the model is fitted, and to as many features."""
    _check_size(
        model, "n_features_in_", n_features(samples), "features", "predict on data with the same columns"
    )


def check_nodes(model: Any, samples: Samples) -> None:
    """Raise unless the model is fitted, and to a graph of as many nodes."""
    _check_size(model, "n_nodes_", samples.graph.n_nodes, "nodes", "fit it on the graph that has them all")


def _check_size(model: Any, attribute: str, size: int, what: str, remedy: str) -> None:
    name = type(model).__name__
    if not hasattr(model, attribute):
        raise InputError(f"{name} must be fitted before it predicts", remedy="call fit first")
    if size != getattr(model, attribute):
        raise InputError(f"{name} was fitted to {getattr(model, attribute):,} {what}", f"{size:,}", remedy)
