"""Options of zero-shot classification."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sgclearn.tasks.options import FILES, MODEL, READING, RESULT, option


class Method(StrEnum):
    """How classifiers are regressed on vectors."""

    ridge, kernel = "ridge", "kernel"


@dataclass(frozen=True)
class ZeroShotData:
    """A graph of classes, a vector for each, and classifiers of some."""

    classes: Path | None = option("Table of classes: id, parent, and a name if there is one.", FILES)
    edges: Path | None = option("Table of pairs of classes, instead of parents or next to them.", FILES)
    vectors: Path | None = option("A vector for each class: npz with vector and ids, or npy.", FILES)
    words: Path | None = option(
        "Word vectors as GloVe writes them, averaged over the words of the names; instead of --vectors.",
        FILES,
    )
    weights: Path | None = option(
        "Linear classifier of the seen classes: npz with weight, bias and ids, or safetensors.", FILES
    )
    seen: Path | None = option(
        "Text with the id of one seen class a line, where --weights has no ids.", FILES
    )
    id_column: str | None = option("Column of the ids; id, class or wnid, else the first.", READING)
    parent_column: str | None = option("Column of the parents; parent.", READING)
    name_column: str | None = option("Column of the names; name.", READING)
    delimiter: str | None = option(
        "Of text tables: one character, tab or whitespace; found in the file.", READING
    )


@dataclass(frozen=True)
class ZeroShotModel:
    """How classifiers are predicted; what is not given is chosen by leaving seen classes out."""

    solver: Method = option(
        "kernel listens to the seen classes nearest by (default); ridge is linear.",
        MODEL,
        default=Method.kernel,
    )
    n_hops: int = option("Hops K; 6 if not given.", MODEL, default=6)
    weight_decay: float | None = option("Strength of the regularisation; chosen if not given.", MODEL)
    width: float | None = option("Of the kernel; chosen if not given.", MODEL)


@dataclass(frozen=True)
class Images:
    """Features of images, and the classes that they may be of."""

    images: Path | None = option(
        "Features of images, npy (m, D); the classes of the run if not given.", FILES
    )
    candidates: Path | None = option(
        "Text with the id of one class a line that images may be of; every class that is not seen if not given.",
        FILES,
    )
    with_seen: bool = option("Let the seen classes compete, by their own classifiers.", MODEL, default=False)


@dataclass(frozen=True)
class NewImages(Images):
    """Images to classify."""

    top: int = option("Classes to name for each image, the likeliest first; 5.", RESULT, default=5)


@dataclass(frozen=True)
class LabelledImages(Images):
    """Images whose classes are known."""

    labels: Path | None = option("Text with the id of the class of one image a line.", FILES)
