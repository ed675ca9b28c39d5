"""What a result was measured with: versions, processor, threads; nothing that names the machine or its owner."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sgclearn.propagation.engines.threads import ENVIRONMENT_VARIABLES
from sgclearn.version import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "torch_geometric", "optuna")


@cache
def versions() -> dict[str, str]:
    """Versions of Python, of this package, and of those that are installed among the ones that can matter."""
    found = {"python": platform.python_version(), "sgclearn": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@cache
def machine() -> dict[str, Any]:
    """Model of the processor, number of cores, and system.

    Examples
    --------
    >>> sorted(machine())
    ['cores', 'cpu', 'system']
    """
    return {"cpu": _cpu(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}


def in_words(line: Mapping[str, Any]) -> str:
    """Machine, threads and versions of a result line or document.

    Examples
    --------
    >>> on = {"cpu": "Zen", "cores": 8, "system": "Linux x86_64"}
    >>> in_words({"machine": on, "threads": 1, "versions": {"numpy": "2.3", "scipy": "1.16"}})
    'Zen, 8 cores, Linux x86_64, 1 thread; numpy 2.3, scipy 1.16'
    """
    on = line["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in line["versions"].items())
    threads = f"{line['threads']} thread" + ("s" if line["threads"] != 1 else "")
    return f"{on['cpu']}, {on['cores']} cores, {on['system']}, {threads}; {packages}"


def _cpu() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    return platform.processor() or platform.machine()


@contextmanager
def threads_limited(n_threads: int) -> Iterator[None]:
    """Give every model the same threads: this package's kernel, BLAS, OpenMP, and torch where it is loaded."""
    from threadpoolctl import threadpool_limits

    torch = sys.modules.get("torch")
    before = None if torch is None else torch.get_num_threads()
    variable = ENVIRONMENT_VARIABLES[0]
    kernel = os.environ.get(variable)
    os.environ[variable] = str(n_threads)
    with threadpool_limits(n_threads):
        if torch is not None:
            torch.set_num_threads(n_threads)
        try:
            yield
        finally:
            if kernel is None:
                del os.environ[variable]
            else:
                os.environ[variable] = kernel
            if torch is not None:
                torch.set_num_threads(before)
