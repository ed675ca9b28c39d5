"""Geolocation: where users, pages or airports are, from a graph and text."""

from __future__ import annotations

from sgclearn.tasks.geo.cells import Cells
from sgclearn.tasks.geo.mentions import Mentions, find_mentions
from sgclearn.tasks.geo.metrics import GeoScores, geo_scores
from sgclearn.tasks.geo.model import GeoSGC
from sgclearn.tasks.geo.propagated import PropagatedLabels
from sgclearn.tasks.geo.search import GeoSGCCV
from sgclearn.tasks.geo.sphere import haversine, median_point
from sgclearn.tasks.geo.users import Users, read_user_folder, read_user_info, read_users
from sgclearn.tasks.geo.words import UserWords, WordSettings

__all__ = [
    "Cells",
    "GeoSGC",
    "GeoSGCCV",
    "GeoScores",
    "Mentions",
    "PropagatedLabels",
    "UserWords",
    "Users",
    "WordSettings",
    "find_mentions",
    "geo_scores",
    "haversine",
    "median_point",
    "read_user_folder",
    "read_user_info",
    "read_users",
]
