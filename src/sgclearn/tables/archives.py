"""Arrays of npz files: only those that are asked for, and none before its size is known.

A few kilobytes of zip archive can hold gigabytes of zeros, so the headers are looked at first.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from sgclearn.errors import DataFileError
from sgclearn.validation.reading import check_budget, opened, reading
from sgclearn.validation.sparse import check_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NPZ = "a whole npz file of plain arrays"
_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
_MATRIX = ("format", "shape", "data", "indices", "indptr", "row", "col", "offsets")
_SAME_LENGTH = (("indices", "data"), ("indices", "weights"), ("x_indices", "x_data"), ("edges", "weights"))
# Fewer rows than this are no burden, and more of them than this for each entry are no matrix that anybody saved.
_PLAUSIBLE_ROWS = 100_000
_LAST_CHARACTER = 0x10FFFF
_ROWS_PER_ENTRY = 20


class Archive:
    """An npz file that is open: its names at once, its arrays when they are asked for.

    Attributes
    ----------
    path : Path
    names : tuple of str
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self._archive = path, archive
        self._members = _members(archive)
        self.names = tuple(self._members)

    def __fspath__(self) -> str:
        return str(self.path)

    def arrays(self, names: Collection[str]) -> dict[str, NDArray[Any]]:
        """Read those of the named arrays that the file has; object arrays, which need pickle, are refused."""
        members = {name: info for name, info in self._members.items() if name in names}
        with reading(self.path, _NPZ):
            _check_sizes(self.path, self._archive, members)
            arrays = {}
            for name, info in members.items():
                with self._archive.open(info) as stream:
                    arrays[name] = _text_checked(npy.read_array(stream, allow_pickle=False))
            return arrays

    def matrix(self) -> Any:
        """Read a matrix that `scipy.sparse.save_npz` wrote; its parts are checked before scipy sees them."""
        return _matrix_of(self.path, self.arrays(_MATRIX))


@contextmanager
def open_archive(path: Path | Archive) -> Iterator[Archive]:
    """Open an npz file for the time of a block; one that is open already is given as it is."""
    if isinstance(path, Archive):
        yield path
        return
    with ExitStack() as stack:
        with reading(path, _NPZ):
            stream = stack.enter_context(opened(path))
            if stream.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX:
                raise ValueError("it holds a single array")
            archive = Archive(path, stack.enter_context(zipfile.ZipFile(stream)))
        yield archive


def load_arrays(path: Path, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Read arrays of a file that is needed for nothing else, see `Archive.arrays`."""
    with open_archive(path) as archive:
        return archive.arrays(names)


def load_matrix(path: Path) -> Any:
    """Read the matrix of a file that is needed for nothing else, see `Archive.matrix`."""
    with open_archive(path) as archive:
        return archive.matrix()


def _text_checked(array: NDArray[Any]) -> NDArray[Any]:
    """Refuse texts with numbers that are no characters, which Python cannot spell."""
    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        codes = np.frombuffer(array.tobytes(), dtype=np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if codes.max() > _LAST_CHARACTER:
            raise ValueError("texts with characters that do not exist")
    return array


def _matrix_of(path: Path, arrays: dict[str, NDArray[Any]]) -> Any:
    import scipy.sparse as sp

    with reading(path, "a matrix that scipy.sparse.save_npz wrote", by_hand=False):
        kind = arrays["format"].item()
        kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
        shape = tuple(int(size) for size in arrays["shape"])
        if kind not in _PARTS or len(shape) != 2 or min(shape) < 0:
            raise ValueError(f"a matrix of the format {kind!r} and shape {shape}")
        data, *given = (arrays[name] for name in _PARTS[kind])
        parts = [_whole(part) for part in given]
        _refuse_many_rows(path, kind, shape, data.size)
        if kind in ("coo", "dia"):
            entries: Any = (data, tuple(parts)) if kind == "coo" else (data, parts[0])
        else:
            # scipy would silently leave out what lies behind the last row.
            if len(parts[1]) == 0 or parts[1][-1] != len(parts[0]):
                raise ValueError("row starts that do not end at the number of entries")
            entries = (data, *parts)
        return check_sparse(getattr(sp, f"{kind}_array")(entries, shape=shape), "the matrix")


def csr_of_parts(path: Path, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """CSR matrix of arrays that a file has under names of its own."""
    import scipy.sparse as sp

    with reading(path, "a file with the parts of a csr matrix", by_hand=False):
        # Archives keep narrow or unsigned indices to be small; scipy computes with signed ones.
        indices, indptr = (_whole(part) for part in (indices, indptr))
        if len(indptr) == 0 or indptr[-1] != len(indices):
            raise ValueError("row starts that do not end at the number of entries")
        matrix = sp.csr_array((data, indices, indptr), shape=tuple(int(size) for size in shape))
        return check_sparse(matrix, "the matrix")


def _whole(part: NDArray[Any]) -> NDArray[np.int64]:
    if part.dtype.kind not in "iu" or part.ndim != 1:
        raise ValueError("indices that are no list of whole numbers")
    return part.astype(np.int64)  # one that wraps is negative, and found by the check


def _refuse_many_rows(path: Path, kind: str, shape: tuple[int, ...], n_entries: int) -> None:
    # Compressed rows have as many row starts as rows, so their file bounds what they need in memory.
    if kind not in ("csr", "bsr") and shape[0] > max(_PLAUSIBLE_ROWS, _ROWS_PER_ENTRY * n_entries):
        raise DataFileError(
            f"{path} must have entries in more of its rows",
            f"{n_entries:,} in {shape[0]:,} rows",
            "save it as csr if that is meant",
        )


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    members = {}
    for info in archive.infolist():
        # numpy would take a member without the suffix for the array of that name, whatever its size.
        if not info.filename.endswith(".npy"):
            raise ValueError(f"it holds {info.filename!r}, which is no array")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # numpy writes no others, and of these zipfile unpacks as much at once as it likes
            raise ValueError(f"it holds {info.filename!r} packed in another way than numpy packs")
        members[info.filename.removesuffix(".npy")] = info
    return members


def _check_sizes(path: Path, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> None:
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
    check_budget(path, total, "its arrays")


def _header(stream: Any) -> tuple[tuple[int, ...], int]:
    """Shape and bytes of the array that follows; leaves the stream where it starts."""
    version = npy.read_magic(stream)
    if version not in {(1, 0), (2, 0)}:
        raise ValueError("it holds a structured array")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("object arrays need pickle, which is not loaded")
    cells = math.prod(shape)
    if (
        cells and dtype.itemsize == 0
    ):  # any number of them takes no byte of the file, but each an object of memory
        raise ValueError(f"{cells:,} texts of length 0")
    return shape, dtype.itemsize * cells
