"""`sgc evaluate`: how good predictions are, with confidence intervals."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import JsonFlag
from sgclearn.cli.output import Screen, complain, counted, title_of
from sgclearn.errors import InputError
from sgclearn.runs.place import LABELS, PREDICTIONS
from sgclearn.tasks.options import FILES, RESULT

if TYPE_CHECKING:
    from sgclearn.evaluate import Evaluation, Interval

COMMAND = "evaluate"
MOST_CLASSES = 15  # of a confusion matrix that a person can read
CONFUSION_GAP = 2


class Split(StrEnum):
    """Which labels to compare with."""

    train, val, test, all = "train", "val", "test", "all"


def command(
    run: Annotated[Path | None, typer.Argument(help="Folder that a fit wrote.", show_default=False)] = None,
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
      sgc evaluate run
      sgc evaluate --predictions predictions.csv --labels labels.csv --split test
    """
    from sgclearn.runs.matching import match_files, match_run
    from sgclearn.runs.run import Run
    from sgclearn.tasks import TASKS, get_task

    which = None if split is None else split.value
    if run is not None and predictions is None and labels is None:
        with Run.open(run) as opened:
            task = get_task(opened.task if opened.task in TASKS else "nodes")
            matched = match_run(opened, which)
        labels, predictions = run / LABELS, run / PREDICTIONS
    elif run is None and predictions is not None and labels is not None:
        task, matched = get_task("nodes"), match_files(labels, predictions, which)
    else:
        raise InputError(
            "evaluate needs either RUN, or --predictions and --labels",
            _given(run, predictions, labels) or "none of them",
            "name a folder that sgc fit wrote, or both files",
        )
    warning, words = None, matched.which
    if matched.n_train:
        if split is not Split.train:
            words += f", {matched.n_train:,} of them for training"
        warning = (
            f"{matched.n_train:,} of the {matched.n:,} labels are training labels, which a model knows by heart, so "
            "that the figures are too good: hold labels back with sgc fit --held-out, or name others with --split."
        )
        complain(f"warning: {warning}")
    evaluation = task.score(matched.truth, matched.guess, confidence=confidence)
    screen = Screen(as_json)
    screen.field("Compared", f"{counted(evaluation.n, task.unit)} ({words}) of {labels} with {predictions}")
    show_evaluation(screen, evaluation)
    screen.document(
        {
            "labels": labels,
            "predictions": predictions,
            "split": words,
            "warning": warning,
            **evaluation.to_dict(),
        }
    )


def _given(run: Path | None, predictions: Path | None, labels: Path | None) -> str:
    given = {"RUN": run, "--predictions": predictions, "--labels": labels}
    return " and ".join(name for name, value in given.items() if value is not None)


def show_evaluation(screen: Screen, evaluation: Any) -> None:
    """Show scores with their intervals, then their tables."""
    for name, interval in evaluation.headline().items():
        screen.field(title_of(name), _spelled(interval, evaluation.confidence))
    for table in evaluation.tables():
        screen.table(table.header, table.rows, left=table.left, title=table.title)
    if hasattr(evaluation, "confusion") and not _show_confusion(screen, evaluation):
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
