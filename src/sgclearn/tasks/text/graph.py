"""The graph of documents and words, and the builder that makes it from texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import Alternatives, InputError, MemoryLimitError, Setting
from sgclearn.graph import Graph
from sgclearn.graph.build import Rows, index_dtype
from sgclearn.graph.ids import NodeIds
from sgclearn.tables.messages import counted
from sgclearn.tasks.text.cooccurrence import (
    BLOCK_PAIRS,
    BYTES_PER_PAIR,
    Counting,
    count_neighbours,
    count_windows,
    count_word_windows,
    positive_pmi,
)
from sgclearn.tasks.text.tokens import Analyzer, StopWords, check_documents, stop_word_set, tokenizer
from sgclearn.tasks.text.vocabulary import (
    Corpus,
    Limits,
    Progress,
    check_integer,
    count_known,
    document_frequency,
    keep_words,
    read_words,
)
from sgclearn.validation.memory import format_bytes, memory_limit_bytes

# An index and a weight, in the rows of a few words and again in the rows of the whole graph.
_BYTES_PER_ENTRY = 24
# Word, document, where its windows end, and the orders by word, for each word of the text.
_BYTES_PER_POSITION = 60


@dataclass(frozen=True, kw_only=True)
class TextGraphBuilder:
    r"""How documents become one graph of documents and words.

    Nodes are the D documents, then the W words. A document and a word in it share an edge of weight

    .. math:: \text{tf} \cdot \log(D / \text{df}),

    where tf is how often the word stands in the document and df the number of documents with it. Two words share
    one of weight :math:`\log(n_{ij} N / (n_i n_j))` where that is positive: N windows of `window` words slide over
    the documents, n_i of them hold the first word, n_j the second, n_ij both. A word that is left out leaves no gap.

    Parameters
    ----------
    analyzer : {"words", "textgcn", "sgc", "whitespace"} or callable, default "words"
        How a text is cut. "words": lower case, two word characters or more, as in scikit-learn. "textgcn": the
        cleaning of TextGCN, where marks and English endings are words too. "sgc": that of the paper's own code,
        which takes out marks and leaves no gap, so that an address is one word. Both know no letters but ASCII.
        "whitespace": whatever stands between spaces, for text that is cleaned already. A function gives the list of
        words of a text.
    stop_words : {"english", "textgcn"}, list of str or None, default None
        Words to leave out: scikit-learn's list of 318, the 179 that TextGCN's cleaned corpora lack (NLTK's list
        of 2018; applied with `min_count=5` to the raw corpora it gives the cleaned ones), or your own.
    min_count : int, default 1
        Least number of times that a word must occur in all documents together.
    min_df, max_df : int or float, default 1 and 1.0
        Least and largest number of documents with the word; a float is a share of the documents.
    max_words : int, optional
        Keep only so many words, those that occur most often.
    window : int, default 20
        Words in a window, at least 2.
    counting : {"windows", "positions", "permutations"}, default "windows"
        What n_ij counts. "windows": windows that hold both words. "positions": pairs of positions in a window, so
        that a repeated word counts again, as TextGCN's public code does. "permutations": the same, with a word
        also beside itself, in both orders, as the public code of the paper does; its graph has self-loops.

    Notes
    -----
    The same texts and settings give the same bits; in another order the documents' nodes are in that order.
    A word that stands in every document has idf 0, and no edge to any of them.
    Cost: O(T w) time for T words of text and windows of w; memory for the result, twice, and one block of pairs.

    Examples
    --------
    >>> text_graph = TextGraphBuilder(window=3).build(["oil price up", "oil price down", "corn harvest"])
    >>> text_graph
    TextGraph(3 documents, 6 words, 14 edges)
    >>> text_graph.vocabulary.tolist()
    ['corn', 'down', 'harvest', 'oil', 'price', 'up']
    """

    analyzer: Analyzer = "words"
    stop_words: StopWords = None
    min_count: int = 1
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_words: int | None = None
    window: int = 20
    counting: Counting = "windows"

    def __post_init__(self) -> None:
        tokenizer(self.analyzer)
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(sorted(stop_word_set(self.stop_words))))
        stop_word_set(self.stop_words)
        check_integer("window", self.window, 2)
        if self.counting not in get_args(Counting):
            listing = ", ".join(map(repr, get_args(Counting)))
            raise InputError(f"counting must be one of {listing}", repr(self.counting), argument="counting")
        self._limits()

    def _limits(self) -> Limits:
        return Limits(self.min_count, self.min_df, self.max_df, self.max_words)

    def build(
        self,
        docs: Sequence[str],
        on_progress: Progress | None = None,
        *,
        memory_limit: int | float | str | None = None,
    ) -> TextGraph:
        """Make the graph of some documents.

        Parameters
        ----------
        docs : sequence of str
            Texts; one without words becomes a document without edges.
        on_progress : callable, optional
            Called as `f(done, of)`; every document counts twice, once when it is cut into words and once when
            its windows are counted.
        memory_limit : int or str, optional
            Bytes, or a text such as "4GB", that the graph may take while it is made; by default what
            SGCLEARN_MEMORY_LIMIT says, else 80 % of what is available.

        Returns
        -------
        TextGraph
        """
        texts = check_documents(docs)
        if not texts:
            raise InputError(
                "docs must hold at least one document", "none", "check where they come from", argument="docs"
            )
        limit = memory_limit_bytes(memory_limit)
        report = _Report(on_progress, len(texts))
        corpus = read_words(texts, tokenizer(self.analyzer), stop_word_set(self.stop_words), report.cut)
        if corpus.n_words == 0:
            raise InputError(
                "docs must hold at least one word",
                f"{counted(len(texts), 'document')} without any",
                "check the text, the analyzer and the stop words",
                argument="docs",
            )
        corpus = keep_words(corpus, self._limits())
        return self._connected(corpus, report, limit)

    def _connected(self, corpus: Corpus, report: _Report, limit: int) -> TextGraph:
        counts = corpus.counts()
        idf = np.log(corpus.n_documents / document_frequency(counts))
        documents = _weighted(counts, idf)  # (D, W)
        word_windows, n_windows = count_word_windows(corpus, self.window), count_windows(corpus, self.window)
        by_word = documents.T.tocsr()
        empty = sp.csr_array((corpus.n_documents, corpus.n_documents))
        blocks = [sp.hstack([empty, documents], format="csr")]
        n_stored = blocks[0].nnz
        block_pairs = min(BLOCK_PAIRS, max(1, limit // (4 * BYTES_PER_PAIR)))
        fixed = _BYTES_PER_POSITION * len(corpus.words) + BYTES_PER_PAIR * block_pairs
        _check_memory(fixed + _BYTES_PER_ENTRY * n_stored, 0, corpus.n_words, limit)
        for first, near in count_neighbours(corpus, self.window, self.counting, block_pairs=block_pairs):
            stop = first + near.shape[0]
            words = positive_pmi(first, near, word_windows, n_windows)
            blocks.append(sp.hstack([by_word[first:stop], words], format="csr"))
            n_stored += blocks[-1].nnz
            _check_memory(fixed + _BYTES_PER_ENTRY * n_stored, stop, corpus.n_words, limit)
            report.counted(stop / corpus.n_words)
        return TextGraph(_stacked(blocks, n_stored), corpus.vocabulary, idf, self)

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as JSON can hold them; `TextGraphBuilder(**settings)` is the same builder again."""
        if callable(self.analyzer):
            name = getattr(self.analyzer, "__name__", repr(self.analyzer))
            raise InputError(
                "analyzer must be 'words', 'textgcn' or 'whitespace' to be saved",
                f"the function {name}, which no file can hold",
                "cut the texts with it first, join the words by spaces and use 'whitespace'",
                argument="analyzer",
            )
        settings = asdict(self)
        if isinstance(self.stop_words, tuple):
            settings["stop_words"] = list(self.stop_words)
        return settings


