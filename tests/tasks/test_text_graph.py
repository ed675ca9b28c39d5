from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sgclearn.errors import InputError, InputTypeError, MemoryLimitError
from sgclearn.graph import Graph
from sgclearn.tasks.text import TextGraph, TextGraphBuilder, load_corpus
from sgclearn.tasks.text.cooccurrence import count_neighbours, count_windows, count_word_windows, positive_pmi
from sgclearn.tasks.text.vocabulary import read_words

COUNTINGS = ("windows", "positions", "permutations")
documents = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=14), min_size=1, max_size=6)
corpora = documents.filter(any)
widths = st.integers(2, 9)

Pair = tuple[str, str]


# The graph by its definition: dictionaries, loops, and every window as a list.


def windows_of(words: Sequence[str], width: int) -> Iterator[Sequence[str]]:
    """All windows of a document; a short one is one window, an empty one none."""
    if words:
        for start in range(max(1, len(words) - width + 1)):
            yield words[start : start + width]


def pair_counts(windows: Iterable[Sequence[str]], counting: str) -> Counter[Pair]:
    """How often the words of each pair, the smaller first, share a window."""
    counts: Counter[Pair] = Counter()
    for window in windows:
        if counting == "windows":
            counts.update(combinations(sorted(set(window)), 2))
        elif counting == "positions":
            counts.update((min(a, b), max(a, b)) for a, b in combinations(window, 2) if a != b)
        else:
            counts.update((a, b) for a, b in permutations(window, 2) if a <= b)
    return counts


def naive_edges(docs: Sequence[Sequence[str]], width: int, counting: str = "windows") -> dict[tuple, float]:
    """Weights of all edges: (document, word) by TF-IDF and (word, word) by positive PMI."""
    windows = [window for words in docs for window in windows_of(words, width)]
    holding = Counter(word for window in windows for word in set(window))
    edges: dict[tuple, float] = {}
    for (one, other), together in pair_counts(windows, counting).items():
        # The products are compared as integers: a logarithm may miss 0 by a rounding error.
        if together * len(windows) > holding[one] * holding[other]:
            edges[one, other] = log(together * len(windows) / (holding[one] * holding[other]))
    frequency = Counter(word for words in docs for word in set(words))
    for number, words in enumerate(docs):
        for word, count in Counter(words).items():
            if frequency[word] < len(docs):
                edges[number, word] = count * log(len(docs) / frequency[word])
    return edges


def joined(docs: list[list[str]]) -> list[str]:
    return [" ".join(words) for words in docs]


def edges_of(text_graph: TextGraph) -> dict[tuple, float]:
    """Edges with their words as names, the smaller first, as the naive builder gives them."""
    n_documents = text_graph.n_documents
    names = [*range(n_documents), *text_graph.vocabulary]
    A = text_graph.graph.to_scipy().tocoo()
    return {(names[i], names[j]): w for i, j, w in zip(A.row, A.col, A.data, strict=True) if i <= j}


def check_graph(text_graph: TextGraph) -> None:
    """The builder skips the checks of Graph: here they are made."""
    graph = text_graph.graph
    assert Graph(graph.indptr, graph.indices, graph.weights) == graph
    assert graph.indices.dtype == graph.indptr.dtype == np.int32


@given(docs=corpora, width=widths, counting=st.sampled_from(COUNTINGS))
def test_text_graph_equals_the_naive_one(docs: list[list[str]], width: int, counting: str) -> None:
    builder = TextGraphBuilder(analyzer="whitespace", window=width, counting=counting)
    text_graph = builder.build(joined(docs))
    expected, got = naive_edges(docs, width, counting), edges_of(text_graph)
    assert got.keys() == expected.keys()
    for edge, weight in expected.items():
        assert got[edge] == pytest.approx(weight, rel=1e-12)
    assert text_graph.vocabulary.tolist() == sorted({word for words in docs for word in words})
    assert text_graph.n_documents == len(docs)
    check_graph(text_graph)


