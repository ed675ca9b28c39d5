"""Shared by every test: where the real data is, and hypothesis without a clock."""

from __future__ import annotations

import os
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    # A process per core: threads of BLAS and torch would only wait for each other. They read this when they load.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import pytest
from hypothesis import HealthCheck, settings

# The machines that run the tests are shared: a deadline would measure the neighbours.
settings.register_profile("sgclearn", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sgclearn")


@pytest.fixture(scope="session", autouse=True)
def _no_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What somebody has fetched on this machine is not seen by the tests."""
    os.environ["SGCLEARN_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of real data, named by SGCLEARN_DATA; the test is skipped where there is none."""
    folder = os.environ.get("SGCLEARN_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data: SGCLEARN_DATA does not name a folder")
    return Path(folder)
