"""`sgc text fit`, `predict` and `explain`: from a table of texts to classes and reasons, and what they refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Sgc, assert_mistake

from sgclearn import TextSGCClassifier
from sgclearn.tasks.text import TextGraphBuilder, load_text_model, read_documents

WORDS = {
    "energy": ["oil", "crude", "barrel", "opec", "gas", "pipeline", "refinery"],
    "farm": ["wheat", "corn", "crop", "harvest", "rain", "grain", "soil"],
}
COMMON = ["said", "year", "new", "report"]
WRITTEN = ["graph.npz", "labels.csv", "metrics.json", "model.safetensors", "predictions.csv", "run.json"]
COLUMNS = ("--text-column", "body", "--label-column", "topic")
DECAY = ("--weight-decay", "1e-2")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def made_up(n: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        topic = list(WORDS)[k % 2]
        words = rng.permutation([*rng.choice(WORDS[topic], 4), *rng.choice(COMMON, 3)])
        rows.append({"id": f"n{k:02d}", "body": " ".join(words).capitalize() + ", etc.", "topic": topic})
    return rows


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Thirty documents, the last six without a topic."""
    rows = made_up(30, 1815)
    for row in rows[24:]:
        row["topic"] = ""
    write_rows(tmp_path / "docs.csv", rows)
    return tmp_path / "docs.csv"


@pytest.fixture
def run(sgc: Sgc, docs: Path, tmp_path: Path) -> Path:
    assert sgc("text", "fit", "--data", docs, *COLUMNS, *DECAY, "--out", "run").code == 0
    return tmp_path / "run"


