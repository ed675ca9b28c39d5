"""Which column the labels are in, and labels that cannot be the right ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import Files, Sgc, assert_mistake

DECAY = ("--weight-decay", "1e-3")


def relabel(files: Files, header: str, *more: str) -> None:
    """Give the labels another header, and more columns in turn."""
    lines = files.labels.read_text().splitlines()[1:]
    rows = [",".join((line, *(text.format(k=k) for text in more))) for k, line in enumerate(lines)]
    files.labels.write_text("\n".join([header, *rows]) + "\n")


def test_column_that_was_found_by_its_place_is_named(sgc: Sgc, files: Files) -> None:
    assert "column" not in sgc("plan", *files.options).out.split("Plan")[0]
    relabel(files, "id,species")
    result = sgc("plan", *files.options)
    assert result.code == 0
    assert "Labels     column species: 16 train" in result.out
    assert sgc("plan", *files.options, "--json").document["data"]["label_column"] == "species"


def test_several_columns_are_a_question(sgc: Sgc, files: Files) -> None:
    relabel(files, "id,species,island", "i{k}")
    assert_mistake(sgc("plan", *files.options), "got 'species', 'island'", "--label-column")
    result = sgc("plan", *files.options, "--label-column", "species", "--json")
    assert (result.code, result.document["data"]["classes"]) == (0, 2)


def test_third_column_may_be_the_split(sgc: Sgc, files: Files) -> None:
    relabel(files, "id,species,part", "train")
    result = sgc("plan", *files.options)
    assert (result.code, "column species: 20 train" in result.out) == (0, True)


@pytest.mark.parametrize(
    ("value", "words"),
    [("{k}.25", "got the fraction 0.25"), ("name{k}", "classes that several nodes")],
)
def test_measurements_and_names_are_no_classes(sgc: Sgc, files: Files, value: str, words: str) -> None:
    ids = [line.split(",")[0] for line in files.features.read_text().splitlines()[1:]]
    rows = "".join(f"{name},{value.format(k=k)}\n" for k, name in enumerate(ids))
    files.labels.write_text("id,mass\n" + rows)
    assert_mistake(sgc("fit", *files.options), "labels.csv", "'mass'", words)


def test_one_class_names_the_file(sgc: Sgc, files: Files) -> None:
    files.labels.write_text("id,label,split\nr00,red,train\nr01,red,train\nb01,blue,test\n")
    assert_mistake(sgc("fit", *files.options), "labels.csv must have training labels", "'red'")


def test_training_labels_are_called_so(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    assert sgc("fit", *files.options, *DECAY, "--held-out", 0, "--out", "run").code == 0
    result = sgc("evaluate", "run")
    assert result.code == 0
    assert "all labels, 20 of them for training" in result.out
    assert result.err.startswith("warning: 20 of the 20 labels are training labels")
    assert "training labels" in sgc("evaluate", "run", "--json").document["warning"]
    assert sgc("fit", *files.options, *DECAY, "--out", "other").code == 0
    fair = sgc("evaluate", "other", "--json")
    assert (fair.err, fair.document["warning"]) == ("", None)
