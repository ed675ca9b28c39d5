from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import DataFileError, InputError
from sgclearn.tables import id_array, open_table, read_table
from sgclearn.tables.columns import id_column


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def assert_one_sentence(message: str) -> None:
    assert message.endswith(".")
    assert ". " not in message
    assert "\n" not in message


def test_text_columns_keep_their_spelling(write: Callable[..., Path]) -> None:
    path = write("id,x\n007,007\nNA, 8\n null ,\n")
    assert read_table(path, text_columns=["id"]).to_pydict() == {
        "id": ["007", "NA", "null"],
        "x": [7, 8, None],
    }
    assert read_table(path, text_columns=[0]).schema.field("id").type == pa.string()


def test_text_column_that_is_not_there_is_refused(write: Callable[..., Path]) -> None:
    path = write("id,x\n1,2\n")
    for column in ("nope", 2, -1):
        with pytest.raises(DataFileError, match="its columns are 'id', 'x'"):
            read_table(path, text_columns=[column])  # type: ignore[list-item]


def test_missing_cells_are_nulls_in_every_type(write: Callable[..., Path]) -> None:
    path = write("n,t,b\n1,u,true\nNA,N/A,false\n,,\n")
    assert read_table(path, header=True).to_pydict() == {
        "n": [1, None, None],
        "t": ["u", None, None],
        "b": [True, False, None],
    }


def test_quoted_cells_may_hold_delimiters_and_lines(write: Callable[..., Path]) -> None:
    path = write('id,text\n1,"a, b"\n2,"c\nd"\n3,e\n')
    assert read_table(path)["text"].to_pylist() == ["a, b", "c\nd", "e"]


def test_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    for name in ("none.csv", "none.csv.gz", "none.parquet"):
        with pytest.raises(DataFileError, match="existing file") as caught:
            read_table(tmp_path / name)
        assert_one_sentence(str(caught.value))
        assert name in str(caught.value)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="got a folder"):
        read_table(tmp_path)


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n", b"\xef\xbb\xbf"])
def test_empty_file_is_refused(write: Callable[..., Path], content: str | bytes) -> None:
    with pytest.raises(DataFileError, match="empty file") as caught:
        read_table(write(content))
    assert_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0,\0",
        "é,b\n1,2\n".encode("latin-1"),
        "a,b\n1,2\n".encode("utf-16"),
        b"id,x\n" + b"a,2\n" * 400_000 + b"\xff,3\n",
        b"id,x\n" + b"a,2\n" * 400_000 + b"a\0,3\n",
    ],
)
def test_binary_file_is_refused(write: Callable[..., Path], content: bytes) -> None:
    with pytest.raises(DataFileError, match="UTF-8") as caught:
        read_table(write(content))
    assert_one_sentence(str(caught.value))


def test_binary_cell_in_a_text_column_is_refused(write: Callable[..., Path]) -> None:
    path = write(b"id,x\n" + b"a,2\n" * 400_000 + b"\xff,3\n")
    with pytest.raises(DataFileError, match="UTF-8"):
        read_table(path, text_columns=["id"])


@pytest.mark.parametrize(
    ("content", "line", "got"),
    [
        ("# note\n\nid,x\n1,2\n\n3,4,5\n6,7\n", 6, 3),
        ('id,x\n1,"2\n2"\n3\n4,5\n', 4, 1),
        ("1 2\n3 4\n5 6 7\n", 3, 3),
    ],
)
def test_ragged_row_is_named_by_its_line(
    write: Callable[..., Path], content: str, line: int, got: int
) -> None:
    with pytest.raises(DataFileError, match=f"2 columns in every line: got {got} in line {line} ") as caught:
        read_table(write(content))
    assert_one_sentence(str(caught.value))
    assert "delimiter=" in str(caught.value)


def test_single_column_points_to_the_delimiter(write: Callable[..., Path]) -> None:
    with pytest.raises(DataFileError, match="delimiter="):
        read_table(write("1\n2\n3\n"))
    with pytest.raises(DataFileError, match="delimiter ','"):
        read_table(write("a;b\n1;2\n"), delimiter=",")


