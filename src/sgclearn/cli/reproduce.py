"""`sgc reproduce`: a table or figure of the paper, measured again here beside what was published."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.figure_files import write_figure
from sgclearn.cli.options import JsonFlag, named_in, with_options
from sgclearn.cli.output import Screen, complain, counted, option
from sgclearn.cli.reproduced_files import check_no_loss, check_page, file_stem, write_document, write_page
from sgclearn.cli.run_progress import watching
from sgclearn.errors import InputError, MissingExtraError, SgclearnError
from sgclearn.tasks.options import RESULT

if TYPE_CHECKING:
    from sgclearn.experiments import Selection
    from sgclearn.paper import Recipe
    from sgclearn.paper.report import Report

COMMAND = "reproduce"
WHAT = "What to run"
DEFAULT_FOLDER = "sgc-runs"
USER_MISTAKE = 2  # exit code


def _option(text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=False)


@with_options
def command(
    *,
    name: Annotated[
        str | None, typer.Argument(help="Which table or figure; see --list.", show_default=False)
    ] = None,
    listed: Annotated[bool, _option("Say which there are.", WHAT, "--list")] = False,
    everything: Annotated[bool, _option("Run them all.", WHAT, "--all")] = False,
    models: Annotated[str | None, _option("Only these models, as sgc,textgcn.", WHAT)] = None,
    datasets: Annotated[str | None, _option("Only these datasets, as r8,mr.", WHAT)] = None,
    runs: Annotated[
        int | None,
        _option("Runs of every model; the recipe's number if not given, 0 to show what is there.", WHAT),
    ] = None,
    quick: Annotated[
        bool, _option("Few runs of a small part: to see that it works.", WHAT, "--quick")
    ] = False,
    threads: Annotated[int, _option("Threads of every model; 1 if not given.", WHAT)] = 1,
    data_dir: Annotated[
        Path | None, _option("Folder with the files of datasets; else the variable SGCLEARN_DATA.", WHAT)
    ] = None,
    out: Annotated[
        Path | None, _option(f"Folder for results and figures; {DEFAULT_FOLDER} if not given.", RESULT)
    ] = None,
    page: Annotated[
        Path | None, _option("Write a page of results too: an .rst file, with its figure beside it.", RESULT)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    r"""Measure a table or figure of the paper again, and show it beside what was published.

    Every run is kept as a line of the folder's NAME.jsonl, with its seed, settings, versions and machine. A command
    that was interrupted goes on where it was when it is given again. What trains no model is kept as
    NAME.json.

    \b
    Examples:
      sgc reproduce --list
      sgc reproduce tab2 --models sgc --runs 3
      sgc reproduce tab4 --datasets r8,mr --out results
    """
    from sgclearn.experiments import Selection

    screen = Screen(as_json)
    if listed:
        _refuse(
            "--list",
            name=name is not None,
            everything=everything,
            models=models is not None,
            datasets=datasets is not None,
            runs=runs is not None,
            quick=quick,
            threads=threads != 1,
            data_dir=data_dir is not None,
            out=out is not None,
            page=page is not None,
        )
        _show_list(screen)
        return
    recipes = _chosen(name, everything, models, datasets, page)
    if not everything and recipes[0].form != "runs":
        given = {"--models": models is not None, "--runs": runs is not None, "--quick": quick}
        if unused := [option for option, is_given in given.items() if is_given]:
            raise InputError(f"{recipes[0].id} trains no model", f"{unused[0]}", "leave it out")
    part = {"datasets": named_in("datasets", datasets), "models": named_in("models", models)}
    selections = [Selection.of(recipe, **part, runs=runs, quick=quick, threads=threads) for recipe in recipes]
    folder = Path(DEFAULT_FOLDER) if out is None else out
    documents, left_out = [], []
    for recipe, selection in zip(recipes, selections, strict=True):
        try:
            documents.append(_reproduce(screen, recipe, selection, folder, data_dir, page))
        except SgclearnError as error:
            if not everything:
                raise
            why = error.render(option)
            left_out.append(f"sgc: {recipe.id} is left out: {why}")
            documents.append({"recipe": recipe.id, "title": recipe.title, "left_out": why})
    screen.document(documents if everything else documents[0])
    for told in left_out:
        complain(told)
    if left_out:
        raise typer.Exit(USER_MISTAKE)


def _reproduce(
    screen: Screen,
    recipe: Recipe,
    selection: Selection,
    folder: Path,
    data_dir: Path | None,
    page: Path | None,
) -> dict[str, Any]:
    """Make one table or figure, show it, and give its document."""
    report = _report(screen, recipe, selection, folder, data_dir)
    stem, picture = file_stem(recipe, selection), None
    if report.draw is not None:
        draw = cache(report.draw)  # one drawing for the folder and for the page
        report = replace(report, draw=draw)
        folder.mkdir(parents=True, exist_ok=True)
        picture = write_figure(draw, folder / f"{stem}.svg")
    if page is not None:
        shown = _shown(recipe, selection, report) if recipe.form == "runs" else selection
        again = _spelled(recipe, shown, page)
        check_no_loss(page, recipe, shown)
        write_page(report, page, again, with_picture=picture is not None)
    if recipe.form == "runs":
        file = folder / f"{recipe.results}.jsonl"
        results = file if file.exists() else None
    else:
        results = write_document(report, folder / f"{stem}.json")
    _show(screen, report, results, picture, page)
    return {**report.to_dict(), "results": results, "figure": picture}


def _chosen(
    name: str | None, everything: bool, models: str | None, datasets: str | None, page: Path | None
) -> list[Recipe]:
    from sgclearn.paper import list_recipes, load_recipe

    if everything:
        _refuse(
            "--all",
            name=name is not None,
            models=models is not None,
            datasets=datasets is not None,
            page=page is not None,
        )
        return list(list_recipes())
    if name is None:
        raise InputError(
            "sgc reproduce needs the name of a table or figure", "none", "see sgc reproduce --list"
        )
    if page is not None:
        check_page(page)
    return [load_recipe(name)]


def _refuse(flag: str, **given: bool) -> None:
    spelled = {"name": "NAME", "everything": "--all"}
    for name, is_given in given.items():
        if is_given:
            told = spelled.get(name, "--" + name.replace("_", "-"))
            raise InputError(f"{flag} stands alone", f"{told} beside it", "leave one of them out")


def _report(
    screen: Screen, recipe: Recipe, selection: Selection, folder: Path, data_dir: Path | None
) -> Report:
    from sgclearn.paper.graph_reports import make_report
    from sgclearn.paper.run_report import report_of

    if recipe.form == "runs":
        lines = _run(screen, recipe, selection, folder, data_dir)
        return report_of(recipe, lines, quick=selection.quick)
    with screen.progress() as stages:
        stages.stage(f"{recipe.where}: computing")
        return make_report(recipe, selection.datasets, data_dir, selection.threads)


def _run(
    screen: Screen, recipe: Recipe, selection: Selection, folder: Path, data_dir: Path | None
) -> list[dict[str, Any]]:
    from sgclearn.experiments import ResultFile, run_experiment

    results = ResultFile(folder / f"{recipe.results}.jsonl")
    before = {kind: len(results.lines(kind)) for kind in ("run", "trial")}
    try:
        with watching(screen) as on_progress:
            return run_experiment(recipe, results, selection, on_progress, data_dir)
    except KeyboardInterrupt:
        made = {kind: len(results.lines(kind)) - number for kind, number in before.items()}
        done = " and ".join(counted(number, kind) for kind, number in made.items() if number)
        kept = f"{done} kept in {results.path}" if done else "nothing was made yet"
        complain(f"sgc: {kept}; the same command goes on from there.")
        raise
    except MissingExtraError as error:
        remedy = ", or leave the models that need it out with --models"
        raise error.but(remedy=(error.remedy, remedy)) from error


def _spelled(recipe: Recipe, selection: Selection, page: Path) -> str:
    """The command that makes what the page shows and no more, without the folders of this machine."""
    from sgclearn.experiments import Selection

    usual = Selection.of(recipe, quick=selection.quick)
    words = ["sgc", COMMAND, recipe.id]
    for part in ("models", "datasets"):
        if getattr(selection, part) != getattr(usual, part):
            words += [f"--{part}", ",".join(getattr(selection, part))]
    words += ["--quick"] if selection.quick else []
    words += ["--runs", str(selection.runs)] if selection.runs != usual.runs else []
    words += ["--threads", str(selection.threads)] if selection.threads != 1 else []
    return " ".join([*words, "--page", page.name])


def _shown(recipe: Recipe, selection: Selection, report: Report) -> Selection:
    """The selection whose runs are those of the report: a folder may hold fewer or more than were asked for.

    Where models have unlike numbers of runs that are not the recipe's, nothing but `--runs 0` says so.
    """
    from sgclearn.experiments import Selection
    from sgclearn.experiments.plan import plan_tasks

    n_runs = Counter({(row["dataset"], row["model"]): row["n"] for row in report.to_dict()["rows"]})
    datasets, models = ({pair[part] for pair in n_runs} for part in (0, 1))
    part = replace(
        selection,
        datasets=tuple(name for name in selection.datasets if name in datasets),
        models=tuple(name for name in selection.models if name in models),
    )
    usual = Selection.of(recipe, quick=selection.quick).runs
    for runs in (usual, *sorted(set(n_runs.values()))):
        found = replace(part, runs=runs)
        if Counter(task.pair for task in plan_tasks(recipe, found)) == n_runs:
            return found
    return replace(selection, runs=0)


def _show(
    screen: Screen, report: Report, results: Path | None, picture: Path | None, page: Path | None
) -> None:
    from sgclearn.paper.report import STATEMENT_HEADER, statement_rows

    recipe = report.recipe
    quick = " (quick runs)" if report.quick else ""
    screen.field("Recipe", f"{recipe.id}, {recipe.where}: {recipe.title}{quick}")
    for table in report.tables:
        if table.on_screen:
            screen.table(table.header, table.rows, left=table.left, title=table.title)
    if report.statements:
        screen.table(STATEMENT_HEADER, statement_rows(report.statements), left=4, title="Statements")
    if not report.tables:
        screen.line("no runs with these settings are there yet")
    screen.line()
    for name, path in (("Results", results), ("Figure", picture), ("Page", page)):
        if path is not None:
            screen.field(name, str(path))


def _show_list(screen: Screen) -> None:
    from sgclearn.paper import list_recipes

    recipes = list_recipes()
    rows = [
        (recipe.id, recipe.where, recipe.title, ", ".join(recipe.datasets), ", ".join(recipe.groups) or "-")
        for recipe in recipes
    ]
    screen.table(("name", "where", "what", "datasets", "models"), rows, left=5)
    screen.document(
        [
            {
                **{key: getattr(recipe, key) for key in ("id", "where", "title", "form", "runs", "metric")},
                "datasets": list(recipe.datasets),
                "models": list(recipe.groups),
            }
            for recipe in recipes
        ]
    )
