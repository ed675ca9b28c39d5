"""`sgc report`: one HTML file about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sgclearn.cli.options import ForceFlag, RunFolder
from sgclearn.cli.output import Screen, check_new_file
from sgclearn.tasks.options import RESULT

COMMAND = "report"


def command(
    run: RunFolder,
    out: Annotated[Path, typer.Option(help="HTML file to write.", rich_help_panel=RESULT)] = Path(
        "report.html"
    ),
    force: ForceFlag = False,
) -> None:
    r"""Write one HTML file about a run: accuracy, probabilities, reasons, errors, suspicious labels, spectrum.

    It needs no network, and is the same for the same run.

    \b
    Examples:
      sgc report run
      sgc report run --out run.html --force
    """
    from sgclearn.report.of_run import write_report
    from sgclearn.runs.run import Run

    screen = Screen(False)
    check_new_file(out, force)
    size = write_report(Run.open(run), out)
    screen.line(f"{out}: {size / 1000:,.0f} kB")
