"""Labels: the classes of some nodes, and which of them are for training, validation and test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, InputTypeError, Place, Setting
from sgclearn.features.alignment import index_ids
from sgclearn.features.frames import as_arrow, index_is_id, is_pandas, named_id, split_ids
from sgclearn.graph.checks import check_graph
from sgclearn.graph.hints import spelling_hint
from sgclearn.tables.messages import counted, listing
from sgclearn.validation.arrays import is_missing, plain_array
from sgclearn.validation.parameters import Choice, shown

if TYPE_CHECKING:
    from sgclearn.graph import Graph

Split = Literal["train", "val", "test"]

LABEL_NAMES = ("label", "labels", "class", "target", "y")
SPLIT_NAMES = ("split", "set", "subset")
SPLIT_WORDS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
_NUMBERS = (int, float, np.integer, np.floating)


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Classes of the nodes that have one.

    Rows without a label (None, NaN, an empty string, or -1 among integers) are left out.

    Parameters
    ----------
    ids : array-like of shape (m,)
        Ids of nodes, each once.
    values : array-like of shape (m,)
        Class of each: integers (whole floats count as such), or strings.
    splits : array-like of shape (m,), optional
        "train", "val" ("valid", "validation") or "test" for each, in any case. A row with a label needs a
        split as soon as splits are given: an empty one could hide a test label in the training set.

    Examples
    --------
    >>> from sgclearn import Graph
    >>> graph = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> labels = Labels(["a", "c"], [3, 5], splits=["train", "test"])
    >>> labels.align(graph)
    array([ 3, -1,  5])
    >>> labels.align(graph, which="train")
    array([ 3, -1, -1])
    >>> labels.mask(graph, "test")
    array([False, False,  True])
    """

    ids: NDArray[Any]
    values: NDArray[Any]
    splits: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        ids = index_ids(self.ids, "labels").values
        values, labelled = _as_classes(self.values)
        splits = None if self.splits is None else _as_splits(self.splits, labelled)
        for name, array in (("values", values), ("splits", splits)):
            if array is not None and array.size != ids.size:
                raise InputError(
                    f"labels must have one of {name} for each id",
                    f"{counted(ids.size, 'id')} and {counted(array.size, name[:-1])}",
                    "give both in the same order",
                )
        if not labelled.any():
            raise InputError(
                "labels must hold at least one label",
                f"{counted(ids.size, 'row')} without one",
                "label some nodes",
            )
        kept = {"ids": ids[labelled], "values": values[labelled]}
        kept["values"].flags.writeable = kept["ids"].flags.writeable = False
        if splits is not None:
            kept["splits"] = splits[labelled]
            kept["splits"].flags.writeable = False
        for field, array in kept.items():
            object.__setattr__(self, field, array)

    def __repr__(self) -> str:
        nodes = counted(self.ids.size, "node")
        classes = counted(len(set(self.values.tolist())), "class", "classes")
        if self.splits is None:
            return f"Labels({nodes}, {classes})"
        counts = [f"{np.count_nonzero(self.splits == split)} {split}" for split in ("train", "val", "test")]
        return f"Labels({nodes}, {classes}, {', '.join(counts)})"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        id_column: str | None = None,
        *,
        label_column: str | None = None,
        split_column: str | None = None,
    ) -> Labels:
        """Labels from a pandas, polars or Arrow table.

        Parameters
        ----------
        frame : data frame
            One row a node; columns that are neither id, label nor split are left out.
        id_column : str, optional
            Column with the id; found as in `Features.from_frame`, else the first column.
        label_column : str, optional
            Column with the class; by default the first of label, labels, class, target, y (in any case),
            else the only column that is neither id nor split.
        split_column : str, optional
            Column with train, val or test; by default one named split, set or subset, else the third of
            three if such a word is in it.

        Returns
        -------
        Labels

        Examples
        --------
        >>> import pyarrow as pa
        >>> Labels.from_frame(pa.table({"id": ["a", "b"], "label": ["cat", "dog"]}))
        Labels(2 nodes, 2 classes)
        """
        names = as_arrow(frame).column_names
        by_index = is_pandas(frame) and index_is_id(frame.index, named_id(names))
        if id_column is None and not by_index:
            id_column = named_id(names) or next(iter(names), None)
        table, ids = split_ids(frame, id_column)
        if ids is None:
            raise InputError(
                "labels must have a column of ids",
                f"the columns {', '.join(table.column_names)}",
                ("name it with ", Setting("id_column")),
            )
        label, split, is_split = choose_columns(list(table.column_names), label_column, split_column)
        splits = None if split is None else _objects(table.column(split).to_pylist())
        if splits is not None and not is_split and not any(_word(value) in SPLIT_WORDS for value in splits):
            splits = None
            if label_column is None and _named([label], LABEL_NAMES) is None:
                raise _which_label(table.column_names)
        return cls(ids, _class_values(label, table.column(label)), splits)

    def align(self, graph: Graph, which: Split | None = None) -> NDArray[Any]:
        """Classes in the order of the graph's nodes.

        Parameters
        ----------
        graph : Graph
        which : {"train", "val", "test"}, optional
            Only the labels of that split; the others are as unlabelled.

        Returns
        -------
        y : ndarray of shape (graph.n_nodes,)
            Integers with -1, or objects with None, for nodes without a label.
        """
        positions = self._positions(graph)
        chosen = self._chosen(which)
        if self.values.dtype.kind == "i":
            y: NDArray[Any] = np.full(graph.n_nodes, -1, dtype=np.int64)
        else:
            y = np.full(graph.n_nodes, None, dtype=object)
        y[positions[chosen]] = self.values[chosen]
        return y

    def mask(self, graph: Graph, split: Split) -> NDArray[np.bool_]:
        """Tell which nodes have a label of that split: bool, shape (graph.n_nodes,)."""
        check_graph(graph)
        mask = np.zeros(graph.n_nodes, dtype=np.bool_)
        mask[self._positions(graph)[self._chosen(split)]] = True
        return mask

    def _positions(self, graph: Graph) -> NDArray[np.intp]:
        check_graph(graph)
        positions = graph.node_ids.lookup(self.ids)
        unknown = np.flatnonzero(positions < 0)
        if unknown.size:
            first = self.ids[unknown[:1]].tolist()[0]
            are = "is" if unknown.size == 1 else "are"
            raise InputError(
                f"every label must belong to one of the {counted(graph.n_nodes, 'node')} of the graph",
                f"{unknown.size:,} of {counted(self.ids.size, 'id')} that {are} not in it, the first is "
                f"{first!r}{spelling_hint(first, graph.node_ids)}",
                "drop their rows, or add the nodes",
            )
        return positions

    def _chosen(self, which: str | None) -> NDArray[np.bool_]:
        if which is None:
            return np.ones(self.ids.size, dtype=np.bool_)
        Choice(
            "choose one of them", values=("train", "val", "test"), sentence='"train", "val" or "test"'
        ).check("a split", which)
        if self.splits is None:
            raise InputError(
                f"labels must have splits to choose {which!r} from", "labels without", "add a split column"
            )
        chosen: NDArray[np.bool_] = self.splits == which
        return chosen


