"""`sgc relations` from files to a run, and from the run to new sentences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sgclearn.cli.app import run as run_sgc
from sgclearn.errors import InputError
from sgclearn.features import WordVectors
from sgclearn.tasks.relations import read_sentences, sentences_from_records
from sgclearn.tasks.relations.task import joined_vectors

from relation_records import corpus, vectors


@pytest.fixture
def files(tmp_path: Path) -> Path:
    records = corpus()
    (tmp_path / "train.json").write_text(json.dumps(records[:6]))
    (tmp_path / "dev.json").write_text(json.dumps(records[6:9]))
    (tmp_path / "test.json").write_text(json.dumps(records[9:]))
    lines = [
        f"{word} {' '.join(map(str, row))}"
        for word, row in zip(vectors().words, vectors().matrix, strict=True)
    ]
    (tmp_path / "glove.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def fit(files: Path) -> list[str]:
    named = {"data": "train.json", "validation": "dev.json", "test": "test.json", "vectors": "glove.txt"}
    return [
        "relations",
        "fit",
        *(part for key, name in named.items() for part in (f"--{key}", str(files / name))),
    ]


def test_fit_writes_a_run_that_predicts_and_evaluates(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = files / "run"
    assert run_sgc([*fit(files), "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [result["n_hops"] for result in document["results"]] == [0, 2]
    assert document["evaluation"]["score"] == "macro_f1"
    assert document["evaluation"]["macro_f1"]["value"] == 1.0
    assert run_sgc(["relations", "predict", str(out), "--data", str(files / "test.json"), "--json"]) == 0
    predicted = json.loads(capsys.readouterr().out)["predictions"]
    assert [row["label"] for row in predicted] == [record["relation"] for record in corpus()[9:]]
    assert run_sgc(["relations", "predict", str(out), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["predictions"]) == 12
    assert run_sgc(["evaluate", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 3


def test_explain_adds_up_and_draws_arcs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, svg = files / "run", files / "arcs.svg"
    assert run_sgc([*fit(files), "--out", str(out), "--json"]) == 0
    capsys.readouterr()
    assert run_sgc(["relations", "explain", str(out), "Ca3", "--svg", str(svg), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    total = document["elsewhere"] + sum(row["contribution"] for row in document["tokens"])
    assert total == pytest.approx(document["margin"])
    assert [row["token"] for row in document["tokens"]] == ["The", "ice", "caused", "heavy", "falls"]
    assert svg.read_text().startswith("<svg")
    assert run_sgc(["relations", "explain", str(out), "Ca3"]) == 0
    assert "ice caused falls" in capsys.readouterr().out
    assert run_sgc(["relations", "explain", str(out), "nobody"]) == 2
    assert "must be the id of one of" in capsys.readouterr().err


def test_sentences_are_held_back_where_no_test_file_is_given(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = files / "all.json"
    data.write_text(json.dumps(corpus()))
    command = [
        "relations",
        "fit",
        "--data",
        str(data),
        "--held-out",
        "0.25",
        "--json",
        "--out",
        str(files / "run"),
    ]
    assert run_sgc(command) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["data"]["test"] == 3
    assert [result["model"] for result in document["results"]] == ["words and paths"]


def test_records_of_sentences_read_back_the_same(tmp_path: Path) -> None:
    sentences = sentences_from_records(corpus())
    (tmp_path / "again.json").write_text(json.dumps(sentences.records()))
    again = read_sentences(tmp_path / "again.json")
    np.testing.assert_array_equal(again.parents, sentences.parents)
    np.testing.assert_array_equal(again.objects, sentences.objects)
    assert again.tags == sentences.tags
    assert again.ids.tolist() == sentences.ids.tolist()


def test_new_vectors_must_fit_those_of_the_run() -> None:
    known, more = vectors(), WordVectors(["new"], np.ones((1, 4), dtype=np.float32))
    assert joined_vectors(known, more).positions(["new", "rain"]).min() >= 0
    with pytest.raises(InputError, match="must have the 4 dimensions of the fit: got 2"):
        joined_vectors(known, WordVectors(["new"], np.ones((1, 2), dtype=np.float32)))
    with pytest.raises(InputError, match="fitted without word vectors takes none"):
        joined_vectors(None, more)


def test_bad_options_are_one_sentence(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_sgc([*fit(files), "--held-out", "0.3"]) == 2
    assert "goes with sentences without a test file" in capsys.readouterr().err
