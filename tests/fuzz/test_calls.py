"""Odd values and malformed matrices into every public call."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse

import sgclearn
from fuzz.calls import LEFT_OUT, names_of_calls, run_call
from fuzz.odd import features, fit_valid, graph, labels
from fuzz.sparse_parts import FORMATS, malformed
from fuzz.verdict import Unsound
from fuzz.workers import Worker
from sgclearn import Compute


@pytest.fixture(scope="module")
def caller() -> Iterator[Worker]:
    with Worker(run_call, strict=False) as worker:
        yield worker


def test_every_public_name_is_called() -> None:
    called = {name.partition(":")[2].partition(".")[0] for name in names_of_calls()}
    assert set(sgclearn.__all__) - called <= LEFT_OUT


def test_public_call_returns_or_refuses(caller: Worker) -> None:
    names = names_of_calls()
    for number, name in enumerate([*names, *(name for name in names if name.startswith(":"))]):
        outcome = caller((name, f"53 {number}"))
        assert not outcome.failed, (outcome.label, outcome)


# ---- malformed and unusual sparse matrices -----------------------------------------------------------------


def _fitted(kind: str) -> Any:
    return fit_valid(getattr(sgclearn, kind)())


def _operator() -> Any:
    return sgclearn.Operator(graph(), "sym")


def _spectral(name: str) -> Callable[[Any], Any]:
    def call(X: Any) -> Any:
        import sgclearn.spectral as spectral

        if name == "fourier_transform":
            return spectral.fourier_transform(X, spectral.exact_spectrum(_operator()))
        if name == "energy_by_frequency":
            return spectral.energy_by_frequency(X, spectral.exact_spectrum(_operator()))
        if name == "dirichlet_energy":
            return spectral.dirichlet_energy(X, _operator(), 1)
        return spectral.feature_density(X, _operator()).mass

    return call


# What takes a matrix, giving numbers that the dense matrix must give too.
TAKES_X: dict[str, Callable[[Any], Any]] = {
    "propagate": lambda X: sgclearn.propagate(X, graph(), output="dense"),
    "propagate-scipy": lambda X: sgclearn.propagate(X, graph(), compute=Compute(engine="scipy"), output="dense"),
    "propagate-l2": lambda X: sgclearn.propagate(X, graph(), row_norm="l2", output="dense"),
    "propagate-nodes": lambda X: sgclearn.propagate(X, graph(), nodes=[4, 1], output="dense"),
    "Features": lambda X: _dense(sgclearn.Features.from_matrix(X).matrix),
    "SGCTransformer": lambda X: _dense(sgclearn.SGCTransformer(graph()).fit_transform(X)),
    "SGCClassifier.fit": lambda X: sgclearn.SGCClassifier().fit(X, labels(), graph=graph()).coef_,
    "SGCClassifier.fit-no-graph": lambda X: sgclearn.SGCClassifier(0).fit(X, labels()).coef_,
    "SGCClassifierCV.fit": lambda X: (
        sgclearn.SGCClassifierCV((0, 1), weight_decay=(1e-2, 1e-1), cv=2).fit(X, labels(), graph=graph()).coef_
    ),
    "SGCMultilabelClassifier.fit": lambda X: (
        sgclearn.SGCMultilabelClassifier().fit(X, np.eye(6, 2, dtype=int) ^ [0, 1], graph=graph()).coef_
    ),
    "decision_function": lambda X: _fitted("SGCClassifier").decision_function(X, graph=graph()),
    "predict_proba-multilabel": lambda X: _fitted("SGCMultilabelClassifier").predict_proba(X, graph=graph()),
    "filter.apply": lambda X: __import__("sgclearn.filters").filters.S2GCFilter(2, 0.1).apply(X, _operator()),
    **{f"spectral.{name}": _spectral(name) for name in ("fourier_transform", "energy_by_frequency",
    "dirichlet_energy", "feature_density")},
    "from_scipy": lambda A: sgclearn.Graph.from_scipy(A, directed=True, duplicates="sum").to_scipy().toarray(),
}  # fmt: skip


def _dense(held: Any) -> Any:
    return held.toarray() if sparse.issparse(held) else np.asarray(held)


def _sound(matrix: Any) -> bool:
    """Whether the parts of a matrix fit together, entry by entry and without any code of scipy."""
    try:
        n_rows, n_columns = matrix.shape
        if matrix.format in ("csr", "csc"):
            if matrix.format == "csc":
                n_rows, n_columns = n_columns, n_rows
            indptr, indices = matrix.indptr, matrix.indices
            if indptr.ndim != 1 or indices.ndim != 1 or matrix.data.ndim != 1 or len(indptr) != n_rows + 1:
                return False
            starts = indptr.tolist()
            return (
                starts[0] == 0
                and all(a <= b for a, b in itertools.pairwise(starts))
                and starts[-1] == len(indices) == len(matrix.data)
                and all(0 <= index < n_columns for index in indices.tolist())
            )
        if matrix.format == "coo":
            row, col = matrix.coords
            return len(row) == len(col) == len(matrix.data) and all(
                0 <= i < n_rows and 0 <= j < n_columns
                for i, j in zip(row.tolist(), col.tolist(), strict=True)
            )
    except Exception:
        return False
    return False


def _run(case: tuple[str, int, str], folder: Path) -> Any:
    entry, seed, kind = case
    dense = graph().to_scipy().toarray() if entry == "from_scipy" else features()
    matrix = malformed(random.Random(seed), dense, kind)
    is_sound = _sound(matrix)
    (folder / ".label").write_text(f"{entry}({kind}: {matrix.__dict__})")
    result = TAKES_X[entry](matrix)
    # Breaking it may have left it whole (a row start that did not move), and then it counts like any other.
    if matrix.format in ("csr", "csc", "coo") and not is_sound:
        raise Unsound(f"{entry}: an answer for a malformed {kind} matrix")
    if is_sound and entry != "SGCClassifierCV.fit":
        expected = TAKES_X[entry](matrix.toarray())
        if np.shape(result) != np.shape(expected) or not np.allclose(result, expected, rtol=1e-6, atol=1e-8):
            raise Unsound(f"{entry}: another answer than for the dense matrix")
    return result


@pytest.fixture(scope="module")
def matrix_worker() -> Iterator[Worker]:
    with Worker(_run, strict=False) as worker:
        yield worker


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("entry", TAKES_X)
def test_malformed_matrix_is_refused_and_a_whole_one_counts(
    entry: str, kind: str, matrix_worker: Worker
) -> None:
    @settings(max_examples=8, database=None, phases=[Phase.generate])
    @given(seed=st.integers(0, 2**32))
    def check(seed: int) -> None:
        outcome = matrix_worker((entry, seed, kind))
        assert outcome.status in ("returned", "refused"), (outcome.label, outcome)

    check()


def _layouts(dense: Any) -> dict[str, Any]:
    csr = sparse.csr_array(dense)
    wide = sparse.csr_array(dense)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    frozen = dense.copy()
    frozen.flags.writeable = False
    doubled = sparse.coo_array(
        (
            np.concatenate([csr.tocoo().data / 2] * 2),
            tuple(np.concatenate([part] * 2) for part in csr.tocoo().coords),
        ),
        shape=dense.shape,
    )
    return {
        **{kind: sparse.coo_array(dense).asformat(kind) for kind in FORMATS},
        "csr_matrix": sparse.csr_matrix(dense),
        "coo_matrix": sparse.coo_matrix(dense),
        "int64-indices": wide,
        "duplicates": doubled,
        "read-only": frozen,
        "fortran": np.asfortranarray(dense),
        "reversed": dense[::-1][::-1],
        "strided": np.repeat(dense, 2, axis=1)[:, ::2],
        "big-endian": dense.astype(">f8"),
        "list": dense.tolist(),
    }


@pytest.mark.parametrize("layout", _layouts(np.eye(6)))
@pytest.mark.parametrize("entry", TAKES_X)
def test_layout_of_a_matrix_does_not_change_the_answer(entry: str, layout: str) -> None:
    dense = graph().to_scipy().toarray() if entry == "from_scipy" else features()
    if entry == "from_scipy" and layout == "duplicates":
        pytest.skip("repeated edges are a choice of their own")
    given_matrix = _layouts(dense)[layout]
    assert np.allclose(TAKES_X[entry](given_matrix), TAKES_X[entry](dense), rtol=1e-6, atol=1e-9)
