"""Which words are nodes: documents as numbers of words, and the limits that a word must keep."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import InputError, InputTypeError, Setting
from sgclearn.tables.messages import counted
from sgclearn.tasks.text.tokens import Tokenizer

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Corpus:
    """Documents as rows of words, in the order of the text.

    Parameters
    ----------
    words : integer array, shape (T,)
        Number of the word at each position, all documents one after the other.
    starts : integer array, shape (D + 1,)
        Document i occupies positions ``starts[i]:starts[i + 1]``.
    vocabulary : object array of str, shape (W,)
        The words, ascending.
    """

    words: NDArray[np.int32]
    starts: NDArray[np.int64]
    vocabulary: NDArray[Any]

    @property
    def n_documents(self) -> int:
        """Number of documents D."""
        return len(self.starts) - 1

    @property
    def n_words(self) -> int:
        """Number of different words W."""
        return len(self.vocabulary)

    def counts(self) -> sp.csr_array:
        """How often each word stands in each document, shape (D, W), rows sorted."""
        ones = np.ones(len(self.words), dtype=np.int64)
        parts = (ones, self.words.copy(), self.starts.copy())  # summing writes into them
        matrix = sp.csr_array(parts, shape=(self.n_documents, self.n_words))
        matrix.sum_duplicates()
        return matrix


@dataclass(frozen=True)
class Limits:
    """Which words are kept; see `TextGraphBuilder`."""

    min_count: int
    min_df: int | float
    max_df: int | float
    max_words: int | None

    def __post_init__(self) -> None:
        check_integer("min_count", self.min_count)
        if self.max_words is not None:
            check_integer("max_words", self.max_words)
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            share = isinstance(value, float | np.floating) and 0 <= value <= 1
            if not share and (
                isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1
            ):
                raise InputError(
                    f"{name} must be a number of documents (1, 2, ...) or a share of them (0.0 to 1.0)",
                    repr(value),
                    argument=name,
                )


def read_words(
    docs: Sequence[str], cut: Tokenizer, stop_words: frozenset[str], on_progress: Progress | None = None
) -> Corpus:
    """Cut documents into words; those of `stop_words` leave no gap behind."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new word gets the next number
    words, starts = array("i"), [0]
    for done, tokens in enumerate(_cut_all(docs, cut), start=1):
        if stop_words:
            tokens = [word for word in tokens if word not in stop_words]
        words.extend(map(numbers.__getitem__, tokens))
        starts.append(len(words))
        if on_progress is not None and done % 1000 == 0:
            on_progress(done, len(docs))
    names = np.fromiter(numbers, dtype=object, count=len(numbers))
    order = np.argsort(names)  # strings ascending, so that the order of documents does not matter
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    found = np.frombuffer(words, dtype=np.int32) if words else np.empty(0, dtype=np.int32)
    return Corpus(rank[found], np.array(starts, dtype=np.int64), names[order])


def _cut_all(docs: Sequence[str], cut: Tokenizer) -> Iterator[list[str]]:
    for row, text in enumerate(docs):
        given: Any = cut(text)
        tokens = list(given) if hasattr(given, "__iter__") else [given]
        if isinstance(given, str) or not all(issubclass(kind, str) for kind in set(map(type, tokens))):
            raise InputTypeError(
                "analyzer must give a list of words",
                f"{given!r:.60} for the document at position {row}",
                "give each word as a string",
                argument="analyzer",
            )
        yield tokens


def keep_words(corpus: Corpus, limits: Limits) -> Corpus:
    """Leave out the words beyond the limits; as with stop words, their neighbours move together."""
    counts = corpus.counts()
    df = document_frequency(counts)
    total = np.asarray(counts.sum(axis=0)).ravel()
    kept = (df >= _documents(limits.min_df, corpus.n_documents)) & (total >= limits.min_count)
    kept &= df <= _documents(limits.max_df, corpus.n_documents)
    if limits.max_words is not None and np.count_nonzero(kept) > limits.max_words:
        # Of two words that are as frequent, the first of the alphabet stays.
        frequent = np.argsort(np.where(kept, -total, 0), kind="stable")[: limits.max_words]
        kept = np.zeros_like(kept)
        kept[frequent] = True
    if kept.all():
        return corpus
    if not kept.any():
        raise InputError(
            (
                *("at least one word must be left by ", Setting("min_count", limits.min_count), ", "),
                *(Setting("min_df", limits.min_df), ", ", Setting("max_df", limits.max_df)),
            ),
            f"{counted(corpus.n_words, 'word')} in {counted(corpus.n_documents, 'document')} and none within "
            "the limits",
            "widen them",
        )
    return restrict(corpus, kept)


def restrict(corpus: Corpus, kept: NDArray[np.bool_]) -> Corpus:
    """Corpus of some of its words."""
    number = np.cumsum(kept, dtype=np.int32) - 1
    stays = kept[corpus.words]
    before = np.concatenate([[0], np.cumsum(stays, dtype=np.int64)])
    return Corpus(number[corpus.words[stays]], before[corpus.starts], corpus.vocabulary[kept])


def document_frequency(counts: sp.csr_array) -> NDArray[np.int64]:
    """Number of documents with each word, shape (W,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def count_known(docs: Sequence[str], cut: Tokenizer, vocabulary: NDArray[Any]) -> sp.csr_array:
    """How often each word of a vocabulary stands in each document, shape (m, W); other words are ignored."""
    numbers = {word: number for number, word in enumerate(vocabulary.tolist())}
    words, starts = array("i"), [0]
    for tokens in _cut_all(docs, cut):
        words.extend([numbers[word] for word in tokens if word in numbers])
        starts.append(len(words))
    found = np.frombuffer(words, dtype=np.int32) if words else np.empty(0, dtype=np.int32)
    return Corpus(found, np.array(starts, dtype=np.int64), vocabulary).counts()


def _documents(limit: int | float, n_documents: int) -> float:
    # A share that is a whole number of documents must not miss it by rounding.
    return limit if isinstance(limit, int | np.integer) else round(limit * n_documents, 9)


def check_integer(name: str, value: object, least: int = 1) -> None:
    """Refuse what is no integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}", repr(value), argument=name)
