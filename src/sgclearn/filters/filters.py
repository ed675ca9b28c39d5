"""Graph filters `g(S) = sum_k c_k S^k`, each with its coefficients and its frequency response."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sgclearn.errors import InputError, InputTypeError, SgclearnWarning
from sgclearn.validation.arrays import real_array
from sgclearn.validation.matrices import as_dense, as_matrix, check_values
from sgclearn.validation.parameters import MOST_HOPS, Number, Whole, check_type, shown

if TYPE_CHECKING:
    from sgclearn.operators import Operator

Array = NDArray[np.float64]
_HOPS = {least: Whole(low=least, high=MOST_HOPS) for least in (0, 1)}
_SHARE = Number(high=1.0)
_LEAST_HEAT = 1e-30


@dataclass(frozen=True)
class PolynomialFilter:
    """A polynomial `g(S) = sum_k c_k S^k` of a propagation matrix.

    Filters are values: equal ones compare equal, and they belong to no graph until they are applied.
    Use one of the subclasses; they differ in their coefficients only.
    """

    @property
    def coefficients(self) -> Array:
        """`c_0, ..., c_K`."""
        raise NotImplementedError

    @property
    def n_hops(self) -> int:
        """K, how far a node listens."""
        return len(self.coefficients) - 1

    def response(self, frequency: ArrayLike) -> Array:
        """`sum_k c_k (1 - frequency)^k`: what is left of a signal of that frequency.

        Parameters
        ----------
        frequency : array
            Eigenvalues of `I - S`; for ``sym`` and ``rw`` they lie between 0 (neighbours agree, up to their degree)
        and 2, for ``cheby`` between -1 and 1.
        """
        shifted = 1.0 - real_array(frequency, "frequency").astype(np.float64)
        return np.asarray(np.polynomial.polynomial.polyval(shifted, self.coefficients))

    def apply(self, X: Any, operator: Operator) -> Array:
        """`g(S) X`, dense (n, d), by Horner's rule. Cost: O(K nnz(S) d). Exact: yes.

        `propagate(X, graph, filter=...)` does the same by the cheapest plan.
        """
        if not hasattr(operator, "matrix"):
            raise InputTypeError(
                "operator must be an Operator",
                type(operator).__name__,
                "make one with Operator(graph)",
                argument="operator",
            )
        X = as_matrix(X)
        if X.shape[0] != operator.n_nodes:
            raise InputError(
                "X must have one row a node", f"shape {X.shape} for {operator.n_nodes:,} nodes", argument="X"
            )
        check_values(X)
        X = as_dense(X)
        S = operator.matrix()
        with np.errstate(over="ignore", invalid="ignore"):
            H = self.coefficients[-1] * X
            for coefficient in self.coefficients[-2::-1]:
                H = S @ H + coefficient * X
        if not np.isfinite(H).all():
            raise InputError(
                "the filtered features must be finite",
                "numbers beyond 1.8e+308",
                "scale the features, or the coefficients of the filter",
            )
        return np.asarray(H)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; `filter_from_dict` is the way back."""
        plain = {
            key: value.item() if isinstance(value, np.generic) else value
            for key, value in asdict(self).items()
        }
        return {"filter": type(self).__name__, **plain}


@dataclass(frozen=True)
class PowerFilter(PolynomialFilter):
    """SGC: `S^K`. Paper: Eq. (8).

    Examples
    --------
    >>> from sgclearn.filters import PowerFilter
    >>> PowerFilter(2).response([0.0, 1.0, 1.5])
    array([1.  , 0.  , 0.25])
    """

    hops: int = 2

    def __post_init__(self) -> None:
        _check_hops(self.hops, least=0)

    @property
    def coefficients(self) -> Array:
        """Zeros and a last one."""
        return _power(int(self.hops)).copy()


@dataclass(frozen=True)
class S2GCFilter(PolynomialFilter):
    """Simple spectral graph convolution: `alpha I + (1 - alpha)/K sum_{k=1..K} S^k`."""

    hops: int = 16
    alpha: float = 0.05

    def __post_init__(self) -> None:
        _check_hops(self.hops, least=1)
        _check_share("alpha", self.alpha)

    @property
    def coefficients(self) -> Array:
        """`alpha`, then `(1 - alpha)/K` for every hop."""
        return np.concatenate([[self.alpha], np.full(self.hops, (1.0 - self.alpha) / self.hops)])


