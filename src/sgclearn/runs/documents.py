"""JSON documents, of plain values and written whole, and digests of files."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from sgclearn.files import replacing


def to_json(document: Any) -> str:
    r"""Document as indented JSON; numpy scalars and paths become plain, and what is no finite number null.

    Examples
    --------
    >>> to_json({"seconds": float("inf"), "hops": 2})
    '{\n  "seconds": null,\n  "hops": 2\n}'
    """
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)


def write_json(path: Path, document: Any) -> None:
    """Write a JSON file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(to_json(document) + "\n", encoding="utf-8")


def sha256_of(path: Path) -> str:
    """Digest of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, str | int):
        return value
    if not isinstance(value, float):
        return _plain(value.item())
    return value if math.isfinite(value) else None
