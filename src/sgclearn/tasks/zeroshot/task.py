"""The task zeroshot: a graph of classes and classifiers of some in, classifiers of all out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError
from sgclearn.runs.documents import write_json
from sgclearn.runs.place import MODEL, TASK_DOCUMENT
from sgclearn.runs.predictions import Predictions
from sgclearn.runs.run import Run, RunFile
from sgclearn.tables.messages import counted
from sgclearn.tasks.protocol import Candidate, OnStage, Samples, Task, silent
from sgclearn.tasks.zeroshot.classifiers import SeenClassifiers, read_classifiers, read_lines
from sgclearn.tasks.zeroshot.metrics import HitScores, hit_scores, image_scores, ranks
from sgclearn.tasks.zeroshot.model import ZeroShotSGC
from sgclearn.tasks.zeroshot.options import Images, LabelledImages, NewImages, ZeroShotData, ZeroShotModel
from sgclearn.tasks.zeroshot.predictions import Lenders, RankedPredictions
from sgclearn.tasks.zeroshot.storage import load_zero_shot, save_zero_shot
from sgclearn.tasks.zeroshot.taxonomy import read_npy, read_taxonomy, read_vectors
from sgclearn.validation.parameters import COUNT

_BLOCK = 2048  # classes whose weights exist together


@dataclass(frozen=True, eq=False)
class ClassSamples(Samples):
    """Every class is a sample; those with a classifier are for training.

    Parameters
    ----------
    names : tuple of str
    classifiers : SeenClassifiers or None
    images : ndarray (m, D) or None
        What to classify by the classes.
    candidates : integer array or None
        Classes that images may be of.
    with_seen : bool
    top : int
    """

    names: tuple[str, ...] = ()
    classifiers: SeenClassifiers | None = None
    images: Any = None
    candidates: Any = None
    with_seen: bool = False
    top: int = 5


class ZeroShot(Task):
    """Classifiers of classes without examples, see `ZeroShotSGC`."""

    name, unit, summary = (
        "zeroshot",
        "class",
        "Classify images of classes without examples, by a graph of classes.",
    )
    next_step = "sgc zeroshot predict {run} --images IMAGES.npy"
    Data, Model, New, Measure = ZeroShotData, ZeroShotModel, NewImages, LabelledImages

    def read(self, data: ZeroShotData, on_stage: OnStage = silent) -> ClassSamples:
        """Classes, their vectors and the classifiers of those that are seen."""
        for argument in ("classes", "weights"):
            if getattr(data, argument) is None:
                raise InputError(f"{argument} must be named", "none", "give a file", argument=argument)
        if (data.vectors is None) == (data.words is None):
            got = "neither" if data.vectors is None else "both"
            raise InputError("give either vectors or words", got, "name one file", argument="vectors")
        table, weights = data.classes or Path(), data.weights or Path()
        on_stage(f"reading {table.name}")
        columns = {
            name: getattr(data, name) for name in ("id_column", "parent_column", "name_column", "delimiter")
        }
        taxonomy = read_taxonomy(table, data.edges, **columns)
        on_stage("reading vectors")
        X = read_vectors(data.vectors or data.words or "", taxonomy, from_words=data.words is not None)
        classifiers = read_classifiers(weights, data.seen)
        seen = taxonomy.graph.positions(classifiers.ids)
        y = np.full(len(taxonomy), None, dtype=object)
        split = y.copy()
        y[seen], split[seen] = classifiers.ids, "train"
        ids = taxonomy.graph.ids
        parts = (table.name, taxonomy.graph, X, y, split, ids)
        return ClassSamples(*parts, unit=self.unit, names=taxonomy.names, classifiers=classifiers)

    def candidates(self, samples: Samples, model: ZeroShotModel) -> Sequence[Candidate]:
        """The model without the graph, and with it."""
        given: dict[str, Any] = {"weight_decay": model.weight_decay, "width": model.width}
        plain, final = (
            ZeroShotSGC(model.solver.value, n_hops=hops, missing="mean", **given)
            for hops in (0, model.n_hops)
        )
        return [Candidate("without the graph", plain, 0), Candidate("SGC", final, model.n_hops)]

    def fit(self, model: Any, samples: Samples, on_stage: OnStage = silent) -> None:
        """Regress the classifiers of the seen classes."""
        if not isinstance(samples, ClassSamples) or samples.classifiers is None:
            raise InputError("samples must have classifiers of seen classes", "none", "give weights=")
        on_stage("solving")
        seen = samples.graph.positions(samples.classifiers.ids)
        model.fit(samples.X, samples.classifiers.matrix, samples.graph, nodes=seen)

    def details(self, samples: Samples, model: Any) -> dict[str, Any]:
        """How far a seen classifier is from its prediction by the others."""
        return {"leave_one_out_error": model.leave_one_out_, "width": model.width_, "seen": len(model.nodes_)}

    def predict(self, model: Any, samples: Samples) -> Predictions:
        """Ranked classes of images; without images, who lends its classifier to each class."""
        if isinstance(samples, ClassSamples) and samples.images is not None:
            return _ranked(model, samples)
        names = samples.names if isinstance(samples, ClassSamples) else samples.ids.tolist()
        lender, weight = _lenders(model, samples)
        seen_ids = samples.graph.ids[model.nodes_]
        return Lenders(samples.ids, np.array(names, dtype=object), seen_ids[lender], weight)

    def save(self, model: Any, samples: Samples, path: Path) -> None:
        """Write the model."""
        save_zero_shot(model, path)

    def load(self, run: Run) -> ZeroShotSGC:
        """The model of a run."""
        return load_zero_shot(run.path(MODEL))

    def files(self, samples: Samples, model: Any) -> list[RunFile]:
        """Names of the classes."""
        if not isinstance(samples, ClassSamples) or samples.classifiers is None:
            return []
        document = {"names": list(samples.names), "n_features": samples.classifiers.n_features}
        return [RunFile(TASK_DOCUMENT, "names of the classes", lambda path: write_json(path, document))]

    def join(self, run: Run, model: Any, new: Images, on_stage: OnStage = silent) -> Samples:
        """The classes of the run, and images to classify by them."""
        graph, X = run.graph(), run.features()
        nothing = np.full(graph.n_nodes, None, dtype=object)
        document = run.document(TASK_DOCUMENT)
        names = tuple(document["names"])
        parts = (run.folder.name, graph, X, nothing, nothing, graph.ids)
        if new.images is None:
            return ClassSamples(*parts, unit=self.unit, names=names)
        on_stage(f"reading {new.images.name}")
        images = _read_images(new.images, int(document["n_features"]))
        if new.candidates is None:
            chosen = np.setdiff1d(np.arange(graph.n_nodes), model.nodes_)
        else:
            chosen = graph.positions(read_lines(new.candidates))
        top = COUNT.check("top", getattr(new, "top", 1))
        given = {"candidates": chosen, "with_seen": new.with_seen, "top": top}
        return ClassSamples(*parts, unit=self.unit, names=names, images=images, **given)

    def measure(self, run: Run, model: Any, given: LabelledImages, on_stage: OnStage = silent) -> HitScores:
        """How often the class of an image is among the first 1, 2, 5 and 10."""
        for argument in ("images", "labels"):
            if getattr(given, argument) is None:
                raise InputError(f"{argument} must be named", "none", "give a file", argument=argument)
        samples = self.join(run, model, given, on_stage)
        labels = read_lines(given.labels or "")
        if not isinstance(samples, ClassSamples) or len(labels) != len(samples.images):
            raise InputError(
                "labels must name the class of each image",
                f"{counted(len(labels), 'label')} for {counted(len(getattr(samples, 'images', ())), 'image')}",
                "give one a line, in the order of the images",
                argument="labels",
            )
        nodes = samples.graph.positions(labels)
        place = {int(node): at for at, node in enumerate(samples.candidates)}
        outside = next(
            (label for label, node in zip(labels, nodes, strict=True) if int(node) not in place), None
        )
        if outside is not None:
            raise InputError(
                "labels must be among the classes that images may be of", repr(outside), "add it to candidates",
                argument="candidates",
            )  # fmt: skip
        true = np.array([place[int(node)] for node in nodes])
        scores = image_scores(samples.images, _classifiers(model, samples))
        competitors = image_scores(samples.images, model.targets_) if samples.with_seen else None
        return hit_scores(ranks(scores, true, competitors), true)


def _read_images(path: Path, n_features: int) -> NDArray[np.float64]:
    images = read_npy(path)
    if images.ndim != 2 or images.dtype.kind not in "fiu" or images.shape[1] != n_features:
        raise InputError(
            f"images must be a table with the {n_features:,} features of the classifiers",
            f"{images.dtype} of shape {images.shape}",
            "give features of the network that the classifiers belong to",
            argument="images",
        )
    images = images.astype(np.float64)
    blank = np.flatnonzero(~(np.isfinite(images).all(axis=1) & images.any(axis=1)))
    if len(blank):
        raise InputError(
            "images must have finite features that are not all zero",
            f"{len(blank):,} others, the first in row {blank[0]}",
            "leave them out",
            argument="images",
        )
    return images


def _classifiers(model: ZeroShotSGC, samples: ClassSamples) -> NDArray[np.float64]:
    return model.predict(samples.X, samples.graph, nodes=samples.candidates)


def _ranked(model: ZeroShotSGC, samples: ClassSamples) -> RankedPredictions:
    scores, ids = (
        image_scores(samples.images, _classifiers(model, samples)),
        samples.graph.ids[samples.candidates],
    )
    if samples.with_seen:
        scores = np.hstack([scores, image_scores(samples.images, model.targets_)])
        ids = np.concatenate([ids, samples.graph.ids[model.nodes_]])
    first = np.argsort(-scores, axis=1, kind="stable")[:, : samples.top]
    numbers = np.arange(len(scores))
    return RankedPredictions(numbers, ids[first], np.take_along_axis(scores, first, axis=1))


def _lenders(model: ZeroShotSGC, samples: Samples) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """For each class the seen class that weighs most, and its weight, a block of classes at a time."""
    n = samples.graph.n_nodes
    lender, weight = np.empty(n, dtype=np.intp), np.empty(n)
    for first in range(0, n, _BLOCK):
        nodes = np.arange(first, min(first + _BLOCK, n))
        weights = model.weights(samples.X, samples.graph, nodes=nodes)
        lender[nodes] = weights.argmax(axis=1)
        weight[nodes] = weights.max(axis=1)
    return lender, weight
