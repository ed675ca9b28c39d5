"""Changes of npz files, with sizes and checksums that fit: the damage gets past the archive, into the arrays."""

from __future__ import annotations

import io
import random
import re
import struct
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy

from fuzz.mutate_bytes import mutate_bytes
from fuzz.values import FLOATS, INTEGERS

_NAMES = (
    "data", "indices", "indptr", "shape", "format", "row", "col", "coords", "offsets", "edges", "weights", "ids", "X",
    "features", "names", "x_data", "x_indices", "x_indptr", "x_shape", "directed", "sgclearn_graph", "../x", "/x", "",
    "_is_array", "y", "labels",
)  # fmt: skip
_DESCR = (
    "'<f8'", "'<f4'", "'<f2'", "'>f8'", "'<f16'", "'<c16'", "'<i8'", "'<i4'", "'>i4'", "'<i2'", "'|i1'",
    "'|u1'", "'<u8'",
    "'|b1'", "'|S0'", "'|S3'", "'<U0'", "'<U3'", "'|V0'", "'|V8'", "'|O'", "'<M8[s]'", "'<M8'", "'<m8[ns]'",
    "'<U999999999'",
    "'|S2147483647'", "[('a', '<f8')]", "[('a', '<f8', (3,))]", "[('a', '|V0')]", "('<f8', (2,))", "''",
    "'x'", "None", "3",
    "{}", "[]", "[('a', [('b', '<i4')])]", "'<i8,<i8'", "'(2,)f8'",
)  # fmt: skip
_SHAPES = (
    "()", "(0,)", "(1,)", "(-1,)", "(3,)", "(0, 0)", "(1000000000,)", "(2, 2)", "(4294967296, 4294967296)",
    "(0, 999999999999)",
    "(9223372036854775807,)", "(9223372036854775808,)", "(1.5,)", "(True,)", "3", "None", "('a',)",
    "(" + "1, " * 40 + ")",
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
            members[at] = (name, values_changed(rng, content))
        case 5:
            members[at] = (name, retyped(rng, content))
        case 6:
            members[at] = (name, mutate_bytes(rng, content, [held for _, held in members]))
        case 7:
            return mutate_zip(rng, data, others)
        case 8:
            array = _odd_array(rng)
            members[at] = (rng.choice((name, f"{rng.choice(_NAMES)}.npy")), npy_of(array))
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


def npy_of(array: Any) -> bytes:
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


def array_of(content: bytes) -> Any:
    return npy.read_array(io.BytesIO(content), allow_pickle=False)


def values_changed(rng: random.Random, content: bytes) -> bytes:
    array = array_of(content).copy()
    if array.dtype.kind not in "fiub" or array.size == 0 or rng.random() < 0.2:
        return npy_of(_resized(rng, array))
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
    return npy_of(flat.reshape(array.shape))


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


def retyped(rng: random.Random, content: bytes) -> bytes:
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
        return npy_of(array_of(content).astype(rng.choice(types)))


def _odd_array(rng: random.Random) -> Any:
    choices: tuple[Any, ...] = (
        np.array("csr"), np.array(b"csr"), np.array("lil"), np.array(3), np.array([2**31, 5]), np.array([-1, 4]),
        np.array([4, 4, 4]), np.array([10**12, 10**12]), np.array([3.5, 2.0]), np.zeros(0), np.array("x" * 500),
        np.array([[0, 1], [1, 2**40]]), np.array([np.nan, 1.0]), np.array([True]), np.array(["a", "a"]),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([2**63], dtype=np.uint64), np.arange(3)[::-1], np.array([0, 10**9, 1]), np.array([0, 3, 1, 5, 4]),
    )  # fmt: skip
    return rng.choice(choices)
