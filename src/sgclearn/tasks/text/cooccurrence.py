"""Words that stand near each other: window counts, and the pointwise mutual information they give.

A window of w words slides over each document one word at a time; a document of w words or fewer is one window. With
N windows, n_i of them holding word i and n_ij holding both i and j,

    PMI(i, j) = log(n_ij N / (n_i n_j)).

No window is ever built. In the window that ends at position e, let p and q be the *last* positions of two words. Each
window that holds both words has exactly one such pair, and (p, q) is that pair for the ends e with

    max(p, q, first end) <= e <= min(reach(p), reach(q)),
    reach(p) = min(p + w - 1, last position of the document, next position of the same word - 1),

so n_ij is the sum of these lengths over the pairs less than w apart. With P the (T, W) matrix that says which word
stands at which of T positions, and B the (T, W) matrix with the words around each position weighted by these lengths,
the counts are P' B. Taken a few words at a time, that is a sparse product whose rows are final as soon as they exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sgclearn.tasks.text.vocabulary import Corpus

Counting: TypeAlias = Literal["windows", "positions", "permutations"]

# Pairs of positions that are counted together, and what each takes meanwhile.
BLOCK_PAIRS = 4_000_000
BYTES_PER_PAIR = 30
_INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class WindowEnds:
    """Which windows each position p counts for: those that end in [begin, reach], shape (T,) each."""

    begin: NDArray[Any]  # max(p, first end)
    reach: NDArray[Any]


def window_ends(corpus: Corpus, window: int, *, once: bool) -> WindowEnds:
    """Find the ends; `once` lets a window count only the last position of each word."""
    lengths = np.diff(corpus.starts)
    position = np.arange(len(corpus.words))
    begin = np.maximum(position, np.repeat(corpus.starts[:-1] + np.minimum(lengths, window) - 1, lengths))
    reach = np.minimum(position + (window - 1), np.repeat(corpus.starts[1:] - 1, lengths))
    if once:
        document = np.repeat(np.arange(corpus.n_documents), lengths)
        key = document * corpus.n_words + corpus.words
        order = np.argsort(key, kind="stable")
        again = key[order[1:]] == key[order[:-1]]
        here, following = order[:-1][again], order[1:][again]
        reach[here] = np.minimum(reach[here], following - 1)
    dtype = np.int32 if len(position) + 2 * window <= _INT32_MAX else np.int64
    return WindowEnds(begin.astype(dtype), reach.astype(dtype))


def count_windows(corpus: Corpus, window: int) -> int:
    """Number of windows N; a document without words has none.

    Examples
    --------
    >>> corpus = Corpus(np.array([0, 1, 0, 2]), np.array([0, 3, 3, 4]), np.array(["a", "b", "c"], dtype=object))
    >>> count_windows(corpus, window=2)
    3
    """
    lengths = np.diff(corpus.starts)
    return int(np.maximum(lengths - window + 1, lengths > 0).sum())


def count_word_windows(corpus: Corpus, window: int) -> NDArray[np.int64]:
    """Number of windows with each word n_i, shape (W,).

    Examples
    --------
    >>> corpus = Corpus(np.array([0, 1, 0, 2]), np.array([0, 3, 3, 4]), np.array(["a", "b", "c"], dtype=object))
    >>> count_word_windows(corpus, window=2)
    array([2, 2, 1])
    """
    ends = window_ends(corpus, window, once=True)
    times = np.maximum(ends.reach - ends.begin + 1, 0)
    return np.bincount(corpus.words, weights=times, minlength=corpus.n_words).astype(np.int64)


def count_neighbours(
    corpus: Corpus, window: int, counting: Counting = "windows", *, block_pairs: int = BLOCK_PAIRS
) -> Iterator[tuple[int, sp.csr_array]]:
    """Count how often words share a window, a few words at a time.

    Parameters
    ----------
    corpus : Corpus
    window : int
        Words in a window, w.
    counting : {"windows", "positions", "permutations"}
        What counts; see `TextGraphBuilder`.
    block_pairs : int
        Pairs of positions that are counted together.

    Yields
    ------
    first : int
        First word of the rows.
    rows : csr_array, shape (m, W)
        n_ij of the words first, ..., first + m - 1 with all words; columns in no order.

    Notes
    -----
    Cost: O(T w) time for T words of text; O(T + block_pairs) memory beside what is yielded.

    Examples
    --------
    >>> corpus = Corpus(np.array([0, 1, 0, 2]), np.array([0, 3, 3, 4]), np.array(["a", "b", "c"], dtype=object))
    >>> [(first, rows.toarray().tolist()) for first, rows in count_neighbours(corpus, window=2)]
    [(0, [[0, 2, 0], [2, 0, 0], [0, 0, 0]])]
    """
    width = max(1, min(window, int(np.diff(corpus.starts).max(initial=1))))
    around = _Neighbourhoods(corpus, width, counting)
    order = np.argsort(corpus.words, kind="stable")  # positions by word
    starts = np.concatenate([[0], np.cumsum(np.bincount(corpus.words, minlength=corpus.n_words))])
    step = max(1, block_pairs // (2 * width - 1))
    first = 0
    while first < corpus.n_words:
        stop = max(first + 1, int(np.searchsorted(starts, starts[first] + step, side="right")) - 1)
        total = None
        # One word may have more positions than a block, which then takes several turns.
        for low in range(starts[first], starts[stop], step):
            positions = order[low : min(low + step, starts[stop])]
            ends = np.clip(starts[first : stop + 1] - low, 0, len(positions))
            rows = _sum_rows(around.rows(positions), ends)
            total = rows if total is None else total + rows
        yield first, total
        first = stop


class _Neighbourhoods:
    """The words around each position, each as often as the pair counts: B of the top of this file."""

    def __init__(self, corpus: Corpus, width: int, counting: Counting) -> None:
        self._n_words, self._counting, self._width = corpus.n_words, counting, width
        self._ends = window_ends(corpus, width, once=counting == "windows")
        dtype = self._ends.reach.dtype
        self._offsets = np.arange(1 - width, width, dtype=dtype)
        # Beyond both ends of the text stand positions that no window reaches.
        span = 2 * width - 1
        self._words = sliding_window_view(np.pad(corpus.words, width - 1), span)  # (T, 2w - 1)
        self._reach = sliding_window_view(np.pad(self._ends.reach, width - 1, constant_values=-1), span)
        most = count_windows(corpus, width) * (1 if counting == "windows" else width * width)
        self._dtype = np.int32 if most <= _INT32_MAX else np.int64

    def rows(self, positions: NDArray[np.intp]) -> sp.csr_array:
        """Rows of B, shape (len(positions), W), with repeated columns."""
        ends, words = self._ends, self._words[positions]
        # A position of another document ends before this one begins or begins after it ends: nothing is shared.
        start = positions.astype(self._offsets.dtype)[:, None] + self._offsets
        np.maximum(start, ends.begin[positions][:, None], out=start)
        times = np.minimum(self._reach[positions], ends.reach[positions][:, None])
        times -= start
        times += 1
        times[:, self._width - 1] = 0  # a position beside itself
        counted = times > 0
        if self._counting == "positions":
            counted &= words != words[:, [self._width - 1]]
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(counted, axis=1))])
        data = times[counted].astype(self._dtype)
        return sp.csr_array((data, words[counted], indptr), shape=(len(positions), self._n_words))


def _sum_rows(matrix: sp.csr_array, ends: NDArray[np.intp]) -> sp.csr_array:
    """Sums of the rows ends[i]:ends[i + 1]; repeated columns are added up on the way."""
    n_rows = matrix.shape[0]
    ones = np.ones(n_rows, dtype=matrix.dtype)
    return sp.csr_array((ones, np.arange(n_rows), ends), shape=(len(ends) - 1, n_rows)) @ matrix


def positive_pmi(
    first: int, rows: sp.csr_array, word_windows: NDArray[np.int64], n_windows: int
) -> sp.csr_array:
    """Positive PMI of counted words; what is not positive is not stored.

    Parameters
    ----------
    first, rows : int, csr_array of shape (m, W)
        Counts n_ij as `count_neighbours` yields them.
    word_windows : integer array, shape (W,)
        n_i.
    n_windows : int
        N.

    Returns
    -------
    csr_array, shape (m, W)
        Columns ascending.

    Examples
    --------
    >>> rows = sp.csr_array(np.array([[0, 2, 1]]))
    >>> positive_pmi(0, rows, np.array([4, 2, 4]), n_windows=8).toarray().round(3)
    array([[0.   , 0.693, 0.   ]])
    """
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    largest = max(int(rows.data.max(initial=0)), n_windows) * n_windows
    # Integers decide which pairs are positive, so that rounding does not, as long as they can hold the products.
    dtype = np.int64 if largest < 2**63 else np.float64
    together, single = rows.data.astype(dtype) * n_windows, word_windows.astype(dtype)
    apart = single[row + first] * single[rows.indices]
    positive = together > apart
    values = np.log(together[positive] / apart[positive])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[positive], minlength=rows.shape[0]))])
    pmi = sp.csr_array((values, rows.indices[positive], indptr), shape=rows.shape)
    pmi.sort_indices()
    return pmi
