"""Word vectors: formats, spelling, averages over names, and files that are wrong."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from sgclearn.errors import DataFileError, InputError, InputTypeError
from sgclearn.features.word_vectors import WordVectors, read_word_vectors

GLOVE = "the 0.5 -1 2\nsea 1 0 0\nsea-snake 0 0 3\nsnake 0 1 0\n"


def write(folder: Path, text: str, name: str = "glove.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_text_file_gives_words_in_order(tmp_path: Path) -> None:
    vectors = read_word_vectors(write(tmp_path, GLOVE))
    assert list(vectors.words) == ["the", "sea", "sea-snake", "snake"]
    np.testing.assert_array_equal(vectors.matrix[0], np.array([0.5, -1, 2], dtype=np.float32))
    assert (vectors.n_dimensions, vectors.matrix.dtype) == (3, np.float32)


def test_text_file_may_be_packed_and_have_a_word2vec_header(tmp_path: Path) -> None:
    packed = tmp_path / "vectors.txt.gz"
    packed.write_bytes(gzip.compress(f"4 3\n{GLOVE}".encode()))
    plain = read_word_vectors(write(tmp_path, GLOVE))
    vectors = read_word_vectors(packed)
    assert list(vectors.words) == list(plain.words)
    np.testing.assert_array_equal(vectors.matrix, plain.matrix)


def test_only_wanted_words_are_kept_in_either_case(tmp_path: Path) -> None:
    vectors = read_word_vectors(write(tmp_path, GLOVE), words=["SNAKE", "The", "boat"])
    assert list(vectors.words) == ["the", "snake"]
    assert read_word_vectors(write(tmp_path, GLOVE), words=["boat"]).matrix.shape == (0, 3)


def test_lookup_prefers_the_spelling_as_given(tmp_path: Path) -> None:
    vectors = read_word_vectors(write(tmp_path, "us 1\nUS 2\n"))
    assert vectors.positions(["US", "us", "Us", "them"]).tolist() == [1, 0, 0, -1]


def test_word_with_spaces_takes_the_last_numbers(tmp_path: Path) -> None:
    vectors = read_word_vectors(write(tmp_path, "a 1 2\n. . . 3 4\n"))
    assert list(vectors.words) == ["a", ". . ."]
    np.testing.assert_array_equal(vectors.matrix[1], [3, 4])


def test_first_of_two_equal_words_counts(tmp_path: Path) -> None:
    vectors = read_word_vectors(write(tmp_path, "a 1\nb 2\na 3\n"))
    assert list(vectors.words) == ["a", "b"]
    assert WordVectors(["a", "a"], np.array([[1.0], [2.0]], dtype=np.float32)).positions(["a"]).tolist() == [
        0
    ]


def test_averages_take_the_whole_name_first(tmp_path: Path) -> None:
    means, n_known = read_word_vectors(write(tmp_path, GLOVE)).averages(
        ["Sea snake", "snake_sea the", "the boat", "boat", ""]
    )
    np.testing.assert_allclose(means[0], [0, 0, 3])
    np.testing.assert_allclose(means[1], np.array([1.5, 0, 2]) / 3)
    np.testing.assert_allclose(means[2], [0.5, -1, 2])
    assert not means[3:].any()
    assert n_known.tolist() == [1, 3, 1, 0, 0]


def test_npz_takes_words_from_an_array_or_the_file_next_to_it(tmp_path: Path) -> None:
    matrix = np.array([[1, 2], [3, 4]], dtype=np.float16)
    np.savez(tmp_path / "inside.npz", vector=matrix, words=np.array(["x", "y"]))
    np.savez(tmp_path / "beside.npz", vector=matrix)
    (tmp_path / "beside.words.txt.gz").write_bytes(gzip.compress(b"x\ny\n"))
    for name in ("inside.npz", "beside.npz"):
        vectors = read_word_vectors(tmp_path / name, words=["Y"])
        assert list(vectors.words) == ["y"]
        np.testing.assert_array_equal(vectors.matrix, [[3, 4]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must hold word vectors: got an empty file"),
        ("a 1 2\nb 1\n", "must have a word and then 2 numbers in every line: got 1 in line 2"),
        ("word\n", "must have a word and then numbers in every line: got 0 in line 1"),
        ("a 1 2\nb 1 x\n", "got '1 x' in line 2"),
        ("a 1\nb nan\n", "must hold finite numbers: got nan or inf in the vector of word 2"),
    ],
)
def test_bad_text_file_is_an_error_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        read_word_vectors(write(tmp_path, text))


def test_bad_npz_is_an_error(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", other=np.zeros(3))
    np.savez(tmp_path / "b.npz", vector=np.zeros((2, 2)))
    np.savez(tmp_path / "c.npz", vector=np.zeros((2, 2)), words=np.array(["x"]))
    np.savez(tmp_path / "d.npz", vector=np.zeros(2), words=np.array(["x", "y"]))
    expected = [
        "an array called vector",
        "its words",
        "one row a word: got 2 rows and 1 words",
        "table of numbers",
    ]
    for name, message in zip("abcd", expected, strict=True):
        with pytest.raises(DataFileError, match=message):
            read_word_vectors(tmp_path / f"{name}.npz")


def test_one_word_as_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="collection of texts: got 'sea'"):
        read_word_vectors(write(tmp_path, GLOVE), words="sea")


def test_matrix_has_one_row_a_word() -> None:
    with pytest.raises(InputError, match="one row a word"):
        WordVectors(["a"], np.zeros((2, 3), dtype=np.float32))


def test_real_vectors_have_the_published_values(data_dir: Path) -> None:
    vectors = read_word_vectors(data_dir / "glove" / "glove6B_100d_subset.npz", words=["the", "Sea", "snake"])
    assert vectors.matrix.shape == (3, 100)
    row = vectors.matrix[vectors.positions(["the"])[0]]
    np.testing.assert_allclose(row[:5], [-0.038194, -0.24487, 0.72812, -0.39961, 0.083172], atol=1e-3)
