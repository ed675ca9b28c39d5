"""`sgc fit`: from edges, features and a few labels to a model and a label for every node."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import (
    MODEL,
    RESULT,
    DataOptions,
    FitOptions,
    ForceFlag,
    JsonFlag,
    OperatorOptions,
    chosen,
    with_options,
)
from sgclearn.cli.output import Screen, Stages, counted, written
from sgclearn.cli.plan import plan_fit, show_plan

if TYPE_CHECKING:
    from sgclearn.evaluate import Evaluation
    from sgclearn.tasks.protocol import Samples

COMMAND = "fit"
DEFAULT_SEED = 2019
DEFAULT_EPOCHS = 100


@with_options
def command(
    *,
    data: DataOptions,
    n_hops: Annotated[
        int,
        typer.Option(
            help="Hops K: how far a node looks; 0 is plain logistic regression.",
            rich_help_panel=MODEL,
        ),
    ] = 2,
    weight_decay: Annotated[
        float | None,
        typer.Option(
            help="Strength of the regularisation; if not given it is tuned, on the validation labels where "
            "there are any, else in folds of the training labels.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    operator: OperatorOptions,
    how: FitOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for model, predictions and metrics; sgc-run, sgc-run-2, ... if not given.",
            rich_help_panel=RESULT,
            show_default=False,
        ),
    ] = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Fit a model and label every node of the graph.

    Without files it runs on the graph inside the package. Where the labels have no split, some are held back
    and the accuracy on them is reported; the model that is written is the one that was measured, and never
    saw them. Test labels are used for that report and for nothing else.

    \b
    Examples:
      sgc fit
      sgc fit --edges e.csv --features f.csv --labels l.csv --out run
      sgc fit --edges e.csv --labels l.csv --n-hops 3 --held-out 0.1
    """
    from sgclearn.cli.inputs import read_problem
    from sgclearn.runs.predictions import ClassPredictions
    from sgclearn.runs.run import Run
    from sgclearn.tasks.driver import run_files
    from sgclearn.tasks.protocol import save

    screen = Screen(as_json)
    with Run.create(out, force=force) as place:
        folder = place.folder
        with screen.progress() as stages:
            problem = read_problem(data, stages)
        row_norm = problem.row_norm if how.row_norm is None else chosen(how.row_norm)
        parameters = {
            "normalization": operator.normalization.value,
            "gamma": operator.gamma,
            "row_norm": row_norm,
            "random_state": DEFAULT_SEED if data.seed is None else data.seed,
            **how.parameters(),
        }
        show_data(screen, problem, row_norm if how.row_norm is None else None)
        plan, excess = plan_fit(
            problem,
            n_hops,
            operator,
            row_norm=row_norm,
            evaluations=100 if how.solver.value == "lbfgs" else how.max_iter or DEFAULT_EPOCHS,
            memory_limit=how.memory_limit,
        )
        show_plan(screen, plan)
        if excess is not None:
            raise excess
        trials: list[Fitted] = []
        with screen.progress() as stages:
            for hops in sorted({0, n_hops}):
                trials.append(
                    Fitted.of(problem, hops, weight_decay, {**parameters, "compute": how.compute()}, stages)
                )
            model = trials[-1].model
            stages.stage("predicting all nodes")
            probabilities = model.predict_proba(problem.X, graph=problem.graph)
            predictions = ClassPredictions.of(problem.ids, probabilities, model.classes_)
            for trial in trials:
                trial.measure(problem, predictions if trial.model is model else None)
            metrics = _metrics(problem, trials)
            settings = {
                "data": problem.name,
                **_plain_settings(data),
                "n_hops": n_hops,
                "weight_decay": weight_decay,
                **parameters,
                "memory_limit": how.memory_limit,
            }
            stages.stage(f"writing {folder}")
            files = run_files(problem, lambda path: save(model, problem, path), predictions, metrics)
            Run.write(place, "nodes", files, settings, problem.inputs)
        _show_trials(screen, problem, trials)
        if metrics["advice"] is not None:
            screen.line()
            screen.field("Advice", metrics["advice"])
        screen.table(("written to " + str(folder), ""), written(files), left=2)
        screen.line(f"\nnext: sgc evaluate --run {folder}")
        screen.document(
            {**metrics, "folder": folder, "files": {name: folder / name for name, _ in written(files)}}
        )


def show_data(screen: Screen, problem: Samples, row_norm: str | None) -> None:
    """Say in a line what was read, and what is done to it without having been asked."""
    screen.field("Data", str(problem))
    screen.field("Labels", problem.split_sizes)
    if row_norm is not None:
        screen.field("", f"rows of the features are divided by their {row_norm} norm (--row-norm none: not)")


