"""Planetoid files: tiny ones written here, byte for byte like Python 2 did, and the real ones."""

from __future__ import annotations

import io
import os
import pickle
import struct
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn.datasets import load_dataset
from sgclearn.datasets.inert_pickle import StoredMatrix, read_pickle
from sgclearn.datasets.planetoid import read_planetoid
from sgclearn.datasets.registry import PLANETOID_PARTS
from sgclearn.errors import DataFileError

N_ALL, N_TRAIN = 506, 4  # the public split takes 500 for validation


class csr_matrix:  # noqa: N801
    """Pickles under the module path that scipy had at the time."""

    def __init__(self, dense: np.ndarray) -> None:
        matrix = sp.csr_array(dense)
        self.data, self.indices, self.indptr = matrix.data, matrix.indices, matrix.indptr
        self._shape = matrix.shape


class Python2Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """Writes bytes as the strings of Python 2, which Python 3 does in a roundabout way."""

    dispatch: ClassVar[dict[Any, Any]] = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def save_bytes(self, value: bytes) -> None:
        self.write(pickle.BINSTRING + len(value).to_bytes(4, "little") + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes


def dump(thing: object, path: Path) -> None:
    stream = io.BytesIO()
    Python2Pickler(stream, protocol=2).dump(thing)
    content = stream.getvalue()
    for now, then in (
        (f"c{csr_matrix.__module__}\ncsr_matrix", "cscipy.sparse.csr\ncsr_matrix"),
        ("cnumpy._core.multiarray\n", "cnumpy.core.multiarray\n"),
    ):
        content = content.replace(now.encode(), then.encode())
    path.write_bytes(content)


def content(**changes: Any) -> dict[str, Any]:
    rng = np.random.default_rng(23)
    one_hot = np.eye(3, dtype=np.int32)
    parts: dict[str, Any] = {
        "allx": csr_matrix(rng.integers(0, 2, (N_ALL, 5)).astype(np.float32)),
        "tx": csr_matrix(np.array([[0, 0, 9, 0, 0], [8, 0, 0, 0, 0]], dtype=np.float32)),
        "y": one_hot[np.arange(N_TRAIN) % 3],
        "ally": one_hot[np.arange(N_ALL) % 3],
        "ty": one_hot[[2, 1]],
        "graph": {0: [1, 1, 508], 1: [0, 0], 2: [2, 506], 508: [0], 506: [2], 507: []},
        "test.index": f"{N_ALL + 2}\n{N_ALL}\n",
    }
    return {**parts, **changes}


def write(folder: Path, parts: dict[str, Any]) -> dict[str, Path]:
    files = {part: folder / f"ind.tiny.{part}" for part in PLANETOID_PARTS}
    for part, path in files.items():
        if isinstance(parts[part], str):
            path.write_text(parts[part])
        else:
            dump(parts[part], path)
    return files


def test_planetoid_places_test_rows_at_their_index(tmp_path: Path) -> None:
    read = read_planetoid(write(tmp_path, content()))
    assert read.X.shape == (N_ALL + 3, 5)
    assert read.X[[N_ALL + 2]].toarray().tolist() == [[0, 0, 9, 0, 0]]
    assert read.X[[N_ALL]].toarray().tolist() == [[8, 0, 0, 0, 0]]
    assert read.y[-3:].tolist() == [1, -1, 2]
    assert read.X[[N_ALL + 1]].nnz == 0
    assert read.public is not None
    assert [(part[0], part[-1], len(part)) for part in read.public] == [
        (0, 3, 4),
        (4, 503, 500),
        (506, 508, 2),
    ]
    assert read.class_names == ("class 0", "class 1", "class 2")


def test_planetoid_counts_repeated_edges_once_and_keeps_loops(tmp_path: Path) -> None:
    graph = read_planetoid(write(tmp_path, content())).graph
    assert (graph.n_nodes, graph.n_edges, graph.n_self_loops) == (N_ALL + 3, 4, 1)
    assert graph.is_weighted is False
    assert graph.indices[graph.indptr[0] : graph.indptr[1]].tolist() == [1, 508]


class Malice:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.target}",)

    def __init__(self, target: Path) -> None:
        self.target = target


def test_unpickler_refuses_a_malicious_file_and_names_the_global(tmp_path: Path) -> None:
    path = tmp_path / "ind.cora.allx"
    path.write_bytes(pickle.dumps(Malice(tmp_path / "owned"), protocol=2))
    with pytest.raises(DataFileError, match=r"ind\.cora\.allx.*got (posix|nt)\.system; do not trust"):
        read_pickle(path)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "program",
    [
        b"cbuiltins\neval\n.",
        b"cnumpy\nload\n.",
        b"cnumpy\nndarray.dumps\n.",
        b"c__builtin__\ngetattr\n.",
        b"cscipy.sparse.csr\nnp\n.",
    ],
)
def test_unpickler_admits_no_other_global(tmp_path: Path, program: bytes) -> None:
    (tmp_path / "file").write_bytes(program)
    with pytest.raises(DataFileError, match="must need numpy arrays only: got "):
        read_pickle(tmp_path / "file")


