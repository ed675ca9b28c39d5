"""Single members out of a zip archive; an archive that could write elsewhere is refused as a whole."""

from __future__ import annotations

import errno
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

from sgclearn.errors import DataFileError
from sgclearn.validation.reading import reason_of


def extract_member(archive: Path, member: str, target: Path, *, size: int) -> None:
    """Write one member of a zip archive to `target`.

    Parameters
    ----------
    archive : Path
    member : str
        Its name in the archive. The name decides nothing about where it is written.
    target : Path
        File to write; it is removed if something is wrong.
    size : int
        Bytes that the member must have: no more are ever written.

    Notes
    -----
    Refused are archives with an absolute path, a path with `..`, a drive letter or a symbolic link among their
    members, wanted or not, and members that are encrypted or of another size than announced or expected.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = {info.filename: info for info in opened.infolist()}
            for info in opened.infolist():
                _check_place(archive, info)
            if member not in members:
                raise DataFileError(f"{archive.name} must have {member}", "an archive without it")
            info = members[member]
            if info.file_size != size:
                raise DataFileError(
                    f"{member} in {archive.name} must have {size:,} bytes", f"{info.file_size:,}"
                )
            # zipfile gives no more than the size that the archive tells, and compares the checksum at the end.
            with opened.open(info) as source, target.open("wb") as stream:
                shutil.copyfileobj(source, stream)
    except DataFileError:
        target.unlink(missing_ok=True)
        raise
    except OSError as error:
        target.unlink(missing_ok=True)
        if error.errno not in (
            None,
            errno.EINVAL,
        ):  # a fault of the disk, not of a decoder or an offset in the archive
            raise
        raise _broken(archive, error) from error
    # RuntimeError: an encrypted member; NotImplementedError: a compression nobody uses here.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        target.unlink(missing_ok=True)
        raise _broken(archive, error) from error


def _broken(archive: Path, error: Exception) -> DataFileError:
    return DataFileError(f"{archive.name} must be a whole zip archive", f"a broken one ({reason_of(error)})")


def _check_place(archive: Path, info: zipfile.ZipInfo) -> None:
    # zipfile replaces the separators of other systems on some of them: the name as it is stored counts.
    name = info.orig_filename
    parts = (*PurePosixPath(name).parts, *PureWindowsPath(name).parts)
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor or ".." in parts:
        raise DataFileError(
            f"{archive.name} must keep its files below one folder", repr(name), "do not trust it"
        )
    if stat.S_ISLNK(info.external_attr >> 16):
        raise DataFileError(f"{archive.name} must have no symbolic links", repr(name), "do not trust it")
