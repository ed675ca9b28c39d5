"""Build the sdist and a wheel per interpreter into dist/, and try each wheel in a fresh environment.

Run it with `make wheels`, or `make wheels PYTHONS="python3.11 python3.12"`. A wheel is installed with its core
dependencies only; then it is imported, fits the embedded graph, saves and loads a model, and passes the tests that
lean on the kernel. The last line for each interpreter names what auditwheel makes of the wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
SUPPORTED = ("python3.11", "python3.12", "python3.13")
TESTS = ("tests/propagation/test_engines.py", "tests/estimators/test_small.py", "tests/persist")
SMOKE = """
import sys
from pathlib import Path
import numpy as np
import sgclearn
from sgclearn import SGCClassifier, load_dataset, load_model, save_model
from sgclearn._native import load_kernel

assert Path(sgclearn.__file__).is_relative_to(sys.prefix), sgclearn.__file__
assert load_kernel() is not None, "the wheel has no kernel"
data = load_dataset("debian", seed=7)
model = SGCClassifier(n_hops=2, row_norm="l2").fit(data.X, data.train_labels(), graph=data.graph)
accuracy = np.mean(model.transduction_[data.test] == data.y[data.test])
assert accuracy > 0.7, accuracy
save_model(model, "model.safetensors")
again = load_model("model.safetensors").predict_proba(data.X, graph=data.graph)
assert np.array_equal(again, model.predict_proba(data.X, graph=data.graph))
"""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Output of a command; where it fails, what it wrote and the end."""
    # A PYTHONPATH of the caller would put other packages in the place of those under test.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    finished = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if finished.returncode:
        raise SystemExit(f"{finished.stdout}\n{' '.join(map(str, command))} must succeed: got the above.")
    return finished.stdout


def interpreters() -> list[str]:
    """The supported interpreters that PATH has and that start; a version manager may leave names that do not."""
    return [
        name
        for name in SUPPORTED
        if shutil.which(name) and not subprocess.call([name, "-c", ""], stderr=subprocess.DEVNULL)
    ]


def build_wheel(python: Path, sdist: Path) -> Path:
    """The wheel of the interpreter, in dist/."""
    with tempfile.TemporaryDirectory() as folder:
        run(*pip(python), "wheel", "-q", "--no-deps", "-w", folder, sdist)
        (wheel,) = Path(folder).glob("*.whl")
        if "none-any" in wheel.name:
            raise SystemExit(
                f"{wheel.name} must have the kernel: got a build without; is there a C++ compiler?"
            )
        return Path(shutil.copy(wheel, DIST))


def pip(python: Path) -> tuple[str | Path, ...]:
    """The pip of this environment, at work in another: a fresh one then needs none."""
    return (sys.executable, "-m", "pip", "--python", python)


def try_wheel(python: Path, wheel: Path, folder: Path) -> str:
    """The summary of the tests, once everything before them has passed."""
    run(*pip(python), "install", "-q", wheel)
    run(python, "-c", SMOKE, cwd=folder)
    run(python.parent / "sgc", "fit", "--out", "run", cwd=folder)
    run(*pip(python), "install", "-q", "pytest", "hypothesis")
    # The tests' own helpers, but not src: it is the wheel that has to pass.
    options = ("-o", "pythonpath=tests tests/estimators", "-p", "no:cacheprovider")
    return run(python, "-m", "pytest", "-q", *options, *TESTS).splitlines()[-1]


def main(names: list[str]) -> None:
    names = names or interpreters()
    if not names:
        raise SystemExit(f"PATH must have one of {', '.join(SUPPORTED)}: got none; name one with PYTHONS=.")
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "-q", "--sdist", "-o", DIST)
    (sdist,) = DIST.glob("*.tar.gz")
    print(f"{sdist.name}: {sdist.stat().st_size:,} bytes", flush=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            run(name, "-m", "venv", "--without-pip", f"{folder}/env")
            python = Path(folder, "env", "bin", "python")
            wheel = build_wheel(python, sdist)
            summary = try_wheel(python, wheel, Path(folder))
        shown = run(Path(sys.executable).with_name("auditwheel"), "show", wheel)
        tag = re.search(r'platform tag:\s+"(\w+)"', shown)
        print(
            f"{wheel.name}: {wheel.stat().st_size:,} bytes\n  {summary}\n  {tag[1] if tag else shown}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
