"""What can go wrong, said once: every message is expected, got, remedy, in one sentence."""

from __future__ import annotations

import importlib
from types import ModuleType


class SgclearnError(Exception):
    """Base of every error that a user can mend; the command line prints it without a traceback."""


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
