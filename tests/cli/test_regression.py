"""`sgc fit --regression`: numbers instead of classes, next to the constant predictor."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Sgc, assert_mistake

N = 40


@pytest.fixture
def options(tmp_path: Path) -> tuple[object, ...]:
    """A ring whose target is the mean of a feature over a node and its neighbours, in thousands of millions."""
    rng = np.random.default_rng(77)
    x = rng.normal(size=N)
    target = 4e9 + 1e9 * (x + np.roll(x, 1) + np.roll(x, -1)) / 3
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"n{k},n{(k + 1) % N}\n" for k in range(N)))
    (tmp_path / "f.csv").write_text("id,x\n" + "".join(f"n{k},{x[k]:.6f}\n" for k in range(N)))
    rows = [f"n{k},{target[k]:.1f}\n" if k % 8 else f"n{k},\n" for k in range(N)]
    (tmp_path / "l.csv").write_text("id,price\n" + "".join(rows))
    return "--edges", "e.csv", "--features", "f.csv", "--labels", "l.csv", "--regression"


def test_regression_is_compared_with_the_constant(
    sgc: Sgc, options: tuple[object, ...], tmp_path: Path
) -> None:
    result = sgc("fit", *options, "--n-hops", 1, "--normalization", "rw", "--out", "run")
    assert (result.code, result.err) == (0, "")
    assert "test R2" in result.out
    assert "constant" in result.out
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    constant, ridge, graph = (entry["test"] for entry in metrics["results"])
    assert constant["r2"]["value"] <= 0 < ridge["r2"]["value"] < graph["r2"]["value"]
    assert graph["r2"]["value"] > 0.999
    assert graph["mae"]["value"] < 1e-2 * constant["mae"]["value"]
    assert metrics["data"]["targets"] == ["price"]


def test_numbers_of_any_size_are_written_in_full(
    sgc: Sgc, options: tuple[object, ...], tmp_path: Path
) -> None:
    assert sgc("fit", *options, "--weight-decay", "1e-6", "--out", "run").code == 0
    rows = list(csv.DictReader((tmp_path / "run" / "predictions.csv").read_text().splitlines()))
    assert list(rows[0]) == ["id", "price"]
    assert len(rows) == N
    assert all(1e9 < float(row["price"]) < 1e10 for row in rows)


def test_evaluate_and_predict_read_a_run_of_a_regression(
    sgc: Sgc, options: tuple[object, ...], tmp_path: Path
) -> None:
    fitted = sgc("fit", *options, "--weight-decay", "1e-6", "--out", "run", "--json").document
    found = sgc("evaluate", "run", "--json").document
    assert found["r2"]["value"] == pytest.approx(fitted["evaluation"]["r2"]["value"], abs=1e-6)
    (tmp_path / "e2.csv").write_text("source,target\nnew,n1\n")
    (tmp_path / "f2.csv").write_text("id,x\nnew,0.5\n")
    (entry,) = sgc("predict", "run", "--new-edges", "e2.csv", "--new-features", "f2.csv", "--json").document[
        "predictions"
    ]
    assert entry["id"] == "new"
    assert 1e9 < entry["price"] < 1e10


def test_regression_refuses_what_goes_with_classes(
    sgc: Sgc, options: tuple[object, ...], tmp_path: Path
) -> None:
    assert_mistake(sgc("fit", *options, "--class-weight", "balanced"), "--class-weight goes with classes")
    assert_mistake(sgc("fit", *options, "--solver", "adam"), "--solver goes with classes")
    (tmp_path / "l.csv").write_text("id,price\nn1,cheap\nn2,dear\n")
    assert_mistake(sgc("fit", *options), "l.csv", "must be numbers", "--label-column")
