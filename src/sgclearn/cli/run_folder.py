"""The run folder: what `sgc fit` leaves behind, and what `predict` and `evaluate` go on from.

=====================  ===========================================================================
``model.safetensors``  the model, with the encoding of the features
``predictions.csv``    every node: id, label, probability of each class (``p_<class>``, 6 decimals)
``metrics.json``       accuracy at 0 and at K hops, figures of every class, the plan
``graph.npz``          the graph, to attach new nodes to
``features.npz``       the features in the order of the nodes; missing where there are none
``labels.csv``         id, label and split as they were used
``run.json``           format, versions, settings, names of the input files; written last
=====================  ===========================================================================

The same input and settings give the same bytes. A run is written beside its folder and takes its place in a single
step (see `sgclearn.folders`): a reader sees the old run or the new one. A process that writes a run has a claim on its
folder from before the fit until the end.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import platform
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sgclearn.cli.csv_files import write_csv
from sgclearn.cli.inputs import SPLITS, Problem
from sgclearn.cli.output import to_json
from sgclearn.cli.predictions import Predictions
from sgclearn.errors import DataFileError, InputError
from sgclearn.features import read_features
from sgclearn.files import replacing
from sgclearn.folders import Claim, FolderTakenError, recover
from sgclearn.graph import Graph
from sgclearn.persist import save_model
from sgclearn.version import __version__

FORMAT, VERSION = "sgclearn-run", 1
DEFAULT_NAME = "sgc-run"
MODEL, PREDICTIONS, METRICS = "model.safetensors", "predictions.csv", "metrics.json"
GRAPH, FEATURES, LABELS, RUN = "graph.npz", "features.npz", "labels.csv", "run.json"
FILES = (MODEL, PREDICTIONS, METRICS, GRAPH, FEATURES, LABELS, RUN)

Mark = tuple[int, int, int]
"""Tells the file `run.json` of one run from that of every other: device, inode, time of writing."""


def choose_folder(out: Path | None, force: bool) -> Place:
    """Claim the folder to write to; one that has something in it must be a run to be replaced."""
    if out is not None:
        return Place(out, force)
    names = itertools.chain([DEFAULT_NAME], (f"{DEFAULT_NAME}-{k}" for k in itertools.count(2)))
    while True:
        path = Path(next(names))
        if not os.path.lexists(path):
            with suppress(FolderTakenError):
                return Place(path, force=False)


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
                f"--out must be a place that can be written: got {folder} ({error.strerror or error}); choose "
                "another folder, or a new one inside it."
            ) from error
        except FolderTakenError as error:
            raise FolderTakenError(
                f"--out must be a folder that no other sgc is writing to: got {folder}, to which another is writing "
                "now; wait until it has ended, or choose another folder."
            ) from error
        try:
            _check_place(folder, force)  # another may have ended since, or a run been recovered
        except BaseException:
            self._claim.release()
            raise

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
        raise InputError(f"--out must name a folder: got the file {folder}; choose another name.")
    if not folder.is_dir():
        return
    held = ""
    if Path.cwd().resolve().is_relative_to(folder.resolve()):
        held = "the current folder or one above it"
    elif os.path.ismount(folder):
        held = "a mount point"
    if held:
        raise InputError(
            f"--out must be a folder that can be replaced as a whole: got {folder}, {held}; name a folder inside it, "
            f"as {folder / 'run'}."
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InputError(
            f"--out must be a place that can be written: got {folder} ({os.strerror(errno.EACCES)}); choose "
            "another folder."
        )
    if not any(folder.iterdir()):
        return
    if not force:
        raise FolderTakenError(
            f"--out must be a new or empty folder: got {folder}, which has files in it; choose another, or "
            "replace those that sgc writes with --force."
        )
    if not (folder / RUN).is_file():
        raise InputError(
            f"--force replaces a run of sgc fit: got {folder}, which has files in it and no {RUN}; choose "
            "another folder."
        )


def write_run(
    place: Place,
    problem: Problem,
    model: Any,
    predictions: Predictions,
    metrics: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Write all files of a run."""
    with place.writing() as staging:
        _write_files(staging, problem, model, predictions, metrics, settings)


