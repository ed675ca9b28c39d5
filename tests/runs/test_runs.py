"""The run folder from Python: what it records, what it refuses, and that older versions still open."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sgclearn.errors import DataFileError, InputError
from sgclearn.runs.matching import match_run
from sgclearn.runs.place import MODEL
from sgclearn.runs.run import Run, RunFile
from sgclearn.runs.splits import hold_out
from sgclearn.tasks import driver
from sgclearn.tasks.nodes.options import NewNodes, NodeData, NodeModel
from sgclearn.tasks.nodes.task import Nodes

FORMATS = Path(__file__).parent / "formats"


def write_files(folder: Path) -> NodeData:
    """Two rings with one edge between them."""
    edges = [(ring + k, ring + (k + 1) % 9) for ring in (0, 9) for k in range(9)] + [(3, 12)]
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in edges))
    rows = [f"{k},{'red' if k < 9 else 'blue'}\n" for k in range(18) if k % 3]
    (folder / "labels.csv").write_text("id,label\n" + "".join(rows))
    return NodeData(edges=folder / "edges.csv", labels=folder / "labels.csv")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    data, task = write_files(tmp_path), Nodes()
    with Run.create(tmp_path / "run") as place:
        samples = driver.read(task, data)
        return driver.fit(task, samples, NodeModel(weight_decay=1e-3), place).run


def test_run_records_task_inputs_and_files(run: Run, tmp_path: Path) -> None:
    assert run.task == "nodes"
    assert run.inputs == {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        for name in ("edges.csv", "labels.csv")
    }
    assert run.digests[MODEL] == hashlib.sha256(run.path(MODEL).read_bytes()).hexdigest()
    assert {*run.digests, "run.json"} == {path.name for path in run.folder.iterdir()}


def test_changed_files_of_a_run_are_found(run: Run) -> None:
    assert run.changed() == ()
    (run.folder / "labels.csv").write_text("id,label\n1,red\n")
    (run.folder / "metrics.json").unlink()
    assert set(run.changed()) == {"labels.csv", "metrics.json"}


def test_list_gives_the_runs_that_open(run: Run, tmp_path: Path) -> None:
    shutil.copytree(run.folder, tmp_path / "again")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    assert [found.folder.name for found in Run.list(tmp_path)] == ["again", "run"]


def test_file_that_no_run_has_is_refused(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run") as place, pytest.raises(ValueError, match="no file of a run"):
        Run.write(place, "nodes", [RunFile("other.txt", "", lambda path: path.touch())], {})
    assert not (tmp_path / "run").exists()


def test_run_of_another_task_is_refused(run: Run) -> None:
    with pytest.raises(InputError, match="a run of nodes; use sgc predict"):
        run.require("text")


@pytest.mark.parametrize(("version", "remedy"), [(1, "fit the model again"), (9, "upgrade sgclearn")])
def test_run_of_another_version_is_refused(run: Run, version: int, remedy: str) -> None:
    path = run.folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": version}))
    with pytest.raises(DataFileError, match=f"got version {version}; {remedy}"):
        Run.open(run.folder)


def test_labels_match_predictions_of_the_same_ids(run: Run) -> None:
    matched = match_run(run, "train")
    assert matched.n == matched.n_train == len(run.labels().ids[run.labels().splits == "train"])
    assert set(matched.truth["label"].tolist()) == {"blue", "red"}


def test_numbers_are_held_out_as_a_share_of_all() -> None:
    y = np.arange(20.0)
    y[:5] = np.nan
    split = hold_out(y, 0.2, seed=31)
    assert (split[:5] == None).all()  # noqa: E711
    assert (split == "test").sum() == 3
    assert (split == "train").sum() == 12


def test_stored_run_of_version_2_predicts_what_it_did(tmp_path: Path) -> None:
    shutil.copytree(FORMATS / "run-2", tmp_path / "run")
    run = Run.open(tmp_path / "run")
    assert (run.task, run.changed()) == ("nodes", ())
    again = driver.predict(Nodes(), run, NewNodes())
    known = run.predictions()
    assert again.ids.tolist() == known.ids.tolist()
    assert again.columns()["label"].tolist() == known.values.tolist()
