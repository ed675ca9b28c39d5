"""Turn valid files into files that are nearly valid.

Byte-level changes find faults of parsers; structure-aware ones keep checksums, sizes and CRCs right, so that the
damage gets past the first check and reaches the code behind it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy

from fuzz.corpus import Bundle
from fuzz.values import ENCODINGS, FLOATS, INTEGERS, TEXTS

MOST = 1 << 20  # bytes of a mutated file
Mutator = Callable[[random.Random, bytes, Sequence[bytes]], bytes]

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


# ---- bytes -----------------------------------------------------------------------------------------------


def mutate_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Flip, cut, repeat, splice, or overwrite a number of 1 to 8 bytes."""
    out = bytearray(data or b"\0")
    at = rng.randrange(len(out))
    until = min(len(out), at + rng.choice((1, 2, 4, 8, 16, 64, len(out))))
    match rng.randrange(9):
        case 0:
            for _ in range(rng.choice((1, 1, 2, 8))):
                out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
        case 1:
            out[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        case 2:
            del out[at:]
        case 3:
            del out[at:until]
        case 4:
            out[at:at] = out[at:until] * rng.choice((1, 1, 2, 16, 200))
        case 5:
            out[at:at] = rng.randbytes(rng.choice((1, 2, 8, 64)))
        case 6:
            other = rng.choice(list(others)) or b"\0"
            out[at:] = other[rng.randrange(len(other)) :]
        case 7:
            width = rng.choice((1, 2, 4, 8))
            value = rng.choice(INTEGERS) % (1 << 8 * width)
            out[at : at + width] = value.to_bytes(width, rng.choice(("little", "little", "big")))
        case _:
            start = rng.randrange(len(out))
            out[at:until], out[start : start + until - at] = out[start : start + until - at], out[at:until]
    return bytes(out)


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


# ---- zip archives of arrays ------------------------------------------------------------------------------

_NAMES = (
    "data", "indices", "indptr", "shape", "format", "row", "col", "coords", "offsets", "edges", "weights", "ids", "X",
    "features", "names", "x_data", "x_indices", "x_indptr", "x_shape", "directed", "sgclearn_graph", "../x", "/x", "",
    "_is_array", "y", "labels",
)  # fmt: skip
_DESCR = (
    "'<f8'", "'<f4'", "'<f2'", "'>f8'", "'<f16'", "'<c16'", "'<i8'", "'<i4'", "'>i4'", "'<i2'", "'|i1'", "'|u1'", "'<u8'",
    "'|b1'", "'|S0'", "'|S3'", "'<U0'", "'<U3'", "'|V0'", "'|V8'", "'|O'", "'<M8[s]'", "'<M8'", "'<m8[ns]'", "'<U999999999'",
    "'|S2147483647'", "[('a', '<f8')]", "[('a', '<f8', (3,))]", "[('a', '|V0')]", "('<f8', (2,))", "''", "'x'", "None", "3",
    "{}", "[]", "[('a', [('b', '<i4')])]", "'<i8,<i8'", "'(2,)f8'",
)  # fmt: skip
_SHAPES = (
    "()", "(0,)", "(1,)", "(-1,)", "(3,)", "(0, 0)", "(1000000000,)", "(2, 2)", "(4294967296, 4294967296)", "(0, 999999999999)",
    "(9223372036854775807,)", "(9223372036854775808,)", "(1.5,)", "(True,)", "3", "None", "('a',)", "(" + "1, " * 40 + ")",
    "[3]", "(3L,)", "(" * 300 + ")" * 300, "(999999999999999999,)",
)  # fmt: skip


def mutate_npz(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change the arrays of an archive, or the list of them, and write it again with sizes and checksums that fit."""
    members = _members(data)
    if not members:
        return mutate_bytes(rng, data, others)
    at = rng.randrange(len(members))
    name, content = members[at]
    match rng.randrange(10):
        case 0:
            members[at] = (name, _header_changed(rng, content))
        case 1 | 2 | 3 | 4:
            members[at] = (name, _values_changed(rng, content))
        case 5:
            members[at] = (name, _retyped(rng, content))
        case 6:
            members[at] = (name, mutate_bytes(rng, content, [held for _, held in members]))
        case 7:
            return mutate_zip(rng, data, others)
        case 8:
            array = _odd_array(rng)
            members[at] = (rng.choice((name, f"{rng.choice(_NAMES)}.npy")), _npy(array))
        case _:
            theirs = _members(rng.choice(list(others))) or members
            members[at] = (name, rng.choice(theirs)[1])
    return _zipped(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def mutate_zip(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change the list of members: names, order, compression, flags."""
    members = _members(data)
    if not members:
        return mutate_bytes(rng, data, others)
    at = rng.randrange(len(members))
    match rng.randrange(7):
        case 0:
            del members[at]
        case 1:
            members.append(members[at])
        case 2:
            members[at] = (
                f"{rng.choice(_NAMES)}{rng.choice(('.npy', '.npy', '', '.NPY', '/'))}",
                members[at][1],
            )
        case 3:
            other = rng.randrange(len(members))
            members[at], members[other] = (
                (members[at][0], members[other][1]),
                (members[other][0], members[at][1]),
            )
        case 4:
            methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
            return mutate_bytes(rng, _zipped(members, rng.choice(methods)), others)
        case 5:  # a field of an entry of the central directory
            return _directory_changed(rng, _zipped(members, zipfile.ZIP_DEFLATED))
        case _:
            members.append((rng.choice(("readme.txt", "data", "a/b.npy", "é.npy")), rng.randbytes(9)))
    return _zipped(members, zipfile.ZIP_STORED)


def _members(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def _zipped(members: Sequence[tuple[str, bytes]], method: int) -> bytes:
    import warnings

    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return stream.getvalue()


def _directory_changed(rng: random.Random, data: bytes) -> bytes:
    out, mark = bytearray(data), rng.choice((b"PK\1\2", b"PK\3\4", b"PK\5\6"))
    starts = [found.start() for found in re.finditer(re.escape(mark), data)]
    at = rng.choice(starts) + rng.choice((4, 6, 8, 10, 12, 14, 16, 20, 22, 24, 26, 28, 30, 32, 42))
    width = rng.choice((2, 4))
    out[at : at + width] = (rng.choice(INTEGERS) % (1 << 8 * width)).to_bytes(width, "little")
    return bytes(out)


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    npy.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


def _header_changed(rng: random.Random, content: bytes) -> bytes:
    """Another npy header, of the right length, before the same bytes or bytes that fit an itemsize of 0."""
    stream = io.BytesIO(content)
    npy.read_magic(stream)
    shape, fortran, dtype = npy.read_array_header_1_0(stream)
    body = stream.read()
    fields = {"descr": repr(npy.dtype_to_descr(dtype)), "fortran_order": repr(fortran), "shape": repr(shape)}
    for _ in range(rng.choice((1, 1, 2))):
        key = rng.choice(("descr", "shape", "shape", "fortran_order"))
        choices = {"descr": _DESCR, "shape": _SHAPES, "fortran_order": ("True", "False", "1", "None", "'x'")}
        fields[key] = rng.choice(choices[key])
    if rng.random() < 0.1:
        fields.pop(rng.choice(sorted(fields)))
    text = "{" + ", ".join(f"'{key}': {value}" for key, value in fields.items()) + "}"
    if rng.random() < 0.2:
        text = rng.choice(
            (
                text[:-1],
                text + ")",
                "(" * 50 + text,
                text + "\n1",
                text.replace("'", '"""'),
                "\x0c" + text,
                "1L",
            )
        )
    if rng.random() < 0.3:
        body = b""
    return npy_file(text, body, rng.choice(((1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (9, 9))))


def npy_file(header: str, body: bytes, version: tuple[int, int] = (1, 0)) -> bytes:
    """An npy file with any text for a header."""
    text = header.encode("latin-1", "replace") + b"\n"
    size = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return npy.MAGIC_PREFIX + bytes(version) + size + text + body


def _array_of(content: bytes) -> Any:
    return npy.read_array(io.BytesIO(content), allow_pickle=False)


def _values_changed(rng: random.Random, content: bytes) -> bytes:
    array = _array_of(content).copy()
    if array.dtype.kind not in "fiub" or array.size == 0 or rng.random() < 0.2:
        return _npy(_resized(rng, array))
    flat = array.reshape(-1)
    for _ in range(rng.choice((1, 1, 2, 4))):
        value = rng.choice((*INTEGERS, *FLOATS)) if array.dtype.kind == "f" else rng.choice(INTEGERS)
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            value = min(max(int(value), int(limits.min)), int(limits.max))
            if rng.random() < 0.5:
                value = int(flat[0]) + rng.randrange(-3, 4) if limits.min < 0 else rng.randrange(9)
        with np.errstate(all="ignore"):
            flat[rng.randrange(len(flat))] = value
    return _npy(flat.reshape(array.shape))


def _resized(rng: random.Random, array: Any) -> Any:
    flat = array.reshape(-1)
    match rng.randrange(6):
        case 0:
            return flat[: rng.randrange(len(flat) + 1)]
        case 1:
            return np.concatenate([flat, flat])
        case 2:
            return array[None]
        case 3:
            return flat[:1].reshape(()) if len(flat) else array
        case 4:
            return flat[::-1].reshape(array.shape)
        case _:
            return np.zeros(rng.choice(((0,), (0, 2), (3, 0), (1, 1, 1), (2, 2))), dtype=array.dtype)


def _retyped(rng: random.Random, content: bytes) -> bytes:
    types = (
        "f2",
        "f4",
        "f8",
        "g",
        "c16",
        "i1",
        "u1",
        "i2",
        "u4",
        "u8",
        "i8",
        ">i8",
        "?",
        "U3",
        "S3",
        "M8[s]",
        "m8[s]",
        "V8",
    )
    with np.errstate(all="ignore"):
        return _npy(_array_of(content).astype(rng.choice(types)))


def _odd_array(rng: random.Random) -> Any:
    choices: tuple[Any, ...] = (
        np.array("csr"), np.array(b"csr"), np.array("lil"), np.array(3), np.array([2**31, 5]), np.array([-1, 4]),
        np.array([4, 4, 4]), np.array([10**12, 10**12]), np.array([3.5, 2.0]), np.zeros(0), np.array("x" * 500),
        np.array([[0, 1], [1, 2**40]]), np.array([np.nan, 1.0]), np.array([True]), np.array(["a", "a"]),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([2**63], dtype=np.uint64), np.arange(3)[::-1], np.array([0, 10**9, 1]), np.array([0, 3, 1, 5, 4]),
    )  # fmt: skip
    return rng.choice(choices)


# ---- safetensors -----------------------------------------------------------------------------------------


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
        content = _npy(tensors[name])
        changed = _array_of(rng.choice((_values_changed, _values_changed, _retyped))(rng, content))
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


# ---- JSON ------------------------------------------------------------------------------------------------


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
         {"polynomial": {"filter": "PowerFilter", "hops": rng.choice(INTEGERS)}}, rng.choice(TEXTS), rng.choice(INTEGERS),
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


# ---- Parquet ---------------------------------------------------------------------------------------------


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
        lambda: pa.array([None, *range(n)][:n], pa.int64()), lambda: pa.array([2**63 + k for k in range(n)], pa.uint64()),
        lambda: pa.array(range(n), pa.timestamp("ns")), lambda: pa.array(range(n), pa.date32()),
        lambda: pa.array(range(n), pa.duration("s")), lambda: pa.array(range(n), pa.time64("us")),
        lambda: pa.array([True, False, None, True, False][:n]), lambda: pa.array(range(n), pa.int8()),
        lambda: pa.array(np.arange(n, dtype=np.float16)), lambda: pa.array(range(n), pa.decimal128(38, 3)),
        lambda: pa.array(["\x00", "", None, "é", "a" * 99][:n]), lambda: pa.array(["a"] * n, pa.large_string()),
        lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())), lambda: pa.array(range(n), pa.float32()),
        lambda: pa.array([b"12"] * n, pa.binary(2)), lambda: pa.array(range(n)), lambda: pa.array([f"v{k}" for k in range(n)]),
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


# ---- XML -------------------------------------------------------------------------------------------------


def mutate_xml(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Drop, repeat, swap and change tags and what is between them."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    tokens = [token for token in re.split(r"(<[^>]*>)", data.decode(encoding, "replace")) if token]
    if not tokens:
        return mutate_bytes(rng, data, others)
    at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    match rng.randrange(9):
        case 0:
            del tokens[at]
        case 1:
            tokens[at:at] = [tokens[at]] * rng.choice((1, 2, 50, 3000))
        case 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3:
            tokens[at] = re.sub(
                r'"[^"]*"', lambda _: f'"{rng.choice(TEXTS)}"', tokens[at], count=rng.choice((1, 2))
            )
        case 4:
            tokens.insert(at, rng.choice(TEXTS))
        case 5:
            depth = rng.choice((5, 500, 20_000))
            tokens.insert(at, "<a>" * depth + "</a>" * rng.choice((0, depth)))
        case 6:
            extra = rng.choice(
                (' id="n1"', ' directed="true"', ' weight="x"', f' a="{"b" * 100_000}"', " xmlns:q='u'")
            )
            tokens[at] = re.sub(r"(/?>)$", lambda end: extra + end.group(), tokens[at])
        case 7:
            tokens.insert(
                min(at, 1),
                rng.choice(
                    ('<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>', "<![CDATA[x]]>", "<?x y?>", "<!-- -->",
                     '<?xml version="1.0" encoding="utf-7"?>', '<?xml version="1.1" encoding="big5"?>', "&#0;", "&lol;",
                     "<hyperedge/>", '<key id="d1" for="all" attr.name="weight"/>', '<edge source="n0" target="n9"/>',
                     '<graph edgedefault="directed"/>', "<default>1e999</default>", '<data key="d0">nan</data>')
                ),
            )  # fmt: skip
        case _:
            if tokens[at].startswith("<"):
                tokens[at] = re.sub(
                    r"\w+",
                    rng.choice(("node", "edge", "key", "data", "graph", "x:node", "default")),
                    tokens[at],
                    count=1,
                )
            else:
                tokens[at] = rng.choice(TEXTS)
    text = "".join(tokens)
    return text.encode(encoding if rng.random() < 0.9 else rng.choice(ENCODINGS), "replace")


# ---- tables ----------------------------------------------------------------------------------------------


def mutate_table(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change cells, rows, delimiters, quotes, line ends and the encoding of delimited text."""
    text = data.decode("utf-8", "surrogateescape")
    mark = next((mark for mark in ("\t", ";", ",", " ") if mark in text), ",")
    rows = [line.split(mark) for line in text.split("\n")]
    row = rows[rng.randrange(len(rows))]
    at = rng.randrange(len(row))
    match rng.randrange(12):
        case 0 | 1 | 2 | 3:
            row[at] = rng.choice(TEXTS)
        case 4:
            row[at] = rng.choice(('"{}"', '"{}', '{}"', '"{}\n{}"', '"a""{}"', "'{}'")).replace("{}", row[at])
        case 5:
            row[at:at] = [rng.choice((row[at], rng.choice(TEXTS)))] * rng.choice((1, 1, 30, 2000))
        case 6:
            del row[at]
        case 7:
            rows.insert(rng.randrange(len(rows)), list(row) if rng.random() < 0.5 else [rng.choice(TEXTS)])
        case 8:
            del rows[rng.randrange(len(rows))]
        case 9:
            column = rng.randrange(len(row))
            value = rng.choice(TEXTS)
            for line in rows[rng.randrange(2) :]:
                if column < len(line):
                    line[column] = value
        case 10:
            mark = rng.choice(("\t", ";", "|", ",", " ", "  ", "\x01", "é", ":", ", "))
        case _:
            whole = mark.join(row)
            row[:] = [whole.upper(), whole.strip(), whole * 200, "#" + whole, "\ufeff" + whole][
                rng.randrange(5)
            ].split(mark)
    text = rng.choice(("\n", "\n", "\n", "\n", "\r\n", "\r", "\n\n")).join(mark.join(line) for line in rows)
    if rng.random() < 0.08:
        return text.encode(rng.choice(ENCODINGS), "replace")
    return text.encode(
        "utf-8", "surrogateescape" if "\udc80" <= max(text, default="") <= "\udcff" else "replace"
    )


# ---- pickles ---------------------------------------------------------------------------------------------

_OPCODES = (
    b"]", b"}", b")", b"(", b"0", b"1", b"2", b"a", b"e", b"u", b"t", b"s", b"b", b"R", b"q\x05", b"h\x05", b"N", b"\x88",
    b"r\xff\xff\xff\x0f", b"r\xff\xff\xff\x7f", b"j\xff\xff\xff\xff", b"J\xff\xff\xff\x7f", b"\x8b\xff\xff\xff\x7f",
    b"\x8a\x08" + b"\xff" * 8, b"X\xff\xff\xff\x7f", b"T\xff\xff\xff\x7f", b"\x8e" + b"\xff" * 7 + b"\x7f", b"G" + b"\xff" * 8,
    b"cos\nsystem\n", b"c__builtin__\nlist\n", b"ccollections\ndefaultdict\n", b"cnumpy\ndtype\n", b"cnumpy\nndarray\n",
    b"\x95" + b"\xff" * 8, b"I999999999999999999999\n", b"F1e999\n", b"S'a'\n", b"p9999999\n", b"\x81", b"\x92", b"Q", b"\x94",
    b"\x82\x01", b"(" * 5000, b"](" * 3000, b".",
)  # fmt: skip


def mutate_pickle(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Insert instructions, drop them, or change their numbers."""
    import pickletools

    starts = [position for _, _, position in pickletools.genops(data) if position is not None]
    at = rng.choice(starts)
    end = min((start for start in starts if start > at), default=len(data))
    match rng.randrange(5):
        case 0 | 1:
            return data[:at] + rng.choice(_OPCODES) + data[at:]
        case 2:
            return data[:at] + data[end:]
        case 3:
            return data[:at] + data[at:end] * rng.choice((2, 3, 100)) + data[end:]
        case _:
            return data[:at] + mutate_bytes(rng, data[at:end], others) + data[end:]
