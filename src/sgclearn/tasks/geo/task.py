"""The task geo: users, pages or airports in, a place for each out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sgclearn.errors import InputError
from sgclearn.graph import Graph, read_edges
from sgclearn.runs.place import GEOJSON, TASK_ARRAYS, TASK_DOCUMENT
from sgclearn.runs.predictions import Predictions, ValuePredictions
from sgclearn.runs.run import Run, RunFile
from sgclearn.tasks.geo.evidence import evidence
from sgclearn.tasks.geo.metrics import GeoScores, geo_scores
from sgclearn.tasks.geo.model import DEFAULT_BUCKET, GeoSGC
from sgclearn.tasks.geo.options import GeoData, GeoModel, Mentioned, NewUsers
from sgclearn.tasks.geo.predictions import GeoPredictions
from sgclearn.tasks.geo.propagated import PropagatedLabels
from sgclearn.tasks.geo.samples import TARGETS, GeoSamples, Source, samples_of
from sgclearn.tasks.geo.search import GeoSGCCV
from sgclearn.tasks.geo.storage import read_model, read_source, write_arrays, write_document
from sgclearn.tasks.geo.users import Users, read_user_folder, read_users
from sgclearn.tasks.geo.words import WordSettings
from sgclearn.tasks.protocol import (
    Candidate,
    Columns,
    OnStage,
    Samples,
    Task,
    chosen_nodes,
    silent,
    unlabelled,
)

BUCKETS = (25, 50)


class Geo(Task):
    """Places of users from their graph and their text, see `GeoSGC`."""

    name, unit, summary = "geo", "user", "Find out where users are, from their graph and their text."
    next_step = "sgc geo predict {run} --users NEW.csv"
    Data, Model, New = GeoData, GeoModel, NewUsers

    def read(self, data: GeoData, on_stage: OnStage = silent) -> GeoSamples:
        """Users with places, their graph and their features."""
        if data.users is None:
            raise InputError("users must be named", "none", "give a table", argument="users")
        on_stage(f"reading {data.users.name}")
        is_folder = data.users.is_dir()
        users = read_user_folder(data.users) if is_folder else read_users(data.users, **_columns(data))
        on_stage("building the graph")
        mentions = None if data.mentions_from is None else data.mentions_from is Mentioned.text
        return samples_of(
            users,
            edges=data.edges,
            use_mentions=mentions,
            max_users=data.max_users,
            words=WordSettings(data.min_df, data.max_df),
            held_out=data.held_out,
            seed=data.seed,
            delimiter=data.delimiter,
        )

    def candidates(self, samples: Samples, model: GeoModel) -> Sequence[Candidate]:
        """Labels of the neighbours without a model, text alone, and SGC."""
        given: dict[str, Any] = {
            "bucket": BUCKETS if model.bucket is None else model.bucket,
            "weight_decay": model.weight_decay,
            "normalization": ("sym", "rw") if model.normalization is None else model.normalization.value,
            "random_state": samples.seed,
        }
        neighbours = PropagatedLabels(model.n_hops, bucket=model.bucket or DEFAULT_BUCKET)
        listed = [Candidate("neighbours' places", neighbours, model.n_hops)]
        if samples.X is not None:
            alone = given | {"normalization": "sym"}
            if model.weight_decay is None:
                alone["weight_decay"] = (1e-2, 1e-3, 1e-4, 1e-5)
            listed.append(Candidate("without the graph", GeoSGCCV(0, **alone), 0))
        final = GeoSGCCV(model.n_hops, hidden=model.hidden, **given)
        return [*listed, Candidate("SGC", final, model.n_hops)]

    def fit(self, model: Any, samples: Samples, on_stage: OnStage = silent) -> None:
        """Fit on the known places of the training users; settings are chosen on those for validation, if any."""
        if isinstance(model, PropagatedLabels):
            model.fit(None, samples.labels("train", "val"), samples.graph)
            return
        validation = samples.where("val")
        model.fit(
            samples.X,
            samples.labels("train", "val"),
            samples.graph,
            validation=validation if len(validation) else None,
            on_step=on_stage("choosing settings"),
        )

    def predict(self, model: Any, samples: Samples) -> Predictions:
        """Place, cell, probability, expected error and evidence of each user."""
        if isinstance(model, PropagatedLabels):
            nodes = None if samples.readout is None else chosen_nodes(samples.readout)
            return ValuePredictions(samples.ids, model.predict(nodes=nodes), TARGETS)
        return self._places(model, samples)

    def _places(self, model: GeoSGC, samples: Samples) -> GeoPredictions:
        nodes = None if samples.readout is None else chosen_nodes(samples.readout)
        probabilities = model.predict_proba(samples.X, samples.graph, nodes)
        cells = probabilities.argmax(axis=1)
        return GeoPredictions(
            samples.ids,
            model.cells_.centres[cells],
            cells,
            probabilities.max(axis=1),
            model.expected_errors(probabilities),
            evidence(model.classifier_, samples.X, samples.graph, nodes),
        )

    def score(self, truth: Columns, guess: Columns, *, confidence: float = 0.95) -> GeoScores:
        """Compare places."""
        points = (np.stack([columns[name] for name in TARGETS], axis=1) for columns in (truth, guess))
        return geo_scores(*points, confidence=confidence)

    def save(self, model: Any, samples: Samples, path: Path) -> None:
        """Write the classifier of cells."""
        super().save(model.classifier_, replace(samples, encoding=None), path)

    def load(self, run: Run) -> GeoSGC:
        """The model of a run."""
        return read_model(run)

    def files(self, samples: Samples, model: Any) -> list[RunFile]:
        """Cells, mentions, words, and the predictions as GeoJSON."""
        source = samples.source if isinstance(samples, GeoSamples) else Source()

        def write_geojson(path: Path) -> None:
            self._places(model, samples).write_geojson(path)

        return [
            RunFile(TASK_ARRAYS, "cells and mentions", lambda path: write_arrays(path, model, source)),
            RunFile(TASK_DOCUMENT, "words and settings", lambda path: write_document(path, model, source)),
            RunFile(GEOJSON, "the predicted places, for a map", write_geojson),
        ]

    def join(self, run: Run, model: Any, new: NewUsers, on_stage: OnStage = silent) -> Samples:
        """New users beside those of the run, with the edges that their texts and `edges` give."""
        graph, X = run.graph(), run.features()
        if new.users is None:
            if new.edges is not None:
                raise InputError("edges go with users", "edges alone", "name the new users", argument="edges")
            return unlabelled(run.folder.name, graph, X, unit=self.unit)
        on_stage(f"reading {new.users.name}")
        users = read_users(new.users, needs_places=False, **_columns(new))
        source = read_source(run, graph.ids)
        larger = _extended(graph, users, source, new.edges, new.delimiter)
        if X is not None:
            X = _stacked(X, source.features(users))
        return unlabelled(run.folder.name, larger, X, larger.positions(users.ids.tolist()), unit=self.unit)


def _columns(options: Any) -> dict[str, Any]:
    names = ("id_column", "lat_column", "lon_column", "text_column", "delimiter")
    return {name: getattr(options, name) for name in names}


def _extended(graph: Graph, users: Users, source: Source, edges: Path | None, delimiter: str | None) -> Graph:
    """The graph of a run, new users after its own; the old edges stay as they were at the fit."""
    ids = users.ids.tolist()
    known = set(graph.ids.tolist())
    again = next((user for user in ids if user in known), None)
    if again is not None:
        raise InputError(
            "new users must not be in the run", f"{again!r}", "leave out those that are", argument="users"
        )
    larger = graph.extend([], [], new_ids=ids)
    if source.mentions is not None:
        texts = users.texts or ("",) * len(users)
        larger = larger.union(source.mentions.joined(ids, texts).graph(source.max_users))
    if edges is not None:
        larger = larger.union(read_edges(edges, nodes=larger.ids, weight=False, delimiter=delimiter))
    return larger


def _stacked(X: Any, new: Any) -> Any:
    if sp.issparse(X) or sp.issparse(new):
        return sp.csr_array(sp.vstack([sp.csr_array(X), sp.csr_array(new)], format="csr"))
    return np.vstack([X, new])
