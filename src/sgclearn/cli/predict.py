"""`sgc predict`: labels for new nodes of a run, for all its nodes again, or for another graph altogether."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from sgclearn.cli.options import ForceFlag, JsonFlag, TableToWrite, with_options
from sgclearn.cli.output import Screen, check_new_file
from sgclearn.errors import InputError
from sgclearn.tasks.nodes.options import NewNodes, NodeData, ReadingOptions
from sgclearn.tasks.options import FILES, RESULT

COMMAND = "predict"


def _file(text: str) -> Any:
    return typer.Option(help=text, rich_help_panel=FILES, show_default=False)


@with_options
def command(
    *,
    run: Annotated[
        Path | None,
        typer.Argument(help="Folder that sgc fit wrote: its model, graph and features.", show_default=False),
    ] = None,
    new: NewNodes,
    model: Annotated[Path | None, _file("A model file, to predict on another graph altogether.")] = None,
    edges: Annotated[Path | None, _file("Edges of that graph.")] = None,
    features: Annotated[Path | None, _file("Features of its nodes.")] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Leave the label empty where no class has this probability.",
            rich_help_panel=RESULT,
            show_default=False,
        ),
    ] = None,
    out: TableToWrite = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Predict labels of new nodes, or on another graph.

    New nodes are attached to the graph of the run, and only their neighbourhood is computed. New edges may go
    between new and old nodes, and the files are read as those of the fit were, unless options say otherwise;
    the run folder itself is not changed. Without --new-features all nodes of the run are predicted again, with the
    new edges if there are any.

    \b
    Examples:
      sgc predict run --new-edges e2.csv --new-features f2.csv
      sgc predict run --min-confidence 0.8 --out sure.csv
      sgc predict --model run/model.safetensors --edges e3.csv --features f3.csv
    """
    from sgclearn.cli.task_commands import predict_and_show, show_predictions
    from sgclearn.tasks.nodes.task import Nodes

    of_run = {"--new-edges": new.new_edges, "--new-features": new.new_features}
    of_model = {"--edges": edges, "--features": features, "--directed": new.directed}
    if (run is None) == (model is None):
        got = "none of them" if run is None else "both"
        raise InputError("predict needs either RUN or --model", got, "name one of them")
    for option, value in (of_run if run is None else of_model).items():
        if value is not None:
            other, there = ("RUN", "--model") if run is None else ("--model", "RUN")
            raise InputError(f"{option} goes with {other}", f"it with {there}", "leave one of them out")
    if model is None:
        predict_and_show(Nodes(), run or Path(), new, out, force, as_json, min_confidence)
        return
    screen = Screen(as_json)
    check_new_file(out, force)
    reading = {field.name: asdict(new)[field.name] for field in fields(ReadingOptions)}
    with screen.progress() as stages:
        data = NodeData(edges=edges, features=features, **reading)
        predictions = Nodes().predict_elsewhere(model, data, stages.stage)
    show_predictions(screen, predictions, out, min_confidence)