@dataclass(frozen=True, eq=False, repr=False)
class TextGraph:
    """A graph of D documents and W words, with what it takes to tie new documents to it.

    Parameters
    ----------
    graph : Graph
        Undirected, weighted; the documents are nodes 0 to D - 1, the words D to D + W - 1.
    vocabulary : object array of str, shape (W,)
        Word of node D + j, ascending.
    idf : array, shape (W,)
        log(D / df) of each word.
    builder : TextGraphBuilder
        How the documents were read; `builder.settings` can be saved.

    Examples
    --------
    >>> text_graph = TextGraphBuilder().build(["oil price", "oil price down", "corn"])
    >>> text_graph.n_documents, text_graph.n_words
    (3, 4)
    >>> text_graph.document_rows(["oil oil gas", "wheat"]).toarray().round(2)
    array([[0.  , 0.  , 0.81, 0.  ],
           [0.  , 0.  , 0.  , 0.  ]])
    """

    graph: Graph
    vocabulary: NDArray[Any]
    idf: NDArray[np.float64]
    builder: TextGraphBuilder

    def __post_init__(self) -> None:
        vocabulary = np.asarray(self.vocabulary, dtype=object)
        idf = np.asarray(self.idf, dtype=np.float64)
        if vocabulary.ndim != 1 or idf.shape != vocabulary.shape or len(idf) > self.graph.n_nodes:
            raise InputError(
                "vocabulary and idf must hold one entry a word",
                f"shapes {vocabulary.shape} and {idf.shape} for a graph of {counted(self.graph.n_nodes, 'node')}",
            )
        for name, array in (("vocabulary", vocabulary), ("idf", idf)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        documents, words = counted(self.n_documents, "document"), counted(self.n_words, "word")
        return f"TextGraph({documents}, {words}, {counted(self.graph.n_edges, 'edge')})"

    @property
    def n_documents(self) -> int:
        """Number of documents D."""
        return self.graph.n_nodes - self.n_words

    @property
    def n_words(self) -> int:
        """Number of words W."""
        return len(self.vocabulary)

    @property
    def has_words(self) -> NDArray[np.bool_]:
        """Which documents share a word with others, shape (D,)."""
        return np.asarray(np.diff(self.graph.indptr[: self.n_documents + 1]) > 0)

    def readout(self, documents: NDArray[np.bool_]) -> sp.csr_array:
        """Rows of the identity (m, n) that read some documents off the nodes, from a mask (D,)."""
        nodes = np.flatnonzero(documents)
        shape = (len(nodes), self.graph.n_nodes)
        return sp.csr_array((np.ones(len(nodes)), nodes, np.arange(len(nodes) + 1)), shape=shape)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the builder, as JSON can hold them."""
        return self.builder.settings

    def document_rows(self, docs: Sequence[str]) -> sp.csr_array:
        """TF-IDF weights that tie new documents to the known words, shape (m, W).

        The idf is that of the documents of the graph, so a row does not depend on the other rows. Words that the
        graph does not have are ignored; the row of a document without a known word is empty.

        Parameters
        ----------
        docs : sequence of str

        Returns
        -------
        csr_array, shape (m, W)
        """
        cut = tokenizer(self.builder.analyzer)
        return _weighted(count_known(check_documents(docs), cut, self.vocabulary), self.idf)


class _Report:
    """Progress through two passes over the documents, as one count."""

    def __init__(self, on_progress: Progress | None, n_documents: int) -> None:
        self._call, self._n = on_progress, n_documents

    def cut(self, done: int, of: int) -> None:
        if self._call is not None:
            self._call(done, 2 * self._n)

    def counted(self, share: float) -> None:
        if self._call is not None:
            self._call(self._n + int(share * self._n), 2 * self._n)


def _weighted(counts: sp.csr_array, idf: NDArray[np.float64]) -> sp.csr_array:
    weights = counts.data * idf[counts.indices]
    matrix = sp.csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
    matrix.eliminate_zeros()
    return matrix


def _check_memory(needed: int, n_done: int, n_words: int, limit: int) -> None:
    if needed > limit:
        raise MemoryLimitError(
            f"the graph must fit the memory limit of {format_bytes(limit)}",
            f"{format_bytes(needed)} after {n_done:,} of {counted(n_words, 'word')}",
            (
                *("raise ", Alternatives(Setting("min_df"), Setting("min_count"))),
                *(", set ", Setting("max_words"), ", or make the window smaller"),
            ),
        )


def _stacked(blocks: list[sp.csr_array], n_stored: int) -> Graph:
    """Graph of A = [[0, T], [T', P]] from its rows, T the TF-IDF weights and P the PMI."""
    n_nodes = blocks[0].shape[1]
    dtype = index_dtype(n_nodes, n_stored)
    indptr = np.zeros(n_nodes + 1, dtype=dtype)
    np.cumsum(np.concatenate([np.diff(block.indptr) for block in blocks]), out=indptr[1:])
    indices = np.concatenate([block.indices for block in blocks], dtype=dtype)
    weights = np.concatenate([block.data for block in blocks])
    # Symmetric, sorted and positive by the way it was made; checking it again would take as long as making it.
    return Graph._trusted(Rows(indptr, indices, weights), False, NodeIds(n_nodes))
