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

The same input and settings give the same bytes. All files are written to a temporary folder, which then gets
the name of the run in one step. Where a run is replaced its files are exchanged one by one: ``run.json``, without
which a folder is no run, is removed first and put back last, so that half a run cannot pass for a whole one.
"""

from __future__ import annotations

import itertools
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
from sgclearn.graph import Graph
from sgclearn.persist import save_model
from sgclearn.version import __version__

FORMAT, VERSION = "sgclearn-run", 1
DEFAULT_NAME = "sgc-run"
MODEL, PREDICTIONS, METRICS = "model.safetensors", "predictions.csv", "metrics.json"
GRAPH, FEATURES, LABELS, RUN = "graph.npz", "features.npz", "labels.csv", "run.json"


def choose_folder(out: Path | None, force: bool) -> Path:
    """Folder to write to, which can be written; one that has something in it must be a run to be replaced."""
    if out is None:
        names = itertools.chain([DEFAULT_NAME], (f"{DEFAULT_NAME}-{k}" for k in itertools.count(2)))
        out = next(path for path in map(Path, names) if not path.exists())
    if out.exists() and not out.is_dir():
        raise InputError(f"--out must name a folder: got the file {out}; choose another name.")
    if out.is_dir() and any(out.iterdir()):
        if not force:
            raise InputError(
                f"--out must be a new or empty folder: got {out}, which has files in it; choose another, or "
                "replace those that sgc writes with --force."
            )
        if not (out / RUN).is_file():
            raise InputError(
                f"--force replaces a run of sgc fit: got {out}, which has files in it and no {RUN}; choose "
                "another folder."
            )
    _check_writable(out)
    return out


def _check_writable(folder: Path) -> None:
    """Refuse a place that cannot be written now, not after the fit; nothing is left behind."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryDirectory(prefix=".sgc-", dir=there):
            pass
    except OSError as error:
        raise InputError(
            f"--out must be a place that can be written: got {folder} ({error.strerror or error}); choose "
            "another folder."
        ) from error


def write_run(
    folder: Path,
    problem: Problem,
    model: Any,
    predictions: Predictions,
    metrics: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Write all files of a run."""
    with run_files(folder) as staging:
        _write_files(staging, problem, model, predictions, metrics, settings)


@contextmanager
def run_files(folder: Path) -> Iterator[Path]:
    """Give a temporary folder to write a run to, which then gets its name or exchanges the files of the old."""
    replaced = folder.exists()
    folder.parent.mkdir(parents=True, exist_ok=True)
    name = f".{folder.name}.{os.getpid()}.tmp"
    staging = folder / name if replaced else folder.with_name(name)
    try:
        staging.mkdir()
        yield staging
        if replaced:
            _exchange(staging, folder)
        else:
            os.rename(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _exchange(staging: Path, folder: Path) -> None:
    (folder / RUN).unlink(missing_ok=True)
    (folder / FEATURES).unlink(missing_ok=True)
    for path in sorted(staging.iterdir(), key=lambda path: path.name == RUN):
        os.replace(path, folder / path.name)


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
    """A run folder that is there: opened with `Run.open`."""

    folder: Path
    settings: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Open a folder that `sgc fit` wrote, or say what is wrong with it."""
        path = folder / RUN
        if not path.is_file():
            raise DataFileError(
                f"--run must be a folder that sgc fit wrote: got {folder} without {RUN}; check the path, or "
                f"run sgc fit --out {folder}."
            )
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            name, version, settings = document["format"], document["version"], document["settings"]
            usable = name == FORMAT and isinstance(version, int) and isinstance(settings, dict)
        except (ValueError, KeyError, TypeError):
            usable = False
        if not usable:
            raise DataFileError(f"{path} must describe a run of sgc fit, and is damaged; run sgc fit again.")
        if version > VERSION:
            raise DataFileError(
                f"{path} must be of version {VERSION} or earlier: got version {version}; upgrade sgclearn."
            )
        return cls(folder, settings)

    def path(self, name: str) -> Path:
        """Path of a file of the run, which must be there."""
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
