"""`sgc text fit`: from a table of texts, some of them labelled, to a model and a class for every document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from sgclearn.cli.options import ForceFlag, JsonFlag, with_options
from sgclearn.cli.output import Screen, counted
from sgclearn.cli.text_options import Recipe, TextGraphOptions, TextReading, read_texts, text_option
from sgclearn.errors import InputError
from sgclearn.tasks.options import FILES, MODEL, READING, RESULT, SPLIT, ClassWeight, chosen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sgclearn.evaluate import Evaluation
    from sgclearn.runs.place import Place
    from sgclearn.runs.run import RunFile
    from sgclearn.tasks.text import Documents, TextSGCClassifier

COMMAND = "fit"
DEFAULT_SEED = 2019
UNTUNED_DECAY = 1e-3  # where no class has two labels to tune on
WORDS_SHOWN = 8
MOST_CLASSES = 20  # whose words are shown


@with_options
def command(
    *,
    data: Annotated[
        Path,
        text_option("Documents: CSV, TSV, Parquet, JSON lines, or a folder with a file each.", FILES),
    ],
    label_column: Annotated[
        str | None, text_option("Column of the classes; an empty cell is a document without.", READING)
    ] = None,
    split_column: Annotated[str | None, text_option("Column of train, val and test.", READING)] = None,
    reading: TextReading,
    graph: TextGraphOptions,
    n_hops: Annotated[
        int, text_option("Hops: 1 is the words of a document, 2 also what they lead to; 2.", MODEL)
    ] = 2,
    weight_decay: Annotated[
        float | None,
        text_option(
            "Strength of the regularisation; if not given it is tuned, on the val documents where there are "
            "any, else in folds.",
            MODEL,
        ),
    ] = None,
    recipe: Annotated[
        Recipe, text_option("exact finds the optimum (default); paper follows the paper.", MODEL)
    ] = Recipe.exact,
    class_weight: Annotated[
        ClassWeight, text_option("balanced: every class counts the same, however many labels.", MODEL)
    ] = ClassWeight.none,
    memory_limit: Annotated[
        str | None, text_option("Such as 3GB; what would need more is refused before it starts.", MODEL)
    ] = None,
    held_out: Annotated[
        float | None,
        text_option(
            "Share of each class whose labels are held back to measure the accuracy, where there is no "
            "split; 0.2 if not given, 0 for none.",
            SPLIT,
        ),
    ] = None,
    seed: Annotated[
        int | None, text_option("Seed of splits, folds and the paper's start; 2019.", SPLIT)
    ] = None,
    out: Annotated[
        Path | None, text_option("Folder for the results; sgc-run, sgc-run-2, ... if not given.", RESULT)
    ] = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    r"""Fit a model to labelled documents and classify all of them.

    Documents without a label help as well, and get a class. Where there is no split, some labels are held back
    and the accuracy on them is reported; the model that is written never saw them.

    \b
    Examples:
      sgc text fit --data docs.csv --text-column body --label-column topic
      sgc text fit --data docs.jsonl --stop-words english --min-df 2 --out run
    """
    from sgclearn.propagation import Compute
    from sgclearn.runs.run import Run
    from sgclearn.tasks.text import TextSGCClassifier

    screen = Screen(as_json)
    with Run.create(out, force=force) as place, screen.progress() as stages:
        folder = place.folder
        builder, seed = graph.builder(), DEFAULT_SEED if seed is None else seed
        stages.stage(f"reading {data.name}")
        documents = read_texts(data, reading, label_column=label_column, split_column=split_column)
        labelled = LabelledTexts.of(documents, data, held_out, seed)
        screen.field("Data", f"{data.name}: {counted(len(documents), 'document')}")
        screen.field("Labels", labelled.sizes)
        decay = weight_decay if weight_decay is not None else labelled.untuned_decay()
        model = TextSGCClassifier(
            builder,
            n_hops=n_hops,
            weight_decay=decay,
            recipe=recipe.value,
            class_weight=chosen(class_weight),
            random_state=seed,
            compute=Compute(memory_limit=memory_limit),
        )
        start = perf_counter()
        validation = labelled.where("val") if decay is None and "val" in labelled.names else None
        model.fit(documents.texts, labelled.known, validation=validation, on_stage=stages.stage)
        seconds = perf_counter() - start
        evaluation = labelled.evaluate(model)
        settings: dict[str, Any] = {"data": data.name, **asdict(reading), **builder.settings}
        settings |= {"label_column": label_column, "split_column": split_column}
        settings |= {"held_out": held_out, "seed": seed}
        metrics = _metrics(model, labelled, evaluation)
        stages.stage(f"writing {folder}")
        files = _write(place, model, labelled, metrics, settings)
    _show(screen, model, labelled, evaluation, seconds)
    screen.table(("written to " + str(folder), ""), _written(files), left=2)
    screen.line(f"\nnext: sgc text predict {folder} --data NEW.csv")
    screen.document(
        {**metrics, "folder": folder, "files": {name: folder / name for name, _ in _written(files)}}
    )


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Documents, their labels and the split of these: "train", "val", "test", None without a label."""

    documents: Documents
    y: NDArray[Any]
    split: NDArray[Any]
    is_held_out: bool

    @classmethod
    def of(cls, documents: Documents, path: Path, held_out: float | None, seed: int) -> LabelledTexts:
        """Split the labels, or take the split that they come with."""
        from sgclearn.runs.splits import DEFAULT_HELD_OUT, hold_out

        if documents.labels is None:
            raise InputError(
                f"{path} must have labels to learn from",
                f"{counted(len(documents), 'document')} without any",
                "name their column with --label-column",
            )
        if documents.splits is None:
            share = DEFAULT_HELD_OUT if held_out is None else held_out
            return cls(documents, documents.labels, hold_out(documents.labels, share, seed), True)
        if held_out is not None:
            raise InputError(
                "--held-out goes with labels without a split",
                f"it with {path}, which has one",
                "leave it out",
            )
        if not (documents.splits == "train").any():
            raise InputError(f"{path} must have labels to train on", "a split without train", "add some")
        return cls(documents, documents.labels, documents.splits, False)

    def where(self, split: str) -> NDArray[np.intp]:
        """Positions of the documents of a split."""
        import numpy as np

        return np.flatnonzero(self.split == split)

    @property
    def names(self) -> list[str]:
        """Splits that have documents."""
        return [split for split in ("train", "val", "test") if (self.split == split).any()]

    @property
    def known(self) -> NDArray[Any]:
        """Labels that a fit may see: none of the test documents."""
        hidden = self.y.copy()
        hidden[self.where("test")] = -1 if hidden.dtype.kind == "i" else None
        return hidden

    @property
    def sizes(self) -> str:
        """How many labels each split has, in words."""
        held = [f"{len(self.where(split)):,} {split}" for split in self.names]
        left = len(self.y) - sum(len(self.where(split)) for split in self.names)
        held += [f"{left:,} without a label"] if left else []
        shown = self.is_held_out and len(self.where("test"))
        return ", ".join(held) + (" (test labels are held back here)" if shown else "")

    def untuned_decay(self) -> float | None:
        """A weight decay where there is nothing to tune it on, with a warning; else None."""
        import warnings

        from sgclearn.errors import SgclearnWarning

        train = self.y[self.where("train")].tolist()
        if "val" in self.names or len(set(train)) < len(train):
            return None
        warnings.warn(
            f"no class has two labels to tune the weight decay on: {UNTUNED_DECAY:g} is used; give --weight-decay.",
            SgclearnWarning,
            stacklevel=2,
        )
        return UNTUNED_DECAY

    def evaluate(self, model: TextSGCClassifier) -> Evaluation | None:
        """Compare the classes of the test documents with their labels, where there are any."""
        from sgclearn.evaluate import evaluate_predictions

        test = self.where("test")
        return evaluate_predictions(self.y[test], model.transduction_[test]) if len(test) else None


