"""What a run of geolocation keeps besides model, graph and features: the cells, the words, the mentions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sgclearn.features import Encoding
from sgclearn.files import replacing
from sgclearn.persist import load_model
from sgclearn.runs.documents import write_json
from sgclearn.runs.place import MODEL, TASK_ARRAYS, TASK_DOCUMENT
from sgclearn.runs.run import Run
from sgclearn.tables.archives import load_arrays
from sgclearn.tasks.geo.cells import Cells
from sgclearn.tasks.geo.mentions import Mentions
from sgclearn.tasks.geo.model import GeoSGC
from sgclearn.tasks.geo.samples import Source
from sgclearn.tasks.geo.words import UserWords
from sgclearn.validation.reading import reading

_CELLS = ("axes", "cuts", "left", "right", "centres", "sizes")
_PARAMETERS = ("n_hops", "bucket", "weight_decay", "hidden", "normalization", "gamma")


def write_arrays(path: Path, model: GeoSGC, source: Source) -> None:
    """Write cells and mentions as npz."""
    arrays = {name: getattr(model.cells_, name) for name in _CELLS} | {"cell_errors": model.cell_errors_}
    if source.mentions is not None:
        pairs = source.mentions.pairs
        arrays |= {"mention_indices": pairs.indices, "mention_indptr": pairs.indptr}
        arrays["handles"] = source.mentions.handles.astype(np.str_)
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)


def write_document(path: Path, model: GeoSGC, source: Source) -> None:
    """Write words, encoding and settings as JSON."""
    document = {
        "parameters": {
            name: getattr(model, "best_params_", {}).get(name, getattr(model, name)) for name in _PARAMETERS
        },
        "words": None if source.words is None else source.words.to_dict(),
        "encoding": None if source.encoding is None else source.encoding.to_dict(),
        "mean": list(source.mean),
        "deviation": list(source.deviation),
        "max_users": source.max_users,
    }
    write_json(path, document)


def read_model(run: Run) -> GeoSGC:
    """The model of a run."""
    path = run.path(TASK_ARRAYS)
    arrays = load_arrays(path, [*_CELLS, "cell_errors"])
    document = run.document(TASK_DOCUMENT)
    with reading(path, "the cells of a run", "fit the model again"):
        model = GeoSGC(**document["parameters"])
        cells = Cells(*(arrays[name] for name in _CELLS))
        model._keep(cells, load_model(run.path(MODEL)), arrays["cell_errors"])
    return model


def read_source(run: Run, ids: Any) -> Source:
    """What the features and the graph of a run were made from; `ids` are its users."""
    document, path = run.document(TASK_DOCUMENT), run.path(TASK_ARRAYS)
    arrays = load_arrays(path, ["mention_indices", "mention_indptr", "handles"])
    with reading(path, "the mentions of a run", "fit the model again"):
        mentions = None
        if "handles" in arrays:
            handles = arrays["handles"].astype(object)
            indices, starts = arrays["mention_indices"], arrays["mention_indptr"]
            pairs = (np.ones(len(indices), dtype=bool), indices, starts)
            mentions = Mentions(ids.tolist(), handles, sp.csr_array(pairs, shape=(len(ids), len(handles))))
        words, encoding = document["words"], document["encoding"]
        return Source(
            None if words is None else UserWords.from_dict(words),
            None if encoding is None else Encoding.from_dict(encoding),
            tuple(document["mean"]),
            tuple(document["deviation"]),
            mentions,
            document["max_users"],
        )