@pytest.mark.parametrize("keep", [0, 3, 40, 300, -1])
def test_unpickler_says_that_a_file_is_truncated(tmp_path: Path, keep: int) -> None:
    path = write(tmp_path, content())["ally"]
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataFileError, match=r"ind\.tiny\.ally must be an original Planetoid file"):
        read_pickle(path)


def broken_matrix() -> csr_matrix:
    matrix = csr_matrix(np.eye(2, 5, dtype=np.float32))
    matrix.indices = matrix.indices + 100
    return matrix


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"tx": broken_matrix()},
            "ind.tiny.tx must be .*the matrix must be a sparse matrix whose parts fit together",
        ),
        ({"allx": [1, 2]}, "ind.tiny.allx must be .* matrix"),
        ({"ally": [1, 2]}, "ind.tiny.ally must have one row of 0 and 1 for each node: got list"),
        ({"ty": np.zeros(3)}, r"ind.tiny.ty must have one row .* got ndarray of shape \(3,\)"),
        ({"ty": np.zeros((3, 3))}, "must fit together: got 506, 506, 2, 3 and 2 rows"),
        ({"test.index": "506\n506\n"}, "must fit together"),
        ({"test.index": "3\n506\n"}, "must fit together"),
        ({"test.index": "506\n99999999999\n"}, "must fit together"),
        (
            {"test.index": "506\nx\n"},
            r"ind.tiny.test.index must be a file of one integer a line: got .*\(invalid",
        ),
        (
            {"test.index": ""},
            r"ind.tiny.test.index must be a file of one integer a line: got .*\(it is empty",
        ),
        ({"graph": {0: [10**6]}}, "ind.tiny.graph must be a file with the neighbours of 509 nodes"),
        ({"graph": {0: ["x"]}}, "ind.tiny.graph must be a file with the neighbours"),
        ({"graph": [1]}, "ind.tiny.graph must be a file with the neighbours"),
    ],
)
def test_planetoid_refuses_files_that_do_not_fit(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataFileError, match=message):
        read_planetoid(write(tmp_path, content(**changes)))


@pytest.mark.parametrize(
    ("name", "loops", "unlabelled"), [("cora", 0, 0), ("citeseer", 124, 15), ("pubmed", 3, 0)]
)
def test_planetoid_files_agree_with_the_converted_ones(
    data_dir: Path, name: str, loops: int, unlabelled: int
) -> None:
    data = load_dataset(name, data_dir=data_dir)
    with np.load(data_dir / "planetoid" / f"{name}.npz", allow_pickle=False) as expected:
        parts = (expected["x_data"], expected["x_indices"].astype(np.int32), expected["x_indptr"])
        X = sp.csr_array(parts, shape=tuple(expected["x_shape"]))
        assert (X.astype(np.float64) != data.X).nnz == 0
        assert data.X.nnz == X.nnz
        assert np.array_equal(data.y, expected["y"])
        upper = sp.triu(data.graph.to_scipy()).tocoo()
        edges = np.stack([upper.row, upper.col], axis=1)
        assert np.array_equal(edges[np.lexsort(edges.T[::-1])], expected["edges"])
        for part in ("train", "val", "test"):
            assert np.array_equal(getattr(data, part), expected[f"idx_{part}"])
    assert data.graph.n_self_loops == loops
    assert int((data.y < 0).sum()) == unlabelled
    assert data.X[data.y < 0].nnz == 0


def test_cora_class_names_are_in_the_order_of_the_labels(data_dir: Path) -> None:
    with np.load(data_dir / "planetoid" / "cora_linqs_ids.npz", allow_pickle=False) as expected:
        assert load_dataset("cora", data_dir=data_dir).class_names == tuple(expected["class_names"])


def _text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


FORGED = b"\x80\x03cnumpy\nndarray\n(K\x01\x85" + _text("O") + b"C\x08" + b"\x10" * 8 + b"tR."
OBJECTS = (
    b"\x80\x03cnumpy.core.multiarray\n_reconstruct\n)R(K\x01K\x01\x85cnumpy\ndtype\n"
    + _text("O8") + b"\x85R\x89]Natb."
)  # fmt: skip
POLLUTED = b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n(N}" + _text("evil") + _text("yes") + b"stb."
FUNCTION = b"\x80\x02cnumpy\ndtype\n(N}" + _text("_result") + _text("yes") + b"stb."
TOO_LARGE = (
    b"\x80\x03cnumpy.core.multiarray\n_reconstruct\n)R(K\x01\x8a\x06" + (10**11).to_bytes(6, "little")
    + b"\x85cnumpy\ndtype\n" + _text("u1") + b"\x85R\x89C\x01atb."
)  # fmt: skip


@pytest.mark.parametrize("program", [FORGED, OBJECTS, POLLUTED, FUNCTION, TOO_LARGE])
def test_pickle_cannot_forge_arrays_or_change_the_reader(tmp_path: Path, program: bytes) -> None:
    path = tmp_path / "forged"
    path.write_bytes(program)
    with pytest.raises(DataFileError, match="could not be read"):
        read_pickle(path)
    assert not hasattr(StoredMatrix, "evil")
