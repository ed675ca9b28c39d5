"""Small inputs that once took gigabytes, minutes or forever."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fuzz.corpus import GRAPHML
from fuzz.mutate import bomb
from fuzz.mutate_archives import npy_file
from fuzz.mutate_models import signed
from fuzz.odd import features, graph, labels
from fuzz.verdict import MEGABYTES
from fuzz.workers import isolated
from sgclearn import (
    Compute,
    Graph,
    SGCClassifier,
    load_model,
    propagate,
    read_edges,
    read_features,
    read_labels,
    save_model,
)
from sgclearn.filters import HeatFilter, PageRankFilter, PowerFilter, S2GCFilter
from sgclearn.persist.container import read_container
from sgclearn.tasks.text import load_text_model, read_documents


@pytest.mark.parametrize("hops", [10**7, 10**8, 2**31, 10**12])
@pytest.mark.parametrize("name", ["HeatFilter", "PowerFilter", "S2GCFilter", "PageRankFilter"])
@pytest.mark.parametrize("where", ["fitted", "parameters"])
def test_filter_of_a_model_file_is_refused_before_its_coefficients_exist(
    where: str, name: str, hops: int
) -> None:
    def call(folder: Path) -> Any:
        path = folder / "model.safetensors"
        model = SGCClassifier(filter=HeatFilter(4, 2.0)).fit(features(), labels(), graph=graph())
        save_model(model, path)
        header, tensors = read_container(path)
        header[where]["filter_" if where == "fitted" else "filter"] = {
            "polynomial": {"filter": name, "hops": hops}
        }
        path.write_bytes(signed(header, tensors))
        return load_model(path)

    outcome = isolated(call, strict=True)
    assert outcome.status == "refused", outcome
    assert outcome.megabytes < MEGABYTES


@pytest.mark.parametrize("kind", [HeatFilter, PowerFilter, S2GCFilter, PageRankFilter])
@pytest.mark.parametrize("hops", [2**31, 2**40, 2**63, 10**30])
def test_filter_of_too_many_hops_is_refused(kind: Any, hops: int) -> None:
    outcome = isolated(lambda _: kind(hops).coefficients, strict=True)
    assert outcome.status == "refused", outcome
    assert outcome.megabytes < MEGABYTES


@pytest.mark.parametrize("hops", [2**31, 2**40, 2**63, 10**30])
@pytest.mark.parametrize("call", ["propagate", "fit"])
def test_too_many_hops_are_refused(call: str, hops: int) -> None:
    calls: dict[str, Callable[[Path], Any]] = {
        "propagate": lambda _: propagate(features(), graph(), hops),
        "fit": lambda _: SGCClassifier(hops).fit(features(), labels(), graph=graph()),
    }
    outcome = isolated(calls[call], strict=True)
    assert outcome.status == "refused", outcome
    assert outcome.megabytes < MEGABYTES


NOTHING = ("'|V0'", "'|S0'", "'<U0'", "[('a', '|V0')]")


@pytest.mark.parametrize("descr", NOTHING)
@pytest.mark.parametrize(
    ("read", "name"),
    [
        (read_features, "X"),
        (read_features, "ids"),
        (read_edges, "edges"),
        (read_edges, "ids"),
        (read_features, "names"),
    ],
)
@pytest.mark.parametrize("shape", ["(100000000,)", "(50000000, 2)"])
def test_array_of_items_without_bytes_takes_no_memory(
    read: Callable[[Path], Any], name: str, shape: str, descr: str
) -> None:
    def call(folder: Path) -> Any:
        path = folder / "a.npz"
        np.savez(path, **({"X": features()} if read is read_features else {"edges": np.array([[0, 1]])}))
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
        members[f"{name}.npy"] = npy_file(
            f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}", b""
        )
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return read(path)

    outcome = isolated(call, strict=True)
    assert outcome.status == "refused", outcome
    assert outcome.megabytes < MEGABYTES


def test_graphml_attribute_of_megabytes_is_read_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(GRAPHML.replace('id="n0"/>', f'id="n0" label="{"x" * (8 << 20)}"/>', 1))
    started = time.monotonic()
    assert read_edges(path).n_nodes == 3
    assert time.monotonic() - started < 2.0


@pytest.mark.parametrize(
    "name", ["e.csv", "e.npz", "e.graphml", "e.parquet", "e.csv.gz", "e.svm", "e.jsonl", "m.safetensors"]
)
def test_fifo_is_refused_and_not_waited_for(name: str) -> None:
    readers = {
        ".csv": (read_edges, read_features, read_labels, read_documents),
        ".npz": (read_edges, read_features, Graph.load_npz),
        ".safetensors": (load_model, load_text_model),
        ".svm": (read_features,),
        ".jsonl": (read_documents,),
    }
    for read in readers.get(Path(name).suffix, (read_edges,)):

        def call(folder: Path, read: Any = read) -> Any:
            os.mkfifo(folder / name)
            return read(folder / name)

        outcome = isolated(call, strict=True)
        assert outcome.status == "refused", (read, outcome)
        assert outcome.seconds < 2.0


@pytest.mark.parametrize("read", [read_edges, read_features, read_labels, read_documents])
def test_small_file_that_unpacks_to_much_is_refused(read: Callable[[Path], Any]) -> None:
    def call(folder: Path) -> Any:
        path = folder / "e.csv.bz2"
        path.write_bytes(bomb(".bz2", 600))
        return read(path)

    outcome = isolated(call, strict=True)
    assert outcome.status == "refused", outcome
    assert outcome.megabytes < MEGABYTES


@pytest.mark.parametrize("plan", ["auto", "full", "implicit"])
@pytest.mark.parametrize("options", [{}, {"scale": "standard"}, {"solver": "adam"}])
def test_million_columns_are_computed_or_refused_with_the_way_out(options: dict[str, Any], plan: str) -> None:
    X = sparse.csr_array(([1.0, 2.0, -1.0], ([0, 1, 3], [5, 10**6 - 1, 70])), shape=(6, 10**6))

    def call(_: Path) -> Any:
        compute = Compute(plan, memory_limit="64MB")
        return SGCClassifier(compute=compute, max_iter=5, **options).fit(X, labels(), graph=graph())

    outcome = isolated(call, strict=True)
    assert not outcome.failed, outcome
    if outcome.status == "refused":
        assert "memory" in outcome.message
