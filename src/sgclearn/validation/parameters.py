"""One table of rules for the arguments of estimators and functions.

A rule knows what it expects; `check_parameter` looks it up by the name of the argument, gives the value in its
plain Python type, or raises an `InputError`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgclearn.errors import InputError, InputTypeError

MOST_HOPS = 10_000
MAX_NODES = 3_037_000_499  # above this, source * n_nodes + target no longer fits an int64
MOST_THREADS = 4_096
MOST_ITERATIONS = 10**9
LARGEST_SEED = 2**32 - 1  # what numpy's older generators, and with them scikit-learn's splitters, take


def shown(value: Any, most: int = 80) -> str:
    """Value for a message: its repr, shortened, whatever the value is.

    Examples
    --------
    >>> shown("sym"), shown(10**100)
    ("'sym'", '1000000000000000000000000000000000000000... (101 digits)')
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**most:
        digits = int(math.log10(abs(value))) + 1 if value.bit_length() < 2**20 else 0
        # Python refuses to spell out an integer of more than 4,300 digits.
        start = str(value)[: most // 2] if digits and digits < 4_000 else "an integer"
        return f"{start}... ({digits:,} digits)" if digits else f"an integer of {value.bit_length():,} bits"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    try:
        text = repr(value)
    except Exception:  # an object of somebody else's may do anything
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


# As tuples: every fit asks, and a union of types is made anew with every call.
_INTEGERS, _NO_INTEGERS, _FLOATS, _TRUTHS = (
    (int, np.integer),
    (bool, np.timedelta64),
    (float, np.floating),
    (bool, np.bool_),
)


def is_whole(value: Any) -> bool:
    """Whether a value is an integer; numpy counts a timedelta as one, Python a truth value."""
    return isinstance(value, _INTEGERS) and not isinstance(value, _NO_INTEGERS)


def check_type(value: Any, kinds: type | tuple[type, ...], name: str, remedy: str) -> None:
    """Refuse a value of another type than an argument is for; numbers and texts have rules of their own."""
    if not isinstance(value, kinds):
        wanted = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise InputTypeError(f"{name} must be a {wanted}", type(value).__name__, remedy, argument=name)


def check_texts(values: Any, name: str) -> list[str]:
    """Texts of a collection; one text alone is a mistake."""
    try:
        texts = list(values) if not isinstance(values, str | bytes) else None
    except TypeError:
        texts = None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise InputTypeError(
            f"{name} must be a collection of texts", shown(values), "give a list", argument=name
        )
    return texts


def check_dtype(dtype: Any) -> np.dtype[Any]:
    """Give the type of the numbers of a matrix: bool, float32 or float64."""
    try:
        known: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        known = np.dtype(object)
    if known not in (np.bool_, np.float32, np.float64):
        raise InputTypeError(
            "dtype must be float64, float32 or bool", shown(dtype), "name one of these", argument="dtype"
        )
    return known


@dataclass(frozen=True)
class Rule:
    """What an argument must be, and what to do where it is not."""

    remedy: str = ""
    optional: bool = False  # whether None is a value

    def check(self, name: str, value: Any) -> Any:
        """Value in its plain type, or an error that names the argument."""
        if value is None and self.optional:
            return None
        plain = self.plain(value)
        if plain is None:
            raise InputError(
                f"{name} must be {self.expected(value)}", shown(value), self.remedy, argument=name
            )
        return plain

    def plain(self, value: Any) -> Any:
        """Value in its plain type, None where it does not fit."""
        raise NotImplementedError

    def expected(self, value: Any) -> str:
        """What the rule wants, in words; a limit far away is named where the value is beyond it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Whole(Rule):
    """A whole number in [low, high]."""

    low: int = 0
    high: int = 2**63 - 1
    alternative: str = ""

    def plain(self, value: Any) -> Any:
        """See `Rule`."""
        if not is_whole(value):
            return None
        return int(value) if self.low <= int(value) <= self.high else None

    def expected(self, value: Any) -> str:
        """See `Rule`."""
        limits = (
            f"from {self.low:,} to {self.high:,}"
            if is_whole(value) and value > self.high
            else f">= {self.low}"
        )
        return f"a whole number {limits}{self.alternative}"


@dataclass(frozen=True)
class Number(Rule):
    """A finite number in [low, high], or in (low, high] where the limit is `open`."""

    low: float = 0.0
    high: float = math.inf
    open: bool = False

    def plain(self, value: Any) -> Any:
        """See `Rule`."""
        if type(value) is not float and not isinstance(value, _FLOATS) and not is_whole(value):
            return None
        try:
            number = float(value)
        except OverflowError:  # an integer that no float holds
            return None
        inside = self.low < number if self.open else self.low <= number
        return number if inside and number <= self.high and math.isfinite(number) else None

    def expected(self, value: Any) -> str:
        """See `Rule`."""
        if self.high < math.inf:
            return f"a number from {self.low:g} to {self.high:g}"
        return "a positive number" if self.open else f"a number >= {self.low:g}"


@dataclass(frozen=True)
class Flag(Rule):
    """True or False."""

    def plain(self, value: Any) -> Any:
        """See `Rule`."""
        return bool(value) if isinstance(value, _TRUTHS) else None

    def expected(self, value: Any) -> str:
        """See `Rule`."""
        return "True or False"


@dataclass(frozen=True)
class Choice(Rule):
    """One of some texts, listed in the message as they are or, in a `sentence`, quoted."""

    values: tuple[str, ...] = ()
    sentence: str = ""

    def plain(self, value: Any) -> Any:
        """See `Rule`."""
        return str(value) if isinstance(value, str) and value in self.values else None

    def expected(self, value: Any) -> str:
        """See `Rule`."""
        return self.sentence or f"one of {', '.join(self.values)}"


NORMALIZATIONS = ("sym", "rw", "cheby")
ENGINES = ("auto", "native", "scipy", "torch")
PLANS = ("full", "frontier", "left-first", "implicit")
COUNT = Whole("leave it out for the default", low=1, high=MOST_ITERATIONS)

RULES: dict[str, Rule] = {
    # what is computed
    "n_hops": Whole("0 is logistic regression, 2 the default", low=0, high=MOST_HOPS),
    "normalization": Choice(values=NORMALIZATIONS),
    "gamma": Number("0 adds no self-loops, 1 is the default"),
    "row_norm": Choice(values=("l1", "l2"), sentence="None, 'l1' or 'l2'", optional=True),
    "scale": Choice(
        values=("standard", "minmax", "maxabs"),
        sentence="None, 'standard', 'minmax' or 'maxabs'",
        optional=True,
    ),
    "weight_decay": Number("0 is no regularisation"),
    "fit_intercept": Flag(),
    "penalize_intercept": Flag(),
    # how it is solved
    "solver": Choice(values=("lbfgs", "lbfgs-steps", "adam", "sgd")),
    "max_iter": Whole("leave it out for the default", low=1, high=MOST_ITERATIONS, optional=True),
    "tol": Number("the default is 1e-10", open=True),
    "learning_rate": Number("None is the solver's own", open=True, optional=True),
    "batch_size": Whole("leave it out for the default", low=1),
    "seed": Whole("any such number will do", high=LARGEST_SEED),
    "random_state": Whole(high=LARGEST_SEED, alternative=" or None", optional=True),
    # how it is chosen
    "search": Choice(values=("path", "tpe"), sentence="'path' or 'tpe'"),
    "n_trials": COUNT,
    "scoring": Choice(values=("accuracy", "macro_f1", "log_loss")),
    "refit_with_validation": Flag(),
    "calibration": Choice(values=("temperature", "none"), sentence="'temperature' or 'none'"),
    # how it is computed
    "plan": Choice(values=("auto", *PLANS), sentence=f"'auto' or one of {', '.join(PLANS)}"),
    "engine": Choice(values=ENGINES),
    "n_threads": Whole(low=1, high=MOST_THREADS, alternative=", or None for all cores", optional=True),
    "output": Choice(values=("auto", "dense", "sparse"), sentence="'auto', 'dense' or 'sparse'"),
    # what a graph's edges mean
    "directed": Flag(),
    "duplicates": Choice(
        values=("once", "sum", "max", "min", "error"), sentence="one of 'once', 'sum', 'max', 'min', 'error'"
    ),
    "self_loops": Choice(values=("keep", "drop", "error"), sentence="one of 'keep', 'drop', 'error'"),
}
"""What every argument of that name must be, wherever it is given."""


def check_parameter(name: str, value: Any) -> Any:
    """Value of an argument in its plain Python type, or an error that says what it must be.

    Examples
    --------
    >>> import numpy as np
    >>> check_parameter("n_hops", np.int64(3))
    3
    >>> check_parameter("gamma", -1)
    Traceback (most recent call last):
    ...
    sgclearn.errors.InputError: gamma must be a number >= 0: got -1; 0 adds no self-loops, 1 is the default.
    """
    return RULES[name].check(name, value)
