"""Why an id was not found: the two usual reasons, as a remark for the message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sgclearn.graph.ids import NodeIds


def spelling_hint(asked: Any, known: NodeIds) -> str:
    """Say whether an unknown id differs from a known one in leading zeros or in its type; else nothing.

    Examples
    --------
    >>> from sgclearn.graph import NodeIds
    >>> spelling_hint("032", NodeIds([7, 32]))
    ' (it differs from 32 only in leading zeros: write ids alike everywhere)'
    >>> spelling_hint("ann", NodeIds([7, 32]))
    ' (it is text, and the known ids are numbers such as 7)'
    """
    asked = asked.item() if isinstance(asked, np.generic) else asked
    if len(known) == 0 or known.kind == "object" or isinstance(asked, bool):
        return ""
    if isinstance(asked, (int, str)) and (number := _without_zeros(str(asked))) is not None:
        twin = _twin(number, known)
        if twin is not None:
            return f" (it differs from {twin!r} only in leading zeros: write ids alike everywhere)"
    first = known.name(0)
    if isinstance(asked, str) and _without_zeros(asked) is None and not isinstance(first, str):
        return f" (it is text, and the known ids are numbers such as {first!r})"
    if isinstance(asked, int) and isinstance(first, str) and _without_zeros(first) is None:
        return f" (it is a number, and the known ids are text such as {first!r})"
    return ""


def _twin(number: str, known: NodeIds) -> object:
    if known.kind != "str":
        position = int(known.lookup([number])[0])
        return None if position < 0 else known.name(position)
    return next((value for value in known.values.tolist() if _without_zeros(value) == number), None)


def _without_zeros(text: str) -> str | None:
    """Digits without the zeros in front; None for what is no whole number."""
    return text.lstrip("0") or "0" if text.isascii() and text.isdigit() else None
