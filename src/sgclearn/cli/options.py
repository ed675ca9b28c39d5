"""Options that several commands share, each written once as the field of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from sgclearn.errors import InputError
from sgclearn.tasks.options import RESULT


def with_options(
    command: Callable[..., None], groups: Mapping[str, type[Any]] | None = None
) -> Callable[..., None]:
    """Turn each parameter that is a dataclass into one option a field, and hand the command the dataclass.

    Parameters
    ----------
    command : callable
    groups : mapping, optional
        Dataclasses of parameters whose annotation does not name them.
    """
    hints = get_type_hints(command, include_extras=True) | dict(groups or {})
    built_from: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            built_from[name] = hints[name]
            options += _options(hints[name])
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            options.append(parameter.replace(kind=kind, annotation=hints[name]))

    def expanded(**given: Any) -> None:
        built = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in built_from.items()
        }
        command(**given, **built)

    expanded.__doc__ = command.__doc__
    expanded.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    expanded.__annotations__ = {option.name: option.annotation for option in options}
    return expanded


def help_of(command: Callable[..., None]) -> str:
    """Docstring of a command for typer: paragraphs in one line, examples marked to keep their lines."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(
        paragraph.replace("\\b", "\b") if paragraph.startswith("\\b") else " ".join(paragraph.split())
        for paragraph in paragraphs
    )


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, kind, default=default, annotation=_annotated(hints[field.name], field))
        for field in fields(group)
        for default in (inspect.Parameter.empty if field.metadata.get("required") else field.default,)
    ]


def _annotated(kind: Any, field: Any) -> Any:
    """Type of a field, with what its metadata says about it as an option; see `sgclearn.tasks.options.option`."""
    about = field.metadata
    if "help" not in about:
        return kind
    return Annotated[
        kind,
        typer.Option(*about["names"], help=about["help"], rich_help_panel=about["panel"], show_default=False),
    ]


def _option(text: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=False, **more)


def named_in(option: str, text: str | None) -> list[str] | None:
    """Names of a list as `a,b`; None where the option was not given."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise InputError(f"--{option} must name at least one", repr(text), "name some, or leave it out")
    return names


RunFolder = Annotated[Path, typer.Argument(help="Folder that a fit wrote.", show_default=False)]
RunToWrite = Annotated[
    Path | None,
    _option("Folder for model, predictions and metrics; sgc-run, sgc-run-2, ... if not given.", RESULT),
]
TableToWrite = Annotated[
    Path | None,
    _option("CSV file for id, label and the probability of each class; stdout if not given.", RESULT),
]
JsonFlag = Annotated[bool, _option("One JSON document on stdout instead of tables.", RESULT, "--json")]
ForceFlag = Annotated[bool, _option("Replace what is there already.", RESULT, "--force")]
