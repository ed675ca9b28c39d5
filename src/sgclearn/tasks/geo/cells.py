"""Cells of the globe with about as many known places each: a k-d tree on the sphere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.tasks.geo.sphere import haversine, median_point, unit_vectors
from sgclearn.validation.parameters import COUNT

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """A partition of the sphere into the leaves of a k-d tree.

    A box with more than `bucket` known points is cut in two halves of equal number, across the axis (of x, y and z)
    along which its points spread most. Since the axes are those of space, the date line and the poles are ordinary
    places.

    Parameters
    ----------
    axes, left, right : integer arrays (m,)
        Of each inner node: the axis it cuts, and its two children; a child c < 0 is the cell ~c.
    cuts : ndarray (m,)
        Where it cuts: points with a coordinate below are on the left.
    centres : ndarray (C, 2)
        Latitude and longitude of the median of the known points of each cell, see `median_point`.
    sizes : integer array (C,)
        Known points in each cell.

    Examples
    --------
    >>> points = np.array([[47.4, 8.5], [47.3, 8.6], [40.7, -74.0], [40.8, -73.9]])
    >>> cells = Cells.from_points(points, bucket=2)
    >>> cells.of(points)
    array([1, 1, 0, 0])
    >>> cells.centres.round(2)
    array([[ 40.75, -73.95],
           [ 47.35,   8.55]])
    """

    axes: NDArray[np.intp]
    cuts: Array
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    centres: Array
    sizes: NDArray[np.intp]

    @classmethod
    def from_points(cls, points: Array, bucket: int = 50) -> Cells:
        """Cut the sphere so that no cell has more than `bucket` of the points (n, 2).

        Points at one place stay together, however many they are. Cost: O(n log^2 n).
        """
        COUNT.check("bucket", bucket)
        if len(points) == 0:
            raise InputError(
                "cells need known places", "none", "give latitude and longitude of some", argument="points"
            )
        vectors = unit_vectors(points)
        inner: list[tuple[int, float, int, int]] = []
        leaves: list[NDArray[np.intp]] = []

        def grow(rows: NDArray[np.intp]) -> int:
            cut = _cut(vectors[rows]) if len(rows) > bucket else None
            if cut is None:
                leaves.append(rows)
                return ~(len(leaves) - 1)
            axis, value = cut
            number = len(inner)
            inner.append((axis, value, 0, 0))
            below = vectors[rows, axis] < value
            inner[number] = (axis, value, grow(rows[below]), grow(rows[~below]))
            return number

        grow(np.arange(len(vectors)))
        axes, cuts, left, right = zip(*inner, strict=True) if inner else ((), (), (), ())
        return cls(
            np.array(axes, dtype=np.intp),
            np.array(cuts, dtype=np.float64),
            np.array(left, dtype=np.intp),
            np.array(right, dtype=np.intp),
            np.array([median_point(points[rows]) for rows in leaves]),
            np.array([len(rows) for rows in leaves], dtype=np.intp),
        )

    def __len__(self) -> int:
        return len(self.centres)

    def of(self, points: Array) -> NDArray[np.intp]:
        """Cell of each point (n, 2); a place that nobody was known at falls into the cell around it."""
        vectors = unit_vectors(points)
        at = np.zeros(len(vectors), dtype=np.intp) if len(self.cuts) else np.full(len(vectors), -1)
        while (open_ := np.flatnonzero(at >= 0)).size:
            node = at[open_]
            below = vectors[open_, self.axes[node]] < self.cuts[node]
            at[open_] = np.where(below, self.left[node], self.right[node])
        return ~at

    def distances(self, points: Array) -> Array:
        """Kilometres from each point (n, 2) to the centre of its cell: what no classifier of cells can undercut."""
        return haversine(points, self.centres[self.of(points)])


def _cut(vectors: Array) -> tuple[int, float] | None:
    """Axis of the largest spread and the value there that halves the points; None where they are one place."""
    axis = int(np.argmax(np.ptp(vectors, axis=0)))
    values = np.sort(vectors[:, axis])
    # The change of value nearest to the middle: equal points are never parted.
    steps = np.flatnonzero(np.diff(values) > 0) + 1
    if len(steps) == 0:
        return None
    at = steps[np.argmin(np.abs(steps - len(values) / 2))]
    middle = (values[at - 1] + values[at]) / 2
    return axis, float(middle if middle > values[at - 1] else values[at])
