"""Small valid files of every kind that is read: what the mutations start from.

The library writes them itself, so that a change of a format brings its own seeds.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import itertools
import json
import lzma
import pickle
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

Bundle = dict[str, bytes]  # relative path -> content; the first file is the one that is named to the reader

EDGES = "source,target,weight\nann,bob,1\nbob,cas,2.5\ncas,dan,1\ndan,ann,0.5\n"
FEATURES = 'id,age,city,score\nann,30,Bern,0.5\nbob,41,Graz,1e-3\ncas,7,"Bern, West",-2\ndan,12,Graz,4\n'
LABELS = "id,label,split\nann,red,train\nbob,blue,train\ncas,red,val\ndan,blue,test\n"
DOCUMENTS = [
    {"id": 3, "text": "crude oil barrel price", "label": "energy", "split": "train"},
    {"id": 5, "text": "barrel of crude oil", "label": "energy", "split": "train"},
    {"id": 7, "text": "wheat, corn and the harvest", "label": "farm", "split": "train"},
    {"id": 8, "text": "corn crop harvest", "label": "farm", "split": "test"},
]
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="weight" attr.type="double"><default>1.0</default></key>
  <graph id="G" edgedefault="undirected">
    <node id="n0"/><node id="n1"><data key="x">a &amp; b</data></node><node id="n2"/>
    <edge source="n0" target="n1"><data key="d0">2.5</data></edge>
    <edge source="n1" target="n2"/>
  </graph>
</graphml>
"""


