from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.tasks.text import load_corpus
from sgclearn.tasks.text.corpora import CORPORA
from sgclearn.tasks.text.tokens import stop_word_set, textgcn_tokens, tokenizer, word_tokens


@given(text=st.text(max_size=60))
def test_word_tokens_are_those_of_scikit_learn(text: str) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    assert word_tokens(text) == CountVectorizer().build_analyzer()(text)


@given(text=st.text(alphabet="abNst'`\u2019é(),!? \n\t3", max_size=40))
def test_textgcn_tokens_of_a_cleaned_text_stay(text: str) -> None:
    tokens = textgcn_tokens(text)
    assert all(
        token and token.isascii() and not token.isspace() and token == token.lower() for token in tokens
    )
    # Brackets and question marks get a backslash, which the next turn takes for an unknown character; endings are
    # found before the text becomes lower case.
    plain = [token for token in textgcn_tokens(text.lower()) if not token.startswith("\\")]
    assert [token for token in textgcn_tokens(" ".join(plain)) if not token.startswith("\\")] == plain


def test_textgcn_tokens_split_endings_and_marks() -> None:
    text = "They've won't, he'd: we'll see O'Brien's (last) `hope`! Is IT'S fine?"
    expected = r"they 've wo n't , he 'd we 'll see o'brien 's \( last \) `hope` ! is it's fine \?"
    assert " ".join(textgcn_tokens(text)) == expected


def test_sgc_tokens_leave_no_gap_for_what_they_take_out() -> None:
    text = "From: J.Doe@Host.edu (Élan)\twon't pay $5 | 7!"
    assert tokenizer("sgc")(text) == ["from", "jdoehostedu", "lanwont", "pay", "5", "7"]


def test_whitespace_keeps_every_word() -> None:
    assert tokenizer("whitespace")(r" Is  it \? A ") == ["Is", "it", r"\?", "A"]


def test_stop_word_lists_have_their_sizes() -> None:
    assert len(stop_word_set("textgcn")) == 179
    assert {"you're", "ma", "wouldn't"} <= stop_word_set("textgcn")
    assert "whereupon" in stop_word_set("english")
    assert stop_word_set(None) == frozenset()


@pytest.mark.parametrize("name", CORPORA)
def test_textgcn_cleaning_gives_the_published_files(name: str, data_dir: Path) -> None:
    raw, cleaned = load_corpus(name, data_dir, cleaned=False), load_corpus(name, data_dir)
    # The public recipe leaves the short reviews of mr as they are.
    stop_words, min_count = (frozenset(), 1) if name == "mr" else (stop_word_set("textgcn"), 5)
    tokens = [[word for word in textgcn_tokens(text) if word not in stop_words] for text in raw.docs]
    counts = Counter(word for words in tokens for word in words)
    ours = tuple(" ".join(word for word in words if counts[word] >= min_count) for words in tokens)
    assert ours == cleaned.docs
