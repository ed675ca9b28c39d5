"""Word vectors such as GloVe: read once, only the words that are needed, averaged over names of several words."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import DataFileError, InputError, InputTypeError
from sgclearn.tables.archives import open_archive
from sgclearn.tables.contents import content
from sgclearn.validation.parameters import check_texts, check_type
from sgclearn.validation.reading import as_path, check_encoding, reading

if TYPE_CHECKING:
    import os

_PARTS = re.compile(r"[\s_-]+")
_MOST_DIMENSIONS = 10_000


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A table of word vectors.

    Parameters
    ----------
    words : sequence of str (V,)
        Each once.
    matrix : ndarray (V, d), float32
        Row i is the vector of `words[i]`.

    Examples
    --------
    >>> vectors = WordVectors(["sea", "snake"], np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32))
    >>> vectors.positions(["Snake", "boat"])
    array([ 1, -1])
    >>> vectors.averages(["sea snake", "snake boat", "boat"])
    (array([[0.5, 0.5],
           [0. , 1. ],
           [0. , 0. ]], dtype=float32), array([2, 1, 0]))
    """

    words: Sequence[str]
    matrix: NDArray[np.float32]

    def __post_init__(self) -> None:
        check_type(self.words, (list, tuple), "words", "give the words in the order of the rows")
        check_type(self.matrix, np.ndarray, "matrix", "give one row a word")
        if self.matrix.dtype.kind != "f" or not all(isinstance(word, str) for word in self.words):
            raise InputTypeError(
                "words must be texts and matrix real numbers", str(self.matrix.dtype), "convert them first"
            )
        if self.matrix.ndim != 2 or len(self.words) != len(self.matrix):
            raise InputError(
                "matrix must have numbers, one row a word",
                f"{self.matrix.dtype} of shape {self.matrix.shape} for {len(self.words):,} words",
                "give the words in the order of the rows",
                argument="matrix",
            )

    @property
    def n_dimensions(self) -> int:
        """Length d of a vector."""
        return int(self.matrix.shape[1])

    @cached_property
    def _position(self) -> dict[str, int]:
        # The first of two equal words counts: files list the frequent spelling first.
        return {word: at for at, word in reversed(list(enumerate(self.words)))}

    def positions(self, words: Iterable[str]) -> NDArray[np.intp]:
        """Row of each word, -1 for an unknown one: the word as it is spelled, or else in lower case."""
        words = check_texts(words, "words")
        found = (self._position.get(word, self._position.get(word.lower(), -1)) for word in words)
        return np.fromiter(found, dtype=np.intp)

    def averages(self, names: Iterable[str]) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """Vectors of names of several words.

        The vector of a name is that of the whole name, spelled with hyphens, or else the mean over its known words;
        words end at spaces, underscores and hyphens.

        Returns
        -------
        vectors : ndarray (m, d)
            Zero for a name without a known word.
        n_known : ndarray (m,)
            Words that each mean is over.
        """
        rows: list[NDArray[np.intp]] = []
        for name in check_texts(names, "names"):
            parts = [part for part in _PARTS.split(name) if part]
            whole = self.positions(["-".join(parts)])
            found = whole if whole[0] >= 0 else self.positions(parts)
            rows.append(found[found >= 0])
        n_known = np.array([len(found) for found in rows], dtype=np.intp)
        sums = np.zeros((len(rows), self.n_dimensions), dtype=np.float32)
        if n_known.any():
            np.add.at(sums, np.repeat(np.arange(len(rows)), n_known), self.matrix[np.concatenate(rows)])
        sums /= np.maximum(n_known, 1)[:, None]
        return sums, n_known


def read_word_vectors(
    path: str | os.PathLike[str], words: Collection[str] | None = None, *, encoding: str = "utf-8"
) -> WordVectors:
    """Read word vectors from a text file as GloVe and word2vec write it, or from an npz file.

    Parameters
    ----------
    path : path
        One word a line, then its numbers, divided by spaces; a first line of two whole numbers is word2vec's
        header. Also `.gz`, `.bz2`, `.xz`. Or an npz file with the array `vector` (V, d) and the words in an array
        `words`, or one a line in a file next to it: `NAME.words.txt` or `NAME.words.txt.gz`.
    words : collection of str, optional
        Keep only these, in any spelling of upper and lower case, so that a large file need not fit in memory.
    encoding : str, default "utf-8"
        Of the text. Bytes that do not belong to it stay in the word as they are, since public files hold some.

    Returns
    -------
    WordVectors
        In the order of the file; of two lines with the same word the first counts.
    """
    path = as_path(path)
    check_encoding(encoding)
    wanted = None
    if words is not None:
        wanted = {word for spelled in check_texts(words, "words") for word in (spelled, spelled.lower())}
    with reading(path, "a file of word vectors"):
        if path.suffix.lower() == ".npz":
            return _kept(_of_npz(path), wanted)
        return _of_text(path, wanted, encoding)