def choose_columns(
    names: list[str], label_column: str | None, split_column: str | None
) -> tuple[str, str | None, bool]:
    """Find label and split among the columns besides the id; also whether the split is more than a guess."""
    for role, name in (("label_column", label_column), ("split_column", split_column)):
        if name is not None and (not isinstance(name, str) or name not in names):
            raise InputError(
                f"{role} must be one of the columns {', '.join(names)}",
                shown(name),
                "name one of them",
                argument=role,
            )
    split = split_column or _named([name for name in names if name != label_column], SPLIT_NAMES)
    rest = [name for name in names if name != split]
    label = label_column or _named(rest, LABEL_NAMES) or next(iter(rest), None)
    named = label_column is not None or _named(rest, LABEL_NAMES) is not None
    if not named and len(rest) > (1 if split else 2):
        raise _which_label(rest)
    if label is None:
        raise InputError(
            "labels must have a column besides the id and the split",
            ", ".join(names) or "none",
            "add it",
        )
    if split is None and len(names) == 2:
        return label, next(name for name in names if name != label), False
    return label, split, split is not None


def _which_label(names: Sequence[str]) -> InputError:
    return InputError(
        "labels must be in a column called label, labels, class, target or y, or in the only column "
        "besides id and split",
        listing(names),
        ("name the one with ", Setting("label_column")),
    )


