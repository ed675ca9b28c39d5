"""Which instructions the kernel uses: the best there are unless it is held back, and the same answers with all."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ORDER = ["baseline", "avx2", "avx512"]
# Every kernel that is compiled more than once, for all types of numbers and indices, against dense numpy.
SUITES = [
    "propagation/test_native_indices.py",
    "estimators/test_small.py",
]


def best_instructions() -> str:
    """What the system says that this processor has."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "baseline"
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        pytest.skip("this system does not tell in /proc/cpuinfo what its processor has")
    flags = next(line for line in text.splitlines() if line.startswith("flags")).split()
    if "avx512f" in flags:
        return "avx512"
    return "avx2" if {"avx2", "fma"} <= set(flags) else "baseline"


def run(*arguments: str, limit: str | None) -> subprocess.CompletedProcess[str]:
    """Python with the instructions held back, in a process of its own: they are chosen once."""
    environment = {key: value for key, value in os.environ.items() if key != "SGCLEARN_INSTRUCTIONS"}
    if limit is not None:
        environment["SGCLEARN_INSTRUCTIONS"] = limit
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)


def chosen(limit: str | None) -> str:
    program = "from sgclearn._native import _kernel; print(_kernel.instruction_set())"
    return run("-c", program, limit=limit).stdout.strip()


def test_instruction_set_is_the_best_of_the_processor():
    assert chosen(None) == chosen("") == chosen("avx512") == best_instructions()


@pytest.mark.parametrize("limit", ["baseline", "avx2"])
def test_instruction_set_can_be_held_back_and_gives_the_same(limit):
    expected = ORDER[min(ORDER.index(limit), ORDER.index(best_instructions()))]
    assert chosen(limit) == expected
    if expected != limit:
        pytest.skip(f"this processor has no {limit}, so nothing is held back")
    suites = [str(ROOT / "tests" / suite) for suite in SUITES]
    which = "native and not walked_rows"  # these have no vectors of their own
    suite = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", which, *suites, limit=limit)
    assert suite.returncode == 0, suite.stdout


def test_instruction_set_that_is_misspelt_is_an_error():
    program = "from sgclearn.propagation.engines import get_engine; get_engine('native')"
    message = run("-c", program, limit="avx-2").stderr.splitlines()[-1]
    assert message == (
        "sgclearn.errors.InputError: SGCLEARN_INSTRUCTIONS must be avx512, avx2 or baseline: got 'avx-2'; "
        "leave it out for the best that the processor has."
    )