class Fitted:
    """A model at one number of hops, how its weight decay was found, and how good it is."""

    def __init__(self, model: Any, hops: int, validation: float | None, seconds: float) -> None:
        self.model, self.hops, self.validation, self.seconds = model, hops, validation, seconds
        self.evaluation: Evaluation | None = None

    @classmethod
    def of(
        cls, problem: Samples, hops: int, decay: float | None, parameters: dict[str, Any], stages: Stages
    ) -> Fitted:
        """Fit on the training labels; a weight decay that is not given is tuned, never on test labels."""
        from sgclearn.estimators import SGCClassifier, SGCClassifierCV

        start, name = perf_counter(), counted(hops, "hop")
        if decay is None and not _can_be_tuned(problem):
            decay = SGCClassifier().weight_decay
        if decay is not None:
            model: Any = SGCClassifier(hops, weight_decay=decay, **parameters)
            model.fit(
                problem.X,
                problem.labels("train"),
                graph=problem.graph,
                on_progress=stages.stage(f"{name}: propagating"),
                on_iteration=stages.stage(f"{name}: solving"),
            )
            return cls(model, hops, None, perf_counter() - start)
        validation = problem.where("val")
        model = SGCClassifierCV(hops, **parameters)
        model.fit(
            problem.X,
            problem.labels("train", "val"),
            graph=problem.graph,
            validation=validation if len(validation) else None,
            on_step=stages.stage(f"{name}: tuning the weight decay"),
        )
        return cls(model, hops, model.best_score_, perf_counter() - start)

    def measure(self, problem: Samples, predictions: Any = None) -> None:
        """Compare with the test labels, where there are any."""
        from sgclearn.evaluate import evaluate_predictions

        nodes = problem.where("test")
        if len(nodes) == 0:
            return
        if predictions is None:
            guess = self.model.predict(problem.X, graph=problem.graph, nodes=nodes)
        else:
            guess = predictions.labels[nodes]
        self.evaluation = evaluate_predictions(problem.y[nodes], guess)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the time it took is left out, so that the same run gives the same file."""
        return {
            "n_hops": self.hops,
            "weight_decay": self.model.weight_decay_,
            "weight_decay_tuned": self.validation is not None,
            "validation_accuracy": self.validation,
            "test_accuracy": None if self.evaluation is None else self.evaluation.accuracy._asdict(),
            "test_macro_f1": None if self.evaluation is None else self.evaluation.macro_f1._asdict(),
            "n_iter": self.model.n_iter_,
            "converged": self.model.converged_,
        }


def _can_be_tuned(problem: Samples) -> bool:
    """Whether there are labels to choose on: validation labels, or a class with two training labels."""
    import warnings

    from sgclearn.errors import SgclearnWarning

    train = problem.y[problem.where("train")].tolist()
    if len(problem.where("val")) or len(set(train)) < len(train):
        return True
    warnings.warn(
        "no class has two labels to tune the weight decay on: the default is used; give --weight-decay.",
        SgclearnWarning,
        stacklevel=2,
    )
    return False


def _metrics(problem: Samples, trials: list[Fitted]) -> dict[str, Any]:
    final = trials[-1]
    # What the machine has left now is no part of the result, which is the same on every machine.
    plan = {name: value for name, value in final.model.plan_.to_dict().items() if name != "memory_limit"}
    return {
        "data": problem.summary,
        "results": [trial.to_dict() for trial in trials],
        "advice": _advice(problem, trials),
        "evaluation": None if final.evaluation is None else final.evaluation.to_dict(),
        "plan": plan,
    }


def _advice(problem: Samples, trials: list[Fitted]) -> str | None:
    """Say so if the graph makes the predictions worse, beyond what chance explains."""
    from sgclearn.evaluate.intervals import wilson

    plain, final = trials[0], trials[-1]
    if plain is final:
        return None
    pairs: list[tuple[str, float, float, float]] = []
    if plain.validation is not None and final.validation is not None:
        n = len(problem.where("val")) or len(problem.where("train"))
        high = wilson(round(final.validation * n), n, 0.95).high
        pairs.append(("labels to tune on", plain.validation, final.validation, high))
    if plain.evaluation is not None and final.evaluation is not None:
        reached = final.evaluation.accuracy
        pairs.append(("test labels", plain.evaluation.accuracy.value, reached.value, reached.high))
    for name, without, reached_value, high in pairs:
        if without > high:
            return (
                f"the graph does not help here: on the {name} 0 hops reach {without:.3f} and "
                f"{counted(final.hops, 'hop')} {reached_value:.3f}; try --n-hops 0 or 1."
            )
    return None


def _plain_settings(data: DataOptions) -> dict[str, Any]:
    from dataclasses import asdict

    given = {name: value for name, value in asdict(data).items() if value is not None}
    return {name: getattr(value, "value", value) for name, value in given.items()}


def _show_trials(screen: Screen, problem: Samples, trials: list[Fitted]) -> None:
    has_test = len(problem.where("test")) > 0
    tuned_on = "validation" if len(problem.where("val")) else "folds"
    header = ["hops", "model", "weight decay", tuned_on]
    header += ["test accuracy", "macro-F1"] if has_test else []
    rows = []
    for trial in trials:
        name = "logistic regression" if trial.hops == 0 else "SGC"
        row = [str(trial.hops), name, f"{trial.model.weight_decay_:.3g}"]
        row.append("-" if trial.validation is None else f"{trial.validation:.3f}")
        if trial.evaluation is not None:
            row += [str(trial.evaluation.accuracy), f"{trial.evaluation.macro_f1.value:.3f}"]
        rows.append([*row, f"{trial.seconds:.2f} s"])
    title = "Accuracy, with 95 % intervals on the test labels" if has_test else "Accuracy"
    screen.table([*header, "time"], rows, left=2, title=title)
