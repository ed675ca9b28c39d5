"""`sgc bench`: sgclearn against its peers on this machine, measured so that everyone can check it."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgclearn.cli.options import JsonFlag, with_options
from sgclearn.cli.output import Screen, Stages, complain, counted
from sgclearn.errors import InputError, MissingExtraError
from sgclearn.tasks.options import RESULT

if TYPE_CHECKING:
    from sgclearn.bench.cases.case import Case
    from sgclearn.bench.rounds import OnTurn

COMMAND = "bench"
WHAT, PEERS = "What to run", "Peers"
DEFAULT_FOLDER = "sgc-bench"
TABLE, PICTURE = "benchmarks-table{}.rst", "images/benchmark-{}.svg"
QUICK = "-quick"  # in the names of what a quick run writes: it never replaces a measurement
SILENCE = 10.0  # seconds after which a turn is named where there is no bar


def _option(text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=False)


@with_options
def command(
    *,
    case: Annotated[str | None, _option("Only these cases, as a,b; all if not given.", WHAT)] = None,
    listed: Annotated[bool, _option("Say which cases there are.", WHAT, "--list")] = False,
    quick: Annotated[
        bool, _option("Small problems, one round: to see that everything runs.", WHAT, "--quick")
    ] = False,
    repeat: Annotated[
        int | None, _option("Rounds after the warm-up, the best counts; 5 if not given.", WHAT)
    ] = None,
    threads: Annotated[int, _option("Threads of every contender; 2 if not given.", WHAT)] = 2,
    data_dir: Annotated[
        Path | None, _option("Folder with the real graphs; else the variable SGCLEARN_DATA.", WHAT)
    ] = None,
    peers: Annotated[
        Path | None,
        _option(
            "Folder of the peers' own environment, made if it is not there; else one in the cache.", PEERS
        ),
    ] = None,
    no_peers: Annotated[
        bool, _option("Leave out what is not installed with sgclearn itself.", PEERS, "--no-peers")
    ] = False,
    out: Annotated[
        Path | None,
        _option(f"Folder for results, tables and figures; {DEFAULT_FOLDER} if not given.", RESULT),
    ] = None,
    scratch: Annotated[
        Path | None, _option("Folder for the arrays that contenders share; 3 GB for all cases.", RESULT)
    ] = None,
    docs: Annotated[
        Path | None, _option("Write table and figures into this folder of documentation too.", RESULT)
    ] = None,
    force: Annotated[bool, _option("Run cases again that are done.", RESULT, "--force")] = False,
    keep: Annotated[
        bool,
        _option(
            "Keep results of an earlier version of the code and those that lack somebody; the tables say so.",
            RESULT,
            "--keep",
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Measure sgclearn against its peers: same data, same threads, in turns, answers compared where there are any.

    Peers are installed in an environment of their own. Each case is kept in the folder as soon as it is done, and a
    command that was interrupted goes on with the next one. A case that was measured with another version of the code,
    or in which data or peers failed, is run again.

    \b
    Examples:
      sgc bench --list
      sgc bench --quick --no-peers
      sgc bench --case a,b --repeat 5 --threads 2 --out results
    """
    from sgclearn.bench import CASES, BenchSettings, run_cases
    from sgclearn.bench.running import check_letter

    screen = Screen(as_json)
    if listed:
        screen.table(("case", "what"), [(c.letter, f"{c.title}. {c.about}") for c in CASES.values()], left=2)
        screen.document([{"case": c.letter, "title": c.title, "about": c.about} for c in CASES.values()])
        return
    letters = list(CASES) if case is None else [letter.strip() for letter in case.split(",")]
    for letter in letters:
        check_letter(letter)
    _check_counts(repeat=repeat, threads=threads)
    _check_quick(quick, repeat=repeat, data_dir=data_dir, docs=docs)
    if force and keep:
        raise InputError("--force and --keep exclude each other", "both", "leave one of them out")
    if peers is not None and no_peers:
        raise InputError("--peers and --no-peers exclude each other", "both", "leave one of them out")
    if docs is not None and not docs.is_dir():
        raise InputError("--docs must be a folder that exists", f"{docs}", "make it first")
    folder = Path(DEFAULT_FOLDER) if out is None else out
    with screen.progress() as stages:
        python = None if no_peers else _peers_python(peers, stages)
        settings = BenchSettings(folder, quick, repeat or 5, threads, python, data_dir, scratch, force, keep)

        def on_case(current: Case, is_done: bool, flaw: str | None) -> Any:
            subject = f"case {current.letter} {'is done' if flaw is None else flaw}"
            if is_done:
                complain(f"{subject}: its result in {folder} is kept, --force runs it again.")
                return None
            if flaw is not None:
                complain(f"{subject}: it is run again, --keep publishes it as it is.")
            if not (as_json or sys.stderr.isatty()):
                return _log(current)
            move = stages.stage(f"({current.letter}) {current.title}")
            return lambda whose, done, of: move(done, of)

        documents = run_cases(letters, settings, on_case)
        stages.stage("drawing")
        _write(folder, docs, quick)
    _show(screen, documents, folder)
    screen.document(documents)


