"""Answers that were once silently wrong: infinite degrees, weights that are not finite, masks and large ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.odd import features, graph, labels
from sgclearn import Compute, Graph, Operator, SGCClassifier, SGCMultilabelClassifier, propagate, read_edges
from sgclearn.errors import SgclearnError

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("normalization", ["sym", "rw", "cheby"])
def test_degrees_that_overflow_are_an_error(normalization: str) -> None:
    with pytest.raises(SgclearnError):
        propagate(
            features(2, 3),
            Graph.from_edges([(0, 1), (1, 2), (2, 0)], weights=[1e308, 1e308, 1.0]),
            normalization=normalization,
        )


def test_degrees_that_overflow_are_an_error_of_the_operator_too() -> None:
    with pytest.raises(SgclearnError):
        Operator(Graph.from_edges([(0, 1), (1, 2)], weights=[1.7e308, 1.7e308]))


@pytest.mark.parametrize("rate", [1e10, 1e100, 1e300])
@pytest.mark.parametrize("solver", ["sgd", "adam"])
def test_fit_that_diverges_is_no_converged_fit(solver: str, rate: float) -> None:
    model = SGCClassifier(solver=solver, learning_rate=rate)
    try:
        model.fit(features(), labels(), graph=graph())
    except SgclearnError as error:
        assert "learning_rate" in str(error)  # noqa: PT017 - one of two right answers
        return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.loss_)
    assert not (model.converged_ and model.loss_ > 10)


@pytest.mark.parametrize("factor", [1e-200, 1e-250, 1e-300])
@pytest.mark.parametrize("scale", ["standard", "minmax", "maxabs"])
def test_scaled_fit_does_not_depend_on_the_unit_of_the_features(scale: str, factor: float) -> None:
    plain = SGCClassifier(scale=scale).fit(features(), labels(), graph=graph())
    try:
        tiny = SGCClassifier(scale=scale).fit(features() * factor, labels(), graph=graph())
    except SgclearnError:
        return
    assert tiny.transduction_.tolist() == plain.transduction_.tolist()
    assert np.allclose(tiny.coef_ * factor, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-200, 1e-160])
def test_unscaled_fit_to_tiny_features_does_not_claim_weights_of_zero(factor: float) -> None:
    with pytest.raises(SgclearnError, match="scale the features"):
        SGCClassifier(penalize_intercept=False).fit(features() * factor, labels(), graph=graph())


def test_fit_at_the_edges_of_floats_is_finite_and_never_converged_otherwise() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        n, d, n_classes = (int(rng.choice(sizes)) for sizes in ([4, 6, 10, 50], [1, 2, 3, 8], [2, 3, 5]))
        ring = Graph.from_edges(np.arange(n), np.roll(np.arange(n), 1))
        X = rng.normal(size=(n, d)) * rng.choice([1e80, 1e100, 1e140, 1e-80, 1e-150, 1e-200, 1e-300])
        options: dict[str, Any] = {
            "weight_decay": float(rng.choice([0, 1e-4, 1e-10, 1.0, 1e100, 1e300, 1e-300])),
            "fit_intercept": bool(rng.integers(2)),
            "penalize_intercept": bool(rng.integers(2)),
            "max_iter": 60,
            "scale": rng.choice([None, "standard", "maxabs", "minmax"]),
            "row_norm": rng.choice([None, "l1", "l2"]),
            "compute": Compute(engine=str(rng.choice(["auto", "scipy"]))),
        }
        y = np.arange(n) % n_classes
        single = rng.random() < 0.7
        model = (SGCClassifier if single else SGCMultilabelClassifier)(**options)
        try:
            model.fit(X, y if single else np.eye(n_classes, dtype=int)[y], graph=ring)
        except SgclearnError:
            continue
        assert np.isfinite(model.coef_).all(), options
        assert np.isfinite(model.intercept_).all(), options
        assert np.isfinite(model.loss_), options


def _masked() -> Any:
    return np.ma.masked_array(features(), mask=np.eye(6, 3, dtype=bool))


@pytest.mark.parametrize("call", ["propagate", "fit", "predict", "graph"])
def test_masked_array_is_refused_where_a_mask_means_nothing(call: str) -> None:
    model = SGCClassifier().fit(features(), labels(), graph=graph())
    A = np.ma.masked_array(graph().to_scipy().toarray(), mask=np.eye(6, dtype=bool))
    calls = {
        "propagate": lambda: propagate(_masked(), graph()),
        "fit": lambda: SGCClassifier().fit(_masked(), labels(), graph=graph()),
        "predict": lambda: model.predict(_masked(), graph=graph()),
        "graph": lambda: Graph.from_scipy(A),
    }
    with pytest.raises(SgclearnError, match="mask"):
        calls[call]()


def test_masked_labels_are_refused_or_unlabelled() -> None:
    y = np.ma.masked_array([0, 1, 0, 1, 0, 1], mask=[False, False, True, True, False, False])
    try:
        masked = SGCClassifier().fit(features(), y, graph=graph())
    except SgclearnError:
        return
    plain = SGCClassifier().fit(features(), y.filled(-1), graph=graph())
    assert np.array_equal(masked.coef_, plain.coef_)


@pytest.mark.parametrize("node", [2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1])
def test_large_integer_ids_are_ids_like_any_other(node: int, tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"source,target\n7,{node}\n{node},9\n")
    assert read_edges(path).ids.tolist() == [7, 9, node]
    named = Graph.from_edges([(7, node), (node, 9)], nodes=[7, 9, node])
    assert named.positions([node]).tolist() == [2]
    assert Graph.from_edges([(0, 1), (1, 2)], n_nodes=3).with_ids([7, 9, node]).ids.tolist() == [7, 9, node]


@pytest.mark.parametrize("node", [2**31, 2**40, 2**63, 2**64, 10**30])
def test_row_number_that_no_graph_has_is_an_error_whatever_its_size(node: int) -> None:
    with pytest.raises(SgclearnError):
        Graph.from_edges([0, 1], [1, node])
