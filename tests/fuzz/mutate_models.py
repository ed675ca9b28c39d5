"""Changes of model files (signed again), of JSON and of Parquet."""

from __future__ import annotations

import io
import json
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fuzz.mutate_archives import array_of, npy_of, retyped, values_changed
from fuzz.mutate_bytes import mutate_bytes
from fuzz.values import ENCODINGS, FLOATS, INTEGERS, TEXTS


def mutate_safetensors(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change the model's header or tensors and sign it again, or change the container around them."""
    from safetensors.numpy import load

    size = struct.unpack("<Q", data[:8])[0]
    outer = json.loads(data[8 : 8 + size])
    if rng.random() < 0.2:
        text = json.dumps(change_json(rng, outer)).encode()
        return (
            struct.pack("<Q", len(text) if rng.random() < 0.8 else rng.choice(INTEGERS) % 2**64)
            + text
            + data[8 + size :]
        )
    (key,) = outer["__metadata__"]
    header = json.loads(outer["__metadata__"][key])
    header.pop("sha256", None)
    tensors = load(data)
    if rng.random() < 0.7:
        header = change_json(rng, header)
    else:
        name = rng.choice(sorted(tensors))
        content = npy_of(tensors[name])
        changed = array_of(rng.choice((values_changed, values_changed, retyped))(rng, content))
        if changed.dtype.kind in "fiub" and changed.dtype.itemsize <= 8:
            tensors[name] = changed
        if rng.random() < 0.1:
            tensors.pop(name)
    return signed(header, tensors)


def signed(header: Any, tensors: dict[str, Any]) -> bytes:
    """A model file whose checksum fits, whatever its header says."""
    from safetensors.numpy import save

    from sgclearn.persist.container import CHECKSUM, FORMAT, _checksum, _text

    plain = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    if isinstance(header, dict):
        header = {**header, CHECKSUM: _checksum(header, plain)}
    return bytes(save(plain, metadata={FORMAT: _text(header)}))


def change_json(rng: random.Random, document: Any) -> Any:
    """Replace, drop, double or wrap one value somewhere in a document."""
    document = json.loads(json.dumps(document))
    places: list[tuple[Any, Any]] = []

    def walk(held: Any) -> None:
        for key in list(held) if isinstance(held, dict) else range(len(held)):
            places.append((held, key))
            if isinstance(held[key], dict | list):
                walk(held[key])

    if isinstance(document, dict | list):
        walk(document)
    if not places:
        return _odd_json(rng)
    held, key = rng.choice(places)
    match rng.randrange(6):
        case 0:
            del held[key]
        case 1:
            held[key] = [held[key]] * rng.choice((1, 2, 50))
        case 2:
            other, place = rng.choice(places)
            held[key] = (
                json.loads(json.dumps(other[place])) if place in other or isinstance(other, list) else None
            )
        case 3 if isinstance(held, dict):
            held[rng.choice((*TEXTS[:40], "x"))] = held.pop(key)
        case _:
            held[key] = _odd_json(rng)
    return document


def _odd_json(rng: random.Random) -> Any:
    nested: Any = []
    for _ in range(rng.choice((3, 60, 400))):
        nested = [nested]
    return rng.choice(
        (None, True, False, [], {}, "", nested, {"float": "nan"}, {"float": "inf"}, {"pairs": [[1, 2]]}, {"pairs": 3},
         {"polynomial": {"filter": "HeatFilter", "hops": 9999, "t": 1e9}}, rng.choice(INTEGERS), rng.choice(FLOATS),
         {"polynomial": {"filter": "PowerFilter", "hops": rng.choice(INTEGERS)}}, rng.choice(TEXTS),
         rng.choice(INTEGERS),
         {"polynomial": {"filter": "CustomFilter", "values": [1e308, 1e308]}}, {"float": nested}, 10**400)
    )  # fmt: skip


def mutate_json(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change a value, or make the text deep, long or broken."""
    if rng.random() < 0.7:
        text = json.dumps(change_json(rng, json.loads(data)))
    else:
        text = data.decode()
        at = rng.randrange(len(text) + 1)
        text = text[:at] + _odd_json_text(rng) + text[at:]
    if rng.random() < 0.1:
        return text.encode(rng.choice(ENCODINGS), "replace")
    return text.encode("utf-8", "surrogatepass")


def _odd_json_text(rng: random.Random) -> str:
    return rng.choice(
        (
            "[" * 100_000,
            '{"a":' * 5000,
            "9" * 5000,
            "1e999",
            "NaN",
            "\\ud800",
            "//x",
            "\x00",
            "-",
            '"' + "\\u0000" * 9 + '"',
        )
    )


def mutate_json_lines(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change one of the lines."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    if rng.random() < 0.2:
        lines[at : at + 1] = [lines[at]] * rng.choice((0, 2, 30))
    else:
        lines[at] = mutate_json(rng, lines[at] or b"{}", others)
    return b"\n".join(lines)


def mutate_parquet(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change bytes of the footer, or write a table with columns of other types."""
    if rng.random() < 0.4:
        return _odd_parquet(rng, data)
    size = struct.unpack("<I", data[-8:-4])[0]
    footer = mutate_bytes(rng, data[-8 - size : -8], others)
    length = len(footer) if rng.random() < 0.8 else rng.choice(INTEGERS) % 2**32
    return data[: -8 - size] + footer + struct.pack("<I", length) + b"PAR1"


def _odd_parquet(rng: random.Random, data: bytes) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(data))
    n = rng.choice((0, 1, 2, table.num_rows, 5))
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: pa.array([[1, 2]] * n), lambda: pa.array([{"a": 1}] * n, pa.struct([("a", pa.int64())])),
        lambda: pa.array(["x", "y", "x", "z", "x"][:n]).dictionary_encode(), lambda: pa.nulls(n),
        lambda: pa.array([b"\xff\xfe"] * n), lambda: pa.array([float("nan")] * n), lambda: pa.array([1e308] * n),
        lambda: pa.array([None, *range(n)][:n], pa.int64()), lambda: pa.array([2**63 + k for k in range(n)],
        pa.uint64()),
        lambda: pa.array(range(n), pa.timestamp("ns")), lambda: pa.array(range(n), pa.date32()),
        lambda: pa.array(range(n), pa.duration("s")), lambda: pa.array(range(n), pa.time64("us")),
        lambda: pa.array([True, False, None, True, False][:n]), lambda: pa.array(range(n), pa.int8()),
        lambda: pa.array(np.arange(n, dtype=np.float16)), lambda: pa.array(range(n), pa.decimal128(38, 3)),
        lambda: pa.array(["\x00", "", None, "é", "a" * 99][:n]), lambda: pa.array(["a"] * n, pa.large_string()),
        lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())), lambda: pa.array(range(n), pa.float32()),
        lambda: pa.array([b"12"] * n, pa.binary(2)), lambda: pa.array(range(n)),
        lambda: pa.array([f"v{k}" for k in range(n)]),
        lambda: pa.array([None] * n, pa.string()), lambda: pa.array(range(n), pa.timestamp("us", tz="UTC")),
    )  # fmt: skip
    names = list(table.column_names)
    if rng.random() < 0.2:
        names = [
            rng.choice((*names, "", "source", "id", "x")) for _ in range(rng.choice((0, 1, 2, 4, len(names))))
        ]
    keep = len(names) == len(table.column_names) and rng.random() < 0.7 and n == table.num_rows
    columns = [
        table.column(at) if keep and rng.random() < 0.6 else rng.choice(kinds)() for at in range(len(names))
    ]
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, names=names), stream)
    return stream.getvalue()
