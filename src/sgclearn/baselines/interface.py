"""What a model has to offer to stand beside SGC in a table."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sgclearn.datasets import GraphDataset

OnStep = Callable[[int, int], None]


class Baseline(ABC):
    """A model with fixed settings: fitted on a dataset once, it predicts the class of every node.

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
    """

    seconds_: float
    cpu_seconds_: float
    n_parameters_: int
    details_: dict[str, Any]
    # Optional packages that a fit needs, each with the extra that brings it.
    requires: ClassVar[tuple[tuple[str, str], ...]] = ()

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Set `seconds_` and `cpu_seconds_` to what the block takes."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds_, self.cpu_seconds_ = time.perf_counter() - wall, time.process_time() - cpu

    @abstractmethod
    def fit(self, data: GraphDataset, on_step: OnStep | None = None) -> Self:
        """Train on the labels of `data.train`, and stop or choose by those of `data.val`.

        Parameters
        ----------
        data : GraphDataset
            No label outside of training and validation nodes may be read, and the runner hands out none.
        on_step : callable, optional
            Called as `on_step(done, at_most)` after every epoch or iteration, for progress.
        """

    @abstractmethod
    def predict(self, data: GraphDataset) -> NDArray[np.intp]:
        """Class of every node of `data` (n,), as positions in `class_names`."""
