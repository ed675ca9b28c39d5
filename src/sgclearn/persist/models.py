"""A fitted model -> header and tensors, and back.

The entries of the header besides those of `sgclearn.persist.container`:

``estimator``
    "SGCClassifier", "SGCMultilabelClassifier" or "SGCRegressor". A search is stored as the estimator that it chose,
    which predicts the same bits.
``parameters``
    The arguments of its constructor without `compute`, which belongs to the machine. A value that JSON does not have
    is an object with one key: ``{"float": "nan"}``, ``{"pairs": [[key, value], ...]}`` for a dictionary,
    ``{"polynomial": ...}`` for a filter, ``{"list": [value, ...]}`` for filters side by side.
``fitted``
    What prediction needs besides the tensors (``n_hops_``, ``filter_``, ``row_norm_``, ``normalization_``,
    ``gamma_``, ``uses_graph_``, ``uses_identity_``, ``n_features_in_``, where there are any
    ``feature_names_in_``, ``temperature_``) and how the fit ended (``weight_decay_``, ``n_iter_``, ``converged_``,
    ``gradient_ratio_``, ``loss_``).
``classes``
    Missing where the classes are the tensor ``classes`` (numbers and truth values); else ``dtype`` ("str" or
    "object") and ``values``.
``feature_encoding``
    Where one was given: how raw columns become feature columns, as `Encoding.to_dict` gives it.

The tensors: ``coef`` (C, d), ``intercept`` (C,) and, for numbers, ``classes`` (C,).

The graph is never stored, and neither is what belongs to it: `transduction_` and `plan_` are not there after
loading; predict on the graph to get the first again.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, InputTypeError, ModelFileError
from sgclearn.filters import PolynomialFilter, filter_from_dict
from sgclearn.persist.checks import check_loaded
from sgclearn.persist.container import Tensors, read_container, write_container
from sgclearn.validation.parameters import MOST_HOPS, RULES, check_parameter
from sgclearn.validation.reading import reason_of

# The estimators that a file holds, each with the attributes of its own that prediction needs.
ESTIMATORS: dict[str, tuple[str, ...]] = {
    "SGCClassifier": ("temperature_",),
    "SGCMultilabelClassifier": ("temperature_",),
    "SGCRegressor": ("single_target_",),
}
FITTED = (
    "n_hops_",
    "filter_",
    "row_norm_",
    "weight_decay_",
    "normalization_",
    "gamma_",
    "uses_graph_",
    "uses_identity_",
    "n_features_in_",
    "n_iter_",
    "converged_",
    "gradient_ratio_",
    "loss_",
)


def save_model(
    model: Any, path: str | os.PathLike[str], *, feature_encoding: dict[str, Any] | None = None
) -> None:
    """Write a fitted model to a safetensors file with a JSON header, without pickle.

    The file is written under a temporary name and renamed. The graph is not stored: keep it with
    `Graph.save_npz`.

    Parameters
    ----------
    model : SGCClassifier, SGCMultilabelClassifier, SGCRegressor, SGCClassifierCV or SGCRegressorCV
        Fitted. A CV is stored as the estimator that it chose.
    path : path
        Usually named `.safetensors`.
    feature_encoding : dict, optional
        `Encoding.to_dict()` of the features, so that new nodes can be encoded in the same way;
        `read_model_header` gives it back.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from sgclearn import Graph, SGCClassifier, load_model, save_model
    >>> graph = Graph.from_edges([(0, 1), (2, 3)])
    >>> X, y = np.eye(4), np.array([0, -1, 1, -1])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> save_model(SGCClassifier().fit(X, y, graph=graph), path)
    >>> load_model(path).predict(X, graph=graph)
    array([0, 0, 1, 1])
    """
    from sgclearn import estimators

    if type(model) not in [getattr(estimators, name) for name in estimators.__all__]:
        raise InputTypeError(
            f"only {', '.join(estimators.__all__)} can be saved",
            type(model).__name__,
            "save the estimator inside it",
        )
    header, tensors = describe(model)
    if feature_encoding is not None:
        header["feature_encoding"] = feature_encoding
    write_container(path, header, tensors)


def describe(model: Any) -> tuple[dict[str, Any], Tensors]:
    """Header and tensors of a fitted model, from which `rebuild` makes it again."""
    name, parameters = _identity(model)
    parameters.pop("compute")
    if not hasattr(model, "coef_"):
        raise InputError("a model must be fitted before it is saved", f"a new {name}", "call fit first")
    if model.n_hops_ > MOST_HOPS:
        raise InputError(
            f"a saved model must have at most {MOST_HOPS} hops", f"{model.n_hops_}", "fit with fewer"
        )
    tensors: Tensors = {"coef": model.coef_, "intercept": model.intercept_}
    fitted = {field: plain_value(getattr(model, field), field) for field in (*FITTED, *ESTIMATORS[name])}
    if hasattr(model, "feature_names_in_"):
        fitted["feature_names_in_"] = [str(column) for column in model.feature_names_in_]
    header: dict[str, Any] = {"estimator": name, "fitted": fitted}
    header["parameters"] = {key: plain_value(value, key) for key, value in parameters.items()}
    if hasattr(model, "classes_"):
        store_classes(model.classes_, header, tensors)
    return header, tensors


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save_model` wrote; it predicts the same bits as the one that was saved.

    Parameters
    ----------
    path : path

    Returns
    -------
    SGCClassifier, SGCMultilabelClassifier or SGCRegressor
        Fitted, without `plan_` and `transduction_`, which belong to the training graph. `feature_encoding_` is the
        encoding of the features, where one was saved.

    Raises
    ------
    ModelFileError
        If the file is truncated, changed, of another program, of a later format, a pickle, or empty, or if
        it describes a model that no fit gives (a negative gamma, weights that are not finite, ...).
    """
    header, tensors = read_container(path)
    with restoring(path, "save_model"):
        return rebuild(header, tensors)