@given(docs=corpora, width=widths, counting=st.sampled_from(COUNTINGS), block=st.integers(1, 60))
def test_neighbour_counts_do_not_depend_on_the_block(
    docs: list[list[str]], width: int, counting: str, block: int
) -> None:
    corpus = read_words(joined(docs), str.split, frozenset())
    expected = np.zeros((corpus.n_words, corpus.n_words), dtype=np.int64)
    position = {word: number for number, word in enumerate(corpus.vocabulary)}
    windows = [window for words in docs for window in windows_of(words, width)]
    for (one, other), count in pair_counts(windows, counting).items():
        expected[position[one], position[other]] = expected[position[other], position[one]] = count
    blocks = list(count_neighbours(corpus, width, counting, block_pairs=block))
    assert_array_equal(np.concatenate([rows.toarray() for _, rows in blocks]), expected)
    assert [first for first, _ in blocks] == np.cumsum(
        [0, *(rows.shape[0] for _, rows in blocks[:-1])]
    ).tolist()
    assert count_windows(corpus, width) == len(windows)
    holding = [sum(word in window for window in windows) for word in corpus.vocabulary]
    assert_array_equal(count_word_windows(corpus, width), holding)


@given(docs=corpora, width=widths, seed=st.integers(2, 2**20))
def test_text_graph_follows_the_order_of_documents(docs: list[list[str]], width: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(docs))
    builder = TextGraphBuilder(analyzer="whitespace", window=width)
    one = builder.build(joined(docs))
    other = builder.build(joined([docs[i] for i in order]))
    nodes = np.concatenate([order, np.arange(len(docs), one.graph.n_nodes)])
    permuted = one.graph.subgraph(nodes).to_scipy()
    assert_array_equal(other.graph.to_scipy().toarray(), permuted.toarray())


def test_pmi_keeps_its_sign_where_a_product_exceeds_an_integer() -> None:
    from scipy.sparse import csr_array

    rows = csr_array(np.array([[0, 4 * 10**9, 10**3]]))
    pmi = positive_pmi(0, rows, np.array([4, 5, 6]) * 10**9, n_windows=7 * 10**9)
    assert_allclose(pmi.toarray(), [[0, np.log(4 * 7 / (4 * 5)), 0]], rtol=1e-14)


def test_text_graph_worked_by_hand() -> None:
    text_graph = TextGraphBuilder(analyzer="whitespace", window=2).build(["a b a c", "b", ""])
    # Windows: ab, ba, ac, b. The pair a, b stands in two of four, a in three, b in three.
    expected = {
        (0, "a"): 2 * np.log(3),
        (0, "b"): np.log(3 / 2),
        (0, "c"): np.log(3),
        (1, "b"): np.log(3 / 2),
        ("a", "c"): np.log(4 / 3),
    }
    assert edges_of(text_graph) == pytest.approx(expected, rel=1e-15)
    assert_array_equal(np.diff(text_graph.graph.indptr)[:3], [3, 1, 0])  # the empty document has no edge


def test_text_graph_word_of_every_document_has_no_document_edge() -> None:
    text_graph = TextGraphBuilder().build(["the oil", "the corn"])
    assert not {edge for edge in edges_of(text_graph) if edge[0] in (0, 1) and edge[1] == "the"}
    assert text_graph.idf[text_graph.vocabulary.tolist().index("the")] == 0


def test_text_graph_of_one_document_has_no_edge() -> None:
    text_graph = TextGraphBuilder().build(["nothing to compare with"])
    assert text_graph.graph.n_edges == 0
    assert text_graph.graph.n_nodes == 5


def test_limits_choose_words() -> None:
    docs = ["aa aa aa bb", "aa bb cc", "aa dd dd", "aa ee"]

    def words(**limits: object) -> list[str]:
        return TextGraphBuilder(**limits).build(docs).vocabulary.tolist()

    assert words() == ["aa", "bb", "cc", "dd", "ee"]
    assert words(min_df=2) == ["aa", "bb"]
    assert words(min_df=0.5) == ["aa", "bb"]
    assert words(max_df=2) == ["bb", "cc", "dd", "ee"]
    assert words(max_df=0.5) == ["bb", "cc", "dd", "ee"]
    assert words(min_count=2) == ["aa", "bb", "dd"]
    assert words(max_words=2) == ["aa", "bb"]  # bb and dd are as frequent: the alphabet decides
    assert words(stop_words=["aa", "zz"]) == ["bb", "cc", "dd", "ee"]
    assert words(min_df=1, max_df=3, max_words=1) == ["bb"]


def test_limits_agree_with_scikit_learn() -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    docs = ["Oil and gas, oil!", "Gas prices rose 3% in May", "Corn in May; corn and oil", "the corn"]
    for limits in ({}, {"min_df": 2}, {"max_df": 0.5}, {"min_df": 0.5, "stop_words": "english"}):
        theirs = CountVectorizer(**limits).fit(docs)
        ours = TextGraphBuilder(**limits).build(docs)
        assert ours.vocabulary.tolist() == theirs.get_feature_names_out().tolist()
        counts = ours.document_rows(docs).toarray()
        assert_allclose(counts, theirs.transform(docs).toarray() * ours.idf, rtol=1e-15)


