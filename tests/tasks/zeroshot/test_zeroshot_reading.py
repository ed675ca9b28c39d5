"""Classes, vectors and classifiers from files; what is refused, and with which words."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import save_file

from sgclearn.errors import DataFileError, InputError, SgclearnWarning
from sgclearn.features.word_vectors import WordVectors
from sgclearn.tasks.zeroshot.classifiers import read_classifiers
from sgclearn.tasks.zeroshot.taxonomy import name_vectors, read_taxonomy, read_vectors

ANIMALS = "id,parent,name\nn1,,animal\nn2,n1,cat\nn3,n1,sea dog\n"


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_taxonomy_joins_children_and_parents(write):
    taxonomy = read_taxonomy(write("c.csv", ANIMALS))
    assert taxonomy.names == ("animal", "cat", "sea dog")
    assert taxonomy.graph.ids.tolist() == ["n1", "n2", "n3"]
    np.testing.assert_array_equal(taxonomy.graph.to_scipy().toarray(), [[0, 1, 1], [1, 0, 0], [1, 0, 0]])


def test_taxonomy_takes_edges_next_to_parents_or_instead(write):
    edges = write("e.csv", "source,target\nn2,n3\n")
    assert read_taxonomy(write("c.csv", ANIMALS), edges).graph.n_edges == 3
    alone = read_taxonomy(write("d.csv", "id,name\nn2,cat\nn3,dog\n"), edges)
    assert (len(alone), alone.graph.n_edges) == (2, 1)


def test_taxonomy_says_that_there_is_a_cycle(write):
    path = write("c.csv", "id,parent\na,b\nb,c\nc,a\nd,a\nroot,\nleaf,root\n")
    with pytest.warns(
        SgclearnWarning, match="4 classes in or below a cycle of parents, such as that of '[abc]'"
    ):
        taxonomy = read_taxonomy(path)
    assert taxonomy.graph.n_edges == 5


def test_taxonomy_of_a_long_chain_has_no_cycle(write):
    rows = ["0,"] + [f"{i},{i - 1}" for i in range(1, 1000)]
    assert read_taxonomy(write("c.csv", "id,parent\n" + "\n".join(rows) + "\n")).graph.n_edges == 999


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,parent\na,\na,\n", "an id for every class, each once: got 'a' in line 2 and line 3"),
        ("id,parent\na,\n,a\n", "each once: got none in line 3"),
        ("id,parent\na,\nb,x\n", "classes in its column 'parent': got 'x' in line 3"),
        ("id,name\na,x\nb,y\n", "a column of parents: got id, name"),
    ],
)
def test_bad_taxonomies_are_refused(write, text, message):
    with pytest.raises(DataFileError, match=message):
        read_taxonomy(write("c.csv", text))


def test_names_are_averaged_over_their_known_words():
    words = WordVectors(["sea", "dog"], np.array([[1, 0], [0, 1]], dtype=np.float32))
    vectors, known = name_vectors(["sea_dog, Sea", "unheard of", "hot-dog"], words)
    np.testing.assert_allclose(vectors, [[2 / 3, 1 / 3], [0, 0], [0, 1]])
    assert known.tolist() == [True, False, True]


def test_vectors_come_from_words_or_by_id(write, tmp_path):
    taxonomy = read_taxonomy(write("c.csv", ANIMALS))
    glove = write("glove.txt", "cat 1 0\ndog 0 1\nsea 0 3\n")
    np.testing.assert_allclose(read_vectors(glove, taxonomy, from_words=True), [[0, 0], [1, 0], [0, 2]])
    np.savez(tmp_path / "v.npz", vector=np.eye(2), ids=np.array(["n3", "n1"]))
    np.testing.assert_allclose(read_vectors(tmp_path / "v.npz", taxonomy), [[0, 1], [0, 0], [1, 0]])
    np.save(tmp_path / "v.npy", np.arange(6).reshape(3, 2))
    np.testing.assert_allclose(read_vectors(tmp_path / "v.npy", taxonomy), [[0, 1], [2, 3], [4, 5]])


def test_bad_vectors_are_refused(write, tmp_path):
    taxonomy = read_taxonomy(write("c.csv", ANIMALS))
    np.save(tmp_path / "v.npy", np.eye(2))
    with pytest.raises(DataFileError, match="one row a class, or an array ids: got 2 rows for 3 classes"):
        read_vectors(tmp_path / "v.npy", taxonomy)
    np.save(tmp_path / "w.npy", np.full((3, 2), np.nan))
    with pytest.raises(DataFileError, match="finite numbers"):
        read_vectors(tmp_path / "w.npy", taxonomy)
    with pytest.raises(InputError, match="names of classes must have words with a vector"):
        read_vectors(write("glove.txt", "xyz 1 2\n"), taxonomy, from_words=True)


def test_classifiers_are_read_from_npz_and_safetensors(write, tmp_path):
    W, b = np.arange(6.0).reshape(2, 3), np.array([7.0, 8.0])
    np.savez(tmp_path / "fc.npz", weight=W, bias=b, ids=np.array(["n2", "n3"]))
    save_file(
        {"fc.weight": W.astype(np.float32), "fc.bias": b.astype(np.float32)}, tmp_path / "fc.safetensors"
    )
    ids = write("seen.txt", "n2\nn3\n")
    for layer in (read_classifiers(tmp_path / "fc.npz"), read_classifiers(tmp_path / "fc.safetensors", ids)):
        assert layer.ids.tolist() == ["n2", "n3"]
        np.testing.assert_array_equal(layer.matrix, np.column_stack([W, b]))
        assert (layer.has_bias, layer.n_features) == (True, 3)


def test_classifiers_without_a_bias_are_taken_with_a_warning(tmp_path):
    np.savez(tmp_path / "fc.npz", weight=np.eye(2), ids=np.array(["a", "b"]))
    with pytest.warns(SgclearnWarning, match=r"fc\.npz has no bias"):
        layer = read_classifiers(tmp_path / "fc.npz")
    assert (layer.has_bias, layer.matrix.shape) == (False, (2, 2))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"bias": np.ones(2)}, "a table called weight, one row a class: got bias"),
        (
            {"weight": np.eye(2), "bias": np.ones(2)},
            "say which class each row is of: got no array called ids",
        ),
        (
            {"weight": np.eye(2), "bias": np.ones(3), "ids": np.array(["a", "b"])},
            "bias must have one entry for each",
        ),
        (
            {"weight": np.eye(2), "bias": np.ones(2), "ids": np.array(["a"])},
            "ids must have one entry for each",
        ),
        (
            {"weight": np.eye(2), "bias": np.ones(2), "ids": np.array(["a", "a"])},
            "every class once: got 'a' more",
        ),
        (
            {"weight": np.full((2, 2), np.inf), "bias": np.ones(2), "ids": np.array(["a", "b"])},
            "finite numbers",
        ),
    ],
)
def test_bad_classifiers_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "fc.npz", **arrays)
    with np.errstate(invalid="ignore"), pytest.raises(DataFileError, match=message):
        read_classifiers(tmp_path / "fc.npz")


def test_safetensors_with_several_layers_are_refused(tmp_path):
    save_file({"a.weight": np.eye(2), "b.weight": np.eye(2)}, tmp_path / "m.safetensors")
    with pytest.raises(DataFileError, match=r"one tensor whose name ends in weight: got a.weight, b.weight"):
        read_classifiers(tmp_path / "m.safetensors")