def _log(case: Case) -> OnTurn:
    """A line on stderr for the case and each of its problems, and for turns after a while without one."""
    complain(f"case {case.letter}: {case.title}")
    said = time.monotonic()

    def on_turn(whose: str, done: int, of: int) -> None:
        nonlocal said
        if done == 0 or time.monotonic() - said > SILENCE:
            complain(f"case {case.letter}, turn {done + 1} of {of} at most: {whose}")
            said = time.monotonic()

    return on_turn


def _check_counts(**given: int | None) -> None:
    for name, value in given.items():
        if value is not None and value < 1:
            raise InputError(f"--{name} must be a whole number >= 1", f"{value}")


def _check_quick(quick: bool, **given: Any) -> None:
    """A quick run has drawn data, one round, and no figure that means anything."""
    for name in (name for name, value in given.items() if quick and value is not None):
        option = f"--{name.replace('_', '-')}"
        raise InputError(f"{option} is for a run at full size", "it with --quick", "leave one of them out")


def _peers_python(folder: Path | None, stages: Stages) -> Path:
    from sgclearn.bench.environment import default_folder, peer_environment

    move = stages.stage("installing the peers")
    made = peer_environment(default_folder() if folder is None else folder, move)
    for package, reason in made.missing.items():
        complain(f"warning: {package} could not be installed and will be missing from the tables: {reason}")
    return made.python


def _write(folder: Path, docs: Path | None, quick: bool) -> None:
    """The table and a figure of every case in the folder, those of earlier runs included."""
    from sgclearn.bench.fingerprint import code_fingerprint
    from sgclearn.bench.running import read_documents
    from sgclearn.bench.tables import page
    from sgclearn.files import replacing

    documents, code = read_documents(folder, quick), code_fingerprint()
    mark = QUICK if quick else ""
    figures = _draw(folder, documents, mark)
    with replacing(folder / TABLE.format(mark)) as temporary:
        temporary.write_text(page(documents, figures, code), encoding="utf-8")
    if docs is None:
        return
    (docs / PICTURE).parent.mkdir(exist_ok=True)
    for letter in figures:
        with replacing(docs / PICTURE.format(letter)) as temporary:
            shutil.copyfile(folder / figures[letter], temporary)
    with replacing(docs / TABLE.format(mark)) as temporary:
        pictures = {letter: PICTURE.format(letter) for letter in figures}
        temporary.write_text(page(documents, pictures, code), encoding="utf-8")


def _draw(folder: Path, documents: dict[str, Any], mark: str) -> dict[str, str]:
    from sgclearn.bench.plots import plot_case

    figures = {}
    try:
        for letter, document in documents.items():
            figures[letter] = f"case-{letter}{mark}.svg"
            plot_case(document, folder / figures[letter])
    except MissingExtraError as error:
        complain(f"warning: no figures were drawn: {error}")
        return {}
    return figures


def _show(screen: Screen, documents: dict[str, Any], folder: Path) -> None:
    from sgclearn.bench.tables import bar_rows, part_rows, sizes_text

    for document in documents.values():
        screen.line()
        screen.line(f"({document['case']}) {document['title']}")
        for part in document["parts"]:
            header, rows = part_rows(part)
            screen.table(header, rows, title=f"{part['name']}: {sizes_text(part['sizes'])}")
            for note in part["notes"]:
                screen.line(note)
        for name, reason in document["skipped"].items():
            screen.field("Skipped", f"{name}: {reason}")
    screen.table(
        ("case", "what must be shown", "value", "wanted", "met"), bar_rows(documents.values()), left=2
    )
    screen.line()
    missing = {
        c["name"] for d in documents.values() for p in d["parts"] for c in p["contenders"] if c["is_missing"]
    }
    if missing:
        screen.field("Missing", f"{counted(len(missing), 'contender')}: {', '.join(sorted(missing))}")
    screen.field("Results", str(folder))
