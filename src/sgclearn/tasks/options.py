"""Options of a task: fields of a dataclass, each with what a front end has to know about it."""

from __future__ import annotations

from dataclasses import field
from typing import Any

FILES, READING, SPLIT, MODEL, RESULT = "Data", "Reading files", "Split", "Model", "Result"


def option(text: str, panel: str = MODEL, *names: str, default: Any = None) -> Any:
    """A field of a dataclass of options.

    Parameters
    ----------
    text : str
        Help: what it is, and what happens where it is not given.
    panel : str
        Heading of the help under which it stands.
    *names : str
        Its names on the command line; `--field-name` if not given.
    default : optional
    """
    return field(default=default, metadata={"help": text, "panel": panel, "names": names})
