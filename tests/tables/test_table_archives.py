"""Arrays of npz files: only those asked for, and none of an absurd size."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sgclearn.errors import DataFileError
from sgclearn.tables.archives import load_arrays, load_matrix, open_archive
from sgclearn.tables.messages import counted


def npy(shape: str, descr: str = "<f8", payload: bytes = b"", version: int = 1) -> bytes:
    """An array as its header tells it, with whatever payload."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(2, "little") + header + payload


def archive(folder: Path, **members: bytes) -> Path:
    path = folder / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, content in members.items():
            stream.writestr(name.replace("__", "."), content)
    return path


def test_arrays_are_read_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.arange(3), y=np.eye(2, order="F")[::-1], s=np.array("text"), other=np.ones(9))
    with open_archive(path) as archive:
        assert archive.names == ("x", "y", "s", "other")
    arrays = load_arrays(path, ("x", "y", "s", "none"))
    assert set(arrays) == {"x", "y", "s"}
    np.testing.assert_array_equal(arrays["y"], [[0, 1], [1, 0]])
    assert str(arrays["s"]) == "text"


def test_arrays_not_asked_for_stay_packed(tmp_path: Path) -> None:
    path = archive(tmp_path, x__npy=npy("(1,)", payload=bytes(8)), bomb__npy=npy("(10**15,)"))
    assert load_arrays(path, ["x"])["x"].tolist() == [0.0]
    with pytest.raises(DataFileError, match="whole npz"):
        load_arrays(path, ["bomb"])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"x__npy": npy("(1000000000000,)")}, "'x' is not of the size that its header gives"),
        ({"x__npy": npy("(2,)", "|O", bytes(16))}, "object arrays need pickle"),
        ({"x__npy": npy("(1,)", payload=bytes(8), version=3)}, "structured"),
        ({"x__npy": b"no array"}, "magic string"),
        ({"x": npy("(1,)", payload=bytes(8))}, "holds 'x', which is no array"),
        (
            {
                "indices__npy": npy("(1,)", payload=bytes(8)),
                "weights__npy": npy("(2,)", payload=bytes(16)),
            },
            "'indices' and 'weights' have",
        ),
    ],
)
def test_arrays_whose_headers_lie_are_refused(
    tmp_path: Path, members: dict[str, bytes], message: str
) -> None:
    with pytest.raises(DataFileError, match=message):
        load_arrays(archive(tmp_path, **members), ["x", "indices", "weights"])


def test_arrays_larger_than_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros(100_000))
    monkeypatch.setenv("SGCLEARN_MEMORY_LIMIT", "500KB")
    with pytest.raises(DataFileError, match=r"must unpack to at most 500.0 KB.*got 800.0 KB or more"):
        load_arrays(path, ["x"])
    monkeypatch.delenv("SGCLEARN_MEMORY_LIMIT")
    assert load_arrays(path, ["x"])["x"].size == 100_000


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_matrix_of_every_format_is_read(tmp_path: Path, form: str) -> None:
    matrix = sp.random_array((6, 6), density=0.4, rng=np.random.default_rng(29), format=form)
    sp.save_npz(tmp_path / "m.npz", matrix)
    np.testing.assert_array_equal(load_matrix(tmp_path / "m.npz").toarray(), matrix.toarray())


def test_matrix_with_absurdly_many_rows_is_refused(tmp_path: Path) -> None:
    matrix = sp.coo_array(([1.0], ([0], [1])), shape=(10**9, 10**9))
    sp.save_npz(tmp_path / "m.npz", matrix)
    with pytest.raises(DataFileError, match="got 1 in 1,000,000,000 rows; save it as csr"):
        load_matrix(tmp_path / "m.npz")


def test_counted_things_agree_with_their_number() -> None:
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
