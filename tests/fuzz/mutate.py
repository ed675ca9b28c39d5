"""Turn valid files into files that are nearly valid.

Byte-level changes find faults of parsers; structure-aware ones keep checksums, sizes and CRCs right, so that the
damage gets past the first check and reaches the code behind it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable, Sequence
from typing import Any

from fuzz.corpus import Bundle
from fuzz.mutate_archives import mutate_npz, mutate_zip
from fuzz.mutate_bytes import Mutator, mutate_bytes
from fuzz.mutate_models import mutate_json, mutate_json_lines, mutate_parquet, mutate_safetensors
from fuzz.mutate_text import mutate_pickle, mutate_table, mutate_xml

MOST = 1 << 20  # bytes of a mutated file

_PACKERS: dict[str, tuple[Callable[[bytes], bytes], Callable[..., Any]]] = {
    ".gz": (gzip.compress, gzip.open),
    ".bz2": (bz2.compress, bz2.open),
    ".xz": (lzma.compress, lzma.open),
}


def mutate_bundle(rng: random.Random, bundle: Bundle, others: Sequence[Bundle]) -> tuple[Bundle, str]:
    """Change one file of a bundle, seldom two; gives the new bundle and the name of the changed file."""
    changed, name = dict(bundle), ""
    for _ in range(1 + (rng.random() < 0.05)):
        name = rng.choice(sorted(bundle))
        # A reader is given the names of its files; only a folder can turn out to lack one.
        if len(bundle) > 1 and "/" in name and rng.random() < 0.02:
            changed.pop(name, None)
            continue
        same_kind = [
            held for other in others for path, held in other.items() if _suffix(path) == _suffix(name)
        ]
        changed[name] = mutate(rng, name, changed.get(name, b""), same_kind or [b""])
    if not changed:
        changed = {name: b""}
    return changed, name


def mutate(rng: random.Random, name: str, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change a file, by its kind or byte by byte, once or a few times."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        try:
            data = _mutator(rng, name)(rng, data, others)[:MOST]
        except (
            Exception
        ):  # an earlier change made it a file of no kind, which any parser may refuse in its own way
            data = mutate_bytes(rng, data, others)[:MOST]
    return data


def _suffix(name: str) -> str:
    return "." + name.rpartition(".")[2]


def _mutator(rng: random.Random, name: str) -> Mutator:
    suffix = _suffix(name)
    if rng.random() < 0.25:
        return mutate_bytes
    if suffix in _PACKERS:
        return _inside(suffix, name.removesuffix(suffix))
    return {
        ".npz": mutate_npz,
        ".zip": mutate_zip,
        ".safetensors": mutate_safetensors,
        ".parquet": mutate_parquet,
        ".graphml": mutate_xml,
        ".json": mutate_json,
        ".jsonl": mutate_json_lines,
        ".csv": mutate_table,
        ".tsv": mutate_table,
        ".txt": mutate_table,
        ".svm": mutate_table,
        ".content": mutate_table,
        ".cites": mutate_table,
        ".index": mutate_table,
    }.get(suffix, mutate_pickle if name.startswith("ind.") else mutate_bytes)


def _inside(suffix: str, name: str) -> Mutator:
    pack, opened = _PACKERS[suffix]

    def unpack(data: bytes) -> bytes:
        with opened(io.BytesIO(data)) as stream:
            return bytes(stream.read(MOST))  # the file may be a bomb by now

    def mutated(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
        if rng.random() < 0.02:
            return bomb(suffix, rng.choice((10, 300, 600)))
        plain = []
        for other in others:
            try:
                plain.append(unpack(other))
            except Exception:
                continue
        inner = mutate(rng, name, unpack(data), plain or [b""])
        return bytes(pack(inner)) * rng.choice((1, 1, 1, 2))

    return mutated


def bomb(suffix: str, megabytes: int) -> bytes:
    """A small file that unpacks to so many megabytes, as streams one behind the other."""
    pack, _ = _PACKERS[suffix]
    return bytes(pack(b"1" * (10 << 20))) * (megabytes // 10)
