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


def check(name: str, found: Report) -> None:
    assert found["cases"] >= len(found["steps"]) > 2, name
    assert found["bad"] == [], name
    assert found["lost_without_power"] == [], name


def test_fault_while_a_file_is_written_leaves_the_old_state_or_the_new(sweep: Callable[..., Report]) -> None:
    report = sweep(*(f"{name}:{USUAL}" for name in FILES))
    assert list(report) == FILES
    for name, found in report.items():
        check(name, found)


@pytest.mark.parametrize("name", RUNS)
def test_fault_while_a_run_is_written_leaves_the_old_state_or_the_new(
    sweep: Callable[..., Report], name: str
) -> None:
    check(name, sweep(f"{name}:{FEWER.get(name, USUAL)}")[name])


def test_harness_finds_careless_writers(sweep: Callable[..., Report]) -> None:
    found = sweep("careless:kill,torn")["careless"]
    assert sum("neither old nor new" in " ".join(why) for _, _, why in found["bad"]) > 2
    lost = {text.rpartition("/")[2] for text in found["lost_without_power"]}
    assert "early was renamed before it was on the disk" in lost
    assert "in-place is not on the disk at the end" in lost


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FILES, "figure", *RUNS, "replaced-run"])
def test_every_fault_at_any_step_leaves_the_old_state_or_the_new(
    sweep: Callable[..., Report], name: str
) -> None:
    found = sweep(f"{name}:{EVERY}")[name]
    check(name, found)
    assert found["cases"] >= 7 * len(found["steps"])
