"""`sgc text`: documents to classes, from a table of texts to a model, to predictions, to reasons."""

from __future__ import annotations

import typer

from sgclearn.cli import text_explain, text_fit, text_predict
from sgclearn.cli.options import help_of

app = typer.Typer(
    help="Classify documents by the graph of their words: fit, predict, explain.", rich_markup_mode="rich"
)
for _module in (text_fit, text_predict, text_explain):
    app.command(_module.COMMAND, help=help_of(_module.command))(_module.command)
