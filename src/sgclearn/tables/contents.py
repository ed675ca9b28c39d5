"""The bytes of a text file: mapped or unpacked, and looked over before they are parsed."""

from __future__ import annotations

import io
import mmap
import os
from pathlib import Path
from typing import Any, TypeAlias

from sgclearn.errors import DataFileError
from sgclearn.validation.reading import MOST_LINE, opened, over_budget, reading, text_budget

Content: TypeAlias = bytes | mmap.mmap

_PACKED = (".gz", ".bz2", ".xz")
_MOST_DICTIONARY = 2**28  # bytes of memory that an xz stream may ask for; its highest level needs 65 MB
_FIRST_LOOK = 1 << 20
_MOST_LINES = 400
_BOM = b"\xef\xbb\xbf"


def content(path: Path) -> Content:
    """Map a file into memory, or unpack it there, within its budget."""
    suffix = path.suffix.lower()
    with opened(path) as stream:
        if suffix in _PACKED:
            return _unpacked(path, stream.read(), suffix)
        if os.fstat(stream.fileno()).st_size == 0:
            return b""
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def _unpacked(path: Path, packed: bytes, suffix: str) -> bytes:
    """Unpack chunk by chunk: a file of kilobytes can hold gigabytes of zeros.

    By the decoders themselves, since the file objects around them can wait forever for the end of a damaged stream.
    """
    budget = text_budget(len(packed))
    chunks, size = [], 0
    with reading(path, f"a whole {suffix} file", "fetch it again"):
        while packed:  # one stream after the other
            decoder = _decoder(suffix)
            while not decoder.eof:
                chunk = decoder.decompress(packed, _FIRST_LOOK)
                packed = getattr(
                    decoder, "unconsumed_tail", b""
                )  # what zlib has not looked at; others keep it
                if not chunk and not packed and not decoder.eof:
                    raise EOFError("it ends before the end of the stream")
                chunks.append(chunk)
                size += len(chunk)
                if size > budget:
                    raise over_budget(path, size, budget, "its text")
            packed = decoder.unused_data.lstrip(b"\0")  # streams may be padded
        return b"".join(chunks)


def _decoder(suffix: str) -> Any:
    if suffix == ".gz":
        import zlib

        return zlib.decompressobj(wbits=31)
    if suffix == ".bz2":
        import bz2

        return bz2.BZ2Decompressor()
    import lzma

    return lzma.LZMADecompressor(memlimit=_MOST_DICTIONARY)


def first_row(text: Content) -> int:
    """Offset of the first line that is neither empty nor a comment."""
    start = len(_BOM) if text[:3] == _BOM else 0
    while start < len(text):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end + 1
        line = text[start:end].strip()
        if line and not line.startswith((b"#", b"%")):
            return start
        start = end
    return start


def first_lines(path: Path, text: Content, start: int) -> tuple[list[str], bool]:
    """First whole lines of the file, at least three, and whether they are all of it."""
    size = _FIRST_LOOK
    while True:
        sample = text[start : start + size]
        complete = start + size >= len(text)
        if complete or sample.count(b"\n") > 3:
            break
        if size > 4 * MOST_LINE:
            break
        size *= 4
    longest = max(map(len, sample.split(b"\n")))
    if longest > MOST_LINE:
        raise DataFileError(
            f"{path} must have lines of at most {MOST_LINE:,} bytes",
            f"{longest:,} or more in one",
            "check its line ends, or give so wide a table as npz or svmlight",
        )
    if not complete:
        sample = sample[: sample.rfind(b"\n") + 1]
    try:
        lines = list(io.StringIO(sample.decode("utf-8"), newline=None))
        return lines[:_MOST_LINES], complete and len(lines) <= _MOST_LINES
    except UnicodeDecodeError:
        raise not_text(path) from None


def count_quotes(text: Content) -> int:
    """How many quotation marks there are."""
    if text.find(b'"') < 0:
        return 0
    return sum(text[at : at + _FIRST_LOOK].count(b'"') for at in range(0, len(text), _FIRST_LOOK))


def single_spaces(text: bytes) -> bytes:
    """Turn every run of spaces and tabs into one space and strip the lines, without a loop over them."""
    text = text.replace(b"\t", b" ").replace(b"\r\n", b"\n")
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def not_text(path: Path) -> DataFileError:
    """Give the error for a file that is not text."""
    return DataFileError(
        f"{path} must be UTF-8 text or Parquet", "bytes that are neither", "save it as UTF-8"
    )
