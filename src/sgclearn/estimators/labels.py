"""Labels as people have them: some known, the rest -1, None, NaN or empty."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn._native import load_kernel
from sgclearn.errors import InputError, InputTypeError, Setting
from sgclearn.estimators.loss import Sigmoid, Softmax
from sgclearn.validation.arrays import is_missing, plain_array, real_array
from sgclearn.validation.parameters import Number, shown


def as_labels(y: Any) -> NDArray[Any]:
    """Labels as an array that keeps what each one is: a list of texts and numbers must not become all texts."""
    array = plain_array(y, "y")
    if array.dtype.kind == "U" and isinstance(y, (list, tuple)) and not all(isinstance(v, str) for v in y):
        array = np.asarray(y, dtype=object)
    if array.dtype.kind not in "biufUO":
        raise InputTypeError(
            "labels must be numbers or texts", f"an array of {array.dtype}", "convert them to one of these"
        )
    if array.dtype.kind == "O":
        for label in array.ravel():
            if isinstance(label, tuple | bytes) or type(label).__hash__ is None:
                raise InputTypeError(
                    "every label must be one number or text",
                    shown(label),
                    "turn labels into texts, and for several labels a node use SGCMultilabelClassifier",
                )
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise InputError(
            "Input y contains infinity or a value too large for a label",
            remedy="mark unlabelled nodes with NaN",
            argument="y",
        )
    return array


def labelled_mask(y: NDArray[Any], unlabeled: Any) -> NDArray[np.bool_]:
    """Which nodes have a label: not `unlabeled`, and never None, NaN or, among texts, the empty text."""
    if unlabeled is not None and (np.ndim(unlabeled) or isinstance(unlabeled, list | dict | set | bytes)):
        raise InputTypeError(
            "unlabeled must be one number, text or None",
            shown(unlabeled),
            "name the mark",
            argument="unlabeled",
        )
    if y.dtype.kind == "O":
        return np.array([not _is_missing(value, unlabeled) for value in y.ravel()], dtype=bool)
    known = np.ones(len(y), dtype=bool)
    if y.dtype.kind == "f":
        known &= ~np.isnan(y)
    if y.dtype.kind == "U":
        known &= y != ""
    if unlabeled is not None and isinstance(unlabeled, str) == (y.dtype.kind == "U"):
        known &= y != unlabeled
    return known


def _is_missing(value: Any, unlabeled: Any) -> bool:
    if is_missing(value):
        return True
    if isinstance(value, str):
        return value == "" or (isinstance(unlabeled, str) and value == unlabeled)
    return bool(unlabeled is not None and not isinstance(unlabeled, str) and value == unlabeled)


def check_length(y: NDArray[Any], n_samples: int) -> None:
    """One label per sample."""
    if len(y) != n_samples:
        raise InputError(
            "y must have one label per row of X",
            f"{len(y):,} labels and {n_samples:,} rows",
            "mark nodes without a label with -1, None or an empty text",
            argument="y",
        )


def one_hot(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Y (m, C) with a single 1 in every row."""
    Y = np.zeros((len(codes), n_classes))
    Y[np.arange(len(codes)), codes] = 1.0
    return Y


def class_codes(logits: NDArray[Any]) -> NDArray[np.intp]:
    """The most probable class of every sample (m,), from logits or targets (m, C).

    One column is a yes/no question: the second of two classes, against the first.
    """
    if logits.shape[1] == 1:
        return (logits[:, 0] > 0).astype(np.intp)
    kernel = load_kernel()
    if kernel is None or logits.dtype != np.float64:
        return np.asarray(logits.argmax(axis=1))
    codes = np.empty(len(logits), dtype=np.int64)  # the first of several, as numpy has it
    kernel.largest_columns(np.ascontiguousarray(logits), codes)
    return codes


def class_margins(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """What `decision_function` gives: logits (m, C), or for two classes the second over the first (m,)."""
    if logits.shape[1] == 1:
        return logits[:, 0]
    return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits


def class_probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of every class (m, C)."""
    if logits.shape[1] == 1:
        return np.hstack([Sigmoid.probabilities(-logits), Sigmoid.probabilities(logits)])
    return Softmax.probabilities(logits)


def encode_classes(y: NDArray[Any], known: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sorted classes among the known labels, and the code of every known label."""
    if not known.any():
        raise InputError(
            "at least one node of each of two classes needs a label",
            f"{len(y):,} nodes, none of them labelled",
        )
    labels = y[known]
    if labels.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in labels})
        if len(kinds) > 1 and "str" in kinds:
            raise InputError(
                "labels must be of one type", " and ".join(kinds), "turn all into text or numbers"
            )
        if kinds == ["str"]:
            labels = labels.astype(str)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        unmark = (", or set ", Setting("unlabeled", None), " if the unlabelled mark (-1) is a class")
        raise InputError(
            "y must name at least two classes among its labelled nodes",
            f"one class, {classes.tolist()[0]!r}",
            ("label a node of another class", () if known.all() else unmark),
            argument="y",
        )
    return classes, codes.ravel()


def check_sample_weight(sample_weight: Any, n: int, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Finite, non-negative weights of the labelled rows, not all zero; ones if there are none."""
    if sample_weight is None:
        return np.ones(len(rows))
    weights = real_array(sample_weight, "sample_weight").astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InputError(
            "sample_weight must have one entry a row of X",
            f"shape {weights.shape}, not ({n},)",
            argument="sample_weight",
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(
            "sample_weight must be finite and >= 0",
            f"{weights.min()} to {weights.max()}",
            argument="sample_weight",
        )
    if not weights[rows].any():
        raise InputError(
            "sample_weight leaves no labelled node",
            "zeros only",
            "give one of them a weight",
            argument="sample_weight",
        )
    return np.asarray(weights[rows])


def class_weight_factors(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The factor of every labelled node: m / (C m_c) for "balanced", else the weight named for its class."""
    if class_weight is None:
        return np.ones(len(codes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weights=weights / (weights.max() or 1.0), minlength=len(classes))
        even = totals.sum() / len(classes)
        # A class whose labels all have the weight zero stays at zero whatever its factor.
        return np.asarray((even / np.where(totals > 0, np.maximum(totals, 1e-300), 1.0))[codes])
    if not isinstance(class_weight, dict):
        raise InputError(
            "class_weight must be None, 'balanced' or a dict of class: weight",
            repr(class_weight),
            argument="class_weight",
        )
    names = classes.tolist()
    unknown = [key for key in class_weight if key not in names]  # numbers and texts compare with anything
    if unknown:
        raise InputError(
            "class_weight names a class that no labelled node has",
            f"{unknown[0]!r}, not in {names}",
            argument="class_weight",
        )
    factors = np.array([Number().check("a class_weight", class_weight.get(name, 1.0)) for name in names])
    return np.asarray(factors[codes])
