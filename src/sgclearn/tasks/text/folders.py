"""A folder of documents, one file each; its sub-folders are classes, or splits and classes."""

from __future__ import annotations

from pathlib import Path

from sgclearn.errors import DataFileError
from sgclearn.features.labels import SPLIT_WORDS
from sgclearn.tasks.text.sources import decode, read_bytes


def read_folder(
    folder: Path, encoding: str | None
) -> tuple[list[str], list[str] | None, list[str], list[str] | None]:
    """Texts, classes, ids (paths inside the folder) and splits, in the order of the paths.

    Hidden files and folders are left out.
    """
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    names = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
    if not names:
        raise DataFileError(f"{folder} must hold files, one a document", "none", "check the path")
    depth = len(names[0].parts)
    for name in names:
        if len(name.parts) != depth:
            raise DataFileError(
                f"{folder} must have all documents equally deep, as {names[0].as_posix()} is",
                f"{name.as_posix()}",
                "move or remove one of them",
            )
    splits, classes = _roles(folder, names, depth)
    texts = [decode(folder / name, read_bytes(folder / name), encoding, by_line=False) for name in names]
    return texts, classes, [name.as_posix() for name in names], splits


def _roles(folder: Path, names: list[Path], depth: int) -> tuple[list[str] | None, list[str] | None]:
    tops = [name.parts[0] for name in names]
    are_splits = depth > 1 and all(top.lower() in SPLIT_WORDS for top in tops)
    if depth > 2 + are_splits:
        raise DataFileError(
            f"{folder} must hold documents as a.txt, class/a.txt or train/class/a.txt",
            f"{names[0].as_posix()}",
            "name the folder that holds the classes",
        )
    classes = [name.parts[-2] for name in names] if depth > 1 + are_splits else None
    return (tops if are_splits else None), classes
