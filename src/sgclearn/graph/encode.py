"""Endpoints of edges as positions: from ids of any kind to integers, a column at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, Words
from sgclearn.graph.hints import spelling_hint
from sgclearn.graph.ids import Ids, NodeIds, unhashable
from sgclearn.tables.messages import counted

if TYPE_CHECKING:
    import pyarrow as pa

# Below this many strings a dictionary beats the time it takes to import pyarrow.
_MANY = 200_000


def encode_ids(source: Ids, target: Ids) -> tuple[NDArray[np.int64], NDArray[np.int64], Ids]:
    """Number the distinct ids of two arrays of endpoints.

    Returns
    -------
    source, target : integer arrays, shape (E,)
        Positions in `ids`.
    ids : array, shape (n,)
        Integers in ascending order; other ids in order of first appearance, edge by edge.
    """
    if source.dtype != object and target.dtype != object:
        codes, ids = _encode_integers(np.concatenate([source, target]))
        return codes[: len(source)], codes[len(source) :], ids
    items = [*source.tolist(), *target.tolist()]
    if len(items) >= _MANY and set(map(type, items)) == {str}:
        import pyarrow as pa

        columns = (pa.chunked_array([pa.array(ids.tolist(), pa.large_string())]) for ids in (source, target))
        return encode_strings(*columns)
    index: dict[Any, int] = {}
    try:
        flat = np.fromiter((index.setdefault(item, len(index)) for item in items), np.int64, len(items))
    except TypeError as error:
        raise unhashable(error) from None
    return _by_appearance(flat, np.fromiter(index, dtype=object, count=len(index)))


def encode_strings(
    source: pa.ChunkedArray, target: pa.ChunkedArray
) -> tuple[NDArray[np.int64], NDArray[np.int64], Ids]:
    """Number the distinct strings of two columns of the same type; see `encode_ids`."""
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow as pa

    # Hashing tens of millions of strings is most of the time it takes to read a graph: a thread a column.
    with ThreadPoolExecutor(2) as pool:
        columns = list(pool.map(_codes_and_strings, (source, target)))
    joined = pa.concat_arrays([strings for _, strings in columns]).dictionary_encode()
    numbers = joined.indices.to_numpy()
    of_source, of_target = np.split(numbers, [len(columns[0][1])])
    flat = np.concatenate([of_source[columns[0][0]], of_target[columns[1][0]]])
    names = joined.dictionary.to_pylist()
    return _by_appearance(flat, np.fromiter(names, dtype=object, count=len(names)))


def _codes_and_strings(column: pa.ChunkedArray) -> tuple[NDArray[Any], pa.Array]:
    import pyarrow as pa

    chunks = column.dictionary_encode().chunks
    if not chunks:
        return np.empty(0, dtype=np.int64), pa.array([], column.type)
    return np.concatenate([chunk.indices.to_numpy() for chunk in chunks]), chunks[0].dictionary


def _by_appearance(flat: NDArray[Any], values: Ids) -> tuple[NDArray[np.int64], NDArray[np.int64], Ids]:
    """Renumber ids that were met column by column in the order in which a reader of the edges meets them."""
    n_edges = len(flat) // 2
    backwards = np.arange(n_edges)[::-1]
    first = np.full((2, len(values)), n_edges, dtype=np.int64)
    # The last assignment to a place stays, so going backwards leaves the first edge that has the id.
    first[0, flat[:n_edges][::-1]] = backwards
    first[1, flat[n_edges:][::-1]] = backwards
    order = np.argsort(np.minimum(2 * first[0], 2 * first[1] + 1))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    codes = rank[flat]
    return codes[:n_edges], codes[n_edges:], values[order]


def _encode_integers(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], Ids]:
    if len(values) == 0:
        return values, values
    low, high = int(values.min()), int(values.max())
    if high - low > 8 * len(values) + 1024:
        return _encode_scattered(values)
    # Dense integers are counted, not sorted.
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[values - low] = True
    codes = np.cumsum(seen)[values - low] - 1
    return codes, np.flatnonzero(seen).astype(np.int64) + low


def _encode_scattered(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], Ids]:
    if len(values) < _MANY:
        ids, codes = np.unique(values, return_inverse=True)
        return codes, ids
    import pyarrow as pa

    encoded = pa.array(values).dictionary_encode()
    found = encoded.dictionary.to_numpy()
    order = np.argsort(found)
    rank = np.empty(len(found), dtype=np.int64)
    rank[order] = np.arange(len(found))
    return rank[encoded.indices.to_numpy()], found[order]


def find_endpoints(
    source: Ids, target: Ids, nodes: NodeIds, remedy: Words
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of endpoints among known nodes; an unknown endpoint is an error that names its edge.

    `remedy` says in the error how the caller takes nodes.
    """
    if source.dtype == object or target.dtype == object:
        source_codes, target_codes, ids = encode_ids(source, target)
        positions = nodes.lookup(ids)
        found = positions[source_codes], positions[target_codes]
    else:
        found = nodes.lookup(source), nodes.lookup(target)
    unknown = np.flatnonzero((found[0] < 0) | (found[1] < 0))
    if len(unknown):
        row = int(unknown[0])
        name = source[row] if found[0][row] < 0 else target[row]
        name = name.item() if isinstance(name, np.generic) else name
        raise InputError(
            f"every endpoint must be one of the {counted(len(nodes), 'node')}",
            f"{name!r} in edge {row} ({counted(len(unknown), 'such edge')}){spelling_hint(name, nodes)}",
            (remedy, ", or remove the edge"),
        )
    return found
