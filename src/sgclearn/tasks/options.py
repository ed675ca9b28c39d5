"""Options of a task: fields of a dataclass, each with what a front end has to know about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args, get_type_hints

from sgclearn.errors import InputError

FILES, READING, SPLIT, MODEL, RESULT = "Data", "Reading files", "Split", "Model", "Result"


def option(text: str, panel: str = MODEL, *names: str, default: Any = None, required: bool = False) -> Any:
    """A field of a dataclass of options.

    Parameters
    ----------
    text : str
        Help: what it is, and what happens where it is not given.
    panel : str
        Heading of the help under which it stands.
    *names : str
        Its names on the command line; `--field-name` if not given.
    default : optional
    required : bool, default False
        Whether a front end asks for it; its default is None all the same.
    """
    about = {"help": text, "panel": panel, "names": names, "required": required}
    return field(default=default, metadata=about)


def chosen(choice: StrEnum | None) -> Any:
    """Value of a choice, None for none."""
    return None if choice is None or choice.value == "none" else choice.value


class Normalization(StrEnum):
    """Which propagation matrix."""

    sym, rw, cheby = "sym", "rw", "cheby"


class RowNorm(StrEnum):
    """Norm that each row of the features is divided by."""

    none, l1, l2 = "none", "l1", "l2"


class Scale(StrEnum):
    """How columns are scaled after propagation."""

    none, standard, minmax, maxabs = "none", "standard", "minmax", "maxabs"


class Solver(StrEnum):
    """How the weights are found."""

    lbfgs, lbfgs_steps, adam, sgd = "lbfgs", "lbfgs-steps", "adam", "sgd"


class ClassWeight(StrEnum):
    """How classes are weighted."""

    none, balanced = "none", "balanced"


@dataclass(frozen=True)
class SplitOptions:
    """Which labels are held back, and the seed of everything drawn."""

    held_out: float | None = option(
        "Share of each class whose labels are held back to measure the accuracy, where the labels have no split; "
        "0.2 if not given, 0 for none.",
        SPLIT,
    )
    seed: int | None = option(
        "Seed of splits, folds and stochastic solvers; 2019 if not given. The public split of cora, citeseer and "
        "pubmed stays as it is.",
        SPLIT,
    )


@dataclass(frozen=True)
class OperatorOptions:
    """Which propagation matrix."""

    normalization: Normalization = option(
        "Neighbours are weighed symmetrically (sym), averaged (rw), or as in the first-order Chebyshev "
        "filter (cheby); sym if not given.",
        MODEL,
        default=Normalization.sym,
    )
    gamma: float | None = option("Weight of a node itself beside its neighbours; 1 if not given.", MODEL)

    def operator(self) -> dict[str, Any]:
        """Arguments of the estimators."""
        return {"normalization": self.normalization.value, "gamma": self.gamma}


@dataclass(frozen=True)
class FitOptions:
    """How the model is fitted."""

    row_norm: RowNorm | None = option(
        "Divide each row of the features by its norm; none if not given (debian: l2).", MODEL
    )
    scale: Scale = option(
        "Scale the columns after propagation; none if not given.", MODEL, default=Scale.none
    )
    solver: Solver = option(
        "lbfgs finds the exact optimum (default); adam follows the paper.", MODEL, default=Solver.lbfgs
    )
    class_weight: ClassWeight = option(
        "balanced: every class counts the same, however many labels.", MODEL, default=ClassWeight.none
    )
    max_iter: int | None = option("Most iterations of lbfgs (1000), or epochs of adam and sgd (100).", MODEL)
    memory_limit: str | None = option(
        "Such as 4GB; a fit that would need more is refused before it starts.", MODEL
    )

    def parameters(self, row_norm: str | None) -> dict[str, Any]:
        """Arguments of the estimators; `row_norm` is the data's where no option says so."""
        from sgclearn.propagation import Compute

        return {
            "row_norm": row_norm if self.row_norm is None else chosen(self.row_norm),
            "scale": chosen(self.scale),
            "solver": self.solver.value,
            "class_weight": chosen(self.class_weight),
            "max_iter": self.max_iter,
            "compute": Compute(memory_limit=self.memory_limit),
        }


def settings_of(*groups: Any) -> dict[str, Any]:
    """Plain values of the options that were given, for `run.json`."""
    given: dict[str, Any] = {}
    for group in groups:
        given |= {name: value for name, value in asdict(group).items() if value is not None}
    return {name: str(value) if isinstance(value, Path | StrEnum) else value for name, value in given.items()}


def as_at_the_fit(given: Any, settings: Mapping[str, Any], names: Collection[str]) -> Any:
    """Options with those of the fit where none are given.

    Parameters
    ----------
    given : dataclass
        Options of new samples.
    settings : mapping
        Of the run, as `settings_of` made them.
    names : collection of str
        Options that follow the fit.
    """
    hints = get_type_hints(type(given))
    kept: dict[str, Any] = {}
    for name in names:
        if name in settings and getattr(given, name) in (None, False):
            kinds = [kind for kind in (hints[name], *get_args(hints[name])) if _is_choice(kind)]
            try:
                kept[name] = kinds[0](settings[name]) if kinds else settings[name]
            except ValueError as error:
                raise InputError(
                    f"run must have settings that a fit wrote, and is damaged ({error})",
                    remedy="fit the model again",
                ) from error
    return replace(given, **kept)


def _is_choice(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)
