"""Readers open every file once, and take its digest from the same reading."""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from sgclearn import Graph, read_edges, read_features, read_labels
from sgclearn.features.word_vectors import read_word_vectors
from sgclearn.validation.reading import recording

_counts: list[Counter[str]] = []


def _count(event: str, arguments: tuple[object, ...]) -> None:
    if _counts and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        _counts[-1][os.path.abspath(os.fsdecode(arguments[0]))] += 1


sys.addaudithook(_count)  # it stays for as long as the process, and does nothing outside of the block below


@contextmanager
def counted_opens() -> Iterator[Counter[str]]:
    """Count how often every file is opened from Python in the block."""
    _counts.append(Counter())
    try:
        yield _counts[-1]
    finally:
        _counts.pop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Edges, features, labels and vectors in every format that has a reader."""
    texts = {
        "edges": "source,target\na,b\nb,c\n",
        "features": "id,x,y\na,1,2\nb,3,4\nc,5,6\n",
        "labels": "id,label,split\na,p,train\nb,q,train\nc,p,test\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
        table = pyarrow.csv.read_csv(tmp_path / f"{name}.csv")
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    A = sp.coo_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3)).tocsr()
    sp.save_npz(tmp_path / "edges.npz", A)
    sp.save_npz(tmp_path / "features.npz", A)
    np.savez(tmp_path / "pairs.npz", edges=np.array([[0, 1], [1, 2]]))
    Graph.from_scipy(A).save_npz(tmp_path / "graph.npz")
    np.savez(tmp_path / "vectors.npz", vector=np.ones((2, 3), np.float32), words=np.array(["a", "b"]))
    (tmp_path / "edges.graphml").write_text(
        '<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"/></graph></graphml>'
    )
    (tmp_path / "features.svm").write_text("0 1:2 2:3\n0 2:1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("read", "name"),
    [
        *((read_edges, f"edges.{suffix}") for suffix in ("csv", "parquet", "npz", "graphml")),
        *((read_edges, name) for name in ("pairs.npz", "graph.npz")),
        *((read_features, f"features.{suffix}") for suffix in ("csv", "parquet", "npz", "svm")),
        *((read_labels, f"labels.{suffix}") for suffix in ("csv", "parquet")),
        (Graph.load_npz, "graph.npz"),
        (read_word_vectors, "vectors.npz"),
    ],
)
def test_reader_opens_its_file_once(folder: Path, read: object, name: str) -> None:
    path = folder / name
    with counted_opens() as opens, recording() as digests:
        read(path)  # type: ignore[operator]
    assert opens[str(path)] == 1
    assert digests == {str(path): hashlib.sha256(path.read_bytes()).hexdigest()}
