"""The harness runs in processes of its own: with faults, and with rivals."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Report = dict[str, Any]


def report_of(script: str, scratch: Path, *arguments: str, preload: Path | None = None) -> Report:
    """Run a script of this folder and give its report."""
    paths = [str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    more = {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "SGC_TRACEBACK": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if preload is not None:
        more["LD_PRELOAD"] = str(preload)
    command = [sys.executable, str(HERE / script), str(scratch), *arguments]
    run = subprocess.run(command, env=os.environ | more, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    report: Report = json.loads(run.stdout)
    return report


@pytest.fixture(scope="session")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interposed layer, compiled."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler: the interposed layer cannot be built")
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "faults.c", "-ldl"], check=True
    )
    return library


@pytest.fixture(scope="session")
def sweep(faults: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Report]:
    """Interrupt operations, each named as `OPERATION:KIND,KIND`."""
    return lambda *which: report_of("sweep.py", tmp_path_factory.mktemp("sweep"), *which, preload=faults)


@pytest.fixture
def contest(tmp_path: Path) -> Callable[..., Report]:
    """Repeat a contest of processes so many times."""
    if sys.platform == "win32":
        pytest.skip("needs fork: the contests cannot be held")
    return lambda name, count: report_of("rivals.py", tmp_path, name, str(count))
