"""Documents to words: the ways of cutting a text that have a name, and words that are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from sgclearn.errors import InputError, InputTypeError
from sgclearn.tables.messages import counted
from sgclearn.validation.parameters import shown

Tokenizer: TypeAlias = Callable[[str], Iterable[str]]
Analyzer: TypeAlias = Literal["words", "textgcn", "sgc", "whitespace"] | Tokenizer
StopWords: TypeAlias = Literal["english", "textgcn"] | Iterable[str] | None

_WORD = re.compile(r"\b\w\w+\b")

# The cleaning that TextGCN takes from Kim's sentence classifier: other characters become spaces, English endings
# and marks become words of their own.
_OTHER = re.compile(r"[^A-Za-z0-9(),!?'`]")
_ENDING = re.compile(r"(n't|'(?:s|ve|re|d|ll))")
_MARK = re.compile(r"([,!])")
# The original writes a backslash before these three, and so do the cleaned corpora that people compare with.
_BRACKET = re.compile(r"([()?])")

# The cleaning of the paper's own text experiments.
_NO_LETTER = re.compile(r"[^A-Za-z0-9 ]")

# What the cleaned corpora of TextGCN leave out: NLTK's English list of 2018, 179 entries.
_TEXTGCN_STOP_WORDS = """
    i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves he him his
    himself she she's her hers herself it it's its itself they them their theirs themselves what which who whom this
    that that'll these those am is are was were be been being have has had having do does did doing a an the and but
    if or because as until while of at by for with about against between into through during before after above below
    to from up down in out on off over under again further then once here there when where why how all any both each
    few more most other some such no nor not only own same so than too very s t can will just don don't should
    should've now d ll m o re ve y ain aren aren't couldn couldn't didn didn't doesn doesn't hadn hadn't hasn hasn't
    haven haven't isn isn't ma mightn mightn't mustn mustn't needn needn't shan shan't shouldn shouldn't wasn wasn't
    weren weren't won won't wouldn wouldn't
"""


def word_tokens(text: str) -> list[str]:
    """Words of two characters or more in lower case, as scikit-learn's vectorizers cut a text.

    Examples
    --------
    >>> word_tokens("Grain prices, a 3% rise: who's buying?")
    ['grain', 'prices', 'rise', 'who', 'buying']
    """
    return _WORD.findall(text.lower())


def textgcn_tokens(text: str) -> list[str]:
    r"""Words and marks as TextGCN's cleaning leaves them.

    Whatever is no ASCII letter, digit or one of ``( ) , ! ? ' ``` becomes a space; the endings ``'s 've n't 're
    'd 'll`` and the marks become words of their own, the last three marks with the backslash of the original.

    Examples
    --------
    >>> print(*textgcn_tokens("It isn't Élan's (only) hope, is it?"))
    it is n't lan 's \( only \) hope , is it \?
    """
    text = _ENDING.sub(r" \1", _OTHER.sub(" ", text))
    text = _BRACKET.sub(r" \\\1 ", _MARK.sub(r" \1 ", text))
    return text.lower().split()


def sgc_tokens(text: str) -> list[str]:
    """Words as the public code of the paper cleans them: letters, digits and spaces stay, the rest is taken out.

    Nothing takes the place of what is left out, so that an address becomes one word. On mail and news that tells
    writers and hosts apart, and is worth a point of accuracy on 20NG.

    Examples
    --------
    >>> sgc_tokens("From: dean@news.att.com - isn't it?")
    ['from', 'deannewsattcom', 'isnt', 'it']
    """
    return _NO_LETTER.sub("", text).lower().split()


_NAMED: dict[str, Tokenizer] = {
    "words": word_tokens,
    "textgcn": textgcn_tokens,
    "sgc": sgc_tokens,
    "whitespace": str.split,
}


def tokenizer(analyzer: Analyzer) -> Tokenizer:
    """Give the function that cuts a document into words.

    Examples
    --------
    >>> tokenizer("words")("Oil and gas")
    ['oil', 'and', 'gas']
    """
    if callable(analyzer):
        return analyzer
    if not isinstance(analyzer, str) or analyzer not in _NAMED:
        raise InputError(
            f"analyzer must be {', '.join(map(repr, _NAMED))} or a function from a text to its words",
            repr(analyzer),
            argument="analyzer",
        )
    return _NAMED[analyzer]


def stop_word_set(stop_words: StopWords) -> frozenset[str]:
    """Words to leave out: a named list, or the given ones.

    ``"english"`` is scikit-learn's list of 318 words, ``"textgcn"`` the 179 that TextGCN's cleaned corpora lack.

    Examples
    --------
    >>> len(stop_word_set("textgcn")), sorted(stop_word_set(["the", "of"]))
    (179, ['of', 'the'])
    """
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str) and stop_words == "textgcn":
        return frozenset(_TEXTGCN_STOP_WORDS.split())
    if isinstance(stop_words, str) and stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if isinstance(stop_words, str | bytes | type) or not isinstance(stop_words, Iterable):
        raise InputError(
            "stop_words must be 'english', 'textgcn', a list of words or None",
            shown(stop_words),
            "put a single word in a list",
            argument="stop_words",
        )
    words = list(stop_words)
    for word in words:
        if not isinstance(word, str):
            raise InputTypeError(
                "stop_words must be words", repr(word), "give each as a string", argument="stop_words"
            )
    return frozenset(words)


def check_documents(docs: Sequence[str]) -> list[str]:
    """Give the documents as a list of strings; an empty string is a document without words.

    Examples
    --------
    >>> check_documents(("oil prices", ""))
    ['oil prices', '']
    """
    if isinstance(docs, str | bytes | memoryview) or not isinstance(docs, Iterable) or hasattr(docs, "tocsr"):
        raise InputTypeError(
            "docs must be a list of strings, one a document",
            type(docs).__name__,
            "put a single document in a list",
            argument="docs",
        )
    if isinstance(docs, np.ndarray) and docs.ndim != 1:
        raise InputError(
            "docs must be a list of strings, one a document",
            f"an array of shape {docs.shape}",
            "give the column with the text",
            argument="docs",
        )
    listed = list(docs)
    for row, text in enumerate(listed):
        if not isinstance(text, str):
            missing = repr(text) in ("None", "nan", "<NA>")  # comparing pandas' NA with anything is an error
            what = "nothing" if missing else f"{text!r} ({type(text).__name__})"
            raise InputTypeError(
                "every document must be a string",
                f"{what[:60]} at position {row} of {counted(len(listed), 'document')}",
                "write an empty string for a document without text",
            )
    return listed
