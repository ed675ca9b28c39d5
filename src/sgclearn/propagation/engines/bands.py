"""When the C++ kernel takes rows in bands; see `_native/bands.hpp` for what that is."""

from __future__ import annotations

from sgclearn._native import _kernel

# All are constants, and the threads are not asked: in bands the terms of a row are added up in another order, and the
# result must not have other bits on another machine.
_BAND = 4096  # rows whose sums, a cache line each, leave room in the cache of one core, be it half a megabyte
_NEAR = 2**22  # a packed block of so many bytes is read out of order at little cost
_FEWEST_ENTRIES = 32  # of a row, on average: short rows are soon read
_ENTRY_BYTES = 2
_LEAST_SHARE = 0.5  # of the columns: fewer in bands do not earn what the order costs
_LINE: int = _kernel.LINE_BYTES


def band_columns(n_nodes: int, n_stored: int, n_columns: int, itemsize: int) -> int:
    """How many of the first columns to take in bands, for hops over a whole graph without weights; 0 if none.

    The entries of the bands lie in the memory of the other columns, which must have room for them.
    """
    pays = (
        n_nodes * _LINE > _NEAR
        and n_stored >= _FEWEST_ENTRIES * n_nodes
        and n_stored < 2**31  # places in a band are 32 bits wide
        and n_stored * _BAND >= float(n_nodes) ** 2  # else most of the block is read for a row or none
    )
    if not pays:
        return 0
    most_bands = n_stored // n_nodes + 1  # of the rows below, for any number of threads
    most_entries = n_stored + most_bands * (n_nodes // _kernel.MOST_NODES_FURTHER)  # some only lead further
    length = -(-most_entries // (n_nodes - most_bands))  # in a row of the result; every band begins a new one
    width = _LINE // itemsize
    columns = (n_columns - -(-length * _ENTRY_BYTES // itemsize)) // width * width
    return columns if columns >= _LEAST_SHARE * n_columns else 0


def rows_of_band(n_nodes: int, n_stored: int, n_threads: int) -> int:
    """Rows of a band: fewer than fit into the cache where many threads would have too few bands to share.

    But so many that most nodes are read by one of them, or leading from node to node would take more than reading does.
    """
    least = -(-(n_nodes**2) // max(n_stored, 1))
    return min(max(n_nodes // (4 * n_threads), least, 1), _BAND)