def test_open_quote_is_refused(write: Callable[..., Path]) -> None:
    with pytest.raises(DataFileError, match="opens in line 2 and goes on") as caught:
        read_table(write('a,b\n1,"2\n' + "3,4\n" * 60_000), header=True)
    assert_one_sentence(str(caught.value))


def test_quotes_inside_cells_do_not_count(write: Callable[..., Path]) -> None:
    table = read_table(write('size,name\n1,5" nail\n2,bolt\n'))
    assert table["name"].to_pylist() == ['5" nail', "bolt"]


def test_cell_longer_than_a_block_is_read(write: Callable[..., Path]) -> None:
    table = read_table(write("id,text\n1,a\n2,b\n3," + "c" * 9_000_000 + "\n4,d\n"), header=True)
    assert [len(text) for text in table["text"].to_pylist()] == [1, 1, 9_000_000, 1]


def test_parquet_keeps_its_types_and_casts_text_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": [1, 2], "x": [0.5, None]}), path)
    assert read_table(path).to_pydict() == {"id": [1, 2], "x": [0.5, None]}
    assert read_table(path, text_columns=["id"])["id"].to_pylist() == ["1", "2"]
    assert not open_table(path).is_text
    assert open_table(path).line(4) == "row 5"


@pytest.mark.parametrize("content", [b"PAR1 and nothing more", b"no parquet", b""])
def test_corrupt_parquet_is_refused(write: Callable[..., Path], content: bytes) -> None:
    with pytest.raises(DataFileError, match="whole Parquet file") as caught:
        read_table(write(content, "t.parquet"))
    assert_one_sentence(str(caught.value))


def test_corrupt_parquet_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": list(range(20_000)), "x": [0.5] * 20_000}), path, compression="zstd")
    data = bytearray(path.read_bytes())
    data[4:2_000] = b"\x07" * 1_996
    path.write_bytes(bytes(data))
    with pytest.raises(DataFileError, match="whole Parquet file"):
        read_table(path)


def test_line_names_the_line_of_a_row(write: Callable[..., Path]) -> None:
    file = open_table(write("# c\nid,x\n1,2\n\n3,4\n"))
    assert [file.line(0), file.line(1)] == ["line 3", "line 5"]
    with pytest.raises(InputError, match="got 2"):
        file.line(2)


def test_unreadable_file_is_refused(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("1,2\n")

    def refuse(*_: object, **__: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataFileError, match="Permission denied"):
        read_table(path)


def test_id_array_keeps_other_types() -> None:
    assert id_array(pa.chunked_array([["a", None]])).tolist() == ["a", None]
    assert id_array(pa.chunked_array([pa.array([3, 4], pa.int16())])).dtype == np.int64
    assert id_array(pa.chunked_array([pa.array(["x", "y"]).dictionary_encode()])).tolist() == ["x", "y"]
    assert id_array(pa.chunked_array([["+7"], ["8"]])).tolist() == ["+7", "8"]
    assert id_array(pa.chunked_array([["-0", "8"]])).tolist() == ["-0", "8"]
    assert id_column(pa.chunked_array([[0.5]])).type == pa.float64()


@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1).map(str), st.text(max_size=4)), min_size=1))
def test_id_array_gives_back_every_spelling(texts: list[str]) -> None:
    ids = id_array(pa.chunked_array([pa.array(texts, pa.string())]))
    assert [str(value) for value in ids.tolist()] == texts


@given(st.lists(st.tuples(st.integers(-99, 99), st.sampled_from(["u", "v w", 'say "x"', "a,b"])), min_size=1))
def test_read_table_gives_back_what_csv_writes(rows: list[tuple[int, str]]) -> None:
    import csv
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        with path.open("w", newline="") as stream:
            csv.writer(stream).writerows([("n", "t"), *rows])
        assert [tuple(row.values()) for row in read_table(path, header=True).to_pylist()] == rows
