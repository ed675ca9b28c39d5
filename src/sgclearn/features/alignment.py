"""Ids that tie rows to nodes: each once, and of the same type on both sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sgclearn.errors import InputError
from sgclearn.graph.ids import NodeIds, as_ids

_SPOKEN = {"range": "integers", "int": "integers", "str": "strings"}


def index_ids(ids: Iterable[Any], what: str) -> NodeIds:
    """Index the ids of rows; a repeated, missing or unusable id is an error that says whose it is."""
    try:
        return NodeIds(as_ids(ids, "ids"))
    except InputError as error:
        raise InputError(f"{what} must have one row for each id: {error}") from error


def check_same_type(nodes: NodeIds, ids: NodeIds, what: str) -> None:
    """Refuse to look up integers among strings: that 12 is '12' is a guess, and 7 may be '007'."""
    theirs, ours = _SPOKEN.get(nodes.kind), _SPOKEN.get(ids.kind)
    if len(nodes) and len(ids) and theirs and ours and theirs != ours:
        raise InputError(
            f"ids of {what} must be of the same type as the ids of the graph: the graph has {theirs} such as "
            f"{nodes.values.tolist()[0]!r} and the {what} have {ours} such as {ids.values.tolist()[0]!r}; "
            "convert one of them."
        )
