"""Figures as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sgclearn.cli.output import complain
from sgclearn.errors import MissingExtraError

DOTS = 200  # an inch of a PNG


def write_figure(draw: Callable[[], Any], path: Path) -> Path | None:
    """Write a figure in the format of the file's ending; None where matplotlib is missing, which nothing else needs."""
    from sgclearn.files import replacing

    try:
        figure = draw()
    except MissingExtraError as error:
        complain(f"sgc: no figure is drawn: {error}")
        return None
    import matplotlib

    # The same results give the same bytes: no date, and ids that are not random.
    kind = path.suffix[1:]
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with replacing(path) as temporary, matplotlib.rc_context({"svg.hashsalt": path.stem}):
        figure.savefig(temporary, format=kind, metadata=metadata, dpi=DOTS)
    return path
