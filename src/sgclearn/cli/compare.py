"""`sgc compare`: SGC beside other models on one's own data, with the same splits."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import ForceFlag, JsonFlag, named_in, with_options
from sgclearn.cli.output import Screen, complain, counted
from sgclearn.errors import InputError, MissingExtraError
from sgclearn.tasks.nodes.options import NodeData
from sgclearn.tasks.options import RESULT, SPLIT

if TYPE_CHECKING:
    from sgclearn.experiments import ModelComparison
    from sgclearn.experiments.compared import Compared

COMMAND = "compare"
WHAT = "Comparison"
DEFAULT_FOLDER = "sgc-compare"  # and the name of the data
RESULTS, DOCUMENT, FIGURES = "compare.jsonl", "compare.json", ("compare.png", "compare.svg")
SETTINGS = (
    "SGC and logistic regression: chosen on the validation labels, which the training time leaves out. Others: those "
    "of their papers, with the validation labels to stop by."
)


class Prepare(StrEnum):
    """What is done to the features."""

    auto, none, l1, l2, standard = "auto", "none", "l1", "l2", "standard"


def _option(text: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **{"show_default": False, **more})


@with_options
def command(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            help="A dataset by name instead of files; see: sgc datasets list.", show_default=False
        ),
    ] = None,
    models: Annotated[
        str | None,
        _option(
            "Models beside SGC, as gcn,mlp, or all; if not given logistic-regression, label-propagation and, where "
            "torch is installed, gcn.",
            WHAT,
        ),
    ] = None,
    runs: Annotated[int, _option("Runs of every model; 0 shows what is there.", WHAT, show_default=True)] = 5,
    n_hops: Annotated[
        str,
        _option(
            "Hops that SGC chooses among on the validation labels, as 0,1,2 or 0-10.", WHAT, show_default=True
        ),
    ] = "1-3",
    prepare: Annotated[
        Prepare,
        _option(
            "What is done to the features, for all models: rows scaled (l1, l2), columns scaled (standard), or none; "
            "auto is l1 for sparse features without negative numbers, else standard.",
            WHAT,
            show_default=True,
        ),
    ] = Prepare.auto,
    threads: Annotated[int, _option("Threads of every model.", WHAT, show_default=True)] = 1,
    data: NodeData,
    validation: Annotated[
        float | None,
        _option(
            "Share of each class that models choose and stop by, where the labels have no val split; 0.2 if not given.",
            SPLIT,
        ),
    ] = None,
    out: Annotated[
        Path | None, _option(f"Folder for results and figures; {DEFAULT_FOLDER}-NAME if not given.", RESULT)
    ] = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Compare SGC with other models on your data: accuracy and training time.

    Every run has a seed and, where the labels have no split, a split of its own, the same for all models. SGC and
    logistic regression choose their settings on the validation labels; the other models keep the settings of their
    papers and use the validation labels to stop. Test labels are never used to choose.

    Every run is kept as a line of the folder's compare.jsonl. A command that was interrupted goes on where it was
    when it is given again.

    \b
    Examples:
      sgc compare
      sgc compare cora --models gcn,mlp --runs 3
      sgc compare --edges e.csv --features f.csv --labels l.csv --models all
    """
    from sgclearn.cli.tune import hops_of
    from sgclearn.experiments.compared import read_compared
    from sgclearn.experiments.own_models import check_models
    from sgclearn.experiments.plan import check_amounts
    from sgclearn.tasks.nodes.reading import EMBEDDED

    if name is not None:
        if data.dataset is not None:
            raise InputError("a dataset must be named once", f"{name} and --dataset", "leave one of them out")
        data = replace(data, dataset=name)
    # Before anything is read:
    named = named_in("models", models)
    check_models(named or ())
    check_amounts(runs, threads)
    if force and not runs:
        raise InputError(
            "--force begins anew", "it beside --runs 0, which shows what is there", "leave one of them out"
        )
    hops = hops_of(n_hops)
    of = data.dataset or (EMBEDDED if data.edges is None else data.edges.stem)
    folder = Path(f"{DEFAULT_FOLDER}-{of}") if out is None else out
    _check_folder(folder, force)
    screen = Screen(as_json)
    with screen.progress() as stages:
        compared = read_compared(data, validation, stages.stage)
    screen.field("Data", str(compared.samples))
    screen.field("Split", compared.splits)
    settings = {"runs": runs, "n_hops": hops, "prepare": prepare.value, "threads": threads}
    comparison = _run(screen, compared, named, data.seed, folder, force, settings)
    figures = _draw(comparison, folder)
    document = {
        "data": compared.samples.summary,
        "split": compared.splits,
        **comparison.to_dict(),
        "threads": threads,
        "results": folder / RESULTS,
        "figures": figures,
    }
    if comparison.rows or comparison.failures:
        from sgclearn.runs.documents import write_json

        write_json(folder / DOCUMENT, document)
    _show(screen, comparison, folder, figures)
    screen.document(document)
    _check_reference(comparison)


