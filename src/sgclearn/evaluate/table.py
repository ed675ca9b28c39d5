"""A table about something that was measured, for a screen or a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Table(NamedTuple):
    """Header and rows of text: the first `left` columns are words, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    title: str | None = None
