"""Options that several commands share, each written once as the field of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from sgclearn.errors import InputError

if TYPE_CHECKING:
    from sgclearn.propagation import Compute

FILES, READING, SPLIT, MODEL, RESULT = "Data", "Reading files", "Split", "Model", "Result"


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Turn each parameter that is a dataclass into one option a field, and hand the command the dataclass."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            options += _options(hints[name])
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            options.append(parameter.replace(kind=kind, annotation=hints[name]))

    def expanded(**given: Any) -> None:
        built = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **built)

    expanded.__doc__ = command.__doc__
    expanded.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    expanded.__annotations__ = {option.name: option.annotation for option in options}
    return expanded


def help_of(command: Callable[..., None]) -> str:
    """Docstring of a command for typer: paragraphs in one line, examples marked to keep their lines."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(
        paragraph.replace("\\b", "\b") if paragraph.startswith("\\b") else " ".join(paragraph.split())
        for paragraph in paragraphs
    )


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, kind, default=field.default, annotation=hints[field.name])
        for field in fields(group)
    ]


class Duplicates(StrEnum):
    """What repeated edges weigh."""

    once, sum, max, min, error = "once", "sum", "max", "min", "error"


class SelfLoops(StrEnum):
    """What becomes of edges from a node to itself."""

    keep, drop, error = "keep", "drop", "error"


class Impute(StrEnum):
    """What missing numbers become."""

    mean, median, zero = "mean", "median", "zero"


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


def chosen(choice: StrEnum | None) -> Any:
    """Value of a choice, None for none."""
    return None if choice is None or choice.value == "none" else choice.value


def _option(text: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=False, **more)


@dataclass(frozen=True)
class GraphFiles:
    """Which graph and features."""

    edges: Annotated[Path | None, _option("Edges: CSV, TSV, Parquet, npz or GraphML.", FILES)] = None
    features: Annotated[
        Path | None,
        _option("Features: CSV, TSV, Parquet, npz or svmlight; without them the graph alone is used.", FILES),
    ] = None
    dataset: Annotated[
        str | None, _option("A dataset by name instead of files; see: sgc datasets list.", FILES)
    ] = None
    data_dir: Annotated[
        Path | None, _option("Folder with the files of datasets; else the variable SGCLEARN_DATA.", FILES)
    ] = None


@dataclass(frozen=True)
class ReadingOptions:
    """How files of edges and features are read."""

    source_column: Annotated[str | None, _option("Column of the edges' sources.", READING)] = None
    target_column: Annotated[str | None, _option("Column of the edges' targets.", READING)] = None
    weights_column: Annotated[
        str | None, _option("Column of the weights; a column called weight is found by itself.", READING)
    ] = None
    unweighted: Annotated[bool, _option("Leave weights in the edges aside.", READING, "--unweighted")] = False
    directed: Annotated[
        bool | None,
        _option(
            "Whether edges have a direction: a node then averages over those it points to. "
            "If not given, what the file says, else undirected.",
            READING,
            "--directed/--undirected",
        ),
    ] = None
    duplicates: Annotated[
        Duplicates | None,
        _option("What an edge weighs that is listed more than once; once if not given.", READING),
    ] = None
    self_loops: Annotated[
        SelfLoops | None, _option("What becomes of edges from a node to itself; keep if not given.", READING)
    ] = None
    id_column: Annotated[str | None, _option("Column of the ids of features and labels.", READING)] = None
    row_numbers: Annotated[
        bool, _option("The features have no ids: row i, from 0, belongs to node i.", READING, "--row-numbers")
    ] = False
    delimiter: Annotated[
        str | None, _option("Delimiter of text files, tab for a tab; found if not given.", READING)
    ] = None
    header: Annotated[
        bool | None,
        _option(
            "Whether the first line of text files names the columns; found if not given.",
            READING,
            "--header/--no-header",
        ),
    ] = None


@dataclass(frozen=True)
class GraphOptions(ReadingOptions, GraphFiles):
    """A graph and its features, and how to read them."""

    impute: Annotated[
        Impute | None, _option("What missing numbers become; an error if not given.", READING)
    ] = None
    max_categories: Annotated[
        int | None, _option("Most categories that a column of text may have; 50 if not given.", READING)
    ] = None


@dataclass(frozen=True)
class DataOptions(GraphOptions):
    """Data to fit on: graph, features, labels, and the split."""

    labels: Annotated[
        Path | None, _option("Labels: a table of id, label and, if wanted, split (train, val, test).", FILES)
    ] = None
    label_column: Annotated[str | None, _option("Column of the labels.", READING)] = None
    split_column: Annotated[str | None, _option("Column of train, val and test.", READING)] = None
    held_out: Annotated[
        float | None,
        _option(
            "Share of each class whose labels are held back to measure the accuracy, where the labels have "
            "no split; 0.2 if not given, 0 for none.",
            SPLIT,
        ),
    ] = None
    seed: Annotated[
        int | None,
        _option(
            "Seed of splits, folds and stochastic solvers; 2019 if not given. The public split of cora, "
            "citeseer and pubmed stays as it is.",
            SPLIT,
        ),
    ] = None


def delimiter_of(data: ReadingOptions) -> str | None:
    """Delimiter that was named, a tab by its name."""
    return "\t" if data.delimiter in ("tab", "\\t") else data.delimiter


@dataclass(frozen=True)
class OperatorOptions:
    """Which propagation matrix."""

    normalization: Annotated[
        Normalization,
        _option(
            "Neighbours are weighed symmetrically (sym), averaged (rw), or as in the first-order Chebyshev "
            "filter (cheby); sym if not given.",
            MODEL,
        ),
    ] = Normalization.sym
    gamma: Annotated[
        float | None, _option("Weight of a node itself beside its neighbours; 1 if not given.", MODEL)
    ] = None


@dataclass(frozen=True)
class FitOptions:
    """How the model is fitted."""

    row_norm: Annotated[
        RowNorm | None,
        _option("Divide each row of the features by its norm; none if not given (debian: l2).", MODEL),
    ] = None
    scale: Annotated[Scale, _option("Scale the columns after propagation; none if not given.", MODEL)] = (
        Scale.none
    )
    solver: Annotated[
        Solver, _option("lbfgs finds the exact optimum (default); adam follows the paper.", MODEL)
    ] = Solver.lbfgs
    class_weight: Annotated[
        ClassWeight, _option("balanced: every class counts the same, however many labels.", MODEL)
    ] = ClassWeight.none
    max_iter: Annotated[
        int | None, _option("Most iterations of lbfgs (1000), or epochs of adam and sgd (100).", MODEL)
    ] = None
    memory_limit: Annotated[
        str | None, _option("Such as 4GB; a fit that would need more is refused before it starts.", MODEL)
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Arguments of the classifiers, without `row_norm`, whose default is the data's."""
        return {
            "scale": chosen(self.scale),
            "solver": self.solver.value,
            "class_weight": chosen(self.class_weight),
            "max_iter": self.max_iter,
        }

    def compute(self) -> Compute:
        """How the classifiers compute."""
        from sgclearn.propagation import Compute

        return Compute(memory_limit=self.memory_limit)


def named_in(option: str, text: str | None) -> list[str] | None:
    """Names of a list as `a,b`; None where the option was not given."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise InputError(f"--{option} must name at least one: got {text!r}; name some, or leave it out.")
    return names


JsonFlag = Annotated[bool, _option("One JSON document on stdout instead of tables.", RESULT, "--json")]
ForceFlag = Annotated[bool, _option("Replace what is there already.", RESULT, "--force")]
