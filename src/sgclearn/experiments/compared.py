"""Data of `sgc compare`: what `sgc fit` reads, and for every run a split of its own where none is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.datasets.loading import PER_CLASS, known_dataset
from sgclearn.datasets.splits import split_per_class
from sgclearn.errors import InputError
from sgclearn.runs.splits import DEFAULT_HELD_OUT, SPLITS, has_label, hold_out, without_labels
from sgclearn.tasks.nodes.options import NodeData
from sgclearn.tasks.nodes.reading import EMBEDDED, read_nodes
from sgclearn.tasks.protocol import OnStage, Samples, silent

DEFAULT_VALIDATION = 0.2
OTHER_STREAM = 2**32  # validation labels are drawn apart from test labels


@dataclass(frozen=True, eq=False)
class Compared:
    """Samples with the split of every run.

    Parameters
    ----------
    samples : Samples
    data : Samples or callable
        As `compare_models` takes it: with one split for all runs, or from the seed of a run to its samples.
    splits : str
        How the nodes are split, in words.
    """

    samples: Samples
    data: Samples | Callable[[int], Samples]
    splits: str


def read_compared(data: NodeData, validation: float | None, on_stage: OnStage = silent) -> Compared:
    """Read what the options name; the embedded graph if they name nothing."""
    if data.held_out is not None and not 0 < data.held_out < 1:
        raise InputError(
            "--held-out must be a share above 0 and below 1", f"{data.held_out}", "models are compared on it"
        )
    if validation is not None and not 0 < validation < 1:
        raise InputError(
            "--validation must be a share above 0 and below 1", f"{validation}", "the usual is 0.2"
        )
    samples = read_nodes(data, on_stage)
    if data.edges is None:
        name = EMBEDDED if data.dataset is None else data.dataset
        return _named(samples, name, validation)
    return _own(samples, data, DEFAULT_VALIDATION if validation is None else validation, validation)


def _named(samples: Samples, name: str, validation: float | None) -> Compared:
    if validation is not None:
        raise InputError("--validation goes with your own files", "it with a dataset", "leave it out")
    info = known_dataset(name)
    if info.per_class is None:
        return Compared(samples, samples, f"the public one in every run: {samples.split_sizes}")
    n_train, n_val = info.per_class or PER_CLASS
    known = has_label(samples.y)
    names, codes = np.unique(samples.y[known], return_inverse=True)
    y = np.full(len(known), -1)
    y[known] = codes

    def draw(seed: int) -> Samples:
        parts = split_per_class(y, n_train, n_val, None, seed, names.tolist())
        return _with_split(samples, **parts._asdict())

    words = f"drawn anew in every run: {n_train} train and {n_val} val of each class, all others test"
    return Compared(samples, draw, words)


def _own(samples: Samples, data: NodeData, share: float, given: float | None) -> Compared:
    y = samples.labels(*SPLITS)
    if samples.is_held_out:
        held_out = DEFAULT_HELD_OUT if data.held_out is None else data.held_out
        if held_out + share >= 1:
            raise InputError(
                "--held-out and --validation must leave labels to train on",
                f"{held_out:g} and {share:g}",
                "choose shares that add up to less than 1",
            )

        def draw(seed: int) -> Samples:
            test = _drawn(y, held_out, seed)
            val = _drawn(without_labels(y, test), share / (1 - held_out), seed + OTHER_STREAM)
            return _divided(samples, val, test)

        shares = f"{_percent(share)} val, {_percent(held_out)} test, the rest train"
        return Compared(samples, draw, f"drawn anew in every run: of each class {shares}")
    is_test = samples.split == "test"
    if not is_test.any():
        raise InputError(
            f"{data.labels} must have labels of the split test, on which models are compared",
            "none",
            "add some, or drop the split column",
        )
    if len(samples.where("val")):
        if given is not None:
            raise InputError(
                "--validation goes with labels without a val split",
                f"it with {data.labels}, which has one",
                "leave it out",
            )
        return Compared(samples, samples, f"as given, the same in every run: {samples.split_sizes}")
    words = f"{is_test.sum():,} test as given; val drawn anew in every run, {_percent(share)} of each class in train"
    train = samples.labels("train")
    return Compared(
        samples, lambda seed: _divided(samples, _drawn(train, share, seed + OTHER_STREAM), is_test), words
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _drawn(y: NDArray[Any], share: float, seed: int) -> NDArray[np.bool_]:
    """Whether a node is drawn, of each class the same share."""
    drawn: NDArray[np.bool_] = hold_out(y, share, seed) == "test"
    return drawn


def _divided(samples: Samples, val: NDArray[np.bool_], test: NDArray[np.bool_]) -> Samples:
    known = np.isin(np.arange(samples.n_samples), samples.where(*SPLITS))
    if not (val.any() and test.any()):
        raise InputError(
            "there must be enough labels of a class to draw validation and test nodes from",
            f"{int(known.sum())} labels of {len(samples.classes)} classes",
            "label about five of each class, or raise --validation and --held-out",
        )
    return _with_split(samples, train=known & ~val & ~test, val=val, test=test)


def _with_split(samples: Samples, **parts: NDArray[Any]) -> Samples:
    split = np.full(samples.n_samples, None, dtype=object)
    for name, rows in parts.items():
        split[rows] = name
    return replace(samples, split=split)
