"""Arguments by the name of their parameter: those that work, and those that nobody planned for."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fuzz.sparse_parts import malformed
from fuzz.values import FLOATS, INTEGERS, TEXTS

N_NODES, N_FEATURES = 6, 3
DOCS = [
    "crude oil barrel",
    "barrel of oil",
    "wheat corn",
    "corn crop harvest",
    "oil price",
    "harvest of wheat",
]


def graph(**options: Any) -> Any:
    """A graph of six nodes."""
    from sgclearn import Graph

    return Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)], **options)


def features(n_columns: int = N_FEATURES, n_rows: int = N_NODES) -> Any:
    """Numbers of both signs."""
    return np.random.default_rng(23).normal(size=(n_rows, n_columns))


def labels() -> Any:
    """Three labelled nodes of each of two classes."""
    return np.array([0, 1, 0, 1, -1, 1])


def fit_valid(model: Any) -> Any:
    """Fit a model of any kind to data that works."""
    name = type(model).__name__
    if name.startswith("Text"):
        return model.set_params(weight_decay=1e-2).fit(DOCS, ["a", "a", "b", "b", "", "b"])
    if name == "SGCGraphClassifier":
        return model.set_params(cv=2, weight_decay=0.1).fit(_graphs(), ["a", "b"] * 3)
    if name == "SGCRelationClassifier":
        return model.fit(_sentences())
    if name == "SGCTransformer":
        return model.fit(features(), graph=graph())
    if name == "SGCMultilabelClassifier":
        return model.fit(
            features(), np.array([[0, 1], [1, 0], [1, 1], [0, 0], [1, 0], [0, 1]]), graph=graph()
        )
    if name in ("SGCClassifierCV", "SGCRegressorCV"):
        model.set_params(n_hops=(0, 1), weight_decay=(1e-2, 1e-1), cv=2)
    return model.fit(features(), labels(), graph=graph())


def _graphs() -> Any:
    from sgclearn import Graph

    return [Graph.from_edges([(i, i + 1) for i in range(n)]) for n in range(2, 8)]


def _sentences() -> Any:
    from sgclearn.tasks.relations import sentences_from_records

    spans = {"subj_start": 0, "subj_end": 0, "obj_start": 2, "obj_end": 2, "stanford_head": [2, 0, 2]}
    words = ("rain causes floods", "cars have wheels", "smoke causes fear", "trees have leaves")
    return sentences_from_records(
        [{"token": text.split(), "relation": "ab"[n % 2], **spans} for n, text in enumerate(words)]
    )


def _operator(rng: random.Random) -> Any:
    from sgclearn import Operator

    return Operator(_any_graph(rng), rng.choice(("sym", "rw")))


def _compute(rng: random.Random) -> Any:
    from sgclearn import Compute

    plan, engine = rng.choice(("auto", "full", "left-first", "implicit")), rng.choice(("auto", "scipy"))
    return Compute(plan, engine, memory_limit=rng.choice((None, "1B", "4GB")))


def _any_graph(rng: random.Random) -> Any:
    from sgclearn import Graph

    weights = rng.choice(
        ([1.0, 2.0, 3.0], [1e308, 1e308, 1e308], [5e-324, 1.0, 1e-300], [1e150, 1e-150, 1.0])
    )
    return rng.choice(
        (
            graph,
            graph,
            graph,
            lambda: Graph.from_edges([(0, 1), (1, 2), (3, 3)], weights=weights, n_nodes=N_NODES),
            lambda: Graph.from_edges([(0, 1), (1, 2), (2, 0)], n_nodes=N_NODES, directed=True),
            lambda: Graph.from_edges([], n_nodes=N_NODES),
            lambda: Graph.from_edges([], n_nodes=0),
            lambda: Graph.from_edges([(0, 1)]),
            lambda: graph(nodes=[3, 1, 2, 0, 5, 4]),
        )
    )()


def _filter(rng: random.Random) -> Any:
    from sgclearn.filters import CustomFilter, HeatFilter, PowerFilter, S2GCFilter

    return rng.choice((PowerFilter(2), S2GCFilter(3, 0.1), HeatFilter(3, 1.0), CustomFilter((0.5, 0.5))))


def _spectrum(rng: random.Random) -> Any:
    from sgclearn import Operator
    from sgclearn.spectral import exact_spectrum

    return exact_spectrum(Operator(graph(), "sym"))


def _model(rng: random.Random) -> Any:
    from sgclearn import SGCClassifier, SGCMultilabelClassifier, TextSGCClassifier

    return fit_valid(rng.choice((SGCClassifier, SGCMultilabelClassifier, TextSGCClassifier))())


def _explainer(rng: random.Random) -> Any:
    from sgclearn import Explainer, SGCClassifier

    return Explainer(fit_valid(SGCClassifier()), features(), graph())


def _frame(rng: random.Random) -> Any:
    import pandas as pd

    return pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]})


def _networkx(rng: random.Random) -> Any:
    import networkx as nx

    return nx.path_graph(4)


def _dataset(rng: random.Random) -> Any:
    from sgclearn import GraphDataset

    parts = [np.array([0, 1]), np.array([2]), np.array([3])]
    return GraphDataset("six", graph(), features(), labels(), ("a", "b"), None, *parts)


def _text_builder(rng: random.Random) -> Any:
    from sgclearn.tasks.text import TextGraphBuilder

    return TextGraphBuilder()


def _features(rng: random.Random) -> Any:
    from sgclearn import Features

    return Features.from_matrix(features(), ids=range(N_NODES))


def _labels(rng: random.Random) -> Any:
    from sgclearn import Labels

    return Labels([0, 1, 2], ["a", "b", "a"], ["train", "val", "test"])


def _word_vectors(rng: random.Random) -> Any:
    from sgclearn.features import WordVectors

    return WordVectors(["oil", "corn", "oil-price"], features().astype(np.float32)[:3])


def _node_ids(rng: random.Random) -> Any:
    from sgclearn.graph import NodeIds

    return NodeIds(["a", "b", "c"])


VALID_OBJECTS: dict[str, Callable[[random.Random], Any]] = {
    "Compute": _compute,
    "Explainer": _explainer,
    "Graph": _any_graph,
    "Operator": _operator,
    "Features": _features,
    "Labels": _labels,
    "GraphDataset": _dataset,
    "NodeIds": _node_ids,
    "WordVectors": _word_vectors,
    "TextGraphBuilder": _text_builder,
    "PowerFilter": _filter,
    "S2GCFilter": _filter,
    "PageRankFilter": _filter,
    "HeatFilter": _filter,
    "CustomFilter": _filter,
    "Encoding": lambda rng: _encoding(rng),
}

_VALID: dict[str, Callable[[random.Random], Any]] = {
    "graph": lambda rng: graph(),
    "other": lambda rng: graph(),
    "operator": _operator,
    "compute": _compute,
    "spectrum": _spectrum,
    "model": _model,
    "X": lambda rng: rng.choice((features(), sparse.csr_array(features()))),
    "x": lambda rng: features(1)[:, 0],
    "matrix": lambda rng: features(),
    "coefficients": lambda rng: features(),
    "A": lambda rng: graph().to_scipy(),
    "y": lambda rng: labels(),
    "docs": lambda rng: list(DOCS),
    "documents": lambda rng: list(DOCS),
    "sentences": lambda rng: _sentences(),
    "graphs": lambda rng: _graphs(),
    "y_true": lambda rng: [0, 1, 1, 0],
    "y_pred": lambda rng: [0, 1, 0, 0],
    "indptr": lambda rng: np.array([0, 1, 2]),
    "indices": lambda rng: np.array([1, 0]),
    "ids": lambda rng: rng.choice((np.arange(N_NODES), ["a", "b", "c", "d", "e", "f"])),
    "values": lambda rng: ["a", "b", "a", "b", "a", "b"],
    "names": lambda rng: ["p", "q", "r"],
    "node": lambda rng: rng.randrange(N_NODES),
    "row": lambda rng: sparse.csr_array(np.eye(N_NODES)[:1]),
    "class_names": lambda rng: ("a", "b"),
    "feature_names": lambda rng: None,
    "train": lambda rng: np.array([0, 1]),
    "val": lambda rng: np.array([2]),
    "test": lambda rng: np.array([3]),
    "source": lambda rng: [0, 1, 2],
    "target": lambda rng: [1, 2, 3],
    "new_ids": lambda rng: [100, 101],
    "nodes": lambda rng: rng.choice((None, [0, 2], np.array([True, False, True, False, False, True]))),
    "validation": lambda rng: np.array([1, 2]),
    "sample_weight": lambda rng: np.ones(N_NODES),
    "frequency": lambda rng: [0.0, 0.5, 1.5],
    "wanted": _filter,
    "filter": _filter,
    "state": lambda rng: _filter(rng).to_dict(),
    "frame": _frame,
    "table": lambda rng: _arrow(),
    "G": _networkx,
    "data": lambda rng: _Pyg(),
    "n_nodes": lambda rng: 30,
    "n_edges": lambda rng: 60,
    "n_classes": lambda rng: 3,
    "n_features": lambda rng: 4,
    "name": lambda rng: "nothing",
    "columns": lambda rng: (),
    "state_dict": lambda rng: {},
    "count": lambda rng: 31_000,
    "text": lambda rng: "crude oil",
    "words": lambda rng: ["oil", "corn"],
    "vectors": _word_vectors,
    "document": lambda rng: 0,
}


class _Pyg:
    """What `from_pyg` looks at."""

    def __init__(self, edge_index: Any = None, num_nodes: Any = 3) -> None:
        self.edge_index = np.array([[0, 1], [1, 2]]) if edge_index is None else edge_index
        self.num_nodes = num_nodes


def _arrow() -> Any:
    import pyarrow as pa

    return pa.table({"age": [30, 40], "city": ["Bern", "Graz"]})


def _encoding(rng: random.Random) -> Any:
    from sgclearn.features import Encoding

    return Encoding.learn(_arrow(), impute="mean")


def valid_value(rng: random.Random, name: str, folder: Path) -> Any:
    """A value that works for a parameter of that name; None for a name that is new."""
    if name == "path":
        path = folder / "file.csv"
        path.write_text("source,target\na,b\nb,c\n")
        return path
    if name == "n_nodes":
        return 30
    return _VALID.get(name, lambda rng: None)(rng)


def odd_path(rng: random.Random, folder: Path) -> Any:
    """A path that is strange but stays inside the folder."""
    return rng.choice(
        (folder, folder / "absent.csv", str(folder / "x.npz"), folder / ("a" * 300), folder / "a\ud800", None, 3, 2.5,
         bytes(folder / "x"), folder / "file.csv" / "x", [], folder / "x.parquet", folder / "x.graphml",
         folder / "x.svm", True)
    )  # fmt: skip


# Work grows with these: a large valid number is a long run that somebody asked for, not a hang.
_WORK = frozenset(
    {"max_iter", "n_trials", "max_restarts", "n_moments", "n_vectors", "bins", "batch_size", "cv", "k"}
)
_ARRAYS = frozenset({"X", "x", "matrix", "coefficients", "A", "frequency", "memory"})
_MANY = frozenset(
    {"y", "ids", "values", "names", "source", "target", "new_ids", "nodes", "validation", "sample_weight",
    "weights", "train",
     "val", "test", "y_true", "y_pred", "indptr", "indices", "classes", "splits", "class_names", "docs", "documents"}
)  # fmt: skip
_WORDS = (
    "auto", "dense", "sparse", "full", "frontier", "left-first", "implicit", "native", "scipy", "torch",
    "sym", "rw", "cheby",
    "l1", "l2", "standard", "minmax", "maxabs", "lbfgs", "lbfgs-steps", "adam", "sgd", "balanced", "once", "sum", "max",
    "min", "error", "keep",
    "drop", "tpe", "path", "log_loss", "macro_f1", "paper", "exact", "4GB", "1B", "0GB", "-1GB", "1e3GB",
    "nanGB", "9" * 400 + "GB",
    "4 PB", "\uff11GB", "0.0000001B",
)  # fmt: skip


def odd_value(rng: random.Random, name: str) -> Any:
    """A value that nobody planned for, of the kind that the parameter might accept."""
    draw = rng.random()
    if name in _ARRAYS and draw < 0.85:
        return odd_matrix(rng, square=name == "A")
    if name in _MANY and draw < 0.85:
        return odd_many(rng)
    if name in ("graph", "other") and draw < 0.8:
        return _any_graph(rng)
    if (
        name in ("operator", "compute", "spectrum", "filter", "model", "frame", "table", "G", "data")
        and draw < 0.4
    ):
        return _VALID[name](rng)
    if name == "data" and draw < 0.9:
        return _Pyg(odd_matrix(rng), odd_scalar(rng))
    if name == "class_weight" and draw < 0.6:
        return {
            rng.choice((0, 1, "a", None, 2.5, (1,))): odd_scalar(rng),
            1: rng.choice((1.0, 1e308, 5e-324, 0)),
        }
    if draw < 0.25:
        return rng.choice(_WORDS)
    value = odd_scalar(rng)
    if (
        name in _WORK
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        and 100 < value < 10**300
    ):
        return 10**400
    if draw < 0.35:
        return odd_many(rng)
    return value


def odd_scalar(rng: random.Random) -> Any:
    """One thing that is not a plain small number, or is one at the edge."""
    return rng.choice(
        (
            lambda: rng.choice(INTEGERS),
            lambda: rng.choice(INTEGERS),
            lambda: rng.choice(FLOATS),
            lambda: rng.choice(FLOATS),
            lambda: rng.choice((1e-10, 1e-3, 0.1, 1e3, 1e10, 1e20)),
            lambda: rng.choice(TEXTS),
            lambda: rng.choice(
                (None, True, False, (), [], {}, set(), b"x", "x", ..., NotImplemented, object(), int, len)
            ),
            lambda: rng.choice(
                (10**400, -(10**400), 1j, Decimal("1.5"), Decimal("NaN"), Fraction(1, 3), np.nan)
            ),
            lambda: np.dtype(rng.choice(("f2", "f4", "g", "i1", "u8", "c16", "?"))).type(1),
            lambda: rng.choice(
                (np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.datetime64("NaT"), np.str_("a"))
            ),
            lambda: rng.choice(
                (np.array(2), np.array([2]), np.array(2.5), np.array([]), np.ma.masked, memoryview(b"ab"))
            ),
            lambda: rng.choice(
                (range(3), iter([1, 2]), (value for value in (1, 2)), slice(2), frozenset({1}))
            ),
            lambda: {"a": 1, 1: "a"},
        )
    )()


def odd_many(rng: random.Random) -> Any:
    """Labels, ids, positions or weights that are strange as a list or in one place of it."""
    n = rng.choice((N_NODES, N_NODES, N_NODES, 0, 1, 2, 3, N_NODES + 1))
    plain: list[Any] = [rng.choice((0, 1)) for _ in range(n)]
    if n and rng.random() < 0.5:
        for _ in range(rng.choice((1, 1, 2))):
            plain[rng.randrange(n)] = odd_scalar(rng)
        return plain
    return rng.choice(
        (
            lambda: _array(rng, plain),
            lambda: _array(rng, plain),
            lambda: np.ma.masked_array(np.arange(n) % 2, mask=np.arange(n) % 3 == 0),
            lambda: _pandas(rng, n),
            lambda: _pandas(rng, n),
            lambda: [(k % 2, "a") for k in range(n)],
            lambda: np.array([rng.choice(("a", "b", "", None)) for _ in range(n)], dtype=object),
            lambda: [rng.choice(FLOATS) for _ in range(n)],
            lambda: [rng.choice(INTEGERS) for _ in range(n)],
            lambda: [rng.choice(TEXTS) for _ in range(n)],
            lambda: np.array([1e308] * n),
            lambda: np.full(n, 5e-324),
            lambda: np.array([b"a", b"b"] * (n // 2)),
            lambda: np.array([(1, 2.0)] * n, dtype=[("a", "i4"), ("b", "f8")]),
            lambda: np.zeros(n, dtype="V4"),
            lambda: np.array(3),
            lambda: np.zeros((n, 2)),
            lambda: np.zeros((n, 1)),
            lambda: np.zeros((2, n, 1)),
            lambda: np.arange(2 * n)[::-2],
            lambda: (value for value in plain),
            lambda: memoryview(np.arange(n)),
            lambda: set(plain),
            lambda: dict.fromkeys(range(n), 1),
            lambda: "abcdef"[:n],
            lambda: sparse.csr_array(np.zeros((n, 2))),
            lambda: [[1, 2], [3]],
            lambda: np.array([1, "a", None, 2.5, (1,), b"x"][:n], dtype=object),
        )
    )()


def _array(rng: random.Random, values: list[Any]) -> Any:
    types = (
        "f2",
        "f4",
        "f8",
        "g",
        "c16",
        "i1",
        "u1",
        "u4",
        "u8",
        "i8",
        ">i4",
        "?",
        "U3",
        "S3",
        "O",
        "M8[s]",
        "m8[s]",
    )
    array = np.array(values).astype(rng.choice(types))
    return rng.choice((array, array[::-1], np.repeat(array, 2)[::2], _frozen(array)))


def _frozen(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def _pandas(rng: random.Random, n: int) -> Any:
    import pandas as pd

    values = [k % 2 for k in range(n)]
    return rng.choice(
        (
            lambda: pd.Series(values, dtype="Int64").where(pd.Series(range(n)) != 1),
            lambda: pd.Series([f"c{v}" for v in values], dtype="category"),
            lambda: pd.Series([f"c{v}" for v in values], dtype="string"),
            lambda: pd.Series([v == 1 for v in values], dtype="boolean"),
            lambda: pd.Series(values, dtype="Float32"),
            lambda: pd.Series(pd.date_range("2020", periods=n)),
            lambda: pd.Index(values),
            lambda: pd.array(values),
            lambda: pd.DataFrame({"a": values}),
            lambda: pd.Series([pd.NA] * n),
            lambda: pd.arrays.SparseArray(values),
        )
    )()


def odd_matrix(rng: random.Random, *, square: bool = False) -> Any:
    """Features or an adjacency matrix: odd types, sizes, layouts, magnitudes, and sparse ones that are malformed."""
    plain = np.abs(graph().to_scipy().toarray()) if square else features()
    return rng.choice(
        (
            lambda: plain * rng.choice((1e-200, 1e-320, 1e100, 1e149, 1e151, 1e300, 1e308, -1.0, 0.0)),
            lambda: plain * rng.choice((1e-200, 1e-100, 1e100, 1e150)),
            lambda: _retyped(rng, plain),
            lambda: _retyped(rng, plain),
            lambda: _spoiled(rng, plain),
            lambda: rng.choice(
                (
                    plain.T.copy().T,
                    plain[::-1],
                    np.asfortranarray(plain),
                    np.repeat(plain, 2, 1)[:, ::2],
                    _frozen(plain),
                )
            ),
            lambda: np.zeros(
                rng.choice(((0, 0), (0, 3), (6, 0), (6,), (1, 1), (2, 6, 3), (), (7, 3), (6, 1))),
                rng.choice(("f8", "f4", "i8")),
            ),
            lambda: np.ma.masked_array(plain, mask=plain > 0.5),
            lambda: np.asmatrix(plain),
            lambda: plain.tolist(),
            lambda: [list(row) for row in plain[:5]] + [[1.0]],
            lambda: _frame_of(rng, plain),
            lambda: _valid_sparse(rng, plain),
            lambda: _valid_sparse(rng, plain),
            lambda: malformed(rng, plain),
            lambda: malformed(rng, plain),
            lambda: malformed(rng, plain),
            lambda: malformed(rng, plain),
            lambda: memoryview(np.ascontiguousarray(plain)),
            lambda: (list(row) for row in plain),
            lambda: odd_scalar(rng),
            lambda: np.broadcast_to(plain[:1], plain.shape),
            lambda: np.ones((N_NODES, 3)) * np.array([1e-160, 1e150, 1.0]),
        )
    )()


def _retyped(rng: random.Random, plain: Any) -> Any:
    types = (
        "f2",
        "f4",
        "g",
        "c8",
        "c16",
        "i1",
        "u1",
        "u8",
        "i8",
        ">f8",
        "?",
        "U9",
        "S9",
        "O",
        "M8[s]",
        "m8[s]",
        "V8",
    )
    with np.errstate(all="ignore"):
        return plain.astype(rng.choice(types))


def _spoiled(rng: random.Random, plain: Any) -> Any:
    array = plain.astype(rng.choice(("f8", "f8", "O")))
    array[rng.randrange(len(array)), 0] = rng.choice(FLOATS) if array.dtype != object else odd_scalar(rng)
    return array


def _frame_of(rng: random.Random, plain: Any) -> Any:
    import pandas as pd

    frame = pd.DataFrame(plain, columns=[f"c{k}" for k in range(plain.shape[1])])
    if rng.random() < 0.7:
        frame["c0"] = _pandas(rng, len(frame))
    return frame if rng.random() < 0.8 else frame.rename(columns={"c0": 3})


def _valid_sparse(rng: random.Random, plain: Any) -> Any:
    kind = rng.choice(("csr", "csc", "coo", "bsr", "dia", "lil", "dok"))
    make = rng.choice((sparse.coo_array, sparse.coo_matrix))
    matrix = make(plain).asformat(kind)
    if kind in ("csr", "csc") and rng.random() < 0.5:
        matrix.indices, matrix.indptr = (
            part.astype(rng.choice(("i8", "u4", "i2", "u8"))) for part in (matrix.indices, matrix.indptr)
        )
    if kind != "dok" and kind != "lil" and rng.random() < 0.3:
        matrix.data = matrix.data * rng.choice((1e308, np.nan, 1e-320, np.inf))
    return matrix


def describe(value: Any) -> str:
    """Short text of a value, with its type where that is what matters."""
    try:
        if isinstance(value, np.ndarray):
            kind = type(value).__name__
            some = np.array2string(value.reshape(-1)[:8], threshold=8).replace("\n", " ")
            return f"{kind}({value.dtype}, {value.shape}, {some})"
        if sparse.issparse(value):
            parts = ", ".join(
                f"{name}={np.asarray(getattr(value, name)).ravel()[:12].tolist()}"
                for name in ("indptr", "indices", "row", "col", "offsets", "data") if hasattr(value, name)
            )  # fmt: skip
            return f"{type(value).__name__}(shape={value.shape}, {value.dtype}, {parts})"
        text = repr(value)
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__}>"
    return text if len(text) < 200 else text[:200] + "..."


def words(rng: random.Random) -> Iterator[str]:
    """Endless names."""
    while True:
        yield rng.choice(TEXTS)