def _named(names: list[str], words: Iterable[str]) -> str | None:
    folded = {name.strip().lower(): name for name in reversed(names)}
    return next((folded[word] for word in words if word in folded), None)


def _class_values(name: str, column: Any) -> NDArray[Any]:
    from pyarrow import types

    held = column.type
    if types.is_nested(held) or types.is_temporal(held):
        raise InputError(
            "labels must be integers or strings",
            str(held),
            ("name another with ", Setting("label_column"), " or convert it"),
            place=Place(column=name),
        )
    return _objects(column.to_pylist())


def _objects(values: list[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _word(value: Any) -> str:
    return "" if is_missing(value) else str(value).strip().lower()


def _listed(values: Iterable[Any], name: str) -> list[Any]:
    """Single values as a list."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputTypeError(
            f"{name} must be a list, one entry a row", shown(values), "put them in a list", argument=name
        )
    listed: list[Any] = (
        plain_array(values, name).ravel().tolist() if hasattr(values, "__array__") else list(values)
    )
    for value in listed:
        if isinstance(value, list | tuple | dict | set) or getattr(value, "shape", ()) != ():
            raise InputTypeError(
                f"{name} must be single values", shown(value), "give one a row", argument=name
            )
    return listed


def _as_classes(values: Iterable[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Classes as int64 or as strings, and which rows have one."""
    listed = _listed(values, "labels")
    empty = [is_missing(value) or (isinstance(value, str) and value == "") for value in listed]
    held = {type(value) for value, nothing in zip(listed, empty, strict=True) if not nothing}
    labelled = ~np.array(empty, dtype=np.bool_)
    if all(issubclass(kind, str) for kind in held) or held == {bool}:
        # A boolean is a name of a class, not a number: its spelling is what a person wants to see again.
        classes = [None if nothing else str(value) for value, nothing in zip(listed, empty, strict=True)]
        return _objects(classes), labelled
    if all(issubclass(kind, _NUMBERS) and kind not in (bool, np.timedelta64) for kind in held):
        numbers = [-1 if nothing else value for value, nothing in zip(listed, empty, strict=True)]
        if all(abs(number) < 2**63 and float(number).is_integer() for number in numbers):
            integers = np.array(numbers, dtype=np.int64)
            return integers, integers != -1
    shown = ", ".join(sorted(kind.__name__ for kind in held))
    first = next(value for value, nothing in zip(listed, empty, strict=True) if not nothing)
    raise InputError(
        "labels must be classes, all integers or all strings",
        f"values of type {shown} such as {first!r}",
        "convert them to strings",
    )


def _as_splits(splits: Iterable[Any], labelled: NDArray[np.bool_]) -> NDArray[Any]:
    listed = _listed(splits, "splits")
    words = [_word(value) for value in listed]
    for row, word in enumerate(words):
        if word == "" and row < labelled.size and labelled[row]:
            raise InputError(
                "every label must have a split",
                "none",
                "write train, val or test, or leave the label empty too",
                place=Place(row=row),
            )
        if word and word not in SPLIT_WORDS:
            raise InputError(
                "a split must be train, val, valid, validation or test",
                repr(listed[row]),
                ("correct it, or name the split column with ", Setting("split_column")),
                place=Place(row=row),
            )
    return _objects([SPLIT_WORDS.get(word) for word in words])
