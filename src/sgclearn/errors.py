"""What can go wrong, as data: what was expected, what came, what to do. A front end says it in its own terms."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, TypeAlias

ANY: Any = object()
"""The value of a setting that a message asks the user to choose."""


@dataclass(frozen=True)
class Setting:
    """A parameter that a message names, with the value to give it, if any.

    Examples
    --------
    >>> print(Setting("max_iter"), Setting("nodes", ANY), Setting("id_column", False))
    max_iter nodes= id_column=False
    """

    name: str
    value: Any = ...

    def __str__(self) -> str:
        if self.value is ...:
            return self.name
        return f"{self.name}=" if self.value is ANY else f"{self.name}={self.shown!r}"

    @property
    def shown(self) -> Any:
        """The value as a message says it: 1, not 1.0."""
        whole = isinstance(self.value, float) and self.value.is_integer() and abs(self.value) < 2**53
        return int(self.value) if whole else self.value


@dataclass(frozen=True)
class Alternatives:
    """Ways out, of which a front end names those that it has.

    Examples
    --------
    >>> render(Alternatives("raise max_iter", "use fewer hops", ("add ", Setting("tol"))))
    'raise max_iter, use fewer hops or add tol'
    """

    words: tuple[Words, ...]

    def __init__(self, *words: Words) -> None:
        object.__setattr__(self, "words", words)


Words: TypeAlias = "str | Setting | Alternatives | tuple[Words, ...]"
Spell: TypeAlias = Callable[[Setting], str | None]
"""How a front end writes a setting; None where it does not have it."""


def render(words: Words, spell: Spell = str) -> str:
    """Words as text, with settings as a front end spells them."""
    if isinstance(words, str):
        return words
    if isinstance(words, Setting):
        return spell(words) or str(words)
    if isinstance(words, tuple):
        return "".join(render(part, spell) for part in words)
    *others, last = [render(part, spell) for part in words.words if _is_known(part, spell)]
    return f"{', '.join(others)} or {last}" if others else last


def _is_known(words: Words, spell: Spell) -> bool:
    if isinstance(words, Setting):
        return spell(words) is not None
    return not isinstance(words, tuple) or all(_is_known(part, spell) for part in words)


@dataclass(frozen=True)
class Place:
    """Where in the data a fault is.

    Parameters
    ----------
    file : str
        The file, once somebody has named it.
    row : int or None
        Number of the row, from 0.
    line : str
        What a person calls that row, such as "line 5"; "" leaves the row out of the message.
    column : str or None
        Name of the column.
    others : str
        How many more such faults there are, such as "3 such rows".
    """

    file: str = ""
    row: int | None = None
    line: str | None = None
    column: str | None = None
    others: str = ""

    def __str__(self) -> str:
        row = "" if self.row is None else f"row {self.row} (counted from 0)"
        line = row if self.line is None else self.line
        column = "" if self.column is None else f"column {self.column!r}"
        where = " of ".join(part for part in (line, column) if part)
        return (f" in {where}" if where else "") + (f" ({self.others})" if self.others else "")


class SgclearnError(Exception):
    """Base of every error that a user can mend; the command line prints it without a traceback.

    Parameters
    ----------
    expected : str or words
        What must hold, such as "graph must have one node per row of X".
    got : str or words
        What came instead, with its value or shape.
    remedy : str or words
        What to do about it, as an imperative.
    argument : str
        Name of the parameter at fault. Where `expected` begins with it, a front end may show another name for it.
    place : Place
        File, row and column of the fault.

    Examples
    --------
    >>> error = InputError("n_hops must be >= 0", "-1", "2 is the default", argument="n_hops")
    >>> str(error)
    'n_hops must be >= 0: got -1; 2 is the default.'
    >>> error.render(lambda setting: f"--{setting.name}")
    '--n_hops must be >= 0: got -1; 2 is the default.'
    """

    def __init__(
        self,
        expected: Words,
        got: Words = "",
        remedy: Words = "",
        *,
        argument: str = "",
        place: Place = Place(),
    ) -> None:
        self.expected, self.got, self.remedy = expected, got, remedy
        self.argument, self.place = argument, place
        super().__init__(expected, got, remedy)

    def __str__(self) -> str:
        return self.render()

    def render(self, spell: Spell = str) -> str:
        """Give the message in one sentence, with parameters as a front end spells them."""
        remedy = f"; {render(self.remedy, spell)}" if self.remedy else ""
        return self.fault(spell) + (f"{remedy}." if self.got or remedy else "")

    def fault(self, spell: Spell = str) -> str:
        """Give the message without its remedy, for use inside another sentence."""
        text = render(self.expected, spell)
        if self.argument and text.startswith(f"{self.argument} "):
            text = render(Setting(self.argument), spell) + text[len(self.argument) :]
        file = f"{self.place.file}: " if self.place.file else ""
        return f"{file}{text}{': got ' if self.got else ''}{render(self.got, spell)}{self.place}"

    def to_dict(self) -> dict[str, Any]:
        """Give the parts by name, those that are there, for a front end that shows or stores them as they are."""
        parts = {name: render(getattr(self, name)) for name in ("expected", "got", "remedy")}
        place = {name: getattr(self.place, name) for name in ("file", "row", "column")}
        place = {name: value for name, value in place.items() if value not in ("", None)}
        found = {"error": type(self).__name__, "argument": self.argument, **parts, "place": place}
        return {name: value for name, value in found.items() if value}

    def but(self, **parts: Any) -> Any:
        """Give the same error with other parts."""
        other = copy(self)
        vars(other).update(parts)
        return other


class InputError(SgclearnError, ValueError):
    """A value that cannot be used."""


class InputTypeError(SgclearnError, TypeError):
    """A value of a type that cannot be used."""


class DataFileError(InputError):
    """A data file that cannot be read."""


class ModelFileError(InputError):
    """A model file that is truncated, changed, foreign, or of a later format."""


class MemoryLimitError(SgclearnError, MemoryError):
    """A computation whose estimated memory exceeds the limit; raised before anything is allocated."""


class MissingExtraError(SgclearnError, ImportError):
    """An optional dependency is not installed."""


def in_file(
    error: SgclearnError, path: str | os.PathLike[str], line: Callable[[int], str] | None = None
) -> DataFileError:
    """Give an error about data as one about the file that they came from.

    Parameters
    ----------
    error : SgclearnError
    path : path
    line : callable, optional
        Says what a person calls a row, from its number.
    """
    place = replace(error.place, file=str(path))
    if line is not None and place.row is not None:
        place = replace(place, line=line(place.row))
    return DataFileError(error.expected, error.got, error.remedy, argument=error.argument, place=place)


class SgclearnWarning(UserWarning):
    """Something worth knowing that does not stop the work."""

    def __init__(self, *words: Words) -> None:
        self.words = words
        super().__init__(*words)

    def __str__(self) -> str:
        return self.render()

    def render(self, spell: Spell = str) -> str:
        """Give the message with parameters as a front end spells them."""
        return render(self.words, spell)


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{module} is needed for this and is not installed", remedy=f'run pip install "sgclearn[{extra}]"'
        ) from error


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Give a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class")
    ('1 row', '2,000 rows', '0 classes')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {plural or noun + ('es' if noun.endswith('s') else 's')}"
