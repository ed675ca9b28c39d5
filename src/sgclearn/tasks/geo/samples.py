"""Users as samples: their graph from edges or mentions, their features from text and columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import InputError, Setting
from sgclearn.features import Encoding
from sgclearn.features.labels import SPLIT_WORDS
from sgclearn.graph import Graph, read_edges
from sgclearn.graph.ids import NodeIds
from sgclearn.runs.splits import DEFAULT_HELD_OUT, DEFAULT_SEED, hold_out
from sgclearn.tables.messages import counted
from sgclearn.tasks.geo.mentions import DEFAULT_MAX_USERS, Mentions
from sgclearn.tasks.geo.users import Users
from sgclearn.tasks.geo.words import UserWords, WordSettings
from sgclearn.tasks.protocol import Samples

TARGETS = ("lat", "lon")


@dataclass(frozen=True)
class Source:
    """What the features and the graph of users are made from, kept for users who come later.

    Parameters
    ----------
    words : UserWords or None
    encoding : Encoding or None
        Of the columns that are neither id, place nor text.
    mean, deviation : tuple of float
        Of the columns of the encoding over the users for training: they become standard scores.
    mentions : Mentions or None
        None: the graph came from edges alone.
    max_users : int or None
        Of `Mentions.graph`.
    """

    words: UserWords | None = None
    encoding: Encoding | None = None
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    mentions: Mentions | None = None
    max_users: int | None = DEFAULT_MAX_USERS

    def features(self, users: Users) -> Any:
        """Features (n, d) of users, None where there are none."""
        blocks: list[Any] = []
        if self.words is not None:
            blocks.append(self.words.apply(users.texts or ("",) * len(users)))
        if self.encoding is not None:
            if users.columns is None:
                missing = ", ".join(self.encoding.column_names)
                raise InputError(
                    f"users must have the columns of the fit, {missing}",
                    "none of them",
                    "add them",
                    argument="users",
                )
            raw = _dense(self.encoding.apply(users.columns.select(list(self.encoding.column_names))))
            blocks.append((raw - np.array(self.mean)) / np.array(self.deviation))
        if not blocks:
            return None
        if len(blocks) == 1:
            return blocks[0]
        return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks], format="csr"))

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns of the features."""
        names = () if self.words is None else self.words.vocabulary
        names += () if self.encoding is None else self.encoding.names
        return names or None

    @property
    def n_words(self) -> int:
        """Columns of text, which come first."""
        return 0 if self.words is None else len(self.words.vocabulary)


@dataclass(frozen=True, eq=False)
class GeoSamples(Samples):
    """Samples whose y is latitude and longitude, with what new users need."""

    source: Source = field(default_factory=Source)


def samples_of(
    users: Users,
    *,
    edges: Path | None = None,
    use_mentions: bool | None = None,
    max_users: int | None = DEFAULT_MAX_USERS,
    words: WordSettings | None = None,
    held_out: float | None = None,
    seed: int | None = None,
    delimiter: str | None = None,
) -> GeoSamples:
    """Make samples of users.

    Parameters
    ----------
    users : Users
    edges : Path, optional
        Who knows whom, instead of mentions or next to them.
    use_mentions : bool, optional
        Whether mentions in texts are edges; if not given, where there are texts and no edges.
    max_users : int or None
        Of `Mentions.graph`.
    words : WordSettings, optional
    held_out, seed
        Share of the known places that are for test where the users have no split, and the seed of the draw.

    Notes
    -----
    Words are learned from the users for training alone; users without a place are in the graph, and in no split.
    """
    seed = DEFAULT_SEED if seed is None else seed
    mentions = None
    if use_mentions is None:
        use_mentions = users.texts is not None and edges is None
    if use_mentions:
        if users.texts is None:
            raise InputError(
                "mentions need a column of texts",
                "users without one",
                ("name it with ", Setting("text_column")),
                argument="users",
            )
        mentions = Mentions.from_texts(users.ids.tolist(), users.texts)
    graph = graph_of(users.ids, mentions, edges, max_users, delimiter)
    split = _split_of(users, held_out, seed)
    learn = np.flatnonzero(split == "train") if (split != None).any() else np.arange(len(users))  # noqa: E711
    columns = _columns_of(users, learn)
    source = Source(_words_of(users, learn, words), *columns, mentions, max_users)
    return GeoSamples(
        users.name,
        graph,
        source.features(users),
        users.points,
        split,
        users.ids,
        unit="user",
        feature_names=source.feature_names,
        is_held_out=users.split is None,
        targets=TARGETS,
        seed=seed,
        source=source,
    )


def graph_of(
    ids: NDArray[Any],
    mentions: Mentions | None,
    edges: Path | None,
    max_users: int | None,
    delimiter: str | None = None,
) -> Graph:
    """The users' graph from mentions, edges, or both."""
    if mentions is None and edges is None:
        raise InputError(
            "users need a graph", "neither edges nor texts with mentions", "give edges=, or a column of texts",
            argument="edges",
        )  # fmt: skip
    read = None if edges is None else read_edges(edges, nodes=NodeIds(ids), weight=False, delimiter=delimiter)
    named = None if mentions is None else mentions.graph(max_users)
    if named is None or read is None:
        return read if named is None else named  # type: ignore[return-value]
    return named.union(read)


def _split_of(users: Users, held_out: float | None, seed: int) -> NDArray[Any]:
    if users.split is None:
        return hold_out(users.points, DEFAULT_HELD_OUT if held_out is None else held_out, seed)
    if held_out is not None:
        raise InputError(
            "held_out goes with users without a split", "it with users that have one", "leave it out",
            argument="held_out",
        )  # fmt: skip
    spelled = {**SPLIT_WORDS, "dev": "val", "": None}
    unknown = next((word for word in users.split if word.strip().lower() not in spelled), None)
    if unknown is not None:
        raise InputError(
            "a split must be train, val, dev or test", repr(unknown), "mend it", argument="users"
        )
    split = np.array([spelled[word.strip().lower()] for word in users.split], dtype=object)
    split[~users.is_known] = None
    if not (split == "train").any():
        raise InputError(
            "users for training must have a known place", f"none of {counted(len(users), 'user')}", "give some",
            argument="users",
        )  # fmt: skip
    return split


def _words_of(users: Users, learn: NDArray[np.intp], settings: WordSettings | None) -> UserWords | None:
    if users.texts is None:
        return None
    texts = [users.texts[row] for row in learn if users.texts[row]]
    return UserWords.learn(texts, settings)


def _columns_of(
    users: Users, learn: NDArray[np.intp]
) -> tuple[Encoding | None, tuple[float, ...], tuple[float, ...]]:
    """Encoding of the columns that are neither id, place nor text, with mean and deviation of what it gives."""
    if users.columns is None:
        return None, (), ()
    known = users.columns.take(learn)
    encoding = Encoding.learn(known, impute="mean")
    values = _dense(encoding.apply(known))
    deviation = values.std(axis=0)
    return (
        encoding,
        tuple(values.mean(axis=0).tolist()),
        tuple(np.where(deviation > 0, deviation, 1.0).tolist()),
    )


def _dense(matrix: Any) -> NDArray[np.float64]:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
