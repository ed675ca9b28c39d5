"""Who mentions whom: texts become a graph of users, also through handles that are not users themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.graph import Graph
from sgclearn.tables.messages import counted
from sgclearn.validation.parameters import Whole

DEFAULT_MAX_USERS = 5
# Not the domain of an address: no letter, digit, dot or dash in front of the @.
_HANDLE = re.compile(r"(?<![\w.\-])@(\w+)", re.ASCII)
_MAX_USERS = Whole(
    "leave it out for 5", low=0, high=2**31, alternative=" or None for no limit", optional=True
)


def find_mentions(text: str) -> set[str]:
    """Handles that a text mentions, in lower case.

    Examples
    --------
    >>> sorted(find_mentions("RT @Ada: mail me@example.org or ask @bob_1, @ada"))
    ['ada', 'bob_1']
    """
    return {handle.lower() for handle in _HANDLE.findall(text)}


@dataclass(frozen=True, eq=False)
class Mentions:
    """Users and the handles in their texts, before they become a graph.

    Parameters
    ----------
    ids : sequence (n,)
        Ids of the users, each once; compared with handles in lower case and without a leading @.
    handles : object array of str (h,)
        Handles that occur, each once.
    pairs : bool csr_array (n, h)
        Whether user i mentions handle j.

    Examples
    --------
    >>> mentions = Mentions.from_texts(["ada", "bob", "eve"], ["hi @bob", "see @cafe", "at @cafe"])
    >>> mentions.graph().to_scipy().toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """

    ids: Sequence[Any]
    handles: NDArray[Any]
    pairs: sp.csr_array

    @classmethod
    def from_texts(cls, ids: Sequence[Any], texts: Iterable[str]) -> Mentions:
        """Find the handles in one text a user; cost: O(characters)."""
        code: dict[str, int] = {}
        columns: list[int] = []
        starts = [0]
        for text in texts:
            columns += [code.setdefault(handle, len(code)) for handle in sorted(find_mentions(text))]
            starts.append(len(columns))
        if len(starts) != len(ids) + 1:
            raise InputError(
                "mentions need one text a user",
                f"{counted(len(starts) - 1, 'text')} and {counted(len(ids), 'user')}",
                "give an empty text to users without one",
                argument="texts",
            )
        parts = (np.ones(len(columns), dtype=bool), columns, starts)
        pairs = sp.csr_array(parts, shape=(len(ids), len(code)))
        return cls(ids, np.array(list(code), dtype=object), pairs)

    def __repr__(self) -> str:
        n_users, n_handles = counted(len(self.ids), "user"), counted(len(self.handles), "handle")
        return f"Mentions({n_users}, {n_handles}, {counted(self.pairs.nnz, 'pair')})"

    def joined(self, ids: Sequence[Any], texts: Iterable[str]) -> Mentions:
        """These users, then new ones: the graph of all is the one that their texts together would have made."""
        new = Mentions.from_texts(ids, texts)
        handles = list(dict.fromkeys([*self.handles.tolist(), *new.handles.tolist()]))
        code = {handle: at for at, handle in enumerate(handles)}
        places = np.array([code[handle] for handle in new.handles], dtype=np.int64)
        shape = (new.pairs.shape[0], len(handles))
        moved = sp.csr_array((new.pairs.data, places[new.pairs.indices], new.pairs.indptr), shape=shape)
        old = self.pairs.copy()
        old.resize((old.shape[0], len(handles)))
        pairs = sp.csr_array(sp.vstack([old, moved], format="csr"))
        return Mentions([*self.ids, *ids], np.array(handles, dtype=object), pairs)

    def graph(self, max_users: int | None = DEFAULT_MAX_USERS) -> Graph:
        r"""The users as one undirected graph, without weights.

        Two users share an edge where one mentions the other, or where both mention a handle that is not a user and
        that at most `max_users` users mention; None takes every handle, and 0 only mentions between users. A handle
        that many mention is a celebrity or a brand, which says nothing about where they live and costs as many edges
        as there are pairs of them.

        Cost: O(sum of squares of the users of the handles that are kept).
        """
        limit = _MAX_USERS.check("max_users", max_users)
        n = len(self.ids)
        row_of = {_as_handle(user): row for row, user in enumerate(self.ids)}
        users = np.array([row_of.get(handle, -1) for handle in self.handles], dtype=np.int64)
        mentioned = self.pairs.tocoo()
        direct = users[mentioned.col] >= 0
        pairs = [(mentioned.row[direct], users[mentioned.col[direct]])]
        if limit is None or limit > 1:
            shared = self.pairs[:, self._kept_handles(users < 0, limit)].astype(np.int32)
            through = sp.coo_array(sp.triu(shared @ shared.T, k=1))
            pairs.append((through.row, through.col))
        source, target = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
        ends = (source, target)
        adjacency = sp.csr_array(sp.coo_array((np.ones(len(source)), ends), shape=(n, n))).sign()
        # A loop is somebody who mentions their own name.
        return Graph.from_scipy(adjacency, ids=self.ids, self_loops="drop")

    def _kept_handles(self, is_free: NDArray[np.bool_], limit: int | None) -> NDArray[np.intp]:
        named_by = np.bincount(self.pairs.indices, minlength=len(self.handles))
        kept = is_free & (named_by > 1)
        return np.flatnonzero(kept if limit is None else kept & (named_by <= limit))


def _as_handle(user: Any) -> str:
    return str(user).lower().removeprefix("@")
