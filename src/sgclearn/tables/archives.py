"""Arrays of npz files: only those that are asked for, and none before its size is known.

A few kilobytes of zip archive can hold gigabytes of zeros, so the headers are looked at first.
"""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.lib import format as npy

from sgclearn.errors import DataFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MATRIX = ("format", "shape", "data", "indices", "indptr", "row", "col", "coords", "offsets")
_SAME_LENGTH = (("indices", "data"), ("indices", "weights"), ("x_indices", "x_data"), ("edges", "weights"))
# Fewer rows than this are no burden, and more of them than this for each entry are no matrix that anybody saved.
_PLAUSIBLE_ROWS = 100_000
_ROWS_PER_ENTRY = 20


def array_names(path: Path) -> tuple[str, ...]:
    """Names of the arrays in an npz file."""
    with _opened(path) as archive:
        return tuple(_members(archive))


def load_arrays(path: Path, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Read those of the named arrays that the file has; object arrays, which need pickle, are refused."""
    with _opened(path) as archive:
        members = {name: info for name, info in _members(archive).items() if name in names}
        _check_sizes(archive, members)
        arrays = {}
        for name, info in members.items():
            with archive.open(info) as stream:
                arrays[name] = npy.read_array(stream, allow_pickle=False)
        return arrays


def load_matrix(path: Path) -> Any:
    """Read the matrix of a file that `scipy.sparse.save_npz` wrote."""
    import scipy.sparse as sp

    with _opened(path) as archive:
        members = _members(archive)
        _check_sizes(archive, {name: info for name, info in members.items() if name in _MATRIX})
    try:
        matrix = sp.load_npz(path)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zlib.error) as error:
        raise DataFileError(
            f"{path} must be a matrix that scipy.sparse.save_npz wrote, and could not be read "
            f"({_reason(error)}): write it again."
        ) from None
    # Compressed rows have as many row starts as rows, so their file bounds what they need in memory.
    limit = max(_PLAUSIBLE_ROWS, _ROWS_PER_ENTRY * matrix.nnz)
    if matrix.format not in {"csr", "bsr"} and matrix.shape[0] > limit:
        raise DataFileError(
            f"{path} must have entries in more of its rows: got {matrix.nnz:,} in {matrix.shape[0]:,} rows; "
            "save it as csr if that is meant."
        )
    return matrix


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "nothing there"
        raise DataFileError(f"{path} must be an existing file: got {kind}; check the path.")
    try:
        with path.open("rb") as stream:
            if stream.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX:
                raise ValueError("it holds a single array")
            with zipfile.ZipFile(stream) as archive:
                yield archive
    except DataFileError:
        raise
    # What zipfile and numpy raise for a file that is cut short, is no archive, or holds pickled objects.
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise DataFileError(
            f"{path} must be a whole npz file of plain arrays, and could not be read ({_reason(error)}): "
            "write it again."
        ) from None


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    members = {}
    for info in archive.infolist():
        # numpy would take a member without the suffix for the array of that name, whatever its size.
        if not info.filename.endswith(".npy"):
            raise ValueError(f"it holds {info.filename!r}, which is no array")
        members[info.filename.removesuffix(".npy")] = info
    return members


def _check_sizes(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> None:
    shapes, total = {}, 0
    for name, info in members.items():
        with archive.open(info) as stream:
            shape, size = _header(stream)
            if size != info.file_size - stream.tell():
                raise ValueError(f"the array {name!r} is not of the size that its header gives")
        shapes[name], total = shape, total + size
    for one, other in _SAME_LENGTH:
        if one in shapes and other in shapes and shapes[one][:1] != shapes[other][:1]:
            raise ValueError(
                f"the arrays {one!r} and {other!r} have {shapes[one]} and {shapes[other]} entries"
            )
    memory = _machine_memory()
    if memory is not None and total > memory:
        raise ValueError(f"its arrays take {total:,} bytes, and the machine has {memory:,}")


def _header(stream: Any) -> tuple[tuple[int, ...], int]:
    """Shape and bytes of the array that follows; leaves the stream where it starts."""
    version = npy.read_magic(stream)
    if version not in {(1, 0), (2, 0)}:
        raise ValueError("it holds a structured array")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("object arrays need pickle, which is not loaded")
    size = dtype.itemsize
    for length in shape:
        size *= length
    return shape, size


def _machine_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
