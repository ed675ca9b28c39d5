"""A fitted estimator as what an explanation needs: filters, weights, bias and the names of its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sgclearn.errors import InputError, InputTypeError
from sgclearn.estimators.base import BaseSGC
from sgclearn.filters import Member, coefficients_of, members_of
from sgclearn.validation.arrays import is_missing
from sgclearn.validation.parameters import shown

Array = NDArray[np.float64]
CLASSES, LABELS, TARGETS = "classes", "labels", "targets"


@dataclass(frozen=True, eq=False)
class Block:
    """One filter `g(S) = sum_k c_k S^k` and the weights of its columns."""

    name: str
    coefficients: Array  # (K + 1,)
    Theta: Array  # (d, C)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """`logits = sum_b g_b(S) diag(r) X Theta_b + b`, divided by the temperature.

    Attributes
    ----------
    kind : {"classes", "labels", "targets"}
        One class per sample (softmax), several labels per sample (sigmoid), or numbers.
    outputs : list
        Classes, labels or targets, one per column of Theta.
    """

    kind: str
    outputs: list[Any]
    blocks: tuple[Block, ...]
    b: Array  # (C,)
    temperature: float
    normalization: str | None
    gamma: float | None
    row_norm: str | None

    @classmethod
    def of(cls, model: Any) -> LinearModel:
        """The linear model inside a fitted estimator."""
        if not isinstance(model, BaseSGC):
            raise InputTypeError(
                "model must be a fitted SGC estimator of sgclearn",
                type(model).__name__,
                "pass the model itself; a text classifier has explain() of its own",
                argument="model",
            )
        check_is_fitted(model)
        name = type(model).__name__
        kind = LABELS if "Multilabel" in name else TARGETS if "Regressor" in name else CLASSES
        filters = members_of(model.n_hops_ if model.filter_ is None else model.filter_)
        coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        parts = np.split(coef.T, len(filters), axis=0)
        blocks = tuple(
            Block(_block_name(entry), coefficients_of(entry), part)
            for entry, part in zip(filters, parts, strict=True)
        )
        outputs = list(range(len(coef))) if kind != CLASSES else model.classes_.tolist()
        b = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
        temperature = float(getattr(model, "temperature_", 1.0))
        gamma = model.gamma_ if model.normalization_ != "cheby" else None
        return cls(kind, outputs, blocks, b, temperature, model.normalization_, gamma, model.row_norm_)

    @property
    def n_hops(self) -> int:
        """The largest number of hops of any filter."""
        return max(len(block.coefficients) for block in self.blocks) - 1

    def number(self, output: Any, argument: str) -> int:
        """Column of a class, label or target."""
        # Neither arrays nor pandas' NA compare with a class.
        if getattr(output, "shape", ()) != () or is_missing(output) or output not in self.outputs:
            some = ", ".join(repr(known) for known in self.outputs[:10]) + (
                ", ..." if len(self.outputs) > 10 else ""
            )
            raise InputError(
                f"{argument} must be one of the {self.kind} of the model", shown(output), f"choose from {some}",
                argument=argument,
            )  # fmt: skip
        return self.outputs.index(output)

    def decided(self, logits: Array) -> int:
        """Column of the output that an explanation is about where none is named."""
        return int(logits.argmax())

    def rival(self, logits: Array, chosen: int) -> int | None:
        """Column of the runner-up; None where outputs do not compete."""
        if self.kind != CLASSES:
            return None
        others = np.delete(np.arange(len(logits)), chosen)
        return int(others[logits[others].argmax()])


def _block_name(entry: Member) -> str:
    if isinstance(entry, int):
        return "X" if entry == 0 else "S X" if entry == 1 else f"S^{entry} X"
    return repr(entry)
