"""Sparse matrices whose parts do not fit together once crashed the process, or were answered with invented numbers."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fuzz.odd import features, graph, labels
from fuzz.workers import isolated
from sgclearn import (
    Compute,
    Features,
    Graph,
    SGCClassifier,
    SGCClassifierCV,
    SGCTransformer,
    propagate,
    read_edges,
    read_features,
)

Break = Callable[[Any], None]


def _set(part: str, at: int, value: int) -> Break:
    def change(matrix: Any) -> None:
        array = getattr(matrix, part).copy()
        array[at] = value
        setattr(matrix, part, array)

    return change


def _cut(part: str) -> Break:
    def change(matrix: Any) -> None:
        setattr(matrix, part, getattr(matrix, part)[:-1])

    return change


BREAKS: dict[str, Break] = {
    "indptr-falls": _set("indptr", 2, 1),
    "indptr-ends-late": _set("indptr", -1, 1000),
    "indptr-ends-early": _set("indptr", -1, 2),
    "indptr-starts-late": _set("indptr", 0, 1),
    "indptr-negative": _set("indptr", 1, -5),
    "indptr-short": _cut("indptr"),
    "index-negative": _set("indices", 1, -1),
    "index-far-negative": _set("indices", 1, -(2**31)),
    "index-too-large": _set("indices", 1, 10**6),
    "index-one-too-large": _set("indices", 1, 6),
    "indices-short": _cut("indices"),
    "data-short": _cut("data"),
}


def _square(kind: str = "csr") -> Any:
    return sparse.coo_array(graph().to_scipy().toarray()).asformat(kind)


def _save(folder: Path, matrix: Any) -> Path:
    path = folder / "matrix.npz"
    np.savez(
        path,
        format=np.array(matrix.format.encode()),
        shape=np.array(matrix.shape),
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
    )
    return path


def _save_parts(folder: Path, matrix: Any) -> Path:
    path = folder / "parts.npz"
    np.savez(
        path,
        x_data=matrix.data,
        x_indices=matrix.indices,
        x_indptr=matrix.indptr,
        x_shape=np.array(matrix.shape),
    )
    return path


ENTRIES: dict[str, Callable[[Any, Path], Any]] = {
    "propagate": lambda X, folder: propagate(X, graph()),
    "propagate-scipy-engine": lambda X, folder: propagate(X, graph(), compute=Compute(engine="scipy")),
    "propagate-row-norm": lambda X, folder: propagate(X, graph(), row_norm="l1"),
    "fit": lambda X, folder: SGCClassifier().fit(X, labels(), graph=graph()),
    "fit-cv": lambda X, folder: SGCClassifierCV(cv=2).fit(X, labels(), graph=graph()),
    "predict": lambda X, folder: (
        SGCClassifier().fit(features(6), labels(), graph=graph()).predict(X, graph=graph())
    ),
    "transform": lambda X, folder: (
        SGCTransformer().fit(features(6), graph=graph()).transform(X, graph=graph())
    ),
    "Features": lambda X, folder: Features.from_matrix(X),
    "from_scipy": lambda X, folder: Graph.from_scipy(X),
    "read_features": lambda X, folder: read_features(_save(folder, X)),
    "read_features-parts": lambda X, folder: read_features(_save_parts(folder, X)),
    "read_edges": lambda X, folder: read_edges(_save(folder, X)),
}


@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("entry", ENTRIES)
def test_malformed_csr_is_refused_at_every_entry(entry: str, broken: str) -> None:
    matrix = _square()
    BREAKS[broken](matrix)
    outcome = isolated(lambda folder: ENTRIES[entry](matrix, folder), strict=True)
    assert outcome.status == "refused", outcome


@pytest.mark.parametrize("broken", ["indptr-falls", "indptr-ends-late", "index-negative", "index-too-large"])
@pytest.mark.parametrize(
    "entry", ["propagate", "fit", "Features", "from_scipy", "read_features", "read_edges"]
)
def test_malformed_csc_is_refused_at_every_entry(entry: str, broken: str) -> None:
    matrix = _square("csc")
    BREAKS[broken](matrix)
    outcome = isolated(lambda folder: ENTRIES[entry](matrix, folder), strict=True)
    assert outcome.status == "refused", outcome


@pytest.mark.parametrize("value", [-1, 6, 10**6, -(2**31)])
@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("entry", ["propagate", "fit", "Features", "from_scipy"])
def test_malformed_coo_is_refused_at_every_entry(entry: str, part: int, value: int) -> None:
    matrix = _square("coo")
    parts = [array.copy() for array in matrix.coords]
    parts[part][2] = value
    matrix.coords = tuple(parts)
    outcome = isolated(lambda folder: ENTRIES[entry](matrix, folder), strict=True)
    assert outcome.status == "refused", outcome


@pytest.mark.parametrize(("part", "value"), [("row", -1), ("row", 6), ("col", -3), ("col", 10**6)])
@pytest.mark.parametrize("read", [read_edges, read_features])
def test_malformed_coo_in_a_file_is_refused(read: Callable[[Path], Any], part: str, value: int) -> None:
    matrix = _square("coo")
    arrays = {"row": matrix.coords[0].copy(), "col": matrix.coords[1].copy()}
    arrays[part][2] = value

    def call(folder: Path) -> Any:
        stream = io.BytesIO()
        np.savez(stream, format=np.array(b"coo"), shape=np.array(matrix.shape), data=matrix.data, **arrays)
        (folder / "matrix.npz").write_bytes(stream.getvalue())
        return read(folder / "matrix.npz")

    outcome = isolated(call, strict=True)
    assert outcome.status == "refused", outcome
