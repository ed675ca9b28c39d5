"""The commands under one name, and what becomes of their errors: one sentence and an exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from sgclearn.cli import (
    bench,
    compare,
    datasets,
    evaluate,
    explain,
    fit,
    plan,
    predict,
    report,
    reproduce,
    spectrum,
    text,
    tune,
)
from sgclearn.cli.options import help_of
from sgclearn.cli.output import complain, option
from sgclearn.errors import SgclearnError, SgclearnWarning
from sgclearn.tasks import TASKS, get_task
from sgclearn.version import __version__

USER_MISTAKE, FAILURE, INTERRUPTED = 2, 1, 130
TRACEBACK_VARIABLE = "SGC_TRACEBACK"

# typer brings its own copy of click in some versions: its error classes are reached through a public one.
_UsageError: Any = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="sgc",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sgc {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    r"""Label the nodes of a graph from a few known labels: Simple Graph Convolution, exact and repeatable.

    \b
    Try it on the graph inside the package, then on your own files:
      sgc fit
      sgc fit --edges e.csv --features f.csv --labels l.csv --out run
      sgc predict run --new-edges e2.csv --new-features f2.csv
    """


app.callback(help=help_of(_program))(_program)
for _module in (fit, predict, tune, evaluate, explain, report, compare, plan, spectrum, reproduce, bench):
    app.command(_module.COMMAND, help=help_of(_module.command))(_module.command)
app.add_typer(text.app, name="text")
app.add_typer(datasets.app, name="datasets")


def _add_task(arguments: list[str]) -> None:
    """Add the commands of a task where they are asked for; the help of all tasks loads none of them."""
    from sgclearn.cli.task_commands import task_app

    wanted = arguments[0] if arguments else ""
    if wanted not in TASKS or wanted == "nodes":
        return
    if wanted not in {group.name for group in app.registered_groups}:
        app.add_typer(task_app(get_task(wanted)), name=wanted)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run `sgc` and end the process: 0 is success, 2 a mistake in the input, 130 an interruption."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run `sgc` and give its exit code; a mistake is one sentence on stderr, never a traceback."""
    shown: set[str] = set()

    def show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
        text = message.render(option) if isinstance(message, SgclearnWarning) else str(message)
        if text not in shown:
            shown.add(text)
            complain(f"warning: {text}")

    with warnings.catch_warnings():
        # Warnings for the user (of this library and of its solver) are UserWarnings.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show_warning
        return _run(list(arguments) or ["--help"])


def _run(arguments: list[str]) -> int:
    try:
        _add_task(arguments)
        code = app(args=arguments, prog_name="sgc", standalone_mode=False)
        if code == INTERRUPTED:  # typer has caught the interruption, and said nothing
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except _UsageError as error:
        where = error.ctx.command_path if error.ctx is not None else "sgc"
        return _mistake(f"{where}: {_usage_fault(error, arguments)}; see {where} --help.")
    except SgclearnError as error:
        return _mistake(f"sgc: {error.render(option)}")
    except (KeyboardInterrupt, typer.Abort):
        complain("sgc: stopped by an interruption.")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, as with `| head`: nothing more can be said, and the exit must not try to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except OSError as error:
        named = f"{error.filename} " if error.filename else "a file "
        return _mistake(
            f"sgc: {named}cannot be used ({error.strerror or error}); check path and permissions."
        )
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exc()
        complain(
            f"sgc: stopped by an error of its own ({type(error).__name__}: {_sentence(str(error))}); "
            f"set {TRACEBACK_VARIABLE}=1 to see where, and report it."
        )
        return FAILURE


def _mistake(text: str) -> int:
    complain(text)
    return USER_MISTAKE


def _usage_fault(error: Any, arguments: list[str]) -> str:
    """What is wrong with the arguments, without the words of the library that found it."""
    text = _sentence(error.format_message()).replace("Value error, ", "")
    kind = re.search(r"Input should be (?:a|an) (?:valid )?(integer|number|boolean)[^;]*", text)
    if kind is None:
        return text
    noun = {"integer": "a whole number", "number": "a number", "boolean": "yes or no"}[kind.group(1)]
    given = _given_for(getattr(error.param, "opts", []), arguments)
    return text[: kind.start()] + f"it must be {noun}" + ("" if given is None else f": got {given!r}")


def _given_for(options: Sequence[str], arguments: list[str]) -> str | None:
    for position, argument in enumerate(arguments):
        name, is_joined, value = argument.partition("=")
        if name in options:
            return value if is_joined else next(iter(arguments[position + 1 :]), None)
    return None


def _sentence(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
