"""`sgc datasets`: which graphs are known by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sgclearn.cli.options import RESULT, help_of
from sgclearn.cli.output import Screen

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
    from dataclasses import asdict

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
            "\nThose not here are read from the folder of --data-dir or SGCLEARN_DATA: sgc datasets info NAME"
        )
    screen.document([asdict(info) for info in known])


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
    from dataclasses import asdict

    from sgclearn.datasets import list_datasets
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
    screen.document(asdict(found))


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"


app.command("list", help=help_of(list_all))(list_all)
app.command("info", help=help_of(tell))(tell)
