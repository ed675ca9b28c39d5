"""What the driver does once: every input file opened, every model's logits computed."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgclearn.estimators import base
from sgclearn.features import read_labels
from sgclearn.runs.run import Run
from sgclearn.tasks import driver
from sgclearn.tasks.nodes.options import NodeData, NodeModel
from sgclearn.tasks.nodes.task import Nodes

_opened: list[Counter[str]] = []


def _count(event: str, arguments: tuple[object, ...]) -> None:
    if _opened and event == "open" and isinstance(arguments[0], str | Path):
        _opened[-1][Path(arguments[0]).name] += 1


sys.addaudithook(_count)


@pytest.fixture
def data(tmp_path: Path) -> NodeData:
    rng = np.random.default_rng(83)
    edges = [f"{k},{(k + step) % 12 + 12 * ring}\n" for ring in (0, 1) for step in (1, 2) for k in range(12)]
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(edges))
    rows = [f"{k},{rng.normal(1.0 if k < 12 else -1.0):.4f}\n" for k in range(24)]
    (tmp_path / "f.csv").write_text("id,x\n" + "".join(rows))
    (tmp_path / "l.csv").write_text("id,label\n" + "".join(f"{k},{'ab'[k // 12]}\n" for k in range(24)))
    return NodeData(edges=tmp_path / "e.csv", features=tmp_path / "f.csv", labels=tmp_path / "l.csv")


def test_every_input_is_opened_once(data: NodeData) -> None:
    _opened.append(Counter())
    try:
        samples = driver.read(Nodes(), data)
    finally:
        counts = _opened.pop()
    assert {name: counts[name] for name in ("e.csv", "f.csv", "l.csv")} == {
        "e.csv": 1,
        "f.csv": 1,
        "l.csv": 1,
    }
    assert set(samples.inputs) == {"e.csv", "f.csv", "l.csv"}


@pytest.mark.parametrize("weight_decay", [None, 1e-3])
def test_logits_of_all_nodes_are_computed_once_a_model(
    data: NodeData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weight_decay: float | None
) -> None:
    calls: list[Any] = []
    real = base.propagate_product
    monkeypatch.setattr(base, "propagate_product", lambda *given: calls.append(given) or real(*given))
    task = Nodes()
    samples = driver.read(task, data)
    with Run.create(tmp_path / "run") as place:
        fit = driver.fit(task, samples, NodeModel(weight_decay=weight_decay), place)
    assert len(calls) <= len(fit.trials) == 2
    again = fit.model.predict_proba(samples.X, graph=samples.graph)
    np.testing.assert_allclose(fit.predictions.probabilities, again, rtol=0, atol=1e-12)  # type: ignore[attr-defined]
    written = read_labels(tmp_path / "run" / "predictions.csv", id_column="id", label_column="label")
    assert written.values.tolist() == fit.model.classes_[again.argmax(axis=1)].tolist()
