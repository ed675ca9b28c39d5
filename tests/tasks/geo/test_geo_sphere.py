"""Distances, medians and cells are those of a globe: no seam at the date line, none at a pole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import InputError
from sgclearn.tasks.geo.cells import Cells
from sgclearn.tasks.geo.metrics import errors_km, geo_scores, paired_difference
from sgclearn.tasks.geo.sphere import EARTH_RADIUS_KM, haversine, median_point, points_of, unit_vectors

latitudes = st.floats(-90, 90, allow_nan=False)
longitudes = st.floats(-180, 180, allow_nan=False)
places = st.lists(st.tuples(latitudes, longitudes), min_size=1, max_size=30)


def test_haversine_equals_the_angle_between_vectors():
    rng = np.random.default_rng(11)
    a, b = (np.stack([rng.uniform(-90, 90, 200), rng.uniform(-180, 180, 200)], axis=1) for _ in range(2))
    u, v = unit_vectors(a), unit_vectors(b)
    angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), (u * v).sum(axis=1))
    np.testing.assert_allclose(haversine(a, b), EARTH_RADIUS_KM * angle, rtol=1e-9)


def test_haversine_of_known_cities():
    # New York to London, 5,570 km; opposite points are half a circumference apart.
    assert haversine([[40.7128, -74.006]], [[51.5074, -0.1278]])[0] == pytest.approx(5570, abs=3)
    assert haversine([[0.0, 10.0]], [[0.0, -170.0]])[0] == pytest.approx(np.pi * EARTH_RADIUS_KM)


def test_haversine_has_no_seam_at_date_line_and_poles():
    assert haversine([[10.0, 180.0]], [[10.0, -180.0]])[0] == pytest.approx(0, abs=1e-6)
    assert haversine([[90.0, 17.0]], [[90.0, -120.0]])[0] == pytest.approx(0, abs=1e-6)


@given(places)
def test_points_of_inverts_unit_vectors(points):
    array = np.array(points)
    assert np.all(haversine(points_of(unit_vectors(array)), array) < 1e-3)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_median_point_turns_with_a_globe_turned_about_its_axis(seed):
    rng = np.random.default_rng(seed)
    points = np.stack([rng.uniform(40, 50, 21), rng.uniform(170, 179, 21)], axis=1)
    east = np.array([0.0, 7.3])  # across the date line
    turned = points + east
    expected = median_point(points) + east
    assert haversine(median_point(turned)[None], expected[None])[0] < 1e-6


def test_median_point_around_a_pole_is_the_pole():
    ring = np.stack([np.full(8, -88.0), np.arange(-180.0, 180.0, 45.0)], axis=1)
    assert median_point(ring)[0] == pytest.approx(-90, abs=1e-6)


def test_median_point_ignores_a_far_point():
    points = np.array([[47.0, 8.0], [47.1, 8.1], [47.2, 8.2], [47.1, 8.1], [-33.0, 151.0]])
    assert haversine(median_point(points)[None], [[47.1, 8.1]])[0] < 1500
    assert haversine(median_point(points[:4])[None], [[47.1, 8.1]])[0] < 1


def test_median_point_of_opposite_points_is_a_place():
    assert np.isfinite(median_point([[10.0, 20.0], [-10.0, -160.0]])).all()


@given(places, st.integers(1, 8))
def test_cells_hold_every_point_once_and_at_most_a_bucket(points, bucket):
    array = np.array(points)
    cells = Cells.from_points(array, bucket)
    counts = np.bincount(cells.of(array), minlength=len(cells))
    np.testing.assert_array_equal(counts, cells.sizes)
    vectors = unit_vectors(array)
    for cell in np.flatnonzero(counts > bucket):  # only points at one place stay together
        assert np.ptp(vectors[cells.of(array) == cell], axis=0).max() == 0


def test_cells_are_of_equal_number():
    rng = np.random.default_rng(21)
    points = np.stack([rng.uniform(25, 49, 1516), rng.uniform(-125, -67, 1516)], axis=1)
    cells = Cells.from_points(points, 50)
    assert len(cells) == 32
    assert set(cells.sizes) == {47, 48}


def test_cells_do_not_part_neighbours_at_the_date_line():
    points = np.array([[0.0, 179.9], [0.0, -179.9], [0.0, 100.0], [0.0, 100.2]])
    cells = Cells.from_points(points, 2)
    a, b, c, d = cells.of(points)
    assert a == b != c == d
    assert haversine(cells.centres[[a]], [[0.0, 180.0]])[0] < 1


def test_cells_are_the_same_on_a_turned_globe():
    # The axes of space matter, so that only turns which permute them leave the cuts as they are.
    rng = np.random.default_rng(22)
    points = np.stack([rng.uniform(-60, 60, 64), rng.uniform(-180, 180, 64)], axis=1)
    turned = points_of(unit_vectors(points)[:, [1, 2, 0]])
    of, of_turned = Cells.from_points(points, 8).of(points), Cells.from_points(turned, 8).of(turned)
    same, same_turned = of[:, None] == of[None], of_turned[:, None] == of_turned[None]
    np.testing.assert_array_equal(same, same_turned)


def test_cells_of_one_place_are_one():
    points = np.tile([[10.0, 20.0]], (7, 1))
    cells = Cells.from_points(points, 3)
    assert len(cells) == 1
    np.testing.assert_allclose(cells.centres, [[10.0, 20.0]])
    np.testing.assert_allclose(cells.distances(np.array([[10.0, 20.0]])), 0, atol=1e-6)


def test_cells_without_points_are_refused():
    with pytest.raises(InputError, match="cells need known places: got none"):
        Cells.from_points(np.empty((0, 2)))


def test_scores_count_kilometres_and_miles_apart():
    # 200 km is within 161 miles (259 km) and not within 161 km.
    north = np.degrees(200 / EARTH_RADIUS_KM)
    scores = geo_scores([[0.0, 0.0], [0.0, 0.0]], [[0.1, 0.0], [north, 0.0]])
    assert (scores.acc_161_km.value, scores.acc_161_miles.value) == (0.5, 1.0)
    assert scores.mean_km.value == pytest.approx((0.1 * np.pi / 180 * EARTH_RADIUS_KM + 200) / 2)
    assert scores.to_dict()["n"] == 2
    assert "2 places" in str(scores)


def test_scores_have_intervals_around_their_values():
    rng = np.random.default_rng(23)
    truth = np.stack([rng.uniform(30, 40, 300), rng.uniform(0, 10, 300)], axis=1)
    scores = geo_scores(truth, truth + rng.normal(size=truth.shape))
    for interval in (scores.acc_161_km, scores.median_km, scores.mean_km):
        assert interval.low < interval.value < interval.high


@pytest.mark.parametrize(
    ("truth", "guess", "message"),
    [
        (np.zeros((3, 2)), np.zeros((2, 2)), "of one length"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "of one length"),
        ([[np.nan, np.nan]], [[1.0, 1.0]], "must be known"),
    ],
)
def test_scores_refuse_what_cannot_be_compared(truth, guess, message):
    with pytest.raises(InputError, match=message):
        errors_km(truth, guess)


def test_paired_difference_is_narrower_than_unpaired():
    rng = np.random.default_rng(24)
    a = rng.random(500) < 0.5
    b = a ^ (rng.random(500) < 0.02)
    interval = paired_difference(a, b)
    assert interval.low <= interval.value <= interval.high
    assert interval.high - interval.low < 0.03
