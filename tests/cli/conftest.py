"""A small graph in files, and `sgc` run in this process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_runs import Files, Result, Sgc

from sgclearn.cli.app import run

N = 15  # people in each ring


@pytest.fixture
def sgc(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sgc:
    """Run a command in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SGC_TRACEBACK", "1")

    def call(*arguments: object) -> Result:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def files(tmp_path: Path) -> Files:
    rng = np.random.default_rng(1906)
    made = Files(tmp_path)
    names = [f"r{k:02d}" for k in range(N)] + [f"b{k:02d}" for k in range(N)]
    rings = [(ring * N + k, ring * N + (k + 1) % N) for ring in (0, 1) for k in range(N)]
    pairs = [*rings, (3, N + 3)]
    made.edges.write_text("source,target\n" + "".join(f"{names[a]},{names[b]}\n" for a, b in pairs))
    rows = []
    for k, name in enumerate(names):
        mean = 1.0 if k < N else -1.0
        x = rng.normal(mean, 1.0, 2)
        rows.append(f"{name},{x[0]:.4f},{x[1]:.4f},{'Bern' if k % 2 else 'Graz'}\n")
    made.features.write_text("id,height,width,city\n" + "".join(rows))
    made.labels.write_text(
        "id,label\n"
        + "".join(f"{name},{'red' if k < N else 'blue'}\n" for k, name in enumerate(names) if k % 3)
    )
    return made


@pytest.fixture
def run_folder(sgc: Sgc, files: Files, tmp_path: Path) -> Path:
    """Folder of a fit."""
    assert sgc("fit", *files.options, "--weight-decay", "1e-3", "--out", "run").code == 0
    return tmp_path / "run"
