"""Data that an experiment names, by kind: loaded once for all its runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sgclearn.datasets import load_dataset
from sgclearn.experiments.inductive import load_inductive
from sgclearn.experiments.problems import Problem, RunData
from sgclearn.experiments.text import TextSamples
from sgclearn.tasks.dataset import samples_of
from sgclearn.validation.parameters import Choice

if TYPE_CHECKING:
    from sgclearn.tasks.text import TextCorpus, TextGraph

VALIDATION_SHARE = 0.1


def load_problem(options: dict[str, Any], data_dir: Path | None = None) -> RunData:
    """Load what all runs on a dataset share.

    Parameters
    ----------
    options : dict
        The dataset's entry in the experiment. `kind` is "node" (`load_dataset` with the remaining options; with
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
    kind = Choice(values=tuple(LOADERS)).check("kind of a dataset", options.get("kind"))
    return LOADERS[kind](data_dir=data_dir, **given)


def _node(name: str, data_dir: Path | None, redrawn: bool = False, **options: Any) -> RunData:
    if redrawn:
        return lambda seed: Problem.of(
            samples_of(load_dataset(name, split="random", seed=seed, data_dir=data_dir, **options))
        )
    problem = Problem.of(samples_of(load_dataset(name, data_dir=data_dir, **options)))
    return lambda seed: problem


def _text(name: str, data_dir: Path | None, analyzer: str = "whitespace", **options: Any) -> RunData:
    from sgclearn.tasks.text import TextGraphBuilder, load_corpus

    # The cleaned corpora have spaces between their words; any other analyzer is for the text as it was.
    corpus = load_corpus(name, data_dir, cleaned=analyzer == "whitespace")
    builder = TextGraphBuilder(analyzer=analyzer, **options)  # type: ignore[arg-type]
    return text_problem(corpus, builder.build(corpus.docs))


def text_problem(corpus: TextCorpus, text_graph: TextGraph) -> RunData:
    """Runs on the documents of a corpus, which are the first nodes of a graph of documents and words."""

    def problem(seed: int) -> Problem:
        n_val = int(VALIDATION_SHARE * len(corpus.train))
        shuffled = np.random.default_rng(seed).permutation(corpus.train)
        split = np.full(len(corpus.y), None, dtype=object)
        for part, documents in (
            ("train", shuffled[n_val:]),
            ("val", shuffled[:n_val]),
            ("test", corpus.test),
        ):
            split[documents] = part
        return Problem.of(TextSamples.of(corpus.name, text_graph, corpus.y, split))

    return problem


LOADERS: dict[str, Callable[..., RunData]] = {"node": _node, "inductive": load_inductive, "text": _text}
"""Kinds of data; a new one is known by its line here."""
