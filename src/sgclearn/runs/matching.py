"""Labels and predictions of the same samples, matched by id and restricted to a split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.features import read_labels
from sgclearn.graph import NodeIds
from sgclearn.runs.place import LABELS, PREDICTIONS
from sgclearn.runs.predictions import read_predictions
from sgclearn.runs.run import Run
from sgclearn.tables import id_array, open_table

Columns = dict[str, NDArray[Any]]
ALL = "all"


@dataclass(frozen=True, eq=False)
class Matched:
    """True and predicted columns of the same m samples.

    Parameters
    ----------
    truth, guess : dict of arrays (m,)
    which : str
        Which labels were taken, in words.
    n_train : int
        How many of them are for training.
    """

    truth: Columns
    guess: Columns
    which: str
    n_train: int

    @property
    def n(self) -> int:
        """M."""
        return len(next(iter(self.truth.values())))


def match_files(labels: Path, predictions: Path, split: str | None = None) -> Matched:
    """Match a table of classes with one of predicted classes.

    Parameters
    ----------
    labels : Path
        Table of id, label and, if wanted, split.
    predictions : Path
        Table with the columns id and label.
    split : {"train", "val", "test", "all"}, optional
        Labels to compare with; test if not given, all where there is no split.
    """
    truth, guess = read_labels(labels), read_predictions(predictions)
    which, taken, rows, n_train = _match(labels, truth.ids, truth.splits, predictions, guess.ids, split)
    y, f = truth.values[taken], guess.values[rows]
    if isinstance(y.tolist()[0], str) != isinstance(f.tolist()[0], str):
        y, f = (np.array([str(value) for value in values.tolist()], dtype=object) for values in (y, f))
    return Matched({"label": y}, {"label": f}, which, n_train)


def match_run(run: Run, split: str | None = None) -> Matched:
    """Match the labels of a run with its predictions; parameters are those of `match_files`."""
    labels, predictions = run.path(LABELS), run.path(PREDICTIONS)
    targets = run.metrics()["data"].get("targets")
    if targets is None:
        return match_files(labels, predictions, split)
    ids, truth, splits = _values(labels, targets)
    guess_ids, guess, _ = _values(predictions, targets)
    which, taken, rows, n_train = _match(labels, ids, splits, predictions, guess_ids, split)
    return Matched(
        {name: column[taken] for name, column in truth.items()},
        {name: column[rows] for name, column in guess.items()},
        which,
        n_train,
    )


def _values(path: Path, targets: list[str]) -> tuple[NDArray[Any], Columns, NDArray[Any] | None]:
    """Ids, targets and splits of a table that a run wrote."""
    table = open_table(path).read(text_columns=["id"])
    names = [name for name in targets if name in table.column_names]
    columns = {name: table.column(name).cast("float64").to_numpy() for name in names}
    splits = (
        np.array(table.column("split").to_pylist(), dtype=object) if "split" in table.column_names else None
    )
    return id_array(table.column("id")), columns, splits


def _match(
    labels: Path,
    ids: NDArray[Any],
    splits: NDArray[Any] | None,
    predictions: Path,
    predicted: NDArray[Any],
    split: str | None,
) -> tuple[str, NDArray[np.bool_], NDArray[np.intp], int]:
    """Which labels, their rows in the one table and in the other, and how many are for training."""
    which, taken = _chosen(labels, ids, splits, split)
    rows = NodeIds(predicted).lookup(ids[taken])
    if (rows < 0).any():
        first = ids[taken][rows < 0][:1].tolist()[0]
        raise InputError(
            f"{predictions} must have a prediction for every label that is compared",
            f"none for {int((rows < 0).sum()):,} of {len(rows):,}, the first is {first!r}",
            "predict these nodes too",
        )
    return which, taken, rows, 0 if splits is None else int((splits[taken] == "train").sum())


def _chosen(
    path: Path, ids: NDArray[Any], splits: NDArray[Any] | None, split: str | None
) -> tuple[str, NDArray[np.bool_]]:
    if splits is None and split not in (None, ALL):
        raise InputError(
            "split needs labels with a split", f"{path} without", "add a split column", argument="split"
        )
    if split is None:
        split = "test" if splits is not None and "test" in splits.tolist() else ALL
    if split == ALL or splits is None:
        return "all labels", np.ones(len(ids), dtype=bool)
    taken = np.asarray(splits == split)
    if not taken.any():
        raise InputError(
            f"{path} must have labels of the split {split}", "none", "choose another split", argument="split"
        )
    return f"{split} labels", taken