def rebuild(header: dict[str, Any], tensors: Tensors) -> Any:
    """The model that `describe` described; a ValueError names the first part that no fit gives."""
    import sgclearn.estimators

    name = header["estimator"]
    if name not in ESTIMATORS:
        raise ValueError(f"estimator {name!r}")
    model = getattr(sgclearn.estimators, name)(**restored_parameters(header["parameters"]))
    for field in (*FITTED, *ESTIMATORS[name]):
        setattr(model, field, restored_value(header["fitted"][field]))
    if "feature_names_in_" in header["fitted"]:
        model.feature_names_in_ = np.array(header["fitted"]["feature_names_in_"], dtype=object)
    model.coef_, model.intercept_ = tensors["coef"], tensors["intercept"]
    if "single_target_" not in ESTIMATORS[name]:
        model.classes_ = restored_classes(header, tensors)
    if "feature_encoding" in header:
        model.feature_encoding_ = header["feature_encoding"]
    check_loaded(model, least_outputs=2 if name == "SGCClassifier" else 1)
    return model


@contextmanager
def restoring(path: str | os.PathLike[str], saver: str) -> Iterator[None]:
    """Turn whatever goes wrong with the contents of a model file into an error that says so."""
    try:
        # A warning of a filter or an estimator was given when the model was fitted.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:  # a header can describe anything
        raise ModelFileError(
            f"{path} must describe a whole model",
            f"contents that do not fit together ({reason_of(error)})",
            f"save the model again with {saver}",
        ) from error


def read_model_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Give the checked header of a model file, `feature_encoding` among its entries where one was saved."""
    return read_container(path)[0]


def _identity(model: Any) -> tuple[str, dict[str, Any]]:
    """Name of the estimator to store, the same for a class derived from it, and its parameters."""
    from sgclearn import estimators

    given = model.get_params(deep=False)
    for name in ESTIMATORS:
        kind, search = getattr(estimators, name), getattr(estimators, f"{name}CV", ())
        if isinstance(model, search):
            given |= getattr(model, "best_params_", {})
            return name, {key: given[key] for key in kind().get_params(deep=False)}
        if isinstance(model, kind):
            return name, given
    raise InputTypeError(
        "only estimators of sgclearn can be saved", type(model).__name__, "save the one inside it"
    )


def plain_value(value: Any, name: str) -> Any:
    """Value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {"pairs": [[plain_value(key, name), plain_value(held, name)] for key, held in value.items()]}
    if isinstance(value, list | tuple) and value:
        return {"list": [plain_value(held, name) for held in value]}
    if isinstance(value, PolynomialFilter) and type(value).__module__ == PolynomialFilter.__module__:
        return {"polynomial": value.to_dict()}
    raise InputError(
        f"{name} must be a number, a text, a filter, a dictionary of these or None to be saved",
        type(value).__name__,
        "set it with set_params before saving",
        argument=name,
    )


def restored_parameters(stored: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the constructor, each as its rule wants it."""
    parameters = {key: restored_value(value) for key, value in stored.items()}
    for key, value in parameters.items():
        if isinstance(value, tuple) and key != "filter":
            raise ValueError(f"a list as {key}")
        if key in RULES and value is not None:
            check_parameter(key, value)
    return parameters


def restored_value(value: Any) -> Any:
    """What `plain_value` made plain."""
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "polynomial" in value:
        return filter_from_dict(value["polynomial"])
    if "list" in value:
        return tuple(map(restored_value, value["list"]))
    pairs = [(restored_value(key), restored_value(held)) for key, held in value["pairs"]]
    if any(not isinstance(part, bool | int | float | str | None) for pair in pairs for part in pair):
        raise ValueError("a dictionary of something else than numbers and texts")
    return dict(pairs)


def store_classes(classes: NDArray[Any], header: dict[str, Any], tensors: Tensors) -> None:
    """Put classes among the tensors, or into the header where they are no numbers."""
    if classes.dtype.kind in "biuf" and classes.dtype.itemsize <= 8:
        tensors["classes"] = classes
    else:
        header["classes"] = _class_values(classes)


def _class_values(classes: NDArray[Any]) -> dict[str, Any]:
    """Classes that no tensor can hold, for the header."""
    values = classes.tolist()
    if classes.dtype.kind not in "UO" or not all(isinstance(v, bool | int | float | str) for v in values):
        raise InputError(
            "classes must be integers, strings, booleans or floats to be saved",
            f"{classes.dtype} such as {values[0]!r}",
            "fit with one of these as labels",
        )
    return {"dtype": "str" if classes.dtype.kind == "U" else "object", "values": values}


def restored_classes(header: dict[str, Any], tensors: Tensors) -> NDArray[Any]:
    """Classes of a file."""
    if "classes" in tensors:
        return tensors["classes"]
    stored = header["classes"]
    return np.array(stored["values"], dtype=np.str_ if stored["dtype"] == "str" else object)
