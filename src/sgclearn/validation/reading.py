"""Files from outside: what is read is a regular file, within a budget, and every fault is an input error.

A few bytes can stand for gigabytes: a packed file, an npz header, a Parquet page. A reader may take what the file
itself takes, times the largest ratio that ordinary packing reaches, and never more than the memory limit.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from sgclearn.errors import (
    DataFileError,
    InputError,
    InputTypeError,
    MemoryLimitError,
    MissingExtraError,
    ModelFileError,
    SgclearnError,
    in_file,
)
from sgclearn.validation.memory import format_bytes, memory_limit_bytes
from sgclearn.validation.parameters import shown

FREE_BYTES = 4 * 2**20  # what any file may unpack to, however small it is
MOST_RATIO = 1_100  # unpacked to packed bytes; deflate, which zip, gzip and Parquet use, reaches 1,032
MOST_TABLE_COLUMNS = 200_000  # of a delimited file: beyond, a sparse format serves
TEXT_RATIO, MUCH_TEXT = 200, 64 * 2**20  # the same for text, which seldom reaches 20
MOST_LINE = 16 * 2**20  # bytes of one line of a table
MOST_TOKEN = 16 * 2**20  # bytes of one XML token, such as an attribute
FEW_COLUMNS, COLUMNS_PER_ENTRY = 100_000, 50  # a sparse matrix has few columns, or entries to fill them

_CHECK = "check the path and its permissions"
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def as_path(path: object) -> Path:
    """Path of a file that somebody named."""
    try:
        return Path(path)  # type: ignore[arg-type]
    except TypeError:
        raise InputTypeError(
            "path must be the name of a file", shown(path), "give a text or a Path"
        ) from None


def check_encoding(encoding: object) -> str:
    """Name of an encoding of text."""
    try:
        if isinstance(encoding, str) and "a".encode(encoding):
            return encoding
    except (LookupError, ValueError):  # no text encoding; a NUL in the name
        pass
    raise InputError(
        "encoding must be one that Python knows",
        shown(encoding),
        "name one, such as 'utf-8' or 'latin-1'",
        argument="encoding",
    )


def regular_file(
    path: str | os.PathLike[str], what: str = "file", error: type[SgclearnError] = DataFileError
) -> Path:
    """Path of a regular file that is there; a pipe would be waited for, a device read without end.

    Parameters
    ----------
    path : path
    what : str
        What a message calls the file.
    error : type
        What is raised.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise error(f"{path} must be an existing {what}", "nothing there", "check the path") from None
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
        reason = getattr(fault, "strerror", None) or fault
        raise error(f"{path} must be readable", str(reason), _CHECK) from None
    for is_kind, name in _KINDS:
        if is_kind(mode):
            remedy = "name a file inside it" if name == "a folder" else f"save it as a {what} first"
            raise error(f"{path} must be an existing {what}", name, remedy)
    return path


_DIGESTS: ContextVar[dict[str, str] | None] = ContextVar("digests", default=None)


@contextmanager
def recording() -> Iterator[dict[str, str]]:
    """Give a dictionary that gets the sha256 of every file that is opened in the block, by its path."""
    digests: dict[str, str] = {}
    token = _DIGESTS.set(digests)
    try:
        yield digests
    finally:
        _DIGESTS.reset(token)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file from outside; what `recording` wants to know is read from the same file."""
    regular_file(path)
    try:
        stream = path.open("rb")
    except OSError as error:
        raise DataFileError(f"{path} must be readable", error.strerror or str(error), _CHECK) from None
    with stream:
        digests = _DIGESTS.get()
        if digests is not None and str(path) not in digests:
            digests[str(path)] = hashlib.file_digest(stream, "sha256").hexdigest()
            stream.seek(0)
        yield stream


def unpacked_budget(packed_bytes: int) -> int:
    """Bytes that a file of this size may unpack to."""
    return min(max(FREE_BYTES, MOST_RATIO * packed_bytes), memory_limit_bytes())


def text_budget(packed_bytes: int) -> int:
    """Bytes of text that a file may unpack to: fewer than of numbers, because text takes longer to parse."""
    return min(unpacked_budget(packed_bytes), max(MUCH_TEXT, TEXT_RATIO * packed_bytes))


def check_budget(path: Path, needed: float, what: str = "its content") -> None:
    """Refuse a file that says it holds more than a file of its size can be trusted with."""
    budget = unpacked_budget(path.stat().st_size)
    if needed > budget:
        raise over_budget(path, needed, budget, what)


def check_ratio(path: Path, needed: float, what: str) -> None:
    """The same by the size of the file alone, for what may be an estimate too high by some factor."""
    budget = max(FREE_BYTES, MOST_RATIO * path.stat().st_size)
    if needed > budget:
        raise over_budget(path, needed, budget, what)


def over_budget(path: Path, needed: float, budget: float, what: str) -> DataFileError:
    """Give the error for a file that unpacks to more than its budget."""
    return DataFileError(
        f"{path} must unpack to at most {format_bytes(budget)}, by its size and what memory there is",
        f"{format_bytes(needed)} or more for {what}",
        "unpack or write it again in a plain form",
    )


@contextmanager
def naming(path: str | os.PathLike[str], line: Callable[[int], str] | None = None) -> Iterator[None]:
    """Turn an input error about data into one about the file that they come from, see `errors.in_file`."""
    try:
        yield
    except (DataFileError, ModelFileError):
        raise
    except (InputError, InputTypeError) as error:
        raise in_file(error, path, line) from error


@contextmanager
def reading(
    path: str | os.PathLike[str],
    expected: str,
    remedy: str = "write it again",
    error: type[SgclearnError] = DataFileError,
    *,
    by_hand: bool = True,
) -> Iterator[None]:
    """Turn every fault of a reader into an input error: a damaged file can make a parser fail in any way.

    Parameters
    ----------
    path : path
    expected : str
        What the file must be, as in "a whole npz file of plain arrays".
    remedy : str
        What to do.
    error : type
        What is raised.
    by_hand : bool
        Whether people write such files by hand: then an input error keeps its remedy, and gets the name of the file.
        Other errors of this package pass as they are.
    """
    try:
        with naming(path) if by_hand else nullcontext():
            yield
    except (DataFileError, ModelFileError, MemoryLimitError, MissingExtraError):
        raise
    except MemoryError as fault:
        raise error(
            f"{path} must fit into memory",
            f"more than {format_bytes(memory_limit_bytes())}",
            "use a machine with more memory, or a smaller file",
        ) from fault
    except Exception as fault:
        raise error(
            f"{path} must be {expected}", f"one that could not be read ({reason_of(fault)})", remedy
        ) from fault


def reason_of(fault: BaseException, most: int = 200) -> str:
    """First sentence of what a library says, without the dot at its end, or the fault of an error of our own."""
    words = " ".join(str(fault).split()) or type(fault).__name__
    first = fault.fault() if isinstance(fault, SgclearnError) else words.split(". ")[0].rstrip(".")
    return first if len(first) <= most else f"{first[: most - 3]}..."
