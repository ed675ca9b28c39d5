"""`sgc explain` and `sgc report`: reasons that add up, what-if answers, one file about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_runs import Files, Sgc, assert_mistake


def explained(sgc: Sgc, *arguments: object) -> dict[str, Any]:
    result = sgc("explain", "run", *arguments, "--json")
    assert result.code == 0, result.err
    (document,) = result.document["explanations"]
    return document


@pytest.mark.usefixtures("run_folder")
def test_explain_shows_a_sentence_bars_and_what_would_change_it(sgc: Sgc) -> None:
    out = sgc("explain", "run", "r04").out
    assert "r04 is labelled red (" in out
    for heading in (
        "Features",
        "Nodes that the features belong to",
        "Neighbours that they came through",
    ):
        assert heading in out
    assert "Change" in out
    assert max(len(line) for line in out.splitlines()) <= 100


@pytest.mark.usefixtures("run_folder")
def test_explain_terms_add_up_to_the_margin(sgc: Sgc) -> None:
    found = explained(sgc, "r04", "--top", "2")
    assert (found["label"], found["against"]) == ("red", "blue")
    for by in ("features", "sources", "through", "hops"):
        total = found["bias"] + sum(term["value"] for term in found[by]["terms"]) + found[by]["rest"]
        assert total == pytest.approx(found["margin"], rel=1e-9)


@pytest.mark.usefixtures("run_folder")
def test_explain_without_an_edge_equals_a_prediction_without_it(sgc: Sgc, files: Files) -> None:
    after = explained(sgc, "r03", "--without-edge", "r03,b03")["without"]["probabilities"]["red"]
    lines = [line for line in files.edges.read_text().splitlines() if line != "r03,b03"]
    other = files.folder / "fewer.csv"
    other.write_text("\n".join(lines) + "\n")
    predicted = sgc(
        "predict",
        "--model",
        "run/model.safetensors",
        "--edges",
        other,
        "--features",
        files.features,
        "--json",
    ).document["predictions"]
    red = next(row for row in predicted if row["id"] == "r03")["probabilities"]["red"]
    assert after == pytest.approx(red, abs=1e-6)


@pytest.mark.usefixtures("run_folder")
def test_explain_names_training_labels_that_carry_it(sgc: Sgc) -> None:
    found = explained(sgc, "r04", "--labels")
    assert found["labels"][0]["change"] >= found["labels"][-1]["change"]
    assert "training labels that carry it" in sgc("explain", "run", "r04", "--labels").out


@pytest.mark.usefixtures("run_folder")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["r0"], ("node must be a node of the run: got 'r0'", "did you mean 'r")),
        (["r04", "--against", "green"], ("'green'", "choose from blue, red")),
        (["r04", "--without-edge", "r04,b09"], ("an edge to take away must be in the graph",)),
        (["r04", "--without-edge", "r04"], ("two ids with a comma between", "write it as A,B")),
        (
            ["r04", "--without-feature", "heigt"],
            ("a feature must be one of the run", "did you mean 'height'"),
        ),
    ],
)
def test_explain_refuses_what_is_not_there(sgc: Sgc, arguments: list[str], words: tuple[str, ...]) -> None:
    assert_mistake(sgc("explain", "run", *arguments), *words)


@pytest.mark.usefixtures("run_folder")
def test_report_is_one_file_and_the_same_twice(sgc: Sgc, tmp_path: Path) -> None:
    assert sgc("report", "run", "--out", "a.html").code == 0
    assert sgc("report", "run", "--out", "b.html").code == 0
    content = (tmp_path / "a.html").read_bytes()
    assert content == (tmp_path / "b.html").read_bytes()
    assert content.startswith(b"<!doctype html>")
    assert_mistake(sgc("report", "run", "--out", "a.html"), "a.html")
    assert sgc("report", "run", "--out", "a.html", "--force").code == 0


def test_report_and_explain_of_a_graph_without_features(sgc: Sgc, files: Files) -> None:
    options = ("--edges", files.edges, "--labels", files.labels, "--out", "bare")
    assert sgc("fit", *options).code == 0
    assert "r04 is labelled" in sgc("explain", "bare", "r04").out
    assert sgc("report", "bare", "--out", "bare.html").code == 0


@pytest.mark.usefixtures("run_folder")
def test_predict_leaves_out_labels_that_are_not_sure_enough(sgc: Sgc, tmp_path: Path) -> None:
    rows = sgc("predict", "run", "--json").document["predictions"]
    confidences = sorted(max(row["probabilities"].values()) for row in rows)
    limit = (confidences[14] + confidences[15]) / 2
    assert sgc("predict", "run", "--min-confidence", limit, "--out", "sure.csv").code == 0
    lines = (tmp_path / "sure.csv").read_text().splitlines()[1:]
    empty = [line for line in lines if line.split(",")[1] in ("", '""')]
    assert len(empty) == 15
    assert all(line.count(",") == 3 for line in lines)
    assert_mistake(sgc("predict", "run", "--min-confidence", "1.5"), "--min-confidence")