def test_words_that_are_left_out_leave_no_gap() -> None:
    builder = TextGraphBuilder(analyzer="whitespace", window=2, stop_words=["x"])
    assert edges_of(builder.build(["a x x b", "c"])) == pytest.approx(edges_of(builder.build(["a b", "c"])))


@given(docs=corpora, new=documents)
def test_document_rows_do_not_depend_on_company(docs: list[list[str]], new: list[list[str]]) -> None:
    text_graph = TextGraphBuilder(analyzer="whitespace").build(joined(docs))
    rows = text_graph.document_rows(joined(new)).toarray()
    alone = [text_graph.document_rows([text]).toarray()[0] for text in joined(new)]
    assert_array_equal(rows, alone)


def test_document_rows_are_those_of_the_graph() -> None:
    docs = ["oil price up up", "price of corn", "corn and oil", ""]
    text_graph = TextGraphBuilder().build(docs)
    D = text_graph.n_documents
    assert_array_equal(
        text_graph.document_rows(docs).toarray(), text_graph.graph.to_scipy()[:D, D:].toarray()
    )
    unknown = text_graph.document_rows(["wheat", "", "Corn wheat CORN"])
    assert_array_equal(np.diff(unknown.indptr), [0, 0, 1])
    assert unknown.data[0] == 2 * np.log(4 / 2)


def test_settings_rebuild_the_builder() -> None:
    builder = TextGraphBuilder(
        analyzer="textgcn", stop_words={"the", "of"}, min_count=2, max_df=0.9, window=7, counting="positions"
    )
    assert TextGraphBuilder(**json.loads(json.dumps(builder.settings))) == builder
    assert TextGraphBuilder(**json.loads(json.dumps(TextGraphBuilder().settings))) == TextGraphBuilder()
    with pytest.raises(InputError, match="'whitespace' to be saved: got the function split"):
        _ = TextGraphBuilder(analyzer=str.split).settings


def test_text_graph_cannot_be_changed() -> None:
    text_graph = TextGraphBuilder().build(["oil price", "corn"])
    with pytest.raises(ValueError, match="read-only"):
        text_graph.idf[0] = 2
    with pytest.raises(InputError, match="one entry a word: got shapes \\(3,\\) and \\(2,\\)"):
        TextGraph(text_graph.graph, text_graph.vocabulary, text_graph.idf[:2], text_graph.builder)


def test_progress_rises_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    docs = [f"w{i % 50}x w{i % 31}y w{i % 7}z" for i in range(3000)]
    TextGraphBuilder().build(docs, on_progress=lambda done, of: seen.append((done, of)))
    assert seen == sorted(seen)
    assert seen[0] == (1000, 6000)
    assert seen[-1] == (6000, 6000)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"analyzer": "char"}, "analyzer must be 'words', 'textgcn', 'sgc', 'whitespace' or a function"),
        ({"analyzer": None}, "analyzer must be"),
        (
            {"stop_words": "german"},
            "stop_words must be 'english', 'textgcn', a list of words or None: got 'german'",
        ),
        ({"stop_words": ["the", 7]}, "stop_words must be words: got 7"),
        ({"window": 1}, "window must be an integer of at least 2: got 1"),
        ({"window": 2.5}, "window must be an integer of at least 2: got 2.5"),
        (
            {"counting": "pairs"},
            "counting must be one of 'windows', 'positions', 'permutations': got 'pairs'",
        ),
        ({"min_df": 0}, "min_df must be a number of documents"),
        ({"max_df": 1.5}, "max_df must be a number of documents .* got 1.5"),
        ({"min_df": True}, "min_df must be a number of documents"),
        ({"min_count": 0}, "min_count must be an integer of at least 1: got 0"),
        ({"max_words": 0}, "max_words must be an integer of at least 1: got 0"),
    ],
)
def test_builder_refuses_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=message):
        TextGraphBuilder(**settings)


