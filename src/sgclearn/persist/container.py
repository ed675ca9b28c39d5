"""The file of a model: a safetensors file whose metadata holds a JSON header and a checksum.

The format, version 1
---------------------
The file is an ordinary safetensors file, which any reader of that format opens without running code. Its
metadata has two entries:

``sgclearn-model``
    The header: a JSON object (UTF-8, keys sorted, no spaces) with at least

    - ``format``: "sgclearn-model",
    - ``version``: 1,
    - ``library_version``: the version of sgclearn that wrote the file.

    The other entries are those of `sgclearn.persist.models`.
``sha256``
    The checksum, in hexadecimal digits, of the bytes of the header followed, for every tensor in the order of
    its name, by the line ``name dtype shape`` (as ``coef float64 7x1433``), a newline, and its bytes
    (little-endian, rows first).

A file is refused if it cannot be parsed, if it lacks one of the two entries, if its version is later than 1,
or if the checksum does not fit. The checksum finds damage and careless edits; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sgclearn
from sgclearn.errors import ModelFileError
from sgclearn.persist.atomic import replacing

FORMAT = "sgclearn-model"
VERSION = 1
CHECKSUM = "sha256"
_SAVE_AGAIN = "save the model again with save_model"

Tensors = dict[str, NDArray[Any]]


def write_container(path: str | os.PathLike[str], header: dict[str, Any], tensors: Tensors) -> None:
    """Write header and tensors; a reader sees the whole file or none of it."""
    from safetensors.numpy import save_file

    whole = {"format": FORMAT, "version": VERSION, "library_version": sgclearn.__version__, **header}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    plain = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    with replacing(path) as temporary:
        save_file(plain, temporary, metadata={FORMAT: text, CHECKSUM: _checksum(text, plain)})


def read_container(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """Header and tensors of a file, checked; anything else is a ModelFileError."""
    path = Path(path)
    metadata, tensors = _open(path)
    if FORMAT not in metadata:
        raise ModelFileError(
            f"{path} must be a model that save_model wrote: got a safetensors file of another program; "
            "check the path."
        )
    text = metadata[FORMAT]
    header = _parse(path, text)
    if metadata.get(CHECKSUM) != _checksum(text, tensors):
        raise ModelFileError(
            f"{path} must be unchanged since it was saved: got contents that do not fit the checksum; "
            f"{_SAVE_AGAIN}, or restore the file."
        )
    return header, tensors


def _open(path: Path) -> tuple[dict[str, str], Tensors]:
    from safetensors import SafetensorError, safe_open

    _refuse_other_kinds(path)
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            return metadata, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    # safetensors answers a type that numpy does not have with an AttributeError or a TypeError.
    except (SafetensorError, OSError, AttributeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelFileError(
            f"{path} must be a whole model file, and is truncated or damaged ({reason}); {_SAVE_AGAIN}."
        ) from error


def _refuse_other_kinds(path: Path) -> None:
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "nothing there"
        raise ModelFileError(f"{path} must be an existing model file: got {kind}; check the path.")
    try:
        with path.open("rb") as stream:
            start = stream.read(8)
    except OSError as error:
        raise ModelFileError(f"{path} must be readable: got {error.strerror}; check its permissions.") from error
    if not start:
        raise ModelFileError(f"{path} must be a model file: got an empty file; {_SAVE_AGAIN}.")
    # The first eight bytes of a safetensors file are the size of its JSON; these would be sizes beyond reason.
    if start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05" and start[5:8] != b"\0\0\0":
        raise ModelFileError(
            f"{path} must be a model that save_model wrote: got a pickle, which sgclearn never reads because "
            f"it can run code; {_SAVE_AGAIN}."
        )


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
        name, version = header["format"], header["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(
            f"{path} must have a header in JSON, and it is damaged ({error}); {_SAVE_AGAIN}."
        ) from error
    if name != FORMAT or not isinstance(version, int) or version < 1:
        raise ModelFileError(
            f"{path} must have the format {FORMAT!r} of version {VERSION}: got {name!r}, {version!r}; {_SAVE_AGAIN}."
        )
    if version > VERSION:
        raise ModelFileError(
            f"{path} must be of format version {VERSION} or earlier: got version {version}, written by sgclearn "
            f"{header.get('library_version', 'of a later version')}; upgrade sgclearn."
        )
    assert_is_object = isinstance(header, dict)
    if not assert_is_object:  # pragma: no cover - a list has no "format"
        raise ModelFileError(f"{path} must have a JSON object as header; {_SAVE_AGAIN}.")
    return header


def _checksum(text: str, tensors: Tensors) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        shape = "x".join(str(size) for size in tensor.shape)
        digest.update(f"{name} {tensor.dtype} {shape}\n".encode())
        digest.update(np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()
