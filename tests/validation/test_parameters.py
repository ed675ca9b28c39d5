from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import sgclearn
from sgclearn.errors import InputError, InputTypeError
from sgclearn.validation.arrays import plain_array, real_array
from sgclearn.validation.parameters import RULES, check_dtype, check_parameter, check_type, shown

NEVER = [10**400, -(10**5000), float("nan"), float("inf"), -1, 1j, b"x", "nonsense", (), [], {}, object(), np.ones(3),
         np.timedelta64(3), np.datetime64("2019-06-09"), lambda: 0]  # fmt: skip


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("value", NEVER, ids=lambda value: shown(value, 20))
def test_rule_refuses_what_no_argument_is(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{name} must be .*: got ") as refused:
        check_parameter(name, value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [
        ("n_hops", np.int8(3), 3),
        ("gamma", np.float32(0.5), 0.5),
        ("gamma", 2, 2.0),
        ("weight_decay", 0, 0.0),
        ("max_iter", None, None),
        ("fit_intercept", np.True_, True),
        ("solver", np.str_("adam"), "adam"),
        ("random_state", None, None),
    ],
)
def test_rule_gives_plain_values(name: str, value: Any, plain: Any) -> None:
    given = check_parameter(name, value)
    assert given == plain
    assert type(given) is type(plain)


def test_rule_names_the_limit_that_is_exceeded() -> None:
    with pytest.raises(
        InputError, match=r"n_hops must be a whole number from 0 to 10,000: got 2147483648; 0 is"
    ):
        check_parameter("n_hops", 2**31)
    with pytest.raises(
        InputError, match=r"n_threads must be a whole number from 1 to 4,096, or None for all cores"
    ):
        check_parameter("n_threads", 2**31)


@pytest.mark.parametrize("estimator", ["SGCClassifier", "SGCClassifierCV", "SGCMultilabelClassifier"])
def test_every_parameter_of_an_estimator_is_checked_somewhere(estimator: str) -> None:
    """A parameter without a rule is one that checks itself: new ones have to be thought about."""
    free = {"filter", "class_weight", "unlabeled", "compute", "cv", "self"}
    parameters = set(inspect.signature(getattr(sgclearn, estimator)).parameters)
    assert parameters - free <= set(RULES)
    assert {field.name for field in fields(sgclearn.Compute)} - {"memory_limit"} <= set(RULES)


def test_shown_never_fails_and_stays_short() -> None:
    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert shown(Rude()) == "an object of type Rude"
    assert shown("x" * 500).endswith("...")
    assert shown(10**5000) == "an integer... (5,001 digits)"
    assert shown(1 << 2**21) == "an integer of 2,097,153 bits"
    assert shown(np.ones((2, 3))) == "an array of float64 with shape (2, 3)"


def test_masked_entries_are_refused_and_an_idle_mask_is_not() -> None:
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    with pytest.raises(InputError, match=r"X must have no masked entries: got 1 of 2 masked; fill them"):
        plain_array(masked, "X")
    assert plain_array(np.ma.masked_array([1.0, 2.0]), "X").tolist() == [1.0, 2.0]


def test_arrays_that_cannot_be_used_are_refused() -> None:
    class Broken:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise RuntimeError("no device")

    with pytest.raises(InputError, match="rows of one length"):
        plain_array([[1, 2], [3]], "X")
    with pytest.raises(InputTypeError, match=r"X must be an array: got Broken \(no device\)"):
        plain_array(Broken(), "X")
    with pytest.raises(InputTypeError, match="weights must be real numbers: got an array of complex128"):
        real_array([1j], "weights")
    assert real_array(np.array([1, 2.5], dtype=object), "weights").tolist() == [1.0, 2.5]
    assert real_array(np.array([1.5], dtype=np.float16), "weights").dtype == np.float64


def test_types_of_arguments_are_named() -> None:
    with pytest.raises(InputTypeError, match="graph must be a str or int: got list; say so"):
        check_type([], (str, int), "graph", "say so")
    for wrong in ("nonsense", object, np.complex128, 3):
        with pytest.raises(InputTypeError, match="dtype must be float64, float32 or bool"):
            check_dtype(wrong)
    assert check_dtype("f4") == np.float32
