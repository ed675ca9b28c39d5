"""Features: one row of numbers for each node, and how they came about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from sgclearn.errors import ANY, InputError, InputTypeError, Place, Setting
from sgclearn.features.alignment import index_ids
from sgclearn.features.columns import Impute, too_large
from sgclearn.features.encoding import Encoding, Matrix
from sgclearn.features.frames import split_ids
from sgclearn.graph.checks import check_graph
from sgclearn.graph.hints import spelling_hint
from sgclearn.tables.messages import counted
from sgclearn.validation.arrays import plain_array
from sgclearn.validation.matrices import LARGEST, as_matrix
from sgclearn.validation.parameters import check_type, shown
from sgclearn.validation.sparse import check_sparse

if TYPE_CHECKING:
    from sgclearn.graph import Graph, NodeIds


@dataclass(frozen=True, eq=False, repr=False)
class Features:
    """Feature matrix X, (n, d), with the ids of its rows.

    Frozen: the arrays are read-only. Use `from_matrix`, `from_frame` or `read_features`.

    Parameters
    ----------
    matrix : ndarray or csr_array of shape (n, d)
        Finite numbers, float32 or float64 (other types become float64).
    ids : array of shape (n,), optional
        Id of each row, integers or any hashables, each once. None: row i belongs to node i.
    names : tuple of str, optional
        Names of the d matrix columns; by default x0, x1, ...
    encoding : Encoding, optional
        How raw columns became matrix columns; it encodes the raw columns of new nodes in the same way.

    Examples
    --------
    >>> from sgclearn import Graph
    >>> features = Features.from_matrix([[1.0, 0.0], [2.0, 5.0]], ids=["b", "a"])
    >>> features
    Features(2 rows, 2 columns, dense float64, ids 'b', 'a')
    >>> features.align(Graph.from_edges([("a", "b")]))
    array([[2., 5.],
           [1., 0.]])
    """

    matrix: Matrix
    ids: NDArray[Any] | None = None
    names: tuple[str, ...] = field(default_factory=tuple)
    encoding: Encoding | None = None
    _index: NodeIds | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        matrix = _as_matrix(self.matrix)
        n_rows, n_columns = matrix.shape
        names = as_names(self.names)
        if names and len(names) != n_columns:
            raise InputError(
                f"names must name each of the {counted(n_columns, 'feature column')}",
                counted(len(names), "name"),
                "leave them out or give one a column",
                argument="names",
            )
        index = None if self.ids is None else index_ids(self.ids, "features")
        if index is not None and len(index) != n_rows:
            raise InputError(
                "features must have one id a row",
                f"{counted(n_rows, 'row')} and {counted(len(index), 'id')}",
                "give both in the same order",
            )
        _check_finite(matrix, names)
        ids = None if index is None else index.values
        if ids is not None:
            ids.flags.writeable = False
        frozen = {"matrix": _read_only(matrix), "ids": ids, "names": names, "_index": index}
        for name, value in frozen.items():
            object.__setattr__(self, name, value)
        if not names:
            object.__delattr__(self, "names")  # made by __getattr__ when somebody asks

    def __getattr__(self, name: str) -> Any:
        if name != "names":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        names = tuple(f"x{column}" for column in range(self.matrix.shape[1]))
        object.__setattr__(self, "names", names)
        return names

    def __repr__(self) -> str:
        n_rows, n_columns = self.matrix.shape
        kind = f"{'csr' if issparse(self.matrix) else 'dense'} {self.matrix.dtype}"
        if self.ids is None:
            ids = "row i is node i"
        else:
            shown = ", ".join(repr(value) for value in self.ids[:3].tolist())
            ids = f"ids {shown}{', ...' if self.ids.size > 3 else ''}"
        return f"Features({counted(n_rows, 'row')}, {counted(n_columns, 'column')}, {kind}, {ids})"

    @classmethod
    def from_matrix(
        cls, X: Any, ids: Iterable[Any] | None = None, names: Iterable[str] | None = None
    ) -> Features:
        """Features from numbers that need no encoding.

        Parameters
        ----------
        X : array-like or scipy sparse of shape (n, d)
            Finite numbers; sparse stays sparse (csr).
        ids : iterable of shape (n,), optional
            Id of each row. None: row i belongs to node i.
        names : iterable of str, optional
            Names of the columns; by default x0, x1, ...

        Returns
        -------
        Features

        Examples
        --------
        >>> Features.from_matrix([[1, 0], [0, 1]]).matrix
        array([[1., 0.],
               [0., 1.]])
        """
        return cls(X, ids, () if names is None else as_names(names))  # type: ignore[arg-type]

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        id_column: str | bool | None = None,
        *,
        impute: Impute | None = None,
        max_categories: int = 50,
        encoding: Encoding | None = None,
    ) -> Features:
        """Features from a pandas, polars or Arrow table, or anything with the Arrow stream interface.

        Numbers are kept, booleans are 0 and 1, strings are one-hot (see `Encoding`).

        Parameters
        ----------
        frame : data frame
            One row a node.
        id_column : str, False or None
            Column with the id. None: the index of a pandas frame that is not the default one; else the
            first of the columns id, node, node_id, name, key (in any case); else the first column if it
            holds strings or integers, each once; else row i belongs to node i. False: row i belongs to
            node i. An unnamed integer index, which every filter leaves behind, gives way to a column with
            one of those names.
        impute : {"mean", "median", "zero"}, optional
            What missing numbers become; a missing string is then a category of its own. By default
            missing values are an error. The encoding keeps the fill values.
        max_categories : int, default=50
            Most categories that a string column may have; for learning only, an ``encoding`` has its own.
        encoding : Encoding, optional
            Encode as at learning instead of learning anew, for new nodes; it has its own ``impute``.

        Returns
        -------
        Features

        Examples
        --------
        >>> import pyarrow as pa
        >>> table = pa.table({"id": ["a", "b"], "age": [30, 40], "city": ["Bern", "Graz"]})
        >>> features = Features.from_frame(table)
        >>> features.names
        ('age', 'city=Bern', 'city=Graz')
        >>> new = pa.table({"id": ["c"], "age": [50], "city": ["Graz"]})
        >>> Features.from_frame(new, encoding=features.encoding).matrix
        array([[50.,  0.,  1.]])
        """
        if encoding is not None:
            check_type(encoding, Encoding, "encoding", "give the encoding of other Features")
        if encoding is not None and impute is not None:
            raise InputError(
                f"impute must be left out when an encoding is given, which has its own ({encoding.impute!r})",
                repr(impute),
                "choose impute when the encoding is learned",
                argument="impute",
            )
        table, ids = split_ids(frame, id_column, () if encoding is None else encoding.column_names)
        if encoding is None:
            encoding = Encoding.learn(table, impute=impute, max_categories=max_categories)
        return cls(encoding.apply(table), ids, encoding.names, encoding)

    def align(self, graph: Graph) -> Matrix:
        """Rows in the order of the graph's nodes.

        Rows of ids that the graph does not have are left out: a table may describe more nodes than the
        graph contains.

        Parameters
        ----------
        graph : Graph

        Returns
        -------
        ndarray or csr_array of shape (graph.n_nodes, d)
            Row i is the features of node i; the matrix itself, not a copy, if it is in that order already.

        Raises
        ------
        InputError
            If a node has no features, or, without ids, if the number of rows is not the number of nodes.
        """
        check_graph(graph)
        if self._index is None:
            if self.matrix.shape[0] != graph.n_nodes:
                raise InputError(
                    "features without ids must have one row a node",
                    f"{counted(self.matrix.shape[0], 'row')} and {counted(graph.n_nodes, 'node')}",
                    "give the ids of the rows",
                )
            return self.matrix
        rows = self._index.lookup(graph.ids)
        missing = np.flatnonzero(rows < 0)
        if missing.size:
            first = graph.ids[missing[:1]].tolist()[0]
            raise InputError(
                "every node must have features",
                f"{missing.size:,} of {counted(graph.n_nodes, 'node')} without, the first is {first!r}"
                f"{spelling_hint(first, self._index)}",
                "add their rows, or take the nodes out of the graph",
            )
        if rows.size == len(self._index) and np.array_equal(rows, np.arange(rows.size)):
            return self.matrix
        return self.matrix[rows]


def as_names(names: Iterable[Any]) -> tuple[str, ...]:
    """Names of columns: texts, or what can be spelled as one."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) != 1:
        raise InputTypeError(
            "names must be a list of texts", shown(names), "give one a column", argument="names"
        )
    return tuple(name if isinstance(name, str) else str(name) for name in names)