def _write_files(
    folder: Path,
    problem: Problem,
    model: Any,
    predictions: Predictions,
    metrics: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    encoding = None if problem.encoding is None else problem.encoding.to_dict()
    save_model(model, folder / MODEL, feature_encoding=encoding)
    predictions.write(folder / PREDICTIONS)
    write_json(folder / METRICS, metrics)
    problem.graph.save_npz(folder / GRAPH)
    if problem.X is not None:
        _write_features(folder / FEATURES, problem)
    _write_labels(folder / LABELS, problem)
    write_settings(folder, settings)


def write_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write the file that makes a folder a run."""
    versions = {"sgclearn": __version__, "numpy": np.__version__, "python": platform.python_version()}
    write_json(
        folder / RUN, {"format": FORMAT, "version": VERSION, "versions": versions, "settings": settings}
    )


def written_files(problem: Problem) -> list[tuple[str, str]]:
    """Name and meaning of each file of a run."""
    features = [] if problem.X is None else [(FEATURES, "the features of its nodes")]
    return [
        (MODEL, "the model"),
        (PREDICTIONS, "every node: id, label, probability of each class"),
        (METRICS, "accuracy and the figures of every class"),
        (GRAPH, "the graph, to attach new nodes to"),
        *features,
        (LABELS, "labels and split as they were used"),
        (RUN, "settings and versions"),
    ]


def write_json(path: Path, document: Any) -> None:
    """Write a JSON file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(to_json(document) + "\n", encoding="utf-8")


def _write_features(path: Path, problem: Problem) -> None:
    from scipy.sparse import issparse

    X = problem.X
    if issparse(X):
        arrays = {
            "x_data": X.data,
            "x_indices": X.indices,
            "x_indptr": X.indptr,
            "x_shape": np.array(X.shape),
        }
    else:
        arrays = {"X": X}
    if problem.feature_names is not None:
        arrays["names"] = np.array(problem.feature_names, dtype=np.str_)
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)


def _write_labels(path: Path, problem: Problem) -> None:
    nodes = problem.nodes(*SPLITS)
    ids, y, split = problem.graph.ids, problem.y, problem.split
    write_csv(path, {"id": ids[nodes], "label": y[nodes], "split": split[nodes]})


@dataclass(frozen=True)
class Run:
    """A run folder that is there: opened with `Run.open`, and read in a `with` block.

    A run that is replaced while it is read is an error at the end of the block: what was read may be of both.
    """

    folder: Path
    settings: dict[str, Any]
    mark: Mark

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Open a folder that `sgc fit` wrote, or say what is wrong with it."""
        recover(folder, FILES)
        path = folder / RUN
        if not path.is_file():
            raise DataFileError(
                f"--run must be a folder that sgc fit wrote: got {folder} without {RUN}; check the path, or "
                f"run sgc fit --out {folder}."
            )
        with path.open("rb") as stream:
            mark, content = _mark_of(os.fstat(stream.fileno())), stream.read()
        try:
            document = json.loads(content)
            name, version, settings = document["format"], document["version"], document["settings"]
            usable = name == FORMAT and isinstance(version, int) and isinstance(settings, dict)
        except (ValueError, KeyError, TypeError, RecursionError):
            usable = False
        if not usable:
            raise DataFileError(f"{path} must describe a run of sgc fit, and is damaged; run sgc fit again.")
        if version > VERSION:
            raise DataFileError(
                f"{path} must be of version {VERSION} or earlier: got version {version}; upgrade sgclearn."
            )
        return cls(folder, settings, mark)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: Any) -> None:
        self._check_same()

    def _check_same(self) -> None:
        with suppress(FileNotFoundError):
            if _mark_of((self.folder / RUN).stat()) != self.mark:
                raise DataFileError(
                    f"{self.folder} must stay the same while it is read: got another run in its place; open it again."
                )

    def path(self, name: str) -> Path:
        """Path of a file of the run, which must be there."""
        self._check_same()
        path = self.folder / name
        if not path.is_file():
            raise DataFileError(
                f"{self.folder} must have the file {name}: got a run without it; run sgc fit again."
            )
        return path

    def graph(self) -> Graph:
        """The graph of the run."""
        return Graph.load_npz(self.path(GRAPH))

    def features(self) -> Any:
        """The feature matrix of the run (n, d)."""
        return read_features(self.path(FEATURES)).matrix


def _mark_of(status: os.stat_result) -> Mark:
    return status.st_dev, status.st_ino, status.st_mtime_ns
