"""Ids that tie rows to nodes: each once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sgclearn.graph.ids import NodeIds, as_ids


def index_ids(ids: Iterable[Any], what: str) -> NodeIds:
    """Index the ids of rows; a repeated, missing or unusable id is an error that says whose it is."""
    return NodeIds(as_ids(ids, f"ids of {what}"), once=f"{what} must have one row for each id")
