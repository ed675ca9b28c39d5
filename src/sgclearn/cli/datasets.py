"""`sgc datasets`: which graphs are known by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import RESULT, help_of
from sgclearn.cli.output import Screen

if TYPE_CHECKING:
    from sgclearn.datasets import DatasetInfo

SIZES = ("nodes", "edges", "features", "classes")
app = typer.Typer(help="Graphs that are known by name.", rich_markup_mode="rich")

DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder with the files; else the variable SGCLEARN_DATA.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.", rich_help_panel=RESULT)]


def list_all(data_dir: DataDir = None, as_json: Json = False) -> None:
    r"""List the datasets, and whether their files are here.

    \b
    Example:
      sgc datasets list --data-dir ~/graphs
    """
    from sgclearn.datasets import list_datasets

    screen = Screen(as_json)
    known = list_datasets(data_dir)
    rows = [
        (info.name, info.title, *(f"{getattr(info, size):,}" for size in SIZES), _yes(info.available))
        for info in known
    ]
    screen.table(("name", "title", *SIZES, "here"), rows, left=2)
    if not all(info.available for info in known):
        screen.line(
            "\nThose not here are read from the folder of --data-dir\nor SGCLEARN_DATA: sgc datasets info NAME"
        )
    screen.document([_record(info) for info in known])


def tell(
    name: Annotated[str, typer.Argument(help="Name of the dataset.", show_default=False)],
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    r"""Tell more about one dataset: licence, origin, files.

    \b
    Example:
      sgc datasets info debian
    """
    from sgclearn.datasets import list_datasets, load_dataset
    from sgclearn.errors import InputError

    screen = Screen(as_json)
    known = {entry.name: entry for entry in list_datasets(data_dir)}
    if name not in known:
        raise InputError(f"NAME must be one of {', '.join(known)}: got {name!r}.")
    found = known[name]
    screen.field(found.name, f"{found.title}. {found.description}")
    screen.field("size", ", ".join(f"{getattr(found, size):,} {size}" for size in SIZES))
    screen.field("licence", found.license)
    screen.field("source", found.source)
    screen.field("files", "in the package" if found.layout == "embedded" else ", ".join(found.files))
    where = "" if found.available else ": put the files into the folder of --data-dir or SGCLEARN_DATA"
    screen.field("here", _yes(found.available) + where)
    if as_json:
        record = _record(found)
        if found.available and not found.class_names:
            record["class_names"] = load_dataset(name, data_dir=data_dir).class_names
        screen.document(record)


def list_unless_told(context: typer.Context) -> None:
    """Graphs that are known by name; without a command they are listed."""
    if context.invoked_subcommand is None:
        list_all()


def _record(info: DatasetInfo) -> dict[str, Any]:
    """What is known about a dataset; names of classes only where they are known without its files."""
    from dataclasses import asdict

    return {key: value for key, value in asdict(info).items() if key != "class_names" or value}


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"


app.callback(invoke_without_command=True)(list_unless_told)
app.command("list", help=help_of(list_all))(list_all)
app.command("info", help=help_of(tell))(tell)