def make_corpus() -> dict[str, list[Bundle]]:
    """Seeds by the name of the target that reads them."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        place = Path(folder)
        return {
            **_edges(place),
            **_features(),
            "labels": [
                {"labels.csv": LABELS.encode()},
                {"labels.tsv": LABELS.replace(",", "\t").encode()},
                {"labels.csv.gz": gzip.compress(LABELS.encode())},
                {
                    "labels.parquet": _parquet(
                        id=[1, 2, 3], label=["a", "b", None], split=["train", "val", "test"]
                    )
                },
                {"labels.csv": b"1,4\n2,5\n3,4\n"},
            ],
            **_models(place),
            **_runs(place),
            **_documents(),
            **_datasets(),
            "results": [
                {"results.jsonl": _lines({"kind": "run", "seed": 7}, {"kind": "trial", "x": [1.5, None]})}
            ],
        }


def _edges(place: Path) -> dict[str, list[Bundle]]:
    from sgclearn import Graph

    text = EDGES.encode()
    saved = place / "graph.npz"
    plain = Graph.from_edges([(0, 1), (1, 2), (2, 3)], weights=[1.0, 2.0, 0.5])
    named = Graph.from_edges([("a", "b"), ("b", "c")], directed=True)
    stored = []
    for graph in (plain, named):
        graph.save_npz(saved)
        stored.append({"graph.npz": saved.read_bytes()})
    A = np.array([[0, 1, 0, 2.0], [1, 0, 3, 0], [0, 3, 0, 0], [2, 0, 0, 0]])
    matrices = [_scipy_npz(A, kind) for kind in ("csr", "csc", "coo", "bsr", "dia")]
    return {
        "edges-text": [
            {"edges.csv": text},
            {"edges.tsv": EDGES.replace(",", "\t").encode()},
            {"edges.txt": b"# made by hand\n0 1\n1 2\n2  3\n3 0\n"},
            {"edges.csv": b"u;v\r\n007;8\r\n8;9\r\n"},
        ],
        "edges-packed": [
            {"edges.csv.gz": gzip.compress(text)},
            {"edges.csv.bz2": bz2.compress(text)},
            {"edges.csv.xz": lzma.compress(text)},
        ],
        "edges-parquet": [
            {
                "edges.parquet": _parquet(
                    source=["a", "b", "c"], target=["b", "c", "a"], weight=[1.0, 2.0, 0.5]
                )
            },
            {"edges.parquet": _parquet(source=[1, 2], target=[2, 3])},
        ],
        "edges-npz": [
            *({"edges.npz": content} for content in matrices),
            {"edges.npz": _npz(edges=np.array([[0, 1], [1, 2]]), weights=np.array([1.0, 2.0]))},
            {"edges.npz": _npz(edges=np.array([[0, 1], [1, 2]]), ids=np.array(["x", "y", "z"]))},
            {"edges.npz": stored[0]["graph.npz"]},
        ],
        "edges-graphml": [
            {"edges.graphml": GRAPHML.encode()},
            {"edges.graphml": GRAPHML.replace("UTF-8", "UTF-16").encode("utf-16")},
        ],
        "graph": stored,
    }


def _features() -> dict[str, list[Bundle]]:
    X = np.array([[0.0, 1.5, 0], [2, 0, 0], [0, 0, -3], [1, 1, 1]])
    csr = sparse.csr_array(X)
    parts = {
        "x_data": csr.data,
        "x_indices": csr.indices,
        "x_indptr": csr.indptr,
        "x_shape": np.array(X.shape),
    }
    ids = np.array(["a", "b", "c", "d"])
    return {
        "features-text": [
            {"features.csv": FEATURES.encode()},
            {"features.tsv": FEATURES.replace(",", "\t").replace("\t West", " West").encode()},
            {"features.csv": b"1,0.5,3\n2,0.25,4\n3,,5\n"},
            {"features.csv.xz": lzma.compress(FEATURES.encode())},
        ],
        "features-parquet": [
            {"features.parquet": _parquet(id=[4, 5], a=[0.5, 1.5], b=["x", "y"], c=[True, False])},
        ],
        "features-npz": [
            {"features.npz": _npz(X=X, ids=ids, names=np.array(["p", "q", "r"]))},
            {"features.npz": _npz(**parts)},
            {"features.npz": _npz(**parts, ids=np.arange(4))},
            *({"features.npz": _scipy_npz(X, kind)} for kind in ("csr", "csc", "coo", "bsr", "dia")),
        ],
        "features-svmlight": [{"features.svm": b"1 1:0.5 3:2\n-1 2:1e-3 # note\n0 1:4\n"}],
    }


def _models(place: Path) -> dict[str, list[Bundle]]:
    from sgclearn import Graph, SGCClassifier, SGCMultilabelClassifier, TextSGCClassifier, save_model
    from sgclearn.filters import HeatFilter, S2GCFilter
    from sgclearn.tasks.text import save_text_model

    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    X, y = np.eye(4)[:, :3] + 0.25, np.array([0, 1, -1, 0])
    models = [
        SGCClassifier().fit(X, y, graph=graph),
        SGCClassifier(filter=HeatFilter(4, 2.0), row_norm="l2", class_weight={"a": 2.0}).fit(
            X, ["a", "b", "", "a"], graph=graph
        ),
        SGCClassifier(filter=S2GCFilter(3, 0.1), normalization="rw").fit(X, y, graph=graph),
        SGCMultilabelClassifier().fit(X, np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), graph=graph),
        SGCClassifier(n_hops=0).fit(X, y),
    ]
    path, bundles = place / "model.safetensors", []
    for model in models:
        save_model(model, path)
        bundles.append({"model.safetensors": path.read_bytes()})
    texts = TextSGCClassifier(weight_decay=1e-3).fit(
        [row["text"] for row in DOCUMENTS], [row["label"] for row in DOCUMENTS]
    )
    save_text_model(texts, path)
    return {"model": bundles, "text-model": [{"model.safetensors": path.read_bytes()}]}


def _runs(place: Path) -> dict[str, list[Bundle]]:
    """Run folders of `sgc fit` and `sgc text fit`, with the files of new nodes or documents beside them."""
    names = ("ann", "bob", "cas", "dan", "eve", "fay")
    edges = "source,target\n" + "".join(f"{a},{b}\n" for a, b in itertools.pairwise(names))
    features = "id,age,city\n" + "".join(
        f"{name},{k},{'Bern' if k % 2 else 'Graz'}\n" for k, name in enumerate(names)
    )
    labels = "id,label,split\n" + "".join(
        f"{name},{'red' if k % 2 else 'blue'},{'train' if k < 4 else 'test'}\n"
        for k, name in enumerate(names)
    )
    files = {"e.csv": edges, "f.csv": features, "l.csv": labels}
    for name, text in files.items():
        (place / name).write_text(text)
    (place / "docs.jsonl").write_bytes(_lines(*DOCUMENTS))
    out = {name: place / name for name in ("nodes", "alone", "texts")}
    common = ["--edges", place / "e.csv", "--labels", place / "l.csv", "--weight-decay", "1e-3"]
    sgc("fit", *common, "--features", place / "f.csv", "--out", out["nodes"])
    sgc("fit", *common, "--out", out["alone"])
    sgc("text", "fit", "--data", place / "docs.jsonl", "--weight-decay", "1e-3", "--out", out["texts"])
    new = {"new-e.csv": b"source,target\ngus,ann\n", "new-f.csv": b"id,age,city\ngus,3,Bern\n"}
    return {
        "run": [{**_folder(out["nodes"]), **new}],
        "run-without-features": [_folder(out["alone"])],
        "text-run": [{**_folder(out["texts"]), "docs.jsonl": _lines({"id": 9, "text": "oil and corn"})}],
    }


def sgc(*arguments: object) -> None:
    """Run a command in this process; its exceptions come through, its output goes nowhere."""
    from sgclearn.cli.app import app
    from sgclearn.errors import InputError

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            app(args=[str(argument) for argument in arguments], prog_name="sgc", standalone_mode=False)
        except OSError as error:  # as `sgclearn.cli.app.run` does
            raise InputError(f"sgc: {error}") from error


def _documents() -> dict[str, list[Bundle]]:
    rows = "".join(f'{row["id"]},"{row["text"]}",{row["label"]},{row["split"]}\n' for row in DOCUMENTS)
    text = "id,text,label,split\n" + rows
    folder = {
        f"docs/{row['split']}/{row['label']}/{row['id']}.txt": str(row["text"]).encode() for row in DOCUMENTS
    }
    return {
        "documents": [
            {"docs.csv": text.encode()},
            {"docs.jsonl": _lines(*DOCUMENTS)},
            {"docs.jsonl.gz": gzip.compress(_lines(*DOCUMENTS))},
            {"docs.txt": b"one document\nanother one\n"},
            {"docs.parquet": _parquet(text=["a b", "c d"], label=["x", "y"])},
        ],
        "documents-folder": [folder],
    }


def _datasets() -> dict[str, list[Bundle]]:
    X = sparse.csr_array(np.array([[0, 1.0, 0], [1, 0, 0], [0, 0, 1], [1, 1, 0]]))
    A = sparse.csr_array(np.array([[0, 1.0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]))
    y = np.array([0, 1, 0, 1])
    parts = {
        f"{name}_{part}": value for name, held in (("adj", A), ("attr", X)) for part, value in _parts(held)
    }
    own = {f"x_{part}": value for part, value in _parts(X)}
    index = {f"{part}_index": np.array([k]) for k, part in enumerate(("train", "val", "test"))}
    labels = {f"y_{part}": np.array([k % 2]) for k, part in enumerate(("train", "val", "test"))}
    clean = lzma.compress(b"crude oil\ncorn crop\n")
    corpus = _npz(y=np.array([0, 1]), is_train=np.array([True, False]), label_names=np.array(["a", "b"]))
    return {
        "pickle": [{"ind.x": content} for content in _pickles()],
        "planetoid": [_planetoid()],
        "linqs": [
            {"x.content": b"31 0 1 theory\n47 1 1 rules\n52 0 0 theory\n", "x.cites": b"31 47\n47 52\n"}
        ],
        "gnn-benchmark": [{"data.npz": _npz(**parts, labels=y)}],
        "reddit": [
            {
                "reddit.npz": _npz(feats=X.toarray(), **index, **labels),
                "reddit_adj.npz": _scipy_npz(A.toarray(), "csr"),
            }
        ],
        "dataset-npz": [
            {
                "data.npz": _npz(
                    **own, edges=np.array([[0, 1], [1, 2]]), y=y, class_names=np.array(["a", "b"])
                ),
                "words.txt.xz": lzma.compress(b"one\ntwo\nthree\n"),
            }
        ],
        "corpus": [{"mr.clean.txt.xz": clean, "mr.labels.npz": corpus}],
        "archive": [{"some.zip": _zip({"a/data.bin": b"12345678", "a/other.txt": b"hello"})}],
    }


def _parts(matrix: Any) -> list[tuple[str, Any]]:
    return [
        ("data", matrix.data),
        ("indices", matrix.indices),
        ("indptr", matrix.indptr),
        ("shape", np.array(matrix.shape)),
    ]


def _pickles() -> list[bytes]:
    graph = defaultdict(list, {0: [1, 2], 1: [0], 2: [0]})
    return [_old(held) for held in (_OldMatrix(np.eye(3)), np.arange(6.0).reshape(3, 2), graph)]


def _planetoid() -> Bundle:
    """The least that has 500 validation nodes."""
    n, n_test = 502, 3
    X = np.zeros((n + n_test, 2))
    X[:, 0] = 1.0
    Y = np.zeros((n + n_test, 2), dtype=np.int32)
    Y[np.arange(n + n_test), np.arange(n + n_test) % 2] = 1
    graph = {node: [(node + 1) % (n + n_test)] for node in range(n + n_test)}
    held = {
        "x": _OldMatrix(X[:2]), "y": Y[:2], "tx": _OldMatrix(X[n:]), "ty": Y[n:],
        "allx": _OldMatrix(X[:n]), "ally": Y[:n], "graph": graph,
    }  # fmt: skip
    bundle = {f"ind.cora.{part}": _old(value) for part, value in held.items()}
    return {**bundle, "ind.cora.test.index": "".join(f"{n + k}\n" for k in range(n_test)).encode()}


class _OldMatrix:
    """Pickles under the name that scipy's matrices had when Planetoid was written."""

    def __init__(self, X: Any) -> None:
        csr = sparse.csr_matrix(X)
        self.data, self.indices, self.indptr, self._shape = csr.data, csr.indices, csr.indptr, csr.shape


class _Python2Pickler(pickle._Pickler):  # type: ignore[name-defined, misc]
    """Writes bytes as Python 2 wrote its strings, and names of the numpy and scipy of that time."""

    dispatch: ClassVar[dict[Any, Any]] = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def save_bytes(self, value: bytes) -> None:
        self.write(pickle.BINSTRING + len(value).to_bytes(4, "little") + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if obj is _OldMatrix:
            self.write(pickle.GLOBAL + b"scipy.sparse.csr\ncsr_matrix\n")
            self.memoize(obj)
        else:
            super().save_global(obj, name)

    dispatch[type] = save_global


def _old(held: Any) -> bytes:
    stream = io.BytesIO()
    _Python2Pickler(stream, 2).dump(held)
    return stream.getvalue().replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def _folder(folder: Path) -> Bundle:
    return {
        f"{folder.name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _scipy_npz(dense: Any, kind: str) -> bytes:
    stream = io.BytesIO()
    sparse.save_npz(stream, sparse.coo_array(dense).asformat(kind))
    return stream.getvalue()


def _zip(members: Bundle) -> bytes:
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _parquet(**columns: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()
