"""Files from outside: regular ones, within a budget, every fault an input error."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sgclearn import read_edges, read_features
from sgclearn.errors import DataFileError, InputError, InputTypeError, MemoryLimitError, ModelFileError
from sgclearn.tables.contents import content
from sgclearn.validation.reading import (
    FREE_BYTES,
    MOST_RATIO,
    as_path,
    reading,
    regular_file,
    text_budget,
    unpacked_budget,
)

PACKERS: dict[str, Any] = {".gz": gzip, ".bz2": bz2, ".xz": lzma}


def test_regular_file_refuses_what_is_none(tmp_path: Path) -> None:
    fifo, server = tmp_path / "fifo", socket.socket(socket.AF_UNIX)
    os.mkfifo(fifo)
    server.bind(str(tmp_path / "socket"))
    try:
        for path, kind in (
            (tmp_path, "a folder; name a file inside it"),
            (fifo, "a pipe; save it as a file first"),
            (tmp_path / "socket", "a socket"),
            (Path("/dev/null"), "a device"),
            (tmp_path / "absent", "nothing there; check the path"),
            (tmp_path / "absent" / "below", "nothing there"),
        ):
            with pytest.raises(DataFileError, match=f"must be an existing file: got {kind}"):
                regular_file(path)
    finally:
        server.close()
    with pytest.raises(ModelFileError, match="must be readable: got"):
        regular_file("a\0b", "model file", ModelFileError)
    with pytest.raises(InputTypeError, match="path must be the name of a file: got 3; give a text or a Path"):
        as_path(3)


def test_reading_turns_every_fault_into_an_input_error() -> None:
    for fault in (
        KeyError("x"),
        RecursionError("deep"),
        IndexError(),
        UnicodeDecodeError("utf-8", b"", 0, 1, "bad"),
    ):
        message = r"f must be a thing: got one that could not be read \(.+\); mend it"
        with pytest.raises(DataFileError, match=message), reading("f", "a thing", "mend it"):
            raise fault
    with pytest.raises(DataFileError, match="f must fit into memory"), reading("f", "a thing"):
        raise MemoryError
    message = r"could not be read \(X must be 1: got 2\); again"
    with pytest.raises(DataFileError, match=message), reading("f", "a thing", "again", by_hand=False):
        raise InputError("X must be 1", "2", "take 1")
    with pytest.raises(DataFileError, match="f: X must be 1: got 2; take 1"), reading("f", "a thing"):
        raise InputTypeError("X must be 1", "2", "take 1")
    with pytest.raises(ModelFileError, match=r"^as it is$"), reading("f", "a thing"):
        raise ModelFileError("as it is")
    with pytest.raises(MemoryLimitError, match=r"^as it is$"), reading("f", "a thing"):
        raise MemoryLimitError("as it is")
    with pytest.raises(KeyboardInterrupt), reading("f", "a thing"):
        raise KeyboardInterrupt


def test_budget_grows_with_the_file_and_ends_at_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unpacked_budget(10) == FREE_BYTES
    assert unpacked_budget(100_000) == MOST_RATIO * 100_000
    assert text_budget(10) == FREE_BYTES
    assert text_budget(100_000) == 64 * 2**20
    assert text_budget(1_000_000) == 200 * 1_000_000
    monkeypatch.setenv("SGCLEARN_MEMORY_LIMIT", "1MB")
    assert unpacked_budget(100_000) == 1_000_000


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_file_is_unpacked_stream_after_stream(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"edges.csv{suffix}"
    packer = PACKERS[suffix]
    path.write_bytes(packer.compress(b"source,target\n0,1\n") + packer.compress(b"1,2\n") + b"\0" * 4)
    assert content(path) == b"source,target\n0,1\n1,2\n"
    assert read_edges(path).n_edges == 2


@pytest.mark.parametrize("suffix", [".bz2", ".xz"])
def test_packed_file_of_a_few_bytes_may_not_fill_the_memory(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"edges.csv{suffix}"
    path.write_bytes(PACKERS[suffix].compress(b"0,1\n" * (FREE_BYTES // 2)))
    assert path.stat().st_size < 4_000
    with pytest.raises(DataFileError, match=r"must unpack to at most 4\.2 MB, by its size"):
        read_edges(path)


def test_parquet_of_a_few_bytes_may_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "features.parquet"
    column = pa.array(["x" * 1000] * 100_000)
    pq.write_table(
        pa.table({"id": np.zeros(100_000, dtype=np.int64), "text": column}), path, compression="zstd"
    )
    assert path.stat().st_size < 20_000
    with pytest.raises(DataFileError, match="must unpack to at most"):
        read_features(path)


def test_line_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_bytes(b"0," * (9 * 2**20))
    with pytest.raises(DataFileError, match=r"must have lines of at most 16,777,216 bytes: got 18,874,368"):
        read_edges(path)


def test_table_that_is_too_wide_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "features.csv"
    path.write_text(",".join(map(str, range(200_001))) + "\n")
    with pytest.raises(DataFileError, match="must have at most 200,000 columns: got 200,001"):
        read_features(path)


def test_sparse_file_with_columns_that_nothing_fills_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "features.svm"
    path.write_text("1 5000000:1\n")
    with pytest.raises(DataFileError, match="must have entries in more of its columns: got 1 in 5,000,000"):
        read_features(path)
