"""Which columns of a table hold the edges."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sgclearn.errors import InputError, Setting, SgclearnWarning
from sgclearn.tables.messages import listing

PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("citing", "cited"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("head", "tail"),
    ("parent", "child"),
    ("follower", "followee"),
)
ENDS = (Setting("source"), " and ", Setting("target"))
WEIGHT = "weight"
WORDS = frozenset({word for pair in PAIRS for word in pair} | {WEIGHT})


@dataclass(frozen=True)
class EdgeColumns:
    """Names of the columns of an edge table."""

    source: str
    target: str
    weight: str | None


def choose_columns(
    names: Sequence[str],
    source: str | int | None,
    target: str | int | None,
    weight: str | int | Literal[False] | None,
    *,
    has_header: bool = True,
) -> EdgeColumns:
    """Choose source, target and weight: as asked, else by the words people use, else the only two columns.

    A column called `weight` is the weight unless `weight` is False. A table without header has its endpoints
    in the first two columns.
    """
    names = [str(name) for name in names]
    if weight is None:
        weight = next((name for name in names if name.lower() == WEIGHT), None)
    weight_name = None if weight is None or weight is False else _named(names, weight, "weight")
    if (source is None) != (target is None):
        raise InputError(
            (*ENDS, " must be named together"),
            (Setting("source", source), " and ", Setting("target", target)),
            f"the columns are {listing(names)}",
        )
    if source is not None and target is not None:
        chosen = EdgeColumns(_named(names, source, "source"), _named(names, target, "target"), weight_name)
        if chosen.source == chosen.target:
            raise InputError((*ENDS, " must be two columns"), f"{chosen.source!r} for both")
        return chosen
    pair = _guess(names, weight_name, has_header)
    if pair is None:
        raise InputError(
            (*ENDS, " must be named where no two columns are known words for them"),
            f"the columns {listing(names)}",
        )
    if not has_header and weight is None and len(names) > 2:
        warnings.warn(
            SgclearnWarning(
                f"edges in {len(names)} columns without header: the first two are read, the rest is not used; ",
                *(Setting("weight", names[2]), " makes the third the weight, "),
                *(Setting("weight", False), " says that it is none."),
            ),
            stacklevel=4,
        )
    return EdgeColumns(*pair, weight_name)


def _guess(names: list[str], weight: str | None, has_header: bool) -> tuple[str, str] | None:
    if not has_header:
        return names[0], names[1]
    lower = {name.lower(): name for name in reversed(names)}
    for left, right in PAIRS:
        if left in lower and right in lower:
            return lower[left], lower[right]
    others = [name for name in names if name != weight]
    return (others[0], others[1]) if len(others) == 2 else None


def _named(names: list[str], column: str | int, role: str) -> str:
    if isinstance(column, str) and column in names:
        return column
    if isinstance(column, int) and not isinstance(column, bool) and 0 <= column < len(names):
        return names[column]
    raise InputError(
        f"{role} must name a column",
        repr(column),
        f"its columns are {listing(names)}",
        argument=role,
    )
