"""What a loaded model must be like: a file that fits together can still describe a model that cannot be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sgclearn.filters import PolynomialFilter, coefficients_of, hops_of, members_of
from sgclearn.validation.parameters import MOST_HOPS


def check_loaded(model: Any, least_outputs: int) -> None:
    """Raise a ValueError that names the first fitted attribute with a value that no fit gives it."""
    from sgclearn.operators.operator import check_operator_choice
    from sgclearn.propagation.node_features import check_row_norm

    for name in ("uses_graph_", "uses_identity_"):
        _require(isinstance(getattr(model, name), bool), name, model)
    _require(_is_whole(model.n_hops_, 0, MOST_HOPS), "n_hops_", model)
    _require(_is_whole(model.n_features_in_, 0), "n_features_in_", model)
    check_ending(model)
    if hasattr(model, "classes_"):
        _require(_is_number(model.temperature_) and model.temperature_ > 0, "temperature_", model)
    else:
        _require(isinstance(model.single_target_, bool), "single_target_", model)
    check_row_norm(model.row_norm_)
    if model.uses_graph_:
        _require(
            check_operator_choice(model.normalization_, model.gamma_)[1] == model.gamma_, "gamma_", model
        )
    else:
        _require(model.normalization_ is None, "normalization_", model)
        _require(model.gamma_ is None, "gamma_", model)
    _check_filter(model)
    _check_arrays(model, _n_outputs(model, least_outputs))


def check_ending(model: Any) -> None:
    """Raise a ValueError where what a file says of the end of the fit cannot be."""
    _require(isinstance(model.converged_, bool), "converged_", model)
    _require(_is_whole(model.n_iter_, 0), "n_iter_", model)
    _require(_is_number(model.weight_decay_), "weight_decay_", model)
    for name in ("loss_", "gradient_ratio_"):
        value = getattr(model, name)
        _require(isinstance(value, int | float) and not isinstance(value, bool), name, model)
        _require(not model.converged_ or math.isfinite(value), name, model)


def _check_filter(model: Any) -> None:
    if model.filter_ is None:
        return
    for member in members_of(model.filter_):
        is_power = isinstance(model.filter_, tuple) and _is_whole(member, 0, MOST_HOPS)
        _require(is_power or isinstance(member, PolynomialFilter), "filter_", model)
        # A number of hops out of range would be a list of coefficients as long.
        _require(_is_whole(getattr(member, "hops", 0), 0, MOST_HOPS), "filter_", model)
        _require(bool(np.isfinite(coefficients_of(member)).all()), "filter_", model)
    _require(hops_of(model.filter_) == model.n_hops_, "filter_", model)


def _n_outputs(model: Any, least: int) -> int:
    """How many classes, labels or targets there are."""
    if not hasattr(model, "classes_"):
        n_targets = len(model.intercept_) if model.intercept_.ndim == 1 else 0
        if n_targets < 1 or (model.single_target_ and n_targets > 1):
            raise ValueError(f"{n_targets} targets, one of them alone: {model.single_target_}")
        return n_targets
    classes = model.classes_.tolist()
    if model.classes_.ndim != 1 or len(set(classes)) < len(classes) or len(classes) < least:
        raise ValueError(f"{len(classes)} classes, not {least} or more different ones")
    # Two classes may be one column, of the second against the first.
    return 1 if len(classes) == least == 2 and len(model.coef_) == 1 else len(classes)


def _check_arrays(model: Any, n_outputs: int) -> None:
    blocks = 1 if model.filter_ is None else len(members_of(model.filter_))
    shape = (n_outputs, blocks * model.n_features_in_)
    if model.coef_.shape != shape or model.intercept_.shape != shape[:1]:
        raise ValueError(f"coef of shape {model.coef_.shape}, not {shape}")
    for name in ("coef", "intercept"):
        array = getattr(model, f"{name}_")
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite numbers")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and names.shape != (model.n_features_in_,):
        raise ValueError(f"{names.size} names of {model.n_features_in_} features")


def _require(is_valid: bool, name: str, model: Any) -> None:
    if not is_valid:
        raise ValueError(f"{name} is {getattr(model, name)!r}")


def _is_whole(value: Any, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: Any) -> bool:
    """A finite number >= 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