def _as_matrix(X: Any) -> Matrix:
    """Matrix of floats, dense or csr in canonical form; what is given is never changed."""
    matrix: Any = check_sparse(X, "features") if issparse(X) else plain_array(X, "features")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            "features must be a matrix with one row a node and at least one column",
            f"shape {matrix.shape}",
            "reshape them",
        )
    if matrix.dtype.kind not in "fiub":
        raise InputTypeError(
            "features must be real numbers",
            f"an array of {matrix.dtype}",
            "use Features.from_frame for tables with strings",
        )
    return as_matrix(matrix, "features")


def _read_only(matrix: Matrix) -> Matrix:
    if isinstance(matrix, np.ndarray):
        view = matrix.view()
        view.flags.writeable = False
        return view
    parts = [part.view() for part in (matrix.data, matrix.indices, matrix.indptr)]
    for part in parts:
        part.flags.writeable = False
    return csr_array(tuple(parts), shape=matrix.shape)


def _check_finite(matrix: Matrix, names: tuple[str, ...]) -> None:
    stored = matrix if isinstance(matrix, np.ndarray) else matrix.data
    # NaN passes through max and min and compares as false: no mask unless something is wrong.
    with np.errstate(invalid="ignore"):
        if stored.max(initial=0) <= LARGEST and stored.min(initial=0) >= -LARGEST:
            return
    for is_wrong in (~np.isfinite(stored), np.abs(stored) > LARGEST):
        columns = np.nonzero(is_wrong)[1] if isinstance(matrix, np.ndarray) else matrix.indices[is_wrong]
        if columns.size:
            break
    first = int(columns.min())
    name = names[first] if names else f"x{first}"
    values = matrix[:, first] if isinstance(matrix, np.ndarray) else matrix.data[matrix.indices == first]
    count = int(np.count_nonzero(~np.isfinite(values)))
    if count == 0:
        raise too_large(name, float(values[np.abs(values).argmax()]))
    raise InputError(
        "features must be finite",
        counted(count, "NaN or infinite value"),
        ("fill them first, or give the features as a table with ", Setting("impute", ANY)),
        place=Place(column=name),
    )