@dataclass(frozen=True)
class PageRankFilter(PolynomialFilter):
    """Personalised PageRank: `sum_{k<K} alpha (1 - alpha)^k S^k + (1 - alpha)^K S^K`."""

    hops: int = 10
    alpha: float = 0.1

    def __post_init__(self) -> None:
        _check_hops(self.hops, least=1)
        _check_share("alpha", self.alpha)

    @property
    def coefficients(self) -> Array:
        """`alpha (1 - alpha)^k`, and the whole rest at the last hop."""
        left = (1.0 - self.alpha) ** np.arange(self.hops + 1)
        return np.append(self.alpha * left[:-1], left[-1])


@dataclass(frozen=True)
class HeatFilter(PolynomialFilter):
    """Heat kernel `exp(-t (I - S))`, truncated: `e^-t sum_{k<=K} t^k / k! S^k`."""

    hops: int = 10
    t: float = 3.0

    def __post_init__(self) -> None:
        _check_hops(self.hops, least=0)
        Number().check("t", self.t)
        kept = float(self.coefficients.sum())
        if not kept > _LEAST_HEAT:
            raise InputError(
                f"t must be small enough for {self.hops} hops to hold some of the heat kernel",
                f"{self.t:g}, of which they hold {kept:.1g}",
                f"take about {2 * self.t:.3g} hops, or a smaller t",
                argument="t",
            )
        if kept < 0.5:
            warnings.warn(
                f"{self.hops} hops hold {kept:.1%} of the heat kernel at t={self.t:g}: about {2 * self.t:.0f} hops, "
                "or a smaller t, would hold nearly all.",
                SgclearnWarning,
                stacklevel=3,
            )

    @property
    def coefficients(self) -> Array:
        """`e^-t t^k / k!`, each from the one before."""
        steps = np.concatenate([[math.exp(-self.t)], self.t / np.arange(1, self.hops + 1)])
        return np.cumprod(steps)


@dataclass(frozen=True)
class CustomFilter(PolynomialFilter):
    """Coefficients of your own, `c_0` first."""

    values: tuple[float, ...] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        try:
            values = tuple(float(value) for value in self.values)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                "a filter needs a list of numbers as coefficients", shown(self.values), "c_0 comes first"
            ) from None
        object.__setattr__(self, "values", values)
        if not self.values or not np.isfinite(self.values).all():
            raise InputError("a filter needs finite coefficients, at least one", shown(self.values))
        _check_hops(len(values) - 1, least=0)

    @property
    def coefficients(self) -> Array:
        """As they were given."""
        return np.array(self.values)


Member = int | PolynomialFilter
Wanted = Member | tuple[Member, ...]
"""A filter, or several side by side; a whole number k is the power `S^k`."""


def coefficients_of(member: Member) -> Array:
    """Coefficients of a filter; a whole number k is the power `S^k`. Not to be written to."""
    if isinstance(member, PolynomialFilter):
        return member.coefficients
    _check_hops(member, least=0)
    return _power(int(member))


@lru_cache(maxsize=64)  # every fit asks several times
def _power(hops: int) -> Array:
    coefficients = np.append(np.zeros(hops), 1.0)
    coefficients.flags.writeable = False
    return coefficients


def members_of(wanted: Wanted) -> tuple[Member, ...]:
    """The filters that stand side by side, one if there is no list of them."""
    return wanted if isinstance(wanted, tuple) else (wanted,)


def hops_of(wanted: Wanted) -> int:
    """The largest number of hops of any filter."""
    return max(len(coefficients_of(member)) for member in members_of(wanted)) - 1


def filter_from_dict(state: dict[str, Any]) -> PolynomialFilter:
    """The filter that `to_dict` described."""
    kinds = {
        kind.__name__: kind for kind in (PowerFilter, S2GCFilter, PageRankFilter, HeatFilter, CustomFilter)
    }
    check_type(state, dict, "a filter", "give what to_dict gave")
    parameters = {key: value for key, value in state.items() if key != "filter"}
    if not isinstance(state.get("filter"), str) or state["filter"] not in kinds:
        raise InputError(
            f"filter must be one of {', '.join(kinds)}", repr(state.get("filter")), argument="filter"
        )
    try:
        return kinds[state["filter"]](**parameters)
    except TypeError:
        raise InputError(f"{state['filter']} has other parameters", ", ".join(parameters)) from None


def _check_hops(hops: Any, least: int) -> None:
    _HOPS[least].check("n_hops of a filter", hops)


def _check_share(name: str, value: Any) -> None:
    _SHARE.check(name, value)
