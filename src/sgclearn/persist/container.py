"""The file of a model: a safetensors file whose metadata holds a JSON header and a checksum.

The format, version 2
---------------------
The file is an ordinary safetensors file, which any reader of that format opens without running code. Its
metadata has one entry, ``sgclearn-model``: the header, a JSON object (ASCII, keys sorted, no spaces) with

- ``format``: "sgclearn-model",
- ``version``: 2,
- ``library_version``: the version of sgclearn that wrote the file,
- ``sha256``: the checksum, in hexadecimal digits, of the header without this entry, followed, for every
  tensor in the order of its name, by the line ``name dtype shape`` (as ``coef float64 7x1433``), a newline,
  and its bytes (little-endian, rows first),
- and the entries of `sgclearn.persist.models`.

A file is refused if it cannot be parsed, if it lacks the header, if its version is not 2, or if the
checksum does not fit. The checksum finds damage and careless edits; it is no signature. The same model gives
the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgclearn.errors import InputError, ModelFileError
from sgclearn.files import replacing
from sgclearn.validation.reading import as_path, reading, reason_of, regular_file
from sgclearn.version import __version__

FORMAT = "sgclearn-model"
VERSION = 2
CHECKSUM = "sha256"
PICKLE_MARK, PROTOCOLS = 0x80, (b"\2", b"\3", b"\4", b"\5")
MOST_JSON = 100_000_000  # bytes; the limit of safetensors itself
_SAVE_AGAIN = "save the model again with save_model"

Tensors = dict[str, NDArray[Any]]


def write_container(path: str | os.PathLike[str], header: dict[str, Any], tensors: Tensors) -> None:
    """Write header and tensors; a reader sees the whole file or none of it."""
    from safetensors.numpy import save

    whole = {"format": FORMAT, "version": VERSION, "library_version": __version__, **header}
    plain = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    try:
        signed = {**whole, CHECKSUM: _checksum(whole, plain)}
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "a model must be described in JSON to be saved",
            f"something else ({reason_of(error)})",
            "give the feature_encoding as Encoding.to_dict() gives it",
        ) from None
    with replacing(path) as temporary:
        # Not save_file, which leaves a file that nobody else may read.
        temporary.write_bytes(save(plain, metadata={FORMAT: _text(signed)}))


def read_container(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """Header and tensors of a file, checked; anything else is a ModelFileError."""
    path = as_path(path)
    metadata, tensors = _open(path)
    if FORMAT not in metadata:
        raise ModelFileError(
            f"{path} must be a model that save_model wrote",
            "a safetensors file of another program",
            "check the path",
        )
    text = metadata[FORMAT]
    header = _parse(path, text)
    unsigned = {key: value for key, value in header.items() if key != CHECKSUM}
    with reading(path, "a model file whose header is JSON, and not damaged", _SAVE_AGAIN, ModelFileError):
        unchanged = text == _text(header) and header.get(CHECKSUM) == _checksum(unsigned, tensors)
    if not unchanged:
        raise ModelFileError(
            f"{path} must be unchanged since it was saved",
            "contents that do not fit the checksum",
            f"{_SAVE_AGAIN}, or restore the file",
        )
    return unsigned, tensors


def _open(path: Path) -> tuple[dict[str, str], Tensors]:
    from safetensors import safe_open

    regular_file(path, "model file", ModelFileError)
    with reading(path, "a whole model file, not a truncated or damaged one", _SAVE_AGAIN, ModelFileError):
        _refuse_other_kinds(path)
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            return metadata, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def _refuse_other_kinds(path: Path) -> None:
    with path.open("rb") as stream:
        start = stream.read(8)
    if not start:
        raise ModelFileError(f"{path} must be a model file", "an empty file", _SAVE_AGAIN)
    # A safetensors file starts with the size of its JSON, so a pickle looks like one of absurd size.
    if start[0] == PICKLE_MARK and start[1:2] in PROTOCOLS and int.from_bytes(start, "little") > MOST_JSON:
        raise ModelFileError(
            f"{path} must be a model that save_model wrote",
            "a pickle, which sgclearn never reads because it can run code",
            _SAVE_AGAIN,
        )

    # For the same reason eight characters of text cannot be the start of one.
    if len(start) == 8 and all(32 <= byte < 127 or byte in b"\t\r\n" for byte in start):
        raise ModelFileError(
            f"{path} must be a model that save_model wrote",
            "a text file, which is not a model file",
            "check the path",
        )


def _parse(path: Path, text: str) -> dict[str, Any]:
    with reading(path, "a model file whose header is JSON, and not damaged", _SAVE_AGAIN, ModelFileError):
        header: dict[str, Any] = json.loads(text)
        name, version = header["format"], header["version"]
    if name != FORMAT or not isinstance(version, int) or version < 1:
        raise ModelFileError(
            f"{path} must have the format {FORMAT!r} of version {VERSION}",
            f"{name!r}, {version!r}",
            _SAVE_AGAIN,
        )
    if version != VERSION:
        raise ModelFileError(
            f"{path} must be of format version {VERSION}",
            f"version {version}, written by sgclearn {header.get('library_version', 'of another version')}",
            "upgrade sgclearn" if version > VERSION else "fit the model again and save it",
        )
    return header


def _text(header: dict[str, Any]) -> str:
    return json.dumps(header, sort_keys=True, separators=(",", ":"))


def _checksum(header: dict[str, Any], tensors: Tensors) -> str:
    digest = hashlib.sha256(_text(header).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        shape = "x".join(str(size) for size in tensor.shape)
        digest.update(f"{name} {tensor.dtype} {shape}\n".encode())
        digest.update(np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()
