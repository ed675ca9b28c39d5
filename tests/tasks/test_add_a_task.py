"""The page "Add a task" of CONTRIBUTING.md, followed to the letter."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sgclearn import tasks
from sgclearn.cli import app
from sgclearn.features import read_labels

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
WEATHER = """station,next_to,height,label,split
a,b,1,dry,train
b,c,2,,
c,d,1,,
d,e,2,dry,train
e,a,1,dry,test
u,v,9,wet,train
v,w,8,wet,test
w,x,9,,
x,u,8,wet,train
"""


def blocks() -> list[str]:
    section = PAGE.read_text(encoding="utf-8").split("## Adding a task")[1].split("\n## ")[0]
    assert section.count("\n") < 100
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


@pytest.fixture(scope="module")
def page() -> ModuleType:
    module = ModuleType("weather")
    exec(compile(blocks()[0], str(PAGE), "exec", dont_inherit=True), module.__dict__)
    return module


def test_page_makes_a_task_that_works(
    page: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stations.csv").write_text(WEATHER)
    Path("new.csv").write_text("station,next_to,height\ny,u,9\nz,a,2\n")
    exec(compile(blocks()[1], str(PAGE), "exec", dont_inherit=True), page.__dict__)
    assert page.fit.metrics["evaluation"]["accuracy"]["value"] == 1.0
    assert page.fit.run.task == "weather"
    assert page.predictions.ids.tolist() == ["y", "z"]
    assert page.predictions.labels.tolist() == ["wet", "dry"]
    written = read_labels("run/predictions.csv", id_column="id", label_column="label")
    assert dict(zip(written.ids.tolist(), written.values.tolist(), strict=True))["b"] == "dry"
    assert np.isclose(page.predictions.probabilities.sum(), 2.0)


def test_registered_task_has_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """The page's entry in TASKS is all that the command line needs."""
    (tmp_path / "weather_task.py").write_text(blocks()[0])
    (tmp_path / "stations.csv").write_text(WEATHER)
    (tmp_path / "new.csv").write_text("station,next_to,height\ny,u,9\nz,a,2\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(tasks.TASKS, "weather", tasks.TaskEntry("weather_task", "Weather", "Stations."))
    monkeypatch.setattr(app.app, "registered_groups", list(app.app.registered_groups))
    assert app.run(["weather", "fit", "--stations", "stations.csv", "--n-hops", "1", "--out", "run"]) == 0
    assert "test accuracy" in capfd.readouterr().out
    assert json.loads(Path("run/run.json").read_text())["settings"]["n_hops"] == 1
    assert app.run(["weather", "predict", "run", "--stations", "new.csv"]) == 0
    rows = capfd.readouterr().out.splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [["y", "wet"], ["z", "dry"]]
    assert app.run(["weather", "evaluate", "run", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["n"] == 2
    assert app.run(["predict", "run"]) == 2
    assert "use sgc weather predict" in capfd.readouterr().err
