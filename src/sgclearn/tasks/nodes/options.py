"""Options of the task nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sgclearn.tasks.options import FILES, MODEL, READING, FitOptions, OperatorOptions, SplitOptions, option


class Duplicates(StrEnum):
    """What repeated edges weigh."""

    once, sum, max, min, error = "once", "sum", "max", "min", "error"


class SelfLoops(StrEnum):
    """What becomes of edges from a node to itself."""

    keep, drop, error = "keep", "drop", "error"


class Impute(StrEnum):
    """What missing numbers become."""

    mean, median, zero = "mean", "median", "zero"


@dataclass(frozen=True)
class GraphFiles:
    """Which graph and features."""

    edges: Path | None = option("Edges: CSV, TSV, Parquet, npz or GraphML.", FILES)
    features: Path | None = option(
        "Features: CSV, TSV, Parquet, npz or svmlight; without them the graph alone is used.", FILES
    )
    dataset: str | None = option("A dataset by name instead of files; see: sgc datasets list.", FILES)
    data_dir: Path | None = option(
        "Folder with the files of datasets; else the variable SGCLEARN_DATA.", FILES
    )


@dataclass(frozen=True)
class ReadingOptions:
    """How files of edges and features are read."""

    source_column: str | None = option("Column of the edges' sources.", READING)
    target_column: str | None = option("Column of the edges' targets.", READING)
    weights_column: str | None = option(
        "Column of the weights; a column called weight is found by itself.", READING
    )
    unweighted: bool = option("Leave weights in the edges aside.", READING, "--unweighted", default=False)
    directed: bool | None = option(
        "Whether edges have a direction: a node then averages over those it points to. "
        "If not given, what the file says, else undirected.",
        READING,
        "--directed/--undirected",
    )
    duplicates: Duplicates | None = option(
        "What an edge weighs that is listed more than once; once if not given.", READING
    )
    self_loops: SelfLoops | None = option(
        "What becomes of edges from a node to itself; keep if not given.", READING
    )
    id_column: str | None = option("Column of the ids of features and labels.", READING)
    row_numbers: bool = option(
        "The features have no ids: row i, from 0, belongs to node i.", READING, "--row-numbers", default=False
    )
    delimiter: str | None = option("Delimiter of text files, tab for a tab; found if not given.", READING)
    header: bool | None = option(
        "Whether the first line of text files names the columns; found if not given.",
        READING,
        "--header/--no-header",
    )


@dataclass(frozen=True)
class GraphOptions(ReadingOptions, GraphFiles):
    """A graph and its features, and how to read them."""

    impute: Impute | None = option("What missing numbers become; an error if not given.", READING)
    max_categories: int | None = option(
        "Most categories that a column of text may have; 50 if not given.", READING
    )


@dataclass(frozen=True)
class NodeData(SplitOptions, GraphOptions):
    """Data to fit on: graph, features, labels, and the split."""

    labels: Path | None = option(
        "Labels: a table of id, label and, if wanted, split (train, val, test).", FILES
    )
    label_column: str | None = option("Column of the labels.", READING)
    regression: bool = option(
        "The labels are numbers to predict, not classes.", READING, "--regression", default=False
    )
    split_column: str | None = option("Column of train, val and test.", READING)


def delimiter_of(data: ReadingOptions) -> str | None:
    """Delimiter that was named, a tab by its name."""
    return "\t" if data.delimiter in ("tab", "\\t") else data.delimiter


@dataclass(frozen=True)
class NodeModel(FitOptions, OperatorOptions):
    """The model, with one number of hops."""

    n_hops: int = option("Hops K: how far a node looks; 0 is plain logistic regression; 2.", MODEL, default=2)
    weight_decay: float | None = option(
        "Strength of the regularisation; if not given it is tuned, on the validation labels where there are any, else "
        "in folds of the training labels.",
        MODEL,
    )


@dataclass(frozen=True)
class NewNodes(ReadingOptions):
    """Nodes and edges to attach to the graph of a run."""

    new_edges: Path | None = option("Edges to add to the graph of the run.", FILES)
    new_features: Path | None = option("Features of the new nodes, with their ids.", FILES)
