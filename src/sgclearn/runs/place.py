"""The folder that a run will be written to: claimed and checked before the fit, replaced in a single step."""

from __future__ import annotations

import errno
import itertools
import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from sgclearn.errors import InputError, Setting
from sgclearn.folders import Claim, FolderTakenError

DEFAULT_NAME = "sgc-run"
RUN = "run.json"  # what makes a folder a run
MODEL, PREDICTIONS, METRICS = "model.safetensors", "predictions.csv", "metrics.json"
GRAPH, FEATURES, LABELS = "graph.npz", "features.npz", "labels.csv"
# What a task keeps for new samples, and pictures and pages of a run.
TASK_ARRAYS, TASK_DOCUMENT, GEOJSON, MAP, REPORT = (
    "task.npz",
    "task.json",
    "predictions.geojson",
    "map.svg",
    "report.html",
)
FILES = (
    *(MODEL, PREDICTIONS, METRICS, GRAPH, FEATURES, LABELS),
    *(TASK_ARRAYS, TASK_DOCUMENT, GEOJSON, MAP, REPORT, RUN),
)
"""Every file that a run of any task may have: they are replaced together, and nothing else in the folder is."""


class Place:
    """A folder that this process alone writes a run to; others may at the end of a `with` block.

    Parameters
    ----------
    folder : Path
    force : bool
        Whether a run that is there is replaced.
    """

    def __init__(self, folder: Path, force: bool) -> None:
        self.folder, self.force = folder, force
        _check_place(folder, force)
        try:
            self._claim = Claim(folder, FILES)
        except OSError as error:
            raise InputError(
                "out must be a place that can be written",
                f"{folder} ({error.strerror or error})",
                "choose another folder, or a new one inside it",
                argument="out",
            ) from error
        except FolderTakenError as error:
            raise FolderTakenError(
                "out must be a folder that no other process is writing to",
                f"{folder}, to which another is writing now",
                "wait until it has ended, or choose another folder",
                argument="out",
            ) from error
        try:
            _check_place(folder, force)  # another may have ended since, or a run been recovered
        except BaseException:
            self._claim.release()
            raise

    @classmethod
    def choose(cls, out: Path | None, force: bool) -> Place:
        """Claim the folder to write to; without a name the first free one of sgc-run, sgc-run-2, ..."""
        if out is not None:
            return cls(out, force)
        names = itertools.chain([DEFAULT_NAME], (f"{DEFAULT_NAME}-{k}" for k in itertools.count(2)))
        while True:
            path = Path(next(names))
            if not os.path.lexists(path):
                with suppress(FolderTakenError):
                    return cls(path, force=False)

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *error: Any) -> None:
        self._claim.release()

    def writing(self) -> AbstractContextManager[Path]:
        """Give an empty folder to write the files of a run to, which becomes the run if the block ends well."""
        return self._claim.writing(replace=self.force)


def _check_place(folder: Path, force: bool) -> None:
    """Refuse what cannot become a run, now and not after the fit."""
    if folder.exists() and not folder.is_dir():
        raise InputError(
            "out must name a folder", f"the file {folder}", "choose another name", argument="out"
        )
    if not folder.is_dir():
        return
    held = ""
    if Path.cwd().resolve().is_relative_to(folder.resolve()):
        held = "the current folder or one above it"
    elif os.path.ismount(folder):
        held = "a mount point"
    if held:
        raise InputError(
            "out must be a folder that can be replaced as a whole",
            f"{folder}, {held}",
            f"name a folder inside it, as {folder / 'run'}",
            argument="out",
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InputError(
            "out must be a place that can be written",
            f"{folder} ({os.strerror(errno.EACCES)})",
            "choose another folder",
            argument="out",
        )
    if not any(folder.iterdir()):
        return
    if not force:
        raise FolderTakenError(
            "out must be a new or empty folder",
            f"{folder}, which has files in it",
            ("choose another, or replace those of a run with ", Setting("force", True)),
            argument="out",
        )
    if not (folder / RUN).is_file():
        raise InputError(
            "force replaces a run",
            f"{folder}, which has files in it and no {RUN}",
            "choose another folder",
            argument="force",
        )
