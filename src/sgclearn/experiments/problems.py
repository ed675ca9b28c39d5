"""The data of a recipe: what a model may see, and the labels it is judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sgclearn.datasets import GraphDataset, load_dataset
from sgclearn.errors import InputError

if TYPE_CHECKING:
    from sgclearn.tasks.text import TextCorpus, TextGraph

VALIDATION_SHARE = 0.1


@dataclass(frozen=True)
class Problem:
    """Data of one run: a model is fitted on `seen` and predicts the nodes of `asked`; `whole` has their labels.

    `seen` has no label outside of training and validation. `asked` is the same dataset, but for inductive problems.
    """

    seen: GraphDataset
    asked: GraphDataset
    whole: GraphDataset

    @classmethod
    def of(cls, data: GraphDataset) -> Problem:
        """Hide the test labels of a dataset."""
        hidden = replace(data, y=data.train_labels(with_val=True), test=np.zeros(0, np.intp))
        return cls(hidden, hidden, data)

    def scores(self, predicted: NDArray[np.intp]) -> dict[str, float]:
        """Accuracy in percent on the validation and test nodes."""
        parts = {"val_accuracy": self.whole.val, "test_accuracy": self.whole.test}
        y = self.whole.y
        return {
            name: 100.0 * float((predicted[nodes] == y[nodes]).mean())
            for name, nodes in parts.items()
            if len(nodes)
        }


@dataclass(frozen=True, eq=False, repr=False)
class TextDataset(GraphDataset):
    """Documents and words as the nodes of a dataset, with one-hot features; only documents have labels."""

    text_graph: TextGraph | None = None


# What is loaded once for all runs, and the data of the run with a seed.
RunData = Callable[[int], Problem]


def load_problem(options: dict[str, Any], data_dir: Path | None = None) -> RunData:
    """Load what all runs on a dataset share.

    Parameters
    ----------
    options : dict
        The dataset's entry in the recipe. `kind` is "node" (`load_dataset` with the remaining options; with
        `redrawn` every run draws a split of its own), "inductive" (see `load_inductive`) or "text" (a corpus of
        `load_corpus` as a graph of documents and words; every run draws its validation documents, a tenth of the
        training documents).
    data_dir : path, optional
        Folder with the files; the folder named by SGCLEARN_DATA if not given.

    Returns
    -------
    callable
        From the seed of a run to its `Problem`.
    """
    given = {name: value for name, value in options.items() if name not in ("title", "kind", "on_request")}
    kind = options.get("kind")
    if kind not in LOADERS:
        raise InputError(f"kind of a dataset must be one of {', '.join(LOADERS)}: got {kind!r}.")
    return LOADERS[kind](data_dir=data_dir, **given)


def _node(name: str, data_dir: Path | None, redrawn: bool = False, **options: Any) -> RunData:
    if redrawn:
        return lambda seed: Problem.of(
            load_dataset(name, split="random", seed=seed, data_dir=data_dir, **options)
        )
    data = load_dataset(name, data_dir=data_dir, **options)
    return lambda seed: Problem.of(data)


def _inductive(name: str, data_dir: Path | None, **options: Any) -> RunData:
    from sgclearn.experiments.inductive import load_inductive

    return load_inductive(name, data_dir, **options)


def _text(name: str, data_dir: Path | None, analyzer: str = "whitespace", **options: Any) -> RunData:
    from sgclearn.tasks.text import TextGraphBuilder, load_corpus

    # The cleaned corpora have spaces between their words; any other analyzer is for the text as it was.
    corpus = load_corpus(name, data_dir, cleaned=analyzer == "whitespace")
    builder = TextGraphBuilder(analyzer=analyzer, **options)  # type: ignore[arg-type]
    return text_problem(corpus, builder.build(corpus.docs))


def text_problem(corpus: TextCorpus, text_graph: TextGraph) -> RunData:
    """Runs on a graph whose first nodes are the documents of a corpus; the words after them have no label."""
    graph = text_graph.graph
    y = np.full(graph.n_nodes, -1)
    y[: len(corpus.y)] = corpus.y
    features = sp.eye_array(graph.n_nodes, format="csr")

    def problem(seed: int) -> Problem:
        n_val = int(VALIDATION_SHARE * len(corpus.train))
        shuffled = np.random.default_rng(seed).permutation(corpus.train)
        split = (np.sort(shuffled[n_val:]), np.sort(shuffled[:n_val]), corpus.test)
        data = TextDataset(
            corpus.name, graph, features, y, corpus.class_names, None, *split, text_graph=text_graph
        )
        return Problem.of(data)

    return problem


LOADERS: dict[str, Callable[..., RunData]] = {"node": _node, "inductive": _inductive, "text": _text}
