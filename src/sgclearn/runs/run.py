"""A run: what a fit of any task leaves behind, and what prediction, evaluation and explanation go on from.

=====================  ===========================================================================
``model.safetensors``  the model, with the encoding of the features
``predictions.csv``    every sample: id, label, probability of each class (``p_<class>``, 6 decimals)
``metrics.json``       accuracy at 0 and at K hops, figures of every class, the plan
``graph.npz``          the graph, to attach new samples to
``features.npz``       the features in the order of the nodes; missing where there are none
``labels.csv``         id, label and split as they were used
``task.*``             what else the task needs for new samples
``run.json``           format, task, versions, settings, digests of inputs and files; written last
=====================  ===========================================================================

The same input and settings give the same bytes. A run is written beside its folder and takes its place in a single
step (see `sgclearn.folders`): a reader sees the old run or the new one. A process that writes a run has a claim on its
folder from before the fit until the end.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sgclearn.errors import DataFileError, InputError, Setting
from sgclearn.features import Labels, read_features, read_labels
from sgclearn.folders import recover
from sgclearn.graph import Graph
from sgclearn.runs.documents import sha256_of, write_json
from sgclearn.runs.place import FEATURES, FILES, GRAPH, LABELS, METRICS, PREDICTIONS, RUN, Place
from sgclearn.runs.predictions import read_predictions
from sgclearn.version import __version__

FORMAT, VERSION = "sgclearn-run", 2

Mark = tuple[int, int, int]
"""Tells the file `run.json` of one run from that of every other: device, inode, time of writing."""


@dataclass(frozen=True)
class RunFile:
    """A file of a run: its name (one of `FILES`), what is in it, and how it is written."""

    name: str
    meaning: str
    write: Callable[[Path], None]


@dataclass(frozen=True)
class Run:
    """A run folder that is there: opened with `Run.open`, and read in a `with` block.

    A run that is replaced while it is read is an error at the end of the block: what was read may be of both.

    Parameters
    ----------
    folder : Path
    task : str
        Name of the task that wrote it.
    settings : dict
        What it was fitted with.
    inputs, digests : dict of str
        SHA-256 of every input file and of every file of the run, by name.
    mark : Mark
    """

    folder: Path
    task: str
    settings: dict[str, Any]
    inputs: dict[str, str]
    digests: dict[str, str]
    mark: Mark

    @classmethod
    def create(cls, out: Path | None = None, *, force: bool = False) -> Place:
        """Claim a folder to write a run to, before the fit: `with Run.create(out) as place: ... Run.write(place, ...)`.

        Parameters
        ----------
        out : Path, optional
            A new or empty folder; sgc-run, sgc-run-2, ... if not given.
        force : bool, default False
            Whether a run that is there is replaced.
        """
        return Place.choose(out, force)

    @classmethod
    def write(
        cls,
        place: Place,
        task: str,
        files: Sequence[RunFile],
        settings: Mapping[str, Any],
        inputs: Mapping[str, str] | None = None,
    ) -> Run:
        """Write the files of a run, then the file that makes the folder one, and give the run.

        Parameters
        ----------
        place : Place
            From `Run.create`.
        task : str
        files : sequence of RunFile
        settings : mapping
            Plain values.
        inputs : mapping, optional
            SHA-256 of every file that the samples were read from, by name.
        """
        with place.writing() as staging:
            for file in files:
                if file.name not in FILES:
                    raise ValueError(f"{file.name} is no file of a run: add it to sgclearn.runs.place.FILES")
                file.write(staging / file.name)
            versions = {
                "sgclearn": __version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            }
            document = {
                "format": FORMAT,
                "version": VERSION,
                "task": task,
                "versions": versions,
                "settings": dict(settings),
                "inputs": dict(inputs or {}),
                "digests": {file.name: sha256_of(staging / file.name) for file in files},
            }
            write_json(staging / RUN, document)
        return cls.open(place.folder)

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Open a folder with a run in it, or say what is wrong with it."""
        recover(folder, FILES)
        path = folder / RUN
        if not path.is_file():
            raise DataFileError(
                "run must be the folder of a run",
                f"{folder} without {RUN}",
                ("check the path, or fit a model with ", Setting("out", folder)),
                argument="run",
            )
        with path.open("rb") as stream:
            mark, content = _mark_of(os.fstat(stream.fileno())), stream.read()
        try:
            document = json.loads(content)
            name, version = document["format"], document["version"]
            usable = name == FORMAT and isinstance(version, int)
        except (ValueError, KeyError, TypeError, RecursionError):
            usable = False
        if usable and version != VERSION:
            later = version > VERSION
            raise DataFileError(
                f"{path} must be of version {VERSION}",
                f"version {version}",
                "upgrade sgclearn" if later else "fit the model again",
            )
        parts = ("settings", "inputs", "digests")
        if not (
            usable
            and isinstance(document.get("task"), str)
            and all(isinstance(document.get(part), dict) for part in parts)
        ):
            raise DataFileError(f"{path} must describe a run", "a damaged file", "fit the model again")
        return cls(
            folder, document["task"], document["settings"], document["inputs"], document["digests"], mark
        )

    @classmethod
    def list(cls, folder: Path) -> list[Run]:
        """The runs among the sub-folders of a folder, by name; what cannot be opened is left out."""
        found = []
        for path in sorted(folder.iterdir()):
            if (path / RUN).is_file():
                with suppress(InputError):
                    found.append(cls.open(path))
        return found

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: Any) -> None:
        self._check_same()

    def _check_same(self) -> None:
        with suppress(FileNotFoundError):
            if _mark_of((self.folder / RUN).stat()) != self.mark:
                raise DataFileError(
                    f"{self.folder} must stay the same while it is read",
                    "another run in its place",
                    "open it again",
                )

    def require(self, task: str) -> None:
        """Refuse a run of another task."""
        if self.task != task:
            raise InputError(
                f"run must be a run of {task}",
                f"{self.folder}, a run of {self.task}",
                f"use sgc {'' if self.task == 'nodes' else self.task + ' '}predict",
                argument="run",
            )

    def path(self, name: str) -> Path:
        """Path of a file of the run, which must be there."""
        self._check_same()
        path = self.folder / name
        if not path.is_file():
            raise DataFileError(
                f"{self.folder} must have the file {name}", "a run without it", "fit the model again"
            )
        return path

    def changed(self) -> tuple[str, ...]:
        """Names of files that are missing or no longer what the fit wrote."""
        return tuple(
            name
            for name, digest in self.digests.items()
            if not (self.folder / name).is_file() or sha256_of(self.folder / name) != digest
        )

    def has(self, name: str) -> bool:
        """Whether the run was written with a file of this name."""
        return name in self.digests

    def graph(self) -> Graph:
        """The graph of the run."""
        return Graph.load_npz(self.path(GRAPH))

    def features(self) -> Any:
        """The feature matrix of the run (n, d); None where it was fitted without."""
        return read_features(self.path(FEATURES)).matrix if self.has(FEATURES) else None

    def labels(self) -> Labels:
        """Labels and splits as they were used."""
        return read_labels(self.path(LABELS))

    def predictions(self) -> Labels:
        """Predicted class of every sample."""
        return read_predictions(self.path(PREDICTIONS))

    def metrics(self) -> dict[str, Any]:
        """What `metrics.json` says."""
        return self.document(METRICS)

    def document(self, name: str) -> dict[str, Any]:
        """What a JSON file of the run says."""
        path = self.path(name)
        try:
            return dict(json.loads(path.read_bytes()))
        except (ValueError, TypeError, RecursionError) as error:
            raise DataFileError(f"{path} must be JSON", "a damaged file", "fit the model again") from error


def _mark_of(status: os.stat_result) -> Mark:
    return status.st_dev, status.st_ino, status.st_mtime_ns
