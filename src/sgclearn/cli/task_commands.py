"""Commands that every task has, built from the options that it names: fit, predict, evaluate."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sgclearn.cli.options import (
    ForceFlag,
    JsonFlag,
    RunFolder,
    RunToWrite,
    TableToWrite,
    help_of,
    with_options,
)
from sgclearn.cli.output import TITLES, Screen, check_new_file, counted
from sgclearn.errors import InputError

if TYPE_CHECKING:
    from sgclearn.propagation.planner import Plan
    from sgclearn.runs.predictions import Predictions
    from sgclearn.tasks.driver import Fit
    from sgclearn.tasks.protocol import Samples, Task

# Modules with commands that one task has besides those of all.
MORE_COMMANDS = {"relations": ("relations_explain",)}


def fit_and_show(task: Task, data: Any, model: Any, out: Path | None, force: bool, as_json: bool) -> None:
    """Read samples, fit the candidates, write the run, and show how good they are."""
    from sgclearn.runs.run import Run
    from sgclearn.tasks import driver
    from sgclearn.tasks.options import settings_of

    screen = Screen(as_json)
    with Run.create(out, force=force) as place:
        with screen.progress() as stages:
            samples = driver.read(task, data, on_stage=stages.stage)
        show_samples(screen, samples, task.remarks(samples, model))
        candidates = task.candidates(samples, model)
        plan, excess = task.plan(samples, candidates[-1])
        if plan is not None:
            show_plan(screen, plan)
        if excess is not None:
            raise excess
        settings = {**settings_of(data, model), "data": samples.name, "seed": samples.seed}
        with screen.progress() as stages:
            fit = driver.fit(
                task,
                samples,
                model,
                place,
                candidates=candidates,
                settings=settings,
                on_stage=stages.stage,
            )
    _show_fit(screen, task, fit)


def show_samples(screen: Screen, samples: Samples, remarks: list[str]) -> None:
    """Say in a line what was read, and what is done to it without having been asked."""
    screen.field("Data", str(samples))
    screen.field("Labels", samples.split_sizes)
    for remark in remarks:
        screen.field("", remark)


def _show_fit(screen: Screen, task: Task, fit: Fit) -> None:
    from sgclearn.tasks.probabilities import probabilities_in_words

    _show_trials(screen, fit)
    for table in task.tables(fit.samples, fit.model):
        screen.table(table.header, table.rows, left=table.left, title=table.title)
    screen.line()
    if (told := probabilities_in_words(fit.metrics["probabilities"])) is not None:
        screen.field("Trust", f"probabilities are {told}")
    if fit.metrics["advice"] is not None:
        screen.field("Advice", fit.metrics["advice"])
    folder = fit.run.folder
    files = [*((file.name, file.meaning) for file in fit.files), ("run.json", "settings and versions")]
    screen.table(("written to " + str(folder), ""), files, left=2)
    screen.line(f"\nnext: {task.next_step.format(run=folder)}")
    screen.document({**fit.metrics, "folder": folder, "files": {name: folder / name for name, _ in files}})


def _show_trials(screen: Screen, fit: Fit) -> None:
    evaluation = fit.trials[-1].evaluation
    names = [] if evaluation is None else [TITLES.get(name, name) for name in evaluation.headline()]
    header = ["hops", "model", "weight decay", "validation" if len(fit.samples.where("val")) else "folds"]
    header += [f"test {name}" if position == 0 else name for position, name in enumerate(names)]
    rows = []
    for trial in fit.trials:
        decay = getattr(trial.model, "weight_decay_", None)
        row = ["-" if trial.candidate.n_hops is None else str(trial.candidate.n_hops), trial.candidate.name]
        row += ["-" if decay is None else f"{decay:.3g}"]
        row += ["-" if trial.validation is None else f"{trial.validation:.3f}"]
        if trial.evaluation is not None:
            first, *others = trial.evaluation.headline().values()
            row += [str(first), *(f"{interval.value:.3f}" for interval in others)]
        rows.append([*row, f"{trial.seconds:.2f} s"])
    kind = names[0].capitalize() if names and not fit.samples.is_numeric else "Accuracy"
    kind = "Scores" if fit.samples.is_numeric else kind
    title = f"{kind}, with 95 % intervals on the test labels" if names else kind
    screen.table([*header, "time"], rows, left=2, title=title)


def show_predictions(
    screen: Screen, predictions: Predictions, out: Path | None, min_confidence: float | None = None
) -> None:
    """Write predictions to a file, or show them; classes only where they are sure enough."""
    from sgclearn.runs.predictions import ClassPredictions

    if min_confidence is not None:
        if not isinstance(predictions, ClassPredictions):
            raise InputError(
                "min_confidence goes with classes",
                "a run of numbers",
                "leave it out",
                argument="min_confidence",
            )
        predictions = predictions.answered(min_confidence)
        unsure = sum(label is None for label in predictions.labels.tolist())
        if out is not None:
            screen.line(f"{counted(unsure, 'label')} left empty below a confidence of {min_confidence:g}")
    if out is not None:
        predictions.write(out)
        screen.line(f"{counted(len(predictions.ids), 'prediction')} written to {out}")
    else:
        screen.predictions(predictions)
    screen.document({"predictions": predictions.records()} if out is None else {"written": out})


def predict_and_show(
    task: Task,
    run: Path,
    new: Any,
    out: Path | None,
    force: bool,
    as_json: bool,
    min_confidence: float | None = None,
) -> None:
    """Predict new samples of a run, or its own again."""
    from sgclearn.runs.run import Run
    from sgclearn.tasks import driver

    screen = Screen(as_json)
    check_new_file(out, force)
    with screen.progress() as stages:
        predictions = driver.predict(task, Run.open(run), new, on_stage=stages.stage)
    show_predictions(screen, predictions, out, min_confidence)


def measure_and_show(task: Task, run: Path, given: Any, as_json: bool) -> None:
    """Measure a run on labelled samples, and show the scores."""
    from sgclearn.cli.evaluate import show_evaluation
    from sgclearn.runs.run import Run

    screen = Screen(as_json)
    opened = Run.open(run)
    opened.require(task.name)
    with screen.progress() as stages, opened:
        evaluation = task.measure(opened, task.load(opened), given, stages.stage)
    show_evaluation(screen, evaluation)
    screen.document(evaluation.to_dict())


def task_app(task: Task) -> typer.Typer:
    """The commands of a task: `sgc <task> fit`, `predict` and `evaluate`."""
    from sgclearn.cli import evaluate

    def fit(
        *,
        data: Any,
        model: Any,
        out: RunToWrite = None,
        force: ForceFlag = False,
        as_json: JsonFlag = False,
    ) -> None:
        fit_and_show(task, data, model, out, force, as_json)

    def predict(
        *,
        run: RunFolder,
        new: Any,
        out: TableToWrite = None,
        force: ForceFlag = False,
        as_json: JsonFlag = False,
    ) -> None:
        predict_and_show(task, run, new, out, force, as_json)

    app = typer.Typer(help=task.summary, rich_markup_mode="rich")
    fit.__doc__ = f"Fit a model and predict every {task.unit}."
    predict.__doc__ = f"Predict new {task.unit}s of a run, or its own again."
    _add(app, fit, data=task.Data, model=task.Model)
    _add(app, predict, new=task.New)
    for name in MORE_COMMANDS.get(task.name, ()):
        module = importlib.import_module(f"sgclearn.cli.{name}")
        app.command(module.COMMAND, help=help_of(module.command))(module.command)
    if task.Measure is None:
        app.command("evaluate", help=help_of(evaluate.command))(evaluate.command)
        return app

    def measure(*, run: RunFolder, given: Any, as_json: JsonFlag = False) -> None:
        measure_and_show(task, run, given, as_json)

    measure.__name__, measure.__doc__ = (
        "evaluate",
        "Report how good a run is on samples whose labels are known.",
    )
    _add(app, measure, given=task.Measure)
    return app


def _add(app: typer.Typer, command: Callable[..., None], **groups: type[Any]) -> None:
    expanded = with_options(command, groups)
    app.command(command.__name__, help=help_of(command))(expanded)


def show_plan(screen: Screen, plan: Plan) -> None:
    """Say what was chosen, and what each way costs."""
    from sgclearn.validation.memory import format_bytes

    screen.field(
        "Plan",
        f"{plan.chosen or 'none fits into memory'}: {counted(plan.n_rows, 'labelled node')} of {plan.n_nodes:,} see "
        f"{counted(plan.neighbourhood[-1], 'node')} within {counted(plan.n_hops, 'hop')}; "
        f"estimated for one fit, where tuning makes many; up to {format_bytes(plan.memory_limit)} may be used",
    )
    rows = []
    for cost in plan.costs:
        mark = "chosen" if cost.name == plan.chosen else "" if cost.fits else "does not fit"
        work = (
            f"{cost.multiply_adds:,.0f}" if cost.multiply_adds < 1e6 else f"{cost.multiply_adds / 1e6:,.0f} M"
        )
        time = f"{cost.seconds:.3f} s" if cost.seconds >= 1e-3 else "below 1 ms"
        rows.append((cost.name, work, time, format_bytes(cost.memory), mark))
    screen.table(("way", "multiply-adds", "estimated time", "memory", ""), rows)
