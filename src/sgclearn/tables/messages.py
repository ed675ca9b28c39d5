"""Words that messages about data share: counted things and lists of names."""

from __future__ import annotations

from collections.abc import Sequence

from sgclearn.errors import counted as counted


def listing(names: Sequence[str], most: int = 10) -> str:
    """Give names in quotes, the first ones of many.

    Examples
    --------
    >>> listing(["id", "age", "city"], most=2)
    "'id', 'age' and 1 more"
    """
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