def test_fit_writes_a_run_and_shows_it(sgc: Sgc, docs: Path, tmp_path: Path) -> None:
    result = sgc("text", "fit", "--data", docs, *COLUMNS, "--out", "run")
    assert (result.code, result.err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == WRITTEN
    for text in (
        "30 documents",
        "20 train, 4 test, 6 without a label",
        "test accuracy",
        "sgc text predict run",
    ):
        assert text in result.out
    rows = rows_of(tmp_path / "run" / "predictions.csv")
    assert list(rows[0]) == ["id", "label", "p_energy", "p_farm"]
    assert [row["id"] for row in rows] == [f"n{k:02d}" for k in range(30)]
    assert [row["label"] for row in rows[24:]] == ["energy", "farm"] * 3
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["data"]["documents"] == 30
    assert set(metrics["top_words"]["farm"][:3]) <= set(WORDS["farm"])


def test_fit_is_the_model_of_the_library(sgc: Sgc, docs: Path, tmp_path: Path) -> None:
    options = (
        "--stop-words",
        "english",
        "--min-df",
        "2",
        "--max-df",
        "0.9",
        "--window",
        5,
        "--analyzer",
        "words",
    )
    arguments = ("--data", docs, *COLUMNS, *options, *DECAY, "--recipe", "paper", "--seed", 7, "--n-hops", 3)
    assert sgc("text", "fit", *arguments, "--out", "run").code == 0
    train = {row["id"] for row in rows_of(tmp_path / "run" / "labels.csv") if row["split"] == "train"}
    documents = read_documents(docs)
    assert documents.labels is not None
    y = [
        label if name in train else None for name, label in zip(documents.ids, documents.labels, strict=True)
    ]
    builder = TextGraphBuilder(stop_words="english", min_df=2, max_df=0.9, window=5)
    model = TextSGCClassifier(builder, n_hops=3, weight_decay=1e-2, recipe="paper", random_state=7)
    model.fit(documents.texts, y)
    loaded = load_text_model(tmp_path / "run" / "model.safetensors")
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_same_fit_twice_gives_the_same_files(sgc: Sgc, docs: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        assert sgc("text", "fit", "--data", docs, *COLUMNS, *DECAY, "--out", name).code == 0
    for name in WRITTEN:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_split_column_is_used_and_test_labels_are_not(sgc: Sgc, docs: Path, tmp_path: Path) -> None:
    models = []
    for wrong in (False, True):
        rows = rows_of(docs)
        for k, row in enumerate(rows):
            row["split"] = ("train", "train", "val", "val", "test", "test")[k % 6] if row["topic"] else ""
            if wrong and row["split"] == "test":
                row["topic"] = "farm" if row["topic"] == "energy" else "energy"
        write_rows(docs, rows)
        result = sgc("text", "fit", "--data", docs, *COLUMNS, "--out", f"run-{wrong}", "--json")
        assert result.code == 0
        sizes = {name: result.document["data"][name] for name in ("train", "val", "test")}
        assert sizes == {"train": 8, "val": 8, "test": 8}
        assert result.document["weight_decay_tuned"] is True
        assert result.document["evaluation"]["n"] == 8
        models.append((tmp_path / f"run-{wrong}" / "model.safetensors").read_bytes())
    assert models[0] == models[1]
    assert_mistake(sgc("text", "fit", "--data", docs, *COLUMNS, "--held-out", 0.5), "labels without a split")
    docs.write_text(docs.read_text().replace(",train", ",val"))
    assert_mistake(sgc("text", "fit", "--data", docs, *COLUMNS), "got a split without train")


def test_out_is_replaced_only_by_force(sgc: Sgc, docs: Path, run: Path) -> None:
    arguments = ("text", "fit", "--data", docs, *COLUMNS, *DECAY, "--out", "run")
    (run / "notes.txt").write_text("mine")
    assert_mistake(sgc(*arguments), "run, which has files in it", "--force")
    assert sgc(*arguments, "--force", "--n-hops", 1).code == 0
    assert json.loads((run / "metrics.json").read_text())["n_hops"] == 1
    assert (run / "notes.txt").read_text() == "mine"
    (run / "run.json").unlink()
    assert_mistake(sgc(*arguments, "--force"), "no run.json")


def test_predict_writes_what_the_library_predicts(sgc: Sgc, run: Path, tmp_path: Path) -> None:
    new = [{"id": row["id"] + "x", "body": row["body"]} for row in made_up(6, 99)]
    write_rows(tmp_path / "new.csv", new)
    result = sgc("text", "predict", run, "--data", "new.csv", "--out", "p.csv")
    assert (result.code, result.out, result.err) == (0, "6 predictions written to p.csv\n", "")
    rows = rows_of(tmp_path / "p.csv")
    model = load_text_model(run / "model.safetensors")
    P = model.predict_proba([row["body"] for row in new])
    assert [row["id"] for row in rows] == [row["id"] for row in new]
    assert [row["label"] for row in rows] == model.predict([row["body"] for row in new]).tolist()
    np.testing.assert_allclose([float(row["p_farm"]) for row in rows], P[:, 1], atol=1e-6)
    assert_mistake(sgc("text", "predict", run, "--data", "new.csv", "--out", "p.csv"), "--force")
    assert sgc("text", "predict", run, "--data", "new.csv", "--out", "p.csv", "--force").code == 0
    assert sgc("text", "predict", run, "--data", "new.csv").out == (tmp_path / "p.csv").read_text()
    document = sgc("text", "predict", run, "--data", "new.csv", "--json").document
    assert [entry["id"] for entry in document["predictions"]] == [row["id"] for row in new]


def test_predict_reads_other_kinds_of_files(sgc: Sgc, run: Path, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"text": "crude oil"}\n{"text": "rain on the corn"}\n')
    result = sgc("text", "predict", run, "--data", "new.jsonl", "--json")
    assert [entry["label"] for entry in result.document["predictions"]] == ["energy", "farm"]
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_text("wheat and grain")
    result = sgc("text", "predict", run, "--data", folder, "--json")
    assert [(entry["id"], entry["label"]) for entry in result.document["predictions"]] == [("a.txt", "farm")]


def test_document_without_a_known_word_is_predicted_with_a_warning(
    sgc: Sgc, run: Path, tmp_path: Path
) -> None:
    write_rows(tmp_path / "new.csv", [{"id": 1, "body": "zzz"}, {"id": 2, "body": "crude"}])
    result = sgc("text", "predict", run, "--data", "new.csv", "--json")
    assert result.code == 0
    assert "1 of 2 documents have no word that the model knows" in result.err
    prior = load_text_model(run / "model.safetensors").class_prior_
    assert result.document["predictions"][0]["probabilities"]["farm"] == pytest.approx(prior[1], abs=1e-6)


def test_explain_shows_terms_that_sum_to_the_logit(sgc: Sgc, run: Path) -> None:
    for which in (("--document", "n03"), ("--text", "crude oil and rain")):
        for by in ("features", "text"):
            found = sgc("text", "explain", run, *which, "--by", by, "--json").document
            terms = [entry["contribution"] for entry in found["words"] + found["documents"]]
            assert found["baseline"] + sum(terms) == pytest.approx(found["logit"], abs=1e-12)
    shown = sgc("text", "explain", run, "--document", "n03", "--top", 3)
    assert shown.code == 0
    for text in ("Class      farm", "baseline", "others)", "contribution", "predicted class"):
        assert text in shown.out
    assert (
        "energy" in sgc("text", "explain", run, "--document", "n03", "--label", "energy").out.split("\n")[0]
    )
    opposite = sgc("text", "explain", run, "--document", "n03", "--label", "energy", "--json").document
    straight = sgc("text", "explain", run, "--document", "n03", "--label", "farm", "--json").document
    assert opposite["logit"] == pytest.approx(-straight["logit"])


def test_numbers_are_ids_and_classes_too(sgc: Sgc, docs: Path, tmp_path: Path) -> None:
    rows = [
        {"body": row["body"], "topic": {"energy": 3, "farm": 8, "": ""}[row["topic"]]}
        for row in rows_of(docs)
    ]
    write_rows(docs, rows)
    assert sgc("text", "fit", "--data", docs, *COLUMNS, *DECAY, "--out", "run").code == 0
    found = sgc("text", "explain", "run", "--document", 3, "--label", 3, "--json").document
    assert found["label"] in (3, "3")
    assert {entry["id"] for entry in found["documents"]} <= set(range(30))


def test_explain_refuses_what_it_does_not_know(sgc: Sgc, run: Path) -> None:
    assert_mistake(sgc("text", "explain", run), "either --document or --text: got neither")
    both = ("--document", "n03", "--text", "oil")
    assert_mistake(sgc("text", "explain", run, *both), "got both")
    assert_mistake(
        sgc("text", "explain", run, "--document", "x"), "got 'x'; the first of its 30 documents is 'n00'"
    )
    assert_mistake(
        sgc("text", "explain", run, "--text", "oil", "--label", "sport"), "got 'sport'", "'energy'"
    )
    assert_mistake(
        sgc("text", "explain", run, "--text", "oil", "--top", 0), "--top must be a whole number >= 1"
    )


def test_runs_of_the_other_kind_are_refused_by_name(
    sgc: Sgc, run: Path, run_folder_of_fit: Path, tmp_path: Path
) -> None:
    assert_mistake(sgc("predict", run), "use sgc text predict")
    for command in (("predict", "--data", "docs.csv"), ("explain", "--text", "oil")):
        assert_mistake(
            sgc("text", command[0], run_folder_of_fit, *command[1:]), "a run of nodes; use sgc predict"
        )
        assert_mistake(sgc("text", command[0], "nowhere", *command[1:]), "RUN must be the folder of a run")
    assert sgc("evaluate", run).code == 0


@pytest.fixture
def run_folder_of_fit(tmp_path: Path) -> Path:
    folder = tmp_path / "plain"
    folder.mkdir()
    document = {
        "format": "sgclearn-run",
        "version": 2,
        "task": "nodes",
        "settings": {},
        "inputs": {},
        "digests": {},
    }
    (folder / "run.json").write_text(json.dumps(document))
    return folder


def test_documents_without_text_are_counted(sgc: Sgc, docs: Path) -> None:
    rows = rows_of(docs)
    rows[2]["body"], rows[29]["body"] = "", "  ?! "
    write_rows(docs, rows)
    result = sgc("text", "fit", "--data", docs, *COLUMNS, *DECAY, "--held-out", 0, "--out", "run")
    assert result.code == 0
    assert "2 of 30 documents have no word that tells documents apart, 1 of them labelled" in result.err


def test_bad_labels_are_explained(sgc: Sgc, docs: Path) -> None:
    arguments = ("text", "fit", "--data", docs)
    rows = rows_of(docs)
    write_rows(docs, [{**row, "topic": "farm"} for row in rows])
    assert_mistake(sgc(*arguments, *COLUMNS), "at least two classes: got one class, 'farm'")
    write_rows(docs, [{**row, "topic": ""} for row in rows])
    assert_mistake(sgc(*arguments, *COLUMNS), "must have labels to learn from", "--label-column")
    write_rows(docs, [{**row, "id": "n1"} for row in rows])
    assert_mistake(sgc(*arguments, *COLUMNS), "an id of its own: got 'n1' twice", "--id-column")
    assert_mistake(
        sgc(*arguments, "--text-column", "text"), "--text-column must name a column", "'text'", "'body'"
    )
    assert_mistake(sgc(*arguments, *COLUMNS, "--id-column", "key"), "--id-column must name a column")
    docs.write_text("id,body,topic\na,,x\nb,,y\n")
    assert_mistake(sgc(*arguments, *COLUMNS, *DECAY), "at least one word: got 2 documents without any")


def test_single_labels_cannot_be_tuned_on(sgc: Sgc, docs: Path) -> None:
    rows = rows_of(docs)
    write_rows(docs, [{**row, "topic": row["topic"] if k < 2 else ""} for k, row in enumerate(rows)])
    result = sgc("text", "fit", "--data", docs, *COLUMNS, "--out", "run", "--json")
    assert result.code == 0
    assert "no class has two labels to tune the weight decay on" in result.err
    assert result.document["weight_decay"] == 1e-3
    assert result.document["evaluation"] is None


def test_other_bytes_than_utf8_are_explained(sgc: Sgc, docs: Path, tmp_path: Path) -> None:
    raw = docs.read_bytes().replace(b"soil", "g\u00e9n\u00e9ral".encode("latin-1"), 1)
    raw = raw.replace(b"said", "\u00e9t\u00e9".encode(), 1)
    docs.write_bytes(raw)
    arguments = ("text", "fit", "--data", docs, *COLUMNS, *DECAY, "--out", "run")
    assert_mistake(sgc(*arguments), "must be UTF-8 text", "--encoding", "mixed")
    assert sgc(*arguments, "--encoding", "mixed").code == 0
    words = load_text_model(tmp_path / "run" / "model.safetensors").words_.vocabulary
    assert {"g\u00e9n\u00e9ral", "\u00e9t\u00e9"} <= set(words)


WRONG: list[tuple[tuple[object, ...], tuple[str, ...]]] = [
    (("--min-df", "two"), ("--min-df must be a number of documents such as 2", "'two'")),
    (("--min-df", "99"), ("at least one word must be left",)),
    (("--window", 1), ("--window must",)),
    (("--n-hops", 0), ("--n-hops must be a whole number >= 1: got 0",)),
    (("--weight-decay", -1), ("--weight-decay must be a number >= 0",)),
    (("--memory-limit", "2KB"), ("memory", "2.0 KB")),
    (("--held-out", 1.5), ("--held-out must be a share",)),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_bad_options_are_refused(
    sgc: Sgc, docs: Path, options: tuple[object, ...], words: tuple[str, ...]
) -> None:
    assert_mistake(sgc("text", "fit", "--data", docs, *COLUMNS, *options), *words)
    assert not Path("sgc-run").exists()


def test_help_names_the_commands(sgc: Sgc) -> None:
    shown = sgc("text", "--help").out
    assert all(name in shown for name in ("fit", "predict", "explain"))
    assert "--text-column" in sgc("text", "fit", "--help").out
