"""Scores of probabilities in the metrics of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sgclearn.evaluate.probabilities import untempered
from sgclearn.runs.run import Run
from sgclearn.tasks import driver, get_task
from sgclearn.tasks.nodes.options import NodeData, NodeModel
from sgclearn.tasks.probabilities import probabilities_in_words


def test_untempered_inverts_the_division_of_the_logits() -> None:
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(50, 4))

    def softmax(values: np.ndarray) -> np.ndarray:
        return np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)

    np.testing.assert_allclose(untempered(softmax(logits / 0.3), 0.3), softmax(logits), rtol=1e-10)


def test_fit_of_the_embedded_graph_records_trustworthy_probabilities(tmp_path: Path) -> None:
    task = get_task("nodes")
    samples = task.read(NodeData())
    with Run.create(tmp_path / "run") as place:
        found = driver.fit(task, samples, NodeModel(), place)
    scores = found.metrics["probabilities"]
    assert scores["after"]["calibration_error"] <= 0.06 < scores["before"]["calibration_error"]
    assert scores["after"]["log_loss"] <= 0.80 < scores["before"]["log_loss"]
    assert found.run.metrics()["probabilities"]["temperature"] == pytest.approx(scores["temperature"])
    told = probabilities_in_words(scores)
    assert told is not None
    assert told.startswith("calibrated by a temperature of")
