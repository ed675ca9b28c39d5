"""The peers' own Python environment: made once, one package after the other, and honest about what is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from sgclearn.errors import InputError
from sgclearn.files import replacing

# Each line is installed by itself, so that one that cannot be had takes no other with it.
PEERS = (
    ("numpy", "scipy"),
    ("torch",),
    ("torch_geometric",),
    ("scikit-network",),
    ("mkl", "sparse_dot_mkl"),
    ("python-graphblas",),
)
RECORD = "peers.json"
OnPackage = Callable[[int, int], None]


@dataclass(frozen=True)
class PeerEnvironment:
    """Python of the peers, and the reason for each package that could not be installed."""

    python: Path
    missing: dict[str, str]


def constraints() -> str:
    """Versions of the peers that the published figures were measured with."""
    return resources.files("sgclearn.bench").joinpath("constraints.txt").read_text(encoding="utf-8")


def default_folder() -> Path:
    """In the user's cache, which is where a program keeps what it can make again."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "sgclearn" / "bench-peers"


def peer_environment(folder: Path, on_package: OnPackage | None = None) -> PeerEnvironment:
    """Give the environment in a folder, made and filled if it is not there or was made for other versions.

    Parameters
    ----------
    folder : Path
        Of the environment; it must be empty, new, or made by this function.
    on_package : callable, optional
        Called as `f(done, of)` after every package.

    Notes
    -----
    Packages come from wherever pip is configured to look.
    """
    python, record = folder / ("Scripts" if os.name == "nt" else "bin") / "python", folder / RECORD
    wanted = constraints()
    if record.exists():
        found = json.loads(record.read_text(encoding="utf-8"))
        if found["constraints"] == wanted and not found["missing"] and python.exists():
            return PeerEnvironment(python, {})
    elif folder.exists() and any(folder.iterdir()):
        raise InputError(
            "the peers' environment must have a folder of its own",
            f"{folder}, which holds something else",
            "name a new one",
        )
    _make(folder, python)
    pinned = folder / "constraints.txt"
    pinned.write_text(wanted, encoding="utf-8")
    missing: dict[str, str] = {}
    for done, packages in enumerate(PEERS, start=1):
        fault = _pip(python, "install", "-c", str(pinned), *packages)
        if fault is not None:
            missing.update(dict.fromkeys(packages, fault))
        if on_package is not None:
            on_package(done, len(PEERS))
    with replacing(record) as temporary:
        temporary.write_text(json.dumps({"constraints": wanted, "missing": missing}), encoding="utf-8")
    return PeerEnvironment(python, missing)


def _make(folder: Path, python: Path) -> None:
    if python.exists():
        return
    made = _run([sys.executable, "-m", "venv", str(folder)])
    if made is None:
        return
    # Some systems ship Python without ensurepip: there the pip at hand puts pip into the environment.
    fault = _run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)])
    fault = fault or _run([sys.executable, "-m", "pip", "-qq", "--python", str(python), "install", "pip"])
    if fault is not None:
        raise InputError(f"the peers need an environment of their own, which could not be made: {fault}.")


def _pip(python: Path, *arguments: str) -> str | None:
    return _run([str(python), "-m", "pip", "-q", "--disable-pip-version-check", *arguments])


def _run(command: Sequence[str]) -> str | None:
    """Nothing if the command ended well, else the last line it wrote."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return None
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return " ".join(lines[-1].split()) if lines else f"exit code {done.returncode}"
