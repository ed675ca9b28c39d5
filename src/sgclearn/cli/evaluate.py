"""`sgc evaluate`: how good predictions are, with confidence intervals."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import FILES, RESULT, JsonFlag
from sgclearn.cli.output import Screen, complain, counted
from sgclearn.errors import InputError

if TYPE_CHECKING:
    from sgclearn.evaluate import Evaluation, Interval
    from sgclearn.features import Labels

COMMAND = "evaluate"
MOST_CLASSES = 15  # of a confusion matrix that a person can read
CONFUSION_GAP = 2


class Split(StrEnum):
    """Which labels to compare with."""

    train, val, test, all = "train", "val", "test", "all"


def command(
    run: Annotated[
        Path | None,
        typer.Option(help="Folder that sgc fit wrote.", rich_help_panel=FILES, show_default=False),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Table with the columns id and label.", rich_help_panel=FILES, show_default=False),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="True labels: id, label and, if wanted, split.", rich_help_panel=FILES, show_default=False
        ),
    ] = None,
    split: Annotated[
        Split | None,
        typer.Option(
            help="Labels to compare with; test if not given, all where there is no split.",
            rich_help_panel=FILES,
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Confidence of the intervals.", rich_help_panel=RESULT)
    ] = 0.95,
    as_json: JsonFlag = False,
) -> None:
    r"""Report how good predictions are.

    Accuracy, macro-F1 and the figures of every class come with confidence intervals, and with the confusion
    matrix. The labels that sgc fit held back are the test labels of its run.

    \b
    Examples:
      sgc evaluate --run run
      sgc evaluate --predictions predictions.csv --labels labels.csv --split test
    """
    from sgclearn.evaluate import evaluate_predictions

    with ExitStack() as stack:
        truth_file, guess_file = _files(run, predictions, labels, stack)
        which, n_train, truth, guess = _matched(truth_file, guess_file, split)
    warning = None
    if n_train:
        which = which if split is Split.train else f"{which}, {n_train:,} of them for training"
        warning = (
            f"{n_train:,} of the {len(truth):,} labels are training labels, which a model knows by heart, so "
            "that the figures are too good: hold labels back with sgc fit --held-out, or name others with --split."
        )
        complain(f"warning: {warning}")
    evaluation = evaluate_predictions(truth, guess, confidence=confidence)
    screen = Screen(as_json)
    screen.field("Compared", f"{counted(evaluation.n, 'node')} ({which}) of {truth_file} with {guess_file}")
    _show(screen, evaluation)
    screen.document(
        {
            "labels": truth_file,
            "predictions": guess_file,
            "split": which,
            "warning": warning,
            **evaluation.to_dict(),
        }
    )


def _files(
    run: Path | None, predictions: Path | None, labels: Path | None, stack: ExitStack
) -> tuple[Path, Path]:
    """Files of true and predicted labels; those of a run belong together when `stack` is closed."""
    from sgclearn.runs.place import LABELS, PREDICTIONS
    from sgclearn.runs.run import Run

    if run is not None and predictions is None and labels is None:
        opened = stack.enter_context(Run.open(run))
        return opened.path(LABELS), opened.path(PREDICTIONS)
    if run is None and predictions is not None and labels is not None:
        return labels, predictions
    raise InputError(
        "evaluate needs either --run, or --predictions and --labels: got "
        + (_given(run=run, predictions=predictions, labels=labels) or "none of them")
        + "; name a folder that sgc fit wrote, or both files."
    )


def _given(**options: Path | None) -> str:
    return " and ".join(f"--{name}" for name, value in options.items() if value is not None)


def _matched(
    truth_file: Path, guess_file: Path, split: Split | None
) -> tuple[str, int, list[Any], list[Any]]:
    """Which labels were taken, how many of them are for training, and true and predicted class of each."""
    from sgclearn.features import read_labels
    from sgclearn.graph import NodeIds
    from sgclearn.runs.predictions import read_predictions

    labels, predicted = read_labels(truth_file), read_predictions(guess_file)
    which, taken = _chosen(truth_file, labels, split)
    ids = labels.ids[taken]
    rows = NodeIds(predicted.ids).lookup(ids)
    if (rows < 0).any():
        first = ids[rows < 0][:1].tolist()[0]
        raise InputError(
            f"{guess_file} must have a prediction for every label that is compared: got none for "
            f"{int((rows < 0).sum()):,} of {len(ids):,}, the first is {first!r}; predict these nodes too."
        )
    truth, guess = labels.values[taken].tolist(), predicted.values[rows].tolist()
    if isinstance(truth[0], str) != isinstance(guess[0], str):
        truth, guess = [str(value) for value in truth], [str(value) for value in guess]
    n_train = 0 if labels.splits is None else int((labels.splits[taken] == "train").sum())
    return which, n_train, truth, guess


def _chosen(path: Path, labels: Labels, split: Split | None) -> tuple[str, Any]:
    import numpy as np

    if labels.splits is None and split not in (None, Split.all):
        raise InputError(f"--split needs labels with a split: got {path} without; add a split column.")
    if split is None:
        split = Split.test if labels.splits is not None and "test" in labels.splits.tolist() else Split.all
    if split is Split.all or labels.splits is None:
        return "all labels", np.ones(len(labels.ids), dtype=bool)
    taken = labels.splits == split.value
    if not taken.any():
        raise InputError(
            f"{path} must have labels of the split {split.value}: got none; choose another --split."
        )
    return f"{split.value} labels", taken


def _show(screen: Screen, evaluation: Evaluation) -> None:
    screen.field("Accuracy", _spelled(evaluation.accuracy, evaluation.confidence))
    screen.field("Macro-F1", _spelled(evaluation.macro_f1, evaluation.confidence))
    rows = [
        (str(row.label), str(row.precision), str(row.recall), str(row.f1), f"{row.support:,}")
        for row in evaluation.per_class
    ]
    screen.table(("class", "precision", "recall", "F1", "nodes"), rows)
    if not _show_confusion(screen, evaluation):
        mistakes = [(str(a), str(b), f"{count:,}") for a, b, count in evaluation.top_confusions()]
        screen.table(("class", "predicted as", "nodes"), mistakes, left=2, title="Most frequent mistakes")


def _show_confusion(screen: Screen, evaluation: Evaluation) -> bool:
    """Show the matrix, its columns numbered to be narrow; False where it is too large to be read."""
    numbers = [str(number) for number in range(1, len(evaluation.classes) + 1)]
    rows = [
        (number, str(label), *(str(count) if count else "." for count in counts))
        for number, label, counts in zip(
            numbers, evaluation.classes, evaluation.confusion.tolist(), strict=True
        )
    ]
    header = ("", "class", *numbers)
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    if len(numbers) > MOST_CLASSES or sum(widths) + CONFUSION_GAP * len(widths) > screen.width:
        return False
    title = "Confusion matrix: a row is a class, a column what it was predicted as"
    screen.table(header, rows, left=2, title=title, gap=CONFUSION_GAP)
    return True


def _spelled(interval: Interval, confidence: float) -> str:
    return f"{interval.value:.3f} ({confidence * 100:g} % interval {interval.low:.3f} to {interval.high:.3f})"
