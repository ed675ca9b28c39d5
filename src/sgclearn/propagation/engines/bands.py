"""When the C++ kernel takes rows in bands; see `_native/bands.hpp` for what that is."""

from __future__ import annotations

# All are constants, and the threads are not asked: in bands the terms of a row are added up in another order, and the
# result must not have other bits on another machine.
_BAND = 5120  # rows whose sums, a cache line each, leave room in the cache of one core
_NEAR = 2**22  # a packed block of so many bytes is read out of order at little cost
_FEWEST_ENTRIES = 32  # of a row, on average: short rows are soon read
_ENTRY_BYTES = 2
_NODE_BYTES = 192  # two packed blocks, which rows need in any order, and the scales
_MOST_MEMORY = 0.1  # of the result, all of this together: so many columns also earn what the order costs
_LINE = 64


def band_bytes(n_nodes: int, n_stored: float, n_columns: int, itemsize: int) -> float:
    """Bytes of the entries in bands for hops over a whole graph without weights; 0 if bands do not pay."""
    memory = _ENTRY_BYTES * float(n_stored)
    pays = (
        n_nodes * _LINE > _NEAR
        and n_stored >= _FEWEST_ENTRIES * n_nodes
        and n_stored < 2**31  # places in a band are 32 bits wide
        and n_stored * _BAND >= float(n_nodes) ** 2  # else most of the block is read for a row or none
        and memory + n_nodes * _NODE_BYTES <= _MOST_MEMORY * n_nodes * n_columns * itemsize
    )
    return memory if pays else 0.0


def rows_of_band(n_nodes: int, n_stored: int, n_threads: int) -> int:
    """Rows of a band: fewer than fit into the cache where many threads would have too few bands to share.

    But so many that most nodes are read by one of them, or leading from node to node would take more than reading does.
    """
    least = -(-(n_nodes**2) // max(n_stored, 1))
    return min(max(n_nodes // (4 * n_threads), least, 1), _BAND)
