"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sgclearn.errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name in the same folder, and rename it to `path` once the block has ended well.

    Parameters
    ----------
    path : path
        What the file will be called; one that is there already is replaced in a single step.

    Yields
    ------
    Path
        Where to write. If the block fails, the file is removed and `path` is as it was.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} must be the name of a file: got a folder; add a file name.")
    if not path.parent.is_dir():
        raise InputError(
            f"{path} must be in a folder that exists: got no folder {path.parent}; make it first."
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(
            f"{path} must be writable: got {error.strerror or error}; choose another place."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
