"""Options of geolocation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sgclearn.tasks.geo.mentions import DEFAULT_MAX_USERS
from sgclearn.tasks.options import FILES, MODEL, READING, SplitOptions, option


class Mentioned(StrEnum):
    """Where mentions are read."""

    text, none = "text", "none"


class Propagation(StrEnum):
    """Which propagation matrix, where it is not chosen."""

    sym, rw, cheby = "sym", "rw", "cheby"


@dataclass(frozen=True)
class UserColumns:
    """How the table of users is read."""

    id_column: str | None = option("Column of the ids; id, user or user_id, else the first.", READING)
    lat_column: str | None = option("Column of latitude in degrees; lat or latitude.", READING)
    lon_column: str | None = option("Column of longitude in degrees; lon, lng or longitude.", READING)
    text_column: str | None = option("Column of texts; text or tweets.", READING)
    delimiter: str | None = option(
        "Of text tables: one character, tab or whitespace; found in the file.", READING
    )


@dataclass(frozen=True)
class GeoData(UserColumns, SplitOptions):
    """Users, and who knows whom."""

    users: Path | None = option(
        "Table of id, latitude and longitude (empty: unknown), and if there are any text, split and features; or a "
        "folder of user_info.train.gz, user_info.dev.gz and user_info.test.gz.",
        FILES,
    )
    edges: Path | None = option("Table of pairs of users that know or follow each other.", FILES)
    mentions_from: Mentioned | None = option(
        "text: users are joined by the @handles in their texts (default without --edges); none: they are not.",
        FILES,
    )
    max_users: int = option(
        f"A handle that is no user joins those who mention it, if they are at most so many; {DEFAULT_MAX_USERS}.",
        MODEL,
        default=DEFAULT_MAX_USERS,
    )
    min_df: int = option("Least number of training users that write a word; 10.", MODEL, default=10)
    max_df: float = option("Largest share of training users that write a word; 0.2.", MODEL, default=0.2)


@dataclass(frozen=True)
class GeoModel:
    """How the places are learned; what is not given is chosen on held-back training users."""

    n_hops: int = option("Hops K; 3 if not given.", MODEL, default=3)
    bucket: int | None = option("Most known places in a cell; chosen among 25 and 50 if not given.", MODEL)
    hidden: int | None = option(
        "Two linear maps with so many columns between them; one map if not given.", MODEL
    )
    weight_decay: float | None = option("Strength of the regularisation; chosen if not given.", MODEL)
    normalization: Propagation | None = option(
        "Neighbours are weighed symmetrically (sym), averaged (rw), or as in cheby; sym or rw is chosen if not given.",
        MODEL,
    )


@dataclass(frozen=True)
class NewUsers(UserColumns):
    """Users to place by a run."""

    users: Path | None = option(
        "Table of new users: id, and text or edges; those of the run if not given.", FILES
    )
    edges: Path | None = option("Pairs of new users and those of the run, or of one another.", FILES)
