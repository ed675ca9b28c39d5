"""What was measured on: processor, caches, memory, versions. No names of people, hosts or folders."""

from __future__ import annotations

import contextlib
import os
import platform
from pathlib import Path
from typing import Any


def describe_machine() -> dict[str, Any]:
    """Processor, cores, caches, memory and Python, as far as the system tells.

    Examples
    --------
    >>> sorted(describe_machine())
    ['caches', 'cores', 'cpu', 'memory_bytes', 'python', 'system']
    """
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "caches": _caches(),
        "memory_bytes": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def sentence(machine: dict[str, Any]) -> str:
    """Say it on one line.

    Examples
    --------
    >>> sentence({"cpu": "Fast 3", "cores": 2, "caches": {"L3": "48 MB"}, "memory_bytes": 25e9,
    ...           "system": "Linux x86_64", "python": "3.11.9"})
    'Fast 3, 2 cores, L3 48 MB, 25 GB of memory, Linux x86_64, Python 3.11.9'
    """
    caches = [f"{name} {size}" for name, size in machine["caches"].items()]
    memory = [] if machine["memory_bytes"] is None else [f"{machine['memory_bytes'] / 1e9:.0f} GB of memory"]
    parts = [machine["cpu"], f"{machine['cores']} cores", *caches, *memory]
    return ", ".join([*parts, machine["system"], f"Python {machine['python']}"])


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.processor() or "unknown processor"


def _caches() -> dict[str, str]:
    """Size of each cache that holds data, as one core sees it."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        with contextlib.suppress(OSError):
            if (folder / "type").read_text().strip() != "Instruction":
                size = (folder / "size").read_text().strip().removesuffix("K")
                kilobytes = int(size)
                text = f"{kilobytes} KB" if kilobytes < 1024 else f"{kilobytes / 1024:g} MB"
                found[f"L{(folder / 'level').read_text().strip()}"] = text
    return found


def _memory() -> int | None:
    with contextlib.suppress(ValueError, OSError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None
