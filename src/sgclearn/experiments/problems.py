"""The data of an experiment: what a model may see, and the labels it is judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.tasks.protocol import Samples

Score = Callable[[NDArray[Any], NDArray[Any]], dict[str, float]]
"""Scores by name, from the labels of some samples and what was predicted for them."""


def accuracy(y: NDArray[Any], predicted: NDArray[Any]) -> dict[str, float]:
    """Share of the samples whose class is right, in percent."""
    return {"accuracy": 100.0 * float((predicted == y).mean())}


@dataclass(frozen=True)
class Problem:
    """Data of one run: a model is fitted on `seen` and predicts the samples of `asked`; `whole` has their labels.

    `seen` has no label outside of training and validation. `asked` is the same, but for inductive problems.
    """

    seen: Samples
    asked: Samples
    whole: Samples
    score: Score = accuracy

    @classmethod
    def of(cls, samples: Samples, score: Score = accuracy) -> Problem:
        """Hide the test labels of samples."""
        seen = showing(samples, "train", "val")
        return cls(seen, seen, samples, score)

    def scores(self, predicted: NDArray[Any]) -> dict[str, float]:
        """Scores on the validation and test samples."""
        found: dict[str, float] = {}
        for part in ("val", "test"):
            rows = self.whole.where(part)
            if len(rows):
                scores = self.score(self.whole.y[rows], predicted[rows])
                found |= {f"{part}_{name}": value for name, value in scores.items()}
        return found


def showing(samples: Samples, *splits: str) -> Samples:
    """The samples with the labels of some splits alone; the others are in no split."""
    rows, split = samples.where(*splits), np.full(len(samples.split), None, dtype=object)
    split[rows] = samples.split[rows]
    return replace(samples, y=samples.labels(*splits), split=split)


# What is loaded once for all runs, and the data of the run with a seed.
RunData = Callable[[int], Problem]
