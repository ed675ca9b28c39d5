"""Polynomials of S: the power filter of SGC, and others that weigh every hop."""

from sgclearn.filters.filters import (
    CustomFilter,
    HeatFilter,
    Member,
    PageRankFilter,
    PolynomialFilter,
    PowerFilter,
    S2GCFilter,
    Wanted,
    coefficients_of,
    filter_from_dict,
    hops_of,
    members_of,
)

__all__ = [
    "CustomFilter",
    "HeatFilter",
    "Member",
    "PageRankFilter",
    "PolynomialFilter",
    "PowerFilter",
    "S2GCFilter",
    "Wanted",
    "coefficients_of",
    "filter_from_dict",
    "hops_of",
    "members_of",
]
