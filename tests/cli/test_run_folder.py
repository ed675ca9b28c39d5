"""The run folder: a place that is checked before the fit, and written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Files, Sgc, assert_mistake

from sgclearn.errors import DataFileError, InputError
from sgclearn.folders import work_folder
from sgclearn.graph import Graph
from sgclearn.runs import place
from sgclearn.runs.csv_files import csv_bytes
from sgclearn.runs.documents import to_json
from sgclearn.runs.place import Place
from sgclearn.runs.run import Run

DECAY = ("--weight-decay", "1e-3")


@pytest.fixture
def no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **more: Any) -> None:
        raise ZeroDivisionError("fitted although the folder is no place to write to")

    monkeypatch.setattr("sgclearn.estimators.SGCClassifier.fit", refuse)
    monkeypatch.setattr("sgclearn.estimators.SGCClassifierCV.fit", refuse)


@pytest.mark.usefixtures("no_fit")
def test_place_is_checked_before_the_fit(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    (tmp_path / "afile").touch()
    assert_mistake(sgc("fit", *files.options, "--out", "afile"), "--out must name a folder")
    assert_mistake(sgc("fit", *files.options, "--out", "afile/run"), "--out must be a place", "afile")
    if Path("/proc/self").exists():
        assert_mistake(sgc("fit", *files.options, "--out", "/proc/x"), "--out must be a place", "/proc/x")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert sgc("fit", *files.options, "--out", "deep/er/run").code == 1  # the fit was reached
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.usefixtures("no_fit")
def test_force_replaces_runs_only(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_bytes(b"cat")
    result = sgc("fit", *files.options, "--out", "photos", "--force")
    assert_mistake(result, "--force replaces a run", "photos")


@pytest.mark.parametrize("replaced", [False, True])
def test_failure_while_writing_leaves_nothing(
    sgc: Sgc, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    options = ("fit", *files.options, *DECAY, "--out", "run", "--force")
    if replaced:
        assert sgc(*options).code == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sgclearn.tasks.driver.write_csv", full)
    result = sgc(*options)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert (tmp_path / "run").exists() == replaced


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize("held", ["current", "above", "mounted"])
def test_folder_that_cannot_be_replaced_as_a_whole_is_refused(
    sgc: Sgc, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    (tmp_path / "place").mkdir()
    if held == "mounted":
        monkeypatch.setattr("os.path.ismount", lambda path: Path(path).name == "place")
        named, why = "place", "a mount point; name a folder inside it, as place/run."
    else:
        monkeypatch.chdir(tmp_path / "place")
        named = "." if held == "current" else ".."
        why = f"the current folder or one above it; name a folder inside it, as {Path(named) / 'run'}."
    assert_mistake(sgc("fit", *files.options, "--out", named, "--force"), f"got {named}, {why}")
    assert list((tmp_path / "place").iterdir()) == []


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_second_writer_is_refused_before_its_fit(
    sgc: Sgc, files: Files, tmp_path: Path, force: tuple[str, ...]
) -> None:
    with Place(tmp_path / "run", force=False):
        result = sgc("fit", *files.options, "--out", "run", *force)
    assert_mistake(
        result, "--out must be a folder that no other process is writing to: got run", "wait until it has"
    )
    assert not list(tmp_path.glob("*run*"))


def test_folder_without_a_name_is_one_that_nobody_is_writing(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    with (
        Run.create() as first,
        Run.create() as second,
    ):
        assert [first.folder.name, second.folder.name] == ["sgc-run", "sgc-run-2"]
        assert sgc("fit", *files.options, *DECAY).code == 0
    assert sorted(path.name for path in tmp_path.glob("*sgc*")) == ["sgc-run-3"]


def test_run_of_another_process_that_ended_meanwhile_is_not_replaced_unasked(
    files: Files, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[Path] = []
    real = place._check_place

    def check(folder: Path, force: bool) -> None:
        checks.append(folder)
        if len(checks) > 1:  # the first time there was nothing
            real(folder, force)

    monkeypatch.setattr(place, "_check_place", check)
    with pytest.raises(InputError, match="out must be a new or empty folder"):
        Place(run_folder, force=False)
    assert not list(run_folder.parent.glob(".*"))


def test_run_that_a_killed_process_was_replacing_is_recovered_by_its_reader(
    sgc: Sgc, run_folder: Path
) -> None:
    work = work_folder(run_folder)
    (work / "new").mkdir(parents=True)
    (work / "new" / "model.safetensors").write_bytes(b"half of a")
    os.rename(run_folder, work / "old")  # where two folders cannot be exchanged
    assert sgc("evaluate", "run").code == 0
    assert not work.exists()


def test_run_is_read_where_nothing_can_be_recovered(
    sgc: Sgc, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work_folder(run_folder) / "new").mkdir(parents=True)

    def forbid(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sgclearn.folders.holding", forbid)
    assert sgc("evaluate", "run").code == 0


def test_reader_never_mixes_two_runs(sgc: Sgc, files: Files, run_folder: Path) -> None:
    opened = Run.open(run_folder)

    def replace() -> None:
        assert sgc("fit", *files.options, *DECAY, "--n-hops", 1, "--out", "run", "--force").code == 0

    def read(run: Run) -> None:
        with run:
            run.graph()
            replace()
            Graph.load_npz(run.folder / "graph.npz")  # a path that was given before

    with pytest.raises(DataFileError, match="another run in its place; open it again"):
        read(opened)
    with pytest.raises(DataFileError, match="another run in its place; open it again"):
        opened.path("model.safetensors")
    with Run.open(run_folder) as again:
        again.graph()


def test_json_has_null_for_what_is_not_finite() -> None:
    document = {"a": [float("nan"), np.float64(np.inf), 1.5], "b": Path("x"), "c": (np.int64(3), True, None)}
    assert json.loads(to_json(document)) == {"a": [None, None, 1.5], "b": "x", "c": [3, True, None]}


def test_many_hops_end_in_files_that_are_json(sgc: Sgc, files: Files, tmp_path: Path) -> None:
    result = sgc("fit", *files.options, *DECAY, "--n-hops", 1000, "--out", "run")
    assert result.code in (0, 2), result.err
    if result.code == 0:
        metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
        assert metrics["results"][1]["n_hops"] == 1000


def test_numbers_are_spelled_the_same_whatever_the_ids_are() -> None:
    shares = np.array([5e-05, 0.0, 1.0])
    plain = csv_bytes({"id": np.array(["a", "b", "c"]), "p": shares}).decode().splitlines()
    quoted = csv_bytes({"id": np.array(["a,", "b", "c"]), "p": shares}).decode().splitlines()
    assert [line.split(",")[-1] for line in plain] == ["p", "0.000050", "0.000000", "1.000000"]
    assert [line.split(",")[-1] for line in quoted] == [line.split(",")[-1] for line in plain]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("model.safetensors", "predict"),
        ("graph.npz", "predict"),
        ("features.npz", "predict"),
        ("labels.csv", "evaluate"),
        ("predictions.csv", "evaluate"),
    ],
)
def test_missing_file_of_a_run_is_named(sgc: Sgc, run_folder: Path, name: str, command: str) -> None:
    os.unlink(run_folder / name)
    assert_mistake(sgc(command, run_folder), f"the file {name}", "fit the model again")


def test_missing_value_of_a_new_node_names_options_of_the_fit(
    sgc: Sgc, run_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "f2.csv").write_text("id,city,width,height\nx,Bern,,1.0\ny,Bern,1,1\n")
    result = sgc("predict", run_folder, "--new-features", "f2.csv")
    assert_mistake(result, "'width'", "fitted without --impute", "fit again with --impute")
