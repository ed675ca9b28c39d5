"""Points on the sphere: distances, means and medians that know neither date line nor poles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

EARTH_RADIUS_KM = 6371.0088  # mean radius of the WGS 84 ellipsoid
KM_PER_MILE = 1.609344


def unit_vectors(points: ArrayLike) -> Array:
    """Latitudes and longitudes in degrees (n, 2) as vectors of length one (n, 3)."""
    lat, lon = np.radians(np.asarray(points, dtype=np.float64)).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def points_of(vectors: Array) -> Array:
    """Latitude in [-90, 90] and longitude in [-180, 180) of vectors (n, 3) of any length above 0."""
    x, y, z = vectors.T
    lat, lon = np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))
    return np.stack([lat, wrap_longitude(lon)], axis=1)


def wrap_longitude(lon: ArrayLike) -> Array:
    """Longitude in [-180, 180).

    Examples
    --------
    >>> wrap_longitude([190.0, -190.0, 180.0])
    array([-170.,  170., -180.])
    """
    return np.asarray((np.asarray(lon, dtype=np.float64) + 180.0) % 360.0 - 180.0)


def haversine(a: ArrayLike, b: ArrayLike) -> Array:
    r"""Great-circle distance in kilometres between points (n, 2), pair by pair.

    .. math:: 2 R \arcsin \sqrt{\sin^2(\Delta\phi / 2) + \cos\phi_a \cos\phi_b \sin^2(\Delta\lambda / 2)}

    with latitude :math:`\phi`, longitude :math:`\lambda` and R = 6371.0088 km.

    Examples
    --------
    >>> haversine([[0.0, 179.5]], [[0.0, -179.5]]).round(1)  # one degree across the date line
    array([111.2])
    """
    (lat_a, lon_a), (lat_b, lon_b) = (np.radians(np.asarray(p, dtype=np.float64)).T for p in (a, b))
    chord = (
        np.sin((lat_b - lat_a) / 2) ** 2 + np.cos(lat_a) * np.cos(lat_b) * np.sin((lon_b - lon_a) / 2) ** 2
    )
    return np.asarray(2.0 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0))))


def median_point(points: ArrayLike) -> Array:
    """Median of latitude and longitude in the frame whose origin is the mean direction of the points (n, 2).

    Rotating the globe rotates the result: a cell across the date line or around a pole is like any other. Where the
    points cancel, as two opposite ones do, the first is the origin.

    Examples
    --------
    >>> median_point([[10.0, 178.0], [10.0, 179.0], [10.0, -178.0]]).round(1)
    array([ 10., 179.])
    """
    vectors = unit_vectors(points)
    frame = _frame(vectors)
    local = points_of(vectors @ frame.T)
    middle = np.median(local, axis=0)
    return np.asarray(points_of(unit_vectors(middle[None]) @ frame)[0])


def _frame(vectors: Array) -> Array:
    """Rows: the mean direction, east and north there."""
    mean = vectors.mean(axis=0)
    length = np.linalg.norm(mean)
    up = mean / length if length > 1e-9 else vectors[0]
    horizontal = np.hypot(up[0], up[1])
    # At a pole every direction is south or north: the meridian of longitude 0 serves.
    east = np.array([-up[1], up[0], 0.0]) / horizontal if horizontal > 1e-12 else np.array([0.0, 1.0, 0.0])
    return np.stack([up, east, np.cross(up, east)])
