"""The five corpora of the paper's text experiments, from a local folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sgclearn.datasets.loading import DATA_VARIABLE
from sgclearn.errors import DataFileError, InputError, Setting
from sgclearn.tables.archives import load_arrays
from sgclearn.tables.contents import content
from sgclearn.tables.messages import counted
from sgclearn.validation.reading import reading

CORPORA = {"20ng": "20ng", "r8": "R8", "r52": "R52", "ohsumed": "ohsumed", "mr": "mr"}
"""Names of `load_corpus`, and what their files are called."""

_LABELS = ("y", "is_train", "label_names")


@dataclass(frozen=True, eq=False, repr=False)
class TextCorpus:
    """Documents with their classes and the split that everybody uses.

    Parameters
    ----------
    name : str
    docs : tuple of str
        One text a document.
    y : integer array, shape (D,)
        Class of each, a position in `class_names`.
    class_names : tuple of str
    train, test : integer arrays
        Positions of the documents of each part, ascending; every document is in one of them.
    """

    name: str
    docs: tuple[str, ...]
    y: NDArray[np.int64]
    class_names: tuple[str, ...]
    train: NDArray[np.intp]
    test: NDArray[np.intp]

    def __repr__(self) -> str:
        return (
            f"TextCorpus({self.name!r}: {counted(len(self.docs), 'document')}, "
            f"{counted(len(self.class_names), 'class', 'classes')}; "
            f"train {len(self.train):,}, test {len(self.test):,})"
        )

    def train_labels(self) -> NDArray[np.int64]:
        """Labels of the training documents and -1 for the rest, shape (D,): all that a fit may see."""
        labels = np.full_like(self.y, -1)
        labels[self.train] = self.y[self.train]
        return labels


def load_corpus(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, cleaned: bool = True
) -> TextCorpus:
    """Load one of the corpora of TextGCN: 20ng, r8, r52, ohsumed or mr.

    Parameters
    ----------
    name : {"20ng", "r8", "r52", "ohsumed", "mr"}
    data_dir : path, optional
        Folder with the files; the folder named by the environment variable SGCLEARN_DATA if not given.
    cleaned : bool, default True
        The cleaned text, whose words are separated by spaces: `TextGraphBuilder(analyzer="whitespace")` reads
        it word for word. False gives the raw text; `TextGraphBuilder(analyzer="textgcn", stop_words="textgcn",
        min_count=5)`, for mr without the last two, finds the same words in it.

    Returns
    -------
    TextCorpus

    Examples
    --------
    >>> load_corpus("reuters")
    Traceback (most recent call last):
    ...
    sgclearn.errors.InputError: name must be one of 20ng, r8, r52, ohsumed, mr: got 'reuters'.
    """
    spelled = CORPORA.get(name.lower()) if isinstance(name, str) else None
    if spelled is None:
        raise InputError(f"name must be one of {', '.join(CORPORA)}", repr(name), argument="name")
    texts, labels = _files(spelled, data_dir, f"{spelled}.clean.txt.xz" if cleaned else f"{spelled}.txt.xz")
    # Documents hold other line separators too, so only a newline ends one; it may also end the file.
    docs = bytes(content(texts)).decode("latin-1").removesuffix("\n").split("\n")
    with reading(labels, "a file with y, is_train and label_names", "get the files again"):
        arrays = load_arrays(labels, _LABELS)
        if set(arrays) != set(_LABELS) or not arrays["y"].shape == arrays["is_train"].shape == (len(docs),):
            raise DataFileError(
                f"{labels} must hold y and is_train for each of the {counted(len(docs), 'document')} of "
                f"{texts.name}, and label_names",
                "something else",
                "get the files again",
            )
        y, train = arrays["y"].astype(np.int64), arrays["is_train"].astype(bool)
        names = tuple(map(str, arrays["label_names"].ravel().tolist()))
        if not -1 <= y.min() <= y.max() < len(names):
            raise ValueError(f"classes from {y.min()} to {y.max()} with {len(names)} names")
    return TextCorpus(name.lower(), tuple(docs), y, names, np.flatnonzero(train), np.flatnonzero(~train))


def _files(spelled: str, data_dir: str | os.PathLike[str] | None, texts: str) -> list[Path]:
    folder = os.environ.get(DATA_VARIABLE, "") if data_dir is None else data_dir
    if not str(folder):
        raise DataFileError(
            f"the corpus {spelled} needs a folder with its files",
            "none",
            ("pass ", Setting("data_dir"), f" or set {DATA_VARIABLE}"),
        )
    found = []
    for file in (texts, f"{spelled}.labels.npz"):
        places = [Path(folder, *parts, file) for parts in (("text", spelled), (spelled,), ())]
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            raise DataFileError(
                f"the corpus {spelled} needs the file {file}",
                f"{folder} without it",
                ("put it there, or name another folder with ", Setting("data_dir"), f" or {DATA_VARIABLE}"),
            )
        found.append(path)
    return found
