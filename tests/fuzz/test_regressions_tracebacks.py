"""Inputs that once ended in an exception of somebody else's library."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fuzz.mutate_archives import npy_file
from fuzz.mutate_models import signed
from fuzz.odd import DOCS, features, fit_valid, graph, labels
from fuzz.workers import isolated
from sgclearn import (
    Compute,
    Explainer,
    Graph,
    Labels,
    Operator,
    SGCClassifier,
    SGCClassifierCV,
    SGCMultilabelClassifier,
    SGCTransformer,
    TextSGCClassifier,
    evaluate_predictions,
    load_model,
    propagate,
    read_edges,
    read_features,
    save_model,
)
from sgclearn.datasets import make_block_graph
from sgclearn.errors import InputError, SgclearnError
from sgclearn.evaluate import PredictionSets, evaluate_values
from sgclearn.explain import leave_one_out
from sgclearn.features import WordVectors, read_word_vectors
from sgclearn.graph import NodeIds
from sgclearn.persist.container import read_container
from sgclearn.spectral import exact_spectrum, fourier_transform
from sgclearn.tasks.geo import read_user_info


def _short(value: int) -> str:
    return f"{'-' * (value < 0)}2^{abs(value).bit_length() - 1}"


HEADERS = {
    "open-bracket": "{'descr': '<f8', 'fortran_order': False, 'shape': (3,",
    "open-quote": "{'descr': '''<f8, 'fortran_order': False, 'shape': (3,)}",
    "deep": "(" * 4000,
    "indented": "  {'descr': '<f8'\n   'x'",
    "empty": "",
    "not-a-dictionary": "[1, 2]",
    "null": "\0",
}


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("read", [read_features, read_edges, Graph.load_npz])
def test_array_header_that_cannot_be_parsed_is_an_input_error(
    read: Callable[[Path], Any], header: str
) -> None:
    def call(folder: Path) -> Any:
        path = folder / "a.npz"
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("X", "edges", "sgclearn_graph"):
                archive.writestr(f"{name}.npy", npy_file(HEADERS[header], b"\0" * 24))
        return read(path)

    outcome = isolated(call, strict=True)
    assert outcome.status == "refused", outcome


@pytest.mark.parametrize("at", [0, 30, 60, 100, -40, -12, -6, -2])
@pytest.mark.parametrize("matrix", [True, False])
def test_damaged_archive_is_an_input_error(matrix: bool, at: int) -> None:
    def call(folder: Path) -> Any:
        path = folder / "a.npz"
        if matrix:
            sparse.save_npz(path, graph().to_scipy())
        else:
            np.savez(path, X=features())
        content = bytearray(path.read_bytes())
        content[at] ^= 0x5A
        path.write_bytes(content)
        return read_features(path)

    assert not isolated(call, strict=True).failed


@pytest.mark.parametrize("depth", [100, 990, 5000, 100_000])
@pytest.mark.parametrize("place", ["outside", "parameters", "feature_encoding"])
def test_deep_json_in_a_model_is_a_model_file_error(place: str, depth: int) -> None:
    def call(folder: Path) -> Any:
        from safetensors.numpy import load, save

        path = folder / "model.safetensors"
        save_model(SGCClassifier().fit(features(), labels(), graph=graph()), path)
        if place == "outside":
            text = "[" * depth + "]" * depth
            path.write_bytes(save(load(path.read_bytes()), metadata={"sgclearn-model": text}))
            return load_model(path)
        header, tensors = read_container(path)
        nested: Any = []
        for _ in range(min(depth, 900 if place != "parameters" else 300)):  # what json itself can write
            nested = {"pairs": [[1, nested]]} if place == "parameters" else [nested]
        header[place] = (
            {**header["parameters"], "class_weight": nested} if place == "parameters" else {"columns": nested}
        )
        try:
            path.write_bytes(signed(header, tensors))
        except RecursionError:
            pytest.skip("cannot be written")
        return load_model(path)

    outcome = isolated(call, strict=True)
    assert not outcome.failed, outcome


@pytest.mark.parametrize("size", [1e50, 1e100, 1e140])
@pytest.mark.parametrize(
    "options", [{}, {"weight_decay": 0.0}, {"scale": "standard"}, {"weight_decay": 1e300}]
)
def test_fit_to_huge_features_is_finite_or_refused(options: dict[str, Any], size: float) -> None:
    outcome = isolated(
        lambda _: SGCClassifier(**options).fit(features() * size, labels(), graph=graph()), strict=True
    )
    assert not outcome.failed, outcome


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse_features", [True, False])
def test_torch_engine_fits_a_scaled_implicit_plan(sparse_features: bool, dtype: Any) -> None:
    pytest.importorskip("torch")
    X = (sparse.csr_array(features()) if sparse_features else features()).astype(dtype)
    # Not in a forked child: torch's own threads do not survive a fork.
    for scale in ("standard", "minmax", "maxabs"):
        model = SGCClassifier(compute=Compute(engine="torch", plan="implicit"), scale=scale).fit(
            X, labels(), graph=graph()
        )
        assert np.isfinite(model.coef_).all()


ODD_TYPES = ("f2", "g", "c8", "c16", "M8[s]", "m8[s]", "U5", "S5", "V8", "O", "?", "u1", ">f8", ">i4")


@pytest.mark.parametrize("dtype", ODD_TYPES)
@pytest.mark.parametrize("call", ["propagate", "fit", "predict", "transform", "from_scipy"])
def test_features_of_an_odd_type_are_used_or_refused(call: str, dtype: str) -> None:
    X = features().astype(dtype)
    square = graph().to_scipy().toarray().astype(dtype)
    fitted = SGCClassifier().fit(features(), labels(), graph=graph())
    calls: dict[str, Callable[[Path], Any]] = {
        "propagate": lambda _: propagate(X, graph()),
        "fit": lambda _: SGCClassifier().fit(X, labels(), graph=graph()),
        "predict": lambda _: fitted.decision_function(X, graph=graph()),
        "transform": lambda _: SGCTransformer(graph()).fit_transform(X),
        "from_scipy": lambda _: Graph.from_scipy(square),
    }
    outcome = isolated(calls[call])
    assert outcome.status in ("returned", "refused"), outcome


@pytest.mark.parametrize("dtype", ODD_TYPES)
@pytest.mark.parametrize("call", ["propagate", "fit", "from_scipy"])
def test_sparse_matrix_of_an_odd_type_is_used_or_refused(call: str, dtype: str) -> None:
    matrix = graph().to_scipy()
    held = sparse.csr_array(matrix)
    held.data = matrix.data.astype(dtype)
    calls: dict[str, Callable[[Path], Any]] = {
        "propagate": lambda _: propagate(held, graph()),
        "fit": lambda _: SGCClassifier().fit(held, labels(), graph=graph()),
        "from_scipy": lambda _: Graph.from_scipy(held),
    }
    outcome = isolated(calls[call])
    assert outcome.status in ("returned", "refused"), outcome


@pytest.mark.parametrize("n_threads", [2**31 - 1, 2**31, 2**32, 2**63, 10**400, -(2**31)], ids=_short)
@pytest.mark.parametrize("call", ["propagate", "propagate-sparse", "fit"])
def test_number_of_threads_out_of_range_is_refused_or_bounded(call: str, n_threads: int) -> None:
    n = 20_000  # a small graph would be left to one thread
    ring = Graph.from_edges(np.arange(n), np.roll(np.arange(n), 1))
    X = np.ones((n, 16))
    calls: dict[str, Callable[[Path], Any]] = {
        "propagate": lambda _: propagate(X, ring, compute=Compute(n_threads=n_threads)),
        "propagate-sparse": lambda _: propagate(
            sparse.csr_array(X), ring, compute=Compute(n_threads=n_threads)
        ),
        "fit": lambda _: SGCClassifier(compute=Compute(n_threads=n_threads)).fit(
            X, np.arange(n) % 2, graph=ring
        ),
    }
    outcome = isolated(calls[call], strict=True)
    assert not outcome.failed, outcome


@pytest.mark.parametrize(
    "name", ["weight_decay", "tol", "gamma", "learning_rate", "max_iter", "batch_size", "random_state"]
)
@pytest.mark.parametrize("value", [10**400, -(10**400), 2**64], ids=_short)
def test_setting_that_no_float_can_hold_is_refused(name: str, value: int) -> None:
    options: dict[str, Any] = {
        name: value,
        "solver": "sgd" if name in ("learning_rate", "batch_size") else "lbfgs",
    }
    outcome = isolated(
        lambda _: SGCClassifier(**options).fit(features(), labels(), graph=graph()), strict=True
    )
    assert not outcome.failed, outcome


@pytest.mark.parametrize("y", [
    [("a", 1), ("b", 2), ("a", 1), ("b", 2), ("a", 1), ("b", 2)],
    [("a",), ("b",), ("a",), ("b",), None, ("b",)],
    [[1], [1, 2], [1], [1, 2], [1], [1]],
    [{1}, {2}, {1}, {2}, {1}, {2}],
    [b"a", b"b", b"a", b"b", b"a", b"b"],
    [1, "a", 1, "a", 1, "a"],
    [object(), object(), 1, 2, 3, 4],
])  # fmt: skip
def test_labels_that_are_no_classes_are_refused(y: list[Any]) -> None:
    for given in (y, _objects(y)):
        outcome = isolated(lambda _, given=given: SGCClassifier().fit(features(), given, graph=graph()))  # type: ignore[misc]
        assert outcome.status in ("returned", "refused"), outcome


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def test_run_settings_that_are_deep_are_an_input_error(tmp_path: Path) -> None:
    from sgclearn.cli.app import run

    (tmp_path / "run.json").write_text(
        json.dumps({"format": "sgclearn-run"})[:-1] + ', "version": ' + "[" * 100_000
    )
    assert run(["evaluate", str(tmp_path)]) == 2


# ---- found by the fuzzers later ----------------------------------------------------------------------------

LATER: dict[str, Callable[[], Any]] = {
    "row of an explanation": lambda: _explainer().explain_row(None),
    "class of an explanation": lambda: _explainer().explain(0, label=np.zeros(2)),
    "missing class of an explanation": lambda: _explainer().explain(
        0, against=pytest.importorskip("pandas").NA
    ),
    "node of an explanation": lambda: _explainer().explain(np.timedelta64(1)),
    "text model to explain": lambda: Explainer(
        TextSGCClassifier().fit(DOCS, [*"aabb", "", "b"]), features(), graph()
    ),
    "rows of a graph": lambda: graph().rows([0.5]),
    "rows of a graph, ragged": lambda: graph().rows([0, [1]]),
    "sums of rows of a graph": lambda: graph().row_sums(None),
    "word vectors without words": lambda: WordVectors(None, np.zeros((2, 2), dtype=np.float32)),  # type: ignore[arg-type]
    "words that are no texts": lambda: _vectors().positions([1]),
    "names that are no texts": lambda: _vectors().averages(np.float64(2.0)),  # type: ignore[arg-type]
    "classes beyond the nodes": lambda: make_block_graph(30, 60, n_classes=10**400),
    "edges that are a duration": lambda: make_block_graph(30, np.timedelta64(3, "s")),  # type: ignore[arg-type]
    "ragged features of a transform": lambda: fourier_transform(
        [[1.0], [1.0, 2.0]], exact_spectrum(Operator(graph()))
    ),
    "targets that are no names": lambda: evaluate_values([1.0], [1.0], targets=2.5),  # type: ignore[arg-type]
    "values that are no numbers": lambda: evaluate_values(["a"], [1.0]),
    "seed that is a text": lambda: evaluate_values([1.0, 2.0], [1.0, 2.0], seed="l2"),  # type: ignore[arg-type]
    "probabilities that are none": lambda: PredictionSets.fit("l2", memoryview(b"ab"), 0.9),
    "splits that are a matrix": lambda: Labels([1, 2], ["a", "b"], sparse.csr_array((2, 2))),  # type: ignore[arg-type]
    "labels that are durations": lambda: Labels([1], [np.timedelta64(3, "s")]),
    "ragged numbers of hops": lambda: SGCClassifierCV([0, [1]]).fit(features(), labels(), graph=graph()),  # type: ignore[list-item]
    "class that is a slice": lambda: evaluate_predictions([0, 1], [0, 1], classes=[0, 1, slice(2)]),
    "features of texts": lambda: _fitted_multilabel().predict_proba(_frame(["c0"] * 6)),
    "features of mixed types": lambda: _fitted_multilabel().predict_proba(_frame([None, *"ab", 2, 3, 4])),
    "words for ids that are none": lambda: NodeIds(["a", "a"], once=2.0),  # type: ignore[arg-type]
    "recipe that is an array": lambda: TextSGCClassifier(recipe=np.zeros(0)).fit(DOCS, [*"aabb", "", "b"]),  # type: ignore[arg-type]
    "nodes of an influence that are no positions": lambda: leave_one_out(
        SGCClassifier().fit(features(), labels(), graph=graph()), features(), labels(), graph(), [0.5]
    ),
    "degrees that overflow": lambda: Graph.from_edges([(0, 1), (1, 2)], weights=[1.7e308, 1.7e308]).degrees(),
    "sums that overflow": lambda: Graph.from_edges([(0, 1), (1, 2)], weights=[1.7e308, 1.7e308]).row_sums(
        [1]
    ),
}


@pytest.mark.parametrize("case", LATER)
def test_argument_that_nobody_planned_for_is_one_sentence(case: str) -> None:
    with pytest.raises(SgclearnError):
        LATER[case]()


@pytest.mark.parametrize("encoding", ["utf-99", "hex", "a\0b", "", 8, None])
def test_encoding_that_is_none_is_an_input_error(tmp_path: Path, encoding: Any) -> None:
    (tmp_path / "v.txt").write_text("sea 1 2\n")
    for read in (read_word_vectors, read_user_info):
        with pytest.raises(InputError, match="encoding must be one that Python knows"):
            read(tmp_path / "v.txt", encoding=encoding)


def test_word_vectors_of_a_damaged_archive_are_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, vector=np.ones((2, 3)), words=np.array([1, 2]))
    with pytest.raises(InputError, match="list of texts"):
        read_word_vectors(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError):
        read_word_vectors(path)


def _explainer() -> Explainer:
    return Explainer(SGCClassifier().fit(features(), labels(), graph=graph()), features(), graph())


def _vectors() -> WordVectors:
    return WordVectors(["sea"], np.ones((1, 2), dtype=np.float32))


def _frame(column: list[Any]) -> Any:
    X = features()
    return (
        pytest.importorskip("pandas")
        .DataFrame({"a": column, "b": X[:, 0], "c": X[:, 1]})
        .astype({"a": object})
    )


def _fitted_multilabel() -> Any:
    return fit_valid(SGCMultilabelClassifier())
