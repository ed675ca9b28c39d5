"""Words that messages about data share: counted things and lists of names."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Give a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class")
    ('1 row', '2,000 rows', '0 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + ('es' if noun.endswith('s') else 's')}"


def listing(names: Sequence[str], most: int = 10) -> str:
    """Give names in quotes, the first ones of many.

    Examples
    --------
    >>> listing(["id", "age", "city"], most=2)
    "'id', 'age' and 1 more"
    """
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