@pytest.mark.parametrize(
    ("docs", "message"),
    [
        ([], "docs must hold at least one document: got none"),
        (["", "  ", "?!"], "at least one word: got 3 documents without any"),
        (
            "a single text",
            "docs must be a list of strings, one a document: got str; put a single document in a list",
        ),
        (7, "docs must be a list of strings, one a document: got int"),
        (["oil", None], "every document must be a string: got nothing at position 1 of 2 documents"),
        (["oil", float("nan")], "every document must be a string: got nothing at position 1"),
        ([b"oil"], "every document must be a string: got b'oil' \\(bytes\\) at position 0"),
        (np.array([["oil", "corn"]]), "one a document: got an array of shape \\(1, 2\\)"),
    ],
)
def test_builder_refuses_documents(docs: object, message: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=message):
        TextGraphBuilder().build(docs)


def test_builder_says_when_no_word_is_left() -> None:
    with pytest.raises(InputError, match=r"min_df=3, max_df=1: got 3 words in 2 documents and none within"):
        TextGraphBuilder(min_df=3).build(["oil price", "corn"])


def test_builder_says_what_is_wrong_with_an_analyzer() -> None:
    for analyzer in (lambda text: text, lambda text: [1, 2], lambda text: None):
        with pytest.raises(InputTypeError, match=r"analyzer must give a list of words: got .* at position 0"):
            TextGraphBuilder(analyzer=analyzer).build(["oil price"])


def test_builder_takes_words_from_a_generator() -> None:
    text_graph = TextGraphBuilder(analyzer=lambda text: (word[:3] for word in text.split())).build(
        ["corncob oil"]
    )
    assert text_graph.vocabulary.tolist() == ["cor", "oil"]


def test_builder_takes_the_columns_of_frames() -> None:
    import pandas as pd
    import polars as pl

    docs = ["oil price", "corn", ""]
    expected = TextGraphBuilder().build(docs).graph
    for column in (pd.Series(docs, index=[7, 3, 5]), pl.Series(docs), np.array(docs), tuple(docs)):
        assert TextGraphBuilder().build(column).graph == expected
    with pytest.raises(InputTypeError, match="got nothing at position 1 of 2 documents"):
        TextGraphBuilder().build(pd.Series(["oil", pd.NA]))


def test_builder_stops_at_the_memory_limit() -> None:
    rng = np.random.default_rng(5)
    docs = [" ".join(f"w{i}" for i in rng.integers(400, size=60)) for _ in range(40)]
    with pytest.raises(
        MemoryLimitError, match=r"memory limit of 50.0 KB: got .* set max_words, or make the window"
    ):
        TextGraphBuilder().build(docs, memory_limit="50 KB")
    limited = TextGraphBuilder().build(docs, memory_limit="3 MB")
    assert limited.graph == TextGraphBuilder().build(docs).graph


def test_text_graph_of_r8_equals_the_naive_one_on_a_part(data_dir: Path) -> None:
    docs = load_corpus("r8", data_dir).docs[:700]
    text_graph = TextGraphBuilder(analyzer="whitespace").build(docs)
    expected, got = naive_edges([text.split() for text in docs], 20), edges_of(text_graph)
    assert got.keys() == expected.keys()
    assert_allclose([got[edge] for edge in expected], list(expected.values()), rtol=1e-11)
    check_graph(text_graph)


def test_text_graph_of_r8_has_the_nodes_and_edges_of_the_naive_one(data_dir: Path) -> None:
    text_graph = TextGraphBuilder(analyzer="whitespace").build(load_corpus("r8", data_dir).docs)
    assert text_graph.graph.n_nodes == 15_362
    # What naive_edges counts in test_naive_edges_of_r8, which takes longer.
    assert text_graph.graph.n_edges == 1_719_354
    assert text_graph.graph.n_self_loops == 0


@pytest.mark.slow
def test_naive_edges_of_r8(data_dir: Path) -> None:
    docs = load_corpus("r8", data_dir).docs
    edges = naive_edges([text.split() for text in docs], 20)
    assert len(edges) == 1_719_354
    got = edges_of(TextGraphBuilder(analyzer="whitespace").build(docs))
    assert got.keys() == edges.keys()


def test_raw_and_cleaned_r8_give_the_same_graph(data_dir: Path) -> None:
    cleaned = TextGraphBuilder(analyzer="whitespace").build(load_corpus("r8", data_dir).docs)
    builder = TextGraphBuilder(analyzer="textgcn", stop_words="textgcn", min_count=5)
    raw = builder.build(load_corpus("r8", data_dir, cleaned=False).docs)
    assert raw.graph == cleaned.graph
    assert_array_equal(raw.vocabulary, cleaned.vocabulary)
