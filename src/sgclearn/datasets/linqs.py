"""Reader of Cora as LINQS published it: text files of papers with their words, and of who cites whom."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sgclearn.datasets.dataset import LabelledGraph
from sgclearn.errors import DataFileError
from sgclearn.graph import Graph
from sgclearn.validation.reading import reading

_PAPER = "an id, 0 or 1 for each word and a class"
_CITATION = "two ids"
_ID = re.compile(r"[0-9]{1,18}")  # what an int64 can hold


def read_linqs(content: Path, cites: Path) -> LabelledGraph:
    """Read graph, features and labels.

    Parameters
    ----------
    content : Path
        A line a paper: its id, an integer; 0 or 1 for each word; the name of its class.
    cites : Path
        A line a citation: the id of the cited paper, then that of the citing one.

    Notes
    -----
    Nodes are in the order of `content`, classes in that of the alphabet. An edge counts once, also where two
    papers cite each other.
    """
    papers, citations = _fields(content, _PAPER), _fields(cites, _CITATION)
    n_words = len(papers[0]) - 2
    for row, paper in enumerate(papers):
        fits = len(paper) == n_words + 2 > 2 and _ID.fullmatch(paper[0])
        if not fits or not {"0", "1"}.issuperset(paper[1:-1]):
            raise _damaged(content, _PAPER, row, paper)
    for row, pair in enumerate(citations):
        if len(pair) != 2 or not all(map(_ID.fullmatch, pair)):
            raise _damaged(cites, _CITATION, row, pair)
    expected = f"a file with citations of the papers in {content.name}, each there once"
    with reading(cites, expected, "get both again", by_hand=False):
        ids = [int(paper[0]) for paper in papers]
        graph = Graph.from_edges(np.array(citations, dtype=np.int64), nodes=ids)
    words = "".join("".join(paper[1:-1]) for paper in papers).encode()
    X = np.frombuffer(words, dtype=np.uint8).reshape(len(papers), n_words) - ord("0")
    names, y = np.unique([paper[-1] for paper in papers], return_inverse=True)
    features = sp.csr_array(X, dtype=np.float64)
    return LabelledGraph(graph, features, y.astype(np.int64), tuple(names.tolist()), None, None)


def _fields(path: Path, expected: str) -> list[list[str]]:
    """What each line has between its blanks."""
    try:
        lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    except UnicodeDecodeError as error:
        raise DataFileError(
            f"{path} must have {expected} in every line", "other bytes than ASCII", "get it again"
        ) from error
    if not lines:
        raise DataFileError(f"{path} must have {expected} in every line", "an empty file", "get it again")
    return lines


def _damaged(path: Path, expected: str, row: int, fields: list[str]) -> DataFileError:
    start = " ".join(fields)[:40]
    return DataFileError(
        f"{path} must have {expected} in every line, as many as in the first",
        f"{len(fields)} in line {row + 1}, which begins with {start!r}",
        "get it again",
    )