def _metrics(
    model: TextSGCClassifier, labelled: LabelledTexts, evaluation: Evaluation | None
) -> dict[str, Any]:
    text_graph = model.text_graph_
    tuned = hasattr(model, "best_score_")
    return {
        "data": {
            "documents": text_graph.n_documents,
            "words": text_graph.n_words,
            "edges": text_graph.graph.n_edges,
            "classes": len(model.classes_),
            **{split: len(labelled.where(split)) for split in ("train", "val", "test")},
        },
        "n_hops": model.n_hops_,
        "recipe": model.recipe,
        "weight_decay": model.weight_decay_,
        "weight_decay_tuned": tuned,
        "validation_accuracy": model.best_score_ if tuned else None,
        "memory": model.memory_,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "evaluation": None if evaluation is None else evaluation.to_dict(),
        "top_words": {str(label): [word for word, _ in words] for label, words in model.top_words().items()},
    }


def _write(
    place: Place,
    model: TextSGCClassifier,
    labelled: LabelledTexts,
    metrics: dict[str, Any],
    settings: dict[str, Any],
) -> list[RunFile]:
    """Write the run; gives its files."""
    import numpy as np

    from sgclearn.runs.csv_files import write_csv
    from sgclearn.runs.documents import write_json
    from sgclearn.runs.place import GRAPH, LABELS, METRICS, MODEL, PREDICTIONS
    from sgclearn.runs.predictions import ClassPredictions
    from sgclearn.runs.run import Run, RunFile
    from sgclearn.tasks.text import save_text_model

    ids, known = labelled.documents.ids, np.flatnonzero(labelled.split != None)  # noqa: E711
    predictions = ClassPredictions(ids, model.transduction_, model.predict_proba(), model.classes_)
    columns = {"id": ids[known], "label": labelled.y[known], "split": labelled.split[known]}
    files = [
        RunFile(MODEL, "the model, with its words", lambda path: save_text_model(model, path)),
        RunFile(PREDICTIONS, "every document: id, label, probability of each class", predictions.write),
        RunFile(
            METRICS,
            "accuracy, the figures and the words of every class",
            lambda path: write_json(path, metrics),
        ),
        RunFile(GRAPH, "the graph, to explain predictions with", model.text_graph_.graph.save_npz),
        RunFile(LABELS, "labels and split as they were used", lambda path: write_csv(path, columns)),
    ]
    Run.write(place, "text", files, settings)
    return files


