"""The task relations: sentences with two marked entities, from JSON files to a run and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.features import WordVectors, read_word_vectors
from sgclearn.files import replacing
from sgclearn.propagation.propagate import check_n_hops
from sgclearn.runs.place import MODEL, TASK_DOCUMENT
from sgclearn.runs.predictions import ClassPredictions
from sgclearn.runs.run import Run, RunFile
from sgclearn.runs.splits import DEFAULT_HELD_OUT, DEFAULT_SEED, hold_out
from sgclearn.tasks.options import FILES, SPLIT, option
from sgclearn.tasks.protocol import Candidate, Columns, OnStage, Samples, Task, silent
from sgclearn.tasks.relations.classifier import DEFAULT_DECAYS, SGCRelationClassifier
from sgclearn.tasks.relations.scoring import RelationEvaluation, evaluate_relations
from sgclearn.tasks.relations.sentences import Sentences, join_sentences, read_sentences
from sgclearn.tasks.relations.storage import load_relation_model, save_relation_model

DEFAULT_DECAY = 1e-4


@dataclass(frozen=True)
class RelationData:
    """Files of sentences and of word vectors."""

    data: Path = option("Labelled sentences: JSON as TACRED has it.", FILES, required=True)
    validation: Path | None = option("Labelled sentences to choose the weight decay on.", FILES)
    test: Path | None = option("Labelled sentences to measure on.", FILES)
    vectors: Path | None = option(
        "Word vectors: GloVe's text, or npz; without them clues decide alone.", FILES
    )
    held_out: float | None = option(
        "Share of each relation held back to measure on, where no test file is given; 0.2 if not given.",
        SPLIT,
    )
    seed: int | None = option("Seed of the split; 2019 if not given.", SPLIT)


@dataclass(frozen=True)
class RelationModel:
    """Settings of the classifier."""

    n_hops: int = option("Hops K: how far words travel along the tree; 2 if not given.", default=2)
    weight_decay: float | None = option(
        "Weight decay; chosen on the validation sentences if there are any, else 1e-4."
    )
    min_count: int = option("Training sentences that a clue must occur in; 1 if not given.", default=1)


@dataclass(frozen=True)
class NewSentences:
    """Sentences to predict."""

    data: Path | None = option("New sentences, in the form of the fit; those of the run if not given.", FILES)
    vectors: Path | None = option("Word vectors for words that the run does not know.", FILES)


@dataclass(frozen=True, eq=False)
class RelationSamples(Samples):
    """Samples with the sentences that they are."""

    sentences: Sentences | None = None
    vectors: WordVectors | None = None

    def take(self, rows: NDArray[np.intp]) -> RelationSamples:
        """Some of the sentences; the graph of all trees stays."""
        taken = super().take(rows)
        return replace(taken, sentences=self.given.subset(rows))  # type: ignore[return-value, call-arg]

    @property
    def given(self) -> Sentences:
        """The sentences."""
        if self.sentences is None:
            raise InputError("relation samples must have sentences", "none", "read them with the task")
        return self.sentences


class Relations(Task):
    """Every sentence is a sample: the mean over its tokens is its row of the readout."""

    name, unit = "relations", "sentence"
    summary = "Tell what two entities of a sentence have to do with each other."
    next_step = "sgc relations explain {run} ID"
    Data, Model, New = RelationData, RelationModel, NewSentences

    def read(self, data: RelationData, on_stage: OnStage = silent) -> RelationSamples:
        """Sentences of all files with their split, and the vectors of their words."""
        parts, split = [], []
        for path, part in ((data.data, "train"), (data.validation, "val"), (data.test, "test")):
            if path is not None:
                on_stage(f"reading {path.name}")
                parts.append(read_sentences(path))
                split += [part] * len(parts[-1])
        sentences = join_sentences(parts)
        y = np.full(len(sentences), None, dtype=object) if sentences.labels is None else sentences.labels
        seed = DEFAULT_SEED if data.seed is None else data.seed
        of_split = np.array([*split, None], dtype=object)[:-1]
        of_split[[label is None for label in y.tolist()]] = None
        if data.test is None:
            train = of_split == "train"
            share = DEFAULT_HELD_OUT if data.held_out is None else data.held_out
            of_split[train] = hold_out(y[train], share, seed)
        elif data.held_out is not None:
            raise InputError(
                "held_out goes with sentences without a test file", f"it with {data.test}", "leave it out",
                argument="held_out",
            )  # fmt: skip
        vectors = None
        if data.vectors is not None:
            on_stage(f"reading {data.vectors.name}")
            vectors = read_word_vectors(data.vectors, words=set(sentences.tokens))
        return _samples(data.data.name, sentences, y, of_split, vectors, seed, data.test is None)

    def candidates(self, samples: Samples, model: RelationModel) -> Sequence[Candidate]:
        """Without hops, and with K of them."""
        hops = sorted({0, check_n_hops(model.n_hops)}) if _of(samples).vectors is not None else [0]
        decay: Any = model.weight_decay
        if decay is None:
            decay = DEFAULT_DECAYS if len(samples.where("val")) else DEFAULT_DECAY
        plain = "words and paths" if _of(samples).vectors is None else "without hops"
        return [
            Candidate(
                "SGC" if k else plain,
                SGCRelationClassifier(
                    _of(samples).vectors, n_hops=k, weight_decay=decay, min_count=model.min_count
                ),
                k,
            )
            for k in hops
        ]

    def fit(self, model: Any, samples: Samples, on_stage: OnStage = silent) -> None:
        """Learn from training sentences, choosing on validation ones."""
        sentences, validation = _of(samples).given, samples.where("val")
        train = sentences.subset(samples.where("train"))
        model.fit(
            train,
            validation=sentences.subset(validation) if len(validation) else None,
            on_step=on_stage("tuning"),
        )

    def predict(self, model: Any, samples: Samples) -> ClassPredictions:
        """The relation of every sentence."""
        return ClassPredictions.of(samples.ids, model.predict_proba(_of(samples).given), model.classes_)

    def score(self, truth: Columns, guess: Columns, *, confidence: float = 0.95) -> RelationEvaluation:
        """Official macro-F1 where relations have a direction, micro-F1 elsewhere."""
        return evaluate_relations(truth["label"].tolist(), guess["label"].tolist(), confidence=confidence)

    def save(self, model: Any, samples: Samples, path: Path) -> None:
        """Weights, clues and the vectors of known words."""
        save_relation_model(model, path)

    def load(self, run: Run) -> SGCRelationClassifier:
        """The classifier of a run."""
        return load_relation_model(run.path(MODEL))

    def files(self, samples: Samples, model: Any) -> list[RunFile]:
        """The sentences, to predict and explain again."""
        records = _of(samples).given.records()

        def write(path: Path) -> None:
            with replacing(path) as temporary:
                temporary.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")

        return [RunFile(TASK_DOCUMENT, "the sentences", write)]

    def join(self, run: Run, model: Any, new: NewSentences, on_stage: OnStage = silent) -> Samples:
        """New sentences, or those of the run again; a word without a vector counts as none."""
        sentences = read_sentences(run.path(TASK_DOCUMENT) if new.data is None else new.data)
        if new.vectors is not None:
            on_stage(f"reading {new.vectors.name}")
            model.vectors = joined_vectors(
                model.vectors, read_word_vectors(new.vectors, set(sentences.tokens))
            )
        nothing = np.full(len(sentences), None, dtype=object)
        return _samples(run.folder.name, sentences, nothing, nothing, model.vectors)


def joined_vectors(known: WordVectors | None, more: WordVectors) -> WordVectors:
    """Vectors of both; where both have a word, the first counts."""
    if known is None:
        raise InputError(
            "a run fitted without word vectors takes none", f"{len(more.words):,} vectors", "leave vectors out",
            argument="vectors",
        )  # fmt: skip
    if known.n_dimensions != more.n_dimensions:
        raise InputError(
            f"vectors must have the {known.n_dimensions} dimensions of the fit", f"{more.n_dimensions}",
            "give the file of the fit", argument="vectors",
        )  # fmt: skip
    return WordVectors([*known.words, *more.words], np.concatenate([known.matrix, more.matrix]))


def _of(samples: Samples) -> RelationSamples:
    if not isinstance(samples, RelationSamples):
        raise InputError("samples must be sentences", type(samples).__name__, "read them with the task")
    return samples


def _samples(
    name: str,
    sentences: Sentences,
    y: NDArray[Any],
    split: NDArray[Any],
    vectors: WordVectors | None,
    seed: int = DEFAULT_SEED,
    is_held_out: bool = False,
) -> RelationSamples:
    forest = sentences.forest
    return RelationSamples(
        name,
        forest.graph,
        None,
        y,
        split,
        sentences.ids,
        forest.readout(np.ones(forest.n_tokens, dtype=bool)),
        Relations.unit,
        seed=seed,
        is_held_out=is_held_out,
        sentences=sentences,
        vectors=vectors,
    )
