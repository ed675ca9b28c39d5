"""Mutated files into every reader: each is read, or refused with an error that names what is wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fuzz.campaign import fuzz_files
from fuzz.corpus import Bundle, make_corpus
from fuzz.mutate import mutate_bundle
from fuzz.targets import READERS, run_file
from fuzz.workers import Worker, in_child

N_EXAMPLES = 12


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[Bundle]]:
    made: dict[str, list[Bundle]] = in_child(make_corpus)
    return made


@pytest.fixture(scope="module")
def worker(corpus: dict[str, list[Bundle]]) -> Iterator[Worker]:
    def mutant(case: tuple[str, int]) -> tuple[tuple[str, Bundle], int]:
        name, seed = case
        rng = random.Random(seed)
        bundle, changed = mutate_bundle(rng, rng.choice(corpus[name]), corpus[name])
        return (name, bundle), len(bundle.get(changed, b""))

    with Worker(run_file, strict=True, prepare=mutant) as worker:
        yield worker


def test_corpus_has_seeds_for_every_reader_and_each_is_read(corpus: dict[str, list[Bundle]]) -> None:
    assert set(corpus) == set(READERS)
    with Worker(run_file, strict=True) as worker:
        for name, bundles in corpus.items():
            assert any(worker((name, bundle)).status == "returned" for bundle in bundles), name


@pytest.mark.parametrize("name", READERS)
def test_reader_reads_a_mutated_file_or_refuses_it(name: str, worker: Worker) -> None:
    # Hypothesis draws the seed of a mutation; a failure prints the one for `mutate_bundle`. A smaller seed is no
    # simpler file, so that nothing is shrunk.
    @settings(max_examples=4 if "run" in name else N_EXAMPLES, database=None, phases=[Phase.generate])
    @given(seed=st.integers(0, 2**32))
    def check(seed: int) -> None:
        outcome = worker((name, seed))
        assert not outcome.failed, outcome

    check()


def test_campaign_is_the_same_for_the_same_seed() -> None:
    first, again = (fuzz_files(25, 31, only="edges") for _ in range(2))
    assert first.ended == again.ended
    assert first.cases == 25


# What the readers of text see most: anything at all.
@settings(max_examples=60, database=None)
@given(
    name=st.sampled_from(
        ["edges.csv", "features.csv", "labels.tsv", "docs.jsonl", "features.svm", "edges.graphml"]
    ),
    content=st.one_of(
        st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
    ),
)
def test_reader_reads_any_bytes_or_refuses_them(plain_worker: Worker, name: str, content: bytes) -> None:
    targets = {"edges": "edges-text", "features": "features-text", "labels": "labels", "docs": "documents"}
    outcome = plain_worker((targets[name.partition(".")[0]], {name: content}))
    assert not outcome.failed, outcome


_CELL = st.one_of(
    st.text(max_size=12),
    st.integers().map(str),
    st.floats().map(repr),
    st.sampled_from(["", "NA", '"', '""', '"a,b"', "007", "1e400", "-1", "train", "id", "source", "\ufeff"]),
)


@settings(max_examples=60, database=None)
@given(
    name=st.sampled_from(["edges.csv", "features.csv", "labels.csv", "docs.csv"]),
    rows=st.lists(st.lists(_CELL, min_size=1, max_size=4), min_size=1, max_size=5),
    mark=st.sampled_from([",", "\t", ";", " "]),
)
def test_reader_reads_any_table_or_refuses_it(
    plain_worker: Worker, name: str, rows: list[list[str]], mark: str
) -> None:
    content = "\n".join(mark.join(row) for row in rows).encode("utf-8", "replace")
    targets = {"edges": "edges-text", "features": "features-text", "labels": "labels", "docs": "documents"}
    outcome = plain_worker((targets[name.partition(".")[0]], {name: content}))
    assert not outcome.failed, outcome


@pytest.fixture(scope="module")
def plain_worker() -> Iterator[Any]:
    with Worker(run_file, strict=True) as worker:
        yield worker