def _written(files: list[RunFile]) -> list[tuple[str, str]]:
    return [*((file.name, file.meaning) for file in files), ("run.json", "settings and versions")]


def _show(
    screen: Screen,
    model: TextSGCClassifier,
    labelled: LabelledTexts,
    evaluation: Evaluation | None,
    seconds: float,
) -> None:
    text_graph = model.text_graph_
    words, edges = counted(text_graph.n_words, "word"), counted(text_graph.graph.n_edges, "edge")
    screen.field("Graph", f"{words}, {edges}, {counted(len(model.classes_), 'class')}")
    header = ["model", "weight decay", "validation" if "val" in labelled.names else "folds"]
    score = getattr(model, "best_score_", None)
    row = [f"SGC, {counted(model.n_hops_, 'hop')}", f"{model.weight_decay_:.3g}"]
    row.append("-" if score is None else f"{score:.3f}")
    if evaluation is not None:
        header += ["test accuracy", "macro-F1"]
        row += [str(evaluation.accuracy), f"{evaluation.macro_f1.value:.3f}"]
    screen.table([*header, "time"], [[*row, f"{seconds:.2f} s"]], title="Accuracy")
    rows = [
        (str(label), " ".join(word for word, _ in model.top_words(label, WORDS_SHOWN)))
        for label in model.classes_.tolist()[:MOST_CLASSES]
    ]
    screen.table(("class", "words that speak most for it"), rows, left=2)
