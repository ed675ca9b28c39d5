"""Reading sentences, dependency trees and paths, and what is wrong with bad records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgclearn.errors import DataFileError, InputError
from sgclearn.tasks.relations import Sentences, join_sentences, read_sentences, sentences_from_records
from sgclearn.tasks.relations.trees import Forest

from relation_records import corpus, record


def write(folder: Path, records: Any, name: str = "data.json") -> Path:
    path = folder / name
    text = json.dumps(records) if name.endswith((".json", ".gz")) else "\n".join(map(json.dumps, records))
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["data.json", "data.jsonl", "data.json.gz"])
def test_file_of_any_form_gives_the_same_sentences(tmp_path: Path, name: str) -> None:
    sentences = read_sentences(write(tmp_path, corpus(), name))
    assert (len(sentences), sentences.n_tokens) == (12, 60)
    assert sentences.words(3) == ["The", "smoke", "caused", "heavy", "fear"]
    assert sentences.ids[0] == "Ca0"
    assert sentences.labels is not None
    assert sentences.labels[0] == "Cause-Effect(e1,e2)"
    assert sentences.parents[:5].tolist() == [1, 2, -1, 4, 2]
    assert (sentences.subjects[1].tolist(), sentences.objects[1].tolist()) == ([6, 7], [9, 10])
    assert set(sentences.tags) == {"deprel", "pos"}


def test_heads_may_be_texts_and_names_may_be_short() -> None:
    entry = record("rain caused floods", None, [2, 0, 2], (0, 0), (2, 2))
    plain = {key: value for key, value in entry.items() if key not in ("token", "stanford_head", "relation")}
    short = sentences_from_records([{**plain, "tokens": entry["token"], "head": ["2", "0", "2"]}])
    assert short.parents.tolist() == [1, -1, 1]
    assert short.labels is None


def test_subset_and_join_keep_every_part() -> None:
    sentences = sentences_from_records(corpus())
    which = np.array([7, 2, 11])
    part = sentences.subset(which)
    assert [part.words(i) for i in range(3)] == [sentences.words(i) for i in which]
    again = join_sentences([sentences, part])
    assert len(again) == 15
    assert again.words(13) == sentences.words(2)
    assert again.tags["deprel"][-5:] == ["det", "nsubj", "ROOT", "amod", "dobj"]
    np.testing.assert_array_equal(again.forest.path[60:], part.forest.path)
    assert again.labels is not None
    assert again.labels[13] == sentences.labels[2]  # type: ignore[index]


BASE = record("rain caused floods there", "Cause-Effect(e1,e2)", [2, 0, 2, 2], (0, 0), (2, 2), id="s7")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"subj_end": 4},
            "subj_start and subj_end of sentence 's7' must lie within its tokens, 0 to 3: got 0 and 4",
        ),
        ({"obj_start": -1}, "obj_start and obj_end .* got -1 and 2"),
        ({"obj_start": 3}, "obj_start and obj_end .* got 3 and 2"),
        ({"subj_end": 2}, "entities of sentence 's7' must not overlap: got tokens 0 to 2 and 2 to 2"),
        ({"subj_start": None}, "whole number subj_start: got None"),
        ({"stanford_head": [2, 1, 2, 2]}, "must have one root, marked 0: got 0"),
        ({"stanford_head": [2, 0, 0, 2]}, "must have one root, marked 0: got 2; split the sentence"),
        ({"stanford_head": [4, 0, 2, 1]}, "lead every token to the root: got a cycle above token 0 'rain'"),
        ({"stanford_head": [2, 0, 2]}, "one entry of stanford_head a token: got 3 for 4 tokens"),
        ({"stanford_head": [2, 0, 2, 9]}, "must lie in 0 to 4: got 9"),
        ({"stanford_head": [2, 0, 2, "x"]}, "must be whole numbers"),
        ({"stanford_head": None}, "must be whole numbers"),
        ({"stanford_deprel": ["a", "b"]}, "one entry of stanford_deprel a token: got 2 for 4 tokens"),
        ({"token": []}, "must have tokens: got none"),
        ({"token": ["a", 1]}, "must have a list of texts called token"),
        ({"relation": 5}, "relation of sentence 's7' must be a text: got 5"),
    ],
)
def test_bad_record_is_an_error_that_names_the_sentence(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataFileError, match=message):
        read_sentences(write(tmp_path, [corpus()[0], {**BASE, **change}]))


def test_missing_heads_name_the_parsers() -> None:
    entry = {key: value for key, value in BASE.items() if key != "stanford_head"}
    with pytest.raises(
        InputError, match=r"dependency heads called stanford_head: got none; .* Stanza, spaCy or CoreNLP"
    ):
        sentences_from_records([entry])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "must be at least one: got none"),
        ("7", "must be a JSON list of sentences: got int"),
        ('{"token": ["a"]\n', "one JSON record a line: got .* in line 1"),
        ("[1]", "sentence 1 must be a record: got 1"),
        ("[", "must be a JSON list of sentences: got one that could not be read"),
    ],
)
def test_file_that_holds_no_sentences_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(DataFileError, match=message):
        read_sentences(path)


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    parents: list[int] = []
    starts = [0]
    spans = []
    for _ in range(draw(st.integers(1, 3))):
        size, first = draw(st.integers(2, 9)), len(parents)
        order = draw(st.permutations(range(size)))
        local = [-1] * size
        for place in range(1, size):
            local[order[place]] = order[draw(st.integers(0, place - 1))]
        parents += [-1 if parent < 0 else parent + first for parent in local]
        starts.append(len(parents))
        cuts = sorted(draw(st.lists(st.integers(0, size), min_size=4, max_size=4)))
        low, stop = cuts[0], max(cuts[1], cuts[0] + 1)
        other = min(max(cuts[2], stop), size - 1)
        stop = min(stop, other) if other > low else stop
        if other <= low or stop <= low:
            low, stop, other = 0, 1, 1
        pair = [(low + first, stop + first), (other + first, max(cuts[3], other + 1) + first)]
        spans.append(pair[::-1] if draw(st.booleans()) else pair)
    subjects, objects = np.array([pair[0] for pair in spans]), np.array([pair[1] for pair in spans])
    return Forest(np.array(parents), np.array(starts), subjects, objects)


@given(forests())
def test_paths_equal_those_of_the_definition(forest: Forest) -> None:
    """Path-centric pruning: entity tokens and their ancestors up to the lowest common one."""

    def chain(token: int) -> list[int]:
        found = [token]
        while forest.parents[found[-1]] >= 0:
            found.append(int(forest.parents[found[-1]]))
        return found

    for tree in range(forest.n_trees):
        entities = [*range(*forest.subjects[tree]), *range(*forest.objects[tree])]
        chains = [set(chain(token)) for token in entities]
        common = set.intersection(*chains)
        lowest = max(common, key=lambda token: len(chain(token)))
        path = set.union(*chains) - common | {lowest}
        tokens = range(forest.starts[tree], forest.starts[tree + 1])
        assert forest.ancestors[tree] == lowest
        assert {token for token in tokens if forest.path[token]} == path
        for token in tokens:
            above = chain(token)
            expected = next((step for step, node in enumerate(above) if node in path), forest.n_tokens)
            assert forest.distance[token] == expected
            assert forest.depth[token] == len(above) - 1


def test_graph_is_block_diagonal_and_readouts_are_means() -> None:
    forest = sentences_from_records(corpus()).forest
    A = forest.graph.to_scipy()
    assert (A.nnz, forest.graph.n_edges) == (96, 48)
    rows, columns = A.nonzero()
    assert (forest.tree_of[rows] == forest.tree_of[columns]).all()
    P = forest.readout(forest.path)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert P.nnz == np.count_nonzero(forest.path)
    nothing = forest.readout(np.zeros(forest.n_tokens, dtype=bool))
    assert nothing.shape == P.shape
    assert nothing.nnz == 0


def test_head_of_an_entity_is_its_highest_token() -> None:
    entry = record("the big red bus hit a small wall", None, [4, 4, 4, 5, 0, 8, 8, 5], (1, 3), (6, 7))
    forest = sentences_from_records([entry]).forest
    assert (forest.subject_heads.tolist(), forest.object_heads.tolist()) == ([3], [7])


def test_real_sentences_have_the_counts_of_the_task(data_dir: Path) -> None:
    counts = {}
    for split in ("train", "dev", "test"):
        sentences: Sentences = read_sentences(data_dir / "semeval" / f"{split}.json.gz")
        assert sentences.labels is not None
        counts[split] = (len(sentences), sentences.n_tokens, len(set(sentences.labels.tolist())))
        assert (np.bincount(sentences.forest.tree_of[sentences.forest.path]) >= 2).all()
    assert counts == {"train": (7200, 138513, 18), "dev": (800, 15334, 19), "test": (2717, 52384, 19)}