def _kept(vectors: WordVectors, wanted: set[str] | None) -> WordVectors:
    if wanted is None:
        return vectors
    rows = [at for at, word in enumerate(vectors.words) if word in wanted]
    return WordVectors([vectors.words[at] for at in rows], vectors.matrix[rows])


def _of_npz(path: Path) -> WordVectors:
    with open_archive(path) as archive:
        arrays = archive.arrays(("vector", "words"))
    if "vector" not in arrays:
        names = ", ".join(archive.names) or "no array"
        raise DataFileError(f"{path} must hold an array called vector", names, "rename the array")
    matrix = arrays["vector"]
    if matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise DataFileError(
            f"{path}: vector must be a table of numbers, one row a word",
            f"{matrix.dtype} of shape {matrix.shape}",
            "write it again",
        )
    words = _words_of(path, arrays["words"]) if "words" in arrays else _words_next_to(path)
    if len(words) != len(matrix):
        raise DataFileError(
            f"{path} must have one row a word",
            f"{len(matrix):,} rows and {len(words):,} words",
            "write it again",
        )
    return WordVectors(words, _finite(path, matrix.astype(np.float32)))


def _words_of(path: Path, words: NDArray[Any]) -> list[str]:
    if words.ndim != 1 or words.dtype.kind != "U":
        raise DataFileError(
            f"{path}: words must be a list of texts",
            f"{words.dtype} of shape {words.shape}",
            "write it again",
        )
    found: list[str] = words.tolist()
    return found


def _words_next_to(path: Path) -> list[str]:
    for suffix in (".words.txt", ".words.txt.gz"):
        file = path.with_name(path.stem + suffix)
        if file.exists():
            return bytes(content(file)).decode("utf-8").splitlines()
    raise DataFileError(
        f"{path} must have its words in an array called words or in a file next to it",
        f"neither the array nor {path.stem}.words.txt",
        "add one",
    )


def _of_text(path: Path, wanted: set[str] | None, encoding: str) -> WordVectors:
    text = content(path)
    lines = io.BytesIO(text) if isinstance(text, bytes) else text
    words: list[str] = []
    rows: list[NDArray[np.float32]] = []
    seen: set[str] = set()
    n_dimensions = 0
    number = 0
    while line := lines.readline():
        number += 1
        cells = line.rstrip().split(b" ")
        if number == 1 and len(cells) == 2 and all(cell.isdigit() for cell in cells):
            continue  # word2vec's header: number of words, number of dimensions
        if cells == [b""]:
            continue
        n_dimensions = n_dimensions or len(cells) - 1
        if not 0 < n_dimensions <= _MOST_DIMENSIONS or len(cells) <= n_dimensions:
            raise _bad_line(path, number, n_dimensions, len(cells) - 1)
        # A word may hold spaces: the numbers are the last d cells.
        word = b" ".join(cells[:-n_dimensions]).decode(encoding, errors="surrogateescape")
        if word in seen or (wanted is not None and word not in wanted):
            continue
        seen.add(word)
        words.append(word)
        rows.append(_numbers(path, number, cells[-n_dimensions:]))
    if number == 0 or n_dimensions == 0:
        raise DataFileError(f"{path} must hold word vectors", "an empty file", "check the path")
    matrix = np.array(rows, dtype=np.float32).reshape(len(rows), n_dimensions)
    return WordVectors(words, _finite(path, matrix))


def _numbers(path: Path, number: int, cells: list[bytes]) -> NDArray[np.float32]:
    try:
        return np.array(cells, dtype=np.float32)
    except ValueError as error:
        raise DataFileError(
            f"{path} must have a word and then numbers in every line",
            f"{' '.join(cell.decode('utf-8', 'replace') for cell in cells[:3])!r} in line {number}",
            "give a file as GloVe writes it",
        ) from error


def _bad_line(path: Path, number: int, expected: int, got: int) -> DataFileError:
    what = f"{expected} numbers" if 0 < expected <= _MOST_DIMENSIONS else "numbers"
    return DataFileError(
        f"{path} must have a word and then {what} in every line",
        f"{got} in line {number}",
        "give a file as GloVe writes it",
    )


def _finite(path: Path, matrix: NDArray[Any]) -> NDArray[np.float32]:
    if not np.isfinite(matrix).all():
        at = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise DataFileError(
            f"{path} must hold finite numbers",
            f"nan or inf in the vector of word {at + 1}",
            "leave the word out",
        )
    return matrix.astype(np.float32, copy=False)
