"""How much memory a computation may use: an argument, an environment variable, or what is left."""

from __future__ import annotations

import math
import os
import re
import time
from pathlib import Path

from sgclearn.errors import InputError
from sgclearn.validation.parameters import Number, shown

ENVIRONMENT_VARIABLE = "SGCLEARN_MEMORY_LIMIT"
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
_MOST_BYTES = 2**16  # of such a file
_FRESH_SECONDS = 0.02
_latest: dict[str, tuple[float, int]] = {}  # one entry, replaced whole, so that threads need no lock
# Left to the rest of the machine when the limit is not given.
_SHARE = 0.8


def memory_limit_bytes(limit: int | float | str | None = None) -> int:
    """Bytes that may be used: `limit`, else SGCLEARN_MEMORY_LIMIT, else 80 % of what is available.

    Examples
    --------
    >>> memory_limit_bytes("2 GB")
    2000000000
    """
    if limit is None:
        limit = os.environ.get(ENVIRONMENT_VARIABLE) or None
    if limit is None:
        return int(_lately_available() * _SHARE)
    if isinstance(limit, str):
        return _parse(limit)
    number = Number(low=1).plain(limit)
    if number is None:
        raise InputError(
            "memory_limit must be a positive number of bytes or a text such as '4GB'",
            shown(limit),
            argument="memory_limit",
        )
    return int(number)


def format_bytes(count: float) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> format_bytes(31_000_000)
    '31.0 MB'
    """
    count = Number().check("a number of bytes", count)
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _parse(text: str) -> int:
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", text)
    unit = _UNITS.get(match.group(2).upper()) if match else None
    count = float(match.group(1)) * unit if match and unit else 0.0
    if not 1 <= count < math.inf:
        raise InputError(
            f"memory_limit (or {ENVIRONMENT_VARIABLE}) must look like '4GB' or '500MiB'",
            shown(text),
            argument="memory_limit",
        )
    return int(count)


def _lately_available() -> int:
    """What was available when somebody asked, at most 20 ms ago: the system takes long to say it, for a small fit."""
    now = time.monotonic()
    at, available = _latest.get("available", (-math.inf, 0))
    if now - at > _FRESH_SECONDS:
        at, available = _latest["available"] = now, _available_bytes()
    return available


def _available_bytes() -> int:
    candidates = [_meminfo_available(_MEMINFO), _cgroup_left(_CGROUP)]
    known = [value for value in candidates if value is not None]
    if known:
        return min(known)
    try:  # pragma: no cover - systems without /proc
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES")) // 2
    except (AttributeError, OSError, ValueError):  # pragma: no cover
        return 4 * 2**30


def _meminfo_available(path: Path) -> int | None:
    match = re.search(rb"MemAvailable:\s+(\d+) kB", _contents(path) or b"")
    return int(match.group(1)) * 1024 if match else None


def _cgroup_left(folder: Path) -> int | None:
    """Memory left to a container, which /proc/meminfo does not know of."""
    limit = _contents(folder / "memory.max")
    if limit is None:
        return None
    try:
        left = int(limit) - int(
            _contents(folder / "memory.current") or b""
        )  # "max" means none, and is no number
    except ValueError:
        return None
    # Files that the system keeps in memory count as used, but give way.
    cached = re.search(rb"^inactive_file (\d+)$", _contents(folder / "memory.stat") or b"", re.MULTILINE)
    return max(left + (int(cached.group(1)) if cached else 0), 1)


def _contents(path: Path) -> bytes | None:
    """A small file of the system's, in a few microseconds: every fit reads some; None where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(descriptor, _MOST_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
