"""Polynomials of S: the power filter of SGC, and others that weigh every hop."""

from sgclearn.filters.filters import (
    CustomFilter,
    HeatFilter,
    PageRankFilter,
    PolynomialFilter,
    PowerFilter,
    S2GCFilter,
    coefficients_of,
    filter_from_dict,
)

__all__ = [
    "CustomFilter",
    "HeatFilter",
    "PageRankFilter",
    "PolynomialFilter",
    "PowerFilter",
    "S2GCFilter",
    "coefficients_of",
    "filter_from_dict",
]
