"""Names of nodes: any hashable ids in, the same ids out, positions 0..n-1 in between."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sgclearn.errors import InputError, InputTypeError, Place
from sgclearn.graph.hints import spelling_hint
from sgclearn.tables.messages import counted
from sgclearn.validation.arrays import plain_array
from sgclearn.validation.parameters import MAX_NODES, Whole, check_type

Ids = NDArray[Any]  # int64, or object (strings and other hashables)


class NodeIds:
    """The ids of the nodes of a graph, in node order, each once.

    Parameters
    ----------
    values : array-like of ids, or int
        Integers, strings or any other hashable values; an integer n means the ids 0..n-1.
    once : str
        What a message says is expected where an id is repeated.

    Notes
    -----
    Ids that are all integers also answer to their usual spelling (`"12"`), and ids that are all strings to
    the integer they spell (`12`): files of one project disagree on that, and nothing is ambiguous about it.

    Examples
    --------
    >>> ids = NodeIds(["ann", "bob", "cas"])
    >>> ids.positions(["cas", "ann"])
    array([2, 0])
    >>> NodeIds(3)
    NodeIds(0..2)
    """

    __slots__ = ("_index", "_n", "_values", "kind")

    kind: str  # "range", "int", "str" or "object"
    _n: int
    _values: Ids | None
    _index: Any  # dict id -> position, or the order that sorts integer values; made on first use

    def __init__(
        self, values: ArrayLike | Iterable[Any] | int, *, once: str = "every node id must be given once"
    ) -> None:
        check_type(once, str, "once", "say in words what must hold")
        if isinstance(values, (int, np.integer)):
            Whole(high=MAX_NODES).check("the number of nodes", values)
            self._store("range", int(values), None)
            return
        ids = as_ids(values, "nodes")
        if ids.dtype != object:
            is_range = bool((ids == np.arange(len(ids))).all())
            self._store("range" if is_range else "int", len(ids), None if is_range else _frozen(ids))
        else:
            self._store("str" if _all_strings(ids) else "object", len(ids), _frozen(ids))
        self._refuse_duplicates(once)

    def _store(self, kind: str, n: int, values: Ids | None) -> None:
        for name, value in (("kind", kind), ("_n", n), ("_values", values), ("_index", None)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("NodeIds is frozen: make a new one instead.")

    def __len__(self) -> int:
        return self._n

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeIds):
            return NotImplemented
        if (self.kind, self._n) != (other.kind, other._n):
            return False
        return self.is_range or bool((self.values == other.values).all())

    def __hash__(self) -> int:
        return hash((self.kind, self._n))

    def __reduce__(self) -> tuple[type[NodeIds], tuple[object]]:
        return NodeIds, (self._n if self._values is None else self._values,)

    def __repr__(self) -> str:
        if self.is_range:
            return f"NodeIds(0..{self._n - 1})" if self._n else "NodeIds(none)"
        shown = ", ".join(repr(value) for value in self.values[:3].tolist())
        return f"NodeIds({shown}{', ...' if self._n > 3 else ''}; {self._n:,} ids)"

    @property
    def is_range(self) -> bool:
        """Whether the ids are just 0..n-1."""
        return self.kind == "range"

    @property
    def values(self) -> Ids:
        """The ids in node order, shape (n,): int64, or object."""
        return np.arange(self._n, dtype=np.int64) if self._values is None else self._values

    def name(self, position: int) -> object:
        """The id at a position, as a plain Python value."""
        position = Whole(high=self._n - 1).check("position", position)
        return int(position) if self._values is None else self._values[position : position + 1].tolist()[0]

    def lookup(self, ids: ArrayLike | Iterable[Any]) -> NDArray[np.intp]:
        """Positions of ids, shape (m,); -1 where an id is unknown."""
        asked = as_ids(ids, "ids")
        if self.kind in {"range", "int"}:
            if asked.dtype == object:
                return self._lookup_spelled(asked)
            return self._lookup_integers(asked)
        items: Iterable[Any] = asked.tolist()
        if self.kind == "str":
            items = (str(item) if type(item) is int else item for item in items)
        index = self._dictionary()
        try:
            return np.fromiter((index.get(item, -1) for item in items), dtype=np.intp, count=len(asked))
        except TypeError as error:
            raise unhashable(error) from None

    def positions(self, ids: ArrayLike | Iterable[Any]) -> NDArray[np.intp]:
        """Positions of ids, shape (m,); an unknown id is an error that names it."""
        asked = as_ids(ids, "ids")
        found = self.lookup(asked)
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            first = asked[unknown[:1]].tolist()[0]
            raise InputError(
                f"every id must be one of the {counted(self._n, 'node')}",
                f"{first!r} ({len(unknown):,} of {len(asked):,} unknown){spelling_hint(first, self)}",
                "check the spelling, or add the node",
            )
        return found

    def join(self, other: NodeIds) -> tuple[NodeIds, NDArray[np.intp]]:
        """Append the ids of `other` that are not here; also gives the position of each of `other`'s ids.

        Integers and strings together become strings, so that `12` and `"12"` stay one node.
        """
        check_type(other, NodeIds, "other", "make it with NodeIds(ids)")
        here = self
        if {self.kind, other.kind} in ({"range", "str"}, {"int", "str"}):
            here, other = self.as_strings(), other.as_strings()
        positions = here.lookup(other.values)
        new = positions < 0
        positions[new] = np.arange(here._n, here._n + int(new.sum()))
        if not new.any():
            return here, positions
        if here.is_range and other.kind in {"range", "int"}:
            return NodeIds(np.concatenate([here.values, other.values[new]])), positions
        return NodeIds([*here.values.tolist(), *other.values[new].tolist()]), positions

    def as_strings(self) -> NodeIds:
        """The same ids as strings."""
        return self if self.kind == "str" else NodeIds([str(value) for value in self.values.tolist()])

    def _dictionary(self) -> dict[Any, int]:
        if self._index is None:
            try:
                index = {value: position for position, value in enumerate(self.values.tolist())}
            except TypeError as error:
                raise unhashable(error) from None
            object.__setattr__(self, "_index", index)
        return self._index  # type: ignore[no-any-return]

    def _sorted(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        if self._index is None:
            order = np.argsort(self.values, kind="stable")
            object.__setattr__(self, "_index", (order, self.values[order]))
        return self._index  # type: ignore[no-any-return]

    def _lookup_integers(self, asked: NDArray[np.int64]) -> NDArray[np.intp]:
        if self.is_range or self._n == 0:
            return np.where((asked >= 0) & (asked < self._n), asked, -1).astype(np.intp)
        order, ascending = self._sorted()
        at = np.minimum(np.searchsorted(ascending, asked), self._n - 1)
        return np.where(ascending[at] == asked, order[at], -1)

    def _lookup_spelled(self, asked: Ids) -> NDArray[np.intp]:
        numbers = [_spelled_integer(item) for item in asked.tolist()]
        known = np.fromiter((number is not None for number in numbers), dtype=bool, count=len(numbers))
        found = self._lookup_integers(np.array([number or 0 for number in numbers], dtype=np.int64))
        return np.where(known, found, -1)

    def _refuse_duplicates(self, once: str) -> None:
        if self.kind == "int":
            ascending = self._sorted()[1]
            count = int(np.count_nonzero(ascending[1:] == ascending[:-1]))
        else:
            count = 0 if self.kind == "range" else self._n - len(self._dictionary())
        if count == 0:
            return
        seen = set()
        for row, value in enumerate(self.values.tolist()):
            if value in seen:
                remedy = "remove it" if count == 1 else "remove them"
                place = Place(row=row, line="", others=counted(count, "repeat"))
                raise InputError(once, f"{value!r} again", remedy, place=place)
            seen.add(value)


def as_ids(values: ArrayLike | Iterable[Any], what: str) -> Ids:
    """Give ids as an int64 array, or an object array of hashables; `what` names them in errors.

    Floats are taken for integers where they are whole, and refused where they are not.
    """
    if hasattr(values, "__array__"):
        array = plain_array(values, what)
    elif isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputTypeError(f"{what} must be a sequence of ids", f"{type(values).__name__} {values!r}")
    else:
        items = list(values)
        array = np.fromiter(items, dtype=object, count=len(items))
    if array.ndim != 1:
        raise InputError(f"{what} must be one-dimensional", f"shape {array.shape}")
    kind = array.dtype.kind
    if array.size == 0 and kind in "fO":
        return np.empty(0, dtype=np.int64)
    if kind == "i" or (kind == "u" and (array.size == 0 or array.max() <= np.iinfo(np.int64).max)):
        return array.astype(np.int64, copy=False)
    if kind == "f":
        return _whole(array, what)
    if kind in "USu":
        return np.fromiter(array.tolist(), dtype=object, count=len(array))
    if array.dtype != object:
        raise InputTypeError(
            f"{what} must be integers, strings or other hashable values",
            f"an array of {array.dtype}",
            "turn it into strings first",
        )
    return _objects(array, what)


def _objects(array: Ids, what: str) -> Ids:
    types = set(map(type, array.tolist()))
    if any(issubclass(kind, np.timedelta64) for kind in types):  # numpy counts it as an integer
        raise InputTypeError(
            f"{what} must be integers, strings or other hashable values",
            "a timedelta",
            "turn it into strings first",
        )
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in types):
        try:
            return np.array(array.tolist(), dtype=np.int64)
        except OverflowError:
            return array
    if all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in types):
        try:
            return _whole(np.array(array.tolist(), dtype=np.float64), what)
        except OverflowError:  # an integer that no float holds, next to fractions
            return array
    if types <= {str}:
        return array
    for position, item in enumerate(array.tolist()):
        if item is None or type(item).__name__ in {"NAType", "NaTType"}:
            raise _missing(item, position, what)
        if isinstance(item, float) and not item.is_integer():
            raise _not_whole(item, position, what)
    return array


def _whole(array: NDArray[np.floating[Any]], what: str) -> NDArray[np.int64]:
    wrong = np.flatnonzero(~(np.abs(array) < 2**53) | (array != np.floor(array)))
    if len(wrong):
        raise _not_whole(float(array[wrong[0]]), int(wrong[0]), what)
    return array.astype(np.int64)


def _missing(value: object, position: int, what: str) -> InputError:
    return InputError(
        f"{what} must have no missing id", f"{value!r} at position {position}", "fill it or remove the edge"
    )


def _not_whole(value: float, position: int, what: str) -> InputError:
    if np.isnan(value):
        return _missing(value, position, what)
    return InputError(
        f"{what} must be integers, strings or other hashable values that are no fractions",
        f"{value!r} at position {position}",
        "floats cannot tell ids apart safely, so turn them into integers or strings",
    )


def unhashable(error: TypeError) -> InputTypeError:
    """Give the error for ids that cannot be looked up."""
    return InputTypeError(
        "ids must be hashable", f"one that is not ({error})", "use integers, strings or tuples"
    )


def _all_strings(ids: Ids) -> bool:
    return set(map(type, ids.tolist())) <= {str, np.str_}


def usual_integers(texts: list[str]) -> Ids:
    """Texts as integers if each is one in its usual spelling (`7`, not `007`), else as they are."""
    numbers = [_spelled_integer(text) for text in texts]
    return as_ids(texts if None in numbers else numbers, "ids")


def _spelled_integer(item: Any) -> int | None:
    if isinstance(item, str):
        digits = item.removeprefix("-")
        usual = digits.isascii() and digits.isdigit() and (digits[0] != "0" or item == "0")
        item = int(item) if usual and len(digits) < 20 else None
    if isinstance(item, float) and item.is_integer():
        item = int(item)
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool) and abs(int(item)) < 2**63:
        return int(item)
    return None


def _frozen(array: Ids) -> Ids:
    copy = array.copy()
    copy.flags.writeable = False
    return copy
