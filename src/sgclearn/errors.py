"""What can go wrong, said once: every message is expected, got, remedy, in one sentence."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class SgclearnError(Exception):
    """Base of every error that a user can mend; the command line prints it without a traceback.

    Parameters
    ----------
    expected : str
        What must hold, such as "graph must have one node per row of X".
    got : str
        What came instead, with its value or shape.
    remedy : str
        What to do about it, as an imperative.
    argument : str
        Name of the parameter at fault; a front end may show it under a name of its own.
    """

    def __init__(self, expected: str, got: str = "", remedy: str = "", *, argument: str = "") -> None:
        self.expected, self.got, self.remedy, self.argument = expected, got, remedy, argument
        super().__init__(expected, got, remedy)

    def __str__(self) -> str:
        text = self.expected + (f": got {self.got}" if self.got else "")
        return f"{text}; {self.remedy}." if self.remedy else text

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self.expected, self.got, self.remedy, self.argument)


class InputError(SgclearnError, ValueError):
    """A value that cannot be used."""


class InputTypeError(SgclearnError, TypeError):
    """A value of a type that cannot be used."""


def _rebuild(kind: type[SgclearnError], expected: str, got: str, remedy: str, argument: str) -> SgclearnError:
    return kind(expected, got, remedy, argument=argument)


class DataFileError(InputError):
    """A data file that cannot be read."""


class ModelFileError(InputError):
    """A model file that is truncated, changed, foreign, or of a later format."""


class MemoryLimitError(SgclearnError, MemoryError):
    """A computation whose estimated memory exceeds the limit; raised before anything is allocated."""


class MissingExtraError(SgclearnError, ImportError):
    """An optional dependency is not installed."""


class SgclearnWarning(UserWarning):
    """Something worth knowing that does not stop the work."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f'{module} is needed for this and is not installed: run pip install "sgclearn[{extra}]".'
        ) from error
