"""Which code was measured: one number over all that a case runs."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

SOURCES = (".py", ".cpp", ".hpp", ".inc", ".so", ".pyd")  # the compiled kernel among them
PEERS = "bench/constraints.txt"  # which versions of them
# What no case runs: a change there leaves measurements as good as they were.
NOT_MEASURED = ("cli", "paper", "experiments", "baselines", "bench/plots.py", "bench/tables.py")


@cache
def code_fingerprint(root: Path | None = None) -> str:
    """Short SHA-256 of the package's sources and its kernel; changes with any of them.

    Parameters
    ----------
    root : Path, optional
        Folder of the package; this one if not given.

    Examples
    --------
    >>> code_fingerprint() == code_fingerprint(), len(code_fingerprint())
    (True, 16)
    """
    root = Path(__file__).parents[1] if root is None else root
    left_out = {root / name for name in NOT_MEASURED}
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        counts = path.suffix in SOURCES or path == root / PEERS
        if counts and not left_out & {path, *path.parents}:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]
