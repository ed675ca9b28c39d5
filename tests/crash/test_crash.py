"""Whatever step of a write is the last one, or fails: what is there is all old or all new, and can be repaired."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Report = dict[str, Any]
# What is tried in every run of the tests: at every step a kill, half a write, and a full disk.
USUAL = "kill,torn,ENOSPC"
FEWER = {"new-run": "kill,torn", "run-in-two-renames": "kill"}
EVERY = "kill,torn,ENOSPC,EIO,EACCES,lasting-ENOSPC,lasting-EIO,lasting-EACCES"
FILES = [
    "model",
    "graph",
    "dataset",
    "dataset-of-wheel",
    "damaged-dataset",
    "first-result",
    "next-result",
    "page",
]
RUNS = ["new-run", "run-with-foreign-files", "run-in-two-renames"]


@pytest.fixture(scope="module")
def usual(sweep: Callable[..., Report]) -> Report:
    return sweep(*(f"{name}:{FEWER.get(name, USUAL)}" for name in FILES + RUNS), "careless:kill,torn")


@pytest.mark.parametrize("operation", FILES + RUNS)
def test_fault_at_any_step_leaves_the_old_state_or_the_new(usual: Report, operation: str) -> None:
    found = usual[operation]
    assert found["cases"] >= len(found["steps"]) > 2
    assert found["bad"] == []


@pytest.mark.parametrize("operation", FILES + RUNS)
def test_power_cut_loses_nothing_that_was_there(usual: Report, operation: str) -> None:
    assert usual[operation]["lost_without_power"] == []


def test_harness_finds_careless_writers(usual: Report) -> None:
    found = usual["careless"]
    assert sum("neither old nor new" in " ".join(why) for _, _, why in found["bad"]) > 2
    lost = {text.rpartition("/")[2] for text in found["lost_without_power"]}
    assert "early was renamed before it was on the disk" in lost
    assert "in-place is not on the disk at the end" in lost


@pytest.mark.slow
@pytest.mark.parametrize("operation", [*FILES, "figure", *RUNS, "replaced-run"])
def test_every_fault_at_any_step_leaves_the_old_state_or_the_new(
    sweep: Callable[..., Report], operation: str
) -> None:
    found = sweep(f"{operation}:{EVERY}")[operation]
    assert found["cases"] >= 7 * len(found["steps"])
    assert found["bad"] == []