def _check_reference(comparison: ModelComparison) -> None:
    """Without SGC nothing was compared: a script must see that."""
    from sgclearn.experiments.own_models import SGC

    if SGC in comparison.failures and all(row.model != SGC for row in comparison.rows):
        complain(f"sgc: there is no result of SGC: {comparison.failures[SGC]}")
        raise typer.Exit(1)


def _check_folder(folder: Path, force: bool) -> None:
    """Refuse a folder that is not that of a comparison: nothing of others is overwritten."""
    if folder.exists() and not folder.is_dir():
        raise InputError("--out must name a folder", f"the file {folder}", "choose another name")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RESULTS).is_file():
        also = ", which --force would not replace," if force else ""
        raise InputError(
            "--out must be a new or empty folder, or that of an earlier comparison",
            f"{folder}{also} with files in it and no {RESULTS}",
            "choose another",
        )


def _run(
    screen: Screen,
    compared: Compared,
    models: list[str] | None,
    seed: int | None,
    folder: Path,
    force: bool,
    settings: dict[str, Any],
) -> ModelComparison:
    from sgclearn.cli.run_progress import watching
    from sgclearn.experiments import compare_models
    from sgclearn.experiments.own_models import DEFAULT_SEED, OtherDataError

    path = folder / RESULTS
    before = 0 if force else _kept(path)
    try:
        with watching(screen) as on_progress:
            return compare_models(
                compared.data,
                models,
                seed=DEFAULT_SEED if seed is None else seed,
                results=path,
                on_progress=on_progress,
                with_earlier=True,
                anew=force,
                **settings,
            )
    except KeyboardInterrupt:
        done = counted(_kept(path) - before, "run")
        complain(f"sgc: {done} kept in {path}; the same command goes on from there.")
        raise
    except OtherDataError as error:
        raise error.but(remedy=(error.remedy, ", or begin anew with --force")) from error
    except MissingExtraError as error:
        remedy = ", or leave the models that need it out with --models"
        raise error.but(remedy=(error.remedy, remedy)) from error


def _kept(path: Path) -> int:
    from sgclearn.experiments import ResultFile

    return len(ResultFile(path).lines("run")) if path.exists() else 0


def _draw(comparison: ModelComparison, folder: Path) -> list[Path]:
    from sgclearn.cli.figure_files import write_figure
    from sgclearn.experiments import plot_accuracy_over_time

    if not comparison.rows:
        return []
    written = []
    for name in FIGURES:
        path = write_figure(lambda: plot_accuracy_over_time(comparison), folder / name)
        if path is None:
            break  # said once
        written.append(path)
    return written


def _show(screen: Screen, comparison: ModelComparison, folder: Path, figures: list[Path]) -> None:
    from sgclearn.experiments.own_comparison import HEADER
    from sgclearn.experiments.own_data import PREPARATIONS

    if comparison.prepare != "none":
        screen.field("Features", f"{PREPARATIONS[comparison.prepare]}, for all models (--prepare none: not)")
    if not (comparison.rows or comparison.failures):
        screen.line("no runs with these settings are there yet")
        return
    screen.table(HEADER, comparison.table())
    screen.line()
    for model in comparison.failures:
        screen.field("No result", comparison.reason(model))
    for note in comparison.experiment.notes:
        screen.field("Note", note)
    if chosen := comparison.chosen_hops():
        told = (f"{counted(hops, 'hop')} in {counted(n, 'run')}" for hops, n in chosen.items())
        screen.field("SGC chose", ", ".join(told))
    screen.field("Settings", SETTINGS)
    screen.field("Results", str(folder / RESULTS))
    if figures:
        screen.field("Figure", ", ".join(map(str, figures)))
