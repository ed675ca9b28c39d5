"""One file from the web: resumed where it broke off, and given away only once its sha256 is right."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sgclearn.datasets.folders import sha256_of
from sgclearn.errors import DataFileError, InputError
from sgclearn.version import __version__

Progress = Callable[[str, int, int], None]
"""Called as `progress(what, done, total)`, in bytes."""

ATTEMPTS = 3  # at a connection that breaks off; each goes on where the last one ended
PAUSE = 1.0  # seconds before the second attempt, and twice as many before the third
TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 16
_BROKEN = "the connection broke off"


class SourceError(DataFileError):
    """A source that does not give a file; the message is the reason, without a remedy: the next source may."""


def download(url: str, part: Path, *, size: int, sha256: str, progress: Progress | None = None) -> None:
    """Download to `part`, which is kept when the connection breaks off, so that a later call can go on.

    Parameters
    ----------
    url : str
        Begins with http:// or https://.
    part : Path
        Where to write; what is there already is taken for the beginning of the file.
    size, sha256 : int, str
        What the whole file must have; it is removed if it has not.
    progress : callable, optional
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise InputError("an address must begin with http:// or https://", repr(url))
    is_resumed = _size_of(part) > 0
    _complete(url, part, size, progress)
    if is_resumed and sha256_of(part) != sha256:  # what was there was no beginning of this file
        part.unlink()
        _complete(url, part, size, progress)
    check_sha256(part, sha256)


def check_sha256(path: Path, expected: str) -> None:
    """Remove a file whose sha256 is not the expected one, and say so."""
    got = sha256_of(path)
    if got != expected:
        path.unlink()
        raise SourceError(f"a file with sha256 {got[:12]}... instead of {expected[:12]}...")


def _complete(url: str, part: Path, size: int, progress: Progress | None) -> None:
    """Connect until `part` has `size` bytes, a few times at most."""
    if _size_of(part) > size:
        part.unlink()
    reason = ""
    for attempt in range(ATTEMPTS):
        if _size_of(part) == size:
            return
        if attempt:
            time.sleep(attempt * PAUSE)
        reason = _go_on(url, part, size, progress)
    done = _size_of(part)
    if done < size:
        kept = ", which are kept for the next time" if done else ""
        raise SourceError(f"{reason or _BROKEN} after {done:,} of {size:,} bytes{kept}")


def _go_on(url: str, part: Path, size: int, progress: Progress | None) -> str:
    """One connection: append what is missing, as far as it lasts; gives the reason why it ended early."""
    start = _size_of(part)
    headers = {"User-Agent": f"sgclearn/{__version__}"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        told = f"HTTP {error.code} {error.reason}"
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink(missing_ok=True)  # there is more than the server has: the next attempt starts anew
        elif error.code < http.client.INTERNAL_SERVER_ERROR:
            raise SourceError(told) from error
        return told
    except urllib.error.URLError as error:
        raise SourceError(f"no connection ({_words(error.reason)})") from error
    except (OSError, http.client.HTTPException):
        return _BROKEN
    with answer:
        start = start if _continues(answer, start) else 0  # else the server gives the whole file
        _check_length(answer, start, size)
        return _append(answer, part, start, size, progress)


def _append(answer: Any, part: Path, done: int, size: int, progress: Progress | None) -> str:
    with part.open("ab" if done else "wb") as stream:
        while True:
            try:
                chunk = answer.read1(_CHUNK)  # what has arrived, and no waiting for more
            except (OSError, http.client.HTTPException):
                return _BROKEN
            if not chunk:
                return ""
            done += len(chunk)
            if done > size:  # a server that never ends must not fill the disk
                raise SourceError(f"a file of more than {size:,} bytes")
            stream.write(chunk)
            if progress is not None:
                progress(part.stem, done, size)


def _continues(answer: Any, start: int) -> bool:
    given: str = answer.headers.get("Content-Range", "")
    return answer.status == int(http.client.PARTIAL_CONTENT) and given.startswith(f"bytes {start}-")


def _check_length(answer: Any, start: int, size: int) -> None:
    announced: str = answer.headers.get("Content-Length", "")
    if announced.isdigit() and start + int(announced) != size:
        raise SourceError(f"a file of {start + int(announced):,} bytes instead of {size:,}")


def _size_of(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _words(error: object) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
