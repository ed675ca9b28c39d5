"""Sentences with two marked entities, as TACRED's JSON files have them: tokens, spans, dependency heads, labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import DataFileError, InputError
from sgclearn.tables.contents import content
from sgclearn.tables.messages import counted
from sgclearn.tasks.relations.trees import Forest
from sgclearn.validation.parameters import shown
from sgclearn.validation.reading import as_path, reading

if TYPE_CHECKING:
    import os

# Names of a field, TACRED's first.
_NAMES = {
    "tokens": ("token", "tokens", "words"),
    "heads": ("stanford_head", "head", "heads"),
    "deprel": ("stanford_deprel", "deprel"),
    "pos": ("stanford_pos", "pos"),
    "ner": ("stanford_ner", "ner"),
}
TAGS = ("deprel", "pos", "ner")
_SPANS = ("subj_start", "subj_end", "obj_start", "obj_end")
PARSERS = "Stanza, spaCy or CoreNLP"


@dataclass(frozen=True, eq=False, repr=False)
class Sentences:
    """m sentences of n tokens in all; the arrays of tokens have one sentence after the other.

    Parameters
    ----------
    tokens : sequence of str (n,)
    starts : integer array (m + 1,)
        Sentence i has the tokens `starts[i]`, ..., `starts[i + 1] - 1`.
    subjects, objects : integer array (m, 2)
        First token of an entity and the one behind its last, counted over all sentences.
    parents : integer array (n,)
        Position of the token that each depends on, -1 for the root of a sentence.
    tags : dict of sequence of str (n,)
        Those of `deprel`, `pos` and `ner` that the data has.
    ids : object array (m,)
    labels : object array (m,), or None
        Relation of each sentence, None where it is unknown.
    entity_types : object array (m, 2), or None
        Types of subject and object, where the data has them.
    """

    tokens: Sequence[str]
    starts: NDArray[np.intp]
    subjects: NDArray[np.intp]
    objects: NDArray[np.intp]
    parents: NDArray[np.intp]
    tags: dict[str, Sequence[str]]
    ids: NDArray[Any]
    labels: NDArray[Any] | None
    entity_types: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"Sentences({counted(len(self), 'sentence')}, {counted(self.n_tokens, 'token')})"

    @property
    def n_tokens(self) -> int:
        """Number of tokens n."""
        return len(self.tokens)

    @cached_property
    def forest(self) -> Forest:
        """The dependency trees, one a sentence, with the paths between the entities."""
        return Forest(self.parents, self.starts, self.subjects, self.objects)

    @cached_property
    def sentence_of(self) -> NDArray[np.intp]:
        """Sentence of every token (n,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def words(self, sentence: int) -> list[str]:
        """Tokens of one sentence."""
        return list(self.tokens[self.starts[sentence] : self.starts[sentence + 1]])

    def records(self) -> list[dict[str, Any]]:
        """The sentences as `read_sentences` reads them."""
        found = []
        for i, (start, stop) in enumerate(
            zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        ):
            (first, behind), (first_object, behind_object) = self.subjects[i] - start, self.objects[i] - start
            record: dict[str, Any] = {
                "id": self.ids[i],
                "token": list(self.tokens[start:stop]),
                "stanford_head": [
                    parent - start + 1 if parent >= 0 else 0 for parent in self.parents[start:stop].tolist()
                ],
                "subj_start": int(first),
                "subj_end": int(behind) - 1,
                "obj_start": int(first_object),
                "obj_end": int(behind_object) - 1,
            }
            record |= {f"stanford_{tag}": list(values[start:stop]) for tag, values in self.tags.items()}
            if self.labels is not None and self.labels[i] is not None:
                record["relation"] = self.labels[i]
            if self.entity_types is not None:
                record["subj_type"], record["obj_type"] = self.entity_types[i].tolist()
            found.append(record)
        return found

    def subset(self, which: NDArray[np.intp]) -> Sentences:
        """Some of the sentences, in the order wanted."""
        lengths = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        shift = np.repeat(self.starts[which] - starts[:-1], lengths)
        kept = np.arange(starts[-1]) + shift
        parents = self.parents[kept]
        moved = (self.starts[which] - starts[:-1])[:, None]
        return Sentences(
            [self.tokens[at] for at in kept],
            starts,
            self.subjects[which] - moved,
            self.objects[which] - moved,
            np.where(parents < 0, -1, parents - shift),
            {name: [values[at] for at in kept] for name, values in self.tags.items()},
            self.ids[which],
            None if self.labels is None else self.labels[which],
            None if self.entity_types is None else self.entity_types[which],
        )


def join_sentences(parts: Sequence[Sentences]) -> Sentences:
    """The sentences of several, one after the other, with the tags that all of them have."""
    shifts = np.cumsum([0, *(part.n_tokens for part in parts)])
    pairs = list(zip(parts, shifts[:-1], strict=True))
    shared = [tag for tag in TAGS if all(tag in part.tags for part in parts)]

    def gather(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if any(value is None for value in values) else np.concatenate(values)

    labels = [
        np.full(len(part), None, dtype=object) if part.labels is None else part.labels for part in parts
    ]
    return Sentences(
        [token for part in parts for token in part.tokens],
        np.concatenate([[0], *(part.starts[1:] + shift for part, shift in pairs)]).astype(np.intp),
        np.concatenate([part.subjects + shift for part, shift in pairs]),
        np.concatenate([part.objects + shift for part, shift in pairs]),
        np.concatenate([np.where(part.parents < 0, -1, part.parents + shift) for part, shift in pairs]),
        {tag: [value for part in parts for value in part.tags[tag]] for tag in shared},
        gather("ids"),
        None if all(part.labels is None for part in parts) else np.concatenate(labels),
        gather("entity_types"),
    )


def read_sentences(path: str | os.PathLike[str]) -> Sentences:
    """Read sentences from a JSON file, a list of records, or from JSON lines; also `.gz`, `.bz2`, `.xz`.

    A record has `token`, the spans `subj_start`, `subj_end`, `obj_start`, `obj_end` (from 0, the last token
    included) and `stanford_head` (from 1, 0 for the root). It may have `relation`, `id`, `stanford_deprel`,
    `stanford_pos`, `stanford_ner`, `subj_type` and `obj_type`; the names may do without "stanford_".

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.json"
    >>> record = {"token": ["rain", "caused", "floods"], "stanford_head": [2, 0, 2], "relation": "Cause-Effect(e1,e2)",
    ...           "subj_start": 0, "subj_end": 0, "obj_start": 2, "obj_end": 2}
    >>> _ = path.write_text(json.dumps([record]))
    >>> read_sentences(path)
    Sentences(1 sentence, 3 tokens)
    """
    path = as_path(path)
    text = bytes(content(path))
    with reading(path, "a JSON list of sentences"):
        records = _records(path, text)
        try:
            return sentences_from_records(records)
        except DataFileError:
            raise
        except InputError as error:
            raise DataFileError(f"{path}: {error.expected}", error.got, error.remedy) from None


def _records(path: Path, text: bytes) -> list[Any]:
    head = text.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if head == b"{":
        records: list[Any] = []
        for number, line in enumerate(text.decode("utf-8-sig").splitlines(), start=1):
            if line.strip():
                records.append(_line_record(path, number, line))
        return records
    loaded = json.loads(text.decode("utf-8-sig"))
    if not isinstance(loaded, list):
        raise DataFileError(
            f"{path} must be a JSON list of sentences", type(loaded).__name__, "give a list of records"
        )
    return loaded


def _line_record(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise DataFileError(
            f"{path} must have one JSON record a line", f"{error.msg} in line {number}", "mend the line"
        ) from None


def sentences_from_records(records: Iterable[Any]) -> Sentences:
    """Sentences from records as `read_sentences` describes them; the first fault is an error that names its record."""
    records = list(records)
    if not records:
        raise InputError("sentences must be at least one", "none", "check the file")
    checked = [_Record(record, number) for number, record in enumerate(records)]
    starts = np.concatenate([[0], np.cumsum([len(record.tokens) for record in checked])]).astype(np.intp)
    offsets = starts[:-1, None]
    spans = np.array([record.spans for record in checked], dtype=np.intp)
    heads = [record.heads + start for record, start in zip(checked, starts[:-1], strict=True)]
    labels = np.array([record.label for record in checked] + [None], dtype=object)[:-1]
    types = [record.types for record in checked]
    tags: dict[str, Sequence[str]] = {tag: [value for record in checked for value in record.tags[tag]]
            for tag in TAGS if all(tag in record.tags for record in checked)}  # fmt: skip
    return Sentences(
        [token for record in checked for token in record.tokens],
        starts,
        spans[:, :2] + offsets,
        spans[:, 2:] + offsets,
        np.concatenate(
            [np.where(record.roots, -1, head) for record, head in zip(checked, heads, strict=True)]
        ),
        tags,
        np.array([record.id for record in checked] + [None], dtype=object)[:-1],
        None if all(label is None for label in labels) else labels,
        np.array(types, dtype=object) if all(None not in pair for pair in types) else None,
    )


class _Record:
    """One record, checked: local spans (start, stop) twice, local heads, and which token is the root."""

    def __init__(self, record: Any, number: int) -> None:
        if not isinstance(record, dict):
            raise InputError(f"sentence {number + 1} must be a record", shown(record), "give a JSON object")
        self.id = record.get("id", number)
        self._where = f"sentence {number + 1}" if "id" not in record else f"sentence {shown(self.id)}"
        self.tokens = self._texts(record, "tokens")
        if not self.tokens:
            raise InputError(f"{self._where} must have tokens", "none", "leave the sentence out")
        self.spans = self._spans(record)
        self.heads, self.roots = self._heads(record)
        self.tags = {tag: self._texts(record, tag) for tag in TAGS if _found(record, tag) is not None}
        for tag, values in self.tags.items():
            self._check_length(tag, len(values))
        label = record.get("relation")
        if label is not None and not isinstance(label, str):
            raise InputError(f"relation of {self._where} must be a text", shown(label), "name the relation")
        self.label = label or None
        self.types = (record.get("subj_type"), record.get("obj_type"))

    def _texts(self, record: dict[str, Any], field: str) -> list[str]:
        name = _found(record, field)
        values = None if name is None else record[name]
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            expected = f"{self._where} must have a list of texts called {_NAMES[field][0]}"
            raise InputError(expected, shown(values), "add it")
        return values

    def _check_length(self, field: str, length: int) -> None:
        if length != len(self.tokens):
            raise InputError(
                f"{self._where} must have one entry of {_NAMES[field][0]} a token",
                f"{length} for {len(self.tokens)} tokens",
                "parse the sentence with the same tokens",
            )

    def _spans(self, record: dict[str, Any]) -> tuple[int, int, int, int]:
        spans: list[int] = []
        for name in _SPANS:
            value = record.get(name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise InputError(
                    f"{self._where} must have a whole number {name}", shown(value), "mark both entities"
                )
            spans.append(value)
        for role, (start, stop) in (("subj", spans[:2]), ("obj", spans[2:])):
            if not 0 <= start <= stop < len(self.tokens):
                raise InputError(
                    f"{role}_start and {role}_end of {self._where} must lie within its tokens, 0 to "
                    f"{len(self.tokens) - 1}",
                    f"{start} and {stop}",
                    "count tokens from 0, the last one included",
                )
        subject, obj = range(spans[0], spans[1] + 1), range(spans[2], spans[3] + 1)
        if subject.start < obj.stop and obj.start < subject.stop:
            raise InputError(
                f"the entities of {self._where} must not overlap",
                f"tokens {spans[0]} to {spans[1]} and {spans[2]} to {spans[3]}",
                "mark two different stretches of tokens",
            )
        return subject.start, subject.stop, obj.start, obj.stop

    def _heads(self, record: dict[str, Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        name = _found(record, "heads")
        if name is None:
            raise InputError(
                f"{self._where} must have dependency heads called {_NAMES['heads'][0]}",
                "none",
                f"parse the tokens first, with {PARSERS}",
            )
        values = record[name]
        try:
            heads = np.array([int(value) for value in values], dtype=np.intp)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{name} of {self._where} must be whole numbers", shown(values), "parse it again"
            ) from None
        self._check_length("heads", len(heads))
        if heads.min() < 0 or heads.max() > len(heads):
            worst = int(heads.min()) if heads.min() < 0 else int(heads.max())
            expected = f"{name} of {self._where} must lie in 0 to {len(heads)}"
            raise InputError(expected, str(worst), "count tokens from 1, with 0 for the root")
        self._check_tree(heads)
        return heads - 1, heads == 0

    def _check_tree(self, heads: NDArray[np.intp]) -> None:
        roots = int(np.count_nonzero(heads == 0))
        if roots != 1:
            raise InputError(
                f"the heads of {self._where} must have one root, marked 0",
                f"{roots}",
                "split the sentence in two, or hang one root below the other",
            )
        climbed = heads
        for _ in range(
            len(heads).bit_length()
        ):  # after so many doublings every token has climbed past its root
            climbed = np.concatenate([[0], climbed])[climbed]
        if climbed.any():
            at = int(np.flatnonzero(climbed)[0])
            expected = f"the heads of {self._where} must lead every token to the root"
            raise InputError(expected, f"a cycle above token {at} {self.tokens[at]!r}", "parse it again")


def _found(record: dict[str, Any], field: str) -> str | None:
    return next((name for name in _NAMES[field] if name in record), None)
