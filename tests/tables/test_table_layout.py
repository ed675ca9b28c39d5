from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from sgclearn.errors import DataFileError, InputError
from sgclearn.tables import open_table, read_table

WORDS = frozenset({"source", "target", "id"})


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


@pytest.mark.parametrize("mark", [",", "\t", ";", "|", " ", "   ", " \t"])
def test_delimiter_is_found(write: Callable[..., Path], mark: str) -> None:
    path = write(f"source{mark}target\na{mark}b\nb{mark}c\n")
    table = read_table(path, header_words=WORDS)
    assert table.to_pydict() == {"source": ["a", "b"], "target": ["b", "c"]}


def test_delimiter_prefers_the_mark_that_is_no_decimal_comma(write: Callable[..., Path]) -> None:
    path = write("source;target;w\na;b;1,5\nb;c;2,5\n")
    assert open_table(path, header_words=WORDS).names == ("source", "target", "w")


@pytest.mark.parametrize(("name", "mark"), [("tab", "\t"), ("\\t", "\t"), ("whitespace", " "), (";", ";")])
def test_delimiter_can_be_named(write: Callable[..., Path], name: str, mark: str) -> None:
    path = write(f"a,b{mark}c,d\n1{mark}2\n")
    assert read_table(path, delimiter=name).column_names == ["a,b", "c,d"]


@pytest.mark.parametrize("delimiter", ["", "ab", "\n", '"'])
def test_delimiter_of_more_than_one_character_is_refused(write: Callable[..., Path], delimiter: str) -> None:
    path = write("a,b\n1,2\n")
    with pytest.raises(InputError, match="one character"):
        read_table(path, delimiter=delimiter)


def test_whitespace_at_the_ends_of_lines_does_not_count(write: Callable[..., Path]) -> None:
    path = write("  1 2 \r\n\t3    4\t\r\n\r\n 5 6")
    assert read_table(path).to_pydict() == {"column_0": [1, 3, 5], "column_1": [2, 4, 6]}


def test_header_is_told_by_a_known_word_in_any_case(write: Callable[..., Path]) -> None:
    path = write("Source,other\na,b\n")
    assert read_table(path, header_words=WORDS).column_names == ["Source", "other"]


def test_header_is_told_by_text_above_numbers(write: Callable[..., Path]) -> None:
    path = write("who,age\nann,31\nbob,\ncas,1e2\n")
    assert read_table(path).to_pydict() == {"who": ["ann", "bob", "cas"], "age": [31.0, None, 100.0]}


def test_header_is_told_by_an_unnamed_index_column(write: Callable[..., Path]) -> None:
    path = write(",0,1\nann,0.5,2\nbob,1,3\n")
    assert open_table(path).names == ("column_0", "0", "1")


def test_header_is_absent_above_numbers_only(write: Callable[..., Path]) -> None:
    path = write("1,2\n2,3\n")
    assert read_table(path).to_pydict() == {"column_0": [1, 2], "column_1": [2, 3]}


def test_header_is_absent_where_the_first_line_has_a_number(write: Callable[..., Path]) -> None:
    path = write("a,b,0.5\nb,c,0.7\n")
    assert read_table(path).num_rows == 2


def test_header_is_absent_where_the_first_cells_are_known_ids(write: Callable[..., Path]) -> None:
    path = write("a,b\nb,c\n")
    assert read_table(path, is_id={"a", "b", "c"}.__contains__).num_rows == 2


def test_header_that_cannot_be_told_is_asked_for(write: Callable[..., Path]) -> None:
    path = write("a,b\nb,c\n")
    with pytest.raises(DataFileError, match="header=True or header=False") as caught:
        read_table(path, is_id={"x"}.__contains__)
    assert_one_sentence(str(caught.value))
    assert read_table(path, header=True).to_pydict() == {"a": ["b"], "b": ["c"]}
    assert read_table(path, header=False).num_rows == 2


def test_header_with_a_name_twice_is_refused(write: Callable[..., Path]) -> None:
    with pytest.raises(DataFileError, match="2 columns named 'x'"):
        read_table(write("x,x\n1,2\n"))


def test_header_without_rows_gives_an_empty_table(write: Callable[..., Path]) -> None:
    table = read_table(write("source,target\n"), header_words=WORDS, text_columns=["source"])
    assert table.num_rows == 0
    assert table.column_names == ["source", "target"]


def test_comments_and_byte_order_mark_on_top_are_skipped(write: Callable[..., Path]) -> None:
    path = write(b"\xef\xbb\xbf# a comment, with a comma\n% another\n\n1,2\n3,4\n")
    assert read_table(path).num_rows == 2


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_packed_file_is_unpacked(write: Callable[..., Path], suffix: str, pack: object) -> None:
    path = write(pack(b"1\t2\n3\t4\n"), "edges.tsv" + suffix)  # type: ignore[operator]
    assert read_table(path).num_rows == 2


def test_packed_file_that_is_cut_is_refused(write: Callable[..., Path]) -> None:
    path = write(gzip.compress(b"1,2\n" * 1000)[:-12], "edges.csv.gz")
    with pytest.raises(DataFileError, match=r"must be a whole \.gz file: got one that could not be read"):
        read_table(path)


def test_long_rows_are_looked_at_whole(write: Callable[..., Path]) -> None:
    width = 120_000
    row = ",".join(["1.25"] * width)
    path = write(",".join(f"x{i}" for i in range(width)) + f"\n{row}\n{row}\n{row}\n{row}\n{row}\n")
    file = open_table(path)
    assert len(file.names) == width
    assert file.read(["x5"]).to_pydict() == {"x5": [1.25] * 5}
