"""Sparse features of a sentence with two entities: their words, the words between, and the dependency path.

A clue is a text and the tokens that it is read from, such as "between: caused by" and the positions of "caused" and
"by". Clues that name a word are lower-case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.tasks.relations.sentences import Sentences

Clue = tuple[str, tuple[int, ...]]
_PREFIX = 5  # letters that stand for a stem
_LONG = 6  # words between the entities beyond which the whole stretch is no clue


def clues(sentences: Sentences, sentence: int) -> list[Clue]:
    """Every clue of a sentence, each text once; the tokens are positions over all sentences."""
    found: dict[str, tuple[int, ...]] = {}
    view = _View(sentences, sentence)
    for text, tokens in (*_of_entities(view), *_between(view), *_of_path(view)):
        found.setdefault(text, tuple(tokens))
    return list(found.items())


class _View:
    """One sentence with the parts of it that the clues name."""

    def __init__(self, sentences: Sentences, sentence: int) -> None:
        forest = sentences.forest
        self.first, self.stop = (int(at) for at in sentences.starts[sentence : sentence + 2])
        self.parents, self.distance = sentences.parents, forest.distance
        self.tokens, self.tags = sentences.tokens, sentences.tags
        self.subject, self.object = (
            tuple(map(int, span[sentence])) for span in (forest.subjects, forest.objects)
        )
        self.heads = int(forest.subject_heads[sentence]), int(forest.object_heads[sentence])
        self.ancestor = int(forest.ancestors[sentence])

    def word(self, token: int) -> str:
        """The token in lower case; a mark before the first and behind the last."""
        return self.tokens[token].lower() if self.first <= token < self.stop else "|"

    def tag(self, name: str, token: int) -> str:
        """A tag of a token, or nothing where the data has none."""
        return self.tags[name][token] if name in self.tags else ""

    def climb(self, token: int) -> list[int]:
        """From a token up to the common ancestor, both included; an entity may hold the ancestor inside."""
        steps = [token]
        while steps[-1] != self.ancestor and self.parents[steps[-1]] >= 0:
            steps.append(int(self.parents[steps[-1]]))
        return steps


def _of_entities(view: _View) -> Iterator[tuple[str, Iterable[int]]]:
    for role, span, head in zip(("subject", "object"), (view.subject, view.object), view.heads, strict=True):
        for token in range(*span):
            yield f"{role} word: {view.word(token)}", (token,)
        yield f"{role} head: {view.word(head)}", (head,)
        yield f"{role} starts with: {view.word(head)[:_PREFIX]}", (head,)
        yield f"{role} ends with: {view.word(head)[-3:]}", (head,)
        for tag in ("pos", "ner"):
            if tag in view.tags:
                yield f"{role} {tag}: {view.tag(tag, head)}", (head,)
        for where, token in (("before", span[0] - 1), ("after", span[1])):
            inside = (token,) if view.first <= token < view.stop else ()
            yield f"{where} {role}: {view.word(token)}", inside


def _between(view: _View) -> Iterator[tuple[str, Iterable[int]]]:
    order = "subject first" if view.subject < view.object else "object first"
    start, stop = min(view.subject[1], view.object[1]), max(view.subject[0], view.object[0])
    stretch = range(start, stop)
    words = ["|", *(view.word(token) for token in stretch), "|"]
    for token in stretch:
        yield f"between: {view.word(token)}", (token,)
        yield f"between starts with: {view.word(token)[:_PREFIX]}", (token,)
    for length in (2, 3):
        for at in range(len(words) - length + 1):
            covered = range(max(start, start + at - 1), min(stop, start + at - 1 + length))
            yield f"between: {' '.join(words[at : at + length])}", covered
    if len(stretch) <= _LONG:
        yield f"all between: {' '.join(words[1:-1])}", stretch
        if "pos" in view.tags:
            yield f"tags between: {' '.join(view.tag('pos', token) for token in stretch)}", stretch
    yield f"{order}, {min(len(stretch), 10)} words between", stretch


def _of_path(view: _View) -> Iterator[tuple[str, Iterable[int]]]:
    up, down = view.climb(view.heads[0]), view.climb(view.heads[1])[::-1]
    path = [*up[:-1], *down] if up[-1] == down[0] else [*up, *down]
    inner = path[1:-1]
    # What a path says: word, label and direction of the edge, word, ...
    text = [view.word(up[0])]
    for token in up[:-1]:
        text += [f"<{view.tag('deprel', token)}", view.word(int(view.parents[token]))]
    for token in down[1:]:
        text += [f"{view.tag('deprel', token)}>", view.word(token)]
    text[0], text[-1] = "S", "O"
    labels = text[1::2]
    top = view.word(view.ancestor)
    yield f"path labels: {' '.join(labels)}", path
    yield f"path: {' '.join(text)}", path
    yield f"path over {top}: {' '.join(labels)}", path
    yield f"top of path: {top}", (view.ancestor,)
    for label in labels:
        yield f"path label: {label}", path
    for token in inner:
        yield f"on path: {view.word(token)}", (token,)
        yield f"on path starts with: {view.word(token)[:_PREFIX]}", (token,)
        yield f"on path: {view.tag('deprel', token)} {view.word(token)}", (token,)
    if inner:
        yield f"all on path: {' '.join(view.word(token) for token in inner)}", inner
    for at in range(len(text) - 2):
        yield f"step of path: {' '.join(text[at : at + 3])}", path[at // 2 : at // 2 + 2]
    roles = {view.heads[0]: "S", view.heads[1]: "O"}
    for token in range(view.first, view.stop):
        if view.distance[token] == 1:
            parent = int(view.parents[token])
            yield f"next to path: {view.word(token)}", (token,)
            over = roles.get(parent, view.word(parent))
            yield f"next to path: {over} {view.tag('deprel', token)} {view.word(token)}", (token, parent)


class Vocabulary:
    """Clues of the training sentences, one column each.

    Parameters
    ----------
    names : sequence of str (D,)
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._column = {name: at for at, name in enumerate(self.names)}

    @classmethod
    def of(cls, found: Iterable[Iterable[str]], min_count: int) -> Vocabulary:
        """Clues of at least so many sentences, in the order of their first sight."""
        counts = Counter(name for names in found for name in names)
        return cls([name for name, count in counts.items() if count >= min_count])

    def __len__(self) -> int:
        return len(self.names)

    def column(self, name: str) -> int | None:
        """Column of a clue, None for an unknown one."""
        return self._column.get(name)

    def matrix(self, found: Sequence[Iterable[str]]) -> Any:
        """0/1 matrix (m, D) of sentences and their known clues."""
        rows = [sorted(self._column[name] for name in names if name in self._column) for names in found]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        indices: NDArray[np.intp] = np.array([column for row in rows for column in row], dtype=np.intp)
        return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), len(self)))


def clue_names(sentences: Sentences) -> list[list[str]]:
    """Texts of the clues of every sentence."""
    return [[text for text, _ in clues(sentences, sentence)] for sentence in range(len(sentences))]
