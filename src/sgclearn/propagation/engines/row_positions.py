"""Where the rows stand in every node set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def places_in(sets: list[NDArray[np.intp]], rows: NDArray[np.intp]) -> list[NDArray[np.int64] | None]:
    """Positions of the rows in each set, None where the set is the rows themselves in their order.

    A set ascends unless it is the rows themselves.
    """
    places: list[NDArray[np.int64] | None] = []
    for k, nodes in enumerate(sets):
        if k and nodes is sets[k - 1]:
            places.append(places[-1])
        elif len(nodes) == len(rows) and (nodes is rows or np.array_equal(nodes, rows)):
            places.append(None)
        else:
            places.append(np.searchsorted(nodes, rows).astype(np.int64))
    return places
